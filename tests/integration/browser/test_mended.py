"""Behaviour of pages that once led to a second click, the wrong element, or an observation that never came."""

from __future__ import annotations

import asyncio
import time
import urllib.parse

import pytest

from shoal.agent.actions.primitives import element
from shoal.agent.browser import Browser, Context, ContextOptions
from shoal.agent.observe.renderings import compact
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.types import Action, ActionResult
from tests.integration.browser.conftest import WRITTEN, Site
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def show(context: Context, html: str) -> dict[str, str]:
    """Opens a page of this HTML; the ids of what takes clicks, by name."""
    await context.goto("data:text/html;charset=utf-8," + urllib.parse.quote(html))
    return await ids(context)


async def ids(context: Context) -> dict[str, str]:
    return {one.name: one.bid for one in clickable_elements((await context.observe()).elements)}


async def click(context: Context, bid: str) -> ActionResult:
    return await context.act(Action("click", {"bid": bid}))


# --- text -----------------------------------------------------------------------------------------------------


async def test_a_name_that_is_cut_within_an_emoji_and_text_that_is_no_unicode(context: Context) -> None:
    script = "<script>document.body.append('half \\ud83d of one \\\\ud83d'); title.value = 'x\\udc00y'</script>"
    cut = f"<button aria-label='{'x' * 148}\U0001f600{'y' * 50}'></button>"
    found = await show(context, f"{cut}<input id=title aria-label=Field>{script}")
    assert f"{'x' * 148}…" in found
    seen = await context.observe()
    assert "half \ufffd of one \\ud83d" in compact(seen.elements)
    result = await context.act(Action("press", {"bid": found["Field"], "key_comb": "End"}))
    assert result.effect.value == "x\ufffdy"


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second of patience with an element, so that a page that blocks for one is beyond it."""
    monkeypatch.setattr(element, "PATIENCE_MS", 500.0)


# --- clicks ---------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("event", ["click", "mousedown"])
async def test_a_handler_that_blocks_the_page_is_clicked_once(context: Context, event: str) -> None:
    busy = "n++; const end = Date.now() + 1000; while (Date.now() < end);"
    found = await show(context, f"<script>let n = 0</script><button on{event}='{busy}; title = n'>Go</button>")
    result = await click(context, found["Go"])
    assert result.error is None
    await context.act(Action("wait_for", {"bid": found["Go"]}))
    assert await context.read("() => document.querySelector('button').title") == "1"


@pytest.mark.usefixtures("hurried")
async def test_a_box_whose_handler_blocks_the_page_is_ticked_once(context: Context) -> None:
    busy = "n++; const end = Date.now() + 1000; while (Date.now() < end); title = n"
    found = await show(context, f"<script>let n = 0</script><input type=checkbox aria-label=Box onclick='{busy}'>")
    result = await context.act(Action("check", {"bid": found["Box"]}))
    assert (result.error, result.effect.value) == (None, "checked")
    assert await context.read("() => document.querySelector('input').title") == "1"


@pytest.mark.usefixtures("hurried")
async def test_what_never_comes_to_rest_is_clicked_all_the_same(context: Context) -> None:
    moves = "@keyframes go { to { margin-left: 40px } } button { width: 200px; animation: go .2s infinite alternate }"
    found = await show(context, f"<style>{moves}</style><button onclick='title = 1'>Go</button>")
    result = await click(context, found["Go"])
    assert result.error is None
    assert await context.read("() => document.querySelector('button').title") == "1"


# --- ids ------------------------------------------------------------------------------------------------------


async def test_the_id_of_a_removed_element_does_not_go_to_another_that_looks_like_it(context: Context) -> None:
    found = await show(context, "<p><button>Delete</button></p><p><button onclick='title=1'>Delete</button></p>")
    first = clickable_elements((await context.observe()).elements)[0].bid
    assert first != found["Delete"]
    await context.read("() => document.querySelector('p').remove()")
    result = await click(context, first)
    assert result.error is not None and result.error.code == "element_missing"
    assert await context.read("() => document.querySelector('button').title") == ""


async def test_of_two_that_looked_alike_none_is_found_again_when_all_is_drawn_anew(context: Context) -> None:
    found = await show(context, "<p><button>Delete</button></p><p><button>Delete</button></p>")
    await context.read("() => { document.body.innerHTML = '<p><button>Delete</button></p>' }")
    result = await click(context, found["Delete"])
    assert result.error is not None and result.error.code == "element_missing"


# --- tabs -----------------------------------------------------------------------------------------------------


async def test_a_site_that_closes_its_last_tab_leaves_an_empty_one(context: Context, site: Site) -> None:
    found = await show(context, f"<button onclick='window.open(\"{site.url}/second\")'>Open</button>")
    assert (await click(context, found["Open"])).effect.new_tab
    for name, args in (("tab_focus", {"index": 0}), ("tab_close", {})):
        assert (await context.act(Action(name, args))).error is None
    assert (await context.observe()).url == f"{site.url}/second"
    await context.read("() => { window.close() }")  # which a window that was opened by a page may do
    async with asyncio.timeout(PATIENCE_S):
        while (seen := await context.observe()).url != "about:blank":
            pass
    assert ([tab.url for tab in seen.tabs], seen.active_tab) == (["about:blank"], 0)
    assert (await context.act(Action("new_tab"))).error is None
    assert len((await context.observe()).tabs) == 2
    assert (await context.goto(f"{site.url}/second")).status == 200


async def test_a_tab_in_the_background_that_hangs_or_crashed_is_still_listed(browser: Browser, site: Site) -> None:
    context = await browser.new_context(ContextOptions(action_timeout_s=60, schemes=WRITTEN))
    await context.goto(f"{site.url}/second")
    await context.observe()
    await context.read("() => { setTimeout(() => { for (;;); }, 200) }")
    await context.act(Action("new_tab"))
    await context.goto(f"{site.other}/acts")
    await context.act(Action("noop", {"wait_ms": 300}))
    started = time.monotonic()
    seen = await context.observe()
    assert time.monotonic() - started < 40, "the limit of a call into a page is not waited for"
    assert [tab.title for tab in seen.tabs] == ["Second", "Acts"]
    await context.close()


# --- limits ---------------------------------------------------------------------------------------------------


async def test_the_first_action_on_a_tab_whose_renderer_hangs_has_a_limit(browser: Browser, site: Site) -> None:
    context = await browser.new_context(ContextOptions(action_timeout_s=2, schemes=WRITTEN))
    await context.goto(f"{site.url}/second")
    await context.read("() => { setTimeout(() => { for (;;); }) }")
    started = time.monotonic()
    result = await context.act(Action("keyboard_press", {"key_comb": "Enter"}))
    assert result.error is not None and result.error.code == "action_timeout"
    assert time.monotonic() - started < 60
    await context.close()


@pytest.mark.parametrize("how", ["goto", "new tab"])
async def test_an_id_of_the_page_before_is_no_element_of_the_next(context: Context, how: str) -> None:
    """Each document counts its elements from 1, and the first that is asked about has the focus."""
    found = await show(context, "<button>Old</button>")
    bid = found["Old"]
    if how == "new tab":
        assert (await context.act(Action("new_tab", {}))).error is None
    focused = "<input autofocus id=first><script>first.focus()</script>"
    await context.goto("data:text/html;charset=utf-8," + urllib.parse.quote(focused))
    for action in (Action("fill", {"bid": bid, "value": "x"}), Action("click", {"bid": bid})):
        result = await context.act(action)
        assert result.error is not None and result.error.code == "element_missing"
    assert await context.read("() => document.getElementById('first').value") == ""
    (first,) = (await ids(context)).values()
    assert (await context.act(Action("fill", {"bid": first, "value": "x"}))).error is None
