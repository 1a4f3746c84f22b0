"""Fixtures of the tests without a browser, Ray or database server, and the choice of those that are the second ring."""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

PARTS = (
    *("artifacts", "chaos", "cli", "cluster", "dispatch", "doctor", "egress", "evaluation", "face", "gateway"),
    *("inference", "metrics", "robots", "sinks", "site", "store", "webhooks"),
    "agent/gym",
    "agent/observe/test_documents.py",
    "agent/observe/test_imitation.py",
    "agent/rules/test_hostile_text.py",
    "agent/test_reader_process.py",
    "agent/test_sitemap_bombs.py",
    "bench/test_gpu.py",
    "browsers/test_memory.py",
    "browsers/test_page_processes.py",
    "browsers/test_ray_answers.py",
    "models/test_client.py",
    "session/test_learns.py",
    "settings/test_every_setting.py",
    "test_generated_docs.py",
    "test_reaches_its_end.py",
    "test_served_gateway.py",
    "test_trip.py",
    "workflows/test_exchange.py",
    "workflows/test_kept_pages.py",
)
"""Folders and files of the second ring: whole parts in the test's own process (a store, a dispatcher, a gateway, a
command, a site, a server), other processes, texts that are made to take long, and what imports such a part: each
process of the first ring would, too."""

OF_SOURCES = (
    *("settings/test_error_docs.py", "test_enumerations.py", "test_near.py", "test_prose.py"),
    *("test_reaches_its_end.py", "test_structure.py"),
)
"""Files that read the syntax trees of the whole code. One process runs them all, first: it parses each file once."""

HERE = Path(__file__).parent


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the other ring's files alone where one ring is run: each process would import all that they need."""
    match config.option.markexpr:
        case "not parts":
            return _is_part(collection_path) or None
        case "parts":
            return (collection_path.is_file() and not _is_part(collection_path)) or None
    return None


@functools.cache  # a file has up to hundreds of tests, and each asks
def _is_part(path: Path) -> bool:
    return any(path.is_relative_to(HERE / part) for part in PARTS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the second ring, and what one process runs.

    Raises:
        pytest.UsageError: `PARTS` or `OF_SOURCES` names what is not there: its tests would run elsewhere.
    """
    of_sources = [HERE / file for file in OF_SOURCES]
    if gone := [part for part in (*(HERE / part for part in PARTS), *of_sources) if not part.exists()]:
        raise pytest.UsageError(f"PARTS or OF_SOURCES names what is not there: {', '.join(map(str, gone))}")
    for item in items:
        if _is_part(item.path):
            item.add_marker("parts")
        if item.path in of_sources:
            item.add_marker(pytest.mark.xdist_group("sources"))
    items.sort(key=lambda item: item.path not in of_sources)


def pytest_collection_finish() -> None:
    """Freeze what is imported: it stays, so the garbage collector need not look at it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _sqlite_copies(request: pytest.FixtureRequest) -> Iterator[None]:
    if not any(item.get_closest_marker("parts") for item in request.session.items):
        yield  # functions open no store, and to import it takes a second
        return
    from tests.migrated import sqlite_copies

    with sqlite_copies():
        yield
