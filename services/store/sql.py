"""The store over PostgreSQL or SQLite; each method is one transaction of a function in a neighbouring file."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from agent.packed import LoopPiece
from agent.status import Status
from agent.types import Checkpoint
from agent.work import PageTurn, PageWish, RobotsAnswer, RobotsWish
from services.store import (
    allowance,
    claim,
    control,
    finish,
    keys,
    lanes,
    outbox,
    pace,
    reading,
    reap,
    retention,
    robots,
    settle,
    snapshots,
    submission,
    sweep,
    unborn,
)
from services.store.changes import change_job
from services.store.checkpoints import keep_checkpoints
from services.store.database import Clock, Database
from services.store.fanout import children_in, hosts_needed, stage
from services.store.grouped import Grouped
from services.store.migrate import bring_up, check_version
from services.store.records import (
    ApiKey,
    ArtifactRow,
    Claimed,
    Claims,
    Delivered,
    DeliveryFilter,
    DeliveryRow,
    DeliveryState,
    DropSlice,
    EventRow,
    Finish,
    JobChanges,
    JobFilter,
    JobRow,
    Lane,
    NewJob,
    News,
    Reaped,
    Renewal,
    ResultRow,
    SessionDetail,
    SessionRow,
    Settlement,
    Standing,
    Submitted,
    Swept,
    Take,
    Unclaimable,
    Unfolded,
    Written,
)
from services.store.tx import Tx

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
    except BaseException:
        await database.close()
        raise
    return SqlStore(database)


class SqlStore:
    """See `services.store.store.Store`."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._submissions = Grouped(self._submit_all)
        self._checkpoints = Grouped(self._keep_all)
        self._dice = random.Random()

    async def close(self) -> None:
        await self._db.close()

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

    async def settle(self, session: int, how: Settlement, *, tenant: str | None = None) -> SessionDetail:
        def work(tx: Tx) -> SessionDetail:
            settle.settle_session(tx, session, how, tenant)
            return reading.session_detail(tx, session, tenant)

        return await self._db.write(work)

    async def delete(self, job: int, *, tenant: str | None = None) -> None:
        await self._db.write(lambda tx: control.delete_job(tx, job, tenant))

    # --- keys ----------------------------------------------------------------------------------------

    async def create_key(self, name: str, tenant: str, scopes: Sequence[str], key_hash: str) -> ApiKey:
        return await self._db.write(lambda tx: keys.create_key(tx, name, tenant, scopes, key_hash))

    async def find_key(self, key_hash: str) -> ApiKey | None:
        return await self._db.read(lambda tx: keys.find_key(tx, key_hash))

    async def keys(self) -> list[ApiKey]:
        return await self._db.read(keys.all_keys)

    async def revoke_key(self, key: int) -> ApiKey:
        return await self._db.write(lambda tx: keys.revoke_key(tx, key))

    # --- webhooks ------------------------------------------------------------------------------------

    async def claim_deliveries(
        self, n: int, *, lease_s: float, each: int, under_way: Mapping[str, int] | None = None
    ) -> list[DeliveryRow]:
        return await self._db.write(
            lambda tx: outbox.claim_deliveries(tx, n, lease_s=lease_s, each=each, under_way=under_way or {})
        )

    async def settle_deliveries(self, group: Sequence[Delivered]) -> None:
        await self._db.write(lambda tx: outbox.settle_deliveries(tx, group))

    async def next_delivery_in_s(self) -> float | None:
        return await self._db.read(outbox.next_delivery_in_s)

    async def prune_deliveries(self, *, delivered_s: float, dead_s: float) -> int:
        return await self._db.write(lambda tx: outbox.prune_deliveries(tx, delivered_s=delivered_s, dead_s=dead_s))

    async def webhook_secret(self, fresh: str) -> str:
        return await self._db.write(lambda tx: outbox.webhook_secret(tx, fresh))

    async def deliveries(self, wanted: DeliveryFilter) -> list[DeliveryRow]:
        return await self._db.read(lambda tx: outbox.list_deliveries(tx, wanted))

    async def delivery(self, number: int, *, tenant: str | None = None) -> DeliveryRow:
        return await self._db.read(lambda tx: outbox.one_delivery(tx, number, tenant))

    async def resend(self, number: int, *, tenant: str | None = None) -> DeliveryRow:
        return await self._db.write(lambda tx: outbox.resend(tx, number, tenant))

    async def resend_dead(self, *, tenant: str | None = None) -> int:
        return await self._db.write(lambda tx: outbox.resend_dead(tx, tenant))

    async def count_deliveries(self, *, tenant: str | None = None) -> dict[DeliveryState, int]:
        return await self._db.read(lambda tx: outbox.count_deliveries(tx, tenant))

    # --- dispatcher ----------------------------------------------------------------------------------

    async def lanes(self) -> list[Lane]:
        if await self._db.read(lanes.any_due):
            await self._db.write(lanes.wake_due)
        return await self._db.read(lanes.all_lanes)

    async def news(self, after: int | None) -> News:
        if after is None:
            return await self._db.read(lanes.no_news)
        due, found = await self._db.read(lambda tx: (lanes.any_due(tx), lanes.news(tx, after)))
        return replace(found, ready=found.ready + await self._db.write(lanes.wake)) if due else found

    async def claim(
        self, owners: str | Sequence[str], takes: Sequence[Take], *, lease_s: float, per_domain: int | None = None
    ) -> Claims:
        names = [owners] * sum(take.n for take in takes) if isinstance(owners, str) else owners
        return await self._db.write(
            lambda tx: claim.claim_lanes(tx, names, takes, lease_s=lease_s, per_domain=per_domain)
        )

    async def running(self, sessions: Collection[int]) -> list[Claimed]:
        return await self._db.read(lambda tx: claim.running_sessions(tx, sessions))

    async def renew(self, leases: Sequence[Renewal], *, lease_s: float) -> frozenset[int]:
        return await self._db.write(lambda tx: claim.renew_leases(tx, leases, lease_s=lease_s))

    async def standings(self, jobs: Collection[int]) -> Mapping[int, Standing]:
        return await self._db.read(lambda tx: claim.standings_of(tx, jobs))

    async def policies(self, jobs: Collection[int]) -> Mapping[int, str]:
        return await self._db.read(lambda tx: claim.policies_of(tx, jobs))

    async def checkpoint(self, session: int, fence: int, checkpoint: Checkpoint) -> bool:
        return await self._checkpoints.add((session, fence, checkpoint))

    async def _keep_all(self, checkpoints: Sequence[tuple[int, int, Checkpoint]]) -> Sequence[bool]:
        return await self._db.write(lambda tx: keep_checkpoints(tx, checkpoints))

    async def stage(self, session: int, fence: int, items: LoopPiece) -> bool:
        return await self._db.write(lambda tx: stage(tx, session, fence, items))

    async def page_turns(self, wishes: Sequence[PageWish]) -> list[PageTurn]:
        return await self._db.write(lambda tx: pace.page_turns(tx, wishes), hosts={wish.host for wish in wishes})

    async def robots(self, wishes: Sequence[tuple[str, RobotsWish]]) -> list[RobotsAnswer | None]:
        return await self._db.write(lambda tx: robots.robots(tx, wishes))

    async def finish(self, group: Sequence[Finish], *, per_domain: int | None = None) -> Written:
        children = children_in(group)
        return await self._db.write(
            lambda tx: finish.write_group(tx, group, per_domain),
            ids={"session": children},
            hosts=hosts_needed(group) if children else (),
        )

    async def unfold(self) -> Unfolded:
        part = await self._db.read(lambda tx: unborn.next_part(tx, self._dice))
        return await self._db.write(lambda tx: unborn.unfold(tx, part))

    async def sweep(self) -> Swept:
        for one in await self._db.read(lambda tx: sweep.unfinished(tx, self._dice)):
            swept = await self._db.write(partial(sweep.sweep, one=one))
            if swept.more:
                return swept
        return sweep.NOTHING

    async def reap(self, *, owner: str | None = None) -> Reaped:
        return await self._db.write(lambda tx: reap.reap_leases(tx, owner))

    async def expire_deadlines(self) -> list[int]:
        return await self._db.write(reap.expire_jobs)

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

    async def drop(self, job: int, sessions: Sequence[int]) -> bool:
        return await self._db.write(lambda tx: retention.drop_sessions(tx, job, sessions))

    # --- shared state --------------------------------------------------------------------------------

    async def now(self) -> datetime:
        return await self._db.read(lambda tx: reading.when(tx.now))

    async def changed(self, timeout_s: float, *, since: int | None = None) -> int:
        self._db.require_open()
        return await self._db.pulse.wait(timeout_s, since)

    async def spend(self, tenant: str, spent: int, *, per_s: float, most: float) -> float:
        return await self._db.write(lambda tx: allowance.spend(tx, tenant, spent, per_s=per_s, most=most))

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

    async def unclaimable(self, lanes: Sequence[tuple[int, int]]) -> Unclaimable:
        return await self._db.read(lambda tx: snapshots.unclaimable(tx, lanes))
