"""One program without a browser that reads the static pages of `tiers.py`, in a process of its own.

    python load-tests/bench/_tier_floors.py httpx|aiohttp|scrapy URL PAGES CONCURRENCY

The interpreter may be another than Shoal's: it needs the named package and lxml. It prints one line of JSON: the
seconds that reading took, and its records by the number of the page.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

import lxml.html


def read(body: bytes) -> dict[str, Any]:
    """The record of one page, by paths written by hand."""
    tree = lxml.html.fromstring(body)
    return {
        "name": tree.xpath("string(//h1)"),
        "price": float(tree.xpath("string(//*[@itemprop='price']/@content)")),
        "currency": tree.xpath("string(//*[@itemprop='priceCurrency']/@content)"),
        "sku": tree.xpath("string(//*[@itemprop='sku'])"),
        "weight": tree.xpath("string(//th[.='Weight']/following-sibling::td)"),
    }


Get = Callable[[str], Awaitable[bytes]]


async def crawl(get: Get, url: str, pages: int, concurrency: int) -> dict[int, dict[str, Any]]:
    todo, records = list(range(pages)), dict[int, dict[str, Any]]()

    async def worker() -> None:
        while todo:
            n = todo.pop()
            records[n] = read(await get(f"{url}/static/{n}"))

    await asyncio.gather(*(worker() for _ in range(concurrency)))
    return records


async def by_httpx(url: str, pages: int, concurrency: int) -> dict[int, dict[str, Any]]:
    async with import_module("httpx").AsyncClient() as client:

        async def get(address: str) -> bytes:
            return bytes((await client.get(address)).content)

        return await crawl(get, url, pages, concurrency)


async def by_aiohttp(url: str, pages: int, concurrency: int) -> dict[int, dict[str, Any]]:
    async with import_module("aiohttp").ClientSession() as client:

        async def get(address: str) -> bytes:
            async with client.get(address) as answer:
                return bytes(await answer.read())

        return await crawl(get, url, pages, concurrency)


def by_scrapy(url: str, pages: int, concurrency: int) -> dict[int, dict[str, Any]]:
    scrapy, records = import_module("scrapy"), dict[int, dict[str, Any]]()

    def parse(spider: Any, response: Any) -> None:
        records[int(response.url.rpartition("/")[2])] = read(response.body)

    crawled = {"name": "floor", "start_urls": [f"{url}/static/{n}" for n in range(pages)], "parse": parse}
    settings = {"LOG_ENABLED": False, "CONCURRENT_REQUESTS": concurrency, "DOWNLOAD_DELAY": 0}
    process = import_module("scrapy.crawler").CrawlerProcess(
        {**settings, "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency, "TELNETCONSOLE_ENABLED": False}
    )
    process.crawl(type("Floor", (scrapy.Spider,), crawled))
    process.start()
    return records


def main() -> None:
    name, url, pages, concurrency = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    asynchronous = {"httpx": by_httpx, "aiohttp": by_aiohttp}
    if name in asynchronous:
        import_module(name)
        started = time.perf_counter()
        records = asyncio.run(asynchronous[name](url, pages, concurrency))
    else:
        started = time.perf_counter()
        records = by_scrapy(url, pages, concurrency)
    print(json.dumps({"seconds": time.perf_counter() - started, "records": records}))


if __name__ == "__main__":
    main()
