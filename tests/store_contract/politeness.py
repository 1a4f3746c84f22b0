"""Throttling of domains by all dispatchers together."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise

from shoal.agent.errors import ServerBusy
from shoal.agent.spec import PolitenessSpec
from shoal.agent.status import Status
from shoal.agent.types import Outcome, Usage
from shoal.agent.worker_messages import RateSlot, RateSlotRequest
from shoal.services.store.records import Claimed, ClaimRequest, Claims, Finish, SiteChanges
from shoal.services.store.store import Store
from shoal.services.store.throttle.domain_throttle import LONG_LINE_S, LONGEST_LINE_S, PAUSE_S, RECOVER_AFTER
from shoal.services.store.waiting_causes import WaitingCause
from tests.store_world import DONE, World, links, loop

ANSWERED = replace(DONE, usage=Usage(pages=1))
MOST = 4


def busy(wish_s: float | None = None) -> Outcome:
    return Outcome(Status.FAILED, error=ServerBusy("429").info(), retry_after_s=wish_s, usage=Usage(pages=1))


async def open_shop(w: World, n: int = 40, **politeness: object) -> int:
    """A job with `n` items on one domain, which is not the one that the job began on."""
    job = await w.submit(politeness=politeness)
    (root,) = await w.claim(job=job)
    await w.finish((root, loop(links(n))))
    return job


async def claim(w: World, store: Store | None = None, n: int = 100) -> Claims:
    store = store or w.store
    takes = [
        ClaimRequest(partition.job, partition.domain, partition.cursor, n, partition.politeness)
        for partition in await store.partitions()
    ]
    return await store.claim("w1", takes, lease_s=600, per_domain=MOST)


async def end(w: World, outcome: Outcome, *some: Claimed) -> None:
    await w.store.finish([Finish(one.work.session, one.work.fence, outcome) for one in some], per_domain=MOST)


async def test_a_domain_has_so_many_places_for_all_dispatchers_and_jobs_together(w: World) -> None:
    first, second = await open_shop(w), await open_shop(w)
    other = await w.another()
    claims = await asyncio.gather(*(claim(w, store) for store in (w.store, other, w.store, other)))
    got = [one for some in claims for one in some.sessions]
    assert len(got) == MOST
    domain = got[0].domain
    told = (await claim(w)).held
    assert set(told) == {(first, domain), (second, domain)}
    assert all(held.limit == MOST and held.wait_s > 0 for held in told.values())
    await end(w, ANSWERED, got[0])
    assert len((await claim(w)).sessions) == 1


async def test_a_partition_that_has_no_more_to_give_is_not_held(w: World) -> None:
    await open_shop(w, 2)
    claims = await claim(w)
    assert len(claims.sessions) == 2 and not claims.held


async def test_a_job_that_asks_for_fewer_places_gets_fewer(w: World) -> None:
    gentle = await open_shop(w, per_domain=1)
    assert len((await claim(w)).sessions) == 1
    assert not (await claim(w)).sessions
    await open_shop(w)
    jobs = [one.work.job for one in (await claim(w)).sessions]
    assert len(jobs) == MOST - 1 and gentle not in jobs


async def test_a_delay_is_kept_between_the_starts_of_one_job(w: World) -> None:
    job = await open_shop(w, delay_s=10)
    other = await w.another()
    assert len((await claim(w)).sessions) == 1
    claims = await claim(w, other)
    assert not claims.sessions
    ((key, held),) = claims.held.items()
    assert key[0] == job and held.wait_s == 10
    w.clock.now += 10
    assert len((await claim(w, other)).sessions) == 1


async def test_the_crawl_delay_of_a_site_holds_for_every_job_that_obeys_robots(w: World) -> None:
    await open_shop(w)
    some = (await claim(w, n=1)).sessions
    await end(w, replace(ANSWERED, crawl_delay_s=3), *some)
    assert len((await claim(w)).sessions) == 1
    await open_shop(w)
    assert not (await claim(w)).sessions
    w.clock.now += 3
    assert len((await claim(w)).sessions) == 1
    bold = await open_shop(w, robots=False)
    assert [one.work.job for one in (await claim(w)).sessions] == [bold] * (MOST - 2)


async def test_a_site_that_is_busy_gets_its_pause_and_half_as_many_sessions(w: World) -> None:
    await open_shop(w)
    some = (await claim(w)).sessions
    await end(w, busy(30), *some[:2])
    await end(w, busy(), some[2])  # it had begun before the first was told: that is no second slow-down
    await end(w, ANSWERED, some[3])
    claims = await claim(w, await w.another())
    assert not claims.sessions
    (held,) = claims.held.values()
    assert (held.wait_s, held.limit) == (30, MOST // 2)
    w.clock.now += 30
    some = (await claim(w)).sessions
    assert len(some) == MOST // 2
    await end(w, busy(), *some)
    assert next(iter((await claim(w)).held.values())).wait_s == PAUSE_S
    w.clock.now += PAUSE_S
    assert len((await claim(w)).sessions) == 1


async def test_a_site_that_answers_well_again_gets_its_places_back(w: World) -> None:
    await open_shop(w, 200)
    await end(w, busy(1), *(await claim(w)).sessions)
    w.clock.now += 1
    seen = []
    for _ in range(RECOVER_AFTER * 2):
        some = (await claim(w)).sessions
        seen.append(len(some))
        await end(w, ANSWERED, *some)
    assert seen[0] == MOST // 2 and seen[-1] == MOST and seen == sorted(seen)


async def test_other_domains_do_not_wait_for_one_that_pauses(w: World) -> None:
    job = await w.submit()
    await w.finish((await w.claim_one(), loop(links(40, hosts=2))))
    some = (await claim(w)).sessions
    assert len(some) == 2 * MOST
    first = some[0].domain
    await end(w, busy(60), *(one for one in some if one.domain == first))
    await end(w, ANSWERED, *(one for one in some if one.domain != first))
    claims = await claim(w)
    assert len(claims.sessions) == MOST and set(claims.held) == {(job, first), (job, claims.sessions[0].domain)}


async def test_politeness_is_that_of_the_spec(w: World) -> None:
    await open_shop(w, per_domain=2, delay_s=1.5, robots=False)
    (partition,) = await w.store.partitions()
    assert partition.politeness == PolitenessSpec(robots=False, per_domain=2, delay_s=1.5)


# --- pages -------------------------------------------------------------------------------------------------


SHOP = "h0.example"  # where the items of `open_shop` are
JOB = 7


def wish(delay_s: float = 0, crawl_delay_s: float = 0, *, job: int = JOB, host: str = SHOP) -> RateSlotRequest:
    return RateSlotRequest(job, host, delay_s, crawl_delay_s)


async def waits(w: World, *wishes: RateSlotRequest, store: Store | None = None) -> list[float]:
    """Return how long pages have to wait; all of them get their place."""
    turns = await (store or w.store).rate_slots(wishes)
    assert all(turn.given for turn in turns)
    return [turn.wait_s for turn in turns]


async def test_pages_that_ask_together_get_their_turns_one_behind_the_other(w: World) -> None:
    assert await waits(w, wish(2), wish(5, host="other.example"), wish(2), wish(2)) == [0, 0, 2, 4]
    w.clock.now += 5
    assert await waits(w, wish(2)) == [1]
    w.clock.now += 60
    assert await waits(w, wish(2)) == [0], "a page that comes late enough waits for no other"


async def test_a_job_s_pages_keep_their_distance_over_all_dispatchers(w: World) -> None:
    stores = [w.store, await w.another()]
    got = await asyncio.gather(*(waits(w, wish(3), wish(3), store=stores[n % 2]) for n in range(6)))
    assert sorted(wait for some in got for wait in some) == [3 * n for n in range(12)]


async def test_pages_keep_a_site_s_distance_over_all_jobs_and_dispatchers(w: World) -> None:
    stores = [w.store, await w.another()]
    asking = (waits(w, wish(0, 3, job=n), wish(0, 3, job=n), store=stores[n % 2]) for n in range(6))
    assert sorted(wait for some in await asyncio.gather(*asking) for wait in some) == [3 * n for n in range(12)]


async def test_a_slow_job_slows_no_other_one(w: World) -> None:
    slow, quick = wish(30, job=1), wish(1, job=2)
    assert await waits(w, quick, slow, slow, quick, quick, slow) == [0, 0, 30, 1, 2, 60]


async def test_a_slow_job_on_a_site_with_a_distance_leaves_the_places_before_its_own_to_others(w: World) -> None:
    slow, quick = wish(30, 2, job=1), wish(0, 2, job=2)
    assert await waits(w, slow, slow, quick, quick) == [0, 30, 2, 4]
    assert await waits(w, *[quick] * 13) == [6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 32], "30 is taken"
    assert await waits(w, slow, slow) == [60, 90]
    w.clock.now += 31
    assert await waits(w, quick) == [3]


async def test_both_distances_are_kept(w: World) -> None:
    """A page stands behind the job's last one, and free of those of all that obey robots.txt."""
    both, other = wish(5, 3, job=1), wish(0, 3, job=2)
    assert await waits(w, other, both, both, other, both) == [0, 3, 8, 11, 14]


