"""The committer: writes what workers report in groups, and tells them what the store has."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable
from dataclasses import replace

import structlog

from agent.errors import Unexpected
from agent.status import Status
from agent.types import Outcome
from agent.work import Report
from services.browsers.pool import WorkerLost
from services.dispatch.board import Board
from services.dispatch.crew import Member
from services.dispatch.retry import decide
from services.dispatch.succession import take_over
from services.errors import StoreAway
from services.events import LogEvent
from services.store.records import Finish, Written
from services.store.store import Store

log = structlog.get_logger()

_LAST_S = 5.0
"""How long the last reports may take to be written when the dispatcher stops."""


class Committer:
    """Holds reports until they are written; a worker keeps its own until it hears that they are."""

    def __init__(self, store: Store, board: Board, seed: int | None) -> None:
        self._store = store
        self._board = board
        self._dice = random.Random(seed)
        self._reports: list[tuple[Member, Report]] = []
        self._news = asyncio.Event()

    def __len__(self) -> int:
        return len(self._reports)

    def take_in(self, member: Member, reports: list[Report]) -> None:
        """Queues reports; too many of them stop the pullers and the claimer."""
        self._reports += [(member, report) for report in reports]
        self._news.set()
        if len(self._reports) >= self._board.config.held_reports:
            self._board.room.clear()

    async def run(self) -> None:
        """Commits until it is canceled."""
        config = self._board.config
        while True:
            await self._news.wait()
            if len(self._reports) < config.group:
                await asyncio.sleep(config.group_s)
            batch = self._take()
            try:
                await self._commit(batch)
            except StoreAway:
                self._reports[:0] = batch
                self._news.set()
                raise
            self._board.note_store(away=False)
            if len(self._reports) < config.held_reports:
                self._board.room.set()

    async def write_rest(self) -> None:
        """Commits what is left, as far as the store answers."""
        try:
            async with asyncio.timeout(_LAST_S):
                while self._reports:
                    await self._commit(self._take())
        except (TimeoutError, StoreAway):
            log.warning(LogEvent.STORE_AWAY, lost_reports=len(self._reports))

    def _take(self) -> list[tuple[Member, Report]]:
        group = self._board.config.group
        batch = self._reports[:group]
        del self._reports[:group]
        if not self._reports:
            self._news.clear()
        return batch

    async def _commit(self, batch: list[tuple[Member, Report]]) -> None:
        refused = await self._keep_checkpoints(batch)
        await self._look_up(report for _, report in batch)
        finishes = [self._decide(report) for _, report in batch if report.outcome is not None]
        if finishes:
            await self._finish(finishes)
        await self._confirm(batch, refused)

    async def _keep_checkpoints(self, batch: list[tuple[Member, Report]]) -> set[tuple[str, int]]:
        """Gives the checkpoints, by worker and serial number, that came too late."""
        some = [(member, report) for member, report in batch if report.checkpoint is not None]
        kept = await asyncio.gather(
            *(self._store.checkpoint(r.session, r.fence, r.checkpoint) for _, r in some if r.checkpoint is not None)
        )
        return {(member.name, report.serial) for (member, report), ok in zip(some, kept, strict=True) if not ok}

    async def _look_up(self, reports: Iterable[Report]) -> None:
        """Leases of an earlier dispatcher whose sessions failed before this one adopted their worker: without what was
        claimed no retry can be decided."""
        failed = (report for report in reports if report.outcome is not None and report.outcome.status is Status.FAILED)
        unknown = {report.session: report.fence for report in failed if report.session not in self._board.leases}
        await take_over(self._store, self._board, unknown)

    def _decide(self, report: Report) -> Finish:
        assert report.outcome is not None
        lease = self._board.leases.get(report.session)
        if lease is None or lease.work.fence != report.fence:
            return Finish(report.session, report.fence, report.outcome)  # too late, the store will say
        return decide(lease.work, report.outcome, max_attempts=self._board.config.max_attempts, dice=self._dice)

    async def _finish(self, group: list[Finish]) -> None:
        try:
            written = await self._write(group)
        except StoreAway:
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, the others' outcomes must not wait behind it
            written = await self._finish_singly(group, error)
        self._settle(group, written)

    async def _write(self, group: list[Finish]) -> Written:
        return await self._store.finish(group, per_domain=self._board.config.per_domain)

    async def _finish_singly(self, group: list[Finish], error: Exception) -> Written:
        """One outcome that cannot be stored must not keep the others back: each is written by itself."""
        log.exception(LogEvent.LOOP_FAILED, loop="finish", group=len(group))
        if len(group) == 1:
            told = Unexpected(f"the outcome could not be stored: {type(error).__name__}: {error}")
            bare = Outcome(Status.FAILED, error=told.info(), reason=told.message)
            return await self._write([replace(group[0], outcome=bare)])
        parts = []
        for one in group:
            try:
                parts.append(await self._write([one]))
            except StoreAway:
                raise
            except Exception as single:  # noqa: BLE001  this is the one
                parts.append(await self._finish_singly([one], single))
        return Written(
            accepted=frozenset().union(*(part.accepted for part in parts)),
            late=frozenset().union(*(part.late for part in parts)),
            ready=tuple(lane for part in parts for lane in part.ready),
            finished_jobs=tuple(job for part in parts for job in part.finished_jobs),
            unborn=any(part.unborn for part in parts),
        )

    def _settle(self, group: list[Finish], written: Written) -> None:
        """Brings the dispatcher's own bookkeeping up to what was written."""
        board = self._board
        for one in group:
            if one.session in written.late:
                log.info(LogEvent.REPORT_LATE, session=one.session)
                board.counting.tally.add("shoal_reports_late")
            board.end(one)
        board.lanes.add(written.ready)
        board.wake.set()
        if written.unborn:
            board.unborn.set()

    async def _confirm(self, batch: list[tuple[Member, Report]], refused: set[tuple[str, int]]) -> None:
        """Tells workers what was committed: at once where a session waits for it, else with the next pull."""
        committed: dict[str, tuple[Member, int]] = {}
        waited_for: set[str] = set()
        for member, report in batch:
            committed[member.name] = (member, report.serial)
            if report.wants_ack:
                waited_for.add(member.name)
        for name, (member, serial) in committed.items():
            late = frozenset(number for owner, number in refused if owner == name)
            member.committed = serial
            if name not in waited_for:
                continue
            try:
                await member.handle.confirm(serial, late)
            except WorkerLost:
                continue  # its puller buries it
