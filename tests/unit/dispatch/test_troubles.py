"""Troubles between dispatcher, store and workers that must cost neither a session nor its worker's place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.compressed_items import LoopPiece
from shoal.agent.errors import PageCrashed
from shoal.agent.fault_table import PAUSE
from shoal.agent.status import Status
from shoal.agent.types import Checkpoint
from shoal.services.browsers.reports.report_batch import ReportBatch
from shoal.services.dispatch import dispatcher as module
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.errors import StoreAway
from shoal.services.store.records import CommitResult, ExpiredLeases, Finish, Renewal
from tests.cluster_world import World, world
from tests.doubles import FakePage
from tests.patience import soon
from tests.worker_world import EXTRACT, LOOP, form, shop

URL = "http://shop.example/"
ONE = {URL: FakePage(read={"n": 1})}


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HOUSEKEEPING_S", 0.05)


async def begun(w: World, **fields: Any) -> int:
    """A job whose page is being loaded."""
    job = await w.submit(extract=EXTRACT, **fields)
    await w.until(job, lambda row: bool(w.browsers and w.browsers[0].visits))
    return job


async def counted(w: World, metric: str) -> float:
    """Return what the dispatcher has counted, as soon as its snapshot says it."""
    async with soon(28):
        while True:
            for snapshot, _ in (await w.store.states("dispatcher/")).values():
                counts = {row[0]: row[-1] for row in snapshot["figures"]["counts"]}
                if metric in counts:
                    return float(counts[metric])
            await w.store.changed(0.05)


async def test_a_worker_that_dies_while_the_store_is_away_for_a_moment_gives_its_sessions_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with world({URL: FakePage(read={"n": 1}, seconds=0.5)}, dispatch=DispatchConfig(lease_s=3600)) as w:
        its_own, away = w.store.expire_leases, [True]

        async def reap(*, owner: str | None = None, lease_s: float | None = None) -> ExpiredLeases:
            if owner is not None and away:
                away.pop()
                raise StoreAway("for a moment")
            return await its_own(owner=owner, lease_s=lease_s)

        monkeypatch.setattr(w.store, "expire_leases", reap)
        job = await begun(w, max_attempts=3)
        await w.pool.workers[0].lose()

        assert (await w.final(job)).counts.completed == 1
        assert not away


async def test_the_leases_of_a_worker_that_is_gone_are_not_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever keeps them from being ended at once, they run out."""
    async with world({URL: FakePage(read={"n": 1}, seconds=0.5)}, dispatch=DispatchConfig(lease_s=1.5)) as w:
        its_own = w.store.expire_leases

        async def reap(*, owner: str | None = None, lease_s: float | None = None) -> ExpiredLeases:
            return ExpiredLeases((), ()) if owner is not None else await its_own(lease_s=lease_s)

        monkeypatch.setattr(w.store, "expire_leases", reap)
        job = await begun(w, max_attempts=3)
        await w.pool.workers[0].lose()

        assert (await w.final(job)).counts.completed == 1


