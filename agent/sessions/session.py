"""One session: plan, then navigate, extract or loop, until an outcome. The file to read first.

`run` never raises for what a site, a model or a browser may do: every end is an `Outcome`. What it keeps in memory
between two checkpoints is what a crash may lose.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial

from shoal.agent.errors import AgentError, DeadlinePassed, EmptyLoop, FieldsMissing, StepLimit
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.sessions.attempt import Attempt
from shoal.agent.sessions.attended.shown import BY_PERSON
from shoal.agent.sessions.dependencies import SessionDependencies
from shoal.agent.sessions.ends import completed, ended, failed, left_unsure, terminated
from shoal.agent.sessions.loops.learning import learns
from shoal.agent.sessions.loops.loop_items import (
    came_back,
    empty_loop_message,
    gather,
    left_out,
    loop_result,
    loop_values,
)
from shoal.agent.sessions.loops.sample import sampled
from shoal.agent.sessions.page_picture import looked_back
from shoal.agent.sessions.tasks.extract_task import do_extract
from shoal.agent.sessions.tasks.login_task import log_in, renew_login
from shoal.agent.sessions.tasks.navigate_task import do_navigate
from shoal.agent.sessions.tasks.perform import turn_page
from shoal.agent.sessions.tasks.person_task import give_way, perform_by_person
from shoal.agent.status import Status
from shoal.agent.support.moments import utc_now
from shoal.agent.types import FanOut, Outcome, Task
from shoal.agent.worker_messages import Work

MAX_TASKS = 40
"""Mini goals of one session; a policy that plans more goes in circles."""

_READINGS_IN_VAIN = 3
"""Pages of one session that lack what is to be read, until it fails by that."""


async def run(work: Work, deps: SessionDependencies) -> Outcome:
    """Return how one attempt of the session `work` ended.

    Raises:
        asyncio.CancelledError: the worker was told to stop it; the lease's end settles the rest.
    """
    attempt = Attempt(work, deps)
    attempt.state.act = partial(turn_page, attempt)
    started = time.monotonic()
    try:
        outcome = await _lived(attempt, deps.limits.session_s, started)
        outcome = replace(outcome, page_errors=await attempt.evidence.last_page_errors(outcome.status))
        outcome = await looked_back(outcome, attempt, deps.policy)
        lacking = await attempt.evidence.keep_traces(), await attempt.evidence.keep_recording()
        if any(lacking):
            outcome = replace(outcome, reason="; ".join(filter(None, (outcome.reason, *lacking))))
    finally:
        attempt.attendance.end()
        await attempt.page.close()
    return replace(
        attempt.state.hidden.outcome(outcome),
        at=utc_now(),
        seconds=round(time.monotonic() - started, 4),
        usage=replace(attempt.state.usage, pages=attempt.page.pages),
        usage_before=attempt.state.spent_before,
        steps_before=attempt.steps_known,
        artifacts=tuple(attempt.evidence.kept),
    )


async def _lived(attempt: Attempt, session_s: float, started: float) -> Outcome:
    """Return what the session came to, whatever ended it; its page is still open."""
    deadline_s = attempt.work.spec.deadline_s
    try:
        async with attempt.budget.running(session_s):
            outcome = await _live(attempt)
            await attempt.evidence.keep_downloads()  # those of the last page
            if outcome.status is Status.COMPLETED and not attempt.by_hand:
                await attempt.learning_evidence.keep()
    except TimeoutError:
        allowed = "" if deadline_s is None else f"; the job was given {deadline_s:g} s in all"
        ran_s = time.monotonic() - started
        return await failed(attempt, DeadlinePassed(f"the session ran for {ran_s:.0f} s{allowed}"))
    except AgentError as error:
        return await failed(attempt, error)
    return outcome


async def _live(attempt: Attempt) -> Outcome:
    """Plans and works off one mini goal after another, until the goal is reached, given up or fanned out."""
    if attempt.work.checkpoint and attempt.work.checkpoint.pending_action:
        return left_unsure(attempt, attempt.work.checkpoint.pending_action)
    if attempt.work.children is not None:
        came_back(attempt.state, attempt.work.children)
    if attempt.work.spec.login is not None and attempt.work.depth == 0 and not attempt.has_logged_in:
        await log_in(attempt)
        await attempt.checkpoint()
    if attempt.work.spec.policy == BY_PERSON:
        return await perform_by_person(attempt)
    if attempt.work.depth == 0:
        await attempt.take_glossary()
    for _ in range(MAX_TASKS):
        if attempt.attendance.is_person_waiting:
            await give_way(attempt)
        plan = await attempt.deps.policy.plan(attempt.state)
        await attempt.evidence.keep_prompt(plan.prompt)
        if plan.should_terminate and attempt.work.spec.allow_terminate:
            if not attempt.deps.policy.instant:
                await attempt.evidence.keep_last_page()
            return terminated(attempt, plan.termination_reason or plan.thoughts, plan.error_codes)
        if plan.user_goal_achieved or plan.task_type is None:
            if not attempt.deps.policy.instant:
                await attempt.evidence.keep_last_page()
            return completed(attempt, plan)
        if attempt.deps.policy.instant and attempt.state.history:
            # Not before it was clear that work is left: a snapshot of the storage is what a leaf can do without.
            await attempt.checkpoint()
        task, end = await _do(attempt, plan)
        if end is not None:
            return end
        attempt.state.history = (*attempt.state.history, task)
        if not attempt.deps.policy.instant:
            await attempt.checkpoint()
    raise StepLimit(f"{MAX_TASKS} mini goals did not reach the goal")


async def _do(attempt: Attempt, plan: Plan) -> tuple[Task, Outcome | None]:
    """One mini goal: the finished task, and the session's end when this was it."""
    started = time.monotonic()
    try:
        kind = plan.task_type or "navigate"
        with attempt.working_on(kind, plan.plan or ""):
            task, end = await _TASKS[kind](attempt, plan)
    except AgentError as error:
        if attempt.asks_for_login:
            await renew_login(attempt, error)
        if not _can_plan_on(attempt, error):
            if attempt.uncertain:  # what the page may state is told though it gave no record
                failed_task = Task(
                    "extract", plan.plan or "", Status.FAILED, {"candidates": attempt.uncertain}, error.message
                )
                attempt.state.history = (*attempt.state.history, failed_task)
            raise
        task, end = Task("extract", plan.plan or "", Status.FAILED, reason=error.message), None
    if plan.task_type != "navigate" and attempt.asks_for_login:
        await renew_login(attempt, None)
    return replace(task, seconds=round(time.monotonic() - started, 4)), end


