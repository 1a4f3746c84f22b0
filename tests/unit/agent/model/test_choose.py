"""Which policy a job gets."""

from __future__ import annotations

from typing import Any, cast

import pytest

from shoal.agent.errors import GoalNeedsModel, PolicyUnavailable, WorkflowInvalid
from shoal.agent.policies.choose import check_policy, choose
from shoal.agent.policies.policy import Policy
from shoal.agent.policies.workflow.policy import WorkflowPolicy
from shoal.agent.spec import JobSpec
from tests.unit.workflows.books import BOOKS

RULES, MODEL = cast(Policy, object()), cast(Policy, object())


def spec(policy: str, **more: Any) -> JobSpec:
    return JobSpec.model_validate({"url": "https://shop.example/", "goal": "look", "policy": policy, **more})


@pytest.mark.parametrize(
    ("wanted", "model", "chosen"),
    [("auto", MODEL, MODEL), ("auto", None, RULES), ("rules", MODEL, RULES), ("model", MODEL, MODEL)],
)
def test_auto_is_the_model_where_there_is_one(wanted: str, model: Any, chosen: Any) -> None:
    assert choose(spec(wanted), rules=RULES, model=model) is chosen


def test_what_cannot_be_had_is_refused_at_the_gate() -> None:
    with pytest.raises(GoalNeedsModel):
        check_policy("model", model=False)


def test_an_item_is_replayed_by_the_workflow_that_came_with_the_job_and_its_loop_is_not() -> None:
    job = spec("workflow:books", workflow=BOOKS)
    replays = choose(job, rules=RULES, model=None)
    assert isinstance(replays, WorkflowPolicy)
    assert (replays.report.name, replays.report.version) == ("books", 1)
    assert choose(job, rules=RULES, model=None) is not replays, "each session keeps its own place"
    assert choose(job, rules=RULES, model=None, leaf=False) is RULES
    assert choose(job, rules=RULES, model=MODEL, leaf=False) is MODEL


def test_a_model_is_behind_a_workflow_unless_the_job_says_that_a_miss_ends_the_item() -> None:
    behind = choose(spec("workflow:books", workflow=BOOKS), rules=RULES, model=MODEL)
    alone = choose(spec("workflow:books", workflow=BOOKS, on_miss="fail"), rules=RULES, model=MODEL)
    assert isinstance(behind, WorkflowPolicy) and isinstance(alone, WorkflowPolicy)
    assert behind.to_be_audited()._audited and not alone.to_be_audited()._audited
    guesses = JobSpec.model_validate({"policy": "workflow:books", "workflow": BOOKS, "data": {"name": "Ben"}})
    wordless = choose(guesses, rules=RULES, model=MODEL)
    assert isinstance(wordless, WorkflowPolicy)
    assert not wordless.to_be_audited()._audited, "without a goal a model could only guess what to go on with"


def test_a_job_without_the_workflow_that_it_names_does_not_begin() -> None:
    with pytest.raises(PolicyUnavailable, match="no workflow 'books'"):
        choose(spec("workflow:books"), rules=RULES, model=MODEL)
    with pytest.raises(WorkflowInvalid):
        choose(spec("workflow:books", workflow={"name": "books"}), rules=RULES, model=MODEL)
