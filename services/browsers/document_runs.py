"""Runs of documents in one worker: sessions that read documents, beside those that have a browser's slots."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Collection, Iterator

from shoal.agent.worker_messages import Work


class DocumentRuns:
    """Sessions that wait for their turn, by job. Of each job as many are under way as its domain has places."""

    def __init__(self) -> None:
        self._waiting: dict[int, deque[Work]] = {}
        self._width: dict[int, int] = {}  # as the newest claim says
        self._under_way: Counter[int] = Counter()

    def put(self, work: Work) -> None:
        """One more waits."""
        self._waiting.setdefault(work.job, deque()).append(work)
        self._width[work.job] = work.width

    def begin(self) -> Iterator[Work]:
        """Those whose turn it is; each is under way from now on."""
        for job, waiting in list(self._waiting.items()):
            while waiting and self._under_way[job] < self._width[job]:
                self._under_way[job] += 1
                yield waiting.popleft()
            if not waiting:
                del self._waiting[job]

    def ended(self, job: int) -> None:
        """One of a job is over."""
        self._under_way[job] -= 1
        if not self._under_way[job]:
            del self._under_way[job]
            if job not in self._waiting:
                del self._width[job]

    def remove(self, sessions: Collection[int]) -> list[Work]:
        """Takes out those of some sessions that wait."""
        removed = [work for waiting in self._waiting.values() for work in waiting if work.session in sessions]
        for work in removed:
            self._waiting[work.job].remove(work)
        return removed

    def sessions(self, job: int | None = None) -> list[int]:
        """Sessions that wait, of one job or of all."""
        waiting = self._waiting.values() if job is None else [self._waiting.get(job, deque())]
        return [work.session for some in waiting for work in some]

    @property
    def under_way(self) -> int:
        """Sessions that have begun and are not over."""
        return self._under_way.total()

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))


class Slots:
    """A browser's slots. Sessions of runs wait in line for one where a document is not enough."""

    def __init__(self, n: int) -> None:
        self._free = n
        self._all = n
        self._line: deque[asyncio.Future[None]] = deque()

    @property
    def busy(self) -> int:
        """Slots in use."""
        return self._all - self._free

    def take(self) -> bool:
        """Takes a free slot that no session waits for; False where there is none."""
        if not self._free or self._line:
            return False
        self._free -= 1
        return True

    async def wait(self) -> None:
        """Takes the next slot that gets free."""
        if self.take():
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.give_back()  # it was given just now
            elif place in self._line:
                self._line.remove(place)
            raise

    def give_back(self) -> None:
        """A slot is free again."""
        self._free += 1
        while self._line and self._free:
            place = self._line.popleft()
            if not place.done():
                self._free -= 1
                place.set_result(None)
