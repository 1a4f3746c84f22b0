"""Artifacts as files in a folder: the default on one machine.

A put writes a file beside the others and renames it, so that readers see all of it or nothing, also when this process
dies in between. It does not wait for the disk (no fsync): that would cost more than drawing the screenshot, and after a
power cut the store lists what may be missing. `durable=True` waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from uuid import uuid4

from shoal.services.artifacts.keys import checked_key, checked_prefix, is_key_part
from shoal.services.artifacts.store import Stored
from shoal.services.errors import ArtifactMissing, ArtifactStoreAway
from shoal.services.private import make_folder, opener

# Not a key (keys have no "~"), so nothing that is stored can lie here.
_UNFINISHED = "~unfinished"
_UNFINISHED_MAX_AGE_S = 24 * 3600.0

# A delete may take away a folder that a put has just made; the put makes it again.
_TRIES = 5


class FileArtifacts:
    """An `ArtifactStore` in the folder `root`, which is made when it is missing.

    No key may be a folder of another (`a` and `a/b`): the second put raises ValueError.
    """

    def __init__(self, root: Path, *, durable: bool = False) -> None:
        self._root = root.expanduser().absolute()
        self._unfinished = self._root / _UNFINISHED
        self._durable = durable

    @property
    def waiting(self) -> int:
        return 0

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        path = self._path(checked_key(key))
        await asyncio.to_thread(self._put, path, data)

    async def get(self, key: str) -> bytes:
        return await asyncio.to_thread(self._get, self._path(checked_key(key)), key)

    async def has(self, key: str) -> bool:
        return await asyncio.to_thread(self._path(checked_key(key)).is_file)

    async def url(self, key: str, content_type: str, *, expires_s: int = 300, name: str = "") -> str | None:
        checked_key(key)
        return None

    async def delete(self, prefix: str) -> int:
        return await asyncio.to_thread(self._delete, self._path(checked_prefix(prefix)))

    async def delete_many(self, keys: Sequence[str]) -> None:
        await asyncio.to_thread(self._delete_files, [self._path(checked_key(key)) for key in keys])

    async def page(self, folder: str, after: str = "", limit: int = 1_000) -> list[Stored]:
        start = checked_prefix(folder) if folder else ""
        behind = tuple(checked_key(after).split("/")) if after else ()
        return await asyncio.to_thread(self._page, start, behind, limit)

    async def check(self) -> None:
        await asyncio.to_thread(self._check)

    async def close(self) -> None:
        """Nothing to end."""

    # --- in a thread ----------------------------------------------------------------------------------

    def _path(self, key: str) -> Path:
        return self._root.joinpath(*key.split("/"))

    def _put(self, path: Path, data: bytes) -> None:
        unfinished = self._unfinished / uuid4().hex
        try:
            make_folder(self._unfinished)
            with open(unfinished, "xb", opener=opener) as file:
                file.write(data)
                if self._durable:
                    file.flush()
                    os.fsync(file.fileno())
            self._rename(unfinished, path)
            if self._durable:
                _sync_folder(path.parent)
        except (NotADirectoryError, FileExistsError, IsADirectoryError) as error:
            raise ValueError(
                f"{path.relative_to(self._root)} and another artifact cannot be file and folder"
            ) from error
        except OSError as error:
            raise _away("write", path, error) from error
        finally:
            unfinished.unlink(missing_ok=True)

    def _rename(self, unfinished: Path, path: Path) -> None:
        for tries_left in reversed(range(_TRIES)):
            try:
                make_folder(path.parent)
                self._stay_inside(path.parent)
                unfinished.replace(path)
                return
            except (FileNotFoundError, FileExistsError):  # mkdir says "exists" when the folder goes in that moment
                if not tries_left:
                    raise

    def _get(self, path: Path, key: str) -> bytes:
        try:
            self._stay_inside(path.parent)
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
            raise ArtifactMissing(f"there is no artifact {key}", key=key) from error
        except OSError as error:
            raise _away("read", path, error) from error

    def _delete(self, path: Path) -> int:
        try:
            self._stay_inside(path.parent)
            deleted = _delete_tree(path)
            self._drop_empty_folders(path.parent)
        except OSError as error:
            raise _away("delete", path, error) from error
        return deleted

    def _delete_files(self, paths: Sequence[Path]) -> None:
        for path in paths:
            try:
                self._stay_inside(path.parent)
                path.unlink()
                self._drop_empty_folders(path.parent)
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                continue  # nothing lies under this key
            except OSError as error:
                raise _away("delete", path, error) from error

    def _page(self, start: str, behind: tuple[str, ...], limit: int) -> list[Stored]:
        behind = behind[len(start.split("/")) if start else 0 :]
        root = self._path(start) if start else self._root
        try:
            self._stay_inside(root)
            return list(islice(_walk(root, f"{start}/" if start else "", behind), limit))
        except OSError as error:
            raise _away("list", root, error) from error

    def _drop_empty_folders(self, folder: Path) -> None:
        while folder != self._root and self._root in folder.parents:
            try:
                folder.rmdir()
            except OSError:  # not empty, or somebody else dropped it: both are fine
                return
            folder = folder.parent

    def _stay_inside(self, folder: Path) -> None:
        """Refuses folders that a link leads out of the root."""
        if not folder.resolve().is_relative_to(self._root.resolve()):
            raise ArtifactStoreAway(f"{folder} leads out of the artifact folder; remove that link")

    def _check(self) -> None:
        probe = self._root / f"{_UNFINISHED}-check-{uuid4().hex}"
        try:
            make_folder(self._root)
            probe.write_bytes(b"shoal")
            probe.unlink()
            self._remove_leftovers()
        except OSError as error:
            raise _away("write", self._root, error) from error

    def _remove_leftovers(self) -> None:
        """Removes what dead processes left half written."""
        oldest = time.time() - _UNFINISHED_MAX_AGE_S
        for path in self._unfinished.glob("*"):
            with contextlib.suppress(FileNotFoundError):  # its writer has just finished it
                if path.stat().st_mtime < oldest:
                    path.unlink()


def _delete_tree(path: Path) -> int:
    """Deletes a file, or a folder with all in it, beside writers and other deleters; gives the files deleted."""
    if path.is_symlink() or not path.is_dir():
        try:
            path.unlink()
        except (FileNotFoundError, NotADirectoryError):
            return 0
        return 1
    deleted = sum(_delete_tree(child) for child in list(path.iterdir()))
    with contextlib.suppress(OSError):  # somebody has just written into it
        path.rmdir()
    return deleted


def _walk(folder: Path, prefix: str, behind: tuple[str, ...]) -> Iterator[Stored]:
    """The files below a folder by name, each folder's own before the next name; behind the path `behind`."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):  # it was removed in this moment
        return
    first = behind[0] if behind else ""
    for name in names:
        # What is no key was not put here: the folder of unfinished files, a file of somebody else.
        if name < first or not is_key_part(name):
            continue
        path = folder / name
        if path.is_symlink():
            continue
        if path.is_dir():
            yield from _walk(path, f"{prefix}{name}/", behind[1:] if name == first else ())
        elif name != first or not behind:
            with contextlib.suppress(FileNotFoundError):
                yield Stored(prefix + name, path.stat().st_mtime)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _away(verb: str, path: Path, error: OSError) -> ArtifactStoreAway:
    return ArtifactStoreAway(f"cannot {verb} {path}: {error.strerror or error}", path=str(path))
