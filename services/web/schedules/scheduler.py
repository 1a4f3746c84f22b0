"""Fires schedules: what is due is checked as a submission is, and written by the store, each time once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

import structlog

from shoal.services.errors import BadInput, StoreAway
from shoal.services.events import LogEvent
from shoal.services.schedules.firing import LATE_S, RunState, plan, times_of
from shoal.services.store.records import NewJob
from shoal.services.store.schedules.records import Fired, Firing, QueuedStart, ScheduleRow
from shoal.services.web.cluster_state.overview import has_model
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.quota import Quota
from shoal.services.web.schedules.judging import Judge
from shoal.services.web.specs.specs import SpecChecker

log = structlog.get_logger()

LOOK_S = 2.0
"""Longest pause between two looks: a run that waits, or is over, is not told of by any time."""
_AWAY_S = 1.0
FULL = "so much of the tenant's work waits that no more is taken"


class Scheduler:
    """Runs until it is canceled. Several may run at once: the store lets one of them fire."""

    def __init__(self, deps: GatewayDeps, checker: SpecChecker, quota: Quota) -> None:
        self._store = deps.store.schedules
        self._metrics = deps.metrics
        self._checker = checker
        self._quota = quota
        self._judge = Judge(deps)

    async def run(self) -> None:
        """Looks when the next time comes, and every two seconds."""
        while True:
            try:
                if await self.run_once():
                    continue
                await asyncio.sleep(min(LOOK_S, await self._store.next_due_in_s() or LOOK_S))
            except StoreAway:  # the gateway's readiness and metrics say so
                await asyncio.sleep(_AWAY_S)
            except Exception:  # the top of a loop
                log.exception(LogEvent.LOOP_FAILED, loop="schedules")
                await asyncio.sleep(LOOK_S)

    async def run_once(self) -> int:
        """Fires what is due, starts queued runs, judges those that are over; gives how many times were written.

        Raises:
            StoreAway: what was not written is done by the next look, at any gateway.
        """
        fired = [*await self._fire(), *await self._start_queued()]
        await self._judge.run_once()
        return len(fired)

    async def _fire(self) -> list[Fired]:
        now, due = await self._store.due()
        firings = []
        for each in due:
            row = each.row
            planned = plan(times_of(row.spec, row.start), each.due_at, now, row.spec.catch_up)
            if planned.run_at is None:
                firings.append(Firing(each, planned, None))
                continue
            job, refusal = await self._checked(row)
            waits = FULL if job is not None and not await self._has_room(job) else ""
            firings.append(Firing(each, planned, job, refusal, waits))
        fired = await self._store.fire(firings)
        late = [each for each in fired if each.state is not RunState.MISSED and each.late_s > LATE_S]
        self._metrics.schedule_runs.labels("late").inc(len(late))
        return self._report(fired)

    async def _start_queued(self) -> list[Fired]:
        starts = []
        for run in await self._store.startable():
            job, refusal = await self._checked(run.row)
            if job is None or await self._has_room(job):
                starts.append(QueuedStart(run, job, refusal))
        return self._report(await self._store.start_queued(starts))

    async def _checked(self, row: ScheduleRow) -> tuple[NewJob | None, str]:
        """The job of a schedule as it can be submitted now, or why it cannot be: its workflow may be gone."""
        try:
            return await self._checker.admit(row.spec.job, row.tenant), ""
        except BadInput as error:
            return None, error.message

    async def _has_room(self, job: NewJob) -> bool:
        (admitted,) = await self._quota.admits(job.tenant, [job])
        return admitted

    def _report(self, fired: Sequence[Fired]) -> list[Fired]:
        for each in fired:
            self._metrics.schedule_runs.labels(each.state.value).inc(each.times)
            if each.state is RunState.STARTED:
                self._quota.count_jobs(each.tenant)
                self._metrics.jobs_submitted.labels("schedule").inc()
            log.info(
                LogEvent.SCHEDULE_FIRED,
                schedule=each.name,
                tenant=each.tenant,
                state=each.state.value,
                times=each.times,
                late_s=round(each.late_s, 3),
                job=each.job,
            )
        return list(fired)


def scheduler_of(deps: GatewayDeps) -> Scheduler:
    """The scheduler beside a gateway."""
    checker = SpecChecker(
        deps.options.rules, deps.names, deps.store.workflows, has_model=partial(has_model, deps.store)
    )
    return Scheduler(deps, checker, Quota(deps.store, deps.options.tenant_queued, deps.options.tenant_quotas))
