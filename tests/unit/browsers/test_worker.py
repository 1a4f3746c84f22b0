"""One worker with a fake browser."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import cast

import pytest

from shoal.agent.browser import ContextOptions
from shoal.agent.documents.fetching import DocumentClient
from shoal.agent.sessions.dependencies import Journal, NavigationGuard
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import Checkpoint, Outcome
from shoal.agent.worker_messages import Work
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.worker import Worker, dependencies_of
from tests.doubles import FakeBrowser, FakePage
from tests.doubles.browser_double import FakeContext
from tests.patience import soon
from tests.worker_world import EXTRACT, FakeParts, form

URL = "http://shop.example/"


async def test_a_session_that_lost_its_lease_and_comes_back_runs_once_and_frees_its_slots() -> None:
    pages = {URL: FakePage(read={"n": 1}, seconds=300)}
    config = WorkerConfig(slots=2, artifacts_url="memory:")
    parts = FakeParts([], lambda: FakeBrowser(pages), config)
    worker = Worker("w", config, parts)
    spec = JobSpec.model_validate({"url": URL, "extract": EXTRACT})
    first = Work(1, 1, 1, "t", 1, 0, spec, None, None, None, None)
    async with soon(18):
        await worker.submit([first])
        while not parts.browsers or not parts.browsers[0].visits:
            await asyncio.sleep(0.01)
        pages[URL] = FakePage(read={"n": 1})
        parts.browsers[0].pages = pages
        await worker.submit([replace(first, fence=3, attempt=2)])
        assert (await worker.stats()).held == {1: 3}
        ended: dict[int, Status] = {}
        seen = 0
        while len(ended) < 2:
            for report in (await worker.pull(seen, 0)).reports():
                seen = report.serial
                if report.outcome is not None:
                    ended[report.fence] = report.outcome.status

    assert ended == {1: Status.CANCELED, 3: Status.COMPLETED}
    stats = await worker.stats()
    assert (stats.busy, dict(stats.held)) == (0, {})
    await worker.close()


async def test_a_slot_that_runs_dry_is_told_of_at_once_whatever_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.services.browsers.worker._RUN_DELAY_S", 3600.0)
    other = "http://slow.example/"
    pages = {URL: FakePage(read={"n": 1}), other: FakePage(read={"n": 1}, seconds=300)}
    config = WorkerConfig(slots=2, artifacts_url="memory:")
    worker = Worker("w", config, FakeParts([], lambda: FakeBrowser(pages), config))
    slow = JobSpec.model_validate({"url": other, "extract": EXTRACT})
    quick = JobSpec.model_validate({"url": URL, "extract": EXTRACT})
    async with soon(18):
        await worker.submit([Work(n, 1, 1, "t", 1, 0, slow, None, None, None, None, width=1) for n in (1, 2)])
        await worker.submit([Work(3, 1, 2, "t", 1, 0, quick, None, None, None, None)])
        ended, seen = set[int](), 0
        while 3 not in ended:
            for report in (await worker.pull(seen, 0)).reports():
                seen = report.serial
                ended |= {report.session} if report.outcome is not None else set()
    await worker.drain(0)
    await worker.close()


async def test_a_session_that_is_stopped_before_its_first_step_reports_and_frees_its_slot() -> None:
    config = WorkerConfig(slots=1, artifacts_url="memory:")
    worker = Worker("w", config, FakeParts([], lambda: FakeBrowser({URL: FakePage(read={"n": 1})}), config))
    spec = JobSpec.model_validate({"url": URL, "extract": EXTRACT})
    await worker.submit([Work(1, 1, 1, "t", 1, 0, spec, None, None, None, None)])
    await worker.cancel([1])
    async with soon(18):
        (report,) = (await worker.pull(0, 0)).reports()
        assert report.outcome is not None
        assert report.outcome.status is Status.CANCELED
        assert (await worker.stats()).busy == 0
        await worker.submit([Work(2, 1, 1, "t", 1, 0, spec, None, None, None, None)])
        (report,) = [one for one in (await worker.pull(report.serial, 0)).reports() if one.outcome is not None]
        assert report.outcome is not None
        assert report.outcome.status is Status.COMPLETED
        await worker.drain(0)
    await worker.close()


async def test_a_session_that_is_told_to_stop_again_and_again_ends_its_page_in_peace() -> None:
    """The dispatcher says it with every look until it has the report."""
    browser = SlowlyClosed({URL: FakePage(read={"n": 1}, seconds=300)})
    config = WorkerConfig(slots=1, artifacts_url="memory:")
    worker = Worker("w", config, FakeParts([], lambda: browser, config))
    spec = JobSpec.model_validate({"url": URL, "extract": EXTRACT})
    async with soon(18):
        await worker.submit([Work(1, 1, 1, "t", 1, 0, spec, None, None, None, None)])
        while not browser.visits:
            await asyncio.sleep(0.01)
        await worker.cancel([1])
        await browser.closing.wait()
        await worker.cancel([1])
        browser.may_close.set()
        await worker.pull(0, 0)
    assert browser.open == 0
    await worker.close()


class SlowlyClosed(FakeBrowser):
    """Its contexts take their time to end."""

    def __init__(self, pages: dict[str, FakePage]) -> None:
        super().__init__(pages)
        self.closing, self.may_close = asyncio.Event(), asyncio.Event()

    async def new_context(self, options: ContextOptions = ContextOptions()) -> FakeContext:
        context = await super().new_context(options)
        its_own = context.close

        async def close() -> None:
            self.closing.set()
            await self.may_close.wait()
            await its_own()

        context.close = close  # type: ignore[method-assign]
        return context


class Asked(FakeParts):
    """Parts of which it is counted how often their client for documents is asked for."""

    asked = 0

    def documents(self, tenant: str) -> DocumentClient:
        self.asked += 1
        return cast(DocumentClient, self)


async def test_a_sitemap_has_a_reader_in_the_session_of_its_loop_alone() -> None:
    config = WorkerConfig(slots=1, artifacts_url="memory:")
    parts = Asked([], lambda: FakeBrowser({}), config)
    guard, journal = cast(NavigationGuard, None), cast(Journal, None)
    of_items = {"sitemap": {"url": f"{URL}sitemap.xml"}}
    for depth, loop, proxy, n in (
        (0, of_items, None, 1),
        (1, of_items, None, 0),
        (0, of_items, {"server": "http://proxy.example:8080"}, 0),
        (0, {"values": ["a"]}, None, 0),
    ):
        parts.asked = 0
        spec = JobSpec.model_validate({"url": URL, "loop": loop, "browser": {"proxy": proxy}})
        work = Work(1, 1, 1, "t", 1, depth, spec, None, None, None, None)
        deps = await dependencies_of(parts, config, work, FakeBrowser({}), guard, journal)
        assert (parts.asked, deps.sitemaps is not None) == (n, bool(n)), (depth, loop, proxy)


async def test_a_worker_that_ends_gives_back_what_it_is_still_handed() -> None:
    """Claimed a moment before: it must not wait for the whole end, and lose an attempt then."""
    browser = FakeBrowser({URL: FakePage(read={"n": 1}, seconds=300)})
    config = WorkerConfig(slots=1, artifacts_url="memory:")
    worker = Worker("w", config, FakeParts([], lambda: browser, config))
    spec = JobSpec.model_validate({"url": URL, "extract": EXTRACT})
    late = Work(2, 5, 1, "t", 1, 0, spec, None, Checkpoint(), None, None)
    async with soon(18):
        await worker.submit([Work(1, 1, 1, "t", 1, 0, spec, None, None, None, None)])
        while not browser.visits:
            await asyncio.sleep(0.01)
        draining = asyncio.create_task(worker.drain(3600))
        await asyncio.sleep(0)
        await worker.submit([late])
        (report,) = [one for one in (await worker.pull(0, 0)).reports() if one.outcome is not None]
        assert report.outcome is not None
        assert (report.session, report.fence, report.outcome.status) == (2, 5, Status.CANCELED)
        assert report.outcome.checkpoint == late.checkpoint
        assert not draining.done() and (await worker.stats()).held == {1: 1}, "the other one goes on"
        await worker.cancel([1])
        await draining
    await worker.close()


async def test_a_browser_that_was_lost_inside_an_action_is_replaced_though_the_session_ends_unsure() -> None:
    """Its outcome says what it may have done, not what cut it off."""
    config = WorkerConfig(slots=1, artifacts_url="memory:")
    parts = FakeParts([], lambda: FakeBrowser(form(act_seconds=0.2)), config)
    worker = Worker("w", config, parts)
    spec = JobSpec.model_validate({"url": URL, "goal": "send", "data": {"a": 1}})
    async with soon(18):
        await worker.submit([Work(1, 1, 1, "t", 1, 0, spec, None, None, None, None)])
        (mark,) = (await worker.pull(0, 0)).reports()
        await worker.confirm(mark.serial, frozenset(), {})
        while not parts.browsers[0].performed:
            await asyncio.sleep(0.01)
        parts.browsers[0].kill()
        (end,) = (await worker.pull(mark.serial, mark.serial)).reports()
    assert end.outcome is not None and end.outcome.status is Status.UNSURE
    assert parts.owner.restarts == 1
    await worker.close()


class CutOff(FakeParts):
    """Parts that say of every session that its pages were cut off."""

    def ended(self, work: Work) -> str:
        return "the session's pages have sent more than 8 MiB"


async def test_a_session_whose_pages_were_cut_off_says_so_however_it_ends() -> None:
    config = WorkerConfig(slots=1, artifacts_url="memory:")
    worker = Worker("w", config, CutOff([], lambda: FakeBrowser({URL: FakePage(read={"n": 1})}), config))
    gone = {"url": "http://gone.example/", "extract": EXTRACT}
    good, bad = (JobSpec.model_validate(one) for one in ({"url": URL, "extract": EXTRACT}, gone))
    await worker.submit([Work(n, 1, n, "t", 1, 0, spec, None, None, None, None) for n, spec in ((1, good), (2, bad))])
    told: dict[int, Outcome] = {}
    seen = 0
    async with soon(18):
        while len(told) < 2:
            for report in (await worker.pull(seen, 0)).reports():
                seen = report.serial
                if report.outcome is not None:
                    told[report.session] = report.outcome
    assert told[1].status is Status.COMPLETED and told[1].reason.endswith("have sent more than 8 MiB")
    assert told[2].error is not None and told[2].error.code == "host_unreachable"
    assert told[2].error.message.endswith("(the session's pages have sent more than 8 MiB)")
    await worker.close()
