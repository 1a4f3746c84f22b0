"""Artifacts in a dictionary: for tests, and to try Shoal without leaving a file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from shoal.services.artifacts.keys import checked_key, checked_prefix
from shoal.services.artifacts.store import Stored
from shoal.services.errors import ArtifactMissing, ArtifactStoreAway


class MemoryArtifacts:
    """An `ArtifactStore` that forgets everything with its process. `away = True` makes it fail as a lost store does."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[bytes, str]] = {}
        self._at: dict[str, float] = {}
        self.clock = time.time  # when puts happen
        self.away = False

    @property
    def keys(self) -> list[str]:
        """All keys, sorted."""
        return sorted(self._kept)

    @property
    def waiting(self) -> int:
        return 0

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        checked_key(key)
        await self._answer()
        self._kept[key] = (bytes(data), content_type)
        self._at[key] = self.clock()

    async def get(self, key: str) -> bytes:
        checked_key(key)
        await self._answer()
        if key not in self._kept:
            raise ArtifactMissing(f"there is no artifact {key}", key=key)
        return self._kept[key][0]

    async def has(self, key: str) -> bool:
        checked_key(key)
        await self._answer()
        return key in self._kept

    async def url(self, key: str, content_type: str, *, expires_s: int = 300, name: str = "") -> str | None:
        checked_key(key)
        return None

    async def delete(self, prefix: str) -> int:
        prefix = checked_prefix(prefix)
        await self._answer()
        keys = [key for key in self._kept if key == prefix or key.startswith(prefix + "/")]
        for key in keys:
            del self._kept[key]
        return len(keys)

    async def delete_many(self, keys: Sequence[str]) -> None:
        checked = [checked_key(key) for key in keys]
        await self._answer()
        for key in checked:
            self._kept.pop(key, None)

    async def page(self, folder: str, after: str = "", limit: int = 1_000) -> list[Stored]:
        start = f"{checked_prefix(folder)}/" if folder else ""
        await self._answer()
        later = [key for key in self.keys if key.startswith(start) and key > after]
        return [Stored(key, self._at[key]) for key in later[:limit]]

    async def check(self) -> None:
        await self._answer()

    async def close(self) -> None:
        """Nothing to end; what was kept stays readable."""

    async def _answer(self) -> None:
        await asyncio.sleep(0)  # others run meanwhile, as with a real store
        if self.away:
            raise ArtifactStoreAway("the artifact store in memory plays away")
