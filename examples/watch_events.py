"""Follows the events of a job with asyncio, and cancels the job when it takes too long.

python examples/watch_events.py http://127.0.0.1:8800
"""

from __future__ import annotations

import asyncio
import sys

import shoal

PRODUCT = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
PATIENCE_S = 300


async def main(shop: str) -> None:
    async with shoal.AsyncClient() as client:
        job = await client.submit(
            shoal.JobSpec(
                url=f"{shop}/c/garten",
                loop=shoal.LoopSpec(source=shoal.LoopFrom(select="products"), max_items=4, concurrency=2),
                extract=shoal.ExtractSpec(json_schema=PRODUCT),
            )
        )
        try:
            async with asyncio.timeout(PATIENCE_S):
                async for event in client.events(job.id):
                    counts = event.counts
                    print(f"{event.name}: {counts.final if counts else 0} of {counts.expected if counts else 0}")
        except TimeoutError:
            await client.cancel(job.id)
        print((await client.job(job.id)).status)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
