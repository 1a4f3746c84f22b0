"""The test that each item that is `unsure` was inside its action when something was killed that could break it off.
Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

REACH_S: Mapping[str, float] = {
    **{"chromium": 5.0, "worker": 5.0, "raylet": 15.0, "network": 20.0, "head": 60.0},
    **{"frozen head": 60.0, "frozen worker": 15.0, "frozen chromium": 15.0, "frozen raylet": 30.0, "full disk": 5.0},
}
"""Kinds of kills that can break a session off, and for how long after it. A browser or a worker is gone at once, but
a mark that was on its way is stored, and the loss is noticed, a little later; a worker outlives its raylet for some
seconds, and its head for as long as nodes look for that; a node that was cut off is ended when it is back; a worker,
a browser or a raylet that stands still is given up and ended, or goes on. Where neither the S3 server nor the disk
takes evidence, a session ends inside the action that it has evidence of. Nothing that befalls the database, no part
that is cut off another, and no dispatcher that stands still, may leave an item in doubt: the worker lives, and its
lease is given the time back."""
_CLOCK_S = 0.5
"""Between the moments that the storm and the database note for one and the same."""


@dataclass(frozen=True)
class Kill:
    """One entry in the storm's log."""

    kind: str
    at: float  # seconds since the epoch
    lasts_s: float = 0.0  # of an outage
    workers: frozenset[int] | None = frozenset()  # processes of the workers that it could break off; None: any


@dataclass(frozen=True)
class Doubt:
    """An item that is unsure, and the time in which its action was marked and not confirmed, as the store saw it."""

    item: int
    action: str  # "": none was marked
    worker: int | None  # process of the worker that had it; None: not known
    marked: float  # seconds since the epoch
    ended: float
    error: str = ""  # what the session says of it


def unexplained(doubts: Sequence[Doubt], kills: Sequence[Kill]) -> list[str]:
    """Return what is wrong with unsure items: each has to name its action, and a kill must fall into it."""
    wrong = []
    for doubt in doubts:
        if not doubt.action:
            wrong.append(f"item {doubt.item} is unsure, but no action was marked")
        elif not any(could_break(kill, doubt) for kill in kills):
            took = f"{doubt.ended - doubt.marked:.1f} s in {doubt.action!r} of worker {doubt.worker}"
            wrong.append(
                f"item {doubt.item} is unsure, but no kill fell into its {took}{_nearest(doubt, kills)}: {doubt.error}"
            )
    return wrong


def could_break(kill: Kill, doubt: Doubt) -> bool:
    """Return whether a kill may be why the cluster does not know how an action ended."""
    reach_s = REACH_S.get(kill.kind)
    if reach_s is None:
        return False
    if kill.workers is not None and doubt.worker is not None and doubt.worker not in kill.workers:
        return False
    gone_by = kill.at + kill.lasts_s + reach_s
    return kill.at <= doubt.ended + _CLOCK_S and doubt.marked <= gone_by


def _nearest(doubt: Doubt, kills: Sequence[Kill]) -> str:
    """The last kill before the doubt, for the person who looks for its cause."""
    before = [kill for kill in kills if kill.at <= doubt.ended]
    if not before:
        return "; nothing was killed before"
    last = max(before, key=lambda kill: kill.at)
    return f"; the last kill before its end was of a {last.kind}, {doubt.ended - last.at:.1f} s earlier"
