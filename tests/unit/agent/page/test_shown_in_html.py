"""Cases of what a person sees, judged on raw HTML; a browser test judges the same page."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.agent.page.from_html import page_from_html
from shoal.agent.page.page import Page

CASES = Path("tests/sites/shown.html")


def case_of(page: Page, name: str) -> tuple[bool, bool]:
    """Return whether the case should be shown, and whether the page says so."""
    el = next(el for el in page.elements if el.get("data-case") == name)
    return el.get("data-sees") == "yes", page.is_visible(el)


PAGE = page_from_html(CASES.read_bytes(), "https://shown.test/")
NAMES = [el.get("data-case") for el in PAGE.elements if el.get("data-case") and not el.get("data-needs")]


@pytest.mark.parametrize("name", NAMES)
def test_raw_html_tells_what_is_shown(name: str) -> None:
    expected, shown = case_of(PAGE, name)
    assert shown is expected, PAGE.why_hidden(next(el for el in PAGE.elements if el.get("data-case") == name))


def test_the_page_has_cases_of_both_kinds() -> None:
    expected = [el.get("data-sees") for el in PAGE.elements if el.get("data-case")]
    assert len(expected) >= 76
    assert min(expected.count("yes"), expected.count("no")) >= 30


def test_a_noscript_does_not_end_the_head() -> None:
    assert [el.getparent().tag for el in PAGE.root.iter("meta")] == ["head", "head"]
