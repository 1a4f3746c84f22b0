"""The task `navigate`: steps until the policy says that the mini goal is reached, or cannot be."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from shoal.agent.errors import AgentError, StepLimit
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.sessions.attempt import Attempt
from shoal.agent.sessions.attended.takeover import describe_end
from shoal.agent.sessions.ends import terminated
from shoal.agent.sessions.standstill import refuse_repetition
from shoal.agent.sessions.tasks.perform import came_true, take_step
from shoal.agent.sessions.tasks.person_task import hand_over_to_person
from shoal.agent.status import Status
from shoal.agent.types import Outcome, Step, Task


async def do_navigate(attempt: Attempt, plan: Plan) -> tuple[Task, Outcome | None]:
    """Steps until the policy says that the mini goal is reached, or cannot be."""
    if attempt.done_by_hand:
        reason, attempt.done_by_hand = attempt.done_by_hand, ""
        return Task("navigate", plan.plan or "", Status.COMPLETED, reason=reason, ends_goal=plan.ends_goal), None
    attempt.state.sightings.clear()
    started = time.monotonic()
    steps: list[Step] = []
    try:
        with attempt.working_on("navigate", plan.plan or "") as steps:
            steps.extend(attempt.steps_before)
            attempt.steps_before = ()
            return await _steps(attempt, plan, steps)
    except (AgentError, asyncio.CancelledError) as error:
        # What it did is told all the same: somebody has to find out why it failed.
        reason = error.message if isinstance(error, AgentError) else "stopped, or its time was over"
        seconds = round(time.monotonic() - started, 4)
        task = Task("navigate", plan.plan or "", Status.FAILED, None, reason, tuple(steps), seconds)
        attempt.state.history = (*attempt.state.history, task)
        raise


async def _steps(attempt: Attempt, plan: Plan, steps: list[Step]) -> tuple[Task, Outcome | None]:
    """Step after step, each put behind `steps`, until one ends the task."""
    goal, decided = plan.plan or "", plan.first if not steps else None
    while attempt.steps_taken < attempt.work.spec.max_steps:
        if attempt.attendance.is_person_waiting:
            decided, end = None, await hand_over_to_person(attempt, steps)
            if end.done:
                done = Task("navigate", goal, Status.COMPLETED, steps=tuple(steps), ends_goal=plan.ends_goal)
                return replace(done, reason=describe_end(end)), None
        attempt.steps_taken += 1
        started = time.monotonic()
        decided = decided or await attempt.deps.policy.step(attempt.state, goal, steps)
        step, final = await take_step(attempt, decided, steps, started)
        task = Task("navigate", goal, Status.COMPLETED, steps=(*steps, step), ends_goal=plan.ends_goal)
        if final is None:
            came = await came_true(attempt, decided, step)
            steps.append(step if came else replace(step, expected=str(decided.then_done or "")))
            if came:
                return replace(task, reason=f"as was to be seen: {decided.then_done}"), None
            refuse_repetition(steps)
            decided = None
            continue
        steps.append(step)
        if final.name == "complete":
            attempt.error_codes = (*attempt.error_codes, *final.args.get("errors", ()))
            return task, None
        if final.name == "answer":
            return replace(task, result=final.args["text"], rests_on=decided.rests_on), None
        reason = str(final.args.get("reason", ""))
        task = replace(task, status=Status.TERMINATED, reason=reason)
        if not attempt.work.spec.allow_terminate:
            return task, None  # this mini goal is given up, not the job: the next plan knows of it
        attempt.state.history = (*attempt.state.history, task)
        return task, terminated(attempt, reason, tuple(final.args.get("errors", ())))
    raise StepLimit(f"{attempt.work.spec.max_steps} steps did not reach: {goal}")
