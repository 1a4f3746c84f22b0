"""Artifacts in a container of Azure Blob Storage, by obstore."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar

import obstore
from obstore.exceptions import BaseError, NotFoundError, PermissionDeniedError, UnauthenticatedError
from obstore.store import AzureStore

from shoal.services.artifacts.keys import checked_key, checked_prefix
from shoal.services.artifacts.store import Stored, try_out
from shoal.services.errors import ArtifactMissing, ArtifactStoreAway

T = TypeVar("T")

_AT_ONCE = 32
"""Objects that are deleted at once: obstore makes a request of each."""
_PAGE = 1_000
"""Names of one page of a listing, at most."""
_DENIED = "{address} denies access; check the credentials and roles of this pod or machine (read, write, delete, list)"


class AzureArtifacts:
    """An `ArtifactStore` in `container`, under `prefix`.

    Credentials come from the environment (`AZURE_STORAGE_ACCOUNT_NAME`, `AZURE_STORAGE_ACCOUNT_KEY`, …) or from the
    identity of the pod or machine. The gateway serves the bytes itself: no address is signed.

    Raises:
        ArtifactStoreAway: the environment does not say which account is meant.
    """

    def __init__(self, container: str, prefix: str = "") -> None:
        self._address = f"az://{container}"
        try:
            self._store = AzureStore(
                container,
                prefix=prefix or None,
                # https, unless the environment names another address, such as an emulator's.
                client_options={
                    "timeout": timedelta(seconds=120),  # of a whole upload, too
                    "connect_timeout": timedelta(seconds=5),
                    "allow_http": True,
                },
                retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=60)},
            )
        except BaseError as error:
            raise ArtifactStoreAway(f"{self._address} cannot be opened: {_first_line(error)}") from error

    @property
    def waiting(self) -> int:
        return 0

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        attributes = {"Content-Type": content_type}
        try:
            await self._ask(
                obstore.put_async(self._store, checked_key(key), data, attributes=attributes, use_multipart=False)
            )
        except ArtifactMissing as error:
            raise ArtifactStoreAway(f"there is no container {self._address}; create it") from error

    async def get(self, key: str) -> bytes:
        async def read() -> bytes:
            answer = await obstore.get_async(self._store, checked_key(key))
            return bytes(await answer.bytes_async())

        try:
            return await self._ask(read())
        except ArtifactMissing as error:
            raise ArtifactMissing(f"there is no artifact {key}", key=key) from error

    async def has(self, key: str) -> bool:
        try:
            await self._ask(obstore.head_async(self._store, checked_key(key)))
        except ArtifactMissing:
            return False
        return True

    async def url(self, key: str, content_type: str, *, expires_s: int = 300, name: str = "") -> str | None:
        checked_key(key)
        return None

    async def delete(self, prefix: str) -> int:
        start = checked_prefix(prefix)
        deleted = 0
        if await self.has(start):
            await self.delete_many([start])
            deleted += 1
        while names := [stored.key for stored in await self.page(start, limit=_PAGE)]:
            await self.delete_many(names)
            deleted += len(names)
        return deleted

    async def delete_many(self, keys: Sequence[str]) -> None:
        names = [checked_key(key) for key in keys]
        for start in range(0, len(names), _AT_ONCE):
            group = names[start : start + _AT_ONCE]
            # All are waited for, also behind one that failed: none goes on when the caller asks again.
            done = await asyncio.gather(*map(self._delete_one, group), return_exceptions=True)
            for result in done:
                if isinstance(result, BaseException):
                    raise result

    async def _delete_one(self, key: str) -> None:
        """Delete a file. obstore sends a POST, which it does not repeat where a connection that was kept is over."""
        with suppress(ArtifactMissing):  # it is gone, as it was asked to be
            try:
                await self._ask(obstore.delete_async(self._store, key))
            except ArtifactStoreAway:
                await self._ask(obstore.delete_async(self._store, key))

    async def page(self, folder: str, after: str = "", limit: int = 1_000) -> list[Stored]:
        async def listed() -> list[Stored]:
            rows: list[Stored] = []
            start = checked_prefix(folder) if folder else None
            async for chunk in obstore.list(self._store, start, offset=after or None, chunk_size=min(limit, _PAGE)):
                # A service that does not know where to start begins anew; names come in order.
                new = (meta for meta in chunk if meta["path"] > after)
                rows += [Stored(meta["path"], meta["last_modified"].timestamp()) for meta in new]
                if len(rows) >= limit:
                    break
            return rows[:limit]

        return await self._ask(listed())

    async def check(self) -> None:
        await try_out(self, self._address)

    async def close(self) -> None:
        """obstore keeps nothing that has to be closed."""

    async def _ask(self, call: Awaitable[T]) -> T:
        try:
            return await call
        except (NotFoundError, FileNotFoundError) as error:
            raise ArtifactMissing() from error
        except (PermissionDeniedError, UnauthenticatedError) as error:
            raise ArtifactStoreAway(_DENIED.format(address=self._address)) from error
        except BaseError as error:
            raise ArtifactStoreAway(f"{self._address} does not answer: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    """The message without the request and the source code that obstore adds below it."""
    return str(error).partition("\n")[0][:300]
