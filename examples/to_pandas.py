"""Reads products and computes with them in pandas (`pip install pandas`).

python examples/to_pandas.py http://127.0.0.1:8800
"""

from __future__ import annotations

import sys

import shoal

PRODUCT = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
    "required": ["name", "price"],
}


def main(shop: str) -> None:
    with shoal.Client() as client:
        job = client.submit(
            shoal.JobSpec(
                url=f"{shop}/c/audio",
                loop=shoal.LoopSpec(source=shoal.LoopFrom(select="products"), max_items=5),
                extract=shoal.ExtractSpec(json_schema=PRODUCT),
            )
        )
        client.wait(job.id)
        products = client.to_pandas(job.id)
    products = products[products["status"] == "completed"]
    print(products[["record.name", "record.price"]].to_string(index=False))
    print(f"mean price of {len(products)} products: {products['record.price'].mean():.2f}")


if __name__ == "__main__":
    main(sys.argv[1])
