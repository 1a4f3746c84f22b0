"""A store with a clock that tests set, and short words for what dispatchers and callers do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from shoal.agent.compressed_items import PART, LoopPiece, compress_items
from shoal.agent.error_info import ErrorInfo
from shoal.agent.sessions.loops.loop_items import FIRST_ITEMS
from shoal.agent.spec import JobSpec
from shoal.agent.status import FINAL, Status
from shoal.agent.types import Checkpoint, FanOut, LoopItem, Outcome, Record
from shoal.services.store.records import Claimed, ClaimRequest, CommitResult, Finish, JobRow, NewJob, SessionRow
from shoal.services.store.store import Store, open_store

ERROR = ErrorInfo("Broken", "broken", "it broke", retryable=False)
DONE = Outcome(Status.COMPLETED, records=(Record({"n": 1}),))
BROKEN = Outcome(Status.FAILED, error=ERROR)


class Clock:
    """Seconds since the epoch, as the test says."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def spec(**fields: Any) -> JobSpec:
    """A small job spec."""
    return JobSpec.model_validate({"url": "https://shop.example/", "goal": "read it"} | fields)


def links(n: int, hosts: int = 1) -> tuple[LoopItem, ...]:
    """`n` loop items that are links, on some hosts in turn."""
    return tuple(LoopItem(i, f"https://h{i % hosts}.example/{i}", is_link=True) for i in range(n))


def loop(
    items: Sequence[LoopItem], *, stop: bool = False, storage_state: Any = None, url: str = "https://shop.example/list"
) -> Outcome:
    """The outcome of a session that fans out."""
    checkpoint = Checkpoint(url=url, storage_state=storage_state)
    return Outcome(Status.WAITING, fan_out=FanOut(tuple(items), checkpoint, "stop" if stop else "continue"))


async def handed_on(store: Store, report: Finish, *, first: int = FIRST_ITEMS, part: int = PART) -> Finish:
    """A report of which the items of a long loop have gone to the store before, as a worker sends them."""
    loop = report.outcome.fan_out
    if loop is None or len(loop.items) <= first:
        return report
    later = loop.items[first:]
    await store.stage(report.session, report.fence, LoopPiece(first, tuple(compress_items(later, part))))
    short = replace(loop, items=loop.items[:first], later=len(later))
    return replace(report, outcome=replace(report.outcome, fan_out=short))


@dataclass
class World:
    """One database, seen through a store."""

    url: str
    store: Store
    clock: Clock
    others: list[Store] = field(default_factory=list)
    first: int = FIRST_ITEMS  # children of a loop that are stored at once
    part: int = PART  # of the others, in one transaction

    async def another(self) -> Store:
        """A second store on the same database; in memory there is only the one."""
        if self.url == "sqlite://":
            return self.store
        self.others.append(await open_store(self.url, clock=self.clock))
        return self.others[-1]

    async def submit(self, tenant: str = "acme", **fields: Any) -> int:
        """Submits one job."""
        (done,) = await self.store.submit([NewJob(tenant, spec(**fields), "shop.example")])
        return done.job

    async def claim(
        self, n: int = 1_000, *, owner: str = "w1", lease_s: float = 60.0, job: int | None = None
    ) -> list[Claimed]:
        """Claims up to `n` sessions of every partition."""
        partitions = await self.store.partitions()
        takes = [
            ClaimRequest(partition.job, partition.domain, partition.cursor, n)
            for partition in partitions
            if job in (None, partition.job)
        ]
        return list((await self.store.claim(owner, takes, lease_s=lease_s)).sessions)

    async def claim_one(self) -> Claimed:
        """Claims the one session that is ready."""
        (claimed,) = await self.claim()
        return claimed

    async def finish(self, *ends: tuple[Claimed, Outcome], ready_in_s: float = 0.0) -> CommitResult:
        """Reports outcomes; stores what a long loop leaves for later."""
        reports = [Finish(held.work.session, held.work.fence, outcome, ready_in_s) for held, outcome in ends]
        written = await self.report(*reports)
        while written.pending_children and (await self.store.materialize()).more:
            pass
        return written

    async def report(self, *reports: Finish) -> CommitResult:
        """Reports outcomes as workers do."""
        return await self.store.finish(
            [await handed_on(self.store, one, first=self.first, part=self.part) for one in reports]
        )

    async def open_loop(self, n: int, *, hosts: int = 1, stop: bool = False, **fields: Any) -> tuple[int, int]:
        """A job whose root session has fanned out into `n` children; gives the job and the root."""
        job = await self.submit(**fields)
        (root,) = await self.claim(job=job)
        await self.finish((root, loop(links(n, hosts), stop=stop)))
        return job, root.work.session

    async def run_out(self, outcome: Outcome = DONE) -> None:
        """Ends everything that is ready, and what becomes ready by it or by slices, with the same outcome."""
        while (held := await self.claim()) or (await self.store.run_bulk_operations()).more:
            await self.finish(*((one, outcome) for one in held))

    async def retried(self) -> set[int]:
        """Jobs of which sessions are still to be reopened."""
        return await self.store._db.read(lambda tx: {row.id for row in tx.rows("retrying")})

    async def status(self, session: int) -> Status:
        """The status of a session."""
        return (await self.store.session(session)).row.status

    async def check_sums(self, job: int, pending_children: Mapping[int, int] | None = None) -> JobRow:
        """Makes sure that the job's counters are what its sessions say; gives the job.

        `unborn`: how many children of each parent are not stored yet.
        """
        pending_children = pending_children or {}
        row = await self.store.job(job)
        sessions, more = await self.store.sessions(job, limit=10_000)
        assert more is None
        items = [session for session in sessions if session.children == 0]
        assert row.counts.expected == len(items) + sum(pending_children.values())
        for status in FINAL:
            assert getattr(row.counts, status.value) == sum(item.status is status for item in items), status
        assert row.counts.running == sum(item.status is Status.RUNNING for item in items)
        is_retried = job in await self.retried()
        families: dict[int | None, list[SessionRow]] = {}
        for session in sessions:
            families.setdefault(session.parent, []).append(session)
        for session in sessions:
            children = families.get(session.id, [])
            later = pending_children.get(session.id, 0)
            assert session.children == len(children) + later
            if session.status is Status.WAITING:
                assert session.pending_children == sum(child.status not in FINAL for child in children) + later
                assert session.pending_children or is_retried
        if row.status in FINAL:
            assert all(session.status in FINAL for session in sessions)
            assert row.counts.final == row.counts.expected
        return row


@asynccontextmanager
async def world(url: str) -> AsyncIterator[World]:
    """A world on an empty database."""
    clock = Clock()
    made = World(url, await open_store(url, clock=clock), clock)
    try:
        yield made
    finally:
        for store in (made.store, *made.others):
            await store.close()
