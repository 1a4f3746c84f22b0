"""browser-use's texts of the same pages for a model, made by the Python of a virtual environment that has it.

Reads one JSON object from standard input, writes one to standard output: per page the characters of its text of the
window, and of the window with the 1,000 pixels above and below that it shows by default; how many elements it lists.
"""

from __future__ import annotations

import asyncio
import json
import sys

from _browser_use import profile  # before browser_use, whose settings it makes
from browser_use import BrowserSession
from browser_use.dom.service import DomService

from shoal.agent.support.json_value import Json

_SETTLE_S = 0.5
_DEFAULT_PX = 1000


async def main() -> None:
    asked = json.load(sys.stdin)
    session = BrowserSession(browser_profile=profile(asked["chromium"], minimum_wait_page_load_time=0))
    await session.start()
    try:
        told = {page["name"]: await on_page(session, page) for page in asked["pages"]}
    finally:
        await session.kill()
    sys.stdout.write("\n" + json.dumps(told))


async def on_page(session: BrowserSession, page: dict[str, str]) -> Json:
    await session.navigate_to(page["url"])
    await asyncio.sleep(_SETTLE_S)
    if page["script"]:
        await (await session.must_get_current_page()).evaluate(f"() => {{ {page['script']} }}")
        await asyncio.sleep(_SETTLE_S)
    window, listed = await look(session, 0)
    default, _ = await look(session, _DEFAULT_PX)
    return {"window": window, "default": default, "listed": listed}


async def look(session: BrowserSession, threshold: int) -> tuple[int, int]:
    """Characters of its text, and how many elements that has."""
    async with DomService(session, viewport_threshold=threshold, cross_origin_iframes=True) as service:
        state, _, _ = await service.get_serialized_dom_tree()
    return len(state.llm_representation()), len(state.selector_map)


if __name__ == "__main__":
    asyncio.run(main())
