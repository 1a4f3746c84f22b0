"""Keeps uploads on disk while the artifact store is away, and brings them there later."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import shutil
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from uuid import uuid4

import structlog

from shoal.services.artifacts.keys import checked_key, checked_prefix
from shoal.services.artifacts.store import ArtifactStore, Stored
from shoal.services.errors import ArtifactStoreAway
from shoal.services.events import LogEvent
from shoal.services.private import make_folder, opener

log = structlog.get_logger(__name__)

_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0

# What one more try at the end may take.
_LAST_TRY_S = 10.0

_AT_ONCE = 4
"""Uploads that are brought to the store at the same time."""
_UPLOAD_S = 60.0
_SLOWEST_BYTES_PER_S = 256 * 1024


def longest_s(size: int, least_s: float = _UPLOAD_S) -> float:
    """Return how long an upload of so many bytes may take before others are tried. Pure."""
    return least_s + size / _SLOWEST_BYTES_PER_S


_LOCK = "lock"
_NEW = "~"


@dataclass(frozen=True, slots=True)
class _WaitingUpload:
    """One upload that waits: a file with a line of JSON (key and type), then the bytes."""

    path: Path
    key: str
    content_type: str
    size: int  # of the file, in bytes

    def data(self) -> bytes:
        with self.path.open("rb") as file:
            file.readline()
            return file.read()


class SpillingArtifacts:
    """An `ArtifactStore` that takes uploads although the one behind it is away, up to `limit_bytes` on disk.

    Each process has a folder of its own under `folder`, held by a lock; one whose process died is taken over by the
    next that starts here. Waiting uploads are brought there some at once, the oldest first; one that hangs holds up no
    other for longer than `longest_s`. A put of a key that waits takes its place, so that the last one wins. While
    the store is away, new uploads wait, too. What is over the limit raises `ArtifactStoreAway`.
    """

    def __init__(
        self,
        behind: ArtifactStore,
        folder: Path,
        limit_bytes: int,
        *,
        first_pause_s: float = _FIRST_PAUSE_S,
        longest_pause_s: float = _LONGEST_PAUSE_S,
        upload_s: float = _UPLOAD_S,
    ) -> None:
        self._behind = behind
        self._root = folder.expanduser().absolute()
        self._limit_bytes = limit_bytes
        self._first_pause_s = first_pause_s
        self._longest_pause_s = longest_pause_s
        self._upload_s = upload_s
        self._away = False  # nothing could be brought there lately
        self._folder: Path | None = None
        self._locks: list[IO[bytes]] = []
        self._opening = asyncio.Lock()
        self._waiting: OrderedDict[str, _WaitingUpload] = OrderedDict()  # by key, the oldest first
        self._bytes = 0
        self._made = 0
        self._uploading: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def waiting(self) -> int:
        """Uploads that wait on disk."""
        return len(self._waiting)

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        checked_key(key)
        await self._open()
        if key not in self._waiting and not self._away:
            try:
                await self._put(key, data, content_type)
                return
            except ArtifactStoreAway as error:
                log.warning(LogEvent.ARTIFACTS_AWAY, error=error.message)
        await self._spill(key, data, content_type)

    async def has(self, key: str) -> bool:
        await self._open()
        return key in self._waiting or await self._behind.has(key)

    async def get(self, key: str) -> bytes:
        await self._open()
        waiting = self._waiting.get(key)
        if waiting is not None:
            with contextlib.suppress(FileNotFoundError):  # it was uploaded in this very moment
                return await asyncio.to_thread(waiting.data)
        return await self._behind.get(key)

    async def url(self, key: str, content_type: str, *, expires_s: int = 300, name: str = "") -> str | None:
        if key in self._waiting:
            return None
        return await self._behind.url(key, content_type, expires_s=expires_s, name=name)

    async def delete(self, prefix: str) -> int:
        await self._open()
        prefix = checked_prefix(prefix)
        files = [file for key, file in self._waiting.items() if key == prefix or key.startswith(prefix + "/")]
        for written in files:
            self._forget(written)
        # An upload may have ended between the two: then the store behind counts it.
        return len(files) + await self._behind.delete(prefix)

    async def delete_many(self, keys: Sequence[str]) -> None:
        await self._open()
        for key in keys:
            waiting = self._waiting.get(checked_key(key))
            if waiting is not None:
                self._forget(waiting)
        await self._behind.delete_many(keys)

    async def page(self, folder: str, after: str = "", limit: int = 1_000) -> list[Stored]:
        """Of the store behind: what waits here is not there yet."""
        return await self._behind.page(folder, after, limit)

    async def check(self) -> None:
        await self._open()
        await self._behind.check()

    async def close(self) -> None:
        """Tries once more to upload what waits; what cannot go now stays on disk for the next process."""
        if self._closed:
            return
        self._closed = True
        if self._uploading is not None:
            self._uploading.cancel()
            await asyncio.gather(self._uploading, return_exceptions=True)
        with contextlib.suppress(ArtifactStoreAway, TimeoutError):
            async with asyncio.timeout(_LAST_TRY_S):
                await self._upload_all()
        for lock in self._locks:
            lock.close()
        if self._folder is not None and not self._waiting:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
        await self._behind.close()

    # --- waiting --------------------------------------------------------------------------------------

    async def _open(self) -> None:
        """Makes this process's folder, and takes over what dead processes left; once."""
        async with self._opening:
            if self._folder is not None:
                return
            try:
                folder, left = await asyncio.to_thread(self._take_over)
            except OSError as error:
                raise ArtifactStoreAway(f"cannot use {self._root} for waiting uploads: {error.strerror}") from error
            self._folder = folder
            for file in left:
                self._remember(file)
        if self._waiting:
            self._start_uploading()

    def _take_over(self) -> tuple[Path, list[_WaitingUpload]]:
        # A folder is looked at only under its last name; by then it is locked.
        new = self._root / f"{_NEW}{uuid4().hex}"
        make_folder(new)
        self._lock(new)
        folder = new.rename(self._root / new.name.removeprefix(_NEW))
        left: list[_WaitingUpload] = []
        for other in self._root.iterdir():
            if other == folder or other.name.startswith(_NEW) or not self._lock(other):
                continue
            for file in sorted(_read_all(other), key=lambda waiting: waiting.path.name):
                self._made += 1
                path = file.path.replace(folder / f"{self._made:012d}")
                left.append(_WaitingUpload(path, file.key, file.content_type, file.size))
            shutil.rmtree(other, ignore_errors=True)
        return folder, left

    def _lock(self, folder: Path) -> bool:
        """True when `folder` is now ours; the lock ends with this process."""
        try:
            lock = open(folder / _LOCK, "wb", opener=opener)  # noqa: SIM115  # it stays open: that is the lock
        except (FileNotFoundError, NotADirectoryError):
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return False
        self._locks.append(lock)
        return True

    async def _spill(self, key: str, data: bytes, content_type: str) -> None:
        head = json.dumps([key, content_type]).encode() + b"\n"
        size = len(head) + len(data)
        if self._bytes + size > self._limit_bytes:
            raise ArtifactStoreAway(
                f"the artifact store is away, and {self._bytes >> 20} MiB of uploads wait for it already: "
                f"the limit of {self._limit_bytes >> 20} MiB is reached (SHOAL_ARTIFACT_SPILL_MIB)"
            )
        assert self._folder is not None
        self._made += 1
        waiting = _WaitingUpload(self._folder / f"{self._made:012d}", key, content_type, size)
        self._bytes += size  # before the await: others must see what is already promised
        try:
            await asyncio.to_thread(_write, waiting.path, head, data)
        except OSError as error:
            raise ArtifactStoreAway(f"the artifact store is away, and {waiting.path}: {error.strerror}") from error
        finally:
            self._bytes -= size
        self._remember(waiting)
        self._start_uploading()

    def _remember(self, waiting: _WaitingUpload) -> None:
        older = self._waiting.get(waiting.key)
        if older is not None:
            self._forget(older)
        self._waiting[waiting.key] = waiting
        self._bytes += waiting.size

    def _forget(self, waiting: _WaitingUpload) -> None:
        if self._waiting.get(waiting.key) is waiting:
            del self._waiting[waiting.key]
            self._bytes -= waiting.size
        waiting.path.unlink(missing_ok=True)

    # --- bringing it there ----------------------------------------------------------------------------

    def _start_uploading(self) -> None:
        if not self._closed and (self._uploading is None or self._uploading.done()):
            self._uploading = asyncio.create_task(self._keep_uploading())

    async def _keep_uploading(self) -> None:
        pause_s = self._first_pause_s
        while self._waiting:
            await asyncio.sleep(pause_s)
            before = len(self._waiting)
            try:
                await self._upload_all()
            except ArtifactStoreAway:
                self._away = len(self._waiting) >= before
                pause_s = min(pause_s * 2, self._longest_pause_s) if self._away else self._first_pause_s
            except Exception:
                log.exception(LogEvent.LOOP_FAILED, loop="uploads")
                pause_s = self._longest_pause_s
        self._away = False
        log.info(LogEvent.ARTIFACTS_BACK)

    async def _upload_all(self) -> None:
        """Tries each waiting upload once, some at a time; ends early when the first ones all fail.

        Raises:
            ArtifactStoreAway: some still wait.
        """
        todo = iter(list(self._waiting.values()))
        failed: list[ArtifactStoreAway] = []
        uploaded = 0

        async def bring() -> None:
            nonlocal uploaded
            for waiting in todo:
                try:
                    await self._upload(waiting)
                    uploaded += 1
                except ArtifactStoreAway as error:
                    failed.append(error)
                if not uploaded and len(failed) >= _AT_ONCE:
                    return

        async with asyncio.TaskGroup() as group:
            for _ in range(_AT_ONCE):
                group.create_task(bring())
        if failed:
            raise failed[0]

    async def _upload(self, waiting: _WaitingUpload) -> None:
        try:
            data = await asyncio.to_thread(waiting.data)
        except FileNotFoundError:  # deleted, or replaced by a newer one, meanwhile
            self._forget(waiting)
            return
        await self._put(waiting.key, data, waiting.content_type)
        if waiting.key not in self._waiting:
            await self._behind.delete(waiting.key)  # it was deleted while it was on its way
        self._forget(waiting)

    async def _put(self, key: str, data: bytes, content_type: str) -> None:
        """A put within a time that its size allows.

        Raises:
            ArtifactStoreAway: it was refused, or took longer; it may still arrive.
        """
        limit_s = longest_s(len(data), self._upload_s)
        try:
            async with asyncio.timeout(limit_s):
                await self._behind.put(key, data, content_type)
        except TimeoutError as error:
            raise ArtifactStoreAway(f"an upload of {len(data):,} bytes took longer than {limit_s:.0f} s") from error


def _write(path: Path, head: bytes, data: bytes) -> None:
    unfinished = path.with_suffix(".part")
    with open(unfinished, "wb", opener=opener) as file:
        file.write(head + data)
    unfinished.replace(path)


def _read_all(folder: Path) -> Iterator[_WaitingUpload]:
    """Yield what waits in a folder, without files that were never finished."""
    for path in folder.iterdir():
        if not path.name.isdigit():
            continue
        with path.open("rb") as file:
            head = file.readline()
        try:
            key, content_type = json.loads(head)
        except ValueError:  # a power cut can leave an empty file under a finished name
            log.warning(LogEvent.UPLOAD_LOST, file=str(path))
            continue
        yield _WaitingUpload(path, key, content_type, path.stat().st_size)
