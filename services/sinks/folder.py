"""Files of sinks in a folder of the gateway's machine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from shoal.services.secrets.folder import TENANT
from shoal.services.settings import OF_TENANT
from shoal.services.sinks.fault import SinkFault


class FolderPlace:
    """Files in a folder that the operator allows to a tenant.

    Raises:
        SinkFault: the folder is not allowed.
    """

    def __init__(self, path: str, tenant: str, allowed: Sequence[Path]) -> None:
        self._root = Path(path)
        self._allowed = tenant_folders(allowed, tenant)
        self._check(self._root)

    async def put(self, path: str, data: bytes, content_type: str) -> None:
        await asyncio.to_thread(self._put, self._root / path, data)

    async def get(self, path: str) -> bytes | None:
        return await asyncio.to_thread(self._get, self._root / path)

    async def close(self) -> None:
        """Nothing to end."""

    def _put(self, path: Path, data: bytes) -> None:
        self._check(path.parent)
        part = path.with_name(f".{path.name}.{uuid4().hex}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with part.open("xb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)
        except OSError as error:
            raise SinkFault(f"{path} cannot be written: {error.strerror or error}") from error

    def _get(self, path: Path) -> bytes | None:
        self._check(path.parent)
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SinkFault(f"{path} cannot be read: {error.strerror or error}") from error

    def _check(self, folder: Path) -> None:
        """Refuses what is outside, also by a link."""
        if fault := folder_fault(folder, self._allowed):
            raise SinkFault(f"{folder} {fault}", final=True)


def tenant_folders(allowed: Sequence[Path], tenant: str) -> tuple[Path, ...]:
    """The folders of a tenant among those that the setting names."""
    named = tenant if TENANT.match(tenant) else ""
    return tuple(
        Path(str(folder).replace(OF_TENANT, named)) for folder in allowed if named or OF_TENANT not in str(folder)
    )


def folder_fault(folder: Path, allowed: Sequence[Path]) -> str | None:
    """Why nothing may be written into a folder; None where it may."""
    if not folder.is_absolute():
        return "is no absolute path"
    if any(folder.resolve().is_relative_to(root.resolve()) for root in allowed):
        return None
    inside = ", ".join(map(str, allowed)) or "no folder"
    return f"is not in a folder that the operator allows ({inside}; SHOAL_SINK_DIRS)"
