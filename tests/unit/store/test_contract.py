"""The store's contract on SQLite, in a file and in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store_contract import *  # noqa: F403


@pytest.fixture(params=["memory", "file"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "sqlite://" if request.param == "memory" else f"sqlite:///{tmp_path}/shoal.db"
