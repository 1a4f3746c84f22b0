"""Leases: renewing, running out, checkpoints."""

from __future__ import annotations

import asyncio

from sqlalchemy import event

from shoal.agent.status import Status
from shoal.agent.types import Checkpoint, Outcome
from shoal.services.store.database import codec
from shoal.services.store.records import Claimed, Renewal
from shoal.services.store.sessions.lease_expiry import MOST_LOSSES
from tests.store_world import DONE, World

S = Status


async def test_a_renewed_lease_does_not_run_out(w: World) -> None:
    job = await w.submit()
    held = await w.claim_one()
    lease = Renewal(held.work.session, held.work.fence)
    w.clock.now += 50
    assert await w.store.renew([lease, Renewal(held.work.session, 99), Renewal(999, 1)], lease_s=60) == {lease.session}
    w.clock.now += 50
    assert (await w.store.expire_leases()).sessions == ()
    w.clock.now += 11
    assert len((await w.store.expire_leases()).sessions) == 1
    assert await w.store.renew([lease], lease_s=60) == frozenset()
    assert await w.store.renew([], lease_s=60) == frozenset()
    await w.check_sums(job)


async def looked_after(w: World, seconds: float) -> int:
    """Lets time pass in which a dispatcher looks every two seconds; gives how many leases ran out."""
    ended = 0
    for _ in range(round(seconds / 2)):
        w.clock.now += 2
        ended += len((await w.store.expire_leases(lease_s=60)).sessions)
    return ended


async def test_no_lease_runs_out_while_the_store_is_away(w: World) -> None:
    job = await w.submit()
    held = await w.claim_one()
    assert await looked_after(w, 20) == 0
    w.clock.now += 3600  # no process could write for an hour
    assert await looked_after(w, 2) == 0
    done = await w.finish((held, DONE))
    assert done.accepted == {held.work.session} and not done.late
    await w.check_sums(job)


async def test_a_lease_that_nobody_renews_after_an_outage_runs_out(w: World) -> None:
    await w.submit()
    await w.claim_one()
    assert await looked_after(w, 20) == 0
    w.clock.now += 12 * 3600
    assert await looked_after(w, 34) == 0
    assert await looked_after(w, 12) == 1, "its last 40 s have passed while the store was there"


async def test_a_lease_of_after_an_outage_is_not_made_longer_by_it(w: World) -> None:
    await w.submit()
    assert await looked_after(w, 2) == 0
    w.clock.now += 3600
    await w.claim_one()  # before any dispatcher looked
    assert await looked_after(w, 58) == 0
    assert await looked_after(w, 4) == 1


async def test_two_dispatchers_that_come_back_extend_a_lease_once(w: World) -> None:
    await w.submit()
    await w.claim_one()
    other = await w.another()
    assert await looked_after(w, 20) == 0
    w.clock.now += 30
    for store in (w.store, other):
        assert (await store.expire_leases(lease_s=3600)).sessions == ()
    assert await looked_after(w, 34) == 0
    assert await looked_after(w, 12) == 1


async def test_a_clock_that_is_set_back_leaves_no_lease_for_longer_than_it_lasts(w: World) -> None:
    await w.submit()
    await w.claim_one()
    assert await looked_after(w, 2) == 0
    w.clock.now -= 3600
    assert await looked_after(w, 58) == 0
    assert await looked_after(w, 6) == 1


async def test_a_clock_that_is_set_back_keeps_no_try_and_no_message_waiting_for_longer(w: World) -> None:
    """A day too long it was."""
    await w.submit(webhook={"url": "https://hooks.example/in"})
    await w.finish((await w.claim_one(), DONE))
    (sent,) = await w.store.claim_deliveries(1, each=1, lease_s=30)
    retried = await w.submit()
    await w.finish((await w.claim_one(), Outcome(Status.QUEUED)), ready_in_s=30)
    assert await looked_after(w, 2) == 0
    w.clock.now -= 86_400
    assert await looked_after(w, 2) == 0
    w.clock.now += 20
    assert await w.claim() == [] and await w.store.claim_deliveries(1, each=1, lease_s=30) == []
    w.clock.now += 10
    assert (await w.claim_one()).work.job == retried
    assert [one.id for one in await w.store.claim_deliveries(1, each=1, lease_s=30)] == [sent.id]


