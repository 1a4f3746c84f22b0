"""Pages that keep their distance over all workers and dispatchers, and what may go wrong while they wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from shoal.agent.errors import Unexpected
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.policies.policy import Policy, SessionState
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.worker_messages import RateSlot, RateSlotRequest, Work
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.network.navigation_guard import PoliteNavigationGuard, RateSlots, SiteNavigationGuard
from shoal.services.browsers.network.robots import Shared
from shoal.services.browsers.pools.local_pool import LocalPool
from shoal.services.browsers.worker import Worker
from shoal.services.dispatch import dispatcher as module
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatcher import Dispatcher
from shoal.services.dispatch.scheduling import partition_reader
from shoal.services.errors import StoreAway
from tests.cluster_world import World, world
from tests.doubles import FakeBrowser, FakePage
from tests.patience import soon
from tests.unit.dispatch.test_succession import succession
from tests.worker_world import EXTRACT, FakeParts, PlainPolicy

URL = "http://shop.example/"
PAGES = 5
"""That each session opens."""
CRAWL_DELAY_S = 0.2
PATIENT = {"robots": False, "delay_s": 600}
"""A second page waits longer than any test."""


class Walker(PlainPolicy):
    """Opens some pages of one site, one after the other, and notes when each was there."""

    begin: asyncio.Event  # for all of them

    def __init__(self) -> None:
        self.opened: list[float] = []  # by the clock of the event loop

    async def plan(self, state: SessionState) -> Plan:
        await self.begin.wait()
        for n in range(0 if state.loop or state.history else PAGES):
            await state.page.goto(f"{URL}{n}")
            self.opened.append(asyncio.get_running_loop().time())
        return await super().plan(state)


class Slowly:
    """The robots.txt of a site that wants its distance."""

    async def allowed(self, url: str, user_agent: str, shared: Shared) -> bool:
        return True

    async def crawl_delay(self, url: str, user_agent: str, shared: Shared) -> float | None:
        return CRAWL_DELAY_S


class PoliteParts(FakeParts):
    """With the real navigation guard; the policy is one for all sessions of a worker."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.walker = Walker()
        ALL.append(self)

    def policy(self, spec: JobSpec, *, leaf: bool = True) -> Policy:
        return self.walker

    def navigation_guard(self, work: Work, rate_slots: RateSlots) -> SiteNavigationGuard:
        return PoliteNavigationGuard(work.spec.politeness, Slowly(), rate_slots, "test", None)


ALL: list[PoliteParts] = []
SITE = {f"{URL}{n}": FakePage(read={"n": n}) for n in range(PAGES)}


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HOUSEKEEPING_S", 0.05)
    monkeypatch.setattr(partition_reader, "_SHARE", 0)  # partitions are read again at once, however long it took
    monkeypatch.setattr(Walker, "begin", asyncio.Event(), raising=False)
    Walker.begin.set()
    ALL.clear()


async def walking(w: World, **fields: Any) -> int:
    """A job whose session has opened its first page."""
    job = await w.submit(extract=EXTRACT, **fields)
    async with soon(28):
        while not any(parts.walker.opened for parts in ALL):
            await w.store.changed(0.02)
    return job


async def test_pages_keep_a_site_s_distance_over_workers_dispatchers_and_jobs() -> None:
    config = WorkerConfig(slots=1, artifacts_url="memory:")

    async def make(name: str) -> Worker:
        return Worker(f"other-{name}", config, PoliteParts([], lambda: FakeBrowser(SITE), config))

    async with world(SITE, slots=1, dispatch=DispatchConfig(workers=2, prefetch=0), parts=PoliteParts) as w:
        second = Dispatcher(w.store, LocalPool(make, 1), DispatchConfig(name="second", prefetch=0), seed=2)
        await second.start()
        try:
            Walker.begin.clear()
            jobs = [await w.submit(extract=EXTRACT) for _ in range(3)]
            for job in jobs:
                await w.running(job, 1)  # each in the one slot of its worker
            began = asyncio.get_running_loop().time()
            Walker.begin.set()
            done = [await w.final(job) for job in jobs]
        finally:
            await second.stop()

    assert [job.status for job in done] == [Status.COMPLETED] * 3
    by_worker = [parts.walker.opened for parts in ALL]
    assert sorted(map(len, by_worker)) == [PAGES] * 3, "each worker has one of the sessions"
    opened = sorted(moment for some in by_worker for moment in some)
    # On a busy machine a page is opened later than its turn, never before it.
    early = [n for n, moment in enumerate(opened) if moment < began + n * CRAWL_DELAY_S - 0.01]
    assert not early, [moment - began for moment in opened]


