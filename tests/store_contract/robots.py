"""One robots.txt of each origin for all workers."""

from __future__ import annotations

import asyncio
import zlib

import pytest

from shoal.agent.worker_messages import RobotsAnswer, RobotsFile, RobotsState, RobotsWish
from shoal.services.store.store import Store
from shoal.services.store.throttle.shared_robots import FETCH_S, LEAST_AGAIN_S, LONGEST_KEEP_S, MOST_AGAIN_S
from tests.store_world import World

ORIGIN = "https://shop.example"
RULES = RobotsFile(RobotsState.RULES, 3600, zlib.compress(b"User-agent: *\nDisallow: /private"))
BUSY = RobotsFile(RobotsState.BUSY, 60, why="the site answers 503", retry_after_s=7)
AWAY = RobotsFile(RobotsState.UNREACHABLE, 60, why="no route")
FETCH = RobotsAnswer(fetch=True)


async def ask(w: World, worker: str, *, origin: str = ORIGIN, store: Store | None = None) -> RobotsAnswer:
    """Return what one worker is told."""
    (answer,) = await (store or w.store).robots([(worker, RobotsWish(origin))])
    assert answer is not None
    return answer


async def tell(w: World, worker: str, file: RobotsFile, *, origin: str = ORIGIN) -> None:
    """One worker has asked the site."""
    assert await w.store.robots([(worker, RobotsWish(origin, file))]) == [None]


async def test_one_worker_of_all_dispatchers_is_sent_and_the_others_get_what_it_finds(w: World) -> None:
    stores = [w.store, await w.another()]
    asked = await asyncio.gather(*(ask(w, f"w{n}", store=stores[n % 2]) for n in range(8)))
    (sent,) = (n for n, answer in enumerate(asked) if answer.fetch)
    assert all(answer.wait_s > 0 for n, answer in enumerate(asked) if n != sent)
    await tell(w, f"w{sent}", RULES)
    for store in stores:
        assert await ask(w, "w9", store=store) == RobotsAnswer(RULES)
    w.clock.now += 600
    assert await ask(w, "w9") == RobotsAnswer(RobotsFile(RobotsState.RULES, 3000, RULES.packed)), "what is left of it"


async def test_who_asks_together_with_the_one_that_tells_gets_it(w: World) -> None:
    wishes = [("w1", RobotsWish(ORIGIN)), ("w2", RobotsWish("http://other.example")), ("w3", RobotsWish(ORIGIN, RULES))]
    assert await w.store.robots(wishes) == [RobotsAnswer(RULES), FETCH, None]


async def test_when_it_runs_out_one_worker_is_sent_again(w: World) -> None:
    await tell(w, "w1", RULES)
    w.clock.now += 3600
    assert await ask(w, "w2") == FETCH
    assert (await ask(w, "w3")).wait_s > 0
    changed = RobotsFile(RobotsState.NONE, 300)
    await tell(w, "w2", changed)
    assert await ask(w, "w3") == RobotsAnswer(changed)


async def test_a_worker_that_tells_nothing_is_replaced(w: World) -> None:
    assert await ask(w, "w1") == FETCH
    w.clock.now += FETCH_S - 1
    assert await ask(w, "w2") == RobotsAnswer(wait_s=MOST_AGAIN_S)
    w.clock.now += 1
    assert await ask(w, "w2") == FETCH
    assert await ask(w, "w1") == RobotsAnswer(wait_s=LEAST_AGAIN_S), "it is another's now"


async def test_the_worker_that_was_sent_is_told_so_again(w: World) -> None:
    """Its dispatcher died before it could answer, or had to write the same group once more."""
    assert [await ask(w, "w1"), await ask(w, "w1")] == [FETCH, FETCH]


async def test_a_site_that_cannot_answer_is_left_alone_by_all(w: World) -> None:
    await tell(w, "w1", BUSY)
    assert await ask(w, "w2") == RobotsAnswer(BUSY)
    w.clock.now += 60
    assert await ask(w, "w2") == FETCH


async def test_one_worker_without_a_network_closes_no_site_for_the_others(w: World) -> None:
    await tell(w, "w1", AWAY)
    assert await ask(w, "w2") == FETCH
    await tell(w, "w2", RULES)
    assert await ask(w, "w3") == RobotsAnswer(RULES)
    await tell(w, "w4", AWAY)
    assert await ask(w, "w3") == RobotsAnswer(RULES), "another has read it"


async def test_a_site_that_two_workers_do_not_reach_is_left_alone(w: World) -> None:
    for worker in ("w1", "w2"):
        assert await ask(w, worker) == FETCH
        await tell(w, worker, AWAY)
    assert await ask(w, "w3") == RobotsAnswer(AWAY)
    w.clock.now += 60
    await tell(w, "w1", AWAY)
    assert await ask(w, "w2") == FETCH, "long ago: two must say so again"


@pytest.mark.parametrize("state", [RobotsState.LARGE, RobotsState.REFUSED])
async def test_what_cannot_be_shared_each_worker_finds_out(w: World, state: RobotsState) -> None:
    await tell(w, "w1", RobotsFile(state, 3600))
    assert [await ask(w, "w2"), await ask(w, "w3")] == [FETCH, FETCH]


async def test_nothing_holds_for_longer_than_a_day_and_a_clock_that_is_set_back_stops_nobody(w: World) -> None:
    await tell(w, "w1", RobotsFile(RobotsState.NONE, 10 * LONGEST_KEEP_S))
    assert await ask(w, "w2") == RobotsAnswer(RobotsFile(RobotsState.NONE, LONGEST_KEEP_S))
    w.clock.now -= 86_400
    assert await ask(w, "w2") == FETCH
    w.clock.now -= 86_400
    assert await ask(w, "w3") == FETCH


async def test_what_has_run_out_is_forgotten(w: World) -> None:
    for n in range(150):
        await tell(w, "w1", BUSY, origin=f"https://h{n}.example")
    assert await ask(w, "w1", origin="https://under.way.example") == FETCH
    w.clock.now += 61
    assert await ask(w, "w2", origin="https://h0.example") == FETCH
    for _ in range(2):
        await tell(w, "w1", RULES)
    rows = await w.store._db.read(lambda tx: tx.conn.exec_driver_sql("select origin from robots").all())
    assert {row.origin for row in rows} == {ORIGIN, "https://h0.example"}
