"""Pages of `tests/pages` as Chromium showed them, read without a browser. `scripts/record-pages` records them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from shoal.agent.page.from_html import page_from_html
from shoal.agent.page.page import Page
from shoal.agent.page.recorded import page_from_json

PAGES = Path(__file__).parent / "pages"
NAMES = sorted(path.stem for path in PAGES.glob("*.html"))


@cache
def recorded(name: str) -> Page:
    """The page as a browser showed it."""
    return page_from_json((PAGES / "recorded" / f"{name}.json").read_bytes())


@cache
def raw(name: str) -> Page:
    """The same page from its HTML alone."""
    return page_from_html((PAGES / f"{name}.html").read_bytes(), f"https://pages.test/{name}")
