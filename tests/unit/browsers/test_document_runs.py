"""Runs of documents in a worker: beside its slots, as many at once as their site has places."""

from __future__ import annotations

import asyncio

import pytest

from shoal.agent.browser import ContextOptions
from shoal.agent.errors import ServerBusy
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import LoopItem
from shoal.agent.worker_messages import Work
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.session_parts.browser_owner import Slots
from shoal.services.browsers.worker import DocumentRuns, Worker
from tests.doubles import FakeBrowser, FakePage
from tests.doubles.browser_double import FakeContext
from tests.patience import soon
from tests.worker_world import EXTRACT, FakeParts

SPEC = JobSpec.model_validate({"url": "http://shop.example/", "extract": EXTRACT})


def item(n: int, width: int, job: int = 1) -> Work:
    link = LoopItem(n, f"http://shop.example/{n}", is_link=True)
    return Work(n, 1, job, "t", 1, 1, SPEC, link, None, None, None, width=width)


def test_of_each_job_as_many_are_under_way_as_its_newest_claim_says() -> None:
    runs = DocumentRuns()
    for n in range(6):
        runs.put(item(n, width=2))
    runs.put(item(10, width=1, job=2))
    assert [work.session for work in runs.begin()] == [0, 1, 10]
    assert list(runs.begin()) == []
    runs.ended(1)
    assert [work.session for work in runs.begin()] == [2]
    runs.put(item(6, width=3))
    assert [work.session for work in runs.begin()] == [3]
    assert [work.session for work in runs.remove({4, 99})] == [4]
    assert (runs.sessions(1), len(runs), runs.under_way) == ([5, 6], 2, 4)


async def test_a_session_that_waits_for_a_slot_lets_others_of_its_run_to_the_site_and_comes_before_the_next() -> None:
    runs, slots, freed = DocumentRuns(), Slots(1), list[int]()
    for n in range(3):
        runs.put(item(n, width=1))
    assert slots.take()
    assert [work.session for work in runs.begin()] == [0]
    first = asyncio.ensure_future(runs.aside(1, slots, lambda: freed.extend(work.session for work in runs.begin())))
    await asyncio.sleep(0)
    assert freed == [1], "its place at the site is another's while it waits"
    slots.give_back()
    await asyncio.sleep(0)
    assert not first.done(), "it has its slot, and the site has one place"
    runs.ended(1)
    assert list(runs.begin()) == [], "the place is for the one that has waited"
    async with soon(18):
        await first
    assert (slots.busy, runs.under_way, len(runs)) == (1, 1, 1)
    runs.ended(1)
    assert [work.session for work in runs.begin()] == [2]


@pytest.mark.parametrize("has_slot", [False, True])
async def test_a_session_that_is_stopped_while_it_waits_leaves_its_place_and_its_slot(has_slot: bool) -> None:
    runs, slots = DocumentRuns(), Slots(1)
    for n in range(3):
        runs.put(item(n, width=1))
    assert slots.take() and [work.session for work in runs.begin()] == [0]
    waiting = asyncio.ensure_future(runs.aside(1, slots, lambda: None))
    await asyncio.sleep(0)
    assert [work.session for work in runs.begin()] == [1]
    if has_slot:
        slots.give_back()
        await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    runs.ended(1)  # as the end of each session says
    assert slots.busy == (not has_slot)
    assert list(runs.begin()) == [], "session 1 has the one place"
    runs.ended(1)
    assert [work.session for work in runs.begin()] == [2]


async def test_a_slot_goes_to_who_waits_in_line_and_none_is_lost_with_a_waiter_that_is_stopped() -> None:
    slots = Slots(1)
    assert slots.take() and not slots.take()
    first, second = asyncio.ensure_future(slots.wait()), asyncio.ensure_future(slots.wait())
    await asyncio.sleep(0)
    slots.give_back()
    first.cancel()  # it was given the slot a moment ago
    await asyncio.gather(first, return_exceptions=True)
    async with soon(18):
        await second
    assert slots.busy == 1 and not slots.take()
    slots.give_back()
    assert slots.busy == 0


class CountedBrowser(FakeBrowser):
    """Notes how many contexts are open at once while each stays for a moment."""

    async def new_context(self, options: ContextOptions = ContextOptions()) -> FakeContext:
        context = await super().new_context(options)
        await asyncio.sleep(0)
        return context


async def outcomes(worker: Worker, n: int) -> dict[int, Status]:
    ended: dict[int, Status] = {}
    seen = 0
    async with soon(18):
        while len(ended) < n:
            for report in (await worker.pull(seen, 0)).reports():
                seen = report.serial
                if report.outcome is not None:
                    ended[report.session] = report.outcome.status
    return ended


async def test_items_whose_documents_are_not_enough_wait_for_a_slot() -> None:
    pages = {f"http://shop.example/{n}": FakePage(read={"n": n}, seconds=0.01) for n in range(12)}
    config = WorkerConfig(slots=2, artifacts_url="memory:")
    browsers: list[FakeBrowser] = []
    worker = Worker("w", config, FakeParts(browsers, lambda: CountedBrowser(pages), config))
    await worker.submit([item(n, width=8) for n in range(12)])
    assert set((await outcomes(worker, 12)).values()) == {Status.COMPLETED}
    assert browsers[0].most_open == 2
    stats = await worker.stats()
    assert (stats.busy, stats.waiting, dict(stats.held)) == (0, 0, {})
    await worker.drain(0)
    await worker.close()


async def test_a_site_that_wants_to_be_left_alone_ends_the_run() -> None:
    pages = {f"http://shop.example/{n}": FakePage(read={"n": n}, seconds=300) for n in range(40)}
    pages["http://shop.example/0"] = FakePage(raises=ServerBusy("429", status=429))
    config = WorkerConfig(slots=2, artifacts_url="memory:")
    worker = Worker("w", config, FakeParts([], lambda: FakeBrowser(pages), config))
    await worker.submit([item(n, width=2) for n in range(40)])
    ended = await outcomes(worker, 39)
    assert ended.pop(0) is Status.FAILED
    assert set(ended.values()) == {Status.CANCELED}, "the site was not asked for any of them"
    assert len((await worker.stats()).held) == 1
    await worker.drain(0)
    await worker.close()


@pytest.mark.parametrize("width", [1, 5])
async def test_a_worker_that_ends_gives_back_what_waits_in_runs(width: int) -> None:
    pages = {f"http://shop.example/{n}": FakePage(read={"n": n}, seconds=300) for n in range(10)}
    config = WorkerConfig(slots=1, artifacts_url="memory:")
    worker = Worker("w", config, FakeParts([], lambda: FakeBrowser(pages), config))
    await worker.submit([item(n, width=width) for n in range(10)])
    await worker.drain(0)
    assert set((await outcomes(worker, 10)).values()) == {Status.CANCELED}
    await worker.close()