def _can_plan_on(attempt: Attempt, error: AgentError) -> bool:
    """Return whether data that a page lacks may be found elsewhere:
    a plan follows, unless the last one led here too.
    """
    if not isinstance(error, FieldsMissing) or error.retryable or attempt.work.spec.goal is None:
        return False
    lacking = [task for task in attempt.state.history if task.type == "extract" and task.status is Status.FAILED]
    again = bool(lacking) and attempt.state.history[-1] is lacking[-1]
    return not attempt.deps.policy.instant and not again and len(lacking) < _READINGS_IN_VAIN


async def _answer(attempt: Attempt, plan: Plan) -> tuple[Task, Outcome | None]:
    """The answer that the plan gives; what it rests on was looked up already."""
    result = attempt.state.hidden.text(plan.answer)
    ends = plan.ends_goal
    return Task("answer", plan.plan or "", Status.COMPLETED, result, ends_goal=ends, rests_on=plan.rests_on), None


async def _do_loop(attempt: Attempt, plan: Plan) -> tuple[Task, Outcome | None]:
    """Collects the loop's values and ends this run with a fan-out; the session goes on when the last is final."""
    state = attempt.state
    values, sample = loop_values(state, attempt.page, attempt.deps.policy, plan, attempt.deps.sitemaps), None
    if attempt.work.spec.sample is None:
        items, later = await gather(values, attempt.deps.journal)
    else:
        sample = await sampled(values, attempt.work.spec.sample)
        items, later = sample.items, 0
    if not items:
        why = "; ".join(filter(None, (state.doubt, left_out(state.left_out))))
        raise EmptyLoop(empty_loop_message(state.loop, attempt.page.url, why))
    state.items_only_read = plan.items_only_read
    result = loop_result(state, len(items) + later, sample)
    task = Task("loop", plan.plan or "", Status.WAITING, result=result, ends_goal=plan.ends_goal)
    state.history = (*state.history, task)
    on_error = state.loop.on_error if state.loop else "continue"
    learning = learns(attempt.work, attempt.deps.policy, items, len(items) + later, attempt.glossary)
    fan_out = FanOut(items, await attempt.snapshot(), on_error, later, learning)
    return task, ended(attempt, Status.WAITING, fan_out=fan_out)


_TASKS: Mapping[str, Callable[[Attempt, Plan], Awaitable[tuple[Task, Outcome | None]]]] = {
    "navigate": do_navigate,
    "extract": do_extract,
    "loop": _do_loop,
    "answer": _answer,
}
"""Functions for the types of a plan's task: each gives the finished task, and the session's end where this was it."""
