"""How gently each domain is treated: sessions at once, pauses, and slowing down when a site says so."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from agent.spec import PolitenessSpec

_RECOVER_AFTER = 20
"""Good answers in a row after which a slowed-down domain gets one more session at once."""

_PAUSE_WITHOUT_WISH_S = 5.0
"""How long a domain rests that answered 429 or 503 without saying for how long."""


@dataclass(slots=True)
class _Domain:
    limit: float  # sessions at once, now
    running: int = 0
    blocked_until: float = 0.0
    good: int = 0  # good answers in a row since it was slowed down
    running_by_job: Counter[int] = field(default_factory=Counter)
    next_start: dict[int, float] = field(default_factory=dict)  # by job: when its delay has passed


class Domains:
    """Figures in, allowances out. Times are seconds of one monotonic clock that the caller reads."""

    def __init__(self, per_domain: int) -> None:
        self._most = per_domain
        self._domains: defaultdict[int, _Domain] = defaultdict(lambda: _Domain(limit=float(per_domain)))

    def room(self, domain: int, job: int, rules: PolitenessSpec, now: float) -> int:
        """How many sessions of `job`, which asks for `rules`, may start on `domain` now."""
        state = self._domains[domain]
        if now < state.blocked_until:
            return 0
        room = int(state.limit) - state.running
        if rules.per_domain is not None:
            room = min(room, rules.per_domain - state.running_by_job[job])
        if rules.delay_s > 0:
            room = min(room, 1) if now >= state.next_start.get(job, 0.0) else 0
        return max(room, 0)

    def started(self, domain: int, job: int, delay_s: float, now: float) -> None:
        """A session of `job` was claimed for `domain`."""
        state = self._domains[domain]
        state.running += 1
        state.running_by_job[job] += 1
        if delay_s > 0:
            state.next_start[job] = now + delay_s

    def ended(self, domain: int, job: int, *, busy_s: float | None, asked: bool, now: float) -> None:
        """A session of `job` is over.

        Args:
            busy_s: the site asked for a pause (429, 503) of so many seconds, 0 when it did not say how long; None when
                it answered as it should.
            asked: whether the site was asked at all.
        """
        state = self._domains[domain]
        state.running = max(0, state.running - 1)
        state.running_by_job[job] -= 1
        if state.running_by_job[job] <= 0:
            del state.running_by_job[job]
        if busy_s is not None:
            state.limit = max(1.0, state.limit / 2)
            state.good = 0
            state.blocked_until = max(state.blocked_until, now + (busy_s or _PAUSE_WITHOUT_WISH_S))
        elif asked and state.limit < self._most:
            state.good += 1
            if state.good >= _RECOVER_AFTER:
                state.limit, state.good = state.limit + 1, 0

    def next_change(self, now: float) -> float | None:
        """Seconds until a pause or a delay ends; None when none is running."""
        ends = [
            moment
            for state in self._domains.values()
            for moment in (state.blocked_until, *state.next_start.values())
            if moment > now
        ]
        return min(ends) - now if ends else None

    def why(self, domain: int, now: float) -> str:
        """What holds `domain` back: "" when nothing does."""
        state = self._domains[domain]
        if now < state.blocked_until:
            return "the site asked for a pause"
        return "domain limit" if state.running >= int(state.limit) else ""
