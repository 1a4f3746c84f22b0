"""One dispatcher's estimate of domains, so that it does not ask the store for sessions that it would refuse.

The store decides (`shoal.services.store.throttle.domain_throttle`), for all dispatchers together. This is a cheap guess
in memory: the sessions that this dispatcher has running, and what the store said when it last refused. A guess that is
too kind costs a refused claim, one that is too strict ends with the next answer or with its time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush

from cachetools import LRUCache

from shoal.agent.spec import PolitenessSpec
from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.agent.worker_messages import LearnedUse, Work
from shoal.services.store.records import ClaimRefusal
from shoal.services.store.throttle.site_limits import SiteLimits
from shoal.services.store.waiting_causes import WaitingCause

_MOST_READ = 1_000
_SMOOTHING = 0.1
_LEAST_SHARE = 0.5
"""Share of items read from documents below which each item gets a slot."""


@dataclass(slots=True)
class _Domain:
    limit: int  # sessions at once, as far as known
    running: int = 0  # this dispatcher's; a run counts as many as are under way at once
    runs: dict[tuple[int, str], list[int]] = field(default_factory=dict)  # leases by job and worker, and the width
    blocked_until: float = 0.0
    paused: bool = False  # an operator blocked it, not the site
    running_by_job: Counter[int] = field(default_factory=Counter)
    next_start: dict[int, float] = field(default_factory=dict)  # by job: when its delay, or the site's, has passed
    refused: set[int] = field(default_factory=set)  # jobs that got no place, perhaps for another dispatcher's sessions


class Domains:
    """Figures in, allowances out. Times are seconds of one monotonic clock that the caller reads."""

    def __init__(self, per_domain: int) -> None:
        self._most = per_domain
        self._limits: Mapping[int, SiteLimits] = {}
        self._domains: dict[int, _Domain] = {}
        self._timers: list[tuple[float, int]] = []  # when a domain is worth another look
        self._freed: set[int] = set()

    def room(self, domain: int, job: int, rules: PolitenessSpec, now: float) -> int:
        """Return how many sessions of `job`, which asks for `rules`, may start on `domain` now."""
        state = self._domains.get(domain)
        if state is None:
            most = self._limit(domain)
            return min(most, rules.per_domain or most) if rules.delay_s <= 0 else 1
        if now < state.blocked_until:
            return 0
        room = state.limit - state.running
        if rules.per_domain is not None:
            room = min(room, rules.per_domain - state.running_by_job[job])
        if rules.delay_s > 0:
            room = min(room, 1) if now >= state.next_start.get(job, 0.0) else 0
        return max(room, 0)

    def started(self, domain: int, job: int, delay_s: float, now: float, *, owner: str = "", width: int = 0) -> None:
        """A session of `job` was claimed for `domain`; with a `width` as one of a worker's run."""
        state = self._state(domain)
        if width:
            run = state.runs.setdefault((job, owner), [0, 0])
            before = min(run)
            run[:] = run[0] + 1, max(run[1], width)
            places = min(run) - before
        else:
            places = 1
        state.running += places
        state.running_by_job[job] += places
        if delay_s > 0:
            state.next_start[job] = now + delay_s
            self._look_at(domain, now + delay_s)

    def ended(self, domain: int, job: int, *, owner: str = "", width: int = 0) -> None:
        """A session of `job` is over."""
        state = self._state(domain)
        run = state.runs.get((job, owner)) if width else None
        places = 1 if not width else 0
        if run is not None:
            places = int(run[0] <= run[1])
            run[0] -= 1
            if not run[0]:
                del state.runs[job, owner]
        if not places:
            return
        state.running = max(0, state.running - places)
        state.running_by_job[job] -= places
        if state.running_by_job[job] <= 0:
            del state.running_by_job[job]
        self._freed.add(domain)

    def refused(self, domain: int, job: int, held: ClaimRefusal, now: float) -> None:
        """The store gave less of a partition than was asked for."""
        state = self._state(domain)
        state.limit = held.limit
        if held.cause in (WaitingCause.DOMAIN_PAUSE, WaitingCause.SITE_PAUSED):
            state.paused = held.cause is WaitingCause.SITE_PAUSED
            state.blocked_until = max(state.blocked_until, now + held.wait_s)
        elif held.cause is WaitingCause.DOMAIN_DELAY:
            state.next_start[job] = now + held.wait_s
        else:
            state.refused.add(job)
        self._look_at(domain, now + held.wait_s)

    def set_limits(self, limits: Mapping[int, SiteLimits]) -> bool:
        """Return what operators have set now, by domain; whether it is something else than before.
        Those that changed are worth another look, whatever the store said of them.
        """
        changed = {
            domain for domain in self._limits.keys() | limits.keys() if self._limits.get(domain) != limits.get(domain)
        }
        self._limits = limits
        for domain in changed:
            state = self._state(domain)
            state.limit, state.blocked_until, state.paused = self._limit(domain), 0.0, False
            state.next_start.clear()
        self._freed |= changed
        return bool(changed)

    def look_again(self, *domains: int) -> None:
        """Places that were chosen were not taken."""
        self._freed.update(domains)

    def freed(self, now: float) -> set[int]:
        """Domains that may have room again since the last call."""
        while self._timers and self._timers[0][0] <= now:
            _, domain = heappop(self._timers)
            self._freed.add(domain)
            state = self._state(domain)
            state.limit = self._limit(domain)  # the store will say if it is less
            state.next_start = {job: at for job, at in state.next_start.items() if at > now}
        freed, self._freed = self._freed, set()
        for domain in freed:
            state = self._state(domain)
            state.refused.clear()  # they are asked for again
            if not state.running and state.blocked_until <= now and not state.next_start:
                del self._domains[domain]  # as if it had never been asked for: thousands of domains pass by
        return freed

    def next_change(self, now: float) -> float | None:
        """Seconds until a domain is worth another look; None when none is waited for."""
        return max(0.0, self._timers[0][0] - now) if self._timers else None

    def why(self, domain: int, job: int, rules: PolitenessSpec, now: float) -> WaitingCause | None:
        """Return what holds `job`, which asks for `rules`, back on `domain`; None: nothing does."""
        state = self._domains.get(domain)
        if state is None:
            return None
        if now < state.blocked_until:
            return WaitingCause.SITE_PAUSED if state.paused else WaitingCause.DOMAIN_PAUSE
        if now < state.next_start.get(job, 0.0):
            return WaitingCause.DOMAIN_DELAY
        mine = rules.per_domain is not None and state.running_by_job[job] >= rules.per_domain
        full = mine or job in state.refused or state.running >= state.limit
        return WaitingCause.DOMAIN_LIMIT if full else None

    def blocked_s(self, domain: int, job: int, now: float) -> float:
        """Seconds until a pause of `domain`, or the delay that `job` keeps there, ends; 0 without one."""
        state = self._domains.get(domain)
        if state is None or (state.paused and now < state.blocked_until):
            return 0.0  # an operator's pause may be lifted at any time
        return max(0.0, state.blocked_until - now, state.next_start.get(job, 0.0) - now)

    def paused_until(self, domain: int) -> float:
        """When the site, or an operator, takes sessions there again; 0 where it always did."""
        state = self._domains.get(domain)
        return 0.0 if state is None else state.blocked_until

    def places(self, domains: Iterable[int], now: float) -> int:
        """Return how many more sessions some domains take together, as far as known;
        what jobs ask for is left aside.
        """
        free = 0
        for domain in set(domains):
            state = self._domains.get(domain)
            if state is None:
                free += self._limit(domain)
            elif now >= state.blocked_until:
                free += max(0, state.limit - state.running)
        return free

    def _state(self, domain: int) -> _Domain:
        state = self._domains.get(domain)
        if state is None:
            state = self._domains[domain] = _Domain(self._limit(domain))
        return state

    def limit_of(self, domain: int) -> int:
        """Sessions that a domain takes at once, as far as known."""
        return self._domains[domain].limit if domain in self._domains else self._limit(domain)

    def _limit(self, domain: int) -> int:
        limits = self._limits.get(domain)
        return self._most if limits is None or limits.most is None else limits.most

    def _look_at(self, domain: int, moment: float) -> None:
        heappush(self._timers, (moment, domain))

    def __len__(self) -> int:
        return len(self._domains)


