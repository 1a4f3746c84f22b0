"""The store's contract on PostgreSQL."""

from __future__ import annotations

import pytest

from tests.store_contract import *  # noqa: F403


@pytest.fixture
def store_url(postgres_url: str) -> str:
    return postgres_url
