"""A page taken from a real Chromium: what only a browser can show of it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from lxml import html
from playwright.async_api import Page as Tab
from playwright.async_api import async_playwright

from scripts.record_pages import record, take
from shoal.agent.chromium.process.find import find_chromium
from shoal.agent.page.from_html import page_from_html
from shoal.agent.page.page import Page
from shoal.agent.page.recorded import page_as_json, page_from_json
from tests.integration.browser.conftest import SITES, Site
from tests.recorded_pages import NAMES, PAGES


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tab() -> AsyncIterator[Tab]:
    """An empty tab."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=str(find_chromium()), args=["--no-sandbox", "--site-per-process"]
        )
        yield await browser.new_page()
        await browser.close()


def first(page: Page, path: str) -> html.HtmlElement:
    return page.root.xpath(path)[0]


def wrong_cases(page: Page) -> tuple[list[str], int]:
    """Cases that are judged wrongly, and how many there are."""
    cases = [el for el in page.elements if el.get("data-case")]
    wrong = [str(el.get("data-case")) for el in cases if page.is_visible(el) is not (el.get("data-sees") == "yes")]
    return wrong, len(cases)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("boxes", [False, True])
async def test_what_a_person_sees(tab: Tab, site: Site, boxes: bool) -> None:
    await tab.goto(f"{site.url}/shown")
    wrong, count = wrong_cases(await take(tab, boxes=boxes))
    assert wrong == []
    assert count >= 100


FORM = """<!doctype html><title>Form</title><form>
<input id=name value=a><input id=secret type=password><input id=tick type=checkbox><input id=off disabled>
<textarea id=notes>b</textarea><select id=pick><option value=1>x<option value=2>y</select></form>"""


@pytest.mark.asyncio(loop_scope="module")
async def test_fields_tell_what_is_in_them_now(tab: Tab, site: Site) -> None:
    await tab.goto(f"{site.url}/second")
    await tab.set_content(FORM)
    await tab.fill("#name", "Ada")
    await tab.fill("#secret", "hunter2")
    await tab.check("#tick")
    await tab.fill("#notes", "two\nlines")
    await tab.select_option("#pick", "2")
    page = await take(tab)
    fields = {name: first(page, f"//*[@id='{name}']") for name in ("name", "secret", "tick", "off", "notes", "pick")}
    assert page.value(fields["name"]) == "Ada" and fields["name"].get("value") == "a"
    assert page.value(fields["secret"]) == "•••••••"
    assert page.value(fields["notes"]) == "two\nlines" and page.value(fields["pick"]) == "2"
    assert page.checked(fields["tick"]) and page.disabled(fields["off"])
    assert [page.selected(option) for option in page.root.iter("option")] == [False, True]
    assert "hunter2" not in page_as_json(page).decode()


# An element that has children and hides a closed tree says so by its name alone.
SHADOWS = """<!doctype html><title>Shadows</title>
<x-host id=host><b id=light>slotted</b>left out<i>unslotted</i></x-host><p>after</p>
<script>
const root = document.getElementById('host').attachShadow({mode: 'MODE'});
root.innerHTML = '<p>first</p><slot></slot><section><p>second</p></section>';
root.querySelector('slot').name = 'only';
document.getElementById('light').slot = 'only';
</script>"""


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_shadow_trees_are_read_where_they_are_drawn(tab: Tab, site: Site, mode: str) -> None:
    await tab.goto(f"{site.url}/second")
    await tab.set_content(SHADOWS.replace("MODE", mode))
    page = await take(tab)
    assert page.text(page.root.find("body")) == "first\nslotted\nsecond\nafter"
    host = first(page, "//*[@id='host']")
    assert page.shadow_roots == {page.number(host): mode}
    second, light = first(page, "//section/p"), first(page, "//b")
    assert page.selector(second) == ("#host", "section > p")
    assert page.selector(light) == ("#light",)
    assert page.why_hidden(first(page, "//i")) == ("in no slot",)


NESTED = """<!doctype html><title>Nested</title><p id=outer style="width: 9em"></p><script>
const hide = (host, html) => { const root = host.attachShadow({mode: 'closed'}); root.innerHTML = html; return root; };
const inner = hide(document.getElementById('outer'), '<section>in one</section><div id=host></div>');
hide(inner.getElementById('host'), '<p>in two</p>');
</script>"""


@pytest.mark.asyncio(loop_scope="module")
async def test_closed_shadow_trees_within_closed_ones(tab: Tab, site: Site) -> None:
    await tab.goto(f"{site.url}/second")
    await tab.set_content(NESTED)
    assert (await take(tab)).text() == "in one\nin two"


@pytest.mark.asyncio(loop_scope="module")
async def test_a_page_that_is_kept_reads_the_same(tab: Tab, site: Site) -> None:
    await tab.goto(f"{site.url}/shown")
    page = await take(tab, boxes=True)
    kept = page_from_json(page_as_json(page))
    assert wrong_cases(kept) == wrong_cases(page)
    assert page_as_json(kept) == page_as_json(page)
    assert kept.text() == page.text() and kept.boxes == page.boxes and kept.root.base_url == page.root.base_url


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", ["acts", "second", "wanted"])
async def test_raw_html_gives_the_tree_of_the_browser(tab: Tab, site: Site, name: str) -> None:
    body = (SITES / f"{name}.html").read_bytes()
    # Its scripts do not run, and it is parsed as if they did.
    headers = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": "script-src 'none'"}
    await tab.route("**/raw", lambda route: route.fulfill(body=body, headers=headers))
    await tab.goto(f"{site.url}/raw")
    await tab.unroute("**/raw")
    page = await take(tab)
    raw = page_from_html(body, tab.url)
    told = [(el.tag, dict(el.attrib)) for el in page.elements]
    assert told == [(el.tag, dict(el.attrib)) for el in raw.elements]
    assert raw.text() == page.text()


DEEP = "const p = document.createElement('p'); let at = document.body;" + (
    "for (let n = 0; n < 1000; n++) at = at.appendChild(document.createElement('div')); at.append('deep'); at.append(p)"
)


@pytest.mark.asyncio(loop_scope="module")
async def test_odd_documents(tab: Tab, site: Site) -> None:
    await tab.goto(f"{site.url}/second")
    await tab.set_content("<p title='\ud83d' @click=x>a</p>")
    await tab.evaluate("document.querySelector('p').append('\\ud800\\u0001\\ufffe]]>')")
    page = await take(tab)
    assert page.text() == "a\ufffd]]>"
    await tab.evaluate(DEEP)
    assert "deep" in (await take(tab)).text()
    await tab.evaluate("document.documentElement.remove()")
    assert [el.tag for el in (await take(tab)).elements] == ["html"]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", NAMES)
async def test_recorded_pages_are_current(tab: Tab, name: str) -> None:
    assert (PAGES / "recorded" / f"{name}.json").read_bytes() == await record(tab, name), "run scripts/record-pages"
