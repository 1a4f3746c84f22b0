"""Fixtures that several folders of tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import settings

from tests import postgres

# A busy machine makes an example slow, not wrong; the time-out of the whole test still holds.
settings.register_profile("shoal", deadline=None)
settings.load_profile("shoal")

# Where a test sets up no logs itself: drawing a traceback with all local variables takes seconds.
structlog.configure(processors=[structlog.processors.format_exc_info, structlog.dev.ConsoleRenderer(colors=False)])

pytest.register_assert_rewrite("tests.store_contract", "tests.store_world")


_ROOT = Path(__file__).parent
_CLUSTERS = ("acceptance", "integration/cluster")
"""Folders of tests that start whole clusters: two at once would be more than a small machine carries."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """For runs on two processes (scripts/test): files stay whole, and clusters are started one after the other."""
    for item in items:
        place = item.path.relative_to(_ROOT).as_posix()
        item.add_marker(pytest.mark.xdist_group("clusters" if place.startswith(_CLUSTERS) else place))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL server that lives as long as the test run."""
    with postgres.running() as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """The URL of an empty database."""
    with postgres.database(postgres_server) as url:
        yield url
