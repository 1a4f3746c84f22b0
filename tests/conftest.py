"""Fixtures that several folders of tests share."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx._transports.default
import pytest
import structlog
from hypothesis import settings

from shoal.agent.chromium.process.find import find_chromium, read_version
from shoal.agent.errors import BrowserNotFound

# A busy machine makes an example slow, not wrong; the time-out of the whole test still holds. `make test` judges a
# change: it draws the same examples each time. `make test-fuzz` looks for faults: it draws others each time, and many
# (`--hypothesis-profile=long`).
settings.register_profile("shoal", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=500)
settings.load_profile("shoal")

# Where a test sets up no logs itself: drawing a traceback with all local variables takes seconds.
structlog.configure(processors=[structlog.processors.format_exc_info, structlog.dev.ConsoleRenderer(colors=False)])

# A new client reads the machine's certificates: 50 ms of CPU. Tests make hundreds of clients, and one for each look at
# a cluster that they wait for. All share one context.
httpx._transports.default.create_ssl_context = functools.cache(httpx._transports.default.create_ssl_context)

pytest.register_assert_rewrite("tests.store_contract", "tests.store_world")


def pytest_configure() -> None:
    """A run that is told to end ends as by Ctrl-C: what its fixtures started is stopped."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_report_header() -> str:
    """Name the browser: a new version of it may be the reason of a failure."""
    try:
        executable = find_chromium()
        return f"browser: {read_version(executable)} ({executable})"
    except BrowserNotFound as error:
        return f"browser: {error}"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL server that lives as long as the test run."""
    from tests import postgres  # psycopg, which most rings do not use

    with postgres.running() as url:
        yield url


@pytest.fixture
def empty_postgres_url(postgres_server: str) -> Iterator[str]:
    """The URL of an empty database."""
    from tests import postgres

    with postgres.database(postgres_server) as url:
        yield url


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str) -> Iterator[str]:
    """The name of a database that has today's schema."""
    from tests import postgres

    with postgres.database(postgres_server) as url:
        # In a process of its own: no connection to a template may be open, and who needs no store does not import it.
        shoal = Path(sys.executable).with_name("shoal")
        subprocess.run([shoal, "migrate"], env={**os.environ, "SHOAL_STORE_URL": url}, check=True)
        yield urlsplit(url).path[1:]


@pytest.fixture
def postgres_url(postgres_server: str, postgres_template: str) -> Iterator[str]:
    """The URL of a database that has today's schema and no rows."""
    from tests import postgres

    with postgres.database(postgres_server, postgres_template) as url:
        yield url
