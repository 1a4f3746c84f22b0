"""Reads a list over all its pages, with the places of the fields given by CSS.

    python examples/places_in_a_page.py http://127.0.0.1:8800

With SHOAL_URL set, or where `shoal up` runs, the job runs there.
"""

from __future__ import annotations

import sys

import shoal

TOOLS = {
    "records": ".tiles .tile",
    "fields": {
        "name": {"select": ".tile-name"},
        "price": {"select": ".tile-price", "reader": "price"},
        "url": {"select": "a", "attribute": "href"},
    },
    "next": "a.onward",
}


def main(shop: str) -> None:
    job = shoal.JobSpec.model_validate({"url": f"{shop}/c/power-tools", "extract": TOOLS})
    try:
        result = shoal.run(job, allow_private=True)
    except shoal.JobFailed as failed:
        sys.exit(f"no tool was read: {failed}")
    for record in result.records:
        print(f"{record['name']}: {record['price']:.2f}")
    print(f"{len(result.records)} tools")


if __name__ == "__main__":
    main(sys.argv[1])
