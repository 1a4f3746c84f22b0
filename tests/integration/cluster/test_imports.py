"""Modules that a process of the cluster imports before it does anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("module", "others"),
    [
        (
            "shoal.services.cluster.embedded",
            (
                *("playwright", "openai", "pypdf", "dateparser", "boto3", "psycopg", "PIL", "jinja2", "pyarrow"),
                *("fastapi", "xlsxwriter", "shoal.services.web.app"),
            ),
        ),
        ("shoal.services.dispatch.learned_step", ("extruct", "trafilatura", "shoal.agent.policies.rules")),
        (
            "shoal.services.dispatch.actor",
            ("playwright", "openai", "pypdf", "dateparser", "boto3", "fastapi", "pyarrow", "psycopg", "PIL", "jinja2"),
        ),
        (
            "shoal.services.browsers.session_parts.real_parts",
            ("openai", "boto3", "fastapi", "sqlalchemy", "ray", "playwright", "extruct", "bs4"),
        ),
        (
            "shoal.services.cluster.gateway_process",
            (
                *("psycopg", "authlib", "cryptography", "ray", "playwright", "lxml"),
                *("pyarrow", "numpy", "xlsxwriter", "alembic", "boto3"),
            ),
        ),
        ("shoal.services.cluster.watchdog", ("structlog", "rich", "asyncio", "ray")),
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
