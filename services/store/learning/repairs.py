"""Repairs of the version that a loop replays: when they begin and end, and what they cost."""

from __future__ import annotations

from collections import Counter

from shoal.agent.types import Outcome
from shoal.agent.workflows.judging.phase import LearningStep, Phase
from shoal.services.store.learning.records import Repair

_BEGAN = "_repair_began_ms"
"""Among a loop's figures while it repairs a version: when it began, by the store's clock."""
_CALLS = "_repair_calls"
"""Likewise: model calls of the items that ended since."""


def note_calls(figures: Counter[str], outcome: Outcome) -> None:
    """Adds what an item has cost that ends while its loop repairs a version."""
    if figures[_BEGAN]:
        figures[_CALLS] += (outcome.usage_before + outcome.usage).model_calls


def repair_of(figures: Counter[str], was: Phase, step: LearningStep, now: float) -> Repair | None:
    """Return what a decision means for the repair of a loop's version;
    None where it is about none.

    Args:
        figures: of the loop; when a repair began and what it cost are noted there.
        was: the loop's phase before.
    """
    if was is Phase.REPLAY and step.phase is Phase.ITEMS and step.state is None:
        figures[_BEGAN], figures[_CALLS] = round(now * 1000), 0
        return Repair("begun")
    if not figures[_BEGAN]:
        return None
    if step.phase.holds_back and step.state != "broken":
        return Repair("compiled") if was is Phase.ITEMS and step.phase is Phase.SHADOW else None
    calls, seconds = figures[_CALLS], max(0.0, now - figures[_BEGAN] / 1000)
    del figures[_BEGAN], figures[_CALLS]
    figures["repair_calls"] += calls
    proved = was is Phase.SHADOW and step.phase is Phase.REPLAY
    figures["repairs"] += proved
    return Repair("proved" if proved else "given_up", calls, seconds)
