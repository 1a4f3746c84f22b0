"""The trial of a store before it is used."""

from __future__ import annotations

import pytest

from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.artifacts.store import try_out
from shoal.services.errors import ArtifactStoreAway


class Forgetful(MemoryArtifacts):
    """A store that takes everything and keeps nothing."""

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        """Says that it has stored the data."""


async def test_a_store_that_keeps_nothing_is_told_by_its_name() -> None:
    with pytest.raises(ArtifactStoreAway, match="bucket x does not give back what was just written"):
        await try_out(Forgetful(), "bucket x")


async def test_nothing_is_left_of_the_trial() -> None:
    store = MemoryArtifacts()
    await try_out(store, "memory")
    assert await store.page("") == []
