"""Pages of the rules policy without a browser: each is the tree of its HTML, as a raw document gives it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest

from shoal.agent.browser import Context
from shoal.agent.page.from_browser import SCRIPT
from shoal.agent.page.from_html import page_from_html
from shoal.agent.page.recorded import page_as_json
from shoal.agent.support.json_value import Json
from tests.doubles import FakeBrowser, FakePage

ADDRESS = "https://pages.test"


class _Pages(dict[str, str]):
    """HTML by path, which the browser's double shows."""

    def __init__(self, browser: FakeBrowser) -> None:
        super().__init__()
        self._browser = browser

    def __setitem__(self, path: str, html: str) -> None:
        super().__setitem__(path, html)
        url = f"{ADDRESS}{path}"
        answer = json.loads(page_as_json(page_from_html(html, url)))

        def read(script: str, arg: Json = None) -> Json:
            assert script == SCRIPT, f"only a browser runs {script[:80]!r}"
            return answer

        self._browser.pages[url] = FakePage(read=read)


@dataclass
class Site:
    """A site without a server: what a test puts there."""

    browser: FakeBrowser = field(default_factory=lambda: FakeBrowser({}))
    url: str = ADDRESS

    def __post_init__(self) -> None:
        self.pages = _Pages(self.browser)


@pytest.fixture
def site() -> Site:
    """The site, empty."""
    return Site()


@pytest.fixture
async def page(site: Site) -> Context:
    """A context that opens its pages."""
    return await site.browser.new_context()