async def test_what_is_said_of_a_lost_lease_is_what_happened(w: World) -> None:
    """Of a worker whose lease ran out the store does not know that it died."""
    said = []
    for lose in ("its worker", "time", "deadline"):
        await w.submit(repeatable=False, **({"deadline_s": 30} if lose == "deadline" else {}))
        held = await w.claim_one()
        mark = Checkpoint(url="https://shop.example/order", pending_action='click "Order"')
        assert await w.store.checkpoint(held.work.session, held.work.fence, mark)
        if lose == "its worker":
            await w.store.expire_leases(owner="w1")
        elif lose == "time":
            w.clock.now += 61
            await w.store.expire_leases()
        else:
            w.clock.now += 31
            await w.store.expire_deadlines()
        outcome = (await w.store.session(held.work.session)).row.outcome
        assert outcome is not None and outcome.error is not None
        assert (outcome.status, outcome.error.code) == (S.UNSURE, "action_unconfirmed")
        said.append(outcome.error.message)
    assert "worker was lost" in said[0]
    assert "its lease was not renewed" in said[1] and "worker was lost" not in said[1]
    assert "deadline passed" in said[2]


async def test_leases_of_jobs_that_are_unwanted_are_not_renewed(w: World) -> None:
    held = []
    for act in (None, w.store.cancel, w.store.pause):
        job = await w.submit()
        held += await w.claim(job=job)
        if act:
            await act(job)
    leases = [Renewal(one.work.session, one.work.fence) for one in held]
    assert await w.store.renew(leases, lease_s=60) == {held[0].work.session}


async def test_a_session_whose_worker_died_goes_on_and_its_attempt_does_not_count(w: World) -> None:
    job = await w.submit(max_attempts=1)
    first = await w.claim_one()
    kept = Checkpoint(url="https://shop.example/3")
    assert await w.store.checkpoint(first.work.session, first.work.fence, kept)
    assert (await w.store.expire_leases()).sessions == (await w.store.expire_leases(owner="w2")).sessions == ()
    (freed,) = (await w.store.expire_leases(owner="w1")).sessions
    assert (freed.session, freed.domain, freed.status) == (first.work.session, first.domain, S.QUEUED)
    assert not await w.store.checkpoint(first.work.session, first.work.fence, Checkpoint())
    second = await w.claim_one()
    assert (second.work.attempt, second.work.checkpoint) == (1, kept)
    await w.finish((second, DONE))
    (row,) = await w.store.results(job)
    assert (row.status, row.attempts) == (S.COMPLETED, 1)


async def lose_until_over(w: World, held: Claimed) -> Status:
    """Return how a session ends whose worker is lost in each attempt."""
    while True:
        (freed,) = (await w.store.expire_leases(owner="w1")).sessions
        assert freed.session == held.work.session
        if freed.status is not S.QUEUED:
            return freed.status
        w.clock.now += 61
        (held,) = await w.claim()


async def test_a_session_that_ends_its_worker_each_time_waits_longer_and_fails_at_last(w: World) -> None:
    job, waits = await w.submit(max_attempts=3), []
    for _ in range(MOST_LOSSES):
        began = w.clock.now
        while not (held := await w.claim()):
            w.clock.now += 0.5
        waits.append(w.clock.now - began)
        assert held[0].work.attempt == 1
        await w.store.expire_leases(owner="w1")
    assert waits[:3] == [0, 0, 0] and waits[3:] == sorted(waits[3:]) and 0 < waits[3] < 2 and waits[-1] <= 60
    row = await w.check_sums(job)
    assert row.status is S.FAILED and row.error is not None and row.error.code == "lease_lost"
    assert f"as in {MOST_LOSSES - 1} attempts before" in row.error.message
    await w.store.retry(job)
    await w.claim_one()
    (freed,) = (await w.store.expire_leases(owner="w1")).sessions
    assert freed.status is S.QUEUED, "tried again by its owner, its losses count anew"


