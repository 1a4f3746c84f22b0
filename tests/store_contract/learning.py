"""Loops that learn: what is held back, who decides, and what items are given."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from shoal.agent.status import Status
from shoal.agent.types import ArtifactRef, LearningLoop, LoopItem, Outcome, Record, Replay, Usage
from shoal.agent.worker_messages import LearnedUse
from shoal.agent.workflows.format.branch import Signature
from shoal.agent.workflows.format.workflow import read_workflow
from shoal.agent.workflows.judging.phase import FIRST_ITEMS, LearningStep, Phase
from shoal.agent.workflows.judging.repair import with_branch
from shoal.agent.workflows.judging.sampling import AT_FIRST, AT_FIRST_WEAK, AuditPlan, is_audited, uniform_share
from shoal.services.store.learning.deciding import _version_figures
from shoal.services.store.learning.records import LearningDue, Repair
from shoal.services.store.records import Claimed
from shoal.services.store.waiting_causes import WaitingCause
from tests.store_contract.workflows import BRANCH, learned
from tests.store_world import BROKEN, DONE, World, links, loop

FOR = LearningLoop("h0.example", "g", "s")
VERSION = learned().versions[0]
N = 30


async def learning_loop(
    w: World,
    n: int = N,
    wanted: LearningLoop = FOR,
    *,
    stop: bool = False,
    items: Sequence[LoopItem] = (),
    **fields: object,
) -> tuple[int, int]:
    """A job whose root has opened a loop that learns; gives the job and the root."""
    job = await w.submit(**fields)
    (root,) = await w.claim(job=job)
    outcome = loop(items or links(n), stop=stop)
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


async def repair(w: World, loop_id: int, step: LearningStep) -> Repair | None:
    """Return what a decision means for the repair of the loop's version."""
    await lent(w, loop_id)
    decided = await w.store.learning.decide(loop_id, "d", step)
    assert decided.written
    return decided.repair


def replayed(one: Claimed, *misses: str, audit: str = "", branch: str = "") -> Outcome:
    """Return what a replay of one item comes to, read by the version's first branch, or one with another key."""
    workflow = read_workflow(one.work.spec.workflow)
    (version,) = workflow.versions
    number, keys = version.number, branch or version.branches[0].key
    by = Replay(workflow.name, number, not misses, misses, branches=keys, audit=audit)  # type: ignore[arg-type]
    record = Record({"n": 1}, workflow="" if misses else f"{workflow.name}@{number}", audit=by.audit)
    return replace(DONE, records=(record,), replay=by)


async def provisional(w: World, job: int) -> set[int]:
    """The sessions of a job whose records are provisional; the job's own count says the same."""
    sessions = {line.session for line in await w.store.results(job) if line.provisional}
    (told,) = await w.store.learning.of_job(job)
    assert told.figures["provisional"] == len(sessions)
    return sessions


def sessions_of(items: Iterable[Claimed]) -> list[int]:
    return [one.work.session for one in items]


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


async def test_in_replay_figures_decide_alone_and_no_evidence_is_looked_up(w: World) -> None:
    _, root = await learning_loop(w)
    for one in await w.claim():
        name = f"{one.work.session:032x}"
        kept = ArtifactRef(name, "evidence", f"runs/{name}", "application/zlib", 9)
        await w.finish((one, replace(DONE, artifacts=(kept,))))
    assert len((await lent(w, root)).evidence_keys) == FIRST_ITEMS
    await w.store.learning.decide(root, "d", SHADOW)
    await w.finish(*shadowed(await w.claim()))
    assert len((await lent(w, root)).evidence_keys) == FIRST_ITEMS
    await w.store.learning.decide(root, "d", REPLAY)
    while (await w.store.run_bulk_operations()).more:
        pass
    await w.finish(*((one, replayed(one, "signature")) for one in await w.claim(3)))
    assert (await lent(w, root)).evidence_keys == ()


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


