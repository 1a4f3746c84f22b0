"""Admission control: the number of model-bound sessions that may run beside each other. Pure: figures in, the next
state out; no clock, no network.

Additive increase, multiplicative decrease, as in TCP, with two changes, since a cluster wants a steady number rather
than a share of a line. Between "calm" and "crowded" lies a zone in which nothing changes, so that there is a point of
rest. And after a cut the next looks are waited for: the queue that caused it takes a while to empty, and cutting again
for the same queue is what makes such controls swing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

_MOST_REPLICAS = 64
"""Processes behind one address whose totals are remembered, besides the last one."""


@dataclass(frozen=True, slots=True)
class ServerLoad:
    """One look at one server; engines of one server are added up. Totals count from the server's start."""

    running: float  # requests that are decoded now
    waiting: float  # requests in the queue
    kv_cache: float  # share of the KV cache in use, of the fullest engine
    preempted: float = 0.0  # total: requests thrown out of the KV cache and computed again
    cache_asked: float = 0.0  # total: prompt tokens looked up in the prefix cache
    cache_hits: float = 0.0  # total: of these, found
    prompt_tokens: float = 0.0  # total
    generated_tokens: float = 0.0  # total
    first_tokens: float = 0.0  # total: replies that have begun
    first_token_s: float = 0.0  # total: seconds that they took to begin, queue included
    process: float = 0.0  # when the process that answered began: tells replicas behind one address apart; 0: not said


@dataclass(frozen=True, slots=True)
class AdmissionRules:
    """When to admit more, and when less."""

    least: int = 1  # sessions, while the server answers
    most: int = 1_000  # sessions of one server
    start: int = 8  # before anything is known
    step: float = 1.0  # sessions added by one calm look
    first_steps: float = 0.25  # share of the limit added by one calm look, until the first cut
    cut: float = 0.75  # share that is kept by a crowded look
    waiting_high: float = 0.5  # waiting requests per running one: crowded above
    waiting_low: float = 0.1  # calm below
    waiting_few: float = 2.0  # a queue of so many is noise, however few run
    kv_cache_high: float = 0.95  # share in use: crowded above; past it vLLM throws requests out and computes them again
    kv_cache_low: float = 0.80  # calm below
    first_token_high_s: float = 10.0  # seconds until replies begin: crowded above
    first_token_low_s: float = 4.0  # calm below
    weight: float = 0.5  # of the newest look in the running means
    rest_s: float = 10.0  # after a cut nothing changes for this long
    rest_replies: float = 1.0  # nor for as long as so many replies take to begin, one after the other
    used: float = (
        0.8  # more is admitted only where so much of the limit is used: an unused limit says nothing of the server
    )


@dataclass(frozen=True, slots=True)
class AdmissionConfig:
    """Which servers are watched, and how."""

    urls: tuple[str, ...]  # as the client has them, with their version part
    rules: AdmissionRules = AdmissionRules()
    interval_s: float = 2.0  # between two looks; a look costs the server some milliseconds
    timeout_s: float = 5.0  # of one look
    silent_looks: int = 2  # looks in a row without an answer until a server counts as away


@dataclass(frozen=True, slots=True)
class Admitted:
    """The control's whole state, for one server."""

    limit: float  # sessions that may run; its whole part counts
    away: bool = False  # the server does not answer: no session is admitted
    waiting: float = 0.0  # running means of what was seen
    running: float = 0.0
    kv_cache: float = 0.0
    first_token_s: float = 0.0
    cut_at: float | None = None  # time of the last cut, later of when it was obeyed
    load: ServerLoad | None = None  # the last look
    totals: Mapping[float, ServerLoad] = field(default_factory=dict)  # by process, the last look at each

    @property
    def sessions(self) -> int:
        """Return how many sessions may run."""
        return 0 if self.away else int(self.limit)


def begun(rules: AdmissionRules) -> Admitted:
    """The state before the first look."""
    return Admitted(limit=float(rules.start))