async def test_checkpoints_are_kept_in_one_statement_and_the_last_of_a_session_wins(w: World) -> None:
    for _ in range(3):
        await w.submit()
    one, two, three = (held.work for held in await w.claim())
    odd = Checkpoint(url="https://shop.example/\ud800\x00'\"")
    kept = {n: Checkpoint(url=f"https://shop.example/{n}") for n in range(4)}
    said: list[str] = []

    def note(conn: object, cursor: object, statement: str, *more: object) -> None:
        said.append(statement)

    event.listen(w.store._db.writer, "before_cursor_execute", note)
    wanted = [
        (three.session, three.fence, kept[0]),
        (one.session, one.fence, kept[1]),
        (two.session, two.fence + 1, kept[2]),
        (one.session, one.fence, kept[3]),
        (999, 1, kept[0]),
    ]
    assert await w.store._keep_all(wanted) == [True, True, False, True, False]
    event.remove(w.store._db.writer, "before_cursor_execute", note)
    assert len([statement for statement in said if "checkpoint" in statement]) == 1
    assert await w.store.checkpoint(two.session, two.fence, odd)
    after = {held.work.session: held.work.checkpoint for held in await w.store.running([one.session, three.session])}
    assert after == {one.session: kept[3], three.session: kept[0]}
    assert [held.work.checkpoint for held in await w.store.running([two.session])] == [
        codec.load_checkpoint(codec.dump_checkpoint(odd))
    ]


async def test_a_session_that_died_inside_an_unrepeatable_action_is_unsure(w: World) -> None:
    job = await w.submit()
    held = await w.claim_one()
    assert await w.store.checkpoint(held.work.session, held.work.fence, Checkpoint(pending_action="click('12')"))
    (freed,) = (await w.store.expire_leases(owner="w1")).sessions
    assert freed.status is S.UNSURE
    row = await w.check_sums(job)
    assert row.status is S.UNSURE and row.counts.unsure == 1


async def test_a_reaped_last_child_lets_its_parent_go_on(w: World) -> None:
    job, root = await w.open_loop(2)
    one, other = await w.claim()
    await w.finish((one, DONE))
    assert await lose_until_over(w, other) is S.FAILED
    assert (await w.claim_one()).work.session == root
    await w.check_sums(job)


async def test_a_checkpoint_and_a_reap_at_once_agree(w: World) -> None:
    """A worker that is told that "an unrepeatable action begins" was kept must not see its session tried again."""
    other = await w.another()
    for _ in range(10):
        job = await w.submit()
        (held,) = await w.claim(job=job)
        kept, reaped = await asyncio.gather(
            w.store.checkpoint(held.work.session, held.work.fence, Checkpoint(pending_action="click('1')")),
            other.expire_leases(owner="w1"),
        )
        assert [one.status for one in reaped.sessions] == [S.UNSURE if kept else S.QUEUED]
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
    await w.store.expire_leases(owner="w1")
    again = {one.work.session: one.work.checkpoint for one in await w.claim()}
    for index, one in enumerate(held):
        assert again[one.work.session] == (Checkpoint(url=f"u{index}") if index % 3 else None)


async def test_running_sessions_are_told_as_their_claims_gave_them(w: World) -> None:
    await w.open_loop(4)
    held = await w.claim(n=2)
    done, runs = held
    await w.finish((done, DONE))
    assert await w.store.running([one.work.session for one in held] + [999]) == [runs]
    assert await w.store.running([]) == []
