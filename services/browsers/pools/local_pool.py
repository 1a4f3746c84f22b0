"""Workers in this very process: for tests, and for those who use Shoal as a library without Ray."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from shoal.agent.worker_messages import Answer, JobLimits, LiveRequest, Work
from shoal.services.browsers.pools.pool import WorkerHandle, WorkerLost, WorkerStats
from shoal.services.browsers.reports.report_batch import ReportBatch
from shoal.services.browsers.worker import Worker


class LocalWorker:
    """A `WorkerHandle` on a `Worker` beside it; `lose()` makes it behave like one whose node died."""

    def __init__(self, worker: Worker, slots: int) -> None:
        self._worker = worker
        self._slots = slots
        self._gone = asyncio.Event()  # it answers no call any more

    @property
    def name(self) -> str:
        return self._worker.name

    @property
    def slots(self) -> int:
        return self._slots

    def _here(self) -> Worker:
        if self.lost:
            raise WorkerLost(f"{self.name} is gone")
        return self._worker

    async def submit(self, works: Sequence[Work]) -> None:
        await self._here().submit(works)

    async def pull(self, seen: int, committed: int, most_bytes: int) -> ReportBatch:
        pulling = asyncio.ensure_future(self._here().pull(seen, committed, most_bytes))
        gone = asyncio.ensure_future(self._gone.wait())  # an actor's death ends the calls that wait for it, too
        try:
            await asyncio.wait({pulling, gone}, return_when=asyncio.FIRST_COMPLETED)
            self._here()
            return await pulling
        finally:
            pulling.cancel()
            gone.cancel()

    async def confirm(self, committed: int, refused: frozenset[int], answers: Mapping[int, Answer]) -> None:
        await self._here().confirm(committed, refused, answers)

    async def cancel(self, sessions: Sequence[int]) -> None:
        await self._here().cancel(sessions)

    async def limit(self, limits: Mapping[int, JobLimits]) -> None:
        await self._here().limit(limits)

    async def show(self, requests: Mapping[int, Sequence[LiveRequest]]) -> None:
        await self._here().show(requests)

    async def stats(self) -> WorkerStats:
        return await self._here().stats()

    async def drain(self, drain_s: float) -> None:
        await self._here().drain(drain_s)

    async def end(self) -> None:
        self._gone.set()
        await self._worker.close()

    @property
    def lost(self) -> bool:
        return self._gone.is_set()

    async def lose(self) -> None:
        """The worker's death: it answers no call any more, its sessions are stopped, its reports are lost."""
        self._gone.set()
        await self._worker.drain(0)
        await self._worker.close()


class LocalPool:
    """A `Pool` of `LocalWorker`s."""

    def __init__(self, make: Callable[[str], Awaitable[Worker]], slots: int) -> None:
        self._make = make
        self._slots = slots
        self.workers: list[LocalWorker] = []

    async def adopt(self) -> list[WorkerHandle]:
        return [worker for worker in self.workers if not worker.lost]

    async def start(self) -> WorkerHandle:
        worker = LocalWorker(await self._make(f"local-{len(self.workers)}"), self._slots)
        self.workers.append(worker)
        return worker

    async def expect(self, workers: int) -> None:
        """This process is all there is."""

    async def close(self) -> None:
        for worker in self.workers:
            if not worker.lost:
                await worker.drain(0)
                await worker.end()
