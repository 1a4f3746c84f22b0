"""Errors of consoles and of the network: which are told, where they are from, and how often they came."""

from __future__ import annotations

import pytest

from shoal.agent.browser import Browser, Context, ContextOptions
from shoal.agent.chromium.devtools.reading_context import ReadingContext
from shoal.agent.spec import BrowserSpec
from shoal.agent.types import PageErrors
from tests.integration.browser.conftest import Site

pytestmark = pytest.mark.asyncio(loop_scope="session")

BROKEN = """() => { const s = document.createElement('script'); s.textContent = `
  for (let i = 0; i < 3; i++) console.error('bad', 7);
  console.warn('only a warning');
  fetch('/missing');
  fetch('/nothing');
  setTimeout(() => { throw new Error('worse') });`; document.head.append(s); }"""


async def reported_errors(context: Context, most_tries: int = 100) -> set[tuple[str, str, int]]:
    """Return what came of a page that does what `BROKEN` does: kind, text and how often."""
    seen: dict[tuple[str, str], int] = {}
    for _ in range(most_tries):
        for one in (await context.page_errors()).told:
            seen[one.kind, one.text] = seen.get((one.kind, one.text), 0) + one.times
        if len(seen) == 3:
            break
        await context.settle(quiet_s=0.1)
    return {(*key, times) for key, times in seen.items()}


ALL = {
    ("console", "bad 7", 3),
    ("console", "Error: worse", 1),
    ("network", "Failed to load resource: the server responded with a status of 404 (Not Found)", 1),
}


async def test_errors_are_told_once_with_their_number_and_place(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/acts")
    await context.observe()
    await context.page_errors()
    await context.read(BROKEN)
    assert await reported_errors(context) == ALL
    assert await context.page_errors() == PageErrors()
    await context.read(
        "() => { const s = document.createElement('script'); s.src = '/missing'; document.body.append(s); }"
    )
    await context.settle(quiet_s=0.1)
    (one,) = (await context.page_errors()).told
    assert (one.kind, one.where) == ("network", f"{site.url}/missing")


async def test_a_page_that_nobody_looked_at_tells_its_errors_when_it_is_asked(browser: Browser, site: Site) -> None:
    for options in (ContextOptions(reading=True), ContextOptions()):
        context = await browser.new_context(options)
        assert isinstance(context, ReadingContext) is options.reading
        await context.goto(f"{site.url}/acts")
        await context.read(BROKEN)
        await context.settle(quiet_s=0.2)
        assert await context.page_errors() == PageErrors()  # it was only read: nothing was followed
        found = await context.page_errors(ask=True)
        assert {(one.kind, one.text, one.times) for one in found.told} == ALL, options
        await context.close()


async def test_errors_do_not_pass_from_one_session_to_the_next(browser: Browser, site: Site) -> None:
    for reading in (True, False):
        options = ContextOptions(reading=reading, reuse=f"errors-{reading}")
        first = await browser.new_context(options)
        await first.goto(f"{site.url}/acts")
        await first.read(BROKEN)
        await first.settle(quiet_s=0.2)
        await first.close()
        second = await browser.new_context(options)
        assert await second.page_errors() == PageErrors()
        await second.goto(f"{site.url}/second")
        assert await second.page_errors(ask=True) == PageErrors()
        await second.close()


async def test_what_the_job_itself_keeps_from_being_fetched_is_no_error(browser: Browser, site: Site) -> None:
    options = ContextOptions(browser=BrowserSpec(block=("image",)))
    context = await browser.new_context(options)
    await context.goto(f"{site.url}/pictures")
    await context.observe()
    await context.settle(quiet_s=0.1)
    assert await context.page_errors() == PageErrors()
    await context.close()


async def test_a_page_that_tells_errors_without_end_costs_little(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/acts")
    await context.observe()
    await context.read(
        "() => { const s = document.createElement('script'); s.textContent = "
        "`for (let i = 0; i < 500; i++) console.error(i + 'x'.repeat(100000))`; document.head.append(s); }"
    )
    await context.settle(quiet_s=0.1)
    errors = await context.page_errors()
    assert (len(errors.told), errors.left_out) == (50, 450)
    assert max(len(one.text) for one in errors.told) == 2000


async def test_a_script_of_a_host_that_answers_nothing_is_told_with_its_address(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/wrap?how=cross")
    await context.observe()
    await context.page_errors()
    await context.read(
        "() => { const s = document.createElement('script'); s.src = 'http://127.0.0.1:9/x.js'; "
        "document.body.append(s); }"
    )
    await context.settle(quiet_s=0.1)
    (one,) = (await context.page_errors()).told
    assert (one.kind, one.where) == ("network", "http://127.0.0.1:9/x.js")
    assert "net::ERR_" in one.text
