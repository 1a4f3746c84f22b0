"""The task `loop`: collects the loop's values and ends the run with a fan-out."""

from __future__ import annotations

from shoal.agent.decisions.plan import Plan
from shoal.agent.errors import EmptyLoop
from shoal.agent.sessions.attempt import Attempt
from shoal.agent.sessions.ends import ended
from shoal.agent.sessions.loops.learning import learns
from shoal.agent.sessions.loops.loop_items import gather, left_out, loop_result, loop_values, nothing_found
from shoal.agent.sessions.loops.sample import sampled
from shoal.agent.status import Status
from shoal.agent.types import FanOut, Outcome, Task


async def do_loop(attempt: Attempt, plan: Plan) -> tuple[Task, Outcome | None]:
    """Collects the loop's values and ends this run with a fan-out; the session goes on when the last is final."""
    state = attempt.state
    values, sample = loop_values(state, attempt.page, attempt.deps.policy, plan), None
    if attempt.work.spec.sample is None:
        items, later = await gather(values, attempt.deps.journal)
    else:
        sample = await sampled(values, attempt.work.spec.sample)
        items, later = sample.items, 0
    if not items:
        why = "; ".join(filter(None, (state.doubt, left_out(state.left_out))))
        raise EmptyLoop(nothing_found(state.loop, attempt.page.url, why))
    state.items_only_read = plan.items_only_read
    result = loop_result(state, len(items) + later, sample)
    task = Task("loop", plan.plan or "", Status.WAITING, result=result, ends_goal=plan.ends_goal)
    state.history = (*state.history, task)
    on_error = state.loop.on_error if state.loop else "continue"
    learning = learns(attempt.work, attempt.deps.policy, items, len(items) + later)
    fan_out = FanOut(items, await attempt.snapshot(), on_error, later, learning)
    return task, ended(attempt, Status.WAITING, fan_out=fan_out)
