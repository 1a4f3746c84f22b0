"""What every store does; `tests/unit/store` runs it on SQLite, `tests/integration/store` on PostgreSQL.

A module that imports these tests brings a fixture `store_url`: the URL of an empty database.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from agent.spec import PolitenessSpec
from agent.status import Status
from agent.types import (
    ArtifactRef,
    Checkpoint,
    ChildrenSummary,
    LoopItem,
    Outcome,
    Record,
    Step,
    Task,
    Usage,
)
from services.errors import BadInput, KeyReused, NotFound, StoreAway, WrongState
from services.events import JobEvent
from services.store.records import Finish, JobFilter, NewJob, Renewal, Take
from tests.store_world import BROKEN, DONE, ERROR, World, links, loop, spec, world

S = Status


@pytest_asyncio.fixture
async def w(store_url: str) -> AsyncIterator[World]:
    async with world(store_url) as made:
        yield made


async def names(w: World, job: int | None = None) -> list[str]:
    return [event.name for event in await w.store.events(job=job)]


# --- submission ----------------------------------------------------------------------------------------


async def test_a_submitted_job_is_queued_with_its_root_session(w: World) -> None:
    job = await w.submit(labels={"team": "a"})
    row = await w.store.job(job)
    assert (row.status, row.tenant, row.counts.expected, row.counts.final) == (S.QUEUED, "acme", 1, 0)
    assert row.spec == spec(labels={"team": "a"})
    assert row.created_at.timestamp() == w.clock.now and row.started_at is None and row.finished_at is None
    root = (await w.store.session(row.root_session)).row
    assert (root.job, root.status, root.depth, root.parent, root.domain) == (job, S.QUEUED, 0, None, "shop.example")
    assert root.waiting_for
    (event,) = await w.store.events()
    assert (event.name, event.job, event.tenant, event.data["url"]) == (
        JobEvent.SUBMITTED,
        job,
        "acme",
        "https://shop.example/",
    )


async def test_the_same_key_and_spec_give_the_same_job(w: World) -> None:
    new = NewJob("acme", spec(idempotency_key="k"), "shop.example")
    (first,) = await w.store.submit([new])
    (second,) = await w.store.submit([new])
    assert first.created and not second.created and first.job == second.job
    (foreign,) = await w.store.submit([NewJob("other", spec(idempotency_key="k"), "shop.example")])
    assert foreign.created
    one, two = await w.store.submit([NewJob("acme", spec(idempotency_key="n"), "shop.example")] * 2)
    assert one.created and not two.created and one.job == two.job
    assert len(await w.store.jobs(JobFilter())) == 3


async def test_a_key_with_another_spec_is_refused_and_nothing_of_its_call_is_stored(w: World) -> None:
    job = await w.submit(idempotency_key="k")
    with pytest.raises(KeyReused) as caught:
        await w.store.submit(
            [
                NewJob("acme", spec(goal="fine"), "shop.example"),
                NewJob("acme", spec(goal="another", idempotency_key="k"), "shop.example"),
            ]
        )
    assert caught.value.details["job"] == job
    assert [row.id for row in await w.store.jobs(JobFilter())] == [job]


async def test_submissions_at_once_share_a_transaction_and_keep_their_own_results(w: World) -> None:
    await w.submit(idempotency_key="taken")
    calls: list[Any] = [
        w.store.submit([NewJob("acme", spec(goal=f"g{i}"), f"h{i % 7}.example")] * (1 + i % 3)) for i in range(50)
    ]
    calls.append(w.store.submit([NewJob("acme", spec(goal="x", idempotency_key="taken"), "shop.example")]))
    *done, refused = await asyncio.gather(*calls, return_exceptions=True)
    assert isinstance(refused, KeyReused)
    ids = [one.job for call in done for one in call]
    assert [len(call) for call in done] == [1 + i % 3 for i in range(50)]
    assert len(set(ids)) == len(ids)
    for index, call in enumerate(done):
        for one in call:
            assert (await w.store.job(one.job)).spec.goal == f"g{index}"


async def test_two_gateways_that_submit_the_same_key_at_once_get_one_job(w: World) -> None:
    other = await w.another()
    for round_ in range(5):
        new = NewJob("acme", spec(idempotency_key=f"k{round_}"), "shop.example")
        one, two = await asyncio.gather(w.store.submit([new]), other.submit([new]))
        assert one[0].job == two[0].job
        assert sorted([one[0].created, two[0].created]) == [False, True]


async def test_text_that_no_database_can_hold_is_refused_by_place(w: World) -> None:
    with pytest.raises(BadInput) as caught:
        await w.store.submit([NewJob("acme", spec(labels={"a": "x\0"}), "shop.example")])
    assert caught.value.details["errors"][0]["place"] == "labels/a"  # type: ignore[index]


# --- tenants -------------------------------------------------------------------------------------------


async def test_another_tenants_things_do_not_exist(w: World) -> None:
    job = await w.submit()
    session = (await w.store.job(job)).root_session
    for call in (
        w.store.job(job, tenant="other"),
        w.store.session(session, tenant="other"),
        w.store.cancel(job, tenant="other"),
        w.store.pause(job, tenant="other"),
        w.store.resume(job, tenant="other"),
        w.store.retry(job, tenant="other"),
        w.store.delete(job, tenant="other"),
        w.store.artifact("0" * 32, tenant="other"),
        w.store.job(job + 1),
        w.store.session(session + 1),
        w.store.sessions(job + 1),
        w.store.results(job + 1),
    ):
        with pytest.raises(NotFound):
            await call
    assert await w.store.events(tenant="other") == []
    assert (await w.store.job(job, tenant="acme")).status is S.QUEUED


# --- claims --------------------------------------------------------------------------------------------


async def test_a_claim_gives_all_that_a_worker_needs(w: World) -> None:
    job = await w.submit(deadline_s=100.0)
    held = await w.claim_one()
    work = held.work
    assert (work.job, work.tenant, work.attempt, work.depth, work.spec) == (job, "acme", 1, 0, spec(deadline_s=100.0))
    assert (work.item, work.checkpoint, work.children) == (None, None, None)
    assert work.deadline_at == w.clock.now + 100
    assert held.host == "shop.example"
    row = (await w.store.session(work.session)).row
    assert (row.status, row.owner, row.attempt) == (S.RUNNING, "w1", 1)
    assert row.lease_until is not None and row.lease_until.timestamp() == w.clock.now + 60
    started = await w.check_sums(job)
    assert started.status is S.RUNNING and started.started_at is not None and started.counts.running == 1
    assert await names(w) == [JobEvent.SUBMITTED, JobEvent.STARTED]


async def test_each_lane_gives_its_lowest_ids_behind_its_cursor(w: World) -> None:
    job, _ = await w.open_loop(20, hosts=2, politeness={"per_domain": 3})
    lanes = await w.store.lanes()
    assert [(lane.job, lane.host) for lane in lanes] == [(job, "h0.example"), (job, "h1.example")]
    assert all(lane.politeness == PolitenessSpec(per_domain=3) and lane.tenant == "acme" for lane in lanes)
    held = await w.store.claim("w1", [Take(x.job, x.domain, x.cursor, 3) for x in lanes], lease_s=60)
    assert [one.work.item.index for one in held if one.work.item] == [0, 1, 2, 3, 4, 5]
    first, second = (
        sorted(one.work.session for one in held if one.host == host) for host in ("h0.example", "h1.example")
    )
    takes = [Take(job, lanes[0].domain, first[-1] + 2, 2), Take(job, lanes[1].domain, second[-1], 1)]
    held = await w.store.claim("w1", takes, lease_s=60)
    assert [one.work.item.index for one in held if one.work.item] == [7, 8, 10]
    assert await w.store.claim("w1", [], lease_s=60) == []
    assert await w.store.claim("w1", [Take(job, 999, 0, 5), Take(999, lanes[0].domain, 0, 5)], lease_s=60) == []


async def test_two_claimers_never_get_the_same_session(w: World) -> None:
    job, _ = await w.open_loop(300, hosts=3)
    other = await w.another()
    takes = [Take(lane.job, lane.domain, 0, 7) for lane in await w.store.lanes()]
    seen: list[int] = []

    async def work(store: Any, owner: str) -> None:
        while held := await store.claim(owner, takes, lease_s=60):
            seen.extend(one.work.session for one in held)
            await store.finish([Finish(one.work.session, one.work.fence, DONE) for one in held])

    await asyncio.gather(*(work(store, f"w{i}") for i, store in enumerate((w.store, other, w.store, other))))
    assert len(seen) == len(set(seen)) == 300
    assert (await w.check_sums(job)).counts.completed == 300


async def test_lanes_go_by_job_and_domain_and_leave_out_jobs_that_may_not_run(w: World) -> None:
    jobs = [await w.submit(priority=i) for i in range(4)]
    await w.store.pause(jobs[1])
    await w.store.cancel(jobs[2])
    assert [(lane.job, lane.priority) for lane in await w.store.lanes()] == [(jobs[0], 0), (jobs[3], 3)]
    domain = (await w.store.lanes())[0].domain
    held = await w.store.claim("w1", [Take(job, domain, 0, 1) for job in jobs], lease_s=60)
    assert [one.work.job for one in held] == [jobs[0], jobs[3]]


# --- outcomes ------------------------------------------------------------------------------------------


async def test_an_outcome_ends_the_session_and_its_job(w: World) -> None:
    job = await w.submit()
    held = await w.claim_one()
    usage = Usage(model_calls=2, prompt_tokens=30, completion_tokens=4, cached_tokens=5, pages=1)
    step = Step(0, "https://shop.example/", "look", (), seconds=0.5)
    task = Task("extract", "read", S.COMPLETED, steps=(step,), seconds=1.5)
    shot = ArtifactRef("a" * 32, "screenshot", "shots/a.jpg", "image/jpeg", 123)
    outcome = Outcome(
        S.COMPLETED,
        records=(Record({"n": 1}),),
        url="https://shop.example/p",
        at="2026-11-22T00:00:00Z",
        seconds=2.5,
        tasks=(task,),
        usage=usage,
        artifacts=(shot,),
        screenshot="a" * 32,
        answer="one",
    )
    written = await w.finish((held, outcome))
    assert written.accepted == {held.work.session} and not written.late and written.finished_jobs == (job,)
    row = await w.check_sums(job)
    assert (row.status, row.usage, row.error, row.counts.completed) == (S.COMPLETED, usage, None, 1)
    assert row.finished_at is not None
    detail = await w.store.session(held.work.session)
    assert detail.attempts == ((task,),)
    assert (detail.row.status, detail.row.owner, detail.row.lease_until) == (S.COMPLETED, None, None)
    assert detail.row.outcome is not None and detail.row.outcome.answer == "one" and detail.row.outcome.tasks == ()
    (artifact,) = detail.artifacts
    assert artifact == await w.store.artifact("a" * 32, tenant="acme")
    assert (artifact.job, artifact.session, artifact.key, artifact.bytes) == (
        job,
        held.work.session,
        "shots/a.jpg",
        123,
    )
    assert await names(w) == [JobEvent.SUBMITTED, JobEvent.STARTED, JobEvent.PROGRESS, JobEvent.FINISHED]
    progress, finished = (await w.store.events())[-2:]
    assert progress.data["sessions"] == [[held.work.session, "completed"]]
    assert (finished.data["status"], finished.data["counts"]["completed"]) == ("completed", 1)
    assert finished.data["usage"]["prompt_tokens"] == 30


@pytest.mark.parametrize("status", [S.TERMINATED, S.FAILED, S.UNSURE])
async def test_a_job_ends_as_its_root_session_ends(w: World, status: Status) -> None:
    job = await w.submit()
    await w.finish((await w.claim_one(), Outcome(status, error=ERROR)))
    row = await w.check_sums(job)
    assert (row.status, row.error) == (status, ERROR)
    assert getattr(row.counts, status.value) == 1


async def test_a_late_outcome_after_a_reap_changes_nothing(w: World) -> None:
    job = await w.submit()
    late = await w.claim_one()
    w.clock.now += 61
    (freed,) = await w.store.reap()
    assert (freed.session, freed.job, freed.status) == (late.work.session, job, S.QUEUED)
    again = await w.claim_one()
    assert again.work.fence > late.work.fence and again.work.attempt == 2
    written = await w.finish((late, BROKEN))
    assert written.late == {late.work.session} and not written.accepted and not written.finished_jobs
    assert await w.status(late.work.session) is S.RUNNING
    written = await w.finish((again, DONE))
    assert written.accepted == {late.work.session}
    assert (await w.check_sums(job)).status is S.COMPLETED


async def test_an_outcome_that_is_reported_twice_counts_once(w: World) -> None:
    job, _ = await w.open_loop(3)
    one, two, three = await w.claim()
    written = await w.finish((one, DONE), (one, BROKEN), (two, DONE))
    assert written.accepted == {one.work.session, two.work.session} and not written.late
    written = await w.finish((one, DONE), (three, DONE))
    assert (written.accepted, written.late) == ({three.work.session}, {one.work.session})
    row = await w.check_sums(job)
    assert (row.counts.completed, row.counts.failed) == (3, 0)


async def test_a_retry_waits_for_its_time_and_goes_on_from_its_checkpoint(w: World) -> None:
    job = await w.submit()
    first = await w.claim_one()
    kept = Checkpoint(url="https://shop.example/2", usage=Usage(pages=3))
    again = Outcome(S.QUEUED, error=ERROR, checkpoint=kept)
    written = await w.finish((first, again), ready_in_s=30)
    assert written.accepted and not written.ready
    row = (await w.store.session(first.work.session)).row
    assert row.status is S.QUEUED and row.ready_at is not None and row.ready_at.timestamp() == w.clock.now + 30
    assert row.outcome is not None and row.outcome.error == ERROR
    assert await w.claim() == []
    assert await w.store.next_ready_in_s() == 30
    w.clock.now += 29
    assert await w.claim() == []
    w.clock.now += 1
    assert await w.store.next_ready_in_s() == 0
    second = await w.claim_one()
    assert (second.work.attempt, second.work.checkpoint) == (2, kept)
    assert await w.store.next_ready_in_s() is None
    written = await w.finish((second, Outcome(S.QUEUED)))
    assert [(lane.job, lane.host) for lane in written.ready] == [(job, "shop.example")]
    third = await w.claim_one()
    assert (third.work.attempt, third.work.checkpoint) == (3, kept)
    await w.check_sums(job)


async def test_a_claim_alone_wakes_sessions_whose_time_has_come(w: World) -> None:
    job = await w.submit()
    held = await w.claim_one()
    await w.finish((held, Outcome(S.QUEUED)), ready_in_s=5)
    take = Take(job, held.domain, 0, 1)
    assert await w.store.claim("w1", [take], lease_s=60) == []
    w.clock.now += 5
    assert len(await w.store.claim("w1", [take], lease_s=60)) == 1


async def test_a_report_that_makes_no_sense_is_refused(w: World) -> None:
    await w.submit()
    held = await w.claim_one()
    for outcome in (Outcome(S.RUNNING), Outcome(S.WAITING)):
        with pytest.raises(WrongState, match="running"):
            await w.finish((held, outcome))
    assert await w.status(held.work.session) is S.RUNNING


async def test_text_from_pages_survives_whatever_it_holds(w: World) -> None:
    job = await w.submit()
    value = {"a": "half \ud83d pair", "b": "nul \0", "c": 10**40, "d": "日本", "e": [None, 1.5, True]}
    await w.finish((await w.claim_one(), Outcome(S.COMPLETED, records=(Record(value),))))
    (line,) = await w.store.results(job)
    assert line.record is not None
    assert line.record.value == value | {"a": "half \ufffd pair"}


# --- loops ---------------------------------------------------------------------------------------------


async def test_a_fan_out_stores_its_children_in_order_and_gives_the_slot_back(w: World) -> None:
    job = await w.submit()
    root = await w.claim_one()
    items = (*links(3, hosts=2), LoopItem(3, "red shoes", is_link=False, label="Red"))
    written = await w.finish((root, loop(items, storage_state={"cookies": [1]})))
    assert {(lane.job, lane.host) for lane in written.ready} == {
        (job, "h0.example"),
        (job, "h1.example"),
        (job, "shop.example"),
    }
    row = await w.check_sums(job)
    assert (row.status, row.counts.expected) == (S.RUNNING, 4)
    parent = (await w.store.session(root.work.session)).row
    assert (parent.status, parent.children, parent.pending_children, parent.owner) == (S.WAITING, 4, 4, None)
    held = await w.claim()
    assert [one.work.item for one in held] == list(items)
    assert [one.work.session for one in held] == sorted(one.work.session for one in held)
    assert all(one.work.depth == 1 and one.work.attempt == 1 for one in held)
    # The children begin with the parent's storage state and nothing of its history.
    assert all(one.work.checkpoint == Checkpoint(storage_state={"cookies": [1]}) for one in held)
    assert [one.host for one in held] == ["h0.example", "h1.example", "h0.example", "shop.example"]
    sessions, _ = await w.store.sessions(job)
    assert [(one.depth, one.index) for one in sessions] == [(0, 0), (1, 0), (1, 1), (1, 2), (1, 3)]
    fanned = [event for event in await w.store.events() if event.name == JobEvent.FANNED_OUT]
    assert [(event.data["session"], event.data["items"]) for event in fanned] == [(root.work.session, 4)]


async def test_a_fan_out_is_accepted_once(w: World) -> None:
    job = await w.submit()
    root = await w.claim_one()
    other = await w.another()
    report = Finish(root.work.session, root.work.fence, loop(links(5)))
    written = await asyncio.gather(w.store.finish([report]), other.finish([report]))
    assert sorted(len(one.accepted) for one in written) == [0, 1]
    assert (await w.finish((root, loop(links(5))))).late == {root.work.session}
    assert (await w.check_sums(job)).counts.expected == 5


async def test_the_last_child_makes_the_parent_go_on_with_a_summary(w: World) -> None:
    job, root = await w.open_loop(4)
    held = await w.claim()
    record = Outcome(S.COMPLETED, records=(Record({"a": 1}), Record({"a": 2})))
    assert (await w.finish((held[0], record), (held[1], BROKEN), (held[2], Outcome(S.UNSURE)))).ready == ()
    assert await w.status(root) is S.WAITING
    written = await w.finish((held[3], DONE))
    assert [(lane.job, lane.host) for lane in written.ready] == [(job, "shop.example")]
    again = await w.claim_one()
    assert again.work.session == root and again.work.attempt == 1
    assert again.work.checkpoint == Checkpoint(url="https://shop.example/list")
    assert again.work.children == ChildrenSummary(4, 2, 2, ({"a": 1}, {"a": 2}, {"n": 1}))
    assert (await w.finish((again, DONE))).finished_jobs == (job,)
    row = await w.check_sums(job)
    assert (row.counts.expected, row.counts.completed, row.counts.failed, row.counts.unsure) == (4, 2, 1, 1)


async def test_the_last_two_children_ending_at_once_make_the_parent_ready_once(w: World) -> None:
    other = await w.another()
    for _ in range(5):
        job, root = await w.open_loop(2)
        one, two = await w.claim(job=job)
        written = await asyncio.gather(
            w.store.finish([Finish(one.work.session, one.work.fence, DONE)]),
            other.finish([Finish(two.work.session, two.work.fence, DONE)]),
        )
        assert sum(len(part.ready) for part in written) == 1
        (again,) = await w.claim(job=job)
        assert again.work.session == root
        await w.finish((again, DONE))
        assert (await w.check_sums(job)).status is S.COMPLETED


async def test_a_parent_goes_on_even_when_every_child_failed(w: World) -> None:
    job, root = await w.open_loop(2)
    await w.finish(*((one, BROKEN) for one in await w.claim()))
    again = await w.claim_one()
    assert again.work.session == root and again.work.children == ChildrenSummary(2, 0, 2)
    await w.finish((again, BROKEN))
    row = await w.check_sums(job)
    assert (row.status, row.counts.failed, row.error) == (S.FAILED, 2, ERROR)


async def test_loops_nest_and_results_come_in_item_order(w: World) -> None:
    job, _ = await w.open_loop(3)
    outer = await w.claim()
    await w.finish((outer[2], loop(links(2))), (outer[0], loop(links(3))))
    assert (await w.check_sums(job)).counts.expected == 6
    await w.finish((outer[1], Outcome(S.COMPLETED, records=(Record("outer 1"),))))
    inner = await w.claim()
    assert {one.work.depth for one in inner} == {2}
    parents = {outer[0].work.session: 0, outer[2].work.session: 2}
    ends = []
    for one in inner:
        row = (await w.store.session(one.work.session)).row
        ends.append((one, Outcome(S.COMPLETED, records=(Record(f"inner {parents[row.parent or 0]}.{row.index}"),))))
    await w.finish(*reversed(ends))
    resumed = await w.claim()
    assert [one.work.session for one in resumed] == sorted(parents)
    assert resumed[0].work.children == ChildrenSummary(3, 3, 0, ("inner 0.0", "inner 0.1", "inner 0.2"))
    await w.run_out()  # nothing else is ready yet
    await w.finish(*((one, DONE) for one in resumed))
    await w.run_out()
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed) == (S.COMPLETED, 6)
    values = [line.record.value for line in await w.store.results(job) if line.record]
    assert values == ["inner 0.0", "inner 0.1", "inner 0.2", "outer 1", "inner 2.0", "inner 2.1"]


async def test_a_session_may_loop_again(w: World) -> None:
    job, root = await w.open_loop(2)
    await w.finish(*((one, DONE) for one in await w.claim()))
    await w.finish((await w.claim_one(), loop(links(3))))
    assert (await w.check_sums(job)).counts.expected == 5
    await w.finish(*((one, BROKEN) for one in await w.claim()))
    again = await w.claim_one()
    assert again.work.session == root and again.work.children == ChildrenSummary(3, 0, 3)
    await w.finish((again, DONE))
    row = await w.check_sums(job)
    assert (row.counts.completed, row.counts.failed) == (2, 3)


async def test_a_loop_without_items_is_over_at_once(w: World) -> None:
    job = await w.submit()
    await w.finish((await w.claim_one(), loop(())))
    again = await w.claim_one()
    assert again.work.children == ChildrenSummary(0, 0, 0) and again.work.attempt == 1
    await w.finish((again, DONE))
    row = await w.check_sums(job)
    assert (row.status, row.counts.expected, row.counts.completed) == (S.COMPLETED, 1, 1)


async def test_no_more_children_run_than_the_loop_allows(w: World) -> None:
    job, root = await w.open_loop(7, loop={"values": ["a"], "concurrency": 2})
    ran = 0
    while (held := await w.claim()) and held[0].work.session != root:
        assert len(held) == 2 or ran == 6
        ran += len(held)
        sessions, _ = await w.store.sessions(job, statuses=[S.RUNNING])
        assert len(sessions) == len(held) <= 2
        assert (await w.claim()) == []
        if ran == 2:  # a child that waits for another try keeps its seat
            await w.finish((held[0], Outcome(S.QUEUED)), ready_in_s=10)
            await w.finish((held[1], DONE))
            one = await w.claim_one()
            assert await w.claim() == []
            w.clock.now += 10
            retried = await w.claim_one()
            written = await w.finish((one, BROKEN), (retried, DONE))
            assert [(lane.job, lane.host) for lane in written.ready] == [(job, "h0.example")]
            ran += 1
        else:
            await w.finish(*((one, DONE) for one in held))
    assert ran == 7
    assert held[0].work.children == ChildrenSummary(7, 6, 1, ({"n": 1},) * 5)
    await w.finish((held[0], DONE))
    await w.check_sums(job)


async def test_a_failed_child_stops_a_loop_that_asks_for_it(w: World) -> None:
    job, root = await w.open_loop(10, stop=True)
    lane = (await w.store.lanes())[0]
    one, two, three = await w.store.claim("w1", [Take(lane.job, lane.domain, 0, 3)], lease_s=60)
    await w.finish((one, DONE))
    await w.finish((two, BROKEN))
    assert await w.claim() == []
    row = await w.check_sums(job)
    assert (row.counts.completed, row.counts.failed, row.counts.canceled, row.counts.running) == (1, 1, 7, 1)
    # The one that still ran may not try again.
    await w.finish((three, Outcome(S.QUEUED)))
    again = await w.claim_one()
    assert again.work.session == root
    assert again.work.children == ChildrenSummary(10, 1, 9, ({"n": 1},))
    await w.finish((again, DONE))
    assert (await w.check_sums(job)).counts.canceled == 8


async def test_a_loop_that_stops_lets_no_held_child_go(w: World) -> None:
    job, root = await w.open_loop(5, stop=True, loop={"values": ["a"], "concurrency": 1})
    await w.finish((await w.claim_one(), BROKEN))
    assert (await w.claim_one()).work.session == root
    assert (await w.check_sums(job)).counts.canceled == 4


# --- leases --------------------------------------------------------------------------------------------


async def test_a_renewed_lease_does_not_run_out(w: World) -> None:
    job = await w.submit()
    held = await w.claim_one()
    lease = Renewal(held.work.session, held.work.fence)
    w.clock.now += 50
    assert await w.store.renew([lease, Renewal(held.work.session, 99), Renewal(999, 1)], lease_s=60) == {lease.session}
    w.clock.now += 50
    assert await w.store.reap() == []
    w.clock.now += 11
    assert len(await w.store.reap()) == 1
    assert await w.store.renew([lease], lease_s=60) == frozenset()
    assert await w.store.renew([], lease_s=60) == frozenset()
    await w.check_sums(job)


async def test_leases_of_jobs_that_are_unwanted_are_not_renewed(w: World) -> None:
    held = []
    for act in (None, w.store.cancel, w.store.pause):
        job = await w.submit()
        held += await w.claim(job=job)
        if act:
            await act(job)
    leases = [Renewal(one.work.session, one.work.fence) for one in held]
    assert await w.store.renew(leases, lease_s=60) == {held[0].work.session}


async def test_a_session_whose_worker_died_goes_on_until_its_attempts_are_used_up(w: World) -> None:
    job = await w.submit(max_attempts=2)
    first = await w.claim_one()
    kept = Checkpoint(url="https://shop.example/3")
    assert await w.store.checkpoint(first.work.session, first.work.fence, kept)
    assert await w.store.reap() == [] and await w.store.reap(owner="w2") == []
    (freed,) = await w.store.reap(owner="w1")
    assert (freed.session, freed.domain, freed.status) == (first.work.session, first.domain, S.QUEUED)
    assert not await w.store.checkpoint(first.work.session, first.work.fence, Checkpoint())
    second = await w.claim_one()
    assert (second.work.attempt, second.work.checkpoint) == (2, kept)
    (freed,) = await w.store.reap(owner="w1")
    assert freed.status is S.FAILED
    row = await w.check_sums(job)
    assert row.status is S.FAILED and row.error is not None and row.error.code == "lease_lost"


async def test_a_session_that_died_inside_an_unrepeatable_action_is_unsure(w: World) -> None:
    job = await w.submit()
    held = await w.claim_one()
    assert await w.store.checkpoint(held.work.session, held.work.fence, Checkpoint(pending_action="click('12')"))
    (freed,) = await w.store.reap(owner="w1")
    assert freed.status is S.UNSURE
    row = await w.check_sums(job)
    assert row.status is S.UNSURE and row.counts.unsure == 1


async def test_a_reaped_last_child_lets_its_parent_go_on(w: World) -> None:
    job, root = await w.open_loop(2, max_attempts=1)
    one, _ = await w.claim()
    await w.finish((one, DONE))
    (freed,) = await w.store.reap(owner="w1")
    assert freed.status is S.FAILED
    assert (await w.claim_one()).work.session == root
    await w.check_sums(job)


async def test_a_checkpoint_and_a_reap_at_once_agree(w: World) -> None:
    """Whoever is told that "an unrepeatable action begins" was kept must not see his session tried again."""
    other = await w.another()
    for _ in range(10):
        job = await w.submit()
        (held,) = await w.claim(job=job)
        kept, freed = await asyncio.gather(
            w.store.checkpoint(held.work.session, held.work.fence, Checkpoint(pending_action="click('1')")),
            other.reap(owner="w1"),
        )
        assert [one.status for one in freed] == [S.UNSURE if kept else S.QUEUED]
        await w.store.cancel(job) if not kept else None


async def test_many_checkpoints_at_once_each_get_their_own_answer(w: World) -> None:
    await w.open_loop(30)
    held = await w.claim()
    fences = [one.work.fence + (index % 3 == 0) for index, one in enumerate(held)]
    kept = await asyncio.gather(
        *(
            w.store.checkpoint(one.work.session, f, Checkpoint(url=f"u{i}"))
            for i, (one, f) in enumerate(zip(held, fences, strict=True))
        )
    )
    assert kept == [index % 3 != 0 for index in range(30)]
    await w.store.reap(owner="w1")
    again = {one.work.session: one.work.checkpoint for one in await w.claim()}
    for index, one in enumerate(held):
        assert again[one.work.session] == (Checkpoint(url=f"u{index}") if index % 3 else None)


# --- cancel, pause, resume, retry, delete ---------------------------------------------------------------


async def test_canceling_what_has_not_begun_is_done_at_once(w: World) -> None:
    job = await w.submit()
    row = await w.store.cancel(job, tenant="acme")
    assert (row.status, row.counts.canceled, row.cancel_requested) == (S.CANCELED, 1, True)
    assert await w.claim() == [] and await w.store.lanes() == []
    assert await names(w) == [JobEvent.SUBMITTED, JobEvent.CANCELED, JobEvent.FINISHED]
    with pytest.raises(WrongState, match="canceled"):
        await w.store.cancel(job)
    await w.check_sums(job)


async def test_canceling_a_loop_waits_for_the_children_that_run(w: World) -> None:
    job, root = await w.open_loop(10)
    lane = (await w.store.lanes())[0]
    one, two, three = await w.store.claim("w1", [Take(lane.job, lane.domain, 0, 3)], lease_s=60)
    row = await w.store.cancel(job)
    assert (row.status, row.cancel_requested, row.counts.canceled, row.counts.running) == (S.RUNNING, True, 7, 3)
    assert await w.status(root) is S.CANCELED
    assert (await w.store.cancel(job)).cancel_requested  # asking again changes nothing
    assert (await w.finish((one, Outcome(S.CANCELED)), (two, DONE))).finished_jobs == ()
    # It wanted to try again, or to fan out: no more.
    assert (await w.finish((three, loop(links(5))))).finished_jobs == (job,)
    row = await w.check_sums(job)
    assert (row.status, row.counts.expected, row.counts.canceled, row.counts.completed) == (S.CANCELED, 10, 9, 1)
    assert (await names(w)).count(JobEvent.FINISHED) == 1


async def test_a_canceled_job_whose_worker_dies_is_over(w: World) -> None:
    job = await w.submit()
    await w.claim_one()
    assert (await w.store.cancel(job)).status is S.RUNNING
    (freed,) = await w.store.reap(owner="w1")
    assert freed.status is S.CANCELED
    assert (await w.check_sums(job)).status is S.CANCELED


async def test_a_root_that_completes_while_it_is_canceled_is_completed(w: World) -> None:
    job = await w.submit()
    held = await w.claim_one()
    await w.store.cancel(job)
    await w.finish((held, DONE))
    assert (await w.check_sums(job)).status is S.COMPLETED


async def test_a_paused_job_is_not_claimed_and_goes_on_after_resume(w: World) -> None:
    job, _ = await w.open_loop(4)
    lane = (await w.store.lanes())[0]
    one, two = await w.store.claim("w1", [Take(lane.job, lane.domain, 0, 2)], lease_s=60)
    row = await w.store.pause(job)
    assert row.status is S.PAUSED
    assert await w.claim() == [] and await w.store.lanes() == []
    assert await w.store.claim("w1", [Take(job, lane.domain, 0, 9)], lease_s=60) == []
    # One worker stops as asked, the other one had finished: both reports count, neither makes anything ready.
    kept = Checkpoint(url="https://h0.example/half")
    written = await w.finish((one, Outcome(S.CANCELED, checkpoint=kept)), (two, DONE))
    assert len(written.accepted) == 2 and written.ready == ()
    paused, _ = await w.store.sessions(job, statuses=[S.PAUSED])
    assert len(paused) == 3 and all(session.status is S.PAUSED for session in paused)
    assert (await w.store.sessions(job, statuses=[S.QUEUED]))[0] == []
    with pytest.raises(WrongState, match="paused"):
        await w.store.pause(job)
    assert (await w.store.resume(job)).status is S.RUNNING
    with pytest.raises(WrongState, match="running"):
        await w.store.resume(job)
    held = await w.claim()
    assert (held[0].work.session, held[0].work.attempt, held[0].work.checkpoint) == (one.work.session, 1, kept)
    await w.finish(*((child, DONE) for child in held))
    await w.run_out()
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed) == (S.COMPLETED, 4)
    assert [name for name in await names(w) if name in (JobEvent.PAUSED, JobEvent.RESUMED)] == [
        "job.paused",
        "job.resumed",
    ]


async def test_a_job_that_is_paused_before_it_began_is_queued_when_resumed(w: World) -> None:
    job = await w.submit()
    await w.store.pause(job)
    assert (await w.store.resume(job)).status is S.QUEUED
    await w.run_out()
    assert (await w.check_sums(job)).status is S.COMPLETED


async def test_a_paused_job_can_be_canceled_and_its_root_can_end(w: World) -> None:
    job = await w.submit()
    await w.store.pause(job)
    assert (await w.store.cancel(job)).status is S.CANCELED
    job = await w.submit()
    held = await w.claim_one()
    await w.store.pause(job)
    await w.finish((held, DONE))
    assert (await w.check_sums(job)).status is S.COMPLETED


async def test_a_final_job_can_be_neither_paused_nor_resumed(w: World) -> None:
    job = await w.submit()
    await w.run_out()
    for call in (w.store.pause, w.store.resume, w.store.cancel):
        with pytest.raises(WrongState, match="completed"):
            await call(job)


@pytest.mark.parametrize("status", [S.FAILED, S.TERMINATED])
async def test_a_retried_job_runs_again_with_fresh_attempts(w: World, status: Status) -> None:
    job = await w.submit(deadline_s=50.0)
    await w.finish((await w.claim_one(), Outcome(status, error=ERROR)))
    w.clock.now += 100
    row = await w.store.retry(job)
    assert (row.status, row.error, row.finished_at, row.counts.final) == (S.QUEUED, None, None, 0)
    held = await w.claim_one()
    assert held.work.attempt == 1 and held.work.deadline_at == w.clock.now + 50
    await w.finish((held, DONE))
    assert (await w.check_sums(job)).status is S.COMPLETED
    assert JobEvent.RETRIED in await names(w)


async def test_retry_wants_a_final_job_with_something_to_retry(w: World) -> None:
    job = await w.submit()
    with pytest.raises(WrongState, match="queued"):
        await w.store.retry(job)
    await w.run_out()
    with pytest.raises(WrongState, match="nothing"):
        await w.store.retry(job)
    unsure = await w.submit()
    await w.run_out(Outcome(S.UNSURE))
    with pytest.raises(WrongState, match="nothing"):
        await w.store.retry(unsure)


async def test_retry_runs_only_the_failed_items_and_their_parents_wait_again(w: World) -> None:
    job, root = await w.open_loop(3)
    outer = await w.claim()
    await w.finish((outer[0], loop(links(3))), (outer[1], DONE), (outer[2], Outcome(S.UNSURE)))
    inner = await w.claim()
    await w.finish((inner[0], DONE), (inner[1], BROKEN), (inner[2], Outcome(S.TERMINATED)))
    await w.run_out()
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed, row.counts.final) == (S.COMPLETED, 2, 5)
    row = await w.store.retry(job)
    assert (row.status, row.counts.completed, row.counts.unsure, row.counts.final) == (S.QUEUED, 2, 1, 3)
    assert await w.status(root) is S.WAITING and await w.status(outer[0].work.session) is S.WAITING
    again = await w.claim()
    assert [one.work.session for one in again] == [inner[1].work.session, inner[2].work.session]
    assert all(one.work.attempt == 1 for one in again)
    await w.check_sums(job)
    await w.finish(*((one, DONE) for one in again))
    middle = await w.claim_one()
    assert middle.work.session == outer[0].work.session
    assert middle.work.children == ChildrenSummary(3, 3, 0, ({"n": 1},) * 3)
    await w.finish((middle, DONE))
    await w.run_out()
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed, row.counts.unsure) == (S.COMPLETED, 4, 1)


async def test_a_canceled_loop_can_be_retried_within_its_concurrency(w: World) -> None:
    job, _ = await w.open_loop(6, loop={"values": ["a"], "concurrency": 2})
    held = await w.claim()
    await w.store.cancel(job)
    await w.finish((held[0], Outcome(S.CANCELED)), (held[1], DONE))
    assert (await w.check_sums(job)).status is S.CANCELED
    assert (await w.store.retry(job)).counts.canceled == 0
    while held := await w.claim():
        assert len(held) <= 2
        await w.finish(*((one, DONE) for one in held))
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed) == (S.COMPLETED, 6)


async def test_a_stopped_loop_that_is_retried_may_stop_again(w: World) -> None:
    job, _ = await w.open_loop(4, stop=True, loop={"values": ["a"], "concurrency": 1})
    await w.finish((await w.claim_one(), BROKEN))
    await w.finish((await w.claim_one(), BROKEN))  # the parent
    assert (await w.store.retry(job)).counts.final == 0
    for _ in range(2):
        await w.finish((await w.claim_one(), DONE))  # one after the other, as before
    again = await w.claim_one()
    await w.finish((again, Outcome(S.QUEUED)))  # the loop runs again, so a child may try again
    await w.finish((await w.claim_one(), BROKEN))
    await w.finish((await w.claim_one(), BROKEN))
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed, row.counts.failed, row.counts.canceled) == (S.FAILED, 2, 1, 1)


async def test_a_retried_item_that_waits_for_its_own_loop_keeps_its_seat(w: World) -> None:
    nested = {"values": ["a"], "concurrency": 2, "loop": {"values": ["b"]}}
    job, root = await w.open_loop(5, loop=nested)
    one, two = await w.claim()
    await w.finish((one, loop(links(2))), (two, BROKEN))
    while (held := await w.claim()) and held[0].work.session != root:
        await w.finish(*((child, BROKEN) for child in held))
    await w.finish((held[0], BROKEN))
    await w.store.retry(job)
    held = await w.claim()
    # Both items of the inner loop, and one of the outer one: the other seat is the inner loop's.
    assert sorted(child.work.depth for child in held) == [1, 2, 2]
    await w.finish(*((child, DONE) for child in held if child.work.depth == 2))
    resumed = await w.claim_one()
    assert resumed.work.session == one.work.session
    await w.finish((resumed, DONE), *((child, DONE) for child in held if child.work.depth == 1))
    assert len(await w.claim(1_000, owner="w2")) == 2
    await w.store.reap(owner="w2")
    await w.run_out()
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed) == (S.COMPLETED, 6)


async def test_a_parent_that_failed_after_its_loop_goes_on_from_there_when_retried(w: World) -> None:
    job, root = await w.open_loop(2)
    await w.finish(*((one, DONE) for one in await w.claim()))
    await w.finish((await w.claim_one(), BROKEN))
    assert (await w.store.job(job)).status is S.FAILED
    await w.store.retry(job)
    again = await w.claim_one()
    assert again.work.session == root and again.work.children == ChildrenSummary(2, 2, 0, ({"n": 1},) * 2)
    assert again.work.checkpoint == Checkpoint(url="https://shop.example/list")
    await w.finish((again, DONE))
    assert (await w.check_sums(job)).status is S.COMPLETED


async def test_a_deleted_job_is_gone_with_all_its_rows(w: World) -> None:
    mine, shared = (
        ArtifactRef("a" * 32, "page", "k1", "text/html", 1),
        ArtifactRef("b" * 32, "page", "k2", "text/html", 1),
    )
    again = ArtifactRef("c" * 32, "page", "k2", "text/html", 1)
    job, other = await w.submit(labels={"a": "b"}), await w.submit()
    task = Task("navigate", "go", S.COMPLETED)
    with pytest.raises(WrongState, match="queued"):
        await w.store.delete(job)
    one, two = await w.claim()
    await w.finish((one, Outcome(S.COMPLETED, artifacts=(mine, shared), tasks=(task,))))
    await w.finish((two, Outcome(S.COMPLETED, artifacts=(again,))))
    assert [row.id for row in await w.store.delete(job, tenant="acme")] == ["a" * 32]
    for call in (w.store.job(job), w.store.session(one.work.session), w.store.artifact("b" * 32), w.store.delete(job)):
        with pytest.raises(NotFound):
            await call
    assert await w.store.events(job=job) == []
    assert [row.id for row in await w.store.jobs(JobFilter())] == [other]
    assert [row.id for row in await w.store.delete(other)] == ["c" * 32]
    assert await w.submit() > other  # no id is used twice


async def test_a_job_ends_when_its_deadline_passes(w: World) -> None:
    job, _ = await w.open_loop(5, deadline_s=100.0)
    held = await w.claim(2)
    await w.finish((held[0], DONE))
    assert await w.store.expire_deadlines() == []
    w.clock.now += 100
    assert await w.claim() == []
    assert await w.store.expire_deadlines() == [job]
    assert await w.store.expire_deadlines() == []
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed, row.counts.failed) == (S.FAILED, 1, 4)
    assert row.error is not None and row.error.code == "deadline_passed"
    assert (await w.finish((held[1], DONE))).late == {held[1].work.session}
    lines = await w.store.results(job)
    assert [line.error.code if line.error else None for line in lines] == [None, *["deadline_passed"] * 4]


# --- reading -------------------------------------------------------------------------------------------


async def test_results_have_a_line_per_record_or_one_for_an_item_without(w: World) -> None:
    job, _ = await w.open_loop(4)
    held = await w.claim()
    many = Outcome(
        S.COMPLETED,
        records=tuple(Record(i, url=f"https://x/{i}", at=f"t{i}") for i in range(3)),
        url="https://end",
        at="t",
        seconds=2.0,
        screenshot="s",
    )
    await w.finish((held[3], many), (held[1], BROKEN), (held[0], DONE))
    lines = await w.store.results(job)
    assert [
        (line.item.index if line.item else None, line.status, line.record.value if line.record else None)
        for line in lines
    ] == [
        (0, S.COMPLETED, {"n": 1}),
        (1, S.FAILED, None),
        (3, S.COMPLETED, 0),
        (3, S.COMPLETED, 1),
        (3, S.COMPLETED, 2),
    ]
    assert (lines[1].error, lines[1].attempts) == (ERROR, 1)
    assert (lines[2].url, lines[2].at, lines[2].seconds, lines[2].screenshot) == ("https://x/0", "t0", 2.0, "s")
    paged, after = [], None
    while page := await w.store.results(job, after=after, limit=2):
        assert len(page) <= 2
        paged += page
        after = page[-1].cursor
    assert paged == lines == [line async for line in w.store.stream_results(job)]
    with pytest.raises(BadInput):
        await w.store.results(job, after="nonsense")


async def test_a_job_without_a_loop_has_its_root_as_item(w: World) -> None:
    job = await w.submit()
    assert await w.store.results(job) == []
    await w.run_out()
    (line,) = await w.store.results(job)
    assert line.item is None and line.record == Record({"n": 1})
    assert await w.store.results(job, after=line.cursor) == []


async def test_a_long_result_is_streamed_page_by_page(w: World) -> None:
    job, _ = await w.open_loop(1_203)
    held = await w.claim(2_000)
    await w.finish(
        *(
            (one, Outcome(S.COMPLETED, records=(Record(one.work.item.index if one.work.item else None),)))
            for one in held
        )
    )
    assert [line.record.value async for line in w.store.stream_results(job) if line.record] == list(range(1_203))
    with pytest.raises(NotFound):
        _ = [line async for line in w.store.stream_results(job + 1)]


async def test_sessions_are_paged_in_item_order_and_filtered(w: World) -> None:
    job, root = await w.open_loop(7)
    held = await w.claim(3)
    await w.finish((held[0], DONE))
    seen: list[int] = []
    after = None
    while True:
        page, after = await w.store.sessions(job, after=after, limit=3)
        seen += [session.id for session in page]
        if after is None:
            break
    assert seen == [root, *sorted(seen[1:])] and len(seen) == 8
    by_status = {
        status: len((await w.store.sessions(job, statuses=[status]))[0])
        for status in (S.QUEUED, S.RUNNING, S.WAITING, S.COMPLETED, S.PAUSED)
    }
    assert by_status == {S.QUEUED: 4, S.RUNNING: 2, S.WAITING: 1, S.COMPLETED: 1, S.PAUSED: 0}
    assert len((await w.store.sessions(job, statuses=[S.RUNNING, S.WAITING]))[0]) == 3
    waiting = (await w.store.session(root)).row
    assert "children" in waiting.waiting_for


async def test_jobs_are_listed_newest_first_and_filtered(w: World) -> None:
    a = await w.submit(labels={"team": "x", "kind": "1"})
    b = await w.submit(labels={"team": "x"})
    c = await w.submit(tenant="other", labels={"team": "y"})
    await w.store.cancel(b)

    async def ids(**wanted: Any) -> list[int]:
        return [row.id for row in await w.store.jobs(JobFilter(**wanted))]

    assert await ids() == [c, b, a]
    assert await ids(limit=2) == [c, b]
    assert await ids(before=c) == [b, a]
    assert await ids(tenant="acme") == [b, a]
    assert await ids(statuses=(S.CANCELED,)) == [b]
    assert await ids(labels={"team": "x"}) == [b, a]
    assert await ids(labels={"team": "x", "kind": "1"}) == [a]
    assert await ids(tenant="other", labels={"team": "x"}) == []


async def test_events_go_on_behind_the_last_one_seen(w: World) -> None:
    job, other = await w.submit(), await w.submit(tenant="other")
    await w.run_out()
    every = await w.store.events()
    assert [event.seq for event in every] == sorted({event.seq for event in every})
    assert await w.store.events(after=every[3].seq) == every[4:]
    assert await w.store.events(limit=2) == every[:2]
    assert {event.job for event in await w.store.events(job=job)} == {job}
    assert {event.job for event in await w.store.events(tenant="other")} == {other}


async def test_no_reader_of_events_misses_one_while_many_write(w: World) -> None:
    other = await w.another()
    stores = [w.store, other]
    stop = asyncio.Event()
    seen: list[int] = []

    async def read() -> None:
        after = 0
        while True:
            ended = stop.is_set()
            page = await w.store.events(after=after)
            seen.extend(event.seq for event in page)
            after = seen[-1] if seen else 0
            if ended and not page:
                return

    async def write(index: int) -> None:
        for n in range(10):
            await stores[index % 2].submit([NewJob("acme", spec(goal=f"{index} {n}"), f"h{n}.example")] * 2)

    reader = asyncio.create_task(read())
    await asyncio.gather(*(write(index) for index in range(8)))
    stop.set()
    await reader
    assert seen == [event.seq for event in await w.store.events(limit=10_000)]
    assert len(seen) == 160


async def test_whoever_waits_is_woken_by_a_change(w: World) -> None:
    seen = await w.store.changed(0.0)
    await w.submit()
    # It happened before we waited: `since` tells at once.
    later = await asyncio.wait_for(w.store.changed(60.0, since=seen), 10)
    assert later > seen
    waiting = asyncio.create_task(w.store.changed(60.0, since=later))
    await asyncio.sleep(0)
    await w.submit()
    assert await asyncio.wait_for(waiting, 10) > later


async def test_whoever_waits_is_woken_by_another_process(w: World) -> None:
    other = await w.another()
    known = await other.changed(0.3)  # the listener is there once the first wait is over
    waiting = asyncio.create_task(other.changed(60.0, since=known))
    await asyncio.sleep(0)
    await w.submit()
    assert await asyncio.wait_for(waiting, 10) > known


# --- keys and shared state -------------------------------------------------------------------------------


async def test_keys_are_found_by_hash_and_revoked(w: World) -> None:
    key = await w.store.create_key("ci", "acme", ["read", "submit"], "hash1")
    other = await w.store.create_key("ops", "*", ["admin"], "hash2")
    assert key.scopes == ("read", "submit") and key.revoked_at is None
    assert await w.store.find_key("hash1") == key and await w.store.find_key("hash3") is None
    assert await w.store.keys() == [key, other]
    w.clock.now += 5
    revoked = await w.store.revoke_key(key.id)
    assert revoked.revoked_at is not None and revoked.revoked_at.timestamp() == w.clock.now
    w.clock.now += 5
    assert await w.store.revoke_key(key.id) == revoked == await w.store.find_key("hash1")
    with pytest.raises(NotFound):
        await w.store.revoke_key(other.id + 1)


async def test_snapshots_are_kept_by_name_with_their_age(w: World) -> None:
    await w.store.put_state("dispatcher/a", {"slots": 1})
    await w.store.put_state("dispatcher/b", {"slots": 2})
    await w.store.put_state("other", {})
    w.clock.now += 3
    await w.store.put_state("dispatcher/a", {"slots": 3})
    assert await w.store.states("dispatcher/") == {"dispatcher/a": ({"slots": 3}, 0), "dispatcher/b": ({"slots": 2}, 3)}
    assert await w.store.states("DISPATCHER") == {} and await w.store.states("dispatcher_") == {}


async def test_sessions_are_counted_by_tenant_and_status(w: World) -> None:
    job, _ = await w.open_loop(5)
    held = await w.claim(2)
    await w.finish((held[0], DONE))
    await w.submit(tenant="other")
    paused = await w.submit(tenant="other")
    await w.store.pause(paused)
    assert await w.store.counts_by_status() == {
        ("acme", S.WAITING): 1,
        ("acme", S.QUEUED): 3,
        ("acme", S.RUNNING): 1,
        ("acme", S.COMPLETED): 1,
        ("other", S.QUEUED): 1,
        ("other", S.PAUSED): 1,
    }
    assert job


async def test_a_closed_store_is_away(w: World) -> None:
    other = await w.another()
    await other.close()
    await other.close()
    for call in (other.lanes(), other.changed(60.0), other.submit([NewJob("acme", spec(), "shop.example")])):
        with pytest.raises(StoreAway):
            await call


async def test_whoever_waits_for_a_change_is_let_go_when_the_store_is_closed(w: World) -> None:
    other = await w.another()
    known = await other.changed(0.2)
    waiting = asyncio.create_task(other.changed(60.0, since=known + 1_000))
    await asyncio.sleep(0)
    await other.close()
    await asyncio.wait_for(waiting, 10)
