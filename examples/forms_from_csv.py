"""Fills in and sends a form once for each row of a CSV file, whose columns are named like the fields of the form.

python examples/forms_from_csv.py http://127.0.0.1:8800 examples/quotes.csv
"""

from __future__ import annotations

import csv
import json
import sys
from datetime import date, timedelta
from pathlib import Path

import shoal

FOR_ALL = {"contact_by": "email", "terms": True, "delivery_date": (date.today() + timedelta(days=30)).isoformat()}
REQUEST = {"type": "object", "properties": {"pieces": {"type": "integer"}}, "required": ["pieces"]}


def main(shop: str, file: str) -> None:
    with Path(file).open(newline="", encoding="utf-8") as rows:
        values = tuple(json.dumps(row) for row in csv.DictReader(rows))
    job = shoal.JobSpec(
        url=f"{shop}/quote",
        goal="Send the request for a quote.",
        data=FOR_ALL,
        loop=shoal.LoopSpec(values=values),
        complete_criterion="your request was received",
        extract=shoal.ExtractSpec(json_schema=REQUEST),
        repeatable=False,  # after a crash a person decides whether a form was sent: nothing is ordered twice
    )
    with shoal.Client() as client:
        submitted = client.submit(job)
        for result in client.results(submitted.id):
            name = json.loads(result.item.value)["name"] if result.item else submitted.id
            print(f"{name}: {result.error.message if result.error else result.record}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
