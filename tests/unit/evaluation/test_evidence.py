"""The gateway's account of a session comes back as the steps that the session did."""

from __future__ import annotations

import json

from shoal.agent.error_info import ErrorInfo
from shoal.agent.status import Status
from shoal.agent.types import Action, ActionResult, Effect, Step, Task
from shoal.services.evaluation.evidence import EpisodeEvidence
from shoal.services.web.api.views.sessions import TaskView

STEPS = (
    Step(
        0,
        "https://shop.example/",
        "press it",
        (
            ActionResult(Action("click", {"bid": "1"}), ErrorInfo("ElementMissing", "element_missing", "gone", False)),
            ActionResult(Action("fill", {"bid": "2", "value": "x"}), effect=Effect(url="https://shop.example/b")),
        ),
        screenshot="shot",
        seconds=1.5,
    ),
)
TASK = Task("navigate", "Open it", Status.TERMINATED, result={"n": 1}, reason="sold out", steps=STEPS, seconds=2.0)


def test_tasks_survive_the_way_over_the_gateway() -> None:
    told = json.loads(TaskView.model_validate(TASK).model_dump_json(by_alias=True))
    found = EpisodeEvidence({}, ({"attempts": [[], [told, told]]}, {"attempts": []}), ())
    assert found.tasks == (TASK, TASK)
    assert found.steps == 2
