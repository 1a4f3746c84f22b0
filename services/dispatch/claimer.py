"""The claimer: takes leases on ready sessions for the workers that have room, in fair order."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from agent.work import Work
from services.dispatch.board import Board
from services.dispatch.clock import loop_time
from services.dispatch.crew import Crew
from services.dispatch.lanes import Scarce
from services.dispatch.member import Member, claiming
from services.dispatch.model_bound import ModelBound
from services.dispatch.reader import Reader
from services.store.records import Claimed, Claims, Lane, Take
from services.store.store import Store

_LONGEST_PAUSE_S = 5.0
"""Lanes are looked at that often in any case."""

_MOST = 1_024
"""Sessions of one claim: a transaction of some 50 ms."""


class Claimer:
    """Woken by room at a worker, by ready sessions, by a domain's pause that is over."""

    def __init__(self, store: Store, board: Board, reader: Reader, crew: Crew, model_bound: ModelBound | None) -> None:
        self._store = store
        self._board = board
        self._reader = reader
        self._crew = crew
        self._model_bound = model_bound

    async def run(self) -> None:
        """Claims until the dispatcher stops."""
        board = self._board
        while not board.stopping:
            await self._wait()
            if not self._wanted:
                continue  # nobody could take what the lanes have; whoever can, wakes this loop
            await self._reader.read()
            while not board.stopping and await self.claim_once():
                pass

    @property
    def _wanted(self) -> bool:
        return self._board.room.is_set() and any(member.wants_more for member in self._crew.members.values())

    async def _wait(self) -> None:
        """Until something may have changed, or a domain is worth another look."""
        pause = self._pause() if self._wanted else None
        try:
            async with asyncio.timeout(pause):
                await self._board.wake.wait()
        except TimeoutError:
            pass
        self._board.wake.clear()

    def _pause(self) -> float:
        now = loop_time()
        due = (_LONGEST_PAUSE_S, self._board.domains.next_change(now), self._reader.due_s(now))
        return min(seconds for seconds in due if seconds is not None)

    async def claim_once(self) -> bool:
        """One claim for all workers that have room; False when there was nothing to do."""
        members = {name: member for name, member in self._crew.members.items() if member.wants_more}
        if not members or not self._board.room.is_set():
            return False
        with claiming(members.values()):
            return await self._claim(members)

    async def _claim(self, members: Mapping[str, Member]) -> bool:
        places = places_of(members.values())
        scarce = await self._scarce()
        now = loop_time()
        freed = self._board.domains.freed(now)
        takes = self._board.lanes.choose(len(places), lambda lane: self._room_in(lane, now), scarce, freed)
        if not takes:
            return False
        config = self._board.config
        try:
            claims = await self._store.claim(places, takes, lease_s=config.lease_s, per_domain=config.per_domain)
        except BaseException:
            self._board.domains.look_again(*freed, *(take.domain for take in takes))
            raise
        self._note(takes, claims)
        self._hand_over(members, claims.sessions)
        return True

    def _hand_over(self, members: Mapping[str, Member], sessions: Sequence[Claimed]) -> None:
        """Gives each worker its sessions; what was claimed for one that was lost meanwhile goes on elsewhere."""
        works: dict[str, list[Work]] = {}
        now = loop_time()
        here = {name for name, member in members.items() if self._crew.has(member)}
        for one in sessions:
            works.setdefault(one.owner, []).append(one.work)
            if one.owner in here:
                self._board.lease(one, now)
        for name, some in works.items():
            if name in here:
                members[name].hold(*(work.session for work in some))
            self._crew.hand_over(members[name], some)

    def _note(self, takes: list[Take], claims: Claims) -> None:
        board, got = self._board, Counter[tuple[int, int]]()
        last: dict[tuple[int, int], int] = {}
        for one in claims.sessions:
            key = (one.work.job, one.domain)
            got[key] += 1
            last[key] = one.work.session  # they come in order
        for key, session in last.items():
            board.lanes.advance(*key, session)
        now = loop_time()
        for take in takes:
            key = (take.job, take.domain)
            if (held := claims.held.get(key)) is not None:
                board.domains.refused(take.domain, take.job, held, now)
                board.lanes.park(*key)
            elif got[key] < take.n:
                board.empty(*key)
                board.domains.look_again(take.domain)  # others that are parked there may have the place
        board.ready(claims.woken)

    async def _scarce(self) -> Scarce | None:
        """The places at the model server that are left; None where nobody has to wait for one."""
        if self._model_bound is None:
            return None
        return await self._model_bound.scarce(self._board.lanes.jobs, self._board.asking)

    def _room_in(self, lane: Lane, now: float) -> int:
        return self._board.domains.room(lane.domain, lane.job, lane.politeness, now)


def places_of(members: Iterable[Member]) -> list[str]:
    """Workers by name, one for each session that they may take, in the order in which they are to get them.

    Empty slots come first and the workers take turns, so that none idles while another has a queue, and a domain with
    few places loses none of them to work ahead of time.
    """
    members = list(members)
    empty = _in_turn({member.name: member.free for member in members})
    ahead = _in_turn({member.name: member.credit - member.free for member in members})
    return list(islice(chain(empty, ahead), _MOST))


def _in_turn(counts: dict[str, int]) -> Iterator[str]:
    while counts := {name: n for name, n in counts.items() if n > 0}:
        yield from counts
        counts = {name: n - 1 for name, n in counts.items()}