async def replaying_weak(w: World, n: int) -> tuple[int, int]:
    """A loop of so many items that a version with a weak field replays."""
    field = {**BRANCH["fields"][0], "weak": "only its position is known"}
    weak = learned("books", {"state": "active", "branches": [{**BRANCH, "fields": [field]}]}, site="h0.example")
    await w.store.workflows.keep("acme", weak)
    job, root = await learning_loop(w, n=n)
    await w.finish(*shadowed(await w.claim()))
    await decide(w, root, REPLAY)
    while (await w.store.run_bulk_operations()).more:
        pass
    return job, root


def audited_of(some: Iterable[Claimed]) -> set[int]:
    """The items that are audited."""
    return {one.work.item.index for one in some if one.work.item and one.work.learned is LearnedUse.AUDIT}


def drawn(job: int, some: Iterable[Claimed], by: AuditPlan | float) -> set[int]:
    """The items that are audited by such a plan, or by one share."""
    plan = by if isinstance(by, AuditPlan) else None
    indexes = [one.work.item.index for one in some if one.work.item]
    return {n for n in indexes if is_audited(job, n, plan.share(n) if plan else by)}  # type: ignore[arg-type]


async def test_a_version_with_weak_fields_is_audited_more_and_the_less_the_more_audits_agree(w: World) -> None:
    job, _ = await replaying_weak(w, 600)
    some = await w.claim(100, job=job)
    assert audited_of(some) == drawn(job, some, AuditPlan(600, weak=True))
    asked = [one for one in some if one.work.learned is LearnedUse.AUDIT]
    agreeing = [*asked, *(one for one in some if one not in asked)][:10]
    await w.finish(*((one, replayed(one, audit="right")) for one in agreeing))
    rest = await w.claim(job=job)
    assert audited_of(rest) == drawn(job, rest, AuditPlan(600, 10, weak=True)) < drawn(job, rest, AT_FIRST_WEAK / 4)


async def test_the_bound_rests_on_the_uniform_share_alone(w: World) -> None:
    job, _ = await replaying_weak(w, 1_200)
    some = await w.claim(400, job=job)
    await w.finish(*((one, replayed(one, audit="right")) for one in some if one.work.learned is LearnedUse.AUDIT))
    (told,) = await w.store.learning.of_job(job)
    uniform, all_of_them = drawn(job, some, uniform_share(1_200)), audited_of(some)
    assert 0 < len(uniform) < len(all_of_them)
    assert told.figures["audits"] == len(uniform)
    assert told.figures["more_right"] == len(all_of_them) - len(uniform)


async def test_the_share_that_is_audited_begins_anew_where_audits_do_not_agree_and_after_drift(w: World) -> None:
    job, root = await replaying_weak(w, 600)
    some = await w.claim(120, job=job)
    await w.finish(*((one, replayed(one, audit="right")) for one in some[:30]))
    after = await w.claim(100, job=job)
    assert audited_of(after) == drawn(job, after, uniform_share(600)), "thirty have agreed"
    await w.finish((some[30], replayed(some[30], "audit", audit="unclear")))
    doubted = await w.claim(100, job=job)
    assert audited_of(doubted) == drawn(job, doubted, AT_FIRST_WEAK)
    await w.finish(*((one, replayed(one, audit="right")) for one in (*some[31:], *after, *doubted)))
    await decide_again(w, root, LearningStep(Phase.SHADOW, "stopped for drift"))
    while (await w.store.run_bulk_operations()).more:
        pass
    await decide(w, root, LearningStep(Phase.SHADOW, "0 of 5 items are compared", let_go=5))
    await w.finish(*shadowed(await w.claim(job=job)))
    await decide(w, root, LearningStep(Phase.REPLAY, "the same after all"))
    while (await w.store.run_bulk_operations()).more:
        pass
    rest = await w.claim(job=job)
    assert len(rest) > 200 and audited_of(rest) == drawn(job, rest, AT_FIRST_WEAK)


