"""Many workers on one site: it is asked for its robots.txt once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest

from shoal.agent.errors import HostUnreachable, ServerBusy
from shoal.agent.worker_messages import RobotsAnswer, RobotsWish
from shoal.services.browsers.network import robots as module
from shoal.services.browsers.network.robots import Robots
from shoal.services.store.throttle.shared_robots import FETCH_S
from tests.patience import soon
from tests.robots_site import RULES, Site
from tests.store_world import Clock, World, world

N = 12


@dataclass
class Asking:
    """One worker, on its way to the store."""

    w: World
    name: str

    async def robots(self, origin: str) -> RobotsAnswer | None:
        return (await self.w.store.robots([(self.name, RobotsWish(origin))]))[0]

    def share_robots(self, found: RobotsWish) -> None:
        TELLING.append(asyncio.ensure_future(self.w.store.robots([(self.name, found)])))


TELLING: list[asyncio.Task[list[RobotsAnswer | None]]] = []


@pytest.fixture
async def w() -> AsyncIterator[World]:
    TELLING.clear()
    async with world("sqlite://") as made:
        yield made
        await asyncio.gather(*TELLING)


@pytest.fixture
async def workers(clock: Clock, w: World) -> AsyncIterator[list[tuple[Robots, Asking]]]:
    async with AsyncExitStack() as stack:
        found = [(Robots(clock=clock), Asking(w, f"w{n}")) for n in range(N)]
        for robots, _ in found:
            stack.push_async_callback(robots.close)
        yield found


async def all_ask(workers: list[tuple[Robots, Asking]], url: str) -> list[bool | BaseException]:
    """Return whether each may open a page; or why it cannot know."""
    asking = (robots.allowed(url, "Shoal", shared) for robots, shared in workers)
    async with soon(40):
        return await asyncio.gather(*asking, return_exceptions=True)


async def test_many_workers_ask_a_site_once(workers: list[tuple[Robots, Asking]], site: Site) -> None:
    site.body = RULES
    assert await all_ask(workers, f"{site.url}/private") == [False] * N
    assert await all_ask(workers, f"{site.url}/private/open") == [True] * N
    assert await workers[3][0].crawl_delay(site.url, "Shoal", workers[3][1]) == 1.5
    assert site.asked == ["/robots.txt"]


async def test_all_of_them_ask_again_at_the_same_time_and_the_site_is_asked_once(
    workers: list[tuple[Robots, Asking]],
    site: Site,
    clock: Clock,
    w: World,
) -> None:
    site.body = RULES
    assert await all_ask(workers[:4], f"{site.url}/private") == [False] * 4
    for passing in (clock, w.clock):
        passing.now += 1800
    assert await all_ask(workers, f"{site.url}/private") == [False] * N
    assert len(site.asked) == 1
    site.body = b""
    for passing in (clock, w.clock):
        passing.now += 1801
    assert await all_ask(workers, f"{site.url}/private") == [True] * N, "those that asked later, too"
    assert len(site.asked) == 2


async def test_none_of_them_opens_a_page_of_a_site_that_cannot_answer(
    workers: list[tuple[Robots, Asking]],
    site: Site,
    clock: Clock,
    w: World,
) -> None:
    site.status, site.fields = "503 Service Unavailable", "Retry-After: 7\r\n"
    got = await all_ask(workers, site.url)
    assert [type(one) for one in got] == [ServerBusy] * N
    assert {one.details["retry_after_s"] for one in got if isinstance(one, ServerBusy)} == {7}
    assert len({str(one) for one in got}) == 1
    assert len(site.asked) == 1
    for passing in (clock, w.clock):
        passing.now += 61
    site.status = "404 Not Found"
    assert await all_ask(workers, site.url) == [True] * N
    assert len(site.asked) == 2


async def test_a_site_that_is_not_there_is_unreachable_for_all(workers: list[tuple[Robots, Asking]]) -> None:
    got = await all_ask(workers, "http://127.0.0.1:1/x")
    assert [type(one) for one in got] == [HostUnreachable] * N


async def test_a_file_that_is_too_long_to_be_shared_is_fetched_by_each(
    workers: list[tuple[Robots, Asking]],
    site: Site,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_MOST_SHARED_BYTES", 10)
    site.body = RULES
    assert await all_ask(workers, f"{site.url}/private") == [False] * N
    assert len(site.asked) == N


async def test_a_worker_that_dies_while_it_fetches_is_replaced(
    workers: list[tuple[Robots, Asking]],
    site: Site,
    w: World,
) -> None:
    site.body = RULES
    site.open.clear()
    dying = asyncio.ensure_future(all_ask(workers[:1], f"{site.url}/private"))
    async with soon(40):
        while not site.asked:
            await asyncio.sleep(0.005)
    others = asyncio.ensure_future(all_ask(workers[1:], f"{site.url}/private"))
    await workers[0][0].close()
    await dying
    site.open.set()
    w.clock.now += FETCH_S
    assert await others == [False] * (N - 1)
    assert len(site.asked) == 2


async def test_a_worker_whose_dispatcher_does_not_answer_fetches_itself(
    site: Site,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_ANSWER_S", 0.05)
    told = list[RobotsWish]()

    class Silent:
        async def robots(self, origin: str) -> RobotsAnswer | None:
            await asyncio.Event().wait()
            raise AssertionError("never")

        def share_robots(self, found: RobotsWish) -> None:
            told.append(found)

    site.body = RULES
    robots = Robots()
    async with soon(40):
        assert await robots.allowed(f"{site.url}/private", "Shoal", Silent()) is False
    await robots.close()
    assert site.asked == ["/robots.txt"]
    assert [wish.origin for wish in told] == [site.url], "the others may be spared it"


async def test_a_worker_for_which_the_store_has_no_answer_fetches_itself(site: Site) -> None:
    class Dumb:
        async def robots(self, origin: str) -> RobotsAnswer | None:
            return None

        def share_robots(self, found: RobotsWish) -> None:
            pass

    site.body = RULES
    robots = Robots()
    assert await robots.allowed(f"{site.url}/private", "Shoal", Dumb()) is False
    await robots.close()
