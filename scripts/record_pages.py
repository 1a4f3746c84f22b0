"""Records pages of our own as Chromium shows them, for unit tests that need no browser.

scripts/record-pages              # every page of tests/pages
scripts/record-pages form rows    # those alone

A page gets an address of its own at once, and no other page is reached. Boxes are left out: they depend on the fonts of
the machine. tests/integration/browser/test_page_tree.py notices a record that is not current.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from playwright.async_api import Page as Tab
from playwright.async_api import Route, async_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from shoal.agent.chromium.devtools.isolated_reader import IsolatedReader  # noqa: E402  # the path is set first
from shoal.agent.chromium.process.find import find_chromium  # noqa: E402
from shoal.agent.page.from_browser import SCRIPT  # noqa: E402
from shoal.agent.page.page import Page  # noqa: E402
from shoal.agent.page.recorded import page_as_json, page_of_answer  # noqa: E402

PAGES = ROOT / "tests" / "pages"
ADDRESS = "https://pages.test/"


async def take(tab: Tab, *, boxes: bool = False) -> Page:
    """The page of an open tab."""
    session = await tab.context.new_cdp_session(tab)
    frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    return page_of_answer(await IsolatedReader(session, frame).read(SCRIPT, {"boxes": boxes}))


async def record(tab: Tab, name: str) -> bytes:
    """The page `tests/pages/NAME.html`, taken in an open tab."""
    body = (PAGES / f"{name}.html").read_bytes()

    async def answer(route: Route) -> None:
        if route.request.url == ADDRESS + name:
            await route.fulfill(body=body, content_type="text/html; charset=utf-8")
        else:
            await route.abort()

    await tab.route("**/*", answer)
    await tab.goto(ADDRESS + name)
    page = await take(tab)
    await tab.unroute("**/*")
    return page_as_json(page)


async def main(names: list[str]) -> None:
    """Writes the records of these pages, or of all."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(find_chromium()), args=["--no-sandbox"])
        tab = await browser.new_page(viewport={"width": 1280, "height": 800})
        for name in names or sorted(path.stem for path in PAGES.glob("*.html")):
            (PAGES / "recorded" / f"{name}.json").write_bytes(await record(tab, name))
            print(f"wrote tests/pages/recorded/{name}.json")
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
