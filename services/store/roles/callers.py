"""The store's interface for callers: commands to their jobs, and reads of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from datetime import datetime
from functools import partial

from shoal.agent.status import Status
from shoal.services.store.database.batching import Batcher
from shoal.services.store.database.database import Database
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs import control, submission
from shoal.services.store.jobs.changes import change_job
from shoal.services.store.read import activity, item_map, pace, reading
from shoal.services.store.read.feed import FeedPage, feed_page
from shoal.services.store.read.pace import Pace
from shoal.services.store.records import (
    ActivitySpan,
    ArtifactRow,
    EventRow,
    JobChanges,
    JobFilter,
    JobRow,
    NewJob,
    ResultRow,
    SessionDetail,
    SessionRow,
    Submitted,
    UnsureAnswer,
)
from shoal.services.store.roles.on_database import OnDatabase
from shoal.services.store.sessions import resolve_unsure, retry_session


class Commands(OnDatabase):
    """Jobs are submitted, steered and deleted."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._submissions = Batcher(self._submit_all)

    async def submit(self, jobs: Sequence[NewJob]) -> list[Submitted]:
        """Stores each job with its root session, all or none; a known (tenant, idempotency key) gives the old job.

        Raises:
            KeyReused: the idempotency key stands for a job with another spec.
        """
        for job in jobs:
            submission.check(job)
        result = await self._submissions.add(tuple(jobs))
        if isinstance(result, Exception):
            raise result
        return result

    async def _submit_all(self, calls: Sequence[Sequence[NewJob]]) -> Sequence[submission.Result]:
        n = sum(map(len, calls))
        return await self._db.write(
            lambda tx: submission.submit_all(tx, calls),
            ids={"job": n, "session": n},
            hosts={job.domain for jobs in calls for job in jobs},
        )

    async def cancel(self, job: int, *, tenant: str | None = None) -> JobRow:
        """Nothing of the job begins from now on; running sessions become canceled when their worker says so.

        Queued, waiting and paused ones become canceled at once, or, of a job with thousands of them, by
        `run_bulk_operations`: its root last.
        """

        def work(tx: Tx) -> JobRow:
            control.cancel_job(tx, job, tenant)
            return reading.job_row(tx, job)

        return await self._db.write(work)

    async def pause(self, job: int, *, tenant: str | None = None) -> JobRow:
        def work(tx: Tx) -> JobRow:
            control.pause_job(tx, job, tenant)
            return reading.job_row(tx, job)

        return await self._db.write(work)

    async def resume(self, job: int, *, tenant: str | None = None) -> JobRow:
        def work(tx: Tx) -> JobRow:
            control.resume_job(tx, job, tenant)
            return reading.job_row(tx, job)

        return await self._db.write(work)

    async def retry(self, job: int, *, tenant: str | None = None) -> JobRow:
        """Failed, terminated and canceled items of a final job are queued again with fresh attempts.

        Of a job with thousands of them, the last ones; the others by `run_bulk_operations`, which tries none again that
        has failed since. Until they all are open, no loop of it goes on and the job does not end. A caller that cancels
        it meanwhile, or its deadline, leaves those that are not open yet as they were.

        Raises:
            WrongState: it is not final, or nothing of it is to be retried.
        """

        def work(tx: Tx) -> JobRow:
            control.retry_job(tx, job, tenant)
            return reading.job_row(tx, job)

        return await self._db.write(work)

    async def set_concurrency(self, job: int, limit: int | None, *, tenant: str | None = None) -> JobRow:
        """At most `limit` items of the outermost loop begin from now on (None: no limit); none that runs is stopped.

        Of a loop with thousands of ready or held items, `run_bulk_operations` does the rest. Meanwhile no claim goes
        beyond the limit. Called again meanwhile, the last limit holds.

        Raises:
            WrongState: the job is final.
        """

        def work(tx: Tx) -> JobRow:
            control.set_concurrency(tx, job, limit, tenant)
            return reading.job_row(tx, job)

        return await self._db.write(work)

    async def change(self, job: int, changes: JobChanges, *, tenant: str | None = None) -> JobRow:
        """Changes limits of a job that runs; all of `changes` or nothing.

        Concurrency holds at once, as `set_concurrency` says; the deadline counts from now, priority from the next
        claim; those that run hear of deadline and token limit by their dispatcher.

        Raises:
            WrongState: the job is final, or its deadline has passed and a part of it is failed already.
        """

        def work(tx: Tx) -> JobRow:
            change_job(tx, job, changes, tenant)
            return reading.job_row(tx, job)

        return await self._db.write(work)

    async def resolve_unsure(self, session: int, how: UnsureAnswer, *, tenant: str | None = None) -> SessionDetail:
        """Says what became of an unsure session: `done` completes it with the records that it had; `retry` queues it.

        A job that was over is reopened by `retry`, with the loops that the session is in; `done` leaves them alone,
        save that a job whose root it is becomes completed.

        Raises:
            WrongState: it is not unsure, its job is canceled, or its loop is being stopped or summed up at this
                moment.
        """

        def work(tx: Tx) -> SessionDetail:
            resolve_unsure.resolve_session(tx, session, how, tenant)
            return reading.session_detail(tx, session, tenant)

        return await self._db.write(work)

    async def retry_session(self, session: int, *, tenant: str | None = None) -> SessionDetail:
        """One failed, terminated or canceled session is queued again with fresh attempts; its siblings stay as they
        are. A job that was over is reopened, with the loops that the session is in.

        Raises:
            WrongState: it is not one of these; its job is archived, is being ended or retried; it is a loop with items
                that are to be retried; or its loop is being stopped or summed up at this moment.
        """

        def work(tx: Tx) -> SessionDetail:
            retry_session.retry_session(tx, session, tenant)
            return reading.session_detail(tx, session, tenant)

        return await self._db.write(work)

    async def delete(self, job: int, *, tenant: str | None = None) -> None:
        """Removes a final job: nothing of it can be read from now on, and its idempotency key is free.

        Its rows, and what lies in the artifact store for them, are removed behind that, by `droppable` and `drop`.

        Raises:
            WrongState: the job is not final.
        """
        await self._db.write(lambda tx: control.delete_job(tx, job, tenant))


