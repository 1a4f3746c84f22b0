"""Reads every product of a list, and prints each record as soon as all before it are there.

python examples/loop_over_a_list.py http://127.0.0.1:8800
"""

from __future__ import annotations

import sys

import shoal

PRODUCT = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "price": {"type": "number"},
        "currency": {"type": "string", "description": "ISO 4217 code"},
    },
    "required": ["name", "price", "currency"],
}


def main(shop: str) -> None:
    job = shoal.JobSpec(
        url=f"{shop}/c/bicycles",
        loop=shoal.LoopSpec(source=shoal.LoopFrom(select="products"), max_items=5),
        extract=shoal.ExtractSpec(json_schema=PRODUCT),
    )
    with shoal.Client() as client:
        submitted = client.submit(job)
        for result in client.results(submitted.id):
            if result.error is not None:
                print(f"{result.item.value if result.item else submitted.id}: {result.error.message}")
            else:
                print(f"{result.record['name']}: {result.record['price']:.2f} {result.record['currency']}")
        print(f"{client.job(submitted.id).counts.completed} products")


if __name__ == "__main__":
    main(sys.argv[1])
