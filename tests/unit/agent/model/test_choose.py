"""Which policy a job gets."""

from __future__ import annotations

from typing import Any, cast

import pytest

from shoal.agent.errors import GoalNeedsModel, PolicyUnavailable
from shoal.agent.policies.choose import check_policy, choose
from shoal.agent.policies.policy import Policy

RULES, MODEL = cast(Policy, object()), cast(Policy, object())


@pytest.mark.parametrize(
    ("wanted", "model", "chosen"),
    [("auto", MODEL, MODEL), ("auto", None, RULES), ("rules", MODEL, RULES), ("model", MODEL, MODEL)],
)
def test_auto_is_the_model_where_there_is_one(wanted: str, model: Any, chosen: Any) -> None:
    assert choose(wanted, rules=RULES, model=model) is chosen


def test_what_cannot_be_had_is_refused_at_the_gate() -> None:
    with pytest.raises(GoalNeedsModel):
        check_policy("model", model=False)
    with pytest.raises(PolicyUnavailable, match="workflows are not available"):
        check_policy("workflow:abc", model=True)
