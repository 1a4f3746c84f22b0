"""The store over PostgreSQL or SQLite; each method is one transaction of a function in a neighbouring file."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from shoal.agent.sessions.compressed_items import LoopPiece
from shoal.agent.status import Status
from shoal.agent.types import Checkpoint
from shoal.agent.worker_messages import RateSlot, RateSlotRequest, RobotsAnswer, RobotsWish
from shoal.services.store import api_keys
from shoal.services.store.database.batching import Batcher
from shoal.services.store.database.database import Clock, Database
from shoal.services.store.database.migrate import bring_up, check_version
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs import bulk_operations, control, retention, submission, webhook_outbox
from shoal.services.store.jobs.changes import change_job
from shoal.services.store.loops import pending_children
from shoal.services.store.loops.fanout import children_in, hosts_needed, stage
from shoal.services.store.read import reading, snapshots
from shoal.services.store.records import (
    ApiKey,
    ArtifactRow,
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
    NewJob,
    Owners,
    Partition,
    Renewal,
    ResultRow,
    SessionDetail,
    SessionRow,
    Settlement,
    Submitted,
    Unclaimable,
)
from shoal.services.store.sessions import claim, finish, lease_expiry, partitions, resolve_unsure
from shoal.services.store.sessions.checkpoints import keep_checkpoints
from shoal.services.store.throttle import domain_throttle, shared_robots, token_bucket

Json = Any


async def open_store(url: str, *, migrate: bool = True, clock: Clock | None = None) -> SqlStore:
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
    return SqlStore(database)


class SqlStore:
    """See `shoal.services.store.store.Store`."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._submissions = Batcher(self._submit_all)
        self._checkpoints = Batcher(self._keep_all)
        self._dice = random.Random()
        self._probe: asyncio.Task[None] | None = None

    async def close(self) -> None:
        await self._db.close()
        if self._probe is not None:
            await asyncio.wait([self._probe])

    async def check(self) -> None:
        if self._probe is None or self._probe.done():  # one at a time: each may wait long for a lock
            self._probe = asyncio.create_task(self._db.probe(), name="store-probe")
            self._probe.add_done_callback(lambda task: task.cancelled() or task.exception())  # whoever asked has gone
        await asyncio.shield(self._probe)

    # --- callers -------------------------------------------------------------------------------------

    async def submit(self, jobs: Sequence[NewJob]) -> list[Submitted]:
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
        return await self._db.read(lambda tx: submission.known_keys(tx, tenant, keys))

    async def job(self, job: int, *, tenant: str | None = None) -> JobRow:
        return await self._db.read(lambda tx: reading.job_row(tx, job, tenant))

    async def jobs(self, wanted: JobFilter) -> list[JobRow]:
        return await self._db.read(lambda tx: reading.list_jobs(tx, wanted))

    async def sessions(
        self, job: int, *, statuses: Sequence[Status] = (), after: str | None = None, limit: int = 100
    ) -> tuple[list[SessionRow], str | None]:
        return await self._db.read(lambda tx: reading.session_page(tx, job, statuses, after, limit))

    async def session(self, session: int, *, tenant: str | None = None) -> SessionDetail:
        return await self._db.read(lambda tx: reading.session_detail(tx, session, tenant))

    async def put_off(self, job: int) -> dict[int | None, datetime]:
        return await self._db.read(lambda tx: reading.put_off(tx, job))

    async def sessions_ahead(self, session: SessionRow) -> int:
        return await self._db.read(lambda tx: reading.sessions_ahead(tx, session))

    async def results(self, job: int, *, after: str | None = None, limit: int = 500) -> list[ResultRow]:
        return await self._db.read(lambda tx: reading.result_page(tx, job, after, limit))

    async def stream_results(self, job: int, *, after: str | None = None) -> AsyncIterator[ResultRow]:
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
        def work(tx: Tx) -> JobRow:
            control.retry_job(tx, job, tenant)
            return reading.job_row(tx, job)

        return await self._db.write(work)

    async def set_concurrency(self, job: int, limit: int | None, *, tenant: str | None = None) -> JobRow:
        def work(tx: Tx) -> JobRow:
            control.set_concurrency(tx, job, limit, tenant)
            return reading.job_row(tx, job)

        return await self._db.write(work)

    async def change(self, job: int, changes: JobChanges, *, tenant: str | None = None) -> JobRow:
        def work(tx: Tx) -> JobRow:
            change_job(tx, job, changes, tenant)
            return reading.job_row(tx, job)

        return await self._db.write(work)

    async def resolve_unsure(self, session: int, how: Settlement, *, tenant: str | None = None) -> SessionDetail:
        def work(tx: Tx) -> SessionDetail:
            resolve_unsure.resolve_session(tx, session, how, tenant)
            return reading.session_detail(tx, session, tenant)

        return await self._db.write(work)

    async def delete(self, job: int, *, tenant: str | None = None) -> None:
        await self._db.write(lambda tx: control.delete_job(tx, job, tenant))

    # --- keys ----------------------------------------------------------------------------------------

    async def create_key(
        self, name: str, tenant: str, scopes: Sequence[str], key_hash: str, lasts_s: float | None = None
    ) -> ApiKey:
        return await self._db.write(lambda tx: api_keys.create_key(tx, name, tenant, scopes, key_hash, lasts_s))

    async def note_key_use(self, key: int) -> None:
        await self._db.write(lambda tx: api_keys.note_use(tx, key))

    async def find_key(self, key_hash: str) -> ApiKey | None:
        return await self._db.read(lambda tx: api_keys.find_key(tx, key_hash))

    async def keys(self) -> list[ApiKey]:
        return await self._db.read(api_keys.all_keys)

    async def revoke_key(self, key: int) -> ApiKey:
        return await self._db.write(lambda tx: api_keys.revoke_key(tx, key))

    # --- webhooks ------------------------------------------------------------------------------------

    async def claim_deliveries(
        self, n: int, *, lease_s: float, each: int, under_way: Mapping[str, int] | None = None
    ) -> list[DeliveryRow]:
        return await self._db.write(
            lambda tx: webhook_outbox.claim_deliveries(tx, n, lease_s=lease_s, each=each, under_way=under_way or {})
        )

    async def settle_deliveries(self, group: Sequence[Delivered]) -> None:
        await self._db.write(lambda tx: webhook_outbox.settle_deliveries(tx, group))

    async def next_delivery_in_s(self) -> float | None:
        return await self._db.read(webhook_outbox.next_delivery_in_s)

    async def prune_deliveries(self, *, delivered_s: float, dead_s: float) -> int:
        return await self._db.write(
            lambda tx: webhook_outbox.prune_deliveries(tx, delivered_s=delivered_s, dead_s=dead_s)
        )

    async def webhook_secret(self, fresh: str) -> str:
        return await self._db.write(lambda tx: webhook_outbox.webhook_secret(tx, fresh))

    async def deliveries(self, wanted: DeliveryFilter) -> list[DeliveryRow]:
        return await self._db.read(lambda tx: webhook_outbox.list_deliveries(tx, wanted))

    async def delivery(self, number: int, *, tenant: str | None = None) -> DeliveryRow:
        return await self._db.read(lambda tx: webhook_outbox.one_delivery(tx, number, tenant))

    async def resend(self, number: int, *, tenant: str | None = None) -> DeliveryRow:
        return await self._db.write(lambda tx: webhook_outbox.resend(tx, number, tenant))

    async def resend_dead(self, *, tenant: str | None = None) -> int:
        return await self._db.write(lambda tx: webhook_outbox.resend_dead(tx, tenant))

    async def count_deliveries(self, *, tenant: str | None = None) -> dict[DeliveryState, int]:
        return await self._db.read(lambda tx: webhook_outbox.count_deliveries(tx, tenant))

    # --- dispatcher ----------------------------------------------------------------------------------

    async def partitions(self) -> list[Partition]:
        if await self._db.read(partitions.any_due):
            await self._db.write(partitions.wake_due)
        return await self._db.read(partitions.all_partitions)

    async def changed_partitions(self, after: int | None) -> ChangedPartitions:
        if after is None:
            return await self._db.read(partitions.no_changes)
        due, found = await self._db.read(lambda tx: (partitions.any_due(tx), partitions.changed_partitions(tx, after)))
        return replace(found, ready=found.ready + await self._db.write(partitions.wake)) if due else found

    async def claim(
        self,
        owners: str | Sequence[str],
        takes: Sequence[ClaimRequest],
        *,
        lease_s: float,
        per_domain: int | None = None,
    ) -> Claims:
        names = [owners] * sum(take.n for take in takes) if isinstance(owners, str) else owners
        return await self._db.write(
            lambda tx: claim.claim_partitions(tx, names, takes, lease_s=lease_s, per_domain=per_domain)
        )

    async def running(self, sessions: Collection[int]) -> list[Claimed]:
        return await self._db.read(lambda tx: claim.running_sessions(tx, sessions))

    async def renew(self, leases: Sequence[Renewal], *, lease_s: float) -> frozenset[int]:
        return await self._db.write(lambda tx: claim.renew_leases(tx, leases, lease_s=lease_s))

    async def job_controls(self, jobs: Collection[int]) -> Mapping[int, JobControl]:
        return await self._db.read(lambda tx: claim.job_controls_of(tx, jobs))

    async def policies(self, jobs: Collection[int]) -> Mapping[int, str]:
        return await self._db.read(lambda tx: claim.policies_of(tx, jobs))

    async def checkpoint(self, session: int, fence: int, checkpoint: Checkpoint) -> bool:
        return await self._checkpoints.add((session, fence, checkpoint))

    async def _keep_all(self, checkpoints: Sequence[tuple[int, int, Checkpoint]]) -> Sequence[bool]:
        return await self._db.write(lambda tx: keep_checkpoints(tx, checkpoints))

    async def stage(self, session: int, fence: int, items: LoopPiece) -> bool:
        return await self._db.write(lambda tx: stage(tx, session, fence, items))

    async def rate_slots(self, wishes: Sequence[RateSlotRequest]) -> list[RateSlot]:
        return await self._db.write(
            lambda tx: domain_throttle.rate_slots(tx, wishes), hosts={wish.host for wish in wishes}
        )

    async def robots(self, wishes: Sequence[tuple[str, RobotsWish]]) -> list[RobotsAnswer | None]:
        return await self._db.write(lambda tx: shared_robots.robots(tx, wishes))

    async def finish(self, group: Sequence[Finish], *, per_domain: int | None = None) -> CommitResult:
        children = children_in(group)
        return await self._db.write(
            lambda tx: finish.write_group(tx, group, per_domain),
            ids={"session": children},
            hosts=hosts_needed(group) if children else (),
        )

    async def materialize(self) -> MaterializedChildren:
        part = await self._db.read(lambda tx: pending_children.next_part(tx, self._dice))
        return await self._db.write(lambda tx: pending_children.materialize(tx, part))

    async def run_bulk_operations(self) -> BulkProgress:
        for one in await self._db.read(lambda tx: bulk_operations.unfinished(tx, self._dice)):
            swept = await self._db.write(partial(bulk_operations.sweep, one=one))
            if swept.more:
                return swept
        return bulk_operations.NOTHING

    async def expire_leases(self, *, owner: str | None = None, lease_s: float | None = None) -> ExpiredLeases:
        if owner is None and lease_s is not None:
            await self._db.write(lambda tx: lease_expiry.note_look(tx, lease_s))
        return await self._db.write(lambda tx: lease_expiry.expire_leases(tx, owner, lease_s))

    async def expire_deadlines(self) -> list[int]:
        return await self._db.write(lease_expiry.expire_jobs)

    async def ready_count(self, most: int) -> int:
        return await self._db.read(lambda tx: int(tx.run("ready_count", most=most).scalar_one()))

    async def next_ready_in_s(self) -> float | None:
        def work(tx: Tx) -> float | None:
            at = tx.run("next_ready").scalar_one()
            return None if at is None else max(0.0, at - tx.now)

        return await self._db.read(work)

    # --- retention -----------------------------------------------------------------------------------

    async def expired(self, default_days: float | None, limit: int = 10) -> list[int]:
        return await self._db.read(lambda tx: retention.expired_jobs(tx, default_days, limit))

    async def deleted(self, limit: int = 10) -> list[int]:
        return await self._db.read(lambda tx: retention.deleted_jobs(tx, limit))

    async def archived(self, job: int, archive: str) -> bool:
        return await self._db.write(lambda tx: retention.mark_archived(tx, job, archive))

    async def droppable(self, job: int, most: int = 1_000) -> DropSlice:
        return await self._db.read(lambda tx: retention.next_slice(tx, job, most))

    async def owners(self, keys: Sequence[str], jobs: Sequence[int]) -> Owners:
        return await self._db.read(lambda tx: retention.owners(tx, keys, jobs))

    async def drop(self, job: int, sessions: Sequence[int]) -> bool:
        return await self._db.write(lambda tx: retention.drop_sessions(tx, job, sessions))

    # --- shared state --------------------------------------------------------------------------------

    async def now(self) -> datetime:
        return await self._db.read(lambda tx: reading.when(tx.now))

    async def changed(self, timeout_s: float, *, since: int | None = None) -> int:
        self._db.require_open()
        return await self._db.notifier.wait(timeout_s, since)

    async def spend(self, tenant: str, spent: int, *, per_s: float, most: float) -> float:
        return await self._db.write(lambda tx: token_bucket.spend(tx, tenant, spent, per_s=per_s, most=most))

    async def put_state(self, name: str, data: Mapping[str, Json]) -> None:
        await self._db.write(lambda tx: snapshots.put_state(tx, name, data))

    async def states(self, prefix: str) -> dict[str, tuple[Mapping[str, Json], float]]:
        return await self._db.read(lambda tx: snapshots.get_states(tx, prefix))

    async def drop_states(self, prefix: str, *, older_than_s: float) -> None:
        await self._db.write(lambda tx: snapshots.drop_states(tx, prefix, older_than_s))

    async def open_by_status(self) -> dict[tuple[str, Status], int]:
        return await self._db.read(snapshots.open_by_status)

    async def counts_by_status(self) -> dict[tuple[str, Status], int]:
        return await self._db.read(snapshots.count_by_status)

    async def unclaimable(self, partitions: Sequence[tuple[int, int]]) -> Unclaimable:
        return await self._db.read(lambda tx: snapshots.unclaimable(tx, partitions))
