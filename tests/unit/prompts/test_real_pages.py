"""Prompts of models on ten real pages, in review."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.prompts.real_pages import PAGES, SNAPSHOTS, RealPage, rendered

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_change_is_seen_on_real_pages(page: RealPage) -> None:
    assert rendered(page) == (SNAPSHOTS / f"page-{page.name}.txt").read_text(encoding="utf-8")
