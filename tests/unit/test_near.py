"""The tests that are nearest to a change."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.near import FARTHEST, ROOT, distances, modules, nearest_tests


@pytest.fixture(scope="module")
def named() -> dict[str, Path]:
    return modules()


def test_a_test_is_as_far_away_as_its_imports_lead(named: dict[str, Path]) -> None:
    near = distances(["agent/status.py"], named)
    assert near[ROOT / "agent" / "status.py"] == 0
    assert near[ROOT / "agent" / "sessions" / "evidence.py"] == 1
    assert 0 < max(near.values()) <= FARTHEST


def test_a_script_of_pages_changes_the_module_that_names_it(named: dict[str, Path]) -> None:
    near = distances(["agent/page/page_tree.js"], named)
    assert near[ROOT / "agent" / "page" / "from_browser.py"] == 0


def test_a_page_of_the_docs_changes_only_what_names_it(named: dict[str, Path]) -> None:
    reached = nearest_tests(distances(["docs/how-to/export.md", "LICENSE"], named))
    assert reached == [Path(__file__)]


def test_nearest_tests_come_first_and_cheap_ones_before_others(named: dict[str, Path]) -> None:
    near = distances(["agent/status.py"], named)
    tests = nearest_tests(near)
    assert [near[path] for path in tests] == sorted(near[path] for path in tests)
    nearest = [path.parts[len(ROOT.parts) + 1] for path in tests if near[path] == near[tests[0]]]
    assert nearest == sorted(nearest, key=lambda part: part != "unit")
