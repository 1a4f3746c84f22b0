"""Sinks of files: parts in a folder for each date and job, and `latest.json`, which names those of the newest job."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic_core import from_json, to_json

from shoal.agent.spec import FolderSink, S3Sink
from shoal.agent.support.json_value import Json
from shoal.services.sinks.columns import MOST, Kind, TableColumn, as_text, fits, flat_row, moment
from shoal.services.sinks.fault import SinkFault
from shoal.services.sinks.run import SinkProgress, SinkRecord, SinkRun

LATEST = "latest.json"
_TYPES = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.INTEGER: pa.int64(),
    Kind.NUMBER: pa.float64(),
    Kind.DATE: pa.date32(),
    Kind.TIME: pa.timestamp("us", tz="UTC"),
    Kind.TEXT: pa.string(),
    Kind.JSON: pa.string(),
}
_MEDIA_TYPES = {"jsonl": "application/x-ndjson", "parquet": "application/vnd.apache.parquet"}


class FilePlace(Protocol):
    """Files by their path below the sink's own."""

    async def put(self, path: str, data: bytes, content_type: str) -> None:
        """Writes a file, in the place of one that is there: readers see either whole."""

    async def get(self, path: str) -> bytes | None:
        """Return what a file holds; None where there is none."""

    async def close(self) -> None:
        """Ends what is open."""


class FilesTarget:
    """Parts of up to 50,000 records. A part that is written again is the same."""

    flat = True
    replaces = False
    batch_records = 50_000
    batch_bytes = 16 << 20

    def __init__(self, place: FilePlace, sink: S3Sink | FolderSink, run: SinkRun) -> None:
        self._place = place
        self._form = sink.format
        self._run = run

    async def begin(self, progress: SinkProgress) -> None:
        """Nothing to make: folders come with their files."""

    async def write(self, batch: Sequence[SinkRecord], progress: SinkProgress) -> None:
        data = _jsonl(batch) if self._form == "jsonl" else _parquet(batch, progress.columns)
        await self._place.put(self._part(progress.batches), data, _MEDIA_TYPES[self._form])

    async def finish(self, progress: SinkProgress) -> None:
        """Points `latest.json` to this job, unless a newer one stands there."""
        if self._run.overtaken or await self._newest() > self._run.number:
            return
        pointer = {
            "job": self._run.job,
            "date": self._run.date,
            "status": self._run.status,
            "counts": dict(self._run.counts),
            "records": progress.written,
            "files": [self._part(number) for number in range(progress.batches)],
        }
        await self._place.put(LATEST, to_json(pointer), "application/json")

    async def close(self) -> None:
        await self._place.close()

    def _part(self, number: int) -> str:
        return f"date={self._run.date}/job={self._run.job}/part-{number:05}.{self._form}"

    async def _newest(self) -> int:
        """The number of the job that `latest.json` names; 0 where there is none."""
        read = await self._place.get(LATEST)
        if read is None:
            return 0
        try:
            return int(from_json(read)["job"].removeprefix("j"))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise SinkFault(f"{LATEST} there is no pointer of a sink: remove it, or write elsewhere") from None


def _jsonl(batch: Sequence[SinkRecord]) -> bytes:
    return b"".join(to_json(record.value, inf_nan_mode="null") + b"\n" for record in batch)


def _parquet(batch: Sequence[SinkRecord], columns: Sequence[TableColumn]) -> bytes:
    """The batch with the columns of all batches; what does not fit one is JSON in the column `shoal_more`."""
    rows = [flat_row(record.value) for record in batch]
    arrays = [
        pa.array([_cell(row.get(column.name), column.kind) for row in rows], _TYPES[column.kind]) for column in columns
    ]
    names = [column.name for column in columns]
    more = [_more(row, columns) for row in rows]
    if len(columns) >= MOST or any(more):
        arrays.append(pa.array(more, pa.string()))
        names.append("shoal_more")
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(arrays, names=names), sink, compression="zstd")
    return sink.getvalue()


def _cell(value: Json, kind: Kind) -> Json:
    if value is None or kind in (Kind.TEXT, Kind.JSON):
        return as_text(value) if kind is Kind.TEXT else None if value is None else to_json(value).decode()
    if not fits(value, kind):
        return None
    if kind in (Kind.DATE, Kind.TIME):
        return moment(value, kind)
    return float(value) if kind is Kind.NUMBER else value


def _more(row: dict[str, Json], columns: Sequence[TableColumn]) -> str | None:
    names = {column.name for column in columns}
    more = {name: value for name, value in row.items() if name not in names}
    return to_json(more).decode() if more else None
