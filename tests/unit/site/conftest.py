"""The demo shop in process: each test gets a shop of its own, with its own log."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

# The site is a program, not a package of the project: its folder is put where Python looks, as starting it does.
SITE = Path(__file__).resolve().parents[3] / "load-tests" / "site"
sys.path.insert(0, str(SITE))

from shop.app import create_app  # noqa: E402

TODAY = date(2026, 3, 16)


def make_client(**options: Any) -> TestClient:
    """A client of a new shop whose slow pages are quick and whose date is fixed."""
    return TestClient(create_app(slow_s=0, today=lambda: TODAY, **options), base_url="http://127.0.0.1:8800")


@pytest.fixture
def client() -> Iterator[TestClient]:
    """A client of a new shop."""
    with make_client() as made:
        yield made


@pytest.fixture(scope="module")
def browsing() -> Iterator[TestClient]:
    """A client of a shop that all tests of a module only read from."""
    with make_client() as made:
        yield made


@pytest.fixture(scope="module")
def truth(browsing: TestClient) -> list[dict[str, Any]]:
    """Return what is true of every product."""
    products: list[dict[str, Any]] = browsing.get("/_truth/products.json").json()
    return products
