"""A session's progress on its way to the store: numbered reports, kept until the dispatcher has committed them."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from shoal.agent.compressed_items import LoopPiece, compress_items
from shoal.agent.errors import Canceled, Unexpected
from shoal.agent.types import Checkpoint, FieldGlossary, LoopItem, Outcome
from shoal.agent.worker_messages import (
    Answer,
    GlossaryAnswer,
    GlossaryWish,
    RateSlot,
    RateSlotRequest,
    Report,
    RobotsAnswer,
    RobotsWish,
)
from shoal.services.browsers.reports.report_batch import REPORT_BATCH_BYTES, ReportBatch

_LEAST_BATCH_DELAY_S = 0.004
_MOST_BATCH_DELAY_S = 0.25
_BATCH_DELAY_SHARE = 0.5
"""Seconds that a pull waits for company once there is something to give, as a share of the seconds that a session
takes. Groups are what makes Ray calls and commits cheap; a worker that has more work queued loses nothing by them.
"""


@dataclass(frozen=True, slots=True)
class _Ack:
    """The acknowledgement of a report that somebody waits for."""

    taken: bool  # False: the store refused it
    answer: Answer | None  # where it asked


class Outbox:
    """The reports of one worker.

    A report leaves the outbox only when the dispatcher says that the store has it, so a dispatcher that dies between
    pulling and committing loses nothing: its successor pulls the same reports again, and fences drop the doubles.
    """

    def __init__(
        self, needs_work: Callable[[], bool] = lambda: False, least_delay_s: Callable[[], float] = lambda: 0.0
    ) -> None:
        self._needs_work = needs_work  # whether the worker needs more work soon, which it gets for its reports
        self._least_delay_s = least_delay_s  # of a pull, now
        self._reports: OrderedDict[int, Report] = OrderedDict()  # by serial number
        self._serial = 0
        self._newest: dict[tuple[int, int], int] = {}  # by session and fence: its last checkpoint, not pulled yet
        self._new_reports = asyncio.Event()  # there are some that were not pulled yet
        self._since = 0.0  # when the first of these came, by the clock of `time.monotonic`
        self._hurry = asyncio.Event()  # what there is must be pulled now
        self._acks: dict[int, asyncio.Future[_Ack]] = {}
        self._session_s = 0.0  # what a session takes, smoothed

    def put(self, report: Report) -> int:
        """Adds a report and gives its serial number.

        A checkpoint without a waiting session replaces the one before, where that was not pulled yet: while the
        dispatcher is away, each session keeps one. Numbers left out are never given, and are confirmed with later ones.
        """
        self._serial += 1
        self._reports[self._serial] = replace(report, serial=self._serial)
        if report.checkpoint is not None and not report.wants_ack:
            attempt = (report.session, report.fence)
            if (before := self._newest.get(attempt)) is not None:
                self._reports.pop(before, None)
            self._newest[attempt] = self._serial
        if report.outcome is not None:
            self._session_s += (report.outcome.seconds - self._session_s) * 0.1
        if not self._new_reports.is_set():
            self._since = time.monotonic()
        self._new_reports.set()
        if report.wants_ack or self._needs_work():
            self._hurry.set()
        return self._serial

    def hurry(self) -> None:
        """Have what there is pulled now."""
        self._hurry.set()

    async def put_and_wait(self, report: Report) -> bool:
        """Adds a report and waits until the store took it; False when it refused it."""
        return (await self._ack(self.put(replace(report, wants_ack=True)))).taken

    async def ask(self, report: Report) -> Answer | None:
        """Adds a report that asks for something and waits for the answer; None when there can be none."""
        serial = self.put(replace(report, wants_ack=True))
        try:
            return (await self._ack(serial)).answer
        except asyncio.CancelledError:
            # The session waits no more: a report that was not pulled yet takes no place from the others.
            self._reports.pop(serial, None)
            raise

    async def _ack(self, serial: int) -> _Ack:
        ack: asyncio.Future[_Ack] = asyncio.get_running_loop().create_future()
        self._acks[serial] = ack
        try:
            return await ack
        finally:
            del self._acks[serial]

    async def pull(self, seen: int, timeout_s: float, most_bytes: int = REPORT_BATCH_BYTES) -> ReportBatch:
        """Reports after serial number `seen`, else those of the next `timeout_s`.

        The first that was not pulled yet waits for company, also where it came while the last pull was under way. Those
        over `most_bytes` are left for the next pull; one report always comes.
        """
        if not self._after(seen):
            self._new_reports.clear()
            self._hurry.clear()
            if not await _within(timeout_s, self._new_reports):
                return ReportBatch(b"")
        if self._new_reports.is_set():
            await _within(self._since + self._batch_delay_s - time.monotonic(), self._hurry)
        unseen = self._after(seen)
        batch = ReportBatch.of(unseen, most_bytes)
        if (n := len(batch.sizes)) == len(unseen):
            self._newest.clear()
            self._new_reports.clear()
            self._hurry.clear()
        else:
            last = unseen[n - 1].serial
            self._newest = {attempt: serial for attempt, serial in self._newest.items() if serial > last}
        return batch

    @property
    def _batch_delay_s(self) -> float:
        usual = min(_MOST_BATCH_DELAY_S, self._session_s * _BATCH_DELAY_SHARE)
        return max(_LEAST_BATCH_DELAY_S, usual, self._least_delay_s())

    def _after(self, seen: int) -> list[Report]:
        return [report for serial, report in self._reports.items() if serial > seen]

    def confirm(self, committed: int, refused: frozenset[int], answers: Mapping[int, Answer] = {}) -> None:
        """The store has every report up to serial number `committed`, save the `refused` ones, which were late.

        `answers`: to those that asked.
        """
        while self._reports and next(iter(self._reports)) <= committed:
            self._reports.popitem(last=False)
        for serial, ack in list(self._acks.items()):
            if serial <= committed and not ack.done():
                ack.set_result(_Ack(serial not in refused, answers.get(serial)))

    def __len__(self) -> int:
        return len(self._reports)


async def _within(seconds: float, event: asyncio.Event) -> bool:
    """Return whether the event came within so many seconds."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False