async def test_a_new_version_is_audited_as_often_as_the_first_one_at_first(w: World) -> None:
    job, root = await learning_loop(w, n=1_200)
    await end_all(w)
    await decide(w, root, SHADOW)
    await w.finish(*shadowed(await w.claim()))
    await decide(w, root, REPLAY)
    while (await w.store.run_bulk_operations()).more:
        pass
    some = await w.claim(60, job=job)
    assert audited_of(some) == drawn(job, some, AuditPlan(1_200))
    await w.finish(*((one, replayed(one, audit="right")) for one in some[:40]))
    after = await w.claim(100, job=job)
    assert audited_of(after) == drawn(job, after, uniform_share(1_200))
    await w.finish(*((one, replayed(one, "signature")) for one in (*some[40:], *after)))
    await decide(w, root, LearningStep(Phase.ITEMS, "120 of 160 items were missed"))
    better = with_branch(VERSION, VERSION.branches[0].model_copy(update={"signature": Signature(url="/q/{}")}))
    while (await w.store.run_bulk_operations()).more:
        pass
    await decide(w, root, LearningStep(Phase.SHADOW, "repaired", 5, better, "shadow"))
    await w.finish(*shadowed(await w.claim(job=job)))
    await decide(w, root, REPLAY)
    while (await w.store.run_bulk_operations()).more:
        pass
    later = await w.claim(100, job=job)
    assert audited_of(later) == drawn(job, later, AT_FIRST)


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


async def test_an_audit_confirms_what_its_own_branch_has_read_and_nothing_of_another_kind_of_page(w: World) -> None:
    job, root = await replaying(w)
    rest = await w.claim()
    club = "another"
    await w.finish(
        (rest[0], replayed(rest[0])),
        (rest[1], replayed(rest[1], branch=club)),
        (rest[2], replayed(rest[2], branch=club)),
    )
    assert await provisional(w, job) == set(sessions_of(rest[:3]))
    await w.finish((rest[3], replayed(rest[3], audit="right", branch=club)))
    assert await provisional(w, job) == {rest[0].work.session}, "the other branch was not audited"
    await w.finish((rest[5], replayed(rest[5], branch=club)), (rest[6], replayed(rest[6])))
    await w.finish((rest[4], replayed(rest[4], branch=club)))
    doubted = [rest[0], *rest[4:7]]
    assert await provisional(w, job) == set(sessions_of(doubted)), "an item that ends after the audit is not confirmed"
    await w.finish((rest[7], replayed(rest[7], "audit", audit="wrong")))
    await decide(w, root, LearningStep(Phase.OFF, "a record was wrong", state="broken"))
    (told,) = await w.store.learning.of_job(job)
    assert (told.figures["reopened"], told.figures["provisional"]) == (2, 2)
    assert await provisional(w, job) == set(sessions_of(rest[4:6])), "what another branch has read is not done anew"


async def test_an_audit_in_the_same_commit_confirms_what_ends_with_it(w: World) -> None:
    job, _ = await replaying(w)
    rest = await w.claim()
    await w.finish((rest[0], replayed(rest[0], audit="right")), (rest[1], replayed(rest[1])))
    assert await provisional(w, job) == set()
    await w.finish((rest[2], replayed(rest[2])))
    assert await provisional(w, job) == {rest[2].work.session}


async def test_what_a_repaired_version_reads_wrong_by_an_old_branch_opens_what_that_branch_has_read_before(
    w: World,
) -> None:
    job, root = await replaying(w)
    rest = await w.claim(6)
    await w.finish((rest[0], replayed(rest[0])), *((one, replayed(one, "signature")) for one in rest[1:4]))
    await decide(w, root, LearningStep(Phase.ITEMS, "3 of 4 items were missed"))
    while (await w.store.run_bulk_operations()).more:
        pass
    await w.finish(*((one, replayed(one)) for one in rest[4:]))
    better = with_branch(VERSION, VERSION.branches[0].model_copy(update={"signature": Signature(url="/q/{}")}))
    await decide(w, root, LearningStep(Phase.SHADOW, "repaired", 5, better, "shadow"))
    await w.finish(*shadowed(await w.claim()))
    await decide(w, root, REPLAY)
    while (await w.store.run_bulk_operations()).more:
        pass
    (wrong,) = await w.claim(1)
    await w.finish((wrong, replayed(wrong, "audit", audit="wrong")))
    (told,) = await w.store.learning.of_job(job)
    assert (told.version, told.figures["reopened"], told.figures["provisional"]) == (2, 3, 0)


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


