"""Loops whose items are read from documents are claimed in runs."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import cast

from shoal.agent.spec import JobSpec, PolitenessSpec
from shoal.agent.status import Status
from shoal.agent.support.moments import loop_time
from shoal.agent.types import LoopItem, Outcome, Record
from shoal.agent.worker_messages import LearnedUse, Work
from shoal.services.browsers.pools.pool import WorkerHandle
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.scheduling.domains import DocumentPartitions, Domains
from shoal.services.dispatch.workers.worker_state import WorkerState
from shoal.services.store.records import ClaimRefusal, ClaimRequest, Claims, Partition
from shoal.services.store.throttle.site_limits import SiteLimits
from shoal.services.store.waiting_causes import WaitingCause
from tests.cluster_world import world
from tests.patience import soon
from tests.worker_world import EXTRACT, LOOP, shop

FIELDS = {"url": "http://shop.example/", "extract": EXTRACT, "loop": LOOP}
READ = Outcome(Status.COMPLETED, records=(Record({"n": 1}, tier="http"),))
OPENED = Outcome(Status.COMPLETED, records=(Record({"n": 1}, tier="page"),))


def work(**fields: object) -> Work:
    spec = JobSpec.model_validate({**FIELDS, **fields})
    return Work(2, 1, 7, "t", 1, 1, spec, LoopItem(0, "http://shop.example/1", is_link=True), None, None, None)


def test_a_partition_is_read_in_runs_after_its_first_document_and_no_more_when_most_items_need_a_browser() -> None:
    known = DocumentPartitions(Domains(8))
    known.note(work(), 3, "w1", OPENED)
    assert known.worker_of(7, 3) is None
    known.note(work(), 3, "w1", READ)
    assert list(known.due({"w1"}, 0.0)) == [(7, 3, "w1")] and not list(known.due({"w2"}, 0.0))
    known.note(replace(work(), learned=LearnedUse.AUDIT), 3, "w1", OPENED)  # an audit is opened in any case
    gone = [known.note(work(), 3, "w1", OPENED) for _ in range(7)]
    assert gone == [False] * 6 + [True] and not len(known)
    known.note(work(), 3, "w1", READ)
    known.is_full(7, 3, 5.0)
    assert not list(known.due({"w1"}, 4.0)) and known.next_change(4.0) == 1.0
    assert known.lost({"w2"}) == [3] and not len(known)


def test_a_pause_holds_runs_back_for_as_long_as_the_domain_and_an_operator_lifts_it_for_both() -> None:
    domains = Domains(8)
    known = DocumentPartitions(domains)
    known.note(work(), 3, "w1", READ)
    domains.refused(3, 7, ClaimRefusal(WaitingCause.DOMAIN_PAUSE, 3600, 4), now=0)
    assert domains.room(3, 7, PolitenessSpec(), 3599) == 0 and not list(known.due({"w1"}, 3599))
    assert (known.next_change(3599), known.next_change(3600)) == (1, None)
    assert domains.set_limits({3: SiteLimits(most=5)})
    assert domains.room(3, 7, PolitenessSpec(), 1) == 5 and list(known.due({"w1"}, 1)) == [(7, 3, "w1")]


async def test_the_claimer_notes_a_pause_that_held_a_run_back_where_an_operator_lifts_it() -> None:
    async with world(shop(1)) as w:
        state, claimer = w.dispatcher._state, w.dispatcher._claimer
        state.documents.note(work(), 3, "w1", READ)
        take = ClaimRequest(7, 3, 0, n=5, rules=PolitenessSpec(), owner="w1", width=2)
        claimer._note([take], Claims((), {(7, 3): ClaimRefusal(WaitingCause.DOMAIN_PAUSE, 3600, 4)}))
        assert not list(state.documents.due({"w1"}, loop_time()))
        assert state.domains.set_limits({3: SiteLimits(most=5)})
        assert list(state.documents.due({"w1"}, loop_time())) == [(7, 3, "w1")]


async def test_a_run_that_a_pause_held_back_is_asked_for_once_a_pause_while_no_slot_is_free() -> None:
    async with world(shop(1)) as w:
        state, claimer = w.dispatcher._state, w.dispatcher._claimer
        async with soon(28):
            while not w.dispatcher._manager.workers:
                await asyncio.sleep(0.01)
        (worker,) = w.dispatcher._manager.workers.values()
        worker.hold(*range(-worker.capacity, 0))
        looks, asked, claim_once = 0, 0, claimer.claim_once

        async def claim(places: list[str], takes: list[ClaimRequest], **_: object) -> Claims:
            nonlocal asked
            asked += 1
            return Claims((), {(7, 3): ClaimRefusal(WaitingCause.DOMAIN_PAUSE, 0.3, 4)})

        async def counted() -> bool:
            nonlocal looks
            looks += 1
            return await claim_once()

        w.store.claim = claim  # type: ignore[method-assign]
        claimer.claim_once = counted  # type: ignore[method-assign]
        state.documents.note(work(), 3, worker.name, READ)
        state.ready([Partition(7, "t", 3, "shop.example", 0, 0)])
        async with soon(28):
            while asked < 4:
                await asyncio.sleep(0.01)
        assert looks < 20


def test_where_one_failure_ends_a_loop_or_pages_keep_a_distance_there_are_no_runs() -> None:
    known = DocumentPartitions(Domains(8))
    known.note(work(loop={**LOOP, "on_error": "stop"}), 3, "w1", READ)
    known.note(work(politeness={"delay_s": 1}), 3, "w1", READ)
    known.note(work(sample=3), 3, "w1", READ)
    known.note(work(), 3, "w1", replace(READ, crawl_delay_s=2.0))
    assert not len(known)


def test_a_run_takes_as_many_places_as_are_under_way_at_once() -> None:
    domains, polite = Domains(8), PolitenessSpec()
    for _ in range(20):
        domains.started(3, 7, 0.0, 0.0, owner="w1", width=5)
    assert domains.room(3, 9, polite, 0.0) == 3
    assert domains.room(3, 7, PolitenessSpec(per_domain=6), 0.0) == 1
    for _ in range(16):
        domains.ended(3, 7, owner="w1", width=5)
    assert domains.room(3, 9, polite, 0.0) == 4
    for _ in range(4):
        domains.ended(3, 7, owner="w1", width=5)
    assert domains.room(3, 9, polite, 0.0) == 8


async def test_audits_that_wait_for_slots_hold_up_no_documents_until_they_are_many() -> None:
    worker = WorkerState(cast(WorkerHandle, None), DispatchConfig(run_ahead_s=0.1))
    ahead = worker.run
    audits = [replace(work(), session=n, learned=LearnedUse.AUDIT) for n in range(65)]
    worker.hold_run(audits[:40])
    worker.hold_run([replace(work(), session=100)])
    assert worker.run == ahead - 1, "audits wait for a browser, and documents do not"
    worker.hold_run(audits[40:])
    assert worker.run == 0, "what so many audits say would come late"
    document_s = worker.document_s
    worker.release(0, seconds=30.0)
    assert worker.run == ahead - 1 and worker.document_s == document_s
    worker.release(100, seconds=0.01)
    assert worker.run >= ahead and worker.document_s < document_s
    for audit in audits[1:]:
        worker.release(audit.session, seconds=30.0)
    assert not worker.holds and not worker.audited


async def test_items_of_runs_that_need_a_browser_after_all_get_slots_and_each_ends_once() -> None:
    async with world(shop(60, seconds=0.01), slots=2, dispatch=DispatchConfig(per_domain=6)) as w:
        state = w.dispatcher._state
        job = await w.submit(extract=EXTRACT, loop=LOOP)
        await w.until(job, lambda row: row.counts.expected >= 60 and row.counts.running > 0)
        lease = next(one for one in state.leases.values() if one.work.item is not None)
        state.documents.note(lease.work, lease.domain, lease.worker, READ)
        widths: set[int] = set()
        in_runs = 0

        def met(row: object) -> bool:
            nonlocal in_runs
            in_runs = max(in_runs, state.in_runs)
            widths.update(one.work.width for one in state.leases.values())
            return state.documents.worker_of(job, lease.domain) is None

        await w.until(job, met)
        row = await w.final(job)
        assert (row.counts.completed, row.counts.expected) == (60, 60)
        assert in_runs > 6 and max(widths) <= 6, "more than the domain's places are leased, and no more under way"
        assert max(browser.most_open for browser in w.browsers) <= 2
        assert sorted(w.browsers[0].visits).count("http://shop.example/59") == 1
        assert (state.in_runs, state.held, state.leases) == (0, {}, {})
