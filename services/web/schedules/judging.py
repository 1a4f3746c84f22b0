"""Holds runs that are over against their schedule's history, and marks those that are degraded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import structlog

from shoal.agent.status import Status
from shoal.services.errors import ArtifactMissing, NotFound, WrongState
from shoal.services.events import JobEvent, LogEvent
from shoal.services.schedules.bands import Deviation, OutsideCounter, expectation, judge
from shoal.services.schedules.figures import FigureCounter, values_of
from shoal.services.schedules.spec import BandsSpec
from shoal.services.store.records import JobRow, ResultRow
from shoal.services.store.schedules.records import Judged, RunDifference, RunRow, RunVerdict
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.results.run_changes import changes_between

log = structlog.get_logger()


class Judge:
    """Reads the results of runs that are over, a record at a time. Several may do the same: the store takes one."""

    def __init__(self, deps: GatewayDeps) -> None:
        self._deps = deps
        self._store = deps.store
        self._metrics = deps.metrics

    async def run_once(self) -> None:
        """Judges runs that are over."""
        for run in await self._store.schedules.to_judge():
            await self._judge(run)

    async def _judge(self, run: RunRow) -> None:
        assert run.job is not None  # it is over because its job is
        try:
            job = await self._store.job(run.job)
        except NotFound:  # deleted: nothing is known of it any more
            await self._keep(Judged(run.schedule, run.at.timestamp(), run.job, "", None, None, None), "deleted")
            return
        done = Judged(run.schedule, run.at.timestamp(), job.id, job.tenant, job.finished_at, None, None)
        if job.status is Status.COMPLETED and job.archive is None:
            done = await self._measured(run, job, done, await self._bands(run))
        await self._keep(done, job.status.value)

    async def _bands(self, run: RunRow) -> BandsSpec:
        """Return what its schedule allows; the default where that was stored by another version and cannot be read."""
        try:
            return (await self._store.schedules.by_number(run.schedule)).spec.bands
        except WrongState as error:
            log.error(LogEvent.SCHEDULE_UNREADABLE, schedule=run.schedule, error=error.message)
            return BandsSpec()

    async def _keep(self, done: Judged, ended: str) -> None:
        if await self._store.schedules.judged(done):
            outcome = ended if done.verdict is None else "degraded"
            self._metrics.schedule_runs.labels(outcome).inc()
            if done.verdict is not None:
                reasons = [reason.text for reason in done.verdict.reasons]
                log.warning(LogEvent.SCHEDULE_DEGRADED, job=done.job, tenant=done.tenant, reasons=reasons)

    async def _measured(self, run: RunRow, job: JobRow, done: Judged, bands: BandsSpec) -> Judged:
        before = await self._store.schedules.history(run)
        expected = expectation([good.figures for good in before if good.figures is not None], bands)
        counter, outside = FigureCounter(), OutsideCounter(expected.bounds if expected else {})
        async for line in self._store.stream_results(job.id):
            if line.record is not None:
                counter.add(line.record.value)
                outside.add(line.record.value)
        figures = counter.figures(items=job.counts.expected, completed=job.counts.completed)
        reasons = judge(figures, expected, outside, bands) if expected else ()
        verdict = await self._verdict(reasons, outside, job, before) if reasons else None
        changes = await self._changes(job, before) if verdict is None else None
        return replace(done, figures=figures, verdict=verdict, changes=changes)

    async def _changes(self, job: JobRow, before: Sequence[RunRow]) -> RunDifference | None:
        """Return how the records differ from those of the last good run;
        None where nobody asked, or none can be read.
        """
        good = next((run.job for run in before if run.job is not None and run.status is not None), None)
        if good is None or not await self._store.is_told(job, JobEvent.RECORDS_CHANGED):
            return None
        try:
            changes = await changes_between(self._deps, await self._store.job(good), job)
        except (NotFound, ArtifactMissing) as error:  # its results are gone meanwhile
            log.warning(LogEvent.SCHEDULE_UNCOMPARED, job=job.id, since=good, error=error.message)
            return None
        changes.close()
        counts = {kind: n for kind, n in asdict(changes.counts).items() if kind != "same"}
        return RunDifference(good, counts)

    async def _verdict(
        self, reasons: tuple[Deviation, ...], outside: OutsideCounter, job: JobRow, before: Sequence[RunRow]
    ) -> RunVerdict:
        """The reasons with two pictures: an item that shows the first of them, and the same item in a good run."""
        shown = await self._first_shown(job.id, reasons, outside)
        good = next((run.job for run in before if run.job is not None and run.status is not None), None)
        if shown is None or good is None:
            return RunVerdict(reasons, now=shown.screenshot if shown else None)
        return RunVerdict(reasons, before=await self._same_before(good, shown), now=shown.screenshot)

    async def _first_shown(self, job: int, reasons: Sequence[Deviation], outside: OutsideCounter) -> ResultRow | None:
        """The first line with a picture that shows what the first reason about a field says, or else the first one."""
        about = next((reason for reason in reasons if reason.field), None)
        first = None
        async for line in self._store.stream_results(job):
            if line.screenshot is None:
                continue
            first = first or line
            if about is None or _shows(line, about, outside):
                return line
        return first

    async def _same_before(self, job: int, shown: ResultRow) -> str | None:
        """The picture of the same item, or page, in an earlier run; else of its first that has one."""
        first = None
        async for line in self._store.stream_results(job):
            if line.screenshot is None:
                continue
            first = first or line.screenshot
            if line.url == shown.url and (line.item is None) == (shown.item is None):
                return line.screenshot
        return first


def _shows(line: ResultRow, about: Deviation, outside: OutsideCounter) -> bool:
    """Return whether a line shows what a reason says of a field."""
    values = dict(values_of(line.record.value)) if line.record is not None else {}
    if about.kind == "given":
        return about.field not in values
    if about.kind == "range":
        return values.get(about.field) == outside.examples.get(about.field)
    return about.field in values
