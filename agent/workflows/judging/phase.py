"""The phase of a loop's learning, and the decisions about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from shoal.agent.workflows.format.version import State, Version

FIRST_ITEMS = 3
"""Items that the baseline works out before a version is compiled of them."""
MOST_SAMPLES = 12
"""Items that a version is compiled from at most: the last ones."""


class Phase(StrEnum):
    """The phase of a loop's learning."""

    ITEMS = "items"
    """The baseline, a model or the rules, works items out; the others are held back."""
    SHADOW = "shadow"
    """The baseline works items out, and a version runs in its shadow; the others are held back."""
    REPLAY = "replay"
    """A version does the items."""
    OFF = "off"
    """The baseline does the items: nothing could be learned, or not reliably."""

    @property
    def holds_back(self) -> bool:
        """Return whether items wait until more is known."""
        return self in (Phase.ITEMS, Phase.SHADOW)


@dataclass(frozen=True, slots=True)
class LearningStep:
    """The next step of a learning loop, of its version and of the items that are held back."""

    phase: Phase
    why: str  # in words
    let_go: int = 0  # so many of the items that are held back may begin, where the phase holds any back
    version: Version | None = None  # a new one, to be stored
    state: State | None = None  # to which the loop's version moves; None: it stays
