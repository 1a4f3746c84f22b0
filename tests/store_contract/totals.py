"""Ended items by tenant: from totals that are written when a job ends, and always what a recount gives."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy import text

from shoal.agent.status import FINAL, Status
from shoal.agent.types import Checkpoint, Outcome
from shoal.services.errors import WrongState
from shoal.services.store.database.tables import total
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs import ending
from shoal.services.store.records import Claimed, JobFilter, JobRow
from tests.store_world import BROKEN, DONE, World, links, loop

S = Status
DAY_S = 86_400.0
STEPS = 250
SEEDS = int(os.environ.get("TEST_SEEDS", "1"))  # `make test-fuzz` takes more

Ended = dict[tuple[str, Status], int]


async def counted(w: World) -> Ended:
    """Ended items by tenant and status, as the store tells them."""
    return {key: n for key, n in (await w.store.counts_by_status()).items() if key[1] in FINAL}


async def recounted(w: World) -> Ended:
    """The same from the counters of every job that there is."""
    sums: Counter[tuple[str, Status]] = Counter()
    for row in await w.store.jobs(JobFilter(limit=10_000)):
        for status in FINAL:
            sums[row.tenant, status] += getattr(row.counts, status.value)
    return {key: n for key, n in sums.items() if n}


async def stored_totals(w: World) -> Ended:
    """Return what the totals hold, of jobs that are over."""

    def work(tx: Tx) -> Ended:
        rows = tx.conn.execute(total.select()).all()
        return {(row.tenant, status): n for row in rows for status in FINAL if (n := getattr(row, status.value))}

    return await w.store._db.read(work)


class Walk:
    """Steps of callers, workers and housekeepers, drawn by chance; what was really done is kept in `done`."""

    def __init__(self, w: World, dice: random.Random) -> None:
        self.w, self.dice = w, dice
        self.done: Counter[str] = Counter()
        self.steps: dict[str, Callable[[], Awaitable[bool]]] = {
            "submit": self.submit,
            "open a loop": self.open_loop,
            "finish": self.finish,
            "finish twice": self.finish_twice,
            "lose": self.lose,
            "cancel": self.cancel,
            "pause": self.pause,
            "resume": self.resume,
            "retry": self.retry,
            "settle as done": lambda: self.settle("done"),
            "settle by another try": lambda: self.settle("retry"),
            "be late": self.be_late,
            "sweep": self.sweep,
            "delete": self.delete,
            "archive": self.archive,
        }

    async def step(self) -> None:
        name = self.dice.choice(list(self.steps))
        try:
            self.done[name] += await self.steps[name]()
        except WrongState:
            self.done[f"{name}: refused"] += 1

    def fields(self) -> dict[str, Any]:
        return {
            "tenant": self.dice.choice(("acme", "other")),
            "deadline_s": self.dice.choice((None, None, 100.0)),
            "artifacts": {"retention_days": self.dice.choice((None, 1))},
        }

    async def some_job(self, *statuses: Status) -> JobRow | None:
        found = await self.w.store.jobs(JobFilter(statuses=statuses, limit=10_000))
        return self.dice.choice(found) if found else None

    async def some_held(self) -> list[Claimed]:
        partitions = await self.w.store.partitions()
        return await self.w.claim(2, job=self.dice.choice(partitions).job) if partitions else []

    async def submit(self) -> bool:
        return bool(await self.w.submit(**self.fields()))

    async def open_loop(self) -> bool:
        stop = self.dice.random() < 0.3
        return bool(await self.w.open_loop(self.dice.randint(2, 5), stop=stop, **self.fields()))

    async def finish(self) -> bool:
        ends = (DONE, DONE, BROKEN, Outcome(S.TERMINATED), Outcome(S.UNSURE), Outcome(S.QUEUED), loop(links(2)))
        held = await self.some_held()
        await self.w.finish(*((one, self.dice.choice(ends)) for one in held))
        return bool(held)

    async def finish_twice(self) -> bool:
        held = await self.some_held()
        for outcome in (DONE, BROKEN):
            await self.w.finish(*((one, outcome) for one in held))
        return bool(held)

    async def lose(self) -> bool:
        """Their worker dies, with some of them inside an action that must not be repeated."""
        held = await self.some_held()
        for one in held[:1]:
            mark = Checkpoint(pending_action="click('pay')")
            assert await self.w.store.checkpoint(one.work.session, one.work.fence, mark)
        await self.w.store.expire_leases(owner="w1")
        return bool(held)

    async def cancel(self) -> bool:
        job = await self.some_job(S.QUEUED, S.RUNNING, S.PAUSED)
        return job is not None and bool(await self.w.store.cancel(job.id))

    async def pause(self) -> bool:
        job = await self.some_job(S.QUEUED, S.RUNNING)
        return job is not None and bool(await self.w.store.pause(job.id))

    async def resume(self) -> bool:
        job = await self.some_job(S.PAUSED)
        return job is not None and bool(await self.w.store.resume(job.id))

    async def retry(self) -> bool:
        job = await self.some_job(S.FAILED, S.TERMINATED, S.CANCELED, S.COMPLETED)
        return job is not None and bool(await self.w.store.retry(job.id))

    async def settle(self, how: Any) -> bool:
        jobs = await self.w.store.jobs(JobFilter(limit=10_000))
        unsure = [row for job in jobs for row in (await self.w.store.sessions(job.id, statuses=[S.UNSURE]))[0]]
        return bool(unsure) and bool(await self.w.store.resolve_unsure(self.dice.choice(unsure).id, how))

    async def be_late(self) -> bool:
        self.w.clock.now += 60.0
        return bool(await self.w.store.expire_deadlines())

    async def sweep(self) -> bool:
        return (await self.w.store.run_bulk_operations()).changed > 0

    async def delete(self) -> bool:
        job = await self.some_job(*FINAL)
        if job is None:
            return False
        await self.w.store.delete(job.id)
        return True

    async def archive(self) -> bool:
        """A slice of a job whose time is over is dropped."""
        self.w.clock.now += DAY_S / 2
        expired = await self.w.store.expired(10.0, limit=1)
        for job in expired:
            await self.w.store.archived(job, "archive/x")
            await self.w.store.drop(job, (await self.w.store.droppable(job, 2)).sessions)
        return bool(expired)


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_what_has_ended_is_what_a_recount_gives_whatever_happens(
    w: World, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "SLICE", 3)
    w.store._dice = random.Random(seed)
    walk = Walk(w, random.Random(seed))
    for _ in range(STEPS):
        await walk.step()
        assert await counted(w) == await recounted(w), walk.done
    assert {name for name in walk.steps if not walk.done[name]} == set(), "a step that never did anything"


async def test_totals_hold_what_is_over_and_nothing_of_what_goes_on(w: World) -> None:
    job, _ = await w.open_loop(3)
    await w.finish(*zip(await w.claim(), (DONE, BROKEN, DONE), strict=True))
    assert await counted(w) == {("acme", S.COMPLETED): 2, ("acme", S.FAILED): 1}
    assert await stored_totals(w) == {}
    await w.run_out()
    assert await stored_totals(w) == await counted(w) == {("acme", S.COMPLETED): 2, ("acme", S.FAILED): 1}
    await w.store.retry(job)
    assert await stored_totals(w) == {} and await counted(w) == {("acme", S.COMPLETED): 2}
    await w.run_out()
    assert await stored_totals(w) == await counted(w) == {("acme", S.COMPLETED): 3}


async def test_what_an_archived_job_has_ended_counts_until_the_job_is_deleted(w: World) -> None:
    job, other = await w.submit(), await w.submit(tenant="other")
    await w.run_out()
    await w.store.archived(job, "archive/x")
    assert not await w.store.drop(job, (await w.store.droppable(job)).sessions)
    assert await counted(w) == {("acme", S.COMPLETED): 1, ("other", S.COMPLETED): 1}
    await w.store.delete(job)
    assert await counted(w) == await stored_totals(w) == {("other", S.COMPLETED): 1}
    assert other


async def test_what_an_older_program_has_ended_counts_too(w: World) -> None:
    """It writes neither totals nor the mark in the job's row, and may run beside this one until it is replaced."""
    first, second = await w.submit(), await w.submit()
    await w.run_out(BROKEN)

    def as_older_programs_do(tx: Tx) -> None:
        tx.conn.execute(text("update job set in_totals = false"))
        tx.conn.execute(text("delete from total"))

    await w.store._db.write(as_older_programs_do)
    assert await counted(w) == {("acme", S.FAILED): 2}
    await w.store.delete(first)
    assert await counted(w) == {("acme", S.FAILED): 1}
    await w.store.retry(second)
    await w.run_out()
    assert await stored_totals(w) == await counted(w) == {("acme", S.COMPLETED): 1}
