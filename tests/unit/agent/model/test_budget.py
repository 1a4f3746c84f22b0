"""Budgets: counted as the server counts, stopping before the next request, saying which is spent and how much."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shoal.agent.errors import BudgetSpent
from shoal.agent.models.model import Reply
from shoal.agent.spec import JobSpec
from shoal.agent.types import Usage
from tests.doubles import ScriptedModel
from tests.unit.agent.model.pages import URL, scene_of
from tests.unit.agent.model.test_step import SHOP, act, policy_of, step_reply


def costs(prompt: int, completion: int, said: Any = None) -> Reply:
    text = said if isinstance(said, str) else json.dumps(said or step_reply(act("CLICK", id="4")))
    return Reply(text, Usage(1, prompt, completion, cached_tokens=prompt // 2))


async def steps(count: int, *script: Any, budget: dict[str, int], **state: Any) -> tuple[ScriptedModel, Any]:
    model = ScriptedModel(script)
    one = scene_of(SHOP, JobSpec(url=URL, goal="x", budget=budget), **state)
    for _ in range(count):
        await policy_of(model).step(one, "x", ())
    return model, one


async def test_a_session_stops_before_the_request_that_it_cannot_pay() -> None:
    with pytest.raises(BudgetSpent) as caught:
        await steps(3, *[costs(400, 100)] * 3, budget={"session_tokens": 1000})
    error = caught.value
    assert error.details == {"scope": "session", "spent": 1000, "limit": 1000}
    assert "the session has spent 1,000 of 1,000 tokens" in error.message
    assert (error.code, error.retryable) == ("budget_spent", False)


async def test_earlier_attempts_count_for_the_session() -> None:
    with pytest.raises(BudgetSpent):
        await steps(1, costs(1, 1), budget={"session_tokens": 1000}, spent_before=Usage(5, 900, 100))


async def test_the_jobs_other_sessions_count_for_the_job() -> None:
    model, _ = await steps(1, costs(500, 0), budget={"job_tokens": 1000}, job_tokens=999)
    assert len(model.asked) == 1
    with pytest.raises(BudgetSpent) as caught:
        await steps(2, *[costs(500, 0)] * 2, budget={"job_tokens": 1000}, job_tokens=500)
    assert caught.value.details["scope"] == "job"


async def test_a_step_may_not_ask_again_without_end_but_the_next_step_begins_anew() -> None:
    model, state = await steps(2, *[costs(400, 100)] * 2, budget={"step_tokens": 500})
    assert (len(model.asked), state.usage.prompt_tokens) == (2, 800)
    with pytest.raises(BudgetSpent) as caught:
        await steps(1, costs(400, 100, "nonsense"), costs(400, 100), budget={"step_tokens": 500})
    assert caught.value.details["scope"] == "step"