async def test_a_job_that_wants_a_minute_between_its_pages_holds_up_no_other() -> None:
    async with world(SITE, parts=PoliteParts) as w:
        slow = await walking(w, politeness={"robots": False, "delay_s": 600})
        quick = await w.submit(extract=EXTRACT, politeness={"robots": False, "delay_s": 0.02})
        assert (await w.final(quick)).status is Status.COMPLETED
        assert (await w.store.job(slow)).counts.running == 1
        await w.store.cancel(slow)


async def test_a_session_that_is_canceled_while_its_page_waits_ends_at_once() -> None:
    async with world(SITE, parts=PoliteParts) as w:
        job = await walking(w, politeness=PATIENT)
        await w.store.cancel(job)
        assert (await w.final(job)).status is Status.CANCELED
        assert [len(parts.walker.opened) for parts in ALL] == [1]


async def test_a_session_whose_time_is_over_while_its_page_waits_ends_at_once() -> None:
    async with world(SITE, parts=PoliteParts) as w:
        job = await walking(w, politeness=PATIENT, deadline_s=5)
        assert (await w.final(job)).status is Status.FAILED


async def test_a_turn_that_the_store_cannot_give_fails_the_session_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(SITE, parts=PoliteParts) as w:

        async def rate_slots(wishes: Sequence[RateSlotRequest]) -> list[RateSlot]:
            raise ValueError("it is broken")

        monkeypatch.setattr(w.store, "rate_slots", rate_slots)
        job = await w.submit(extract=EXTRACT, politeness={"robots": False, "delay_s": 0.1}, max_attempts=1)
        assert (await w.final(job)).status is Status.FAILED
        (row,) = await w.store.results(job)
        assert row.error is not None
        assert row.error.code == Unexpected.code and "no rate slot could be given" in row.error.message


async def test_a_page_gets_its_turn_when_the_store_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(SITE, parts=PoliteParts) as w:
        its_own, away = w.store.rate_slots, [True]

        async def rate_slots(wishes: Sequence[RateSlotRequest]) -> list[RateSlot]:
            if away:
                away.pop()
                raise StoreAway("for a moment")
            return await its_own(wishes)

        monkeypatch.setattr(w.store, "rate_slots", rate_slots)
        job = await w.submit(extract=EXTRACT, politeness={"robots": False, "delay_s": 0.02}, max_attempts=1)
        assert (await w.final(job)).status is Status.COMPLETED
        assert not away


async def test_a_turn_that_could_not_be_told_is_told_with_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker asked once and waits: nobody asks again for it."""
    async with world(SITE, parts=PoliteParts) as w:
        (worker,) = w.pool.workers
        its_own, told = worker.confirm, list[frozenset[int]]()

        async def confirm(committed: int, refused: frozenset[int], rate_slots: Any) -> None:
            told.append(frozenset(rate_slots))
            if len(told) == 1:
                raise ConnectionError("this answer is lost on the way")
            await its_own(committed, refused, rate_slots)

        monkeypatch.setattr(worker, "confirm", confirm)
        polite = {"robots": False, "delay_s": 0.02}
        first = await w.submit(extract=EXTRACT, politeness=polite)
        async with soon(28):
            while not told:
                await w.store.changed(0.02)
        second = await w.submit(extract=EXTRACT, politeness=polite)
        assert [(await w.final(job)).status for job in (first, second)] == [Status.COMPLETED] * 2
        assert told[0] < told[1]


async def test_a_session_that_waits_for_its_turn_goes_on_under_a_successor(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(SITE, parts=PoliteParts) as w:
        asked = asyncio.Event()

        async def rate_slots(wishes: Sequence[RateSlotRequest]) -> list[RateSlot]:
            asked.set()
            await asyncio.Event().wait()  # the dispatcher dies before it has the answer
            raise AssertionError("it is dead")

        with monkeypatch.context() as broken:
            broken.setattr(w.store, "rate_slots", rate_slots)
            job = await w.submit(extract=EXTRACT, politeness={"robots": False, "delay_s": 0.02}, max_attempts=1)
            async with soon(28):
                await asked.wait()
        async with succession(w, DispatchConfig()):
            assert (await w.final(job)).status is Status.COMPLETED
        (row,) = await w.store.results(job)
        assert row.attempts == 1
