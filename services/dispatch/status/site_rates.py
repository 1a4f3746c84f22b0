"""Outcomes of the sessions of each site lately, at one dispatcher. In memory: a new dispatcher begins at nothing."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from shoal.agent.status import Status
from shoal.agent.types import Outcome

SPAN_S = 300.0
"""Seconds that "lately" covers."""
_PART_S = 15.0
"""A part of it is forgotten as a whole."""
_MOST_SITES = 100
"""Sites that are told of, the busiest; every reader of a dispatcher's snapshot reads them."""


@dataclass(slots=True)
class _RatePart:
    began: float
    ended: Counter[int] = field(default_factory=Counter)
    failed: Counter[int] = field(default_factory=Counter)
    pages: Counter[int] = field(default_factory=Counter)


class SiteRates:
    """Attempts that ended, that failed, and pages, by the site's number. Times are seconds of one monotonic clock."""

    def __init__(self) -> None:
        self._parts: deque[_RatePart] = deque()

    def note(self, domain: int, outcome: Outcome, now: float) -> None:
        """An attempt ended."""
        self._forget(now)
        if not self._parts or now - self._parts[-1].began >= _PART_S:
            self._parts.append(_RatePart(now))
        part = self._parts[-1]
        part.ended[domain] += 1
        part.failed[domain] += outcome.error is not None or outcome.status is Status.FAILED
        part.pages[domain] += outcome.usage.pages

    def snapshot(self, now: float) -> Mapping[str, tuple[int, int, int]]:
        """By site: attempts, failed attempts and pages of the last five minutes."""
        self._forget(now)
        ended, failed, pages = Counter[int](), Counter[int](), Counter[int]()
        for part in self._parts:
            ended.update(part.ended)
            failed.update(part.failed)
            pages.update(part.pages)
        return {str(domain): (n, failed[domain], pages[domain]) for domain, n in ended.most_common(_MOST_SITES)}

    def _forget(self, now: float) -> None:
        while self._parts and now - self._parts[0].began > SPAN_S:
            self._parts.popleft()