@dataclass(slots=True)
class _DocumentReading:
    worker: str
    share: float = 1.0  # of its items that were read from documents, smoothed
    full_until: float = 0.0  # seconds of the caller's clock
    served: float = 0.0  # when it last got a run; likewise


class DocumentPartitions:
    """One dispatcher's state of document partitions, by job and domain. A worker that is lost is known no more."""

    def __init__(self, domains: Domains) -> None:
        self._domains = domains  # which know their pauses
        self._known: LRUCache[tuple[int, int], _DocumentReading] = LRUCache(_MOST_READ)

    def note(self, work: Work, domain: int, worker: str, outcome: Outcome) -> bool:
        """An item has ended; whether its partition is one of them no more, which it was before."""
        key = (work.job, domain)
        known = self._known.get(key)
        if outcome.status is not Status.COMPLETED or work.learned is LearnedUse.AUDIT:
            return False
        by_document = bool(outcome.records) and outcome.records[0].tier == "http"
        if known is None:
            if by_document and may_run(work, outcome):
                self._known[key] = _DocumentReading(worker)
            return False
        if known.worker == worker:
            known.share += (by_document - known.share) * _SMOOTHING
        return known.share < _LEAST_SHARE and self.forget(*key)

    def forget(self, job: int, domain: int) -> bool:
        """Each of its items gets a slot again."""
        return self._known.pop((job, domain), None) is not None

    def served(self, job: int, domain: int, now: float) -> None:
        """A run was asked for: others come first from now on."""
        if (known := self._known.get((job, domain))) is not None:
            known.served = now

    def is_full(self, job: int, domain: int, until: float) -> None:
        """The domain has no place for a run, which is not asked for again before that moment."""
        if (known := self._known.get((job, domain))) is not None:
            known.full_until = until

    def worker_of(self, job: int, domain: int) -> str | None:
        """The worker that reads its documents."""
        known = self._known.get((job, domain))
        return None if known is None else known.worker

    def due(self, workers: Container[str], now: float) -> Iterator[tuple[int, int, str]]:
        """Those of some workers that may get a run now, with the worker; those that got none for longest come first."""
        for (job, domain), known in sorted(self._known.items(), key=lambda pair: pair[1].served):
            if known.worker in workers and self._blocked_until(domain, known) <= now:
                yield job, domain, known.worker

    def lost(self, workers: Container[str]) -> list[int]:
        """Forgets those whose worker is not among these; gives their domains."""
        gone = [key for key, known in self._known.items() if known.worker not in workers]
        for key in gone:
            del self._known[key]
        return [domain for _, domain in gone]

    def __len__(self) -> int:
        return len(self._known)

    def next_change(self, now: float) -> float | None:
        """Seconds until a run is asked for again; None where none is waited for."""
        held = (self._blocked_until(domain, known) for (_, domain), known in self._known.items())
        return min((until - now for until in held if until > now), default=None)

    def _blocked_until(self, domain: int, known: _DocumentReading) -> float:
        return max(known.full_until, self._domains.paused_until(domain))


def may_run(work: Work, outcome: Outcome) -> bool:
    """Return whether other items of this loop may be claimed many at a time.

    Not where pages keep a distance, where the first failure ends the loop, or where only a sample is wanted.
    """
    loop = work.spec.loop_at(work.depth - 1) if work.depth else None
    distance = work.spec.politeness.delay_s > 0 or bool(outcome.crawl_delay_s)
    return loop is not None and loop.on_error == "continue" and not distance and work.spec.sample is None
