"""Modules that a process of the cluster imports before it does anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
OF_STORE = ("alembic", "psycopg", "sqlalchemy.dialects.postgresql", "jsonpath")
"""Libraries without which a store on SQLite opens whose schema is up to date."""
BY_ALL = ("httpx", "ray.autoscaler._private", *OF_STORE)
"""Of the model server, of a cluster that grows, and of the store."""


@pytest.mark.parametrize(
    ("module", "others"),
    [
        (
            "shoal.services.cluster.embedded",
            ("ray", "sqlalchemy", "httpx", "fastapi", "playwright", "xlsxwriter", "shoal.services.web.app"),
        ),
        (
            "shoal.services.cluster.embedded_parts",
            (
                *("playwright", "openai", "pypdf", "dateparser", "boto3", "PIL", "jinja2", "pyarrow", "fastapi"),
                *("xlsxwriter", "shoal.services.web.app", *BY_ALL),
            ),
        ),
        ("shoal.services.dispatch.learned_step", ("extruct", "trafilatura", "shoal.agent.policies.rules")),
        (
            "shoal.services.dispatch.actor",
            ("playwright", "openai", "pypdf", "dateparser", "boto3", "fastapi", "pyarrow", "PIL", "jinja2", *BY_ALL),
        ),
        (
            "shoal.services.browsers.session_parts.real_parts",
            ("openai", "boto3", "fastapi", "sqlalchemy", "ray", "playwright", "extruct", "bs4"),
        ),
        (
            "shoal.services.cluster.gateway_process",
            (
                *("authlib", "cryptography", "ray", "playwright", "lxml", "pyarrow", "numpy", "xlsxwriter", "boto3"),
                *OF_STORE,
            ),
        ),
        ("shoal.services.store.store", ("ray", "httpx", "fastapi", "jinja2", *OF_STORE)),
        ("shoal.services.cluster.watchdog", ("structlog", "rich", "asyncio", "ray", "psutil")),
        ("shoal.services.cluster.forking.client", ("asyncio", "subprocess", "structlog", "pydantic")),
        ("shoal", ("pydantic", "httpx", "jsonschema", "playwright", "ray", "sqlalchemy", "fastapi", "pyarrow")),
        ("shoal.sync", ("jsonschema", "playwright", "ray", "sqlalchemy", "fastapi", "pyarrow", "pandas", "alembic")),
        ("shoal.page", ("ray", "sqlalchemy", "fastapi", "pyarrow", "pandas", "alembic", "boto3", "openai")),
    ],
)
def test_a_process_does_not_wait_for_the_libraries_of_others(module: str, others: tuple[str, ...]) -> None:
    """Each process of a cluster imports for seconds before it does anything; on two cores they wait for each other.

    The gateway is a process of its own. Items wait while a dispatcher imports what decides of their loop.
    """
    look = f"import sys, {module}; print(*(name for name in {others!r} if name in sys.modules))"
    said = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd=ROOT)
    assert said.stdout.split() == []


def test_a_process_that_logs_does_without_what_structlog_and_httpx_draw_with() -> None:
    look = (
        "import sys; from shoal.services.interpreter import import_less; import_less(); import httpx, structlog.dev\n"
        "print(*(name for name in ('rich', 'pygments', 'click', 'trio') if sys.modules.get(name)))\n"
        "import rich.console, rich.traceback; print('there')"
    )
    said = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd=ROOT)
    assert said.stdout.splitlines() == ["", "there"]


def test_a_process_that_imports_less_tries_again_as_any_other() -> None:
    """Libraries ask whether a module is among those that are imported: one that is only kept out counts as imported."""
    code = """
import asyncio
from shoal.services.interpreter import import_less
import_less()
from tenacity import AsyncRetrying, stop_after_attempt, wait_fixed

async def second_try():
    async for attempt in AsyncRetrying(stop=stop_after_attempt(2), wait=wait_fixed(0.001), reraise=True):
        with attempt:
            if attempt.retry_state.attempt_number == 1:
                raise ConnectionError
            print("again")

asyncio.run(second_try())
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("again", "")
