"""Outcomes: what a report makes of a session and its job."""

from __future__ import annotations

import pytest

from shoal.agent.status import Status
from shoal.agent.types import ArtifactRef, Checkpoint, Incomplete, Outcome, Record, Step, Task, Usage
from shoal.services.errors import WrongState
from shoal.services.events import JobEvent
from shoal.services.store.records import ClaimRequest, IncompleteLists
from tests.store_contract.fixtures import names
from tests.store_world import BROKEN, DONE, ERROR, World

S = Status


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
    assert (await w.store.latest_events(progress.job, limit=2)) == [finished, progress]
    assert (await w.store.latest_events(progress.job, before=finished.seq, limit=1)) == [progress]
    assert await w.store.latest_events(progress.job + 1) == []
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
    (freed,) = (await w.store.expire_leases()).sessions
    assert (freed.session, freed.job, freed.status) == (late.work.session, job, S.QUEUED)
    again = await w.claim_one()
    assert again.work.fence > late.work.fence
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
    assert [(partition.job, partition.host) for partition in written.ready] == [(job, "shop.example")]
    third = await w.claim_one()
    assert (third.work.attempt, third.work.checkpoint) == (3, kept)
    await w.check_sums(job)


async def test_a_claim_alone_wakes_sessions_whose_time_has_come(w: World) -> None:
    job = await w.submit()
    held = await w.claim_one()
    await w.finish((held, Outcome(S.QUEUED)), ready_in_s=5)
    take = ClaimRequest(job, held.domain, 0, 1)
    assert not (await w.store.claim("w1", [take], lease_s=60)).sessions
    w.clock.now += 5
    assert len((await w.store.claim("w1", [take], lease_s=60)).sessions) == 1


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


async def test_a_job_sums_up_what_its_lists_are_known_to_lack(w: World) -> None:
    job = await w.submit()
    await w.finish((await w.claim_one(), Outcome(S.COMPLETED, incomplete=Incomplete(10, 57, "no next page"))))
    row = await w.check_sums(job)
    assert (row.status, row.incomplete, row.is_partial) == (S.COMPLETED, IncompleteLists(1, 10, 57), True)
    detail = await w.store.session(row.root_session)
    assert detail.row.outcome is not None and detail.row.outcome.incomplete == Incomplete(10, 57, "no next page")
    finished = (await w.store.events())[-1]
    assert finished.data["incomplete"] == {"lists": 1, "found": 10, "shown": 57}


async def test_a_job_that_lacks_nothing_is_told_so(w: World) -> None:
    job = await w.submit()
    await w.finish((await w.claim_one(), Outcome(S.COMPLETED)))
    row = await w.check_sums(job)
    assert (row.incomplete, row.is_partial) == (None, False)
    assert (await w.store.events())[-1].data["incomplete"] is None


async def test_lists_of_items_are_summed_and_one_without_a_count_leaves_the_whole_unknown(w: World) -> None:
    job, _ = await w.open_loop(3)
    held = await w.claim()
    ends = (Incomplete(10, 57), Incomplete(0, None), None)
    await w.finish(
        *((one, Outcome(S.COMPLETED, incomplete=end)) for one, end in zip(held, ends, strict=True)),
    )
    await w.finish((await w.claim_one(), DONE))
    row = await w.check_sums(job)
    assert row.incomplete == IncompleteLists(2, 10, None)


async def test_a_failed_session_s_list_is_not_among_them(w: World) -> None:
    job = await w.submit()
    await w.finish((await w.claim_one(), Outcome(S.FAILED, error=ERROR, incomplete=Incomplete(1, 2))))
    row = await w.check_sums(job)
    assert (row.incomplete, row.is_partial) == (None, False)


async def test_what_a_list_lacked_is_forgotten_when_its_job_is_reopened(w: World) -> None:
    job, _ = await w.open_loop(2)
    first, second = await w.claim()
    await w.finish((first, BROKEN), (second, DONE))
    await w.finish((await w.claim_one(), Outcome(S.COMPLETED, incomplete=Incomplete(2, 3))))
    assert (await w.store.job(job)).incomplete == IncompleteLists(1, 2, 3)
    assert (await w.store.retry(job)).incomplete is None
    await w.finish((await w.claim_one(), DONE))
    await w.finish((await w.claim_one(), DONE))
    assert (await w.check_sums(job)).incomplete is None
