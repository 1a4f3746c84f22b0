"""Fixtures of all tests of security."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.migrated import sqlite_copies


@pytest.fixture(scope="session", autouse=True)
def _sqlite_copies() -> Iterator[None]:
    with sqlite_copies():
        yield
