"""Operators' limits for single sites hold for all jobs and dispatchers, from the next claim on."""

from __future__ import annotations

from shoal.services.store.records import SiteChanges
from shoal.services.store.throttle.domain_throttle import LOOK_AGAIN_S
from shoal.services.store.waiting_causes import WaitingCause
from tests.store_contract.politeness import ANSWERED, MOST, busy, claim, end, open_shop
from tests.store_world import World

HOST = "h0.example"


async def set_for(w: World, host: str = HOST, **changes: float | int | None) -> None:
    await w.store.sites.change(host, SiteChanges(frozenset(changes), **changes))  # type: ignore[arg-type]


async def test_a_site_takes_as_many_sessions_as_an_operator_says(w: World) -> None:
    await open_shop(w)
    await set_for(w, most=2)
    first = (await claim(w)).sessions
    assert len(first) == 2
    await set_for(w, most=MOST + 3)
    second = (await claim(w)).sessions
    assert len(second) == MOST + 1, "more than the general limit, where the operator allows it"
    await set_for(w, most=None)
    assert (await claim(w)).sessions == ()
    await end(w, ANSWERED, *first, *second)
    assert len((await claim(w)).sessions) == MOST


async def test_a_job_may_still_ask_for_less(w: World) -> None:
    await open_shop(w, per_domain=1)
    await set_for(w, most=9)
    assert len((await claim(w)).sessions) == 1


async def test_a_site_that_is_slowed_down_goes_below_the_operators_limit(w: World) -> None:
    await open_shop(w)
    await set_for(w, most=8)
    some = (await claim(w)).sessions
    await end(w, busy(1.0), *some)
    w.clock.now += 1.5
    assert len((await claim(w)).sessions) == 4


async def test_sessions_of_all_jobs_start_at_the_distance_that_is_set(w: World) -> None:
    await open_shop(w), await open_shop(w, robots=False)
    await set_for(w, delay_s=3.0)
    starts = []
    for _ in range(7):
        claims = await claim(w)
        starts += [w.clock.now] * len(claims.sessions)
        await end(w, ANSWERED, *claims.sessions)
        if not claims.sessions:
            assert {held.cause for held in claims.held.values()} == {WaitingCause.DOMAIN_DELAY}
        w.clock.now += 1.0
    assert [at - starts[0] for at in starts] == [0.0, 3.0, 6.0]
    await set_for(w, delay_s=0)
    assert len((await claim(w)).sessions) == MOST


async def test_nothing_starts_on_a_paused_site_until_the_pause_ends_or_is_lifted(w: World) -> None:
    job = await open_shop(w)
    await set_for(w, pause_s=30.0)
    held = (await claim(w)).held
    assert {one.cause for (of, _), one in held.items() if of == job} == {WaitingCause.SITE_PAUSED}
    w.clock.now += 29
    assert (await claim(w)).sessions == ()
    w.clock.now += 2
    assert len((await claim(w)).sessions) == MOST
    assert await w.store.sites.limits() == {}

    await set_for(w, "h1.example", pause_s=None)  # a site that no job has named yet
    site = await w.store.sites.site("h1.example")
    assert site is not None and site.own_paused_s > 1e9
    await set_for(w, pause_s=None)
    w.clock.now += 365 * 86_400
    (refused,) = (await claim(w)).held.values()
    assert refused.wait_s <= LOOK_AGAIN_S, "a dispatcher must not wait for the end of time"
    await set_for(w, pause_s=0)
    assert (await w.store.sites.site(HOST) or site).own_paused_s == 0


async def test_what_is_not_named_stays(w: World) -> None:
    await set_for(w, most=3, delay_s=1.5, pause_s=None)
    await set_for(w, most=5)
    (limits,) = (await w.store.sites.limits()).values()
    assert (limits.most, limits.delay_s) == (5, 1.5) and limits.paused_s(w.clock.now) > 0
    (row,) = await w.store.sites.busiest(10)
    assert (row.host, row.own_most, row.own_delay_s, row.running) == (HOST, 5, 1.5, 0)
    assert await w.store.sites.site("nowhere.example") is None
