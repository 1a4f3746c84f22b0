"""Which decisions on loops that learn count as repairs of a workflow."""

from __future__ import annotations

import pytest

from shoal.agent.workflows.format.version import State, Version
from shoal.agent.workflows.judging.phase import LearningStep, Phase
from shoal.agent.workflows.judging.promotion import VersionFigures
from shoal.services.dispatch.learner import repair_of
from shoal.services.store.learning.records import LearningDue


def known(phase: Phase, state: State | None) -> LearningDue:
    version = None
    if state is not None:
        nodes = [{"id": "read", "kind": "guard", "holds": [{"kind": "text", "value": "Lamp"}]}]
        version = Version.model_validate({"state": state, "nodes": nodes})
    return LearningDue(1, phase, (), 8, VersionFigures(), 0, version, None)


@pytest.mark.parametrize(
    ("phase", "state", "step", "counted"),
    [
        (Phase.REPLAY, "canary", LearningStep(Phase.ITEMS, "it missed 3 of 5"), "begun"),
        (Phase.REPLAY, "active", LearningStep(Phase.ITEMS, "wrong", state="broken"), ""),
        (Phase.REPLAY, "active", LearningStep(Phase.REPLAY, ""), ""),
        (Phase.ITEMS, "active", LearningStep(Phase.ITEMS, "two more"), ""),
        (Phase.ITEMS, "active", LearningStep(Phase.SHADOW, "repaired with 3 items"), "compiled"),
        (Phase.ITEMS, "active", LearningStep(Phase.REPLAY, "nothing was learned"), "given_up"),
        (Phase.ITEMS, None, LearningStep(Phase.SHADOW, "compiled from 3 items"), ""),
        (Phase.ITEMS, "broken", LearningStep(Phase.OFF, "nothing was learned"), ""),
    ],
)
def test_a_repair_is_counted_where_a_trusted_version_is_learned_anew(
    phase: Phase, state: State | None, step: LearningStep, counted: str
) -> None:
    assert repair_of(known(phase, state), step) == counted
