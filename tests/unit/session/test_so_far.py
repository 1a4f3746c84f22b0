"""The steps of a session are known while it runs: finished tasks, and the steps of the one under way."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from shoal.agent.models.decisions.plan import Plan
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.policies.policy import SessionState
from shoal.agent.redaction.masking import HIDDEN
from shoal.agent.sessions import session
from shoal.agent.sessions.attended.attendance import Attendance
from shoal.agent.status import Status
from shoal.agent.types import Action, Step
from shoal.services.browsers.live.steps import MOST_STEPS, steps_update
from shoal.services.live_messages import UP
from tests.doubles import FakeBrowser, FakePage
from tests.unit.session.test_session import URL, Notes, deps, work
from tests.worker_world import EXTRACT, PlainPolicy

PASSWORD = "correct horse"


class Pausing(PlainPolicy):
    """Types a password, and then thinks for as long as a test wants."""

    def __init__(self) -> None:
        self.thinks, self.goes_on = asyncio.Event(), asyncio.Event()

    async def plan(self, state: SessionState) -> Plan:
        if state.history:
            return await super().plan(state)
        return Plan(plan="fill it in", task_type="navigate")

    async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
        if not steps:
            return StepDecision("the password first", (Action("fill", {"bid": "1", "value": PASSWORD}),))
        self.thinks.set()
        await self.goes_on.wait()
        return StepDecision("that was all", (Action("complete"),))


async def test_steps_are_known_before_their_task_is_over_and_without_secrets() -> None:
    people, policy = Attendance(), Pausing()
    pages = {URL: FakePage(read={"n": 7}, actions={"fill 1": ""})}
    one = work(extract=EXTRACT, data={"password": PASSWORD})
    running = asyncio.create_task(session.run(one, deps(FakeBrowser(pages), Notes(), policy=policy, attendance=people)))
    await policy.thinks.wait()
    (task,) = people.tasks
    (step,) = task.steps
    assert (task.plan, task.status, step.thought) == ("fill it in", Status.RUNNING, "the password first")
    assert step.results[0].action.args["value"] == HIDDEN
    policy.goes_on.set()
    outcome = await running
    assert [task.type for task in outcome.tasks] == ["navigate", "extract"]
    assert people.tasks == outcome.tasks, "nothing is under way any more"


async def test_a_message_has_the_newest_steps_and_says_how_many_it_leaves_out() -> None:
    people, policy = Attendance(), Pausing()
    policy.goes_on.set()
    pages = {URL: FakePage(read={"n": 7}, actions={"fill 1": ""})}
    await session.run(work(extract=EXTRACT), deps(FakeBrowser(pages), Notes(), policy=policy, attendance=people))
    (first, *_) = people.tasks
    long = [Step(n, URL, "x" * 1000, first.steps[0].results) for n in range(MOST_STEPS + 7)]
    tasks = [first, type(first)("navigate", "more", Status.RUNNING, {"big": "y" * 10_000}, steps=tuple(long))]
    update = steps_update(tasks)
    assert [len(task.steps) for task in update.tasks] == [0, MOST_STEPS]
    assert [task.plan for task in update.tasks] == ["fill it in", "more"]
    assert update.tasks[-1].steps[-1].index == MOST_STEPS + 6
    assert update.left_out == 7 + len(first.steps)
    assert UP.validate_json(update.model_dump_json()) == update
    small = steps_update(tasks, most_bytes=20_000)
    assert len(small.model_dump_json()) <= 20_000
    assert 0 < len(small.tasks[-1].steps) < MOST_STEPS
    assert small.left_out + sum(len(task.steps) for task in small.tasks) == len(long) + len(first.steps)
