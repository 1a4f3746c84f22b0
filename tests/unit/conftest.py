"""Fixtures of the first ring."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tests.migrated import sqlite_copies


def pytest_collection_finish() -> None:
    """What is imported stays: the garbage collector need not look at it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _sqlite_copies() -> Iterator[None]:
    with sqlite_copies():
        yield
