"""The claimer: takes leases on ready sessions for the workers that have room, in fair order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from shoal.agent.support.moments import loop_time
from shoal.agent.worker_messages import Work
from shoal.services.dispatch.dispatch_state import DispatchState
from shoal.services.dispatch.scheduling.fair_queue import Scarce
from shoal.services.dispatch.scheduling.model_bound import ModelBound
from shoal.services.dispatch.scheduling.partition_reader import PartitionReader
from shoal.services.dispatch.workers.worker_manager import WorkerManager
from shoal.services.dispatch.workers.worker_state import WorkerState, claiming
from shoal.services.store.records import Claimed, ClaimRequest, Claims, Partition
from shoal.services.store.store import Store
from shoal.services.store.waiting_causes import WaitingCause

_LONGEST_PAUSE_S = 5.0
"""Partitions are looked at that often in any case."""

_FULL_S = 0.2
"""When a run is asked for again whose domain had no place."""

_MOST = 1_024
"""Sessions of one claim: a transaction of some 50 ms."""


class Claimer:
    """Woken by room at a worker, by ready sessions, by a domain's pause that is over."""

    def __init__(
        self,
        store: Store,
        state: DispatchState,
        reader: PartitionReader,
        workers: WorkerManager,
        model_bound: ModelBound | None,
    ) -> None:
        self._store = store
        self._state = state
        self._reader = reader
        self._manager = workers
        self._model_bound = model_bound

    async def run(self) -> None:
        """Claims until the dispatcher stops."""
        signals = self._state.signals
        while not signals.stopping:
            await signals.wait_to_claim(self._pause() if self._may_claim else None)
            if not self._may_claim:
                continue  # no worker has room; a worker that has room again signals it
            await self._reader.read()
            while not signals.stopping and await self.claim_once():
                pass

    @property
    def _may_claim(self) -> bool:
        """Return whether sessions could be taken: some worker has room, and the committer takes reports."""
        return self._state.signals.takes_reports and any(
            worker.wants_more or (worker.run and len(self._state.documents))
            for worker in self._manager.workers.values()
        )

    def _pause(self) -> float:
        """Seconds until another look. A domain's timers end with a claim for slots: they count where one is wanted."""
        now = loop_time()
        missing = any(worker.wants_more for worker in self._manager.workers.values())
        slots = self._state.domains.next_change(now) if missing else None
        due = (_LONGEST_PAUSE_S, slots, self._state.documents.next_change(now), self._reader.due_s(now))
        return min(seconds for seconds in due if seconds is not None)

    async def claim_once(self) -> bool:
        """One claim for all workers that have room; False when there was nothing to do."""
        known = self._manager.workers
        self._state.domains.look_again(*self._state.documents.lost(known))
        workers = {name: worker for name, worker in known.items() if worker.wants_more or worker.run}
        if not workers or not self._state.signals.takes_reports:
            return False
        with claiming(workers.values()), self._state.claiming():
            return await self._claim(workers)

    async def _claim(self, workers: Mapping[str, WorkerState]) -> bool:
        now = loop_time()
        requests = self._runs(workers, now)
        places = places_of(worker for worker in workers.values() if worker.wants_more)
        freed: set[int] = set()
        if places:
            scarce = await self._scarce()
            freed = self._state.domains.freed(now)
            requests += self._state.partitions.choose(
                len(places),
                lambda partition: self._room_in(partition, now),
                scarce,
                freed,
                self._state.shares(self._manager.all_slots),
            )
        if not requests:
            return False
        config = self._state.config
        try:
            claims = await self._store.claim(places, requests, lease_s=config.lease_s, per_domain=config.per_domain)
        except BaseException:
            self._state.domains.look_again(*freed, *(take.domain for take in requests))
            raise
        self._note(requests, claims)
        self._hand_over(workers, claims.sessions)
        return True

    def _runs(self, workers: Mapping[str, WorkerState], now: float) -> list[ClaimRequest]:
        """A run for each worker that has little left of those it reads. Jobs on one domain share its places."""
        runs: dict[str, ClaimRequest] = {}
        state = self._state
        for job, domain, name in state.documents.due({name for name, some in workers.items() if some.run}, now):
            others = max(1, state.partitions.waiting_on(domain))
            width = min(state.config.run_width, max(1, state.domains.limit_of(domain) // others))
            run = state.partitions.run_of(job, domain, workers[name].run, name, width)
            if run is not None and name not in runs:
                runs[name] = run
                state.documents.served(job, domain, now)
        return list(runs.values())

    def _hand_over(self, workers: Mapping[str, WorkerState], sessions: Sequence[Claimed]) -> None:
        """Gives each worker its sessions. What was claimed for a worker that was lost meanwhile goes on elsewhere, and
        no end of a session will say that its domain has room: the partitions that wait for it are looked at again."""
        works: dict[str, list[Work]] = {}
        now = loop_time()
        here = {name for name, worker in workers.items() if self._manager.has(worker)}
        for session in sessions:
            works.setdefault(session.owner, []).append(session.work)
            if session.owner in here:
                self._state.lease(session, now)
            else:
                self._state.domains.look_again(session.domain)
        for name, some in works.items():
            if name in here:
                workers[name].hold(*(work.session for work in some if not work.width))
                workers[name].hold_run(work for work in some if work.width)
            self._manager.hand_over(workers[name], some)

    def _note(self, requests: list[ClaimRequest], claims: Claims) -> None:
        state, got = self._state, Counter[tuple[int, int]]()
        last: dict[tuple[int, int], int] = {}
        for claim in claims.sessions:
            key = (claim.work.job, claim.domain)
            got[key] += 1
            last[key] = claim.work.session  # they come in order
        for key, session in last.items():
            state.partitions.advance(*key, session)
        now = loop_time()
        for take in requests:
            key = (take.job, take.domain)
            held = claims.held.get(key)
            if held is not None and take.owner:
                if held.cause is WaitingCause.DOMAIN_LIMIT:
                    state.documents.is_full(*key, now + _FULL_S)
                elif held.cause is WaitingCause.DOMAIN_DELAY:  # there are no runs where a distance is kept
                    state.documents.forget(*key)
                    state.domains.look_again(take.domain)
                else:
                    state.domains.refused(take.domain, take.job, held, now)
            elif held is not None:
                state.domains.refused(take.domain, take.job, held, now)
                state.partitions.park(*key)
            elif got[key] < take.n:
                state.empty(*key)
                state.domains.look_again(take.domain)  # others that are parked there may have the place
        state.add(claims.woken)

    async def _scarce(self) -> Scarce | None:
        """The places at the model server that are left; None where no session has to wait for one."""
        if self._model_bound is None:
            return None
        return await self._model_bound.scarce(self._state.partitions.jobs, self._state.asking)

    def _room_in(self, partition: Partition, now: float) -> int:
        if self._state.documents.worker_of(partition.job, partition.domain) is not None:
            return 0  # it is claimed in runs
        return self._state.domains.room(partition.domain, partition.job, partition.politeness, now)


def places_of(workers: Iterable[WorkerState]) -> list[str]:
    """Workers by name, one for each session that they may take, in the order in which they are to get them.

    Empty slots come first and the workers take turns, so that none idles while another has a queue, and a domain with
    few places loses none of them to work ahead of time.
    """
    workers = list(workers)
    empty = _in_turn({worker.name: worker.free for worker in workers})
    ahead = _in_turn({worker.name: worker.credit - worker.free for worker in workers})
    return list(islice(chain(empty, ahead), _MOST))


def _in_turn(counts: dict[str, int]) -> Iterator[str]:
    while counts := {name: n for name, n in counts.items() if n > 0}:
        yield from counts
        counts = {name: n - 1 for name, n in counts.items()}
