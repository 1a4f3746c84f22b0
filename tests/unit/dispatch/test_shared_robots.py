"""Workers of two dispatchers open pages of one site, and it is asked for its robots.txt once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from shoal.agent.errors import RobotsForbidden
from shoal.agent.status import Status
from shoal.agent.worker_messages import RobotsAnswer, RobotsWish, Work
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.network import robots as module
from shoal.services.browsers.network.navigation_guard import PoliteNavigationGuard, RateSlots, SiteNavigationGuard
from shoal.services.browsers.network.robots import Robots
from shoal.services.browsers.pools.local_pool import LocalPool
from shoal.services.browsers.worker import Worker
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatcher import Dispatcher
from tests.cluster_world import world
from tests.doubles import FakeBrowser, FakePage
from tests.patience import soon
from tests.robots_site import RULES, Site, serving
from tests.unit.dispatch.test_succession import succession
from tests.worker_world import EXTRACT, LOOP, FakeParts

ITEMS = 24


class ObedientParts(FakeParts):
    """Workers that ask for robots.txt, each for itself as far as it knows."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._robots = Robots()

    def navigation_guard(self, work: Work, rate_slots: RateSlots) -> SiteNavigationGuard:
        return PoliteNavigationGuard(work.spec.politeness, self._robots, rate_slots, "Shoal", None)

    async def close(self) -> None:
        await self._robots.close()
        await super().close()


def shop_of(site: Site) -> dict[str, FakePage]:
    """A front page and its items; every second item is none that robots.txt allows."""
    links = [f"{site.url}/{'private' if n % 2 else 'item'}/{n}" for n in range(ITEMS)]
    return {f"{site.url}/": FakePage(read=links)} | {
        link: FakePage(read={"n": n}, seconds=0.02) for n, link in enumerate(links)
    }


async def test_workers_of_two_dispatchers_ask_a_site_once() -> None:
    async with serving() as site:
        site.body = RULES.replace(b"Crawl-delay: 1.5\n", b"")
        pages, config = shop_of(site), WorkerConfig(slots=2, artifacts_url="memory:")

        async def make(name: str) -> Worker:
            return Worker(f"other-{name}", config, ObedientParts([], lambda: FakeBrowser(pages), config))

        dispatch = DispatchConfig(workers=3, prefetch=0)
        async with world(pages, slots=2, dispatch=dispatch, parts=ObedientParts) as w:
            second = Dispatcher(w.store, LocalPool(make, 2), DispatchConfig(name="second", workers=3, prefetch=0))
            await second.start()
            try:
                job = await w.final(await w.submit(url=f"{site.url}/", loop=LOOP, extract=EXTRACT, max_attempts=1))
            finally:
                await second.stop()
            rows = await w.store.results(job.id, limit=ITEMS)
        assert (job.counts.completed, job.counts.failed) == (ITEMS // 2, ITEMS // 2)
        assert {row.error.code for row in rows if row.error} == {RobotsForbidden.code}
        assert site.asked == ["/robots.txt"]


async def test_pages_are_opened_though_the_store_knows_nothing_of_robots_txt(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as site, world(shop_of(site), parts=ObedientParts) as w:

        async def robots(wishes: Sequence[tuple[str, RobotsWish]]) -> list[RobotsAnswer | None]:
            raise ValueError("it is broken")

        monkeypatch.setattr(w.store, "robots", robots)
        job = await w.final(await w.submit(url=f"{site.url}/item/0", extract=EXTRACT, max_attempts=1))
        assert job.status is Status.COMPLETED
        assert site.asked == ["/robots.txt"]


async def test_a_session_whose_dispatcher_dies_before_it_answers_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone: with the next dispatcher, its outcome is pulled."""
    monkeypatch.setattr(module, "_ANSWER_S", 0.1)
    async with serving() as site, world(shop_of(site), parts=ObedientParts) as w:
        asked = asyncio.Event()

        async def robots(wishes: Sequence[tuple[str, RobotsWish]]) -> list[RobotsAnswer | None]:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError("it is dead")

        with monkeypatch.context() as broken:
            broken.setattr(w.store, "robots", robots)
            job = await w.submit(url=f"{site.url}/item/0", extract=EXTRACT, max_attempts=1)
            async with soon(28):
                await asked.wait()
                while not site.asked:
                    await w.store.changed(0.02)
        async with succession(w, DispatchConfig()):
            assert (await w.final(job)).status is Status.COMPLETED
        (row,) = await w.store.results(job)
        assert row.attempts == 1
        assert site.asked == ["/robots.txt"]
