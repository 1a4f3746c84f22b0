"""Observations of real pages, of which pages notice nothing."""

from __future__ import annotations

import io
import time
from urllib.parse import urlsplit

import pytest
from PIL import Image

from shoal.agent.browser import Browser, Context, ContextOptions, ObserveOptions
from shoal.agent.observe.renderings import compact
from shoal.agent.observe.tree import clickable_elements, walk_elements
from shoal.agent.read.grounding.session_pages import SessionPages
from shoal.agent.spec import BrowserSpec, Viewport
from shoal.agent.types import Action, Observation
from tests.integration.browser.conftest import Site

pytestmark = pytest.mark.asyncio(loop_scope="session")


def names(seen: Observation) -> list[str]:
    return [element.name for element in clickable_elements(seen.elements)]


WANTED = {
    *("link", "button", "input", "area", "select", "summary", "role button", "tab", "tabindex", "onclick attribute"),
    *(
        "listener",
        "cursor",
        "row one",
        "row two",
        "row three",
        "styled box",
        "trash",
        "titled icon",
        "bell",
        "picture",
    ),
    *("link in text", "in scrolled region", "in open root", "in closed root", "slotted", "visible again"),
    *("below the fold", "shape", "drawing", "triangle up"),
}


async def test_everything_that_can_be_acted_on_is_listed_and_nothing_else(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/wanted")
    seen = await context.observe()
    listed = names(seen)
    assert {name.removeprefix("want ") for name in listed if name.startswith("want ")} == WANTED
    assert sum(name.startswith("want ") for name in listed) == len(WANTED)
    assert "blue" in listed  # nothing else is to be seen of it
    assert [element.attributes.get("value") for element in clickable_elements(seen.elements) if not element.name] == [
        "want editable"
    ]
    text = compact(seen.elements)
    assert "trap" not in text.replace("traps:", "").replace('"trap …"', "")
    assert "Some text with a [" in text


async def test_ids_last_as_long_as_their_elements(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/wanted")
    first = {element.name: element.bid for element in clickable_elements((await context.observe()).elements)}
    await context.read("() => document.body.prepend(document.createElement('button'), 'new text')")
    second = {element.name: element.bid for element in clickable_elements((await context.observe()).elements)}
    assert {name: second[name] for name in first} == first


async def test_the_page_notices_nothing(context: Context, site: Site) -> None:
    """Its DOM stays as it was, no mutation is seen, none of its functions is called, no global appears."""
    await context.goto(f"{site.url}/wanted")
    await context.act(Action("noop", {"wait_ms": 1}))
    spy = """() => {
      const script = document.createElement('script');
      script.textContent = `
        window.notes = []; window.globals = Object.keys(window).length;
        setTimeout(() => new MutationObserver(records => notes.push('mutation')).observe(document, { subtree: true,
          childList: true, attributes: true, characterData: true }));
        for (const name of ['getBoundingClientRect', 'checkVisibility', 'getAttribute', 'matches', 'focus']) {
          const original = Element.prototype[name];
          Element.prototype[name] = function (...args) { notes.push(name); return original.apply(this, args); };
        }
        const style = window.getComputedStyle;
        window.getComputedStyle = (...args) => { notes.push('getComputedStyle'); return style(...args); };`;
      document.head.append(script); script.remove();
      return document.documentElement.outerHTML;
    }"""
    before = await context.read(spy)
    await context.settle(quiet_s=0.1)
    for _ in range(2):
        await context.observe(ObserveOptions(screenshot=True, marks=True))
    ask = """() => {
      const script = document.createElement('script');
      script.textContent = `document['documentElement']['dataset'].notes =
        JSON.stringify([notes.slice(), Object.keys(window).length - globals])`;
      const html = document.documentElement.outerHTML;
      document.head.append(script); script.remove();
      return [html, JSON.parse(document.documentElement.dataset.notes)];
    }"""
    html, (notes, new_globals) = await context.read(ask)
    assert html == before
    assert notes == []
    assert new_globals == 1  # which the spy itself put there


async def test_frames_of_every_kind_are_inside(context: Context, site: Site) -> None:
    for how, prefix in (("iframe", "a"), ("nested", "aa"), ("cross", "a")):
        await context.goto(f"{site.url}/wrap?how={how}")
        await context.settle(quiet_s=0.1)
        seen = await context.observe()
        button = next(element for element in clickable_elements(seen.elements) if element.name == "Press me")
        assert button.bid.rstrip("0123456789") == prefix, how
        ids = [element.bid for element in clickable_elements(seen.elements)]
        assert len(ids) == len(set(ids))
        assert button.box is not None and button.box.y > 10
        frames = [element for element in walk_elements(seen.elements) if element.role == "frame"]
        addresses = [urlsplit(frame.attributes["src"]) for frame in frames]
        assert all(parts.scheme == "http" and parts.path.startswith("/") for parts in addresses), how
        other = [parts.netloc != urlsplit(site.url).netloc for parts in addresses]
        assert any(other) == (how == "cross"), addresses


async def test_a_frame_says_where_it_went_and_its_words_are_that_site_s(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/wrap?how=cross")
    await context.settle(quiet_s=0.1)
    seen = await context.observe()
    frame = next(element for element in walk_elements(seen.elements) if element.role == "frame")
    pages = SessionPages()
    pages.add(seen)
    place = pages.find("Press me")
    assert place is not None and place.url == frame.attributes["src"] != seen.url
    await context.read("() => { document.querySelector('iframe').src = '/second' }")
    await context.settle(quiet_s=0.1)
    moved = next(element for element in walk_elements((await context.observe()).elements) if element.role == "frame")
    assert moved.attributes["src"] == f"{site.url}/second"


async def test_states_values_options_and_focus(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/acts")
    by_name = {element.name: element for element in clickable_elements((await context.observe()).elements)}
    await context.act(Action("check", {"bid": by_name["Check"].bid}))
    await context.act(Action("fill", {"bid": by_name["Text"].bid, "value": "typed"}))
    seen = await context.observe()
    by_name = {element.name: element for element in clickable_elements(seen.elements)}
    assert "checked" in by_name["Check"].states
    assert "disabled" in by_name["Disabled"].states
    assert by_name["Text"].attributes["value"] == "typed"
    assert seen.focused == by_name["Text"].bid
    assert by_name["One"].options == (("Red", "r", True), ("Green", "g", False), ("Blue", "Blue", False))
    assert by_name["Date"].attributes["type"] == "date"


async def test_a_page_that_is_hidden_under_a_dialog_is_left_out(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/acts")
    await context.read(
        "() => { const d = document.createElement('dialog'); d.innerHTML = '<button>OK</button>'; "
        "document.body.append(d); d.showModal(); }"
    )
    assert names(await context.observe()) == ["OK"]


async def test_errors_of_the_page_are_told_once(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/acts")
    await context.observe()
    await context.read(
        "() => { const s = document.createElement('script'); s.textContent = "
        "`console.error('bad', 7); setTimeout(() => { throw new Error('worse') })`; document.head.append(s); }"
    )
    await context.settle(quiet_s=0.1)
    assert (await context.observe()).console_errors == ("bad 7", "Error: worse")
    assert (await context.observe()).console_errors == ()


async def test_a_budget_bounds_big_pages_and_what_was_cut_can_be_had(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/second")
    await context.read(
        """() => { document.body.innerHTML = '<table>' + Array.from({ length: 3000 }, (_, i) =>
           `<tr><td>${i}</td><td><a href="/${i}">Row ${i}</a></td></tr>`).join('') + '</table>'; }"""
    )
    whole = await context.observe()
    assert len(names(whole)) == 3000
    assert whole.omitted == 0
    part = await context.observe(ObserveOptions(max_elements=50))
    assert names(part)[:2] == ["Row 0", "Row 1"]
    assert len(names(part)) == 50
    assert part.omitted == 2950
    following = await context.observe(ObserveOptions(max_elements=50, part=1))
    assert len(names(following)) == 50
    assert not set(names(part)) & set(names(following))
    by_words = await context.observe(ObserveOptions(max_elements=50, words=("row 2718",)))
    assert "Row 2718" in names(by_words)
    short = await context.observe(ObserveOptions(max_chars=1000))
    assert len(compact(short.elements)) < 2500
    await context.read("() => scrollTo(0, 20000)")
    seen = await context.observe(ObserveOptions(viewport_only=True))
    assert 20 < len(names(seen)) < 100
    assert all(
        element.in_viewport or abs(element.box.y) < 1000 for element in clickable_elements(seen.elements) if element.box
    )
    assert seen.omitted > 2800


async def test_screenshots_and_marks_have_the_size_of_the_viewport(browser: Browser, site: Site) -> None:
    options = ContextOptions(browser=BrowserSpec(viewport=Viewport(width=640, height=480)))
    context = await browser.new_context(options)
    await context.goto(f"{site.url}/acts")
    seen = await context.observe(ObserveOptions(screenshot=True, marks=True))
    assert seen.viewport == (640, 480)
    for image in (seen.screenshot, seen.marked_screenshot):
        assert image is not None
        assert Image.open(io.BytesIO(image)).size == (640, 480)
    marked = [element for element in clickable_elements(seen.elements) if element.marked]
    assert marked
    assert all(element.in_viewport for element in marked)
    whole = await context.screenshot(full_page=True)
    assert (whole.width, whole.height > 2000, whole.content_type) == (640, True, "image/jpeg")
    await context.close()


async def test_settling_waits_for_requests_and_changes_but_not_for_ever(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/second")
    await context.settle(quiet_s=0.05)
    await context.read("() => { location.href = '/busypage' }")
    assert await context.settle(quiet_s=0.2, budget_s=60)
    assert "loaded" in compact((await context.observe()).elements)
    # Returns at the first change: until then the page has been quiet for long.
    await context.read(
        "() => new Promise(first => setInterval(() => { document.title = Math.random(); first(1) }, 20))"
    )
    started = time.monotonic()
    assert not await context.settle(quiet_s=0.3, budget_s=0.8)
    assert time.monotonic() - started < 8


async def test_settling_waits_for_what_an_action_begins_late(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/acts")
    seen = await context.observe()
    await context.settle(quiet_s=0.4)
    await context.settle(quiet_s=0.4)  # by now the page has long been quiet
    later = next(element for element in clickable_elements(seen.elements) if element.name == "Later")
    await context.act(Action("click", {"bid": later.bid}))  # writes 300 ms after the click
    assert await context.settle(quiet_s=0.4, budget_s=60)
    assert "late news" in compact((await context.observe()).elements)


async def test_settling_waits_for_frames(context: Context, site: Site) -> None:
    for how in ("iframe", "cross"):
        await context.goto(f"{site.url}/wrap?how={how}")
        await context.settle(quiet_s=0.1)
        seen = await context.observe()
        await context.settle(quiet_s=0.05)
        later = next(element for element in clickable_elements(seen.elements) if element.name == "Later")
        await context.act(Action("click", {"bid": later.bid}))
        assert await context.settle(quiet_s=0.4, budget_s=60)
        assert "late news" in compact((await context.observe()).elements)


async def test_blocked_resources_are_not_fetched(browser: Browser, site: Site) -> None:
    context = await browser.new_context(ContextOptions(browser=BrowserSpec(block=("image",))))
    site.requests.clear()
    await context.goto(f"{site.url}/pictures")
    await context.settle(quiet_s=0.2)
    assert "/pictures" in site.requests
    assert not [path for path in site.requests if path.startswith("/picture") and path != "/pictures"]
    await context.close()


async def test_blocked_resources_are_not_fetched_by_windows_that_the_site_opens(browser: Browser, site: Site) -> None:
    context = await browser.new_context(ContextOptions(browser=BrowserSpec(block=("image",))))
    await context.goto(f"{site.url}/opener")
    (link,) = clickable_elements((await context.observe()).elements)
    site.requests.clear()
    result = await context.act(Action("click", {"bid": link.bid}))
    assert result.effect.new_tab
    await context.settle(quiet_s=0.2)
    assert (await context.observe()).title == "P"
    # What the document asks for before anybody could attach to its window may come; what comes later does not.
    site.requests.clear()
    await context.read("() => { document.body.append(Object.assign(new Image(), { src: '/picture?later' })) }")
    await context.settle(quiet_s=0.2)
    assert site.requests == []
    await context.close()
