"""What tests without a browser, Ray or database server share, and which of them are the second ring."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.migrated import sqlite_copies

PARTS = frozenset({"cli", "dispatch", "evaluation", "face", "gateway", "site", "store"})
"""Folders whose tests run whole parts in their own process: a store, a dispatcher, a gateway, a command, a site."""


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Marks the second ring."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and item.path.relative_to(here).parts[0] in PARTS:
            item.add_marker("parts")


def pytest_collection_finish() -> None:
    """What is imported stays: the garbage collector need not look at it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _sqlite_copies() -> Iterator[None]:
    with sqlite_copies():
        yield