async def test_a_job_that_does_not_obey_robots_keeps_its_own_distance_alone(w: World) -> None:
    assert await waits(w, wish(0, 10, job=1), wish(2, job=2), wish(2, job=2), wish(0, 10, job=1)) == [0, 0, 2, 10]


async def test_a_page_gets_no_place_so_far_ahead_that_others_of_its_job_wait_for_it_for_ever(w: World) -> None:
    await waits(w, wish(1))
    assert await w.store.rate_slots([wish(3600)]) == [RateSlot(3600 - LONGEST_LINE_S, given=False)]
    assert await waits(w, wish(1)) == [1]
    w.clock.now += 1 + 3600 - LONGEST_LINE_S
    assert await waits(w, wish(3600)) == [LONGEST_LINE_S], "no page came in between: it keeps all of its distance"


async def test_who_finds_a_long_line_asks_again_and_gets_the_next_place(w: World) -> None:
    for n, one in enumerate((wish(50), wish(0, 50, host="other.example"))):
        assert await waits(w, *[one] * 3) == [0, 50, 100], n
        late = RateSlot(150 - LONGEST_LINE_S, given=False)
        assert await w.store.rate_slots([one] * 2) == [late, late]
        w.clock.now += late.wait_s
        assert await waits(w, one) == [LONGEST_LINE_S]