class JobReading(OnDatabase):
    """Jobs, sessions, results, events and artifacts are read."""

    async def used_keys(self, tenant: str, keys: Collection[str]) -> frozenset[str]:
        """Those of a tenant's idempotency keys that stand for a job."""
        return await self._db.read(lambda tx: submission.used_keys(tx, tenant, keys))

    async def job(self, job: int, *, tenant: str | None = None) -> JobRow:
        return await self._db.read(lambda tx: reading.job_row(tx, job, tenant))

    async def previous(self, job: int) -> int | None:
        """The run of the same work before a job, that completed; None where there is none."""
        return await self._db.read(lambda tx: reading.previous_job(tx, job))

    async def jobs(self, job_filter: JobFilter) -> list[JobRow]:
        return await self._db.read(lambda tx: reading.list_jobs(tx, job_filter))

    async def sessions(
        self, job: int, *, statuses: Sequence[Status] = (), after: str | None = None, limit: int = 100
    ) -> tuple[list[SessionRow], str | None]:
        """Sessions in item order, and the cursor of the next page (None: this was the last)."""
        return await self._db.read(lambda tx: reading.session_page(tx, job, statuses, after, limit))

    async def session(self, session: int, *, tenant: str | None = None) -> SessionDetail:
        return await self._db.read(lambda tx: reading.session_detail(tx, session, tenant))

    async def item_states(self, job: int, *, tenant: str | None = None) -> bytes:
        """A byte for each item of a job, in item order: the position of its status in `Status`. Items of a long loop
        that are not rows yet are left out."""
        return await self._db.read(lambda tx: item_map.item_states(tx, job, tenant))

    async def item_session(self, job: int, place: int, *, tenant: str | None = None) -> int:
        """The session of the item at a place of `item_states`."""
        return await self._db.read(lambda tx: item_map.item_session(tx, job, place, tenant))

    async def pace(self, job: int, *, tenant: str | None = None) -> Pace | None:
        """Return how many items of a job ended of late; None where that cannot be told any more."""
        return await self._db.read(lambda tx: pace.pace(tx, job, tenant))

    async def activity(self, *, tenant: str | None, span_s: int, spans: int) -> list[ActivitySpan]:
        """Return what ended in each of the last spans of time, the oldest first."""
        return await self._db.read(lambda tx: activity.activity(tx, tenant, span_s, spans))

    async def put_off(self, job: int) -> dict[int | None, datetime]:
        """When the last try begins that a loop of this job has put off, by the loop's session; None: the job's own."""
        return await self._db.read(lambda tx: reading.put_off(tx, job))

    async def sessions_ahead(self, session: SessionRow) -> int:
        """Return how many sessions of its job will be claimed before a queued one; exact up to 10,000."""
        return await self._db.read(lambda tx: reading.sessions_ahead(tx, session))

    async def results(self, job: int, *, after: str | None = None, limit: int = 500) -> list[ResultRow]:
        """One line per record, in item order, of items that are final; items that fanned out have no line."""
        return await self._db.read(lambda tx: reading.result_page(tx, job, after, limit))

    async def stream_results(self, job: int, *, after: str | None = None) -> AsyncIterator[ResultRow]:
        """All result lines behind a cursor. No session is read twice, however many lines it has."""
        await self.job(job)
        place: reading.ResultPlace | None = reading.result_place(after)
        while place is not None:
            lines, place = await self._db.read(partial(reading.result_step, job=job, place=place))
            for line in lines:
                yield line

    async def events(
        self, *, after: int = 0, job: int | None = None, tenant: str | None = None, limit: int = 500
    ) -> list[EventRow]:
        return await self._db.read(lambda tx: reading.event_page(tx, after, job, tenant, limit))

    async def latest_events(self, job: int, *, before: int | None = None, limit: int = 500) -> list[EventRow]:
        """The newest events of a job, those before a number, the newest first."""
        return await self._db.read(lambda tx: reading.latest_events(tx, job, before, limit))

    async def feed(self, after: int | None, jobs: Sequence[int], *, limit: int = 500) -> FeedPage:
        """The next events of some jobs, and how far the feed was looked through; None: only how far it goes now."""
        return await self._db.read(lambda tx: feed_page(tx, after, jobs, limit))

    async def artifact(self, artifact: str, *, tenant: str | None = None) -> ArtifactRow:
        return await self._db.read(lambda tx: reading.one_artifact(tx, artifact, tenant))
