"""Waiting of a session's page before it is opened by address."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from shoal.agent.errors import AddressForbidden, Unexpected
from shoal.agent.spec import PolitenessSpec
from shoal.agent.worker_messages import RateSlot, RateSlotRequest, Report
from shoal.services.browsers.network.navigation_guard import LONGEST_CRAWL_DELAY_S, PoliteNavigationGuard
from shoal.services.browsers.network.robots import Robots, Shared
from shoal.services.browsers.reports.outbox import Outbox, SessionJournal
from tests.patience import soon

URL = "http://Shop.Example:8080/1"


@asynccontextmanager
async def guard(outbox: Outbox, **politeness: object) -> AsyncIterator[PoliteNavigationGuard]:
    """The guard of one session, whose job asks no robots.txt."""
    robots = Robots()
    spec = PolitenessSpec.model_validate({"robots": False} | politeness)
    yield PoliteNavigationGuard(spec, robots, SessionJournal(outbox, 1, 1, 7), "test", None)
    await robots.close()


async def next_report(outbox: Outbox, seen: int = 0) -> Report:
    """The one report that comes next."""
    (report,) = (await outbox.pull(seen, 5)).reports()
    assert report.wants_ack and report.page == RateSlotRequest(7, "shop.example", 2)
    return report


async def test_a_page_without_a_delay_asks_nobody() -> None:
    outbox = Outbox()
    async with soon(28), guard(outbox) as passes:
        await passes(URL)
    assert len(outbox) == 0


async def test_an_address_without_a_host_asks_nobody() -> None:
    outbox = Outbox()
    async with soon(28), guard(outbox, delay_s=2) as passes:
        await passes("about:blank")
    assert len(outbox) == 0


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "\tFI\nLE:/x",
        "view-source:http://shop.example/",
        "//x",
        "",
        "http://[",
        "http://shop:port/",
    ],
)
async def test_only_the_web_passes(address: str) -> None:
    outbox = Outbox()
    async with soon(28), guard(outbox, delay_s=2) as passes:
        with pytest.raises(AddressForbidden):
            await passes(address)
    assert len(outbox) == 0


async def test_a_page_is_opened_when_its_turn_has_come() -> None:
    outbox = Outbox()
    async with soon(28), guard(outbox, delay_s=2) as passes:
        passing = asyncio.ensure_future(passes(URL))
        report = await next_report(outbox)
        began = asyncio.get_running_loop().time()
        outbox.confirm(report.serial, frozenset(), {report.serial: RateSlot(0.05)})
        await passing
        assert asyncio.get_running_loop().time() - began >= 0.05
    assert len(outbox) == 0


async def test_a_page_that_stands_too_far_back_asks_again() -> None:
    outbox = Outbox()
    async with soon(28), guard(outbox, delay_s=2) as passes:
        passing = asyncio.ensure_future(passes(URL))
        first = await next_report(outbox)
        outbox.confirm(first.serial, frozenset(), {first.serial: RateSlot(0.01, given=False)})
        second = await next_report(outbox, first.serial)
        assert not passing.done()
        outbox.confirm(second.serial, frozenset(), {second.serial: RateSlot(0)})
        await passing


async def test_a_turn_that_cannot_be_given_ends_the_wait_with_an_error() -> None:
    outbox = Outbox()
    async with soon(28), guard(outbox, delay_s=2) as passes:
        passing = asyncio.ensure_future(passes(URL))
        report = await next_report(outbox)
        outbox.confirm(report.serial, frozenset({report.serial}))
        with pytest.raises(Unexpected, match=r"no rate slot .* shop\.example"):
            await passing


async def test_a_successor_is_asked_for_the_turn_that_its_predecessor_did_not_tell() -> None:
    outbox = Outbox()
    async with soon(28), guard(outbox, delay_s=2) as passes:
        passing = asyncio.ensure_future(passes(URL))
        report = await next_report(outbox)
        again = await next_report(outbox)  # a new dispatcher, that knows nothing
        assert again == report
        outbox.confirm(again.serial, frozenset(), {again.serial: RateSlot(0)})
        await passing


async def test_a_session_that_is_stopped_while_it_waits_leaves_no_question_behind() -> None:
    outbox = Outbox()
    async with soon(28), guard(outbox, delay_s=2) as passes:
        waiting, other = (asyncio.ensure_future(passes(URL)) for _ in range(2))
        while len(outbox) < 2:
            await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        report = await next_report(outbox)
        outbox.confirm(report.serial, frozenset(), {report.serial: RateSlot(0)})
        await other


class Asks:
    """robots.txt that asks for a distance."""

    def __init__(self, crawl_delay_s: float | None) -> None:
        self._crawl_delay_s = crawl_delay_s

    async def allowed(self, url: str, user_agent: str, shared: Shared) -> bool:
        return True

    async def crawl_delay(self, url: str, user_agent: str, shared: Shared) -> float | None:
        return self._crawl_delay_s


@pytest.mark.parametrize(
    ("delay_s", "crawl_delay_s", "wish"),
    [
        (2, None, RateSlotRequest(7, "shop.example", 2, 0)),
        (0, 3, RateSlotRequest(7, "shop.example", 0, 3)),
        (2, 3, RateSlotRequest(7, "shop.example", 2, 3)),
        (2, 3600, RateSlotRequest(7, "shop.example", 2, LONGEST_CRAWL_DELAY_S)),
    ],
)
async def test_the_job_s_distance_and_the_site_s_are_asked_for_each_by_itself(
    delay_s: float, crawl_delay_s: float | None, wish: RateSlotRequest
) -> None:
    outbox = Outbox()
    spec = PolitenessSpec.model_validate({"delay_s": delay_s})
    passes = PoliteNavigationGuard(spec, Asks(crawl_delay_s), SessionJournal(outbox, 1, 1, 7), "test", None)
    async with soon(28):
        passing = asyncio.ensure_future(passes(URL))
        (report,) = (await outbox.pull(0, 5)).reports()
        assert report.page == wish
        outbox.confirm(report.serial, frozenset(), {report.serial: RateSlot(0)})
        await passing
