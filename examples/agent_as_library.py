"""Uses one page without a cluster: looks at it, acts on it, reads a record from it.

python examples/agent_as_library.py http://127.0.0.1:8800
"""

from __future__ import annotations

import asyncio
import sys

import shoal

PRODUCT = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
    "required": ["name", "price"],
}


async def main(shop: str) -> None:
    # Pages of this machine are private addresses: they have to be allowed.
    async with shoal.open_page(f"{shop}/c/bicycles", allow_private=True) as page:
        seen = await page.observe()
        print(f"{seen.title}: {page.status}")
        result = await page.act("scroll(0, 600)")
        print(f"scrolled: {result.error.message if result.error else 'ok'}")
        [product] = (await page.context.read("() => [document.querySelector('main a[href*=\"/p/\"]').href]"))[:1]
        await page.goto(product)
        for record in await page.extract(PRODUCT):
            print(f"{record.value['name']}: {record.value['price']:.2f} (from {record.sources['price'].how})")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
