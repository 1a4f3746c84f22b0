"""Fixtures that the tests of the contract share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from shoal.services.store.jobs import ending
from tests.store_world import World, world


@pytest_asyncio.fixture
async def w(store_url: str) -> AsyncIterator[World]:
    async with world(store_url) as made:
        yield made


SLICE = 4
sliced = pytest.mark.usefixtures("short_slices")


@pytest.fixture
def short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices of a few sessions, so that a command to a short loop takes several."""
    monkeypatch.setattr(ending, "SLICE", SLICE)


async def names(w: World, job: int | None = None) -> list[str]:
    """The names of the feed's events."""
    return [event.name for event in await w.store.events(job=job)]
