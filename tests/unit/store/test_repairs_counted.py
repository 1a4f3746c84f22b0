"""Which decisions on loops that learn begin and end a repair of a version, and what a repair is told to have cost."""

from __future__ import annotations

from collections import Counter

import pytest

from shoal.agent.status import Status
from shoal.agent.types import Outcome, Usage
from shoal.agent.workflows.judging.phase import LearningStep, Phase
from shoal.services.store.learning.records import Repair
from shoal.services.store.learning.repairs import note_calls, repair_of

MISSED = LearningStep(Phase.ITEMS, "it missed 3 of 5")


def under_repair() -> Counter[str]:
    figures: Counter[str] = Counter()
    assert repair_of(figures, Phase.REPLAY, MISSED, now=100.0) == Repair("begun")
    return figures


@pytest.mark.parametrize(
    ("was", "step", "told"),
    [
        (Phase.ITEMS, LearningStep(Phase.ITEMS, "two more"), None),
        (Phase.ITEMS, LearningStep(Phase.SHADOW, "repaired with 3 items"), Repair("compiled")),
        (Phase.ITEMS, LearningStep(Phase.REPLAY, "nothing was learned"), Repair("given_up", 5, 60.0)),
        (Phase.ITEMS, LearningStep(Phase.OFF, "nothing was learned"), Repair("given_up", 5, 60.0)),
        (Phase.SHADOW, LearningStep(Phase.REPLAY, "5 of 5 are right"), Repair("proved", 5, 60.0)),
        (Phase.SHADOW, LearningStep(Phase.ITEMS, "wrong", state="broken"), Repair("given_up", 5, 60.0)),
    ],
)
def test_a_repair_ends_once_and_tells_its_calls_and_seconds(
    was: Phase, step: LearningStep, told: Repair | None
) -> None:
    figures = under_repair()
    note_calls(figures, Outcome(Status.COMPLETED, usage=Usage(model_calls=3), usage_before=Usage(model_calls=2)))
    assert repair_of(figures, was, step, now=160.0) == told
    ended = told is not None and told.outcome != "compiled"
    assert figures["repair_calls"] == (5 if ended else 0)
    assert figures["repairs"] == (told == Repair("proved", 5, 60.0))
    if ended:
        assert repair_of(figures, was, step, now=170.0) is None, "it was told twice"


@pytest.mark.parametrize(
    ("was", "step"),
    [
        (Phase.REPLAY, LearningStep(Phase.ITEMS, "wrong", state="broken")),
        (Phase.REPLAY, LearningStep(Phase.REPLAY, "")),
        (Phase.ITEMS, LearningStep(Phase.SHADOW, "compiled from 3 items")),
        (Phase.ITEMS, LearningStep(Phase.OFF, "nothing was learned")),
    ],
)
def test_what_repairs_no_trusted_version_is_no_repair(was: Phase, step: LearningStep) -> None:
    figures: Counter[str] = Counter()
    assert repair_of(figures, was, step, now=100.0) is None
    note_calls(figures, Outcome(Status.COMPLETED, usage=Usage(model_calls=3)))
    assert +figures == Counter()
