"""The dispatcher with real store, workers and sessions; only the browser is a double."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from shoal.agent.errors import HostUnreachable, ServerBusy
from shoal.agent.status import Status
from shoal.services.browsers.pools.pool import WorkerStats
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.scheduling.partition_reader import PartitionReader
from tests.cluster_world import world
from tests.doubles import FakeBrowser, FakePage
from tests.worker_world import EXTRACT, LOOP, form, shop


@pytest.fixture(params=["all partitions", "news only"], autouse=True)
def reading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing may depend on all partitions being read again: of a hundred thousand they are but seldom."""
    if request.param == "all partitions":
        return
    read_all = PartitionReader._read_all

    async def once(reader: PartitionReader) -> None:
        await read_all(reader)
        reader._all_after = math.inf

    monkeypatch.setattr(PartitionReader, "_read_all", once)


async def test_a_loop_is_fanned_out_and_each_item_gives_its_record_in_order() -> None:
    async with world(shop(30)) as w:
        job = await w.final(await w.submit(loop=LOOP, extract=EXTRACT))

        rows = await w.store.results(job.id, limit=100)
        assert job.status is Status.COMPLETED
        assert (job.counts.expected, job.counts.completed) == (30, 30)
        assert [row.record.value["n"] for row in rows if row.record] == list(range(30))
        assert all(row.screenshot for row in rows)


async def test_slots_are_used_beside_each_other_and_never_more_than_there_are() -> None:
    async with world(shop(20, seconds=0.02), slots=4) as w:
        await w.final(await w.submit(loop=LOOP, extract=EXTRACT))

        assert w.browsers[0].most_open == 4


async def test_the_domain_limit_holds_over_all_workers() -> None:
    async with world(shop(20, seconds=0.02), slots=4, dispatch=DispatchConfig(workers=3, per_domain=2)) as w:
        await w.final(await w.submit(loop=LOOP, extract=EXTRACT))

        assert sum(browser.most_open for browser in w.browsers) <= 2 * len(w.browsers)
        assert max(browser.most_open for browser in w.browsers) <= 2


async def test_no_worker_queues_what_another_has_slots_for() -> None:
    """A domain with as many places as there are slots: a queue at one worker would leave the other idle."""
    async with world(shop(8, seconds=0.2), slots=4, dispatch=DispatchConfig(workers=2, per_domain=8)) as w:
        await w.final(await w.submit(loop=LOOP, extract=EXTRACT))

        assert [browser.most_open for browser in w.browsers] == [4, 4]


async def test_nested_loops_give_the_leaves_in_order() -> None:
    pages = {"http://shop.example/": FakePage(read=["http://shop.example/a", "http://shop.example/b"])}
    for name in "ab":
        links = [f"http://shop.example/{name}/{i}" for i in range(3)]
        pages[f"http://shop.example/{name}"] = FakePage(read=links)
        pages |= {link: FakePage(read={"n": i + 10 * "ab".index(name)}) for i, link in enumerate(links)}
    async with world(pages) as w:
        job = await w.final(await w.submit(loop=LOOP | {"loop": LOOP}, extract=EXTRACT))

        assert [row.record.value["n"] for row in await w.store.results(job.id) if row.record] == [0, 1, 2, 10, 11, 12]
        assert (job.counts.expected, job.counts.completed) == (6, 6)


async def test_an_unreachable_page_is_tried_again_and_then_reported_with_its_reason() -> None:
    pages = shop(3)
    pages["http://shop.example/1"] = FakePage(raises=HostUnreachable("no route"))
    async with world(pages) as w:
        job = await w.final(await w.submit(loop=LOOP, extract=EXTRACT, max_attempts=2))

        failed = (await w.store.results(job.id))[1]
        assert job.status is Status.COMPLETED
        assert (job.counts.completed, job.counts.failed) == (2, 1)
        assert failed.error is not None
        assert (failed.error.code, failed.attempts, failed.record) == ("host_unreachable", 2, None)


async def test_a_loop_of_failures_fails() -> None:
    pages = {"http://shop.example/": FakePage(read=["http://shop.example/gone"])}
    pages["http://shop.example/gone"] = FakePage(status=404)
    async with world(pages) as w:
        job = await w.final(await w.submit(loop=LOOP, extract=EXTRACT))

        assert job.status is Status.FAILED
        assert job.error is not None
        assert job.error.code == "loop_failed"


async def test_an_empty_loop_is_an_error() -> None:
    async with world({"http://shop.example/": FakePage(read=[])}) as w:
        job = await w.final(await w.submit(loop=LOOP, extract=EXTRACT))

        assert job.error is not None
        assert job.error.code == "empty_loop"


async def test_a_record_that_does_not_fit_the_schema_is_refused() -> None:
    async with world({"http://shop.example/": FakePage(read={"n": "many"})}) as w:
        job = await w.final(await w.submit(extract=EXTRACT))

        assert job.status is Status.FAILED
        assert job.error is not None
        assert job.error.code == "record_invalid"


async def test_a_lost_worker_s_sessions_go_on_elsewhere_and_nothing_is_recorded_twice() -> None:
    async with world(shop(40, seconds=0.05), slots=4, dispatch=DispatchConfig(workers=2)) as w:
        job = await w.submit(loop=LOOP, extract=EXTRACT)
        await w.until(job, lambda row: row.counts.completed >= 5)
        await w.pool.workers[0].lose()

        done = await w.final(job)
        rows = await w.store.results(job, limit=100)
        assert (done.counts.completed, done.counts.expected) == (40, 40)
        assert [row.record.value["n"] for row in rows if row.record] == list(range(40))
        assert len(w.dispatcher.workers) == 2


