"""The source of a sink: the job that has ended, and its records in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Protocol, Self

from pydantic_core import from_json, to_json

from shoal.agent.support.json_value import Json
from shoal.services.sinks.columns import Kind, TableColumn


@dataclass(frozen=True, slots=True)
class SinkRecord:
    """One record of a job."""

    index: int  # among those of the job, from 0, in the order of its items
    value: Json
    url: str  # of the page that it was read from
    at: str  # ISO 8601


@dataclass(frozen=True, slots=True)
class SinkRun:
    """The job whose records are written."""

    job: str  # public id
    number: int  # of the job: a later one has a larger
    nth: int  # of the sink, among those of the job
    tenant: str
    created_at: datetime  # of the job, in UTC: the date of its partition, which no retry changes
    status: str
    counts: Mapping[str, int]  # of its items
    record_schema: Mapping[str, Json] | None
    overtaken: bool  # a newer job has written to the same place

    @property
    def date(self) -> str:
        return self.created_at.date().isoformat()


@dataclass(frozen=True, slots=True)
class SinkProgress:
    """Progress of writing the records of a job: the cursor that the store keeps."""

    mark: str  # of this writing of all records: what is sent again has the same
    columns: tuple[TableColumn, ...]
    records: int  # that there are
    lines: int = 0  # of the job's results that are done with
    written: int = 0  # records that were taken
    batches: int = 0

    @property
    def cursor(self) -> str:
        """For the store."""
        return to_json(asdict(self)).decode()

    @classmethod
    def of(cls, cursor: str) -> Self:
        """Return what the store has kept."""
        kept = from_json(cursor)
        columns = tuple(TableColumn(column["name"], Kind(column["kind"])) for column in kept.pop("columns"))
        return cls(columns=columns, **kept)

    def after(self, batch: Sequence[SinkRecord], lines: int) -> Self:
        """The progress behind a batch, which ends with so many lines done."""
        return replace(self, lines=lines, written=self.written + len(batch), batches=self.batches + 1)


class SinkTarget(Protocol):
    """The place that records are written to. Each method may be called again for the same, and then changes nothing.

    Every method raises SinkFault where it cannot do its work.
    """

    flat: bool  # its columns are those of flat rows
    replaces: bool  # it holds the records of one job alone, so that an older one must not be written over a newer
    batch_records: int
    batch_bytes: int  # of the records as JSON; a batch ends with the record by which it has so many

    async def begin(self, progress: SinkProgress) -> None:
        """Makes ready for records; before the first batch of all nothing is written yet."""

    async def write(self, batch: Sequence[SinkRecord], progress: SinkProgress) -> None:
        """Writes the batch that follows `progress`."""

    async def finish(self, progress: SinkProgress) -> None:
        """Says that all records are there."""

    async def close(self) -> None:
        """Ends what is open."""