async def test_why_a_loop_is_where_it_is_goes_on_naming_what_it_began_with(w: World) -> None:
    await w.store.workflows.keep("acme", learned("books", {"state": "active"}, site="h0.example"))
    job, root = await learning_loop(w)
    began = "begins with books@1, learned by an earlier job"
    await w.finish(*shadowed(await w.claim()))
    await decide(w, root, LearningStep(Phase.REPLAY, "5 of 5 items were the same by the baseline"))
    (told,) = await w.store.learning.of_job(job)
    assert told.why == f"{began}; 5 of 5 items were the same by the baseline"
    await decide_again(w, root, LearningStep(Phase.REPLAY, "still the same", state="canary"))
    (told,) = await w.store.learning.of_job(job)
    assert told.why.startswith(f"{began}; still the same; version 1 of 'books' is active, and cannot become canary")
    assert (await w.store.workflows.get("acme", "books")).versions[0].version.state == "active"


async def decide_again(w: World, root: int, step: LearningStep) -> None:
    """Another decision in replay, for which three misses are the occasion."""
    while (await w.store.run_bulk_operations()).more:
        pass
    some = await w.claim(3)
    await w.finish(*((one, replayed(one, "signature")) for one in some))
    await decide(w, root, step)


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
    begun = LearningStep(Phase.ITEMS, "3 of 3 items were missed")
    assert (await w.store.learning.decide(first, "d", begun)).written
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
    decided = await w.store.learning.decide(second, "d", begun)
    assert decided.written and decided.repair is None, "it does not begin"
    told = (await w.store.learning.of_job(job))[0]
    assert told.phase is Phase.REPLAY and told.why.startswith("begins with h0.example-")
    assert told.why.endswith(", learned by an earlier job; another session repairs it")

    w.clock.now += 21
    better = VERSION.model_copy(update={"by": "repair"})
    assert await decide(w, first, LearningStep(Phase.SHADOW, "repaired", 5, better, "shadow"))
    (stored,) = await w.store.workflows.some("acme")
    assert [(one.version.parent, one.version.state) for one in stored.versions] == [(None, "canary"), (1, "shadow")]


async def test_a_repair_tells_what_it_has_cost_when_its_version_replays(w: World) -> None:
    job, root = await replaying(w)
    spent = replace(DONE, usage=Usage(model_calls=2), usage_before=Usage(model_calls=1))
    some = await w.claim(3, job=job)
    await w.finish(*((one, replayed(one, "signature")) for one in some))
    began = LearningStep(Phase.ITEMS, "3 of 3 items were missed", let_go=2)
    assert await repair(w, root, began) == Repair("begun")
    while (await w.store.run_bulk_operations()).more:
        pass
    await decide(w, root, began)
    w.clock.now += 30
    assert len(await end_all(w, spent)) == 2
    better = VERSION.model_copy(update={"by": "repair"})
    assert await repair(w, root, LearningStep(Phase.SHADOW, "repaired", 5, better, "shadow")) == Repair("compiled")
    await w.finish(*shadowed(await w.claim()))
    w.clock.now += 12
    assert await repair(w, root, REPLAY) == Repair("proved", calls=6, seconds=42.0)
    (told,) = await w.store.learning.of_job(job)
    assert (told.figures["repairs"], told.figures["repair_calls"]) == (1, 6)
    while (await w.store.run_bulk_operations()).more:
        pass
    some = await w.claim(3, job=job)
    await w.finish(*((one, replayed(one, "signature")) for one in some))
    assert await repair(w, root, began) == Repair("begun")
    while (await w.store.run_bulk_operations()).more:
        pass
    assert await repair(w, root, LearningStep(Phase.REPLAY, "nothing was learned")) == Repair("given_up")
    (told,) = await w.store.learning.of_job(job)
    assert (told.figures["repairs"], told.figures["repair_calls"]) == (1, 6)


