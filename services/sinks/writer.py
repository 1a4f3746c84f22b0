"""Empties the outbox of sinks: claims what is due, writes it batch by batch, keeps how far it came.

Several may run over one database. What one holds may be lost with its process: another goes on from the cursor, and
writes the batch again that was under way.
"""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, replace
from uuid import uuid4

import structlog
from pydantic_core import to_json

from shoal.agent.support.json_value import Json
from shoal.services.errors import ArtifactMissing, NotFound, ServiceError, StoreAway
from shoal.services.events import LogEvent
from shoal.services.sinks.columns import ColumnFinder, declared, flat_row, top_row
from shoal.services.sinks.fault import SinkFault
from shoal.services.sinks.run import SinkProgress, SinkRecord, SinkRun, SinkTarget
from shoal.services.store.ids import job_id
from shoal.services.store.jobs.sink_records import SinkEnd, SinkRow, SinkState
from shoal.services.store.records import JobRow
from shoal.services.store.store import Store
from shoal.services.webhooks.outbox_loop import OutboxLoop
from shoal.services.webhooks.retry import PAUSES_S

log = structlog.get_logger(__name__)

AT_ONCE = 8
"""Sinks that one process writes beside each other."""
EACH = 4
"""Sinks of one tenant among them."""
LEASE_S = 300.0
"""A batch is written within it; each renews it."""
_LONGEST_WISH_S = 3600.0

Line = Mapping[str, Json]
Lines = Callable[[JobRow], Awaitable[AsyncIterator[Line]]]
"""A job's result lines from the first one on."""
Targets = Callable[[SinkRow, JobRow, SinkRun], Awaitable[SinkTarget]]
"""The function that opens the target of a sink. Raises SinkFault."""


class SinkWriter(OutboxLoop[SinkRow]):
    """Writes what is due until it is canceled."""

    def __init__(self, store: Store, lines: Lines, targets: Targets, *, seed: int | None = None) -> None:
        super().__init__(store, "sinks", AT_ONCE, LogEvent.SINK_FAILED)
        self._lines = lines
        self._targets = targets
        self._dice = random.Random(seed)

    async def _due_in_s(self) -> float | None:
        return await self._store.sinks.next_in_s()

    async def _claim(self, room: int, under_way: Mapping[str, int]) -> Sequence[SinkRow]:
        return await self._store.sinks.claim(room, lease_s=LEASE_S, each=EACH, under_way=under_way)

    # --- one attempt ----------------------------------------------------------------------------------

    async def _fly(self, row: SinkRow) -> None:
        try:
            how = await self._attempt(row)
        except SinkFault as fault:
            how = await self._after(row, fault)
        except NotFound:  # it was deleted meanwhile, and this row goes with it
            how = SinkEnd(SinkState.SKIPPED, error="the job was deleted")
        except ArtifactMissing as error:
            how = SinkEnd(SinkState.FAILED, error=error.message)
        except StoreAway:
            raise
        except ServiceError as error:
            how = await self._after(row, SinkFault(error.message))
        except Exception as error:  # the top of an attempt: it is tried again, as one that died
            log.exception(LogEvent.SINK_FAILED, job=row.job, sink=row.nth)
            how = await self._after(row, SinkFault(f"an unforeseen {type(error).__name__}: see the gateway's log"))
        if how is None:
            return
        if how.error and how.state is not SinkState.SKIPPED:
            log.warning(LogEvent.SINK_FAILED, job=row.job, sink=row.nth, place=row.place, error=how.error)
        await self._store.sinks.end(row, how)

    async def _attempt(self, row: SinkRow) -> SinkEnd | None:
        """Return how it ended; None: the lease is lost, and another may be writing."""
        job = await self._store.job(row.job)
        target = await self._targets(row, job, run_of(row, job))
        try:
            if target.replaces and row.overtaken:
                return SinkEnd(SinkState.SKIPPED, error="the records of a newer job stand there")
            progress = SinkProgress.of(row.cursor) if row.cursor else await self._looked_over(job, target)
            # Meanwhile the lease may have ended, or the job was tried again: its next end begins its sinks anew.
            if not await self._keep(row, progress):
                return None
            await target.begin(progress)
            async with aclosing(self._batches(job, target, progress)) as batches:
                async for batch, lines in batches:
                    await target.write(batch, progress)
                    progress = progress.after(batch, lines)
                    if not await self._keep(row, progress):
                        return None
            await target.finish(progress)
            return SinkEnd(SinkState.DONE)
        finally:
            await target.close()

    async def _keep(self, row: SinkRow, progress: SinkProgress) -> bool:
        return await self._store.sinks.advance(row, progress.cursor, progress.written, lease_s=LEASE_S)

    async def _looked_over(self, job: JobRow, target: SinkTarget) -> SinkProgress:
        """The columns of all records, and their number, before the first is written."""
        schema = job.spec.extract.record_schema if job.spec.extract else None
        finder, records = ColumnFinder(declared(schema, flat=target.flat)), 0
        shaped = flat_row if target.flat else top_row
        async for line in await self._lines(job):
            if line.get("record") is not None:
                finder.add(shaped(line["record"]))
                records += 1
        return SinkProgress(uuid4().hex, finder.columns, records)

    async def _batches(
        self, job: JobRow, target: SinkTarget, progress: SinkProgress
    ) -> AsyncGenerator[tuple[list[SinkRecord], int], None]:
        """Yield what is not written yet, in batches, each with the lines that are done behind it."""
        batch, size, number = list[SinkRecord](), 0, 0
        async for line in await self._lines(job):
            number += 1
            if number <= progress.lines or line.get("record") is None:
                continue
            record = SinkRecord(
                progress.written + len(batch), line["record"], line.get("url") or "", line.get("at") or ""
            )
            batch.append(record)
            size += len(to_json(record.value, inf_nan_mode="null"))
            if len(batch) >= target.batch_records or size >= target.batch_bytes:
                yield batch, number
                progress = replace(progress, written=progress.written + len(batch))
                batch, size = [], 0
        if batch:
            yield batch, number

    async def _after(self, row: SinkRow, fault: SinkFault) -> SinkEnd:
        """Return what becomes of a sink after a failed attempt. One that came on has all its attempts again."""
        failures = await self._store.sinks.failures(row)
        if fault.final or failures >= len(PAUSES_S):
            return SinkEnd(SinkState.FAILED, error=fault.reason)
        pause_s = PAUSES_S[failures] * (0.8 + 0.4 * self._dice.random())
        return SinkEnd(SinkState.WAITING, max(pause_s, min(fault.retry_after_s, _LONGEST_WISH_S)), fault.reason)


def run_of(row: SinkRow, job: JobRow) -> SinkRun:
    """Return what a sink is written from."""
    return SinkRun(
        job=job_id(job.id),
        number=job.id,
        nth=row.nth,
        tenant=job.tenant,
        created_at=job.created_at,
        status=job.status.value,
        counts=asdict(job.counts),
        record_schema=job.spec.extract.record_schema if job.spec.extract else None,
        overtaken=row.overtaken,
    )