async def test_a_store_that_fails_for_another_reason_than_being_away_loses_no_outcome(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with world(shop(20)) as w:
        its_own, failures = w.store.finish, [ValueError("no rule foresaw this")]

        async def finish(group: Sequence[Finish], **more: Any) -> CommitResult:
            if len(group) > 1 and failures:
                raise failures.pop()
            return await its_own(group, **more)

        monkeypatch.setattr(w.store, "finish", finish)
        job = await w.final(await w.submit(loop=LOOP, extract=EXTRACT))

        assert (job.counts.completed, job.counts.expected) == (20, 20)
        assert len(w.browsers[0].visits) == 21, "nothing ran twice"
        assert not failures


async def test_an_outcome_that_cannot_be_stored_fails_its_session_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with world(shop(10)) as w:
        its_own = w.store.finish

        async def finish(group: Sequence[Finish], **more: Any) -> CommitResult:
            if any(record.value == {"n": 7} for one in group for record in one.outcome.records):
                raise ValueError("not this one")
            return await its_own(group, **more)

        monkeypatch.setattr(w.store, "finish", finish)
        job = await w.final(await w.submit(loop=LOOP, extract=EXTRACT, max_attempts=1))

        assert (job.counts.completed, job.counts.failed) == (9, 1)
        (failed,) = [row for row in await w.store.results(job.id) if row.error]
        assert failed.error is not None
        assert "not this one" in failed.error.message


async def test_a_session_whose_outcome_can_in_no_way_be_stored_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(shop(10), dispatch=DispatchConfig(lease_s=2.0)) as w:
        its_own, victims = w.store.finish, set[tuple[int, int]]()

        async def finish(group: Sequence[Finish], **more: Any) -> CommitResult:
            victims.update((one.session, one.fence) for one in group if not victims and not one.outcome.fan_out)
            if any((one.session, one.fence) in victims for one in group):
                raise ValueError("not this one")
            return await its_own(group, **more)

        monkeypatch.setattr(w.store, "finish", finish)
        job = await w.final(await w.submit(loop=LOOP, extract=EXTRACT, max_attempts=3))

        assert victims
        assert (job.counts.completed, job.counts.expected) == (10, 10)
        assert await counted(w, "shoal_reports_given_up") == 1


async def test_a_mark_that_cannot_be_stored_stops_its_session_before_the_action(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with world(form()) as w:
        its_own, victims = w.store.checkpoint, set[int]()

        async def checkpoint(session: int, fence: int, checkpoint: Checkpoint) -> bool:
            victims.update({fence} if not victims else ())
            if fence in victims:
                assert not w.browsers[0].performed
                raise ValueError("not this one")
            return await its_own(session, fence, checkpoint)

        monkeypatch.setattr(w.store, "checkpoint", checkpoint)
        job = await w.final(await w.submit(data={"a": 1}, extract=EXTRACT, repeatable=False))

        assert victims
        assert job.status is Status.COMPLETED
        assert len(w.browsers[0].performed) == 1


async def test_items_that_cannot_be_stored_are_found_again_by_another_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.agent.sessions.loops.loop_items.FIRST_ITEMS", 2)
    async with world(shop(10)) as w:
        its_own, victims = w.store.stage, set[int]()

        async def stage(session: int, fence: int, items: LoopPiece) -> bool:
            victims.update({fence} if not victims else ())
            if fence in victims:
                raise ValueError("not this one")
            return await its_own(session, fence, items)

        monkeypatch.setattr(w.store, "stage", stage)
        job = await w.final(await w.submit(loop=LOOP, extract=EXTRACT))

        assert victims
        assert (job.counts.completed, job.counts.expected) == (10, 10)


async def test_a_pull_that_fails_otherwise_than_by_the_worker_s_death_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with world(ONE, dispatch=DispatchConfig(lease_s=3600)) as w:
        (worker,) = w.pool.workers
        its_own, failures = worker.pull, [RuntimeError("the reply was lost")]

        async def pull(seen: int, committed: int, most_bytes: int) -> ReportBatch:
            parcel = await its_own(seen, committed, most_bytes)
            if parcel.sizes and failures:
                raise failures.pop()
            return parcel

        monkeypatch.setattr(worker, "pull", pull)
        job = await w.final(await w.submit(extract=EXTRACT))

        assert job.counts.completed == 1
        assert len(w.browsers[0].visits) == 1


async def test_a_worker_whose_pulls_keep_failing_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(ONE, dispatch=DispatchConfig(lease_s=3600)) as w:
        (worker,) = w.pool.workers

        async def pull(seen: int, committed: int, most_bytes: int) -> ReportBatch:
            raise RuntimeError("the reply was lost")

        monkeypatch.setattr(worker, "pull", pull)
        job = await w.final(await w.submit(extract=EXTRACT, max_attempts=3))

        assert job.counts.completed == 1
        assert worker.lost, "it would go on with what others do by now"
        assert worker.name not in w.dispatcher.workers


async def test_a_worker_that_cannot_be_given_sessions_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(ONE, dispatch=DispatchConfig(lease_s=3600)) as w:
        (worker,) = w.pool.workers

        async def submit(works: Sequence[Any]) -> None:
            raise RuntimeError("it does not take this")

        monkeypatch.setattr(worker, "submit", submit)
        job = await w.final(await w.submit(extract=EXTRACT, max_attempts=3))

        assert job.counts.completed == 1
        assert worker.lost


async def test_a_lease_that_ends_while_it_is_renewed_costs_its_session_s_next_attempt_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The store renews the old one no more, which says nothing of the new one."""
    page = FakePage(seconds=1.5, raises=PageCrashed())
    async with world({URL: page}, dispatch=DispatchConfig(lease_s=1.5)) as w:
        its_own, again = w.store.renew, FakePage(read={"n": 1}, seconds=1.5)

        async def renew(leases: Sequence[Renewal], **more: Any) -> frozenset[int]:
            if w.browsers and w.browsers[0].pages[URL] is page:
                w.browsers[0].pages[URL] = again
                await w.until(job, lambda row: len(w.browsers[0].visits) == 2)
            return await its_own(leases, **more)

        monkeypatch.setattr(w.store, "renew", renew)
        monkeypatch.setattr("shoal.services.dispatch.commit.retry.PAUSE", replace(PAUSE, first_s=0.0))
        job = await begun(w, max_attempts=2)

        assert (await w.final(job)).counts.completed == 1
        assert len(w.browsers[0].visits) == 2