async def test_a_loop_goes_on_where_its_workflow_is_deleted_and_what_it_learns_anew_is_another_one(w: World) -> None:
    job, root = await replaying(w)
    (stored,) = await w.store.workflows.some("acme")
    await w.store.workflows.drop("acme", stored.name)
    some = await w.claim(6, job=job)
    assert {one.work.learned for one in some} <= {LearnedUse.REPLAY, LearnedUse.AUDIT}, "it has the version itself"
    await w.finish(
        *((one, replayed(one, "signature")) for one in some[:3]), *((one, replayed(one)) for one in some[3:])
    )
    assert await w.store.workflows.some("acme") == []
    await decide(w, root, LearningStep(Phase.ITEMS, "3 of 6 items were missed"))
    while (await w.store.run_bulk_operations()).more:
        pass
    w.clock.now += 21
    await decide(w, root, SHADOW)
    (anew,) = await w.store.workflows.some("acme")
    assert (anew.name, [one.version.number for one in anew.versions]) == (stored.name, [1])
    await w.finish(*shadowed(await w.claim()))
    await w.store.workflows.drop("acme", stored.name)
    await decide(w, root, REPLAY)
    while (await w.store.run_bulk_operations()).more:
        pass
    (wrong, *others) = await w.claim(3)
    await w.finish((wrong, replayed(wrong, "audit", audit="wrong")), *((one, replayed(one)) for one in others))
    await decide(w, root, LearningStep(Phase.OFF, "a record was wrong", state="broken"))
    await w.run_out()
    row = await w.check_sums(job)
    assert (row.status, row.counts.completed) == (Status.COMPLETED, N)


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


async def test_nothing_begins_from_the_moment_that_a_repair_is_decided_on(w: World) -> None:
    job, root = await replaying(w)
    some = await w.claim(3, job=job)
    await w.finish(*((one, replayed(one, "signature")) for one in some))
    await decide(w, root, LearningStep(Phase.ITEMS, "3 of 3 items were missed"))
    assert await w.claim() == [], "they are ready until a slice holds them back"
    while (await w.store.run_bulk_operations()).more:
        pass
    w.clock.now += 21
    await decide(w, root, LearningStep(Phase.ITEMS, "more", let_go=2))
    assert [one.work.learned for one in await w.claim()] == [LearnedUse.TEACH] * 2
    await w.check_sums(job)


async def test_a_version_that_is_compared_up_to_the_loops_last_item_is_decided_on_when_the_job_is_over(
    w: World,
) -> None:
    job, root = await learning_loop(w, n=8)
    await end_all(w)
    await decide(w, root, SHADOW)
    await w.finish(*shadowed(await w.claim()))
    await w.run_out()
    assert (await w.check_sums(job)).status is Status.COMPLETED
    assert await w.store.learning.due() == [root]
    known = await lent(w, root)
    assert (known.phase, known.figures.items, len(await w.store.learning.running())) == (Phase.SHADOW, 5, 1)
    assert (await w.store.learning.decide(root, "d", REPLAY)).written
    (stored,) = await w.store.workflows.some("acme")
    assert [one.version.state for one in stored.versions] == ["canary"]
    (told,) = await w.store.learning.of_job(job)
    assert (told.phase, told.why) == (Phase.REPLAY, REPLAY.why)
    assert (await w.store.learning.due(), await w.store.learning.running()) == ([], [])
    assert (await w.check_sums(job)).status is Status.COMPLETED


