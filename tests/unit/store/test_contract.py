"""The store's contract on SQLite, in a file. In memory the same statements run under every test of a gateway."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.in_memory import folder
from tests.store_contract import *  # noqa: F403


@pytest.fixture
def store_url() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="shoal-store-", dir=folder()) as made:
        yield f"sqlite:///{Path(made)}/shoal.db"