async def test_a_page_waits_for_the_end_of_a_short_pause_and_not_of_a_long_one(w: World) -> None:
    await open_shop(w)
    some = (await claim(w)).sessions
    await end(w, busy(30), some[0])
    assert await waits(w, wish(2), wish(2), wish(0, 5, job=1), wish(0, 5, job=2)) == [30, 32, 30, 35]
    w.clock.now += 60
    await end(w, busy(600), some[1])
    assert await waits(w, wish(2), wish(2)) == [0, 2]


async def test_no_session_starts_where_its_first_page_would_wait_for_long(w: World) -> None:
    job = await open_shop(w, delay_s=5)
    assert await waits(w, wish(1, job=job), wish(60, job=job)) == [0, 60]
    claims = await claim(w)
    assert not claims.sessions
    ((key, held),) = claims.held.items()
    assert (key[0], held.cause, held.wait_s) == (job, WaitingCause.DOMAIN_DELAY, 60 - LONG_LINE_S)
    hasty = await open_shop(w)
    other = await open_shop(w, delay_s=5)
    assert {one.work.job for one in (await claim(w, n=1)).sessions} == {hasty, other}, "their pages do not stand there"
    w.clock.now += held.wait_s
    assert job in {one.work.job for one in (await claim(w, n=1)).sessions}


async def test_no_session_that_obeys_robots_starts_where_its_site_s_line_is_long(w: World) -> None:
    await open_shop(w)
    await end(w, replace(ANSWERED, crawl_delay_s=3), *(await claim(w, n=1)).sessions)
    w.clock.now += 3
    await waits(w, *(wish(0, 3, job=n) for n in range(10)))
    claims = await claim(w)
    (held,) = claims.held.values()
    assert not claims.sessions and (held.cause, held.wait_s) == (WaitingCause.DOMAIN_DELAY, 27 - LONG_LINE_S)
    w.clock.now += held.wait_s
    assert len((await claim(w)).sessions) == 1


async def test_a_clock_that_is_set_back_stops_no_site(w: World) -> None:
    w.clock.now += 86_400
    await waits(w, wish(2), wish(0, 2, host="other.example"))
    w.clock.now -= 86_400
    assert await waits(w, wish(2), wish(2)) == [2, 4]
    assert await waits(w, *[wish(0, 2, host="other.example")] * 2) == [0, 2]


async def test_a_long_line_with_gaps_is_remembered_in_few_bytes_and_keeps_its_distances(w: World) -> None:
    asking = [wish(20 + n * 0.37 % 60, 0.1, job=n) for n in range(250)]
    turns = sorted(await waits(w, *asking, *asking))
    assert all(later - before > 0.0999 for before, later in pairwise(turns))
    (row,) = await w.store._db.read(lambda tx: tx.conn.exec_driver_sql("select taken from pace").all())
    assert 1_000 < len(row.taken) < 5_000


async def test_a_clock_that_is_set_back_makes_no_pause_longer(w: World) -> None:
    job = await open_shop(w)
    (held,) = (await claim(w, n=1)).sessions
    await end(w, busy(20), held)
    await _set_back_a_day(w, job, 20)


async def test_a_clock_that_is_set_back_makes_no_delay_longer(w: World) -> None:
    job = await open_shop(w, delay_s=20)
    (held,) = (await claim(w, n=1)).sessions
    await end(w, ANSWERED, held)
    await _set_back_a_day(w, job, 20)


async def test_a_clock_that_is_set_back_makes_no_pause_of_an_operator_longer(w: World) -> None:
    job = await open_shop(w)
    await w.store.sites.change("h0.example", SiteChanges(frozenset({"pause_s"}), pause_s=20))
    await _set_back_a_day(w, job, 20)


async def _set_back_a_day(w: World, job: int, left_s: float) -> None:
    """The site of the job is open again when so much time has passed, and not before.

    Dispatchers keep what they are told, so that it is right before and after the look that notices it."""
    await w.store.expire_leases(lease_s=600)
    w.clock.now -= 86_400
    for _ in range(2):
        refused = await claim(w, n=1)
        assert refused.sessions == () and 0 < max(one.wait_s for one in refused.held.values()) <= left_s
        await w.store.expire_leases(lease_s=600)
    w.clock.now += left_s + 1
    assert {one.work.job for one in (await claim(w, n=1)).sessions} == {job}
