"""The committer: writes what workers report in groups, and tells them what the store has."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import structlog

from shoal.agent.errors import Unexpected
from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.agent.worker_messages import Answer, Report
from shoal.services.browsers.pools.pool import WorkerLost
from shoal.services.dispatch.commit.retry import finish_or_retry
from shoal.services.dispatch.dispatch_state import DispatchState, take_over
from shoal.services.dispatch.workers.worker_state import WorkerState
from shoal.services.errors import StoreAway
from shoal.services.events import LogEvent
from shoal.services.store.database.cache import Recent
from shoal.services.store.records import CommitResult, Finish
from shoal.services.store.store import Store

log = structlog.get_logger()

_LAST_S = 5.0
"""Seconds that the last reports may take to be written when the dispatcher stops."""

_EXCUSED = 10_000
"""Sessions of which is remembered how many of their attempts did not count."""


@dataclass(frozen=True, slots=True)
class Uncommitted:
    """The reports that a committer holds."""

    reports: int  # that wait
    bytes: int  # of these, and of those that are being written


class Committer:
    """Holds reports until they are written; a worker keeps its own until it hears that they are."""

    def __init__(self, store: Store, state: DispatchState, seed: int | None) -> None:
        self._store = store
        self._state = state
        self._dice = random.Random(seed)
        self._reports: list[tuple[WorkerState, Report]] = []
        self._sizes: list[int] = []  # of these, in bytes
        self._bytes = 0  # of these, and of those that are being written
        self._news = asyncio.Event()
        self._excused = Recent[int, int](_EXCUSED)  # by session: attempts that did not count; lost, they begin anew

    @property
    def uncommitted(self) -> Uncommitted:
        """Return what is held at this moment."""
        return Uncommitted(len(self._reports), self._bytes)

    def receive(self, worker: WorkerState, reports: Sequence[Report], sizes: Sequence[int]) -> None:
        """Queues reports, with the bytes of each; too many of either stop the pullers and the claimer."""
        self._reports += [(worker, report) for report in reports]
        self._sizes += sizes
        self._bytes += sum(sizes)
        self._news.set()
        if self._full:
            self._state.signals.too_many_reports()

    @property
    def _full(self) -> bool:
        config = self._state.config
        return len(self._reports) >= config.held_reports or self._bytes >= config.held_bytes

    async def run(self) -> None:
        """Commits until it is canceled."""
        config = self._state.config
        while True:
            await self._news.wait()
            if len(self._reports) < config.group:
                await asyncio.sleep(config.group_s)
            await self._commit_next()
            self._state.note_store(away=False)
            if not self._full:
                self._state.signals.few_reports()

    async def write_rest(self) -> None:
        """Commits what is left, as far as the store answers."""
        try:
            async with asyncio.timeout(_LAST_S):
                while self._reports:
                    await self._commit_next()
        except (TimeoutError, StoreAway):
            log.warning(LogEvent.STORE_AWAY, lost_reports=len(self._reports))

    def _take(self) -> tuple[list[tuple[WorkerState, Report]], list[int]]:
        """The next group, and the bytes of each report in it."""
        config = self._state.config
        n, held = 0, 0
        for size in self._sizes[: config.group]:
            held += size
            if n and held > config.group_bytes:
                break
            n += 1
        batch, sizes = self._reports[:n], self._sizes[:n]
        del self._reports[:n], self._sizes[:n]
        if not self._reports:
            self._news.clear()
        return batch, sizes

    async def _commit_next(self) -> None:
        """One group. A report that cannot be stored must not keep the others back, nor take them with it.

        Raises:
            StoreAway: what is not written yet stays for the next time.
        """
        batch, sizes = self._take()
        taken = sum(sizes)
        try:
            try:
                await self._commit(batch)
                batch, sizes = [], []
            except StoreAway:
                raise
            except Exception:  # the top of a loop
                log.exception(LogEvent.LOOP_FAILED, loop="commit", group=len(batch))
            while batch:
                await self._commit_alone(*batch[0])
                del batch[0], sizes[0]
        finally:
            self._bytes -= taken - sum(sizes)
            if batch:
                self._reports[:0], self._sizes[:0] = batch, sizes
                self._news.set()

    async def _commit_alone(self, worker: WorkerState, report: Report) -> None:
        """A report by itself: as it is, else as a failure that says why, else not at all."""
        try:
            await self._commit([(worker, report)])
            return
        except StoreAway:
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, this is the report that has it
            failure = Unexpected(f"the outcome could not be stored: {type(error).__name__}: {error}")
        try:
            if report.outcome is not None:
                bare = Outcome(Status.FAILED, error=failure.info(), reason=failure.message)
                await self._commit([(worker, replace(report, outcome=bare))])
                return
        except StoreAway:
            raise
        except Exception:  # the top of a loop
            log.exception(LogEvent.LOOP_FAILED, loop="commit", session=report.session)
        await self._give_up(worker, report, failure.message)

    async def _give_up(self, worker: WorkerState, report: Report, why: str) -> None:
        """Give up a report that cannot be stored.

        An outcome's session goes on when its lease, which is no longer renewed, has run out. Checkpoints and items are
        refused, so that a session which waits for its mark stops before the action. A page gets no rate slot, a
        robots.txt and a glossary no answer, which their sessions are told.
        """
        log.error(LogEvent.REPORT_GIVEN_UP, session=report.session, worker=worker.name, why=why)
        self._state.metrics.delta.add("shoal_reports_given_up")
        if report.outcome is not None:
            self._state.give_up(report.session, report.fence)
        await self._confirm([(worker, report)], {(worker.name, report.serial)}, {})

    async def _commit(self, batch: list[tuple[WorkerState, Report]]) -> None:
        refused = await self._keep_progress(batch)
        answers = await self._answer_requests(batch)
        await self._look_up(report for _, report in batch)
        finishes = [self._decide(report) for _, report in batch if report.outcome is not None]
        if finishes:
            self._settle(finishes, await self._store.finish(finishes, per_domain=self._state.config.per_domain))
        await self._confirm(batch, refused, answers)

    async def _answer_requests(self, batch: list[tuple[WorkerState, Report]]) -> dict[tuple[str, int], Answer]:
        """The answers to those reports that are requests (see `Report`), by worker and serial number."""
        return await self._rate_slots(batch) | await self._robots(batch) | await self._glossaries(batch)

    async def _rate_slots(self, batch: list[tuple[WorkerState, Report]]) -> dict[tuple[str, int], Answer]:
        """The turns of pages that are asked for, by worker and serial number.

        Given again when the batch has to be written again, or by a successor: a place is wasted then, no session is
        lost. Fences do not matter here: a turn that is too late does no harm.
        """
        asking = [((worker.name, report.serial), report.page) for worker, report in batch if report.page is not None]
        turns = await self._store.rate_slots([wish for _, wish in asking]) if asking else ()
        return {key: turn for (key, _), turn in zip(asking, turns, strict=True)}

    async def _robots(self, batch: list[tuple[WorkerState, Report]]) -> dict[tuple[str, int], Answer]:
        """Return what the cluster knows of the robots.txt that are asked for, by worker and serial number;
        keeps those that were found. Asked again, the worker that is to fetch one hears so again.
        """
        some = [(worker.name, report.serial, wish) for worker, report in batch if (wish := report.robots) is not None]
        answers = await self._store.robots([(name, wish) for name, _, wish in some]) if some else ()
        pairs = zip(some, answers, strict=True)
        return {(name, serial): answer for (name, serial, _), answer in pairs if answer is not None}

    async def _glossaries(self, batch: list[tuple[WorkerState, Report]]) -> dict[tuple[str, int], Answer]:
        """The field glossaries that are asked for, by worker and serial number; keeps those that models answered."""
        some = [((worker.name, report.serial), report) for worker, report in batch if report.glossary is not None]
        wishes = [(report.session, report.glossary) for _, report in some if report.glossary is not None]
        answers = await self._store.glossaries(wishes) if wishes else ()
        return {key: answer for (key, _), answer in zip(some, answers, strict=True) if answer is not None}

    async def _keep_progress(self, batch: list[tuple[WorkerState, Report]]) -> set[tuple[str, int]]:
        """Keeps checkpoints and items of loops; gives those, by worker and serial number, that came too late."""
        some = [
            (worker, report) for worker, report in batch if report.checkpoint is not None or report.items is not None
        ]
        kept = await asyncio.gather(*(self._keep(report) for _, report in some))
        return {(worker.name, report.serial) for (worker, report), ok in zip(some, kept, strict=True) if not ok}

    async def _keep(self, report: Report) -> bool:
        if report.checkpoint is not None:
            return await self._store.checkpoint(report.session, report.fence, report.checkpoint)
        assert report.items is not None
        return await self._store.stage(report.session, report.fence, report.items)

    async def _look_up(self, reports: Iterable[Report]) -> None:
        """Leases of an earlier dispatcher whose sessions failed before this one adopted their worker: without what was
        claimed no retry can be decided."""
        failed = (report for report in reports if report.outcome is not None and report.outcome.status is Status.FAILED)
        unknown = {report.session: report.fence for report in failed if report.session not in self._state.leases}
        await take_over(self._store, self._state, unknown)

    def _decide(self, report: Report) -> Finish:
        assert report.outcome is not None
        lease = self._state.leases.get(report.session)
        if lease is None or lease.work.fence != report.fence:
            return Finish(report.session, report.fence, report.outcome)  # too late, the store will say
        limit, excused = self._state.config.max_attempts, self._excused.get(report.session) or 0
        decided = finish_or_retry(lease.work, report.outcome, max_attempts=limit, dice=self._dice, excused=excused)
        if not decided.counts:
            self._excused.put(report.session, excused + 1)
        return decided

    def _settle(self, group: list[Finish], written: CommitResult) -> None:
        """Brings the dispatcher's own bookkeeping up to what was written."""
        state = self._state
        for finish in group:
            if finish.session in written.late:
                log.info(LogEvent.REPORT_LATE, session=finish.session)
                state.metrics.delta.add("shoal_reports_late")
            state.end(finish)
        state.committed(written)

    async def _confirm(
        self,
        batch: list[tuple[WorkerState, Report]],
        refused: set[tuple[str, int]],
        answers: dict[tuple[str, int], Answer],
    ) -> None:
        """Tells workers what was committed: at once where a session waits for it, else with the next pull."""
        committed: dict[str, tuple[WorkerState, int]] = {}
        waited_for: set[str] = set()
        for worker, report in batch:
            committed[worker.name] = (worker, report.serial)
            if report.wants_ack:
                waited_for.add(worker.name)
        for name, (worker, serial) in committed.items():
            worker.refused |= {number for owner, number in refused if owner == name}
            worker.answers |= {number: answer for (owner, number), answer in answers.items() if owner == name}
            if name not in waited_for and not worker.refused and not worker.answers:
                worker.committed = serial  # the next pull says so
                continue
            try:
                await worker.handle.confirm(serial, frozenset(worker.refused), dict(worker.answers))
            except WorkerLost:
                continue  # its puller deregisters it
            except Exception:  # the top of a loop: the next confirmation says it again
                log.exception(LogEvent.LOOP_FAILED, loop="confirm", worker=name)
                continue
            worker.refused.clear()
            worker.answers.clear()
            worker.committed = serial
