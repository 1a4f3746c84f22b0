"""Loops that learn: what is held back, who decides, and what items are given."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from shoal.agent.status import Status
from shoal.agent.types import LearningLoop, Outcome, Record, Replay
from shoal.agent.worker_messages import LearnedUse
from shoal.agent.workflows.format.workflow import read_workflow
from shoal.agent.workflows.judging.phase import FIRST_ITEMS, LearningStep, Phase
from shoal.agent.workflows.judging.sampling import is_audited
from shoal.services.store.learning.loops import AUDITED
from shoal.services.store.learning.records import LearningDue
from shoal.services.store.records import Claimed
from shoal.services.store.waiting_causes import WaitingCause
from tests.store_contract.workflows import BRANCH, learned
from tests.store_world import BROKEN, DONE, World, links, loop

FOR = LearningLoop("h0.example", "g", "s")
VERSION = learned().versions[0]
N = 30


async def learning_loop(w: World, n: int = N, wanted: LearningLoop = FOR, **fields: object) -> tuple[int, int]:
    """A job whose root has opened a loop that learns; gives the job and the root."""
    job = await w.submit(**fields)
    (root,) = await w.claim(job=job)
    outcome = loop(links(n))
    assert outcome.fan_out is not None
    await w.finish((root, replace(outcome, fan_out=replace(outcome.fan_out, learning=wanted))))
    return job, root.work.session


async def end_all(w: World, outcome: Outcome = DONE) -> list[Claimed]:
    """Ends what may begin now, once; gives it as it was claimed."""
    held = await w.claim()
    await w.finish(*((one, outcome) for one in held))
    return held


async def lent(w: World, loop_id: int, owner: str = "d") -> LearningDue:
    found = await w.store.learning.lend(loop_id, owner, lasts_s=20)
    assert found is not None
    return found


async def decide(w: World, loop_id: int, step: LearningStep, owner: str = "d") -> bool:
    await lent(w, loop_id, owner)
    return (await w.store.learning.decide(loop_id, owner, step)).written


def replayed(one: Claimed, *misses: str, audit: str = "") -> Outcome:
    """What a replay of one item comes to."""
    workflow = read_workflow(one.work.spec.workflow)
    number = workflow.versions[0].number
    by = Replay(workflow.name, number, not misses, misses, audit=audit)  # type: ignore[arg-type]
    record = Record({"n": 1}, workflow="" if misses else f"{workflow.name}@{number}", audit=by.audit)
    return replace(DONE, records=(record,), replay=by)


def shadowed(records: Sequence[Claimed]) -> list[tuple[Claimed, Outcome]]:
    done = []
    for one in records:
        workflow = read_workflow(one.work.spec.workflow)
        compared = Replay(workflow.name, workflow.versions[0].number, whole=True, shadow=True, audit="right")
        done.append((one, replace(DONE, replay=compared)))
    return done


async def replaying(w: World, *, begins: Phase = Phase.ITEMS, **fields: object) -> tuple[int, int]:
    """A loop whose other items may begin, to be replayed; `begins`: its first phase. Gives the job and the loop."""
    job, root = await learning_loop(w, **fields)  # type: ignore[arg-type]
    await end_all(w)
    assert (await w.store.learning.of_job(job))[0].phase is begins
    if begins is Phase.ITEMS:
        await decide(w, root, SHADOW)
        await w.finish(*shadowed(await w.claim()))
    await decide(w, root, REPLAY)
    while (await w.store.run_bulk_operations()).more:
        pass
    return job, root


SHADOW = LearningStep(Phase.SHADOW, "compiled", let_go=5, version=VERSION, state="shadow")
REPLAY = LearningStep(Phase.REPLAY, "the same", state="canary")


async def test_the_first_items_of_a_loop_that_learns_may_begin_and_the_others_wait_for_what_it_learns(
    w: World,
) -> None:
    job, root = await learning_loop(w)
    first = await w.claim()
    assert [one.work.learned for one in first] == [LearnedUse.TEACH] * FIRST_ITEMS
    assert await w.store.learning.due() == [], "they run"
    await w.finish((first[0], DONE))
    assert await w.claim() == [], "an item that ends makes no room"
    sessions, _ = await w.store.sessions(job, limit=100)
    waiting = {one.waiting_for for one in sessions if one.depth and one.status is Status.QUEUED}
    assert waiting == {WaitingCause.LEARNING}
    await w.finish(*((one, DONE) for one in first[1:]))
    assert await w.store.learning.due() == [root]
    await w.check_sums(job)


async def test_one_dispatcher_decides_at_a_time_and_another_when_it_died(w: World) -> None:
    _, root = await learning_loop(w)
    await end_all(w)
    other = await w.another()
    loans = await asyncio.gather(
        w.store.learning.lend(root, "a", lasts_s=20), other.learning.lend(root, "b", lasts_s=20)
    )
    assert sorted(one is not None for one in loans) == [False, True]
    late = "a" if loans[0] is not None else "b"
    assert await w.store.learning.due() == []
    w.clock.now += 21
    assert await w.store.learning.due() == [root]
    assert await decide(w, root, SHADOW, "c")
    written = await w.store.learning.decide(root, late, SHADOW)
    assert not written.written, "what was decided on a loan that had ended changes nothing"
    (stored,) = await w.store.workflows.some("acme")
    assert [one.version.state for one in stored.versions] == ["shadow"]


async def test_a_loop_goes_from_items_to_shadow_to_replay(w: World) -> None:
    job, root = await learning_loop(w)
    taught = await end_all(w)
    assert [(one.work.learned, one.work.spec.workflow) for one in taught] == [(LearnedUse.TEACH, None)] * FIRST_ITEMS
    known = await lent(w, root)
    assert (known.phase, known.ended, known.version) == (Phase.ITEMS, FIRST_ITEMS, None)
    written = await w.store.learning.decide(root, "d", SHADOW)
    assert written.written and [one.job for one in written.ready] == [job]
    compared = await w.claim()
    assert [one.work.learned for one in compared] == [LearnedUse.SHADOW] * 5
    assert {one.work.spec.policy for one in compared} == {"auto"}
    await w.finish(*shadowed(compared))
    known = await lent(w, root)
    assert (known.phase, known.figures.items, known.figures.misses, known.figures.wrong) == (Phase.SHADOW, 5, 0, 0)
    assert (await w.store.learning.decide(root, "d", REPLAY)).written
    assert await w.store.learning.replays([job]) == {job: True}
    while (await w.store.run_bulk_operations()).more:
        pass
    rest = await w.claim()
    assert len(rest) == N - 8
    assert {one.work.learned for one in rest} == {LearnedUse.REPLAY, LearnedUse.AUDIT}
    assert {one.work.spec.policy for one in rest} == {"auto"}, "the job's own policy is behind the workflow"
    assert all(read_workflow(one.work.spec.workflow).name.startswith("h0.example-") for one in rest)
    await w.finish(*((one, replayed(one)) for one in rest[:-1]), (rest[-1], replayed(rest[-1], "shape")))
    (told,) = await w.store.learning.of_job(job)
    assert (told.figures["replays"], told.figures["misses"], told.figures["miss_shape"]) == (N - 9, 1, 1)
    await w.run_out()
    assert (await w.check_sums(job)).status is Status.COMPLETED
    assert await w.store.learning.due() == []


async def test_a_record_that_is_confirmed_to_be_wrong_is_to_be_decided_on_at_once(w: World) -> None:
    _, root = await replaying(w)
    rest = await w.claim(2)
    await w.finish((rest[0], replayed(rest[0])))
    assert await w.store.learning.due() == []
    await w.finish((rest[1], replayed(rest[1], "audit", audit="wrong")))
    assert await w.store.learning.due() == [root]
    known = await lent(w, root)
    assert (known.figures.items, known.figures.wrong) == (2, 1)
    broken = LearningStep(Phase.OFF, "a record was wrong", state="broken")
    assert (await w.store.learning.decide(root, "d", broken)).written
    (stored,) = await w.store.workflows.some("acme")
    assert [one.version.state for one in stored.versions] == ["broken"]
    assert {one.work.spec.policy for one in await w.claim()} == {"auto"}


async def test_a_version_with_weak_fields_is_audited_more(w: World) -> None:
    field = {**BRANCH["fields"][0], "weak": "only its position is known"}
    weak = learned("books", {"state": "active", "branches": [{**BRANCH, "fields": [field]}]}, site="h0.example")
    await w.store.workflows.keep("acme", weak)
    job, root = await learning_loop(w, n=300)
    await w.finish(*shadowed(await w.claim()))
    await decide(w, root, REPLAY)
    while (await w.store.run_bulk_operations()).more:
        pass
    rest = await w.claim(job=job)
    audited = {one.work.item.index for one in rest if one.work.item and one.work.learned is LearnedUse.AUDIT}
    assert audited == {n for n in range(5, 300) if is_audited(job, n, 5 * AUDITED)}


async def test_records_since_the_last_good_audit_are_opened_again_when_one_is_confirmed_to_be_wrong(w: World) -> None:
    job, root = await replaying(w)
    rest = await w.claim()
    assert len(rest) == N - 8
    await w.finish(*((one, replayed(one)) for one in rest[:4]), (rest[4], replayed(rest[4], audit="right")))
    (told,) = await w.store.learning.of_job(job)
    assert told.figures["provisional"] == 0
    await w.finish(*((one, replayed(one)) for one in rest[5:-1]))
    (told,) = await w.store.learning.of_job(job)
    assert told.figures["provisional"] == N - 8 - 6
    lines = {line.session: line.provisional for line in await w.store.results(job)}
    assert {session for session, provisional in lines.items() if provisional} == {
        one.work.session for one in rest[5:-1]
    }
    assert len(lines) == N - 1
    await w.finish((rest[-1], replayed(rest[-1], "audit", audit="wrong")))
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed) == (Status.RUNNING, 8 + 5 + 1), (
        "the loop waits for them, its last item too"
    )
    assert await w.claim() == []
    await decide(w, root, LearningStep(Phase.OFF, "a record was wrong", state="broken"))
    again = []
    while held := await w.claim() or ((await w.store.run_bulk_operations()).more and [*await w.claim()]):
        again += held
        await w.finish(*((one, DONE) for one in held))
    doubted = {one.work.session for one in rest[5:-1]}
    assert {one.work.session for one in again if one.work.depth} == doubted
    assert (await w.check_sums(job)).status is Status.COMPLETED


async def test_a_later_loop_begins_with_what_was_learned_and_another_tenants_does_not(w: World) -> None:
    await w.store.workflows.keep("acme", learned("books", {"state": "active"}, site="h0.example"))
    _, _root = await learning_loop(w)
    first = await w.claim()
    assert [one.work.learned for one in first] == [LearnedUse.SHADOW] * 5
    assert first[0].work.spec.workflow is not None and first[0].work.spec.workflow["name"] == "books"
    (told,) = await w.store.learning.of_job(first[0].work.job)
    assert told.why == "begins with books@1, learned by an earlier job"
    await w.run_out()
    await learning_loop(w, tenant="other")
    assert {one.work.learned for one in await w.claim()} == {LearnedUse.TEACH}
    await learning_loop(w, wanted=replace(FOR, goal="another"))
    assert {one.work.learned for one in await w.claim()} == {LearnedUse.TEACH}


async def test_an_item_that_goes_on_from_its_own_checkpoint_is_the_models(w: World) -> None:
    await replaying(w)
    (one,) = await w.claim(1)
    checkpoint = loop(links(1)).fan_out
    assert checkpoint is not None and one.work.spec.workflow is not None
    await w.store.checkpoint(one.work.session, one.work.fence, checkpoint.checkpoint)
    await w.store.expire_leases(owner="w1", lease_s=60)
    again = [claimed for claimed in await w.claim() if claimed.work.session == one.work.session]
    assert [(claimed.work.spec.workflow, claimed.work.learned) for claimed in again] == [(None, None)]


async def test_what_is_held_back_can_be_canceled_and_retried_without_learning(w: World) -> None:
    job, _ = await learning_loop(w)
    await end_all(w)
    await w.store.cancel(job)
    await w.run_out()
    assert (await w.check_sums(job)).status is Status.CANCELED
    assert await w.store.learning.due() == []
    await w.store.retry(job)
    await w.run_out()
    assert (await w.check_sums(job)).counts.completed == N
    (told,) = await w.store.learning.of_job(job)
    assert (told.phase, told.holds_back) == (Phase.OFF, False)


async def test_what_a_long_loop_leaves_for_later_is_held_back_too(w: World) -> None:
    w.first, w.part = 10, 5
    job, root = await learning_loop(w, n=40)
    assert len(await end_all(w)) == FIRST_ITEMS
    assert await w.claim() == []
    await decide(w, root, LearningStep(Phase.OFF, "nothing was learned"))
    await w.run_out()
    assert (await w.check_sums(job)).counts.completed == 40


async def test_the_loops_own_concurrency_holds_while_it_learns(w: World) -> None:
    job, root = await learning_loop(w, loop={"from": {"select": "a"}, "concurrency": 1})
    assert len(await end_all(w)) == 1
    assert await w.store.learning.due() == [root]
    await decide(w, root, LearningStep(Phase.ITEMS, "more", let_go=2))
    assert len(await w.claim()) == 1
    assert (await w.check_sums(job)).counts.completed == 1


async def test_a_cluster_of_misses_holds_the_other_items_back_for_a_repair_by_one_loop_at_a_time(w: World) -> None:
    job, first = await replaying(w)
    some = await w.claim(6, job=job)
    await w.finish(*((one, replayed(one, "signature")) for one in some[:3]))
    assert await w.store.learning.due() == [first]
    known = await lent(w, first)
    assert (known.figures.items, known.figures.misses, known.version and known.version.state) == (3, 3, "canary")
    repair = LearningStep(Phase.ITEMS, "3 of 3 items were missed")
    assert (await w.store.learning.decide(first, "d", repair)).written
    while (await w.store.run_bulk_operations()).more:
        pass
    assert await w.claim() == [], "what had not begun is held back"
    await w.finish(*((one, replayed(one)) for one in some[3:]))
    known = await lent(w, first)
    assert (known.phase, known.rounds) == (Phase.ITEMS, 1)

    job, second = await replaying(w, begins=Phase.SHADOW)
    others = await w.claim(6, job=job)
    await w.finish(*((one, replayed(one, "signature")) for one in others[:3]))
    await lent(w, second)
    assert (await w.store.learning.decide(second, "d", repair)).written
    told = (await w.store.learning.of_job(job))[0]
    assert (told.phase, told.why) == (Phase.REPLAY, "another session repairs it")

    w.clock.now += 21
    better = VERSION.model_copy(update={"by": "repair"})
    assert await decide(w, first, LearningStep(Phase.SHADOW, "repaired", 5, better, "shadow"))
    (stored,) = await w.store.workflows.some("acme")
    assert [(one.version.parent, one.version.state) for one in stored.versions] == [(None, "canary"), (1, "shadow")]


async def test_items_in_doubt_of_a_loop_that_learns_no_more_are_done_by_the_model(w: World) -> None:
    job, root = await replaying(w)
    some = await w.claim(6)
    await w.finish(*((one, replayed(one, "signature")) for one in some[:3]), (some[3], replayed(some[3])))
    await decide(w, root, LearningStep(Phase.OFF, "missed too often", state="broken"))
    while (await w.store.run_bulk_operations()).more:
        pass
    await w.finish(*((one, DONE) for one in await w.claim()))
    await w.finish((some[4], replayed(some[4], "audit", audit="wrong")))
    while (await w.store.run_bulk_operations()).more:
        pass
    again = await w.claim()
    assert [(one.work.session, one.work.learned) for one in again] == [(some[3].work.session, None)]
    await w.finish((again[0], DONE), (some[5], replayed(some[5])))
    await w.run_out()
    assert (await w.check_sums(job)).counts.completed == N


async def test_a_retry_after_the_loop_has_learned_opens_doubtful_records_and_the_model_reads_them(w: World) -> None:
    job, _ = await replaying(w)
    some = await w.claim(6)
    await w.finish((some[0], BROKEN), *((one, replayed(one)) for one in some[1:]))
    while rest := await w.claim(job=job):
        await w.finish(*((one, DONE if one.work.depth == 0 else replayed(one)) for one in rest))
    assert (await w.check_sums(job)).counts.failed == 1
    await w.store.retry(job)
    (failed,) = await w.claim(job=job)
    await w.finish((failed, replayed(failed, "audit", audit="wrong")))
    await w.run_out()
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed) == (Status.COMPLETED, N)
    (told,) = await w.store.learning.of_job(job)
    assert (told.phase, told.why) == (Phase.OFF, "a record was confirmed to be wrong")
