"""Throttling of each domain by all dispatchers together: sessions at once, pauses, delays, slowing down, and the
distance between its pages.

The decisions are pure functions of one row, `DomainThrottle`. Claims ask `DomainThrottles` how many sessions of each
partition may start; the rows of their domains are locked until the claim is committed, so that two dispatchers cannot
both take the last place.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Row

from shoal.agent.errors import ServerBusy
from shoal.agent.types import Outcome
from shoal.agent.worker_messages import RateSlot, RateSlotRequest
from shoal.services.store.database import codec
from shoal.services.store.database.transaction import Tx
from shoal.services.store.records import ClaimRefusal, ClaimRequest
from shoal.services.store.throttle.set_clock import set_back_s
from shoal.services.store.throttle.site_limits import SiteLimits, limits_of
from shoal.services.store.waiting_causes import WaitingCause

RECOVER_AFTER = 20
"""Good answers in a row after which a domain that was slowed down gets one more session at once."""
PAUSE_S = 5.0
"""Seconds that a domain rests that answered 429 or 503 without saying for how long."""
LONGEST_PAUSE_S = 3600.0
"""A site may ask for any pause; longer ones are cut so that a slip of a digit does not park a domain for a year."""
LONGEST_DELAY_S = 60.0
"""The same for the crawl-delay of robots.txt."""
LONGEST_LINE_S = 120.0
"""Seconds ahead that a page gets its place; a session further back asks again later. A place that lies ahead holds up
all others, also when its session ends before: one job that wants an hour between pages would close the site to them.
"""
LEAST_AGAIN_S = 1.0
"""The least time until it asks again."""
LONG_LINE_S = 10.0
"""No session that keeps a distance starts where pages stand in line for longer: it would wait in a slot. Longer than a
session takes from its claim to its first page, so that no place stays empty."""
LOOK_AGAIN_S = 60.0
"""When to look again at a site that an operator paused for longer."""
FULL_S = 1.0
"""When to look again at a domain whose places other dispatchers hold: giving them back sends no signal."""


_MOST_SPANS = 100
"""Gaps of a domain's line that are remembered: more than slow jobs make within two minutes."""

Spans = tuple[tuple[float, float], ...]
"""Pairs in order: the first and the last page of a row without room for another; seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class DomainThrottle:
    """One domain, as its row says."""

    domain: int
    most: float | None = None  # sessions at once, where it was slowed down
    good: int = 0  # good answers in a row since then
    blocked_until: float = 0.0  # seconds since the epoch
    delay_s: float = 0.0  # between session starts, as its robots.txt asks
    last_start: float = 0.0  # where it asks for a delay
    taken: Spans = ()  # when its pages are opened that keep the site's crawl-delay: the last one, and those ahead
    limits: SiteLimits = SiteLimits()  # what an operator has set for it

    def allowed(self, per_domain: int) -> int:
        """Sessions at once that the operator allows, where sites without a limit of their own have `per_domain`."""
        return per_domain if self.limits.most is None else self.limits.most

    def limit(self, per_domain: int) -> int:
        """The same, and fewer where the site was slowed down."""
        allowed = self.allowed(per_domain)
        return allowed if self.most is None else max(1, min(allowed, int(self.most)))

    @property
    def between_starts_s(self) -> float:
        """The delay that every job keeps between session starts."""
        return self.limits.delay_s or 0.0

    @property
    def keeps_starts(self) -> bool:
        """Return whether it counts when a session last started there."""
        return self.delay_s > 0 or self.between_starts_s > 0

    def free_at(self, delay_s: float, at: float, now: float) -> float:
        """The first moment from `at` on that keeps this distance from all pages that have their place."""
        for first, last in self.taken:
            if first - now > LONGEST_LINE_S or at <= first - delay_s:
                break  # no place lies further ahead: the clock was set back
            at = max(at, last + delay_s)
        return at

    def take(self, delay_s: float, at: float, now: float) -> DomainThrottle:
        """A page has its place at this moment, at this distance from others."""
        ahead = [span for span in self.taken if now < span[1] and span[0] - now <= LONGEST_LINE_S]
        past = [span for span in self.taken if span[1] <= now][-1:]
        spans: list[tuple[float, float]] = []
        for first, last in sorted([*past, *ahead, (at, at)]):
            # No other page has room between the two; where there are very many such gaps, the last ones are given up.
            if spans and (first - spans[-1][1] < 2 * delay_s or len(spans) >= _MOST_SPANS):
                spans[-1] = (spans[-1][0], last)
            else:
                spans.append((first, last))
        return replace(self, taken=tuple(spans))


def line_s(last_page: float, now: float) -> float:
    """Return how far ahead a job's last page lies that has its place; negative: how long ago it was."""
    ahead = last_page - now
    return ahead if ahead <= LONGEST_LINE_S else 0.0  # no place lies there: the clock was set back


