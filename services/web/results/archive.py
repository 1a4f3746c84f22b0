"""The archive of a job's results once its rows are dropped: compressed files of JSON lines, read one after another.

A part is packed and unpacked bit by bit, so that only its compressed bytes ever lie in memory as a whole.
"""

from __future__ import annotations

import asyncio
import gzip
import io
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Self

from shoal.services.artifacts.store import ArtifactStore
from shoal.services.store import ids

PART_LINES = 50_000
PART_BYTES = 32 << 20
"""A part ends behind the line with which it has so many lines or bytes, before they are compressed."""
_PIECE_BYTES = 1 << 20
"""Packed or unpacked at once, in a thread."""


@dataclass(frozen=True, slots=True)
class Archive:
    """A whole archive. The job's row keeps its name, which says of how many parts it is: a lost one is no end."""

    folder: str
    parts: int

    @classmethod
    def named(cls, name: str) -> Self:
        """The archive that a job's row names."""
        folder, _, parts = name.rpartition(":")
        return cls(folder, int(parts))

    @property
    def name(self) -> str:
        """For the job's row."""
        return f"{self.folder}:{self.parts}"

    async def lines(self, artifacts: ArtifactStore, first: int = 0) -> AsyncIterator[tuple[int, bytes]]:
        """Its lines from the part `first` on, each with the number of its part.

        Raises:
            ArtifactMissing: a part is not there.
        """
        for number in range(first, self.parts):
            packed = await artifacts.get(part_key(self.folder, number))
            unpacked = gzip.GzipFile(fileobj=io.BytesIO(packed))
            while lines := await asyncio.to_thread(unpacked.readlines, _PIECE_BYTES):
                for line in lines:
                    yield number, line


class ArchivePart:
    """A part of an archive that is being made."""

    def __init__(self) -> None:
        self._packed = io.BytesIO()
        self._packing = gzip.GzipFile(fileobj=self._packed, mode="wb")
        self._piece = bytearray()
        self._lines = self._bytes = 0

    @property
    def is_empty(self) -> bool:
        """Return whether it has no line."""
        return not self._lines

    @property
    def is_full(self) -> bool:
        """Return whether the next line belongs into another part."""
        return self._lines >= PART_LINES or self._bytes >= PART_BYTES

    async def add(self, line: bytes) -> None:
        """Takes in a line, with its line feed."""
        self._piece += line
        self._lines += 1
        self._bytes += len(line)
        if len(self._piece) >= _PIECE_BYTES:
            await self._pack()

    async def packed(self) -> bytes:
        """Return what goes to the artifact store. No line may follow."""
        await self._pack()
        self._packing.close()
        return self._packed.getvalue()

    async def _pack(self) -> None:
        piece, self._piece = self._piece, bytearray()
        await asyncio.to_thread(self._packing.write, piece)


def archive_folder(job: int) -> str:
    """Under what the archives of one job lie: the one that the store names, and what attempts that died have left."""
    return f"archive/{ids.job_id(job)}"


def part_key(folder: str, number: int) -> str:
    """Return where one part of an archive lies."""
    return f"{folder}/{number:05d}.jsonl.gz"