def after_look(state: Admitted, load: ServerLoad, active: float, now: float, rules: AdmissionRules) -> Admitted:
    """The state after the server was looked at.

    Args:
        state: the state before.
        load: what the server says.
        active: sessions that were admitted and run now, as far as they are this server's.
        now: any clock's time in seconds.
        rules: the bounds.
    """
    seen = _averaged(state, load, active, rules)
    if seen.cut_at is not None and active > seen.sessions:
        # The last cut is not obeyed yet, since sessions end when they end. No session is admitted in any case, so to
        # cut again would only make the way back longer. The rest begins when it is obeyed.
        return replace(seen, cut_at=now)
    if _crowded(seen, state.totals.get(load.process), load, rules):
        return _cut(seen, active, now, rules) if _rested(seen, now, rules) else seen
    if _calm(seen, rules) and _rested(seen, now, rules) and active >= rules.used * int(seen.limit):
        return _grown(seen, rules)
    return seen


def after_silence(state: Admitted, rules: AdmissionRules) -> Admitted:
    """The state after the server did not answer. When it is back, its cache is empty: half of what ran begins again."""
    if state.away:
        return state
    return Admitted(limit=max(float(rules.least), state.limit / 2), away=True)


def _averaged(state: Admitted, load: ServerLoad, active: float, rules: AdmissionRules) -> Admitted:
    first = state.load is None
    late = _first_token_s(state.totals.get(load.process), load)
    if late is None and not active:
        late = 0.0  # that no reply began says nothing, save where no request waits for one
    others = {process: last for process, last in state.totals.items() if process != load.process}

    def mean(old: float, new: float) -> float:
        return new if first else old + rules.weight * (new - old)

    return replace(
        state,
        away=False,
        load=load,
        totals={**dict(list(others.items())[-_MOST_REPLICAS:]), load.process: load},
        waiting=mean(state.waiting, load.waiting),
        running=mean(state.running, load.running),
        kv_cache=mean(state.kv_cache, load.kv_cache),
        first_token_s=state.first_token_s if late is None else mean(state.first_token_s, late),
    )


def _first_token_s(before: ServerLoad | None, load: ServerLoad) -> float | None:
    """Mean seconds until a reply began, of those that began since the last look at the same process; None: none did."""
    if before is None or load.first_tokens <= before.first_tokens:
        return None
    return (load.first_token_s - before.first_token_s) / (load.first_tokens - before.first_tokens)


def _crowded(seen: Admitted, before: ServerLoad | None, load: ServerLoad, rules: AdmissionRules) -> bool:
    thrown_out = before is not None and load.preempted > before.preempted
    queue = seen.waiting > max(rules.waiting_few, rules.waiting_high * seen.running)
    return queue or thrown_out or seen.kv_cache > rules.kv_cache_high or seen.first_token_s > rules.first_token_high_s


def _calm(seen: Admitted, rules: AdmissionRules) -> bool:
    queue = seen.waiting <= max(rules.waiting_few / 2, rules.waiting_low * seen.running)
    return queue and seen.kv_cache < rules.kv_cache_low and seen.first_token_s < rules.first_token_low_s


def _rested(seen: Admitted, now: float, rules: AdmissionRules) -> bool:
    # What was asked before the cut is answered first, and tells of the time before it.
    return seen.cut_at is None or now - seen.cut_at >= max(rules.rest_s, rules.rest_replies * seen.first_token_s)


def _grown(seen: Admitted, rules: AdmissionRules) -> Admitted:
    """One step more; before the first cut in proportion, so that a large server is not filled by ones."""
    step = rules.step if seen.cut_at is not None else max(rules.step, seen.limit * rules.first_steps)
    return replace(seen, limit=min(float(rules.most), seen.limit + step))


def _cut(seen: Admitted, active: float, now: float, rules: AdmissionRules) -> Admitted:
    # From what runs, not from what was allowed: a limit far above it could be cut many times without any effect.
    return replace(seen, limit=max(float(rules.least), min(seen.limit, active) * rules.cut), cut_at=now)