async def test_a_worker_whose_node_is_about_to_end_finishes_what_it_runs_and_another_takes_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with world(shop(40, seconds=0.3), slots=4, dispatch=DispatchConfig(workers=1)) as w:
        job = await w.submit(loop=LOOP, extract=EXTRACT)
        await w.until(job, lambda row: row.counts.completed >= 3)
        (leaving,) = w.pool.workers
        its_own = leaving.stats

        async def stats() -> WorkerStats:
            return replace(await its_own(), ends_in_s=60.0)

        monkeypatch.setattr(leaving, "stats", stats)
        done = await w.final(job)
        rows = await w.store.results(job, limit=100)
        assert (done.counts.completed, done.counts.expected) == (40, 40)
        assert {row.attempts for row in rows} == {1}, "nothing was cut off"
        assert leaving.name not in w.dispatcher.workers
        assert len(w.dispatcher.workers) == 1


async def test_a_dead_browser_is_replaced_and_its_sessions_are_retried() -> None:
    async with world(shop(12, seconds=0.05), slots=4) as w:
        job = await w.submit(loop=LOOP, extract=EXTRACT)
        await w.until(job, lambda row: row.counts.completed >= 2)
        w.browsers[0].kill()

        done = await w.final(job)
        assert done.counts.completed == 12
        assert len(w.browsers) == 2


async def test_cancel_stops_what_runs_and_what_waits() -> None:
    async with world(shop(30, seconds=5), slots=2) as w:
        job = await w.submit(loop=LOOP, extract=EXTRACT)
        await w.running(job, 2)
        await w.store.cancel(job)

        done = await w.until(job, lambda row: row.counts.running == 0 and row.status is Status.CANCELED)
        assert done.counts.canceled == 30
        assert w.browsers[0].open == 0


async def test_a_paused_job_goes_on_where_it_was() -> None:
    async with world(shop(20, seconds=0.2), slots=2) as w:
        job = await w.submit(loop=LOOP, extract=EXTRACT)
        await w.until(job, lambda row: row.counts.completed >= 3)
        await w.store.pause(job)
        paused = await w.until(job, lambda row: row.counts.running == 0)
        assert paused.status is Status.PAUSED
        assert paused.counts.completed < 20

        await w.store.resume(job)
        assert (await w.final(job)).counts.completed == 20


async def test_a_busy_site_gets_its_pause() -> None:
    answers = {"asked": 0}

    def busy_once() -> FakeBrowser:
        browser = FakeBrowser({"http://shop.example/": FakePage(raises=ServerBusy("429", retry_after_s=0.2))})
        answers["asked"] += 1
        return browser

    async with world({}, make=busy_once) as w:
        job = await w.submit(extract=EXTRACT, max_attempts=2)
        await w.until(job, lambda row: bool(w.browsers and w.browsers[0].visits))
        w.browsers[0].pages["http://shop.example/"] = FakePage(read={"n": 1})

        done = await w.final(job)
        assert done.status is Status.COMPLETED
        assert len(w.browsers[0].visits) == 2


async def test_a_worker_that_dies_within_an_action_that_must_not_be_repeated_leaves_it_unsure() -> None:
    async with world(form(act_seconds=30)) as w:
        job = await w.submit(data={"a": 1}, extract=EXTRACT, repeatable=False)
        await w.until(job, lambda row: bool(w.browsers and w.browsers[0].performed))
        await w.pool.workers[0].lose()

        done = await w.final(job)
        assert done.status is Status.UNSURE
        assert sum(len(browser.performed) for browser in w.browsers) == 1


async def test_the_same_death_repeats_an_action_that_may_be_repeated() -> None:
    pages = form(act_seconds=30)
    async with world(pages) as w:
        job = await w.submit(data={"a": 1}, extract=EXTRACT, repeatable=True)
        await w.until(job, lambda row: bool(w.browsers and w.browsers[0].performed))
        pages |= form()
        await w.pool.workers[0].lose()

        assert (await w.final(job)).status is Status.COMPLETED
        assert sum(len(browser.performed) for browser in w.browsers) == 2


async def test_an_item_that_fails_by_a_bug_after_such_an_action_does_not_repeat_it() -> None:
    failures = [RuntimeError("no rule foresaw this")]

    def read(*_: object) -> dict[str, int]:
        if failures:
            raise failures.pop()
        return {"n": 1}

    front, thanks = "http://shop.example/front", "http://shop.example/thanks"
    pages = form() | {front: FakePage(read=["http://shop.example/"]), thanks: FakePage(read=read)}
    async with world(pages) as w:
        # The item begins with its parent's storage state, which is a checkpoint too: an older one than its own.
        job = await w.final(await w.submit(url=front, loop=LOOP, data={"a": 1}, extract=EXTRACT, repeatable=False))

        (row,) = await w.store.results(job.id)
        assert (row.status, row.attempts) == (Status.COMPLETED, 2), row.error
        assert sum(len(browser.performed) for browser in w.browsers) == 1


async def test_two_tenants_share_the_slots() -> None:
    async with world(shop(60, seconds=0.05), slots=2) as w:
        big = await w.submit(tenant="big", loop=LOOP, extract=EXTRACT)
        await w.running(big, 2)
        small = await w.submit(tenant="small", extract=EXTRACT, url="http://shop.example/3")
        await w.final(small)

        assert (await w.store.job(big)).status is Status.RUNNING
        await w.final(big)
