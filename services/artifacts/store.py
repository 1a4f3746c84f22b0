"""The artifact seam: put, get, sign, delete. Implementations: `files`, `s3`, `azure`, `memory`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import uuid4

from shoal.services.errors import ArtifactMissing, ArtifactStoreAway


@dataclass(frozen=True, slots=True)
class Stored:
    """One key under which something lies."""

    key: str
    at: float  # when it was put last, in seconds since the epoch, by the store's clock


class ArtifactStore(Protocol):
    """Bytes under keys such as `tenant/job/session/id.jpg`.

    Keys are relative, made of `[A-Za-z0-9._/-]`, never with `..`; others raise `ValueError`. A store that does not
    answer raises `ArtifactStoreAway` after its retries.
    """

    @property
    def waiting(self) -> int:
        """Uploads that were taken and are not in the store yet."""
        ...

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        """Stores `data`; a reader sees all of it or nothing. Putting the same key again replaces it."""
        ...

    async def get(self, key: str) -> bytes:
        """The stored bytes.

        Raises:
            ArtifactMissing: nothing lies under `key`.
        """
        ...

    async def has(self, key: str) -> bool:
        """Return whether something lies under `key`."""
        ...

    async def url(self, key: str, content_type: str, *, expires_s: int = 300, name: str = "") -> str | None:
        """A signed address that any holder may read until it expires; None where the gateway must serve it itself.

        Args:
            name: under which a browser saves it; "": a name made of the key.
        """
        ...

    async def delete(self, prefix: str) -> int:
        """Deletes everything whose key is `prefix` or lies under it; gives how many."""
        ...

    async def delete_many(self, keys: Sequence[str]) -> None:
        """Deletes what lies under exactly these keys, however many; those under which nothing lies are passed over.

        When it raises, some of them may be deleted; to ask again is harmless.
        """
        ...

    async def page(self, folder: str, after: str = "", limit: int = 1_000) -> list[Stored]:
        """The next keys that lie under `folder` ("": anywhere), behind `after`, the last key of the page before.

        The order is the store's own. A bucket's page may hold names that are no keys. A page of fewer than `limit` is
        the last. What is put or deleted meanwhile may be in it or not.
        """
        ...

    async def check(self) -> None:
        """Proves that this store can be written and read.

        Raises:
            ArtifactStoreAway: saying what is missing and what to do.
        """
        ...

    async def close(self) -> None:
        """Ends the connections; may be called twice."""
        ...


async def try_out(store: ArtifactStore, place: str) -> None:
    """Writes, reads and deletes a small object.

    Args:
        place: what an error calls the store.

    Raises:
        ArtifactStoreAway: saying what is missing and what to do.
    """
    key = f"shoal-check-{uuid4().hex}"
    try:
        await store.put(key, b"shoal", "text/plain")
        await store.get(key)
        await store.delete(key)
    except ArtifactMissing as error:
        raise ArtifactStoreAway(f"{place} does not give back what was just written") from error
