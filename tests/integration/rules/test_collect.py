"""Loops collected from real pages: which links, in which order, and how to the next page."""

from __future__ import annotations

from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from shoal.agent.browser import Context
from shoal.agent.errors import BadSelector
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.policies.policy import SessionState
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.spec import JobSpec
from shoal.agent.types import LoopItem
from tests.loopback import served

if TYPE_CHECKING:
    from tests.integration.rules.conftest import Site

pytestmark = pytest.mark.asyncio(loop_scope="session")

PYTHON_DOCS = Path("/usr/share/doc/python3-doc/html/py-modindex.html")


async def collect(page: Context, url: str, source: dict[str, Any], **loop: Any) -> list[LoopItem]:
    return (await collected(page, url, source, **loop))[0]


async def collected(page: Context, url: str, source: dict[str, Any], **loop: Any) -> tuple[list[LoopItem], str]:
    """The items, and why they are not all that there are."""
    await page.goto(url)
    job = JobSpec.model_validate({"url": url, "loop": {"from": source, **loop}})
    state = SessionState(spec=job, loop=job.loop, item=None, page=page)
    return [item async for item in RulesPolicy().collect(state, Plan())], state.cut


def things(site: Site, last: int) -> list[LoopItem]:
    return [LoopItem(n - 1, f"{site.url}/item/{n}", True, f"Thing {n}") for n in range(1, last + 1)]


@pytest.mark.parametrize(
    ("path", "select"),
    [
        ("shelf-rel", "li.hit"),
        ("shelf-text", "li.hit"),
        ("shelf-numbers", "li.hit"),
        ("shelf-rel", "things on the shelf"),
    ],
)
async def test_all_pages_are_walked_and_no_item_comes_twice(page: Context, site: Site, path: str, select: str) -> None:
    assert await collect(page, f"{site.url}/{path}", {"select": select}) == things(site, 12)
    pages = [request for request in site.requests if request.startswith("/shelf")]
    assert len(pages) == len(set(pages)) == 3


async def test_limits_of_pages_and_items_hold(page: Context, site: Site) -> None:
    url = f"{site.url}/shelf-rel"
    assert await collect(page, url, {"select": "li.hit", "max_pages": 2}) == things(site, 8)
    assert await collect(page, url, {"select": "li.hit"}, max_items=5) == things(site, 5)


async def test_css_with_a_fault_is_not_taken_for_words(page: Context, site: Site) -> None:
    select = "li:has-text('x')"
    for source in ({"select": select}, {"select": "li.hit", "next": select}):
        with pytest.raises(BadSelector, match="is no valid CSS selector"):
            await collect(page, f"{site.url}/shelf-rel", source)


async def test_words_with_marks_in_them_are_words(page: Context, site: Site) -> None:
    assert await collect(page, f"{site.url}/shelf-rel", {"select": "all things (e.g. the first)"}) == things(site, 12)


@pytest.mark.parametrize("onwards", [".pager a", "older"])
async def test_the_next_page_is_what_the_caller_calls_it(page: Context, site: Site, onwards: str) -> None:
    items = await collect(page, f"{site.url}/shelf-text", {"select": "li.hit h3 a", "next": onwards})
    assert items == things(site, 12)


async def test_a_page_that_loads_more_on_scrolling_is_scrolled_to_its_end(page: Context, site: Site) -> None:
    assert await collect(page, f"{site.url}/endless", {"select": "h2 a"}) == things(site, 17)
    _, cut = await collected(page, f"{site.url}/endless", {"select": "h2 a", "max_pages": 1})
    assert cut == "the list goes on after page 1, where max_pages ended it"


async def test_a_button_that_shows_more_is_pressed_until_it_is_gone(page: Context, site: Site) -> None:
    assert await collect(page, f"{site.url}/button", {"select": "things"}) == things(site, 15)


async def test_without_telling_words_the_cards_of_the_page_are_the_items(page: Context, site: Site) -> None:
    items = await collect(page, f"{site.url}/cards", {"select": "every item"})
    assert [item.value for item in items] == [f"{site.url}/b/{n}" for n in (1, 2, 3, 4)]


async def test_rows_of_text_are_items_in_words(page: Context, site: Site) -> None:
    items = await collect(page, f"{site.url}/chair", {"select": "table.specs th"})
    assert items == [LoopItem(n, text, False, text) for n, text in enumerate(["Material", "Weight", "Seat height"])]


async def test_a_selector_that_finds_nothing_is_not_taken_for_words(page: Context, site: Site) -> None:
    assert await collect(page, f"{site.url}/cards", {"select": "ul.books > li"}) == []


@pytest.mark.skipif(not PYTHON_DOCS.exists(), reason="needs python3-doc")
async def test_every_entry_of_an_index_counts_though_pages_repeat(page: Context, site: Site) -> None:
    class Docs(SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(PYTHON_DOCS.parent))

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    with served(Docs) as docs:
        by_selector = await collect(page, f"{docs}/{PYTHON_DOCS.name}", {"select": "table.modindextable a"})
        by_words = await collect(page, f"{docs}/{PYTHON_DOCS.name}", {"select": "modules"})
    assert by_selector == by_words
    assert len(by_selector) > 300
    assert len({item.value.split("#")[0] for item in by_selector}) < len(by_selector)
    assert by_selector[0].label == "__future__"