async def test_a_loop_that_ends_before_enough_was_compared_keeps_no_item_waiting_and_begins_none(w: World) -> None:
    job, root = await learning_loop(w, n=6)
    await end_all(w)
    await decide(w, root, SHADOW)
    await w.finish(*shadowed(await w.claim()))
    assert await w.store.learning.due() == [root]
    assert await decide(w, root, LearningStep(Phase.SHADOW, "3 of 5 items are compared", let_go=2))
    assert await w.store.learning.due() == []
    await w.run_out()
    assert (await w.check_sums(job)).counts.completed == 6
    (told,) = await w.store.learning.of_job(job)
    assert (told.phase, told.holds_back) == (Phase.OFF, False)


async def test_a_job_that_ends_while_its_loop_repairs_a_version_leaves_the_repair_to_others(w: World) -> None:
    began = LearningStep(Phase.ITEMS, "3 of 3 items were missed", let_go=99)
    for begins in (Phase.ITEMS, Phase.SHADOW):
        job, root = await replaying(w, begins=begins)
        some = await w.claim(3, job=job)
        await w.finish(*((one, replayed(one, "signature")) for one in some))
        assert await repair(w, root, began) == Repair("begun"), begins
        while (await w.store.run_bulk_operations()).more:
            pass
        await decide(w, root, began)
        await w.run_out()
        assert (await w.check_sums(job)).status is Status.COMPLETED


async def test_loops_of_jobs_that_are_over_are_not_counted_as_learning(w: World) -> None:
    canceled, _ = await learning_loop(w)
    failed, _ = await learning_loop(w, stop=True)
    late, _ = await learning_loop(w, deadline_s=60.0)
    assert len(await w.store.learning.running()) == 3
    await w.store.cancel(canceled)
    await w.finish(*((one, BROKEN) for one in await w.claim(job=failed)))
    w.clock.now += 61
    await w.run_out()
    await w.store.expire_deadlines()
    await w.run_out()
    for job in (canceled, failed, late):
        assert (await w.store.job(job)).finished_at is not None
    assert await w.store.learning.running() == []
    assert await w.store.learning.due() == []


async def test_a_canceled_job_whose_version_was_compared_is_not_to_be_decided_on_any_more(w: World) -> None:
    job, root = await learning_loop(w, n=8)
    await end_all(w)
    await decide(w, root, SHADOW)
    await w.finish(*shadowed(await w.claim()))
    await w.store.cancel(job)
    await w.run_out()
    assert (await w.check_sums(job)).status is Status.CANCELED
    assert (await w.store.learning.due(), await w.store.learning.running()) == ([], [])


async def test_records_are_in_doubt_whatever_their_fields_are_called(w: World) -> None:
    job, _ = await replaying(w)
    rest = await w.claim(6)
    traps = (
        {"audit": "right"},
        {"whole": False, "branches": "other"},
        {"n": '"audit":"right"'},
        {"n": "%_\u00e9\u0000"},
    )
    for one, trap in zip(rest[:4], traps, strict=True):
        done = replayed(one)
        await w.finish((one, replace(done, records=(replace(done.records[0], value=trap),))))
    liar = replace(DONE, records=(Record({"whole": True, "branches": VERSION.branches[0].key}),))
    await w.finish((rest[4], liar))
    await w.finish((rest[5], replayed(rest[5], "audit", audit="wrong")))
    sessions, _ = await w.store.sessions(job, limit=100)
    reopened = {one.id for one in sessions if one.status is Status.QUEUED}
    assert reopened & set(sessions_of(rest)) == set(sessions_of(rest[:4]))
    (told,) = await w.store.learning.of_job(job)
    assert (told.figures["reopened"], told.figures["provisional"]) == (4, 0)
    await w.check_sums(job)