def rate_slot(
    pace: DomainThrottle, last_page: float, wish: RateSlotRequest, now: float
) -> tuple[DomainThrottle, float, RateSlot]:
    """A page's place behind the last one of its job, and free of those that keep the site's crawl-delay. Gives the
    domain and the job's last page as they are then.

    A slow job's place lies far ahead of the others': they get theirs before it.
    A pause that the site asked for is waited out where it is short. A long one is not, by a session in its slot: its
    page is asked for, is refused once more, and the session goes on elsewhere when the pause is over.
    """
    at = now
    if wish.delay_s > 0:
        at = max(at, now + line_s(last_page, now) + wish.delay_s)
    if pace.blocked_until - now <= LONGEST_LINE_S:
        at = max(at, pace.blocked_until)
    if wish.crawl_delay_s > 0:
        at = pace.free_at(wish.crawl_delay_s, at, now)
    wait = at - now
    if wait > LONGEST_LINE_S:
        return pace, last_page, RateSlot(max(wait - LONGEST_LINE_S, LEAST_AGAIN_S), given=False)
    if wish.crawl_delay_s > 0:
        pace = pace.take(wish.crawl_delay_s, at, now)
    return pace, at if wish.delay_s > 0 else last_page, RateSlot(wait)


def slowed(pace: DomainThrottle, per_domain: int, wish_s: float, now: float) -> DomainThrottle:
    """The site asked for a pause (0: it did not say how long): half as many sessions, none before it is over.

    Sessions that had begun before it asked will be told the same; they do not slow it down again.
    """
    until = max(pace.blocked_until, now + min(wish_s or PAUSE_S, LONGEST_PAUSE_S))
    if now < pace.blocked_until:
        return replace(pace, blocked_until=until, good=0)
    most = max(1.0, min(per_domain, pace.most or per_domain) / 2)
    return replace(pace, most=most, good=0, blocked_until=until)


def recovered(pace: DomainThrottle, answers: int, per_domain: int) -> DomainThrottle:
    """The site answered as it should, so many times."""
    if pace.most is None:
        return pace
    more, good = divmod(pace.good + answers, RECOVER_AFTER)
    most = pace.most + more
    return replace(pace, most=None if most >= per_domain else most, good=good)


@dataclass(frozen=True, slots=True)
class RunOnDomain:
    """The leases of one worker on the documents of a job and a domain."""

    sessions: int = 0
    width: int = 0  # how many are under way at once, at most

    @property
    def places(self) -> int:
        """Return what it takes of the domain's sessions at once."""
        return min(self.sessions, self.width)


