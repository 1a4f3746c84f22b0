"""The contract of every browser behind the seam: one for the real one and for doubles."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from shoal.agent.browser import Browser, Context, ContextOptions
from shoal.agent.chromium.process.launch import launch
from shoal.agent.errors import BrowserGone
from shoal.agent.types import Action
from tests.doubles import FakeBrowser, FakePage, body, text
from tests.integration.browser.conftest import Site

pytestmark = pytest.mark.asyncio(loop_scope="session")

BROWSERS = ["chromium", "chromium for reading", "fake"]


class ForReading:
    """A browser whose contexts are only read, until they are used otherwise."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self.health = browser.health
        self.close = browser.close

    async def new_context(self, options: ContextOptions = ContextOptions()) -> Context:
        return await self._browser.new_context(replace(options, reading=True))


@pytest_asyncio.fixture(params=BROWSERS, loop_scope="session")
async def either(request: pytest.FixtureRequest, site: Site) -> AsyncIterator[Browser]:
    """A browser that knows the page /second of the site."""
    browser: Browser
    if request.param == "chromium":
        browser = await launch()
    elif request.param == "chromium for reading":
        browser = ForReading(await launch())
    else:
        browser = fake_browser(site)
    yield browser
    await browser.close()


def fake_browser(site: Site) -> Browser:
    """The double, with the same page."""
    return FakeBrowser({f"{site.url}/second": FakePage(title="Second", elements=body(text("The second page")))})


async def test_a_context_opens_a_page_and_says_where_it_is(either: Browser, site: Site) -> None:
    context = await either.new_context()
    assert context.url == "about:blank"
    landing = await context.goto(f"{site.url}/second")
    assert (landing.url, landing.status) == (f"{site.url}/second", 200)
    assert context.url == f"{site.url}/second"
    seen = await context.observe()
    assert (seen.url, seen.title) == (f"{site.url}/second", "Second")
    assert (await context.screenshot()).data
    assert "second" in await context.archive()
    assert list(await context.downloads()) == []
    assert isinstance(await context.storage_state(), dict)
    assert await context.settle(quiet_s=0.05, budget_s=60)


async def test_a_failed_action_is_a_result(either: Browser, site: Site) -> None:
    context = await either.new_context(ContextOptions())
    await context.goto(f"{site.url}/second")
    result = await context.act(Action("no_such_action"))
    assert result.error is not None
    assert result.action == Action("no_such_action")


async def test_health_counts_and_close_may_be_called_twice(either: Browser, site: Site) -> None:
    context = await either.new_context()
    health = await either.health()
    assert (health.alive, health.contexts, health.sessions) == (True, 1, 1)
    await context.close()
    await context.close()
    assert (await either.health()).contexts == 0
    await either.close()
    await either.close()
    assert not (await either.health()).alive
    with pytest.raises(BrowserGone):
        await either.new_context()