async def test_pages_that_sessions_have_kept_are_found_with_their_evidence_by_their_own_tenant_alone(w: World) -> None:
    by_root: dict[int, set[str]] = {}
    for tenant in ("acme", "other"):
        job, root = await learning_loop(w, tenant=tenant)
        for one in await w.claim(job=job):
            name = f"{one.work.session:032x}"
            kept = [
                ArtifactRef(name, "snapshot", f"pages/{name}", "application/zlib", 9),
                ArtifactRef("e" + name[1:], "evidence", f"runs/{name}", "application/zlib", 9),
                ArtifactRef("a" + name[1:], "screenshot", f"shots/{name}", "image/png", 9),
            ]
            await w.finish((one, replace(DONE, artifacts=tuple(kept))))
            by_root.setdefault(root, set()).add(name)
    (mine, names), (theirs, _) = by_root.items()
    every = {head + name[len(head) :] for name in names for head in ("", "e", "a")}
    for loop_id, wanted in ((mine, names), (theirs, set())):
        told = await w.store.learning.kept_page_keys(loop_id, every)
        assert {(keys.id, keys.page, keys.evidence) for keys in told} == {
            (name, f"pages/{name}", f"runs/{name}") for name in wanted
        }
    assert await w.store.learning.kept_page_keys(mine, ()) == await w.store.learning.kept_page_keys(999, names) == []


async def test_what_the_baseline_has_read_beside_a_version_is_not_in_doubt(w: World) -> None:
    job, root = await learning_loop(w)
    await end_all(w)
    await decide(w, root, SHADOW)
    unclear = [
        (one, replace(outcome, replay=replace(outcome.replay, audit="unclear", branches=VERSION.branches[0].key)))
        for one, outcome in shadowed(await w.claim())
        if outcome.replay is not None
    ]
    await w.finish(*unclear)
    await decide(w, root, REPLAY)
    while (await w.store.run_bulk_operations()).more:
        pass
    rest = await w.claim(2)
    await w.finish((rest[0], replayed(rest[0])))
    await w.finish((rest[1], replayed(rest[1], "audit", audit="wrong")))
    (told,) = await w.store.learning.of_job(job)
    assert (told.figures["reopened"], told.figures["provisional"]) == (1, 0)
    await w.check_sums(job)


async def test_what_was_not_decided_of_a_loop_goes_with_its_job(w: World) -> None:
    job, root = await learning_loop(w, n=8, artifacts={"retention_days": 1})
    await end_all(w)
    await decide(w, root, SHADOW)
    await w.finish(*shadowed(await w.claim()))
    await w.run_out()
    assert await w.store.learning.due() == [root]
    w.clock.now += 86_401
    assert await w.store.archived(job, "archive/x")
    more = True
    while more:
        more = await w.store.drop(job, (await w.store.droppable(job, 1_000)).sessions)
    assert (await w.store.learning.due(), await w.store.learning.running()) == ([], [])
    assert await w.store.learning.lend(root, "d", lasts_s=20) is None


async def test_what_a_version_missed_when_it_was_last_trusted_more_is_usual_of_it(w: World) -> None:
    _, root = await replaying(w)
    assert (await usual_misses(w, root)) == 0.0
    some = await w.claim(20)
    await w.finish(*((one, replayed(one, "shape")) for one in some[:8]), *((one, replayed(one)) for one in some[8:]))
    await decide(w, root, LearningStep(Phase.REPLAY, "12 of 20 items replayed", state="active"))
    assert (await usual_misses(w, root)) == 0.4

    job, second = await learning_loop(w)
    compared = shadowed(await w.claim(job=job))
    lost = [(one, replace(end, replay=replace(end.replay, whole=False))) for one, end in compared[:2] if end.replay]
    await w.finish(*lost, *compared[2:])
    await decide(w, second, LearningStep(Phase.REPLAY, "the same"))
    while (await w.store.run_bulk_operations()).more:
        pass
    assert (await usual_misses(w, second)) == 0.4, "of a version that is active already, the shadow tells"


async def usual_misses(w: World, root: int) -> float:
    """Return what a loop's version usually misses, once something is to be decided."""
    row = next(row for row in await w.store.learning._db.read(lambda tx: tx.rows("learning_of", ids=tx.many([root]))))
    return _version_figures(Phase.REPLAY, json.loads(row.figures), json.loads(row.before)).usual_misses