class DomainThrottles:
    """The sessions that a claim may take from each partition, by the places that are taken and the pauses that run."""

    def __init__(self, tx: Tx, takes: Sequence[ClaimRequest], per_domain: int) -> None:
        self._tx = tx
        self._per_domain = per_domain
        domains = sorted({take.domain for take in takes})
        self._paces = _locked(tx, domains)
        self._busy = Counter[int]()
        self._busy_of = Counter[tuple[int, int]]()
        self._runs: dict[tuple[int, int, str], RunOnDomain] = {}
        for row in tx.rows("busy_on", domains=tx.many(domains)):
            if row.width is None:
                self._take(row.job, row.domain, row.n)
            else:
                self._join(row.job, row.domain, row.owner, row.n, row.width)
        slow = sorted({take.job for take in takes if take.rules.delay_s > 0})
        rows = tx.rows("job_paces", jobs=tx.many(slow)) if slow else ()
        self._last = {(row.job, row.domain): (row.last_start, row.last_page) for row in rows}
        self._behind: float | None = None  # see `_pause`
        self.held: dict[tuple[int, int], ClaimRefusal] = {}

    def _take(self, job: int, domain: int, places: int) -> None:
        self._busy[domain] += places
        self._busy_of[job, domain] += places

    def _join(self, job: int, domain: int, owner: str, n: int, width: int) -> None:
        """More sessions of a worker's run, of which so many may be under way at once from now on."""
        before = self._runs.get((job, domain, owner), RunOnDomain())
        self._runs[job, domain, owner] = after = RunOnDomain(before.sessions + n, max(before.width, width))
        self._take(job, domain, after.places - before.places)

    def _pause(self, until: float) -> float:
        """Seconds until this moment; by a clock that was set back lately, no more than before.

        The next look brings what is stored to the new clock (`lease_expiry.note_look`). A dispatcher that is told a
        wait before that would keep it for as long as the clock was set back.
        """
        if until <= self._tx.now:
            return 0.0
        if self._behind is None:
            self._behind = set_back_s(self._tx)
        return max(until - self._tx.now - self._behind, 0.0)

    def cut(self, takes: Iterable[ClaimRequest]) -> list[ClaimRequest]:
        """The takes as far as they may be; `held` says why and how long the rest has to wait."""
        allowed = map(self._cut, takes)
        return [take for take in allowed if take.n > 0]

    def _cut(self, take: ClaimRequest) -> ClaimRequest:
        pace, now, key = self._paces[take.domain], self._tx.now, (take.job, take.domain)
        limit = pace.limit(self._per_domain)
        free = limit - self._busy[take.domain]
        if take.rules.per_domain is not None:
            free = min(free, take.rules.per_domain - self._busy_of[key])
        wait, cause = self._pause(pace.blocked_until), WaitingCause.DOMAIN_PAUSE
        if (paused := self._pause(pace.limits.pause_until or 0.0)) > wait:
            # Dispatchers are told of a pause that is lifted; the bound is for one that was not.
            wait, cause = min(paused, LOOK_AGAIN_S), WaitingCause.SITE_PAUSED
        delays = []  # each with the last start, and how far ahead the last page lies
        if take.rules.delay_s > 0:
            last_start, last_page = self._last.get(key, (0.0, 0.0))
            delays.append((take.rules.delay_s, last_start, line_s(last_page, now)))
        if pace.between_starts_s > 0:
            delays.append((pace.between_starts_s, pace.last_start, -pace.between_starts_s))
        if take.rules.robots and pace.delay_s > 0:
            delays.append((pace.delay_s, pace.last_start, pace.free_at(pace.delay_s, now, now) - now - pace.delay_s))
        for delay_s, last, line in delays:
            free = min(free, 1)
            # A start in the future is one of before the clock was set back.
            if (left := max(min(last - now, 0.0) + delay_s, line - LONG_LINE_S)) > wait:
                wait, cause = left, WaitingCause.DOMAIN_DELAY
        width = 0
        if take.owner:  # a run keeps no distances: where there are some, its sessions are claimed one by one
            joined = self._runs.get((*key, take.owner), RunOnDomain())
            width = 0 if delays else min(take.width, max(joined.places + free, 0))
            free = take.n if width else 0
        n = 0 if wait > 0 else min(take.n, max(free, 0))
        if n < take.n and delays and wait <= 0 and n == 1:
            # The rest has to wait until the delay after the session that starts now is over.
            wait, cause = max(delay_s for delay_s, *_ in delays), WaitingCause.DOMAIN_DELAY
        if n < take.n:
            full = WaitingCause.DOMAIN_DELAY if take.owner and delays else WaitingCause.DOMAIN_LIMIT
            self.held[key] = ClaimRefusal(cause, wait, limit) if wait > 0 else ClaimRefusal(full, FULL_S, limit)
        if width:
            self._join(*key, take.owner, n, width)
        else:
            self._take(*key, n)
        if n and pace.keeps_starts:
            self._paces[take.domain] = replace(pace, last_start=now)
        return replace(take, n=n, width=width)

    def started(self, rows: Iterable[Row[Any]], takes: Iterable[ClaimRequest]) -> None:
        """Notes the starts that later ones have to keep their distance from."""
        slow = {(take.job, take.domain) for take in takes if take.rules.delay_s > 0}
        keys = sorted({(row.job, row.domain) for row in rows})
        now = self._tx.now
        starts = [{"job": job, "domain": domain, "at": now} for job, domain in keys if (job, domain) in slow]
        self._tx.each("put_job_pace", starts)
        for domain in sorted({domain for _, domain in keys}):
            if self._paces[domain].keeps_starts:
                _write(self._tx, self._paces[domain])