class SessionJournal:
    """The journal that one session writes its checkpoints to and asks for its pages' needs."""

    def __init__(self, outbox: Outbox, session: int, fence: int, job: int) -> None:
        self._outbox = outbox
        self._session = session
        self._fence = fence
        self._job = job

    async def checkpoint(self, checkpoint: Checkpoint, *, durable: bool) -> None:
        report = Report(self._session, self._fence, checkpoint=checkpoint)
        if not durable:
            self._outbox.put(report)
        else:
            await self._stored(report)

    async def items(self, at: int, items: Sequence[LoopItem]) -> None:
        await self._stored(Report(self._session, self._fence, items=LoopPiece(at, tuple(compress_items(items)))))

    async def _stored(self, report: Report) -> None:
        if not await self._outbox.put_and_wait(report):
            raise Canceled("the lease of this session has passed to another worker")

    async def rate_slot(self, host: str, delay_s: float, crawl_delay_s: float) -> RateSlot:
        """When a page may be opened, over all workers; see `RateSlotRequest`.

        Raises:
            Unexpected: the store cannot say.
        """
        wish = RateSlotRequest(self._job, host, delay_s, crawl_delay_s)
        slot = await self._outbox.ask(Report(self._session, self._fence, page=wish))
        if not isinstance(slot, RateSlot):
            raise Unexpected(f"no rate slot could be given for a page of {host}; the dispatcher's log says why")
        return slot

    async def robots(self, origin: str) -> RobotsAnswer | None:
        """Return what the cluster knows of an origin's robots.txt; None when the store cannot say."""
        answer = await self._outbox.ask(Report(self._session, self._fence, robots=RobotsWish(origin)))
        return answer if isinstance(answer, RobotsAnswer) else None

    def share_robots(self, robots_wish: RobotsWish) -> None:
        """Hands on what an origin answered. The session here does not wait, but other workers do: it is pulled at
        once."""
        self._outbox.put(Report(self._session, self._fence, robots=robots_wish, wants_ack=True))

    async def glossary(self, key: str) -> GlossaryAnswer | None:
        """Return what the cluster knows of a schema's field glossary; None when the store cannot say."""
        answer = await self._outbox.ask(Report(self._session, self._fence, glossary=GlossaryWish(key)))
        return answer if isinstance(answer, GlossaryAnswer) else None

    def share_glossary(self, key: str, answered: FieldGlossary) -> None:
        """Hands on what a model answered; sessions of other workers wait for it."""
        self._outbox.put(Report(self._session, self._fence, glossary=GlossaryWish(key, answered), wants_ack=True))

    def return_glossary(self, key: str) -> None:
        """Gives the order to ask a model back; sessions of other workers wait for it."""
        wish = GlossaryWish(key, given_back=True)
        self._outbox.put(Report(self._session, self._fence, glossary=wish, wants_ack=True))

    def outcome(self, outcome: Outcome) -> None:
        """The attempt is over."""
        self._outbox.put(Report(self._session, self._fence, outcome=outcome))
