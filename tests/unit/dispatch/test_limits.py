"""A job's deadline and budget change while its sessions run, or are spent by several of them at once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import ClassVar

import pytest

from shoal.agent.models.decisions.plan import Plan
from shoal.agent.policies.policy import SessionState
from shoal.agent.types import Usage
from shoal.agent.worker_messages import JobLimits
from shoal.services.browsers.pools.pool import WorkerStats
from shoal.services.dispatch import dispatcher as module
from shoal.services.store.records import JobChanges
from tests.cluster_world import world
from tests.doubles import FakePage
from tests.worker_world import EXTRACT, LOOP, FakeParts, PlainPolicy, shop

URL = "http://shop.example/"


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HOUSEKEEPING_S", 0.05)


async def test_a_longer_deadline_holds_for_what_runs_already() -> None:
    async with world({URL: FakePage(read={"n": 1}, seconds=1.2)}) as w:
        job = await w.submit(extract=EXTRACT, deadline_s=1.0)
        await w.running(job, 1)
        await w.store.change(job, JobChanges(frozenset({"deadline_s"}), deadline_s=60.0))

        assert (await w.final(job)).counts.completed == 1
        assert len(w.browsers[0].visits) == 1


class Spending(PlainPolicy):
    """Spends 100 tokens at a time, for as long as the job's budget lasts."""

    scenes: ClassVar[list[SessionState]] = []

    async def plan(self, state: SessionState) -> Plan:
        if state.loop is not None:
            return await super().plan(state)
        self.scenes.append(state)
        limit = state.spec.budget.job_tokens
        while limit is None or state.job_tokens + state.usage.prompt_tokens < limit:
            state.usage += Usage(1, 100, 0)
            await asyncio.sleep(0.02)
            limit = state.spec.budget.job_tokens
        return Plan(thoughts="spent", user_goal_achieved=True)


@pytest.fixture
def spending(monkeypatch: pytest.MonkeyPatch) -> type[Spending]:
    monkeypatch.setattr(Spending, "scenes", [])
    monkeypatch.setattr(FakeParts, "policy", lambda parts, spec, *, leaf=True: Spending())
    return Spending


async def test_sessions_that_run_beside_each_other_share_their_job_s_budget(spending: type[Spending]) -> None:
    async with world(shop(4), slots=4) as w:
        job = await w.final(await w.submit(loop=LOOP, extract=EXTRACT, budget={"job_tokens": 20_000}))

        assert len(spending.scenes) == 4
        assert 20_000 <= job.usage.prompt_tokens < 30_000, "not four times as much"


async def test_a_lower_budget_reaches_what_runs(spending: type[Spending]) -> None:
    async with world(shop(1)) as w:
        job = await w.submit(loop=LOOP, extract=EXTRACT, budget={"job_tokens": 1_000_000})
        await w.until(job, lambda row: bool(spending.scenes and spending.scenes[0].usage.prompt_tokens > 500))
        await w.store.change(job, JobChanges(frozenset({"job_tokens"}), job_tokens=1000))

        assert (await w.final(job)).usage.prompt_tokens < 10_000


class Planning(PlainPolicy):
    """Its root spends 600 tokens and ends once that is `known`; each item notes what it is told of."""

    known: ClassVar[asyncio.Event]
    told: ClassVar[asyncio.Event]
    heard: ClassVar[list[int]] = []

    async def plan(self, state: SessionState) -> Plan:
        if state.loop is not None and state.children is None:
            state.usage += Usage(1, 600, 0)
            await self.known.wait()
        elif state.loop is None:
            self.told.clear()
            await self.told.wait()
            self.heard.append(state.job_tokens)
        return await super().plan(state)


async def test_what_is_over_is_not_counted_a_second_time_as_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeParts, "policy", lambda parts, spec, *, leaf=True: Planning())
    monkeypatch.setattr(Planning, "known", asyncio.Event(), raising=False)
    monkeypatch.setattr(Planning, "told", asyncio.Event(), raising=False)
    monkeypatch.setattr(Planning, "heard", [])
    async with world(shop(1)) as w:
        (worker,) = w.pool.workers
        its_stats, its_limit = worker.stats, worker.limit
        last: list[WorkerStats] = []

        async def stats() -> WorkerStats:
            """It goes on saying what it said while the root ran."""
            now = await its_stats()
            if now.spending and not last:
                last.append(now)
                Planning.known.set()
            return last[0] if last else now

        async def limit(limits: Mapping[int, JobLimits]) -> None:
            await its_limit(limits)
            Planning.told.set()

        monkeypatch.setattr(worker, "stats", stats)
        monkeypatch.setattr(worker, "limit", limit)
        job = await w.final(await w.submit(loop=LOOP, extract=EXTRACT, budget={"job_tokens": 1000}))

        assert job.counts.completed == 1
        assert set(Planning.heard) == {600}
