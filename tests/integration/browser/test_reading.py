"""Contexts that are only read: what they tell, and what they take along when more is asked of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from email import message_from_string
from typing import Any, Literal

import pytest

from shoal.agent.browser import Browser, ContextOptions
from shoal.agent.chromium.acting.acting_context import ActingContext
from shoal.agent.chromium.devtools.reading_context import ReadingContext
from shoal.agent.errors import NavigationTimeout
from shoal.agent.observe.renderings import compact
from shoal.agent.read.drawn.page_tree import drawn_page
from shoal.agent.spec import BrowserSpec
from tests.integration.browser.conftest import PICTURE, Site

pytestmark = pytest.mark.asyncio(loop_scope="session")

READING = ContextOptions(reading=True)
COOKIE = {"name": "basket", "value": "7", "url": "http://127.0.0.1"}


async def test_more_than_reading_goes_on_with_cookies_and_storage_on_the_same_page(
    browser: Browser, site: Site
) -> None:
    context = await browser.new_context(READING)
    assert isinstance(context, ReadingContext)
    await context.goto(f"{site.url}/second")
    await context.read("() => { document.cookie = 'basket=7'; localStorage.setItem('kept', 'yes'); }")
    before = await context.storage_state()
    seen = await context.observe()
    assert seen.url == context.url == f"{site.url}/second"
    assert "The second page" in compact(seen.elements)
    assert await context.read("() => [document.cookie, localStorage.getItem('kept')]") == ["basket=7", "yes"]
    assert (await context.storage_state())["origins"] == before["origins"]
    await context.close()


async def test_a_cookie_of_one_partition_stays_in_it_when_the_context_moves(browser: Browser, site: Site) -> None:
    context = await browser.new_context(READING)
    assert isinstance(context, ReadingContext)
    await context.goto(f"{site.url}/second")
    raw, partition = context.page.raw, {"topLevelSite": "https://top.example", "hasCrossSiteAncestor": True}
    cookie = {"name": "chip", "value": "7", "url": "https://inner.example", "secure": True, "partitionKey": partition}
    await raw.root.send("Storage.setCookies", {"browserContextId": raw.context, "cookies": [cookie]})
    before = (await context.storage_state())["cookies"]
    assert [one["partitionKey"] for one in before] == ["https://top.example"]
    await context.observe()
    assert [one.get("partitionKey") for one in (await context.storage_state())["cookies"]] == ["https://top.example"]
    await context.close()


async def test_a_job_that_dismisses_dialogs_is_read_past_playwright_too(browser: Browser, site: Site) -> None:
    options = replace(READING, browser=BrowserSpec(dialogs="dismiss"), accept_dialogs=False)
    context = await browser.new_context(options)
    assert isinstance(context, ReadingContext)
    await context.goto(f"{site.url}/second")
    assert await context.read("() => { alert('Hello'); return confirm('Really?'); }") is False
    await context.close()


async def test_a_page_s_alerts_are_answered_and_its_own_moves_are_followed(browser: Browser, site: Site) -> None:
    context = await browser.new_context(READING)
    await context.goto(f"{site.url}/second")
    assert await context.read("() => { alert('Hello'); return confirm('Really?'); }") is True
    await context.read("() => history.pushState({}, '', '/pushed')")
    assert await context.settle(quiet_s=0.05, budget_s=60)
    assert context.url == f"{site.url}/pushed"
    assert (await context.goto(f"{site.url}/second#part")).url == f"{site.url}/second#part"
    assert (await context.goto(f"{site.url}/second#other")).url == f"{site.url}/second#other"
    await context.close()


async def test_each_navigation_tells_what_its_own_document_s_server_said(browser: Browser, site: Site) -> None:
    context = await browser.new_context(READING)
    for path, status, pause in (("/second", 200, None), ("/busy", 503, 7), ("/missing", 404, None), ("/busy", 503, 7)):
        landing = await context.goto(f"{site.url}{path}")
        assert (landing.url, landing.status, landing.retry_after_s) == (f"{site.url}{path}", status, pause)
    for _ in range(5):
        landing = await context.goto(f"{site.url}/onward")  # whose script opens another
        assert (landing.url, landing.status) in {(f"{site.url}/onward", 200), (f"{site.url}/missing", 404)}
    await context.close()


async def test_a_document_comes_once_none_is_held_back_any_more(
    browser: Browser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chromium loses the page that a script goes on to where its answer comes while holding back ends."""
    context = await browser.new_context(READING)
    assert isinstance(context, ReadingContext)
    its_own, order = context.page._talk.send, list[str]()
    context.page._talk.on("Page.frameNavigated", lambda event: order.append(event["frame"]["url"]))

    async def send(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        if method == "Fetch.disable":
            await asyncio.sleep(0.2)
            order.append(method)
        return await its_own(method, params)

    monkeypatch.setattr(context.page._talk, "send", send)
    await context.goto(f"{site.url}/second")
    assert order == ["Fetch.disable", f"{site.url}/second"]
    await context.close()


async def test_what_a_given_up_navigation_still_says_is_not_the_next_one_s(
    browser: Browser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = await browser.new_context(READING)
    assert isinstance(context, ReadingContext)
    with pytest.raises(NavigationTimeout):
        await context.goto(f"{site.url}/hang", timeout_s=0.3)
    page = context.page
    late = {"requestId": "gone", "frameId": page.raw.frame, "responseStatusCode": 503, "responseHeaders": []}
    said, its_own = [late], page._talk.send

    async def send(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        while said:  # it was on its way when the next call was made
            page._on_answer(said.pop())
        return await its_own(method, params)

    monkeypatch.setattr(page._talk, "send", send)
    landing = await context.goto(f"{site.url}/second")
    assert (landing.status, said) == (200, [])
    await context.close()


async def test_a_page_that_cannot_be_opened_again_stays_as_it_is(browser: Browser, site: Site) -> None:
    others = (await browser.health()).contexts
    context = await browser.new_context(replace(READING, navigation_timeout_s=3.0))
    await context.goto(f"{site.url}/second")
    await context.read("() => history.pushState({}, '', '/hang')")
    with pytest.raises(NavigationTimeout):
        await context.observe()
    assert context.url == f"{site.url}/hang"
    assert await context.read("() => document.querySelector('h1').textContent") == "The second page"
    await context.close()
    assert (await browser.health()).contexts == others


async def test_halves_of_characters_are_no_trouble(browser: Browser, site: Site) -> None:
    context = await browser.new_context(READING)
    await context.goto(f"{site.url}/second")
    assert await context.read("() => 'a\\ud83d'") in ("a\ud83d", "a\ufffd")
    await context.read("() => { document.querySelector('h1').textContent = 'half \\ud83d of one'; }")
    assert "half \ufffd of one" in (await drawn_page(context)).text()
    await context.close()


@pytest.mark.parametrize("reading", [True, False])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_page_is_told_which_colours_its_visitor_prefers(
    browser: Browser, site: Site, scheme: Literal["light", "dark"], reading: bool
) -> None:
    look = BrowserSpec(color_scheme=scheme)
    context = await browser.new_context(ContextOptions(reading=reading, browser=look))
    await context.goto(f"{site.url}/second")
    assert await context.read("() => matchMedia('(prefers-color-scheme: dark)').matches") is (scheme == "dark")
    await context.close()


@pytest.mark.parametrize(
    "options",
    [
        ContextOptions(reading=True, browser=BrowserSpec(locale="de-DE")),
        ContextOptions(reading=True, browser=BrowserSpec(block=("image",))),
        ContextOptions(reading=True, storage_state={"cookies": [COOKIE], "origins": []}),
        ContextOptions(),
    ],
    ids=["a locale", "blocked images", "stored state", "no hint"],
)
async def test_what_a_plain_page_does_not_offer_gets_a_full_context(browser: Browser, options: ContextOptions) -> None:
    context = await browser.new_context(options)
    assert isinstance(context, ActingContext)
    await context.close()


@pytest.mark.parametrize("reading", [True, False], ids=["reading", "acting"])
async def test_an_archive_has_the_pictures_of_the_page(browser: Browser, site: Site, reading: bool) -> None:
    context = await browser.new_context(ContextOptions(reading=reading))
    await context.goto(f"{site.url}/pictures")
    assert await context.settle(quiet_s=0.05, budget_s=60)
    parts = message_from_string(await context.archive()).get_payload()
    assert [part.get_content_type() for part in parts] == ["text/html", "image/gif", "image/gif"]
    assert {part["Content-Location"] for part in parts[1:]} == {f"{site.url}/picture.png?1", f"{site.url}/picture"}
    assert all(part.get_payload(decode=True) == PICTURE for part in parts[1:])
    await context.close()
