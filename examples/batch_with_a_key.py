"""Submits many jobs in one batch. The batch has an idempotency key: submitted again, it gives the same jobs.

python examples/batch_with_a_key.py http://127.0.0.1:8800
"""

from __future__ import annotations

import sys

import shoal

DEPARTMENTS = ("audio", "bicycles", "garten")


def main(shop: str) -> None:
    title = {"type": "object", "properties": {"name": {"type": "string", "description": "heading of the page"}}}
    jobs = [
        shoal.JobSpec(url=f"{shop}/c/{name}", extract=shoal.ExtractSpec(json_schema=title), labels={"page": name})
        for name in DEPARTMENTS
    ]
    with shoal.Client() as client:
        lines = client.submit_batch(jobs, key="departments")
        again = client.submit_batch(jobs, key="departments")
        assert [line.job for line in lines] == [line.job for line in again], "nothing is stored twice"
        for line in lines:
            if line.job is None:
                print(f"job {line.line} was refused: {line.error.detail if line.error else ''}")
            else:
                job = client.wait(line.job)
                print(f"{job.labels['page']}: {job.status}")


if __name__ == "__main__":
    main(sys.argv[1])
