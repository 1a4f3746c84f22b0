"""robots.txt for all workers: one of them fetches an origin's, the others get what it found until that runs out.

The decisions are pure functions of one row, `StoredRobots`; its lock is held until the transaction ends, so that two
dispatchers cannot both send somebody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shoal.agent.worker_messages import RobotsAnswer, RobotsFile, RobotsState, RobotsWish
from shoal.services.store.database.transaction import Tx

FETCH_S = 20.0
"""A worker that was sent to fetch a file and is silent for so long is dead: the next one that asks is sent. More than
the fetch itself may take (`services/browsers/network/robots_file.py`)."""
LONGEST_KEEP_S = 24 * 3600.0
"""RFC 9309 allows no more."""
OPINIONS = 2
"""So many workers must say that a site does not answer before the others believe it: a node may have lost its network,
and would close the site for all."""
LEAST_AGAIN_S, MOST_AGAIN_S = 0.1, 2.0
"""When to ask again while another fetches: soon at first, for most sites answer at once; later more seldom."""

_STATES = tuple(RobotsState)
"""By the number that their column holds."""
_UNREADABLE = (RobotsState.BUSY, RobotsState.FAILED, RobotsState.UNREACHABLE)
_EACH_FOR_ITSELF = (RobotsState.LARGE, RobotsState.REFUSED)
_PRUNED = 100
"""Rows that have run out, removed with each transaction that keeps one: more than come in."""


@dataclass(frozen=True, slots=True)
class StoredRobots:
    """One origin, as its row says."""

    origin: str
    state: RobotsState | None = None  # None: nothing is known yet
    packed: bytes = b""
    why: str = ""
    retry_after_s: float | None = None
    opinions: int = 0  # workers that found it unreachable, one after the other
    expires_at: float = 0.0  # seconds since the epoch
    fetching_by: str = ""  # the worker that was sent last
    fetching_until: float = 0.0  # until when it may be expected to tell

    def file(self, now: float) -> RobotsFile | None:
        """Return what holds now; None without a copy.

        A copy that would hold for longer than is allowed was kept before the clock was set back.
        """
        left_s = self.expires_at - now
        if self.state is None or not 0 < left_s <= LONGEST_KEEP_S:
            return None
        return RobotsFile(self.state, left_s, self.packed, self.why, self.retry_after_s)


def after_fetch(known: StoredRobots, file: RobotsFile, now: float) -> StoredRobots:
    """The state after a worker asked the site. That it could not be read replaces nothing that another has read."""
    known = replace(known, fetching_until=0.0)
    before = known.file(now)
    if before is not None and before.state not in _UNREADABLE and file.state in _UNREADABLE:
        return known
    again = before is not None and before.state is file.state is RobotsState.UNREACHABLE
    return replace(
        known,
        state=file.state,
        packed=file.packed,
        why=file.why,
        retry_after_s=file.retry_after_s,
        opinions=known.opinions + 1 if again else 1,
        expires_at=now + min(file.keep_s, LONGEST_KEEP_S),
    )


def answer(known: StoredRobots, worker: str, now: float) -> tuple[StoredRobots, RobotsAnswer]:
    """Return what a worker gets that asks."""
    file = known.file(now)
    if file is not None and file.state in _EACH_FOR_ITSELF:
        return known, RobotsAnswer(fetch=True)
    if file is not None and (file.state is not RobotsState.UNREACHABLE or known.opinions >= OPINIONS):
        return known, RobotsAnswer(file)
    left_s = known.fetching_until - now
    if 0 < left_s <= FETCH_S and known.fetching_by != worker:
        return known, RobotsAnswer(wait_s=min(max(FETCH_S - left_s, LEAST_AGAIN_S), MOST_AGAIN_S))
    return replace(known, fetching_by=worker, fetching_until=now + FETCH_S), RobotsAnswer(fetch=True)


def robots(tx: Tx, wishes: Sequence[tuple[str, RobotsWish]]) -> list[RobotsAnswer | None]:
    """The answers to some workers, each given with its wish, in this order; None to those that only tell."""
    before = _locked(tx, sorted({wish.origin for _, wish in wishes}))
    after = dict(before)
    for _, wish in wishes:  # first: those that ask at the same time want to know
        if wish.found is not None:
            after[wish.origin] = after_fetch(after[wish.origin], wish.found, tx.now)
    answers: list[RobotsAnswer | None] = []
    for worker, wish in wishes:
        reply = None
        if wish.found is None:
            after[wish.origin], reply = answer(after[wish.origin], worker, tx.now)
        answers.append(reply)
    tx.each("write_robots", [_columns(known) for origin, known in after.items() if known != before[origin]])
    if any(wish.found is not None for _, wish in wishes):
        tx.run("prune_robots", now=tx.now, most=_PRUNED)
    return answers


def _locked(tx: Tx, origins: Sequence[str]) -> dict[str, StoredRobots]:
    """The rows of origins, locked in their order; made where there are none."""
    rows = tx.rows_made("lock_robots", "add_robots", n=len(origins), origins=tx.many(origins))
    return {
        row.origin: StoredRobots(
            row.origin,
            None if row.state is None else _STATES[row.state],
            bytes(row.packed or b""),
            row.why,
            row.retry_after_s,
            row.opinions,
            row.expires_at,
            row.fetching_by,
            row.fetching_until,
        )
        for row in rows
    }


def _columns(known: StoredRobots) -> dict[str, object]:
    return {
        "origin": known.origin,
        "state": None if known.state is None else _STATES.index(known.state),
        "packed": known.packed or None,
        "why": known.why,
        "retry_after_s": known.retry_after_s,
        "opinions": known.opinions,
        "expires_at": known.expires_at,
        "fetching_by": known.fetching_by,
        "fetching_until": known.fetching_until,
    }
