"""Where the results of a job lie once its rows are dropped: compressed files of JSON lines, read one after another."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Self

from services.artifacts.store import ArtifactStore
from services.store import ids


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

    async def read(self, artifacts: ArtifactStore, first: int = 0) -> AsyncIterator[bytes]:
        """Its lines, part by part, from the part `first` on.

        Raises:
            ArtifactMissing: a part is not there.
        """
        for number in range(first, self.parts):
            part = await artifacts.get(part_key(self.folder, number))
            yield await asyncio.to_thread(gzip.decompress, part)


def archive_folder(job: int) -> str:
    """Under what the archives of one job lie: the one that the store names, and what attempts that died have left."""
    return f"archive/{ids.job_id(job)}"


def part_key(folder: str, number: int) -> str:
    """Where one part of an archive lies."""
    return f"{folder}/{number:05d}.jsonl.gz"
