"""Fixtures of the tests without a browser, Ray or database server, and the choice of those that are the second ring."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.migrated import sqlite_copies

PARTS = (
    *("artifacts", "cli", "cluster", "dispatch", "egress", "evaluation", "face", "gateway", "inference", "robots"),
    *("sinks", "site", "store", "webhooks"),
    "agent/observe/test_documents.py",
    "agent/observe/test_imitation.py",
    "agent/rules/test_hostile_text.py",
    "agent/test_reader_process.py",
    "browsers/test_memory.py",
    "browsers/test_page_processes.py",
    "models/test_client.py",
    "workflows/test_exchange.py",
)
"""Folders and files of the second ring: whole parts in the test's own process (a store, a dispatcher, a gateway, a
command, a site, a server), other processes, and texts that are made to take long."""

OF_SOURCES = (
    *("settings/test_error_docs.py", "test_enumerations.py", "test_near.py", "test_prose.py"),
    *("test_reaches_its_end.py", "test_structure.py"),
)
"""Files that read the syntax trees of the whole code. One process runs them all, first: it parses each file once."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the second ring, and what one process runs.

    Raises:
        pytest.UsageError: `PARTS` or `OF_SOURCES` names what is not there: its tests would run elsewhere.
    """
    here = Path(__file__).parent
    parts, of_sources = [here / part for part in PARTS], [here / part for part in OF_SOURCES]
    if gone := [part for part in (*parts, *of_sources) if not part.exists()]:
        raise pytest.UsageError(f"PARTS or OF_SOURCES names what is not there: {', '.join(map(str, gone))}")
    for item in items:
        if any(item.path.is_relative_to(part) for part in parts):
            item.add_marker("parts")
        if item.path in of_sources:
            item.add_marker(pytest.mark.xdist_group("sources"))
    items.sort(key=lambda item: item.path not in of_sources)


def pytest_collection_finish() -> None:
    """Freeze what is imported: it stays, so the garbage collector need not look at it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _sqlite_copies() -> Iterator[None]:
    with sqlite_copies():
        yield
