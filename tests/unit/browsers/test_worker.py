"""One worker with a fake browser."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from agent.spec import JobSpec
from agent.status import Status
from agent.testing import FakeBrowser, FakePage
from agent.work import Work
from services.browsers.config import WorkerConfig
from services.browsers.worker import Worker
from tests.cluster_world import EXTRACT, FakeParts

URL = "http://shop.example/"


async def test_a_session_that_lost_its_lease_and_comes_back_runs_once_and_frees_its_slots() -> None:
    pages = {URL: FakePage(read={"n": 1}, seconds=30)}
    config = WorkerConfig(slots=2, artifacts_url="memory:")
    parts = FakeParts([], lambda: FakeBrowser(pages), config)
    worker = Worker("w", config, parts)
    spec = JobSpec.model_validate({"url": URL, "extract": EXTRACT})
    first = Work(1, 1, 1, "t", 1, 0, spec, None, None, None, None)
    async with asyncio.timeout(20):
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
            for report in await worker.pull(seen, 0):
                seen = report.serial
                if report.outcome is not None:
                    ended[report.fence] = report.outcome.status

    assert ended == {1: Status.CANCELED, 3: Status.COMPLETED}
    stats = await worker.stats()
    assert (stats.busy, dict(stats.held)) == (0, {})
    await worker.close()