def note_answers(tx: Tx, ends: Iterable[tuple[int, Outcome]], per_domain: int) -> None:
    """Slows domains down that asked for it in these outcomes, and lets those recover that answered well."""
    wishes: dict[int, float] = {}
    good: Counter[int] = Counter()
    delays: dict[int, float] = defaultdict(float)
    for domain, outcome in ends:
        if outcome.error is not None and outcome.error.code == ServerBusy.code:
            wishes[domain] = max(wishes.get(domain, 0.0), outcome.retry_after_s or 0.0)
        elif outcome.usage.pages > 0:
            good[domain] += 1
        if outcome.crawl_delay_s is not None:
            delays[domain] = max(delays[domain], min(outcome.crawl_delay_s, LONGEST_DELAY_S))
    known = {row.domain for row in tx.rows("slow_paces", domains=tx.many(sorted(good)))} if good else set()
    touched = sorted(wishes.keys() | known | {domain for domain, delay_s in delays.items() if delay_s > 0})
    if not touched:
        return
    for domain, pace in _locked(tx, touched).items():
        changed, allowed = replace(pace, delay_s=delays.get(domain, pace.delay_s)), pace.allowed(per_domain)
        if domain in wishes:
            changed = slowed(changed, allowed, wishes[domain], tx.now)
        elif good[domain]:
            changed = recovered(changed, good[domain], allowed)
        if changed != pace:
            _write(tx, changed)


def rate_slots(tx: Tx, wishes: Sequence[RateSlotRequest]) -> list[RateSlot]:
    """The turns of some pages, in this order."""
    keys = [(wish.job, tx.hosts[wish.host]) for wish in wishes]
    domains = sorted({domain for _, domain in keys})
    before = _locked(tx, domains)  # the lock on a domain's row covers those of the jobs on it
    jobs = sorted({wish.job for wish in wishes if wish.delay_s > 0})
    rows = tx.rows("job_pages", jobs=tx.many(jobs), domains=tx.many(domains)) if jobs else ()
    pages = {(row.job, row.domain): row.last_page for row in rows}
    paces, last, turns = dict(before), dict(pages), []
    for key, wish in zip(keys, wishes, strict=True):
        paces[key[1]], page, turn = rate_slot(paces[key[1]], last.get(key, 0.0), wish, tx.now)
        if wish.delay_s > 0:
            last[key] = page
        turns.append(turn)
    tx.each("put_pages", [_pages(pace) for domain, pace in paces.items() if pace != before[domain]])
    moved = sorted(key for key, page in last.items() if page != pages.get(key, 0.0))
    tx.each("put_job_page", [{"job": job, "domain": domain, "at": last[job, domain]} for job, domain in moved])
    return turns


def _pages(pace: DomainThrottle) -> dict[str, Any]:
    return {"domain": pace.domain, "taken": codec.dump_json(pace.taken)}


def _locked(tx: Tx, domains: Sequence[int]) -> dict[int, DomainThrottle]:
    """The rows of domains, locked in order of their ids; made where there are none."""
    rows = tx.rows_made("lock_paces", "add_paces", n=len(domains), domains=tx.many(domains))
    return {
        r.domain: DomainThrottle(
            r.domain, r.most, r.good, r.blocked_until, r.delay_s, r.last_start, _spans(r.taken), limits_of(r)
        )
        for r in rows
    }


def _spans(text: str | None) -> Spans:
    return tuple((first, last) for first, last in codec.load_json(text)) if text else ()


def _write(tx: Tx, pace: DomainThrottle) -> None:
    tx.run(
        "write_pace",
        domain=pace.domain,
        most=pace.most,
        good=pace.good,
        blocked_until=pace.blocked_until,
        delay_s=pace.delay_s,
        last_start=pace.last_start,
    )
