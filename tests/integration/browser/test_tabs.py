"""Tabs that pages turn to, and leave: the active one is the one that a person would see."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Page

from shoal.agent.browser import Browser, Context, ContextOptions, ObserveOptions
from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.chromium.wire.connection import Session
from shoal.agent.errors import PageHangs
from shoal.agent.observe.tree import FrameWalk, clickable_elements
from shoal.agent.types import Action, ActionResult
from tests.integration.browser.conftest import Site
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.asyncio(loop_scope="session")

WAYS = {
    "link": "<a href='URL' target=shop>Go</a>",
    "script": "<button onclick=\"window.open('URL', 'shop')\">Go</button>",
    "form": "<form action='URL' target=shop><button>Go</button></form>",
}


async def write(context: Context, html: str) -> None:
    """Puts HTML into the page that is open."""
    await context.read("html => { document.body.innerHTML = html }", html)


async def click(context: Context, name: str) -> ActionResult:
    seen = await context.observe()
    bid = next(one.bid for one in clickable_elements(seen.elements) if one.name == name)
    result = await context.act(Action("click", {"bid": bid}))
    assert result.error is None
    return result


async def turn_to(context: Context, index: int) -> None:
    assert (await context.act(Action("tab_focus", {"index": index}))).error is None


async def active(context: Context) -> int:
    return (await context.observe()).active_tab


@pytest.mark.parametrize("other_site", [False, True], ids=["same site", "other site"])
@pytest.mark.parametrize("way", WAYS)
async def test_a_window_whose_name_is_used_again_is_seen_again(
    context: Context, site: Site, way: str, other_site: bool
) -> None:
    url = f"{site.other if other_site else site.url}/second"
    await context.goto(f"{site.url}/wanted")
    await write(context, WAYS[way].replace("URL", url))
    assert (await click(context, "Go")).effect.new_tab
    assert await active(context) == 1
    await turn_to(context, 0)
    again = await click(context, "Go")
    seen = await context.observe()
    assert (len(seen.tabs), seen.active_tab, seen.title) == (2, 1, "Second")
    assert not again.effect.new_tab
    assert again.effect.url is not None and again.effect.url.startswith(url)


async def test_a_tab_that_sends_itself_somewhere_stays_in_the_background(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/wanted")
    await write(context, f"<a href='{site.url}/second' target=shop>Go</a><p>Nothing</p>")
    await click(context, "Go")
    await context.read(f"() => {{ setTimeout(() => {{ location = '{site.url}/wanted?later' }}, 200) }}")
    await turn_to(context, 0)
    async with asyncio.timeout(PATIENCE_S):
        while (seen := await context.observe()).tabs[1].url != f"{site.url}/wanted?later":
            pass
    assert seen.active_tab == 0


async def test_a_tab_that_closes_gives_way_to_the_one_before_it(context: Context, site: Site) -> None:
    """Which is not its neighbour on the left: a payment window leads back to the shop, wherever its tab is."""
    await context.goto(f"{site.url}/wanted")
    opens = "".join(f"<a href='{site.url}/second' target=w{n}>Open {n}</a> " for n in (1, 2))
    await write(context, opens)
    await click(context, "Open 1")
    await turn_to(context, 0)
    await click(context, "Open 2")
    assert await active(context) == 2
    await write(context, "<button onclick='window.close()'>Close</button>")
    await click(context, "Close")
    async with asyncio.timeout(PATIENCE_S):
        while len((seen := await context.observe()).tabs) == 3:
            pass
    assert (seen.active_tab, seen.url) == (0, f"{site.url}/wanted")


async def test_a_window_cannot_bring_its_opener_forward(context: Context, site: Site) -> None:
    """Chromium heeds `opener.focus()` as little as a person sees of it."""
    await context.goto(f"{site.url}/wanted")
    await write(context, f"<a href='{site.url}/second' target=shop>Go</a>")
    await click(context, "Go")
    await write(context, "<button onclick='opener.focus()'>Back</button>")
    await click(context, "Back")
    assert await active(context) == 1


async def test_a_tab_that_was_opened_for_a_file_alone_is_not_where_the_work_goes_on(
    context: Context, site: Site
) -> None:
    await context.goto(f"{site.url}/second")
    await context.read(
        "url => { const link = document.createElement('button'); link.textContent = 'Export';"
        " link.onclick = () => { const opened = window.open('about:blank'); opened.location = url; };"
        " document.body.replaceChildren(link); }",
        f"{site.url}/file/notes.txt",
    )
    result = await click(context, "Export")
    assert result.error is None
    seen = await context.observe()
    assert seen.url == f"{site.url}/second"
    assert [file.filename for file in seen.downloads] == ["notes.txt"]


def open_during_a_walk(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Has the page open a window right after it was walked for the first time."""
    walk = Tab.walk
    opened: list[Page] = []

    async def walked(tab: Tab, options: ObserveOptions) -> FrameWalk:
        found = await walk(tab, options)
        if not opened:
            async with tab.page.expect_popup() as coming:
                await tab.page.evaluate("url => { open(url) }", url)
            opened.append(await coming.value)
        return found

    monkeypatch.setattr(Tab, "walk", walked)


async def test_a_window_that_opens_while_another_is_looked_at_is_seen(
    context: Context, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the address of one would stand with the elements of the other."""
    await context.goto(f"{site.url}/wanted")
    open_during_a_walk(monkeypatch, f"{site.url}/second")
    seen = await context.observe()
    assert (seen.title, seen.url, seen.active_tab) == ("Second", f"{site.url}/second", 1)
    assert [tab.url for tab in seen.tabs] == [f"{site.url}/wanted", f"{site.url}/second"]


async def test_a_window_that_devtools_does_not_reach_hangs_no_look(
    browser: Browser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a window that is to give a file did once on a busy machine: a session waited for it without end."""
    context = await browser.new_context(ContextOptions(look_timeout_s=2.0))
    try:
        await context.goto(f"{site.url}/wanted")
        seen = await context.observe()
        session = Tab.session
        reached: list[Tab] = []

        async def never(tab: Tab) -> Session:
            reached.append(tab)
            if tab is not reached[0]:
                await asyncio.Event().wait()
            return await session(tab)

        monkeypatch.setattr(Tab, "session", never)
        open_during_a_walk(monkeypatch, f"{site.url}/second")
        async with asyncio.timeout(PATIENCE_S):
            with pytest.raises(PageHangs):
                seen = await context.observe()
    finally:
        await context.close()
    assert seen.title != "Second"


EXPORTS = {
    "link": "<a href='URL' target=_blank>Export</a>",
    "window": "<button onclick=\"window.open('URL')\">Export</button>",
    "empty window": "<button onclick=\"window.open('about:blank').location = 'URL'\">Export</button>",
    "form": "<form action='URL' target=_blank><button>Export</button></form>",
}


@pytest.mark.parametrize("way", EXPORTS)
async def test_a_file_in_a_tab_of_its_own_leaves_the_page_as_it_is(context: Context, site: Site, way: str) -> None:
    """It comes when the click may be over: such a tab has no document, and none is waited for."""
    await context.goto(f"{site.url}/second")
    await write(context, EXPORTS[way].replace("URL", f"{site.url}/file/late.txt"))
    came: list[str] = []
    async with asyncio.timeout(PATIENCE_S):
        await click(context, "Export")
        while not came:
            seen = await context.observe()
            came += [file.filename for file in seen.downloads]
    assert (seen.url, len(came)) == (f"{site.url}/second", 1)
