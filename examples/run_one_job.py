"""Runs one job without anything around it: a cluster is started for the job and ended after it.

With SHOAL_URL set, or where `shoal up` runs, the job runs there.

    python examples/run_one_job.py http://127.0.0.1:8800
"""

from __future__ import annotations

import sys

import shoal

PRODUCT = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "in_stock": {"type": "boolean"}},
    "required": ["name", "in_stock"],
}


def main(shop: str) -> None:
    job = shoal.JobSpec(
        url=f"{shop}/c/power-tools",
        loop=shoal.LoopSpec(source=shoal.LoopFrom(select="products"), max_items=2),
        extract=shoal.ExtractSpec(json_schema=PRODUCT),
    )
    try:
        result = shoal.run(job, allow_private=True)
    except shoal.JobFailed as failed:
        sys.exit(f"no product was read: {failed}")
    for record in result.records:
        print(f"{record['name']}: {'in stock' if record['in_stock'] else 'sold out'}")


if __name__ == "__main__":
    main(sys.argv[1])
