"""Records on their way between dispatcher and worker, pickled by Python's own C code: Ray would ask for each record in
Python how it is to be pickled."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from shoal.agent.worker_messages import Report

REPORT_BATCH_BYTES = 8 * 1024**2
"""Reports that one pull brings at most."""


@dataclass(frozen=True)
class ReportBatch:
    """The reports of one pull. Without `__slots__`, as everything that is pickled often."""

    packed: bytes
    sizes: tuple[int, ...] = ()  # bytes of each report in it

    @classmethod
    def of(cls, reports: Iterable[Report], most_bytes: int = REPORT_BATCH_BYTES) -> ReportBatch:
        """The first of some reports, as far as `most_bytes` hold them; one that is larger comes alone."""
        file, sizes, end = io.BytesIO(), list[int](), 0
        # One pickler for all: what they have in common is written once.
        dump, tell = pickle.Pickler(file, pickle.HIGHEST_PROTOCOL).dump, file.tell
        for report in reports:
            dump(report)
            if (now := tell()) > most_bytes and sizes:
                file.truncate(end)
                break
            sizes.append(now - end)
            end = now
        return cls(file.getvalue(), tuple(sizes))

    def reports(self) -> list[Report]:
        """Return what is in it. Only of this cluster's own processes: it runs what the bytes say."""
        load = pickle.Unpickler(io.BytesIO(self.packed)).load
        return [load() for _ in self.sizes]


def pack(records: list[Any]) -> bytes:
    """Works for the way to a worker."""
    return pickle.dumps(records, pickle.HIGHEST_PROTOCOL)


def unpack(packed: bytes) -> list[Any]:
    """Return what `pack` was given. Only of this cluster's own processes: it runs what the bytes say."""
    records: list[Any] = pickle.loads(packed)
    return records
