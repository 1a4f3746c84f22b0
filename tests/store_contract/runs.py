"""Runs of documents: many leases of one worker that take few places on their domain."""

from __future__ import annotations

from shoal.agent.types import Outcome
from shoal.services.store.records import Claimed, ClaimRequest, Claims
from shoal.services.store.waiting_causes import WaitingCause
from tests.store_contract.politeness import ANSWERED, MOST, busy, end, open_shop
from tests.store_world import World


async def run(w: World, job: int, n: int, width: int = 16, owner: str = "w1") -> Claims:
    takes = [
        ClaimRequest(one.job, one.domain, one.cursor, n, one.politeness, owner, width)
        for one in await w.store.partitions()
        if one.job == job
    ]
    return await w.store.claim([], takes, lease_s=600, per_domain=MOST)


async def one_by_one(w: World, job: int, n: int = 100) -> list[Claimed]:
    takes = [
        ClaimRequest(one.job, one.domain, one.cursor, n, one.politeness)
        for one in await w.store.partitions()
        if one.job == job
    ]
    return list((await w.store.claim("w2", takes, lease_s=600, per_domain=MOST)).sessions)


async def test_a_run_is_as_wide_as_its_domain_has_places_and_as_long_as_it_is_asked_for(w: World) -> None:
    job, other = await open_shop(w), await open_shop(w)
    first = (await run(w, job, 30)).sessions
    assert [one.work.width for one in first] == [MOST] * 30
    assert {one.owner for one in first} == {"w1"}
    assert await one_by_one(w, other) == [], "the run takes all places of its domain"
    joined = (await run(w, job, 5)).sessions
    assert [one.work.width for one in joined] == [MOST] * 5, "a worker's run goes on in its places"
    assert (await run(w, other, 5)).held[other, first[0].domain].cause is WaitingCause.DOMAIN_LIMIT
    await end(w, ANSWERED, *first, *joined[:3])
    assert len(await one_by_one(w, other)) == MOST - 2, "the two that are left take two places"


async def test_runs_of_two_workers_share_a_domain(w: World) -> None:
    job = await open_shop(w)
    (narrow,) = {one.work.width for one in (await run(w, job, 10, width=3)).sessions}
    (rest,) = {one.work.width for one in (await run(w, job, 10, owner="w2")).sessions}
    assert (narrow, rest) == (3, 1)
    assert not (await run(w, job, 10, owner="w3")).sessions


async def test_a_jobs_own_limit_and_a_site_that_slows_down_make_runs_narrower(w: World) -> None:
    gentle = await open_shop(w, per_domain=2)
    first = (await run(w, gentle, 10)).sessions
    assert {one.work.width for one in first} == {2}
    await end(w, busy(0.05), first[0])
    held = (await run(w, gentle, 10)).held
    assert [why.cause for why in held.values()] == [WaitingCause.DOMAIN_PAUSE]


async def test_where_a_distance_is_kept_there_are_no_runs(w: World) -> None:
    slow = await open_shop(w, delay_s=0.01)
    held = (await run(w, slow, 10)).held
    assert [why.cause for why in held.values()] == [WaitingCause.DOMAIN_DELAY]
    assert len(await one_by_one(w, slow)) == 1


async def test_each_session_of_a_run_is_fenced_and_tried_again_by_itself(w: World) -> None:
    job = await open_shop(w, n=6)
    first = (await run(w, job, 6)).sessions
    await w.store.expire_leases(owner="w1", lease_s=60)
    again = (await run(w, job, 6, owner="w2")).sessions
    assert [one.work.session for one in again] == [one.work.session for one in first]
    late = await w.finish(*((one, ANSWERED) for one in first))
    assert late.late == {one.work.session for one in first} and not late.accepted
    await w.finish((again[0], Outcome(ANSWERED.status)), *((one, ANSWERED) for one in again[1:]))
    row = await w.check_sums(job)
    assert row.counts.completed == 6
