"""The store: the durable truth about jobs and sessions, on PostgreSQL or SQLite.

Each method is one transaction of a function in a neighbouring file.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from shoal.agent.sessions.loops.compressed_items import LoopPiece
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import Checkpoint
from shoal.agent.worker_messages import RateSlot, RateSlotRequest, RobotsAnswer, RobotsWish
from shoal.services.store import api_keys, audit
from shoal.services.store.database.batching import Batcher
from shoal.services.store.database.database import Clock, Database
from shoal.services.store.database.migrate import bring_up, check_version
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs import bulk_operations, control, retention, submission, webhook_outbox
from shoal.services.store.jobs.changes import change_job
from shoal.services.store.learning.learning_store import LearningStore
from shoal.services.store.loops import pending_children
from shoal.services.store.loops.fanout import children_in, hosts_needed, stage
from shoal.services.store.read import activity, item_map, reading, snapshots
from shoal.services.store.records import (
    ActivitySpan,
    ApiKey,
    ArtifactRow,
    AuditEntry,
    AuditFilter,
    BulkProgress,
    ChangedPartitions,
    Claimed,
    ClaimRequest,
    Claims,
    CommitResult,
    Delivered,
    DeliveryFilter,
    DeliveryRow,
    DeliveryState,
    DropSlice,
    EventRow,
    ExpiredLeases,
    Finish,
    JobChanges,
    JobControl,
    JobFilter,
    JobRow,
    MaterializedChildren,
    NewAuditEntry,
    NewJob,
    Owners,
    Partition,
    Renewal,
    ResultRow,
    SessionDetail,
    SessionRow,
    Submitted,
    Unclaimable,
    UnsureAnswer,
)
from shoal.services.store.sessions import claim, finish, lease_expiry, partitions, resolve_unsure
from shoal.services.store.sessions.checkpoints import keep_checkpoints
from shoal.services.store.throttle import domain_throttle, shared_robots, token_bucket
from shoal.services.store.throttle.site_store import SiteStore
from shoal.services.store.workflows.workflow_store import WorkflowStore


async def open_store(url: str, *, migrate: bool = True, clock: Clock | None = None) -> Store:
    """A store on `sqlite:///PATH`, `sqlite://` (in memory, for tests) or `postgresql://…`.

    Args:
        url: where the database is. A SQLite file and its folder are made when they are missing.
        migrate: bring the schema up to date first.
        clock: seconds since the epoch; default: the machine's for SQLite, the server's for PostgreSQL.

    Raises:
        StoreAway: the database does not answer.
        StoreOutdated: its schema is not this program's, and `migrate` is false or cannot help.
        BadSetting: the URL is none that the store knows.
    """
    database = Database(url, clock)
    try:
        await database.call(lambda: bring_up(database) if migrate else check_version(database))
        database.note_file()
    except BaseException:
        await database.close()
        raise
    return Store(database)


class Store:
    """Every method is one transaction. Unknown ids raise `NotFound`; a lost database raises `StoreAway`."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self.workflows = WorkflowStore(database)
        self.learning = LearningStore(database)
        self.sites = SiteStore(database)
        self._submissions = Batcher(self._submit_all)
        self._checkpoints = Batcher(self._keep_all)
        self._dice = random.Random()
        self._probe: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """Ends the connections; may be called twice."""
        await self._db.close()
        if self._probe is not None:
            await asyncio.wait([self._probe])

    async def check(self) -> None:
        """Returns once something was written.

        Raises:
            StoreAway: nothing can be written; the message says why, where, and what to do.
            StoreBroken: and no waiting mends that.
        """
        if self._probe is None or self._probe.done():  # one at a time: each may wait long for a lock
            self._probe = asyncio.create_task(self._db.probe(), name="store-probe")
            self._probe.add_done_callback(lambda task: task.cancelled() or task.exception())  # the caller may have gone
        await asyncio.shield(self._probe)

    # --- callers -------------------------------------------------------------------------------------

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

    async def known_keys(self, tenant: str, keys: Collection[str]) -> frozenset[str]:
        """Those of a tenant's idempotency keys that stand for a job."""
        return await self._db.read(lambda tx: submission.known_keys(tx, tenant, keys))

    async def job(self, job: int, *, tenant: str | None = None) -> JobRow:
        return await self._db.read(lambda tx: reading.job_row(tx, job, tenant))

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

    async def activity(self, *, tenant: str | None, span_s: int, spans: int) -> list[ActivitySpan]:
        """What ended in each of the last spans of time, the oldest first."""
        return await self._db.read(lambda tx: activity.activity(tx, tenant, span_s, spans))

    async def put_off(self, job: int) -> dict[int | None, datetime]:
        """When the last try begins that a loop of this job has put off, by the loop's session; None: the job's own."""
        return await self._db.read(lambda tx: reading.put_off(tx, job))

    async def sessions_ahead(self, session: SessionRow) -> int:
        """How many sessions of its job will be claimed before a queued one; exact up to 10,000."""
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

    async def artifact(self, artifact: str, *, tenant: str | None = None) -> ArtifactRow:
        return await self._db.read(lambda tx: reading.one_artifact(tx, artifact, tenant))

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

    async def delete(self, job: int, *, tenant: str | None = None) -> None:
        """Removes a final job: nothing of it can be read from now on, and its idempotency key is free.

        Its rows, and what lies in the artifact store for them, are removed behind that, by `droppable` and `drop`.

        Raises:
            WrongState: the job is not final.
        """
        await self._db.write(lambda tx: control.delete_job(tx, job, tenant))

    # --- keys ----------------------------------------------------------------------------------------

    async def create_key(
        self, name: str, tenant: str, scopes: Sequence[str], key_hash: str, lasts_s: float | None = None
    ) -> ApiKey:
        """A new key, which expires after `lasts_s`; None: never."""
        return await self._db.write(lambda tx: api_keys.create_key(tx, name, tenant, scopes, key_hash, lasts_s))

    async def note_key_use(self, key: int) -> None:
        """Keeps that a key is used now; at most once a minute, however often it is called."""
        await self._db.write(lambda tx: api_keys.note_use(tx, key))

    async def find_key(self, key_hash: str) -> ApiKey | None:
        """The key with this hash, whether it still opens anything or not; None when there is none."""
        return await self._db.read(lambda tx: api_keys.find_key(tx, key_hash))

    async def keys(self) -> list[ApiKey]:
        return await self._db.read(api_keys.all_keys)

    async def revoke_key(self, key: int) -> ApiKey:
        return await self._db.write(lambda tx: api_keys.revoke_key(tx, key))

    # --- webhooks ------------------------------------------------------------------------------------

    async def add_audit(self, entry: NewAuditEntry) -> None:
        """Keeps who changed what."""
        await self._db.write(lambda tx: audit.add(tx, entry))

    async def audit(self, audit_filter: AuditFilter) -> list[AuditEntry]:
        """Entries of the audit log, newest first."""
        return await self._db.read(lambda tx: audit.entries(tx, audit_filter))

    async def claim_deliveries(
        self, n: int, *, lease_s: float, each: int, under_way: Mapping[str, int] | None = None
    ) -> list[DeliveryRow]:
        """Gives out up to `n` messages that are due, first to tenants that have least under way.

        Args:
            each: messages of one tenant, those `under_way` included.
            under_way: how many the asker holds already, by tenant.

        An attempt that is not settled within `lease_s` counts as lost: its message is given out again.
        """
        return await self._db.write(
            lambda tx: webhook_outbox.claim_deliveries(tx, n, lease_s=lease_s, each=each, under_way=under_way or {})
        )

    async def record_deliveries(self, group: Sequence[Delivered]) -> None:
        """Writes how attempts went; one whose message was given out again meanwhile changes nothing."""
        await self._db.write(lambda tx: webhook_outbox.record_deliveries(tx, group))

    async def next_delivery_in_s(self) -> float | None:
        """Seconds until the next message is due; None when none waits."""
        return await self._db.read(webhook_outbox.next_delivery_in_s)

    async def prune_deliveries(self, *, delivered_s: float, dead_s: float) -> int:
        """Forgets messages that ended longer ago than this; says how many."""
        return await self._db.write(
            lambda tx: webhook_outbox.prune_deliveries(tx, delivered_s=delivered_s, dead_s=dead_s)
        )

    async def webhook_secret(self, fresh: str) -> str:
        """The secret that all gateways over this database sign with; `fresh` becomes it where there is none yet."""
        return await self._db.write(lambda tx: webhook_outbox.webhook_secret(tx, fresh))

    async def deliveries(self, delivery_filter: DeliveryFilter) -> list[DeliveryRow]:
        return await self._db.read(lambda tx: webhook_outbox.list_deliveries(tx, delivery_filter))

    async def delivery(self, number: int, *, tenant: str | None = None) -> DeliveryRow:
        return await self._db.read(lambda tx: webhook_outbox.one_delivery(tx, number, tenant))

    async def resend(self, number: int, *, tenant: str | None = None) -> DeliveryRow:
        """Makes a message due now; one that had ended begins anew with all its attempts."""
        return await self._db.write(lambda tx: webhook_outbox.resend(tx, number, tenant))

    async def resend_dead(self, *, tenant: str | None = None) -> int:
        """Makes every message due that was given up; says how many."""
        return await self._db.write(lambda tx: webhook_outbox.resend_dead(tx, tenant))

    async def count_deliveries(self, *, tenant: str | None = None) -> dict[DeliveryState, int]:
        """Messages that wait and that were given up; delivered ones are not counted."""
        return await self._db.read(lambda tx: webhook_outbox.count_deliveries(tx, tenant))

    # --- dispatcher ----------------------------------------------------------------------------------

    async def partitions(self) -> list[Partition]:
        """Every (job, domain) with ready sessions whose job may run, by a loose index scan; cursors just below them."""
        if await self._db.read(partitions.any_due):
            await self._db.write(partitions.wake_due)
        return await self._db.read(partitions.all_partitions)

    async def changed_partitions(self, after: int | None) -> ChangedPartitions:
        """Partitions that others have made ready since an event: gateways that stored, resumed, retried, changed or
        settled a job, and dispatchers that opened a loop; and those of sessions whose delay is over.

        Costs by what happened, where `partitions` costs by all there is. It is no more than a hint: of very much it
        tells the first part, and what another dispatcher let go of is not in it.

        Args:
            after: the event up to which the caller knows; None: it asks only how far the events go.
        """
        if after is None:
            return await self._db.read(partitions.no_changes)
        due, changed = await self._db.read(
            lambda tx: (partitions.any_due(tx), partitions.changed_partitions(tx, after))
        )
        return replace(changed, ready=changed.ready + await self._db.write(partitions.wake)) if due else changed

    async def claim(
        self,
        owners: str | Sequence[str],
        takes: Sequence[ClaimRequest],
        *,
        lease_s: float,
        per_domain: int | None = None,
    ) -> Claims:
        """Leases up to `n` ready sessions of each partition, lowest ids first; raises each fence.

        Never gives out a session of a job that is paused, canceled or over, one whose `ready_at` lies ahead, or
        more of a loop than its `concurrency` allows; two claimers never get the same one.

        Args:
            owners: the worker that runs them; or one for each session that is wanted, in the order in which the
                sessions are given out.
            per_domain: sessions on one domain at once, over all dispatchers. With it the pauses and delays are kept
                that sites and jobs have asked for; None: domains are not looked at.
        """
        names = [owners] * sum(take.n for take in takes) if isinstance(owners, str) else owners
        return await self._db.write(
            lambda tx: claim.claim_partitions(tx, names, takes, lease_s=lease_s, per_domain=per_domain)
        )

    async def running(self, sessions: Collection[int]) -> list[Claimed]:
        """Those of some sessions that run, as their claims gave them: for a dispatcher that takes them over."""
        return await self._db.read(lambda tx: claim.running_sessions(tx, sessions))

    async def renew(self, leases: Sequence[Renewal], *, lease_s: float) -> frozenset[int]:
        """Extends leases; gives the sessions that are still ours *and* still wanted (not canceled, not paused)."""
        return await self._db.write(lambda tx: claim.renew_leases(tx, leases, lease_s=lease_s))

    async def job_controls(self, jobs: Collection[int]) -> Mapping[int, JobControl]:
        """What holds now for the running sessions of some jobs; those that are gone are left out."""
        return await self._db.read(lambda tx: claim.job_controls_of(tx, jobs))

    async def policies(self, jobs: Collection[int]) -> Mapping[int, str]:
        """The policies of some jobs, by one look: the default of those that name none, and of jobs that are gone."""
        return await self._db.read(lambda tx: claim.policies_of(tx, jobs))

    async def checkpoint(self, session: int, fence: int, checkpoint: Checkpoint) -> bool:
        """Keeps a running session's checkpoint; False when the lease is another's by now."""
        return await self._checkpoints.add((session, fence, checkpoint))

    async def _keep_all(self, checkpoints: Sequence[tuple[int, int, Checkpoint]]) -> Sequence[bool]:
        return await self._db.write(lambda tx: keep_checkpoints(tx, checkpoints))

    async def stage(self, session: int, fence: int, items: LoopPiece) -> bool:
        """Keeps items of the loop that a running session will open; False when the lease is another's by now.

        They become its children when it ends with a fan-out that counts them (`FanOut.later`), and are nothing when
        that attempt ends otherwise. The same piece again changes nothing.
        """
        return await self._db.write(lambda tx: stage(tx, session, fence, items))

    async def rate_slots(self, wishes: Sequence[RateSlotRequest]) -> list[RateSlot]:
        """When pages may be opened that keep their distance from the one before, in whatever worker that is.

        A turn is a place behind all that were given; it need not be taken, and is not given back. Where the line is
        too long none is given, and the asker is told when to ask again.
        """
        return await self._db.write(
            lambda tx: domain_throttle.rate_slots(tx, wishes), hosts={wish.host for wish in wishes}
        )

    async def robots(self, wishes: Sequence[tuple[str, RobotsWish]]) -> list[RobotsAnswer | None]:
        """What the cluster knows of origins' robots.txt; each wish is given with the name of its worker.

        Who asks gets the file until it runs out, is sent to fetch it for all, or waits for the worker that was sent
        before; one that has told nothing after 20 s is replaced, and the same worker is told again that it was sent.
        Who tells what it has found gets no answer.
        """
        return await self._db.write(lambda tx: shared_robots.robots(tx, wishes))

    async def finish(self, group: Sequence[Finish], *, per_domain: int | None = None) -> CommitResult:
        """Writes a group of outcomes in one transaction, each guarded by its fence alone.

        Fan-outs store their children and the parent's checkpoint; a last child makes its parent ready; job counters,
        artifacts, one event per job and, when its root session is final, the job's status are in the same commit.

        Status PAUSED, or CANCELED of a job that was not canceled, means that the worker stopped for a pause or for its
        own end: the session is queued again from its checkpoint and the attempt does not count. Of a canceled job or a
        stopped loop, what would go on (QUEUED, WAITING, PAUSED) becomes canceled. A fan-out without items is over at
        once. A later fan-out of the same session adds children behind the earlier ones. With `per_domain` (see `claim`)
        domains are slowed down that answered 429 or 503, and others recover.

        Raises:
            WrongState: a report asks for what a running session cannot become; nothing of the group is written.
        """
        children = children_in(group)
        return await self._db.write(
            lambda tx: finish.write_group(tx, group, per_domain),
            ids={"session": children},
            hosts=hosts_needed(group) if children else (),
        )

    async def materialize(self) -> MaterializedChildren:
        """Stores some more children of a loop that is too long for one transaction; any dispatcher may do it.

        The loop is durable from its fan-out on, and its first children can be claimed from then on: this is for the
        rest. Jobs that have such loops take turns by chance.
        """
        part = await self._db.read(lambda tx: pending_children.next_part(tx, self._dice))
        return await self._db.write(lambda tx: pending_children.materialize(tx, part))

    async def run_bulk_operations(self) -> BulkProgress:
        """Does one more slice of a command to a long job, some 2,000 sessions; any dispatcher may.

        It ends sessions of a job that is canceled or late, or of a loop that is stopped, holds those of a loop back
        that got another concurrency, or lets them go, and reopens those of a job that is retried. The process that
        commands it does a first slice in its own transaction: this is for the rest. Takes up what others left when
        they died; jobs and loops take turns by chance.
        """
        for part in await self._db.read(lambda tx: bulk_operations.unfinished(tx, self._dice)):
            progress = await self._db.write(partial(bulk_operations.advance, unfinished_part=part))
            if progress.more:
                return progress
        return bulk_operations.NOTHING

    async def expire_leases(self, *, owner: str | None = None, lease_s: float | None = None) -> ExpiredLeases:
        """Ends leases that ran out (or, with `owner`, all of that owner's), raising their fences.

        A dispatcher gives the `lease_s` by which it renews leases, and calls this every few seconds. A time in which no
        dispatcher could do so, since the store was away, is not counted against any lease.

        A session goes back to queued; it fails when its attempts are used up, and becomes unsure when its checkpoint
        says that an unrepeatable action had begun.
        """
        if owner is None and lease_s is not None:
            await self._db.write(lambda tx: lease_expiry.note_look(tx, lease_s))
        return await self._db.write(lambda tx: lease_expiry.expire_leases(tx, owner, lease_s))

    async def expire_deadlines(self) -> list[int]:
        """Fails a first slice of what is left of jobs whose deadline passed; gives the jobs.

        `run_bulk_operations` does the rest.
        """
        return await self._db.write(lease_expiry.expire_jobs)

    async def ready_count(self, most: int) -> int:
        """How many sessions could be claimed now, domains aside; counts no further than `most`."""
        return await self._db.read(lambda tx: int(tx.run("ready_count", most=most).scalar_one()))

    async def next_ready_in_s(self) -> float | None:
        """Seconds until the next session whose `ready_at` lies ahead; None when there is none."""

        def work(tx: Tx) -> float | None:
            at = tx.run("next_ready").scalar_one()
            return None if at is None else max(0.0, at - tx.now)

        return await self._db.read(work)

    # --- retention -----------------------------------------------------------------------------------

    async def expired(self, default_days: float | None, limit: int = 10) -> list[int]:
        """Final jobs that are to be archived and dropped: by their own `retention_days`, or else after `default_days`
        (None: never). A job whose dropping was begun comes again until it is done."""
        return await self._db.read(lambda tx: retention.expired_jobs(tx, default_days, limit))

    async def deleted(self, limit: int = 10) -> list[int]:
        """Jobs that their owners have deleted, and of which something is still to be dropped."""
        return await self._db.read(lambda tx: retention.deleted_jobs(tx, limit))

    async def archived(self, job: int, archive: str) -> bool:
        """The results of a job lie under `archive` in the artifact store; `drop` may begin. False: they lie elsewhere
        already, and its rows may be gone in part since.

        Raises:
            WrongState: it is not final.
        """
        return await self._db.write(lambda tx: retention.mark_archived(tx, job, archive))

    async def droppable(self, job: int, most: int = 1_000) -> DropSlice:
        """The next sessions of an archived or deleted job that `drop` may remove, and what lies in the artifact store
        for them alone. The caller that drops them removes those bytes first: their keys are known by these rows only.

        Raises:
            WrongState: it is neither.
            NotFound: nothing is left of it.
        """
        return await self._db.read(lambda tx: retention.next_slice(tx, job, most))

    async def owners(self, keys: Sequence[str], jobs: Sequence[int]) -> Owners:
        """Which jobs refer to these keys of the artifact store, and which of these jobs there are."""
        return await self._db.read(lambda tx: retention.owners(tx, keys, jobs))

    async def drop(self, job: int, sessions: Sequence[int]) -> bool:
        """Removes these sessions of an archived or deleted job, as `droppable` gave them, with their tasks and
        artifacts; behind the last one, some of its events. Whether any are left. May be called twice.

        The own row of an archived job stays, with its counts.
        """
        return await self._db.write(lambda tx: retention.drop_sessions(tx, job, sessions))

    # --- shared state --------------------------------------------------------------------------------

    async def now(self) -> datetime:
        """This moment by the store's clock, which all its times are told by: the machine's own may be wrong."""
        return await self._db.read(lambda tx: reading.when(tx.now))

    async def changed(self, timeout_s: float, *, since: int | None = None) -> int:
        """Returns soon after a commit that dispatchers or event streams wait for.

        PostgreSQL: LISTEN/NOTIFY. SQLite: `PRAGMA data_version`, looked at every 50 ms. Returns after `timeout_s` in
        any case; may wake without a cause. Gives a count; handed back as `since`, what happened between the two calls
        wakes at once (without it only what happens from now on does).
        """
        self._db.require_open()
        return await self._db.notifier.wait(timeout_s, since)

    async def spend(self, tenant: str, spent: int, *, per_s: float, most: float) -> float:
        """Counts so many requests of a tenant, which were let in already, and asks for one more.

        All gateways draw on one token bucket per tenant, which gains `per_s` a second and holds `most`. What was let in
        has to be made up for, so the rate holds over time even if the bucket was empty then.

        Returns:
            0.0 where one more may be let in, which counts it; else the seconds until it may.
        """
        return await self._db.write(lambda tx: token_bucket.spend(tx, tenant, spent, per_s=per_s, most=most))

    async def put_state(self, name: str, data: Mapping[str, Json]) -> None:
        """Keeps a small snapshot under a name (a dispatcher's capacity and causes of waiting, say)."""
        await self._db.write(lambda tx: snapshots.put_state(tx, name, data))

    async def states(self, prefix: str) -> dict[str, tuple[Mapping[str, Json], float]]:
        """Snapshots by name, each with its age in seconds."""
        return await self._db.read(lambda tx: snapshots.get_states(tx, prefix))

    async def drop_states(self, prefix: str, *, older_than_s: float) -> None:
        """Forgets snapshots whose name begins so and that were not put for so long."""
        await self._db.write(lambda tx: snapshots.drop_states(tx, prefix, older_than_s))

    async def open_by_status(self) -> dict[tuple[str, Status], int]:
        """Sessions that are not final by (tenant, status); costs no more for all that is over."""
        return await self._db.read(snapshots.open_by_status)

    async def counts_by_status(self) -> dict[tuple[str, Status], int]:
        """Sessions by (tenant, status), for metrics: those that are not final, and all items that have ended.

        Ended items count until their job is deleted, also when retention has dropped their sessions. Costs no more for
        all that is over.
        """
        return await self._db.read(snapshots.count_by_status)

    async def unclaimable(self, partitions: Sequence[tuple[int, int]]) -> Unclaimable:
        """Queued sessions that no free slot could take, and the ready ones of some partitions, given as (job,
        domain)."""
        return await self._db.read(lambda tx: snapshots.unclaimable(tx, partitions))
