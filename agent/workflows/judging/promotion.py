"""Promotion of a version by its results: shadow, canary, active, and back to its parent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shoal.agent.workflows.format.version import State

SHADOW_ITEMS = 5
CANARY_ITEMS = 20
_MOST_MISSES = 0.5
"""Of a canary's items: a version that misses more saves too little."""
_WINDOW = 20
"""Items of an active version below which its share of misses says nothing."""
_RISE = 0.3
"""So much more of its items may an active version miss than when it was made active."""


@dataclass(frozen=True, slots=True)
class VersionFigures:
    """Counts of a version since it got its state."""

    items: int = 0  # replayed, or compared in shadow
    misses: int = 0
    wrong: int = 0  # confirmed by two audits, or in shadow differing from the model twice
    usual_misses: float = 0.0  # its share of misses as a canary, or in the shadow where it was active before


@dataclass(frozen=True, slots=True)
class Promotion:
    """The next state of a version."""

    to: State | None  # None: it stays as it is
    why: str = ""
    back_to_parent: bool = False  # the parent becomes active again


def next_state(state: State, figures: VersionFigures) -> Promotion:
    """Decide that a version moves on, stays, or is given up."""
    if state in ("shadow", "canary", "active") and figures.wrong:
        why = f"{figures.wrong} of its records were confirmed to be wrong"
        return Promotion("broken", why, back_to_parent=state != "shadow")
    match state:
        case "shadow" if figures.items >= SHADOW_ITEMS:
            return _tried(figures, "canary")
        case "canary" if figures.items >= CANARY_ITEMS:
            return _tried(figures, "active")
        case "active":
            return _judge_misses(figures)
    return Promotion(None)


def _tried(figures: VersionFigures, onward: Literal["canary", "active"]) -> Promotion:
    share = figures.misses / figures.items
    if share > _MOST_MISSES:
        return Promotion("broken", f"it missed {figures.misses} of {figures.items} items", onward == "active")
    return Promotion(onward, f"{figures.items - figures.misses} of {figures.items} items replayed, none wrong")


def _judge_misses(figures: VersionFigures) -> Promotion:
    if figures.items < _WINDOW:
        return Promotion(None)
    share = figures.misses / figures.items
    if share <= figures.usual_misses + _RISE:
        return Promotion(None)
    why = f"it missed {figures.misses} of its last {figures.items} items, and {figures.usual_misses:.0%} before"
    return Promotion("broken", why, back_to_parent=True)
