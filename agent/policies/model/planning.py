"""Plans that the job itself gives, and the check that a model's plan can be carried out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from shoal.agent.models.decisions.plan import Plan
from shoal.agent.models.reply import ReplyDoubt, ReplyProblem
from shoal.agent.policies.model.checks.addresses import AllowedTargets
from shoal.agent.policies.model.checks.data_used import data_used
from shoal.agent.policies.model.checks.evidence import AllowedValues, quotes
from shoal.agent.policies.policy import SessionState
from shoal.agent.read.grounding.page_text import PageText
from shoal.agent.status import Status
from shoal.agent.types import TaskType

MAX_PLANNED_DEPTH = 3
"""Depth of loops that no job spelled out: a model that fans out at every level would multiply without end."""


_SAID_CHARS = 300
_VALUES_TOLD, _VALUE_CHARS = 3, 60
"""Of the values of a loop that the job gives."""


def spelled_out(state: SessionState) -> Plan | None:
    """The plan that the job itself gives; None where a goal in words leaves it to the model."""
    spec = state.spec
    if state.loop is not None and state.children is None and spec.goal is None:
        return Plan(thoughts="the job is a loop", plan=loop_words(state), task_type="loop")
    if spec.goal is not None:
        return _reading(state) if state.only_reads else _ended(state)
    if state.loop is None and _falls_short(state):
        return None  # how to reach the rest of the list is for the model to see
    if state.loop is not None or _done(state, "extract"):
        return Plan(thoughts="all that the job asks for is done", user_goal_achieved=True)
    if spec.extract is None:
        return Plan(thoughts="the page is open, and nothing more is asked for", user_goal_achieved=True)
    # A value in words has to be found first.
    return _reading(state) if state.item is None or state.item.is_link else None


def _ended(state: SessionState) -> Plan | None:
    """Return what follows the last mini goal where that was all that was left:
    the end, or the reading that the job asks for.

    None where it was not, or where an answer is still owed.
    """
    last = state.history[-1] if state.history else None
    if last is None or not last.ends_goal or last.status is not Status.COMPLETED:
        return None
    if _reads_here(state) and not _done(state, "extract"):
        return _reading(state)
    if state.asks and not state.answered:
        return None
    if state.children is None and not data_used(state):
        return None  # what was expected came, but nothing of what the job gives was entered: the page is to show it
    return Plan(thoughts=last.reason or "the last mini goal was all that was left", user_goal_achieved=True)


def _reads_here(state: SessionState) -> bool:
    return state.spec.extract is not None and state.loop is None and state.children is None


def loop_words(state: SessionState) -> str:
    """Return what the job's loop goes over."""
    source, values = (state.loop.source, state.loop.values) if state.loop else (None, None)
    if source:
        return f"the same for each: {source.select}"
    if state.loop and state.loop.sitemap:
        return f"the same for each page of the sitemap {state.loop.sitemap.url}"
    some = ", ".join(value[:_VALUE_CHARS] for value in (values or ())[:_VALUES_TOLD])
    more = ", …" if len(values or ()) > _VALUES_TOLD else ""
    return f"the same for each of the {len(values or ())} values that the job gives: {some}{more}"


def _reading(state: SessionState) -> Plan:
    extract = state.spec.extract
    words = extract.goal if extract and extract.goal else "read the data that the job asks for"
    return Plan(
        thoughts="the data are read off this page",
        require_extraction=True,
        plan=words,
        task_type="extract",
        ends_goal=True,
    )


def _done(state: SessionState, kind: TaskType) -> bool:
    return any(task.type == kind and task.status is Status.COMPLETED for task in state.history)


def _falls_short(state: SessionState) -> bool:
    """Return whether the last page that was read said that it has more records than all readings gave."""
    extract = state.spec.extract
    last = next((task for task in reversed(state.history) if task.type == "extract"), None)
    shown = last.result.get("shown") if last is not None and isinstance(last.result, dict) else None
    return extract is not None and extract.many and shown is not None and len(state.records) < shown


def task_types(state: SessionState) -> tuple[TaskType, ...]:
    """Return what this session may plan: a loop once;
    inside of a loop where the job says so, or says nothing of loops.
    """
    planned = state.spec.loop is None and state.depth < MAX_PLANNED_DEPTH
    may_loop = state.children is None and (state.loop is not None or planned)
    loop: tuple[TaskType, ...] = ("loop",) if may_loop else ()
    return ("navigate", "extract", *loop, "answer")


def sound(plan: Plan, url: str, state: SessionState, *, page: PageText, given: AllowedTargets) -> Plan:
    """`plan` where it is consistent and can be carried out.

    Args:
        url: of the page that it was made on.
        page: what that page says; a termination must quote it.
        given: addresses that a loop may open.

    Raises:
        ReplyProblem: it contradicts itself, gives up without evidence, or names an address that neither the job nor a
        page gave.
    """
    if plan.should_terminate:
        if not quotes(plan.termination_reason or "", page):
            raise ReplyProblem("should_terminate needs a termination_reason with a quotation of what the page says")
        return plan
    if plan.user_goal_achieved:
        # The job's own wish outweighs the model's impression: without the records it is not done.
        if _reads_here(state) and not _done(state, "extract"):
            return _reading(state)
        if state.asks and not state.answered:
            raise ReplyProblem("the job's goal asks for an answer, and none was given: plan an answer")
        if plan.require_extraction and state.children is None:
            raise ReplyDoubt(
                "the job's goal is reached, but what it wants is not extracted: which of the two holds?", plan
            )
        return plan
    if not plan.plan or plan.task_type is None:
        raise ReplyProblem("the job's goal is not reached: give the next mini goal in `plan` and its `task_type`")
    if plan.task_type == "answer" and not plan.answer:
        raise ReplyProblem("the task type is answer: give `answer`, with what it rests on")
    if plan.task_type != "loop":
        return replace(plan, loop_values=None, is_loop_value_link=False)
    return _sound_loop(plan, url, state, given)


def check_loop_values(plan: Plan, known: Callable[[], AllowedValues]) -> None:
    """Check that the values that a plan loops over were given by somebody.

    Each becomes a session that takes its value for granted. Addresses are held to more (`sound`).

    Raises:
        ReplyDoubt: neither the job nor what was seen so far has some of them; such that follow from them are given
            again.
    """
    if plan.task_type != "loop" or plan.loop_values is None or plan.is_loop_value_link:
        return
    given = known()
    made_up = [value for value in plan.loop_values if not given.gives(value)]
    if made_up:
        raise ReplyDoubt(
            "neither the job's goal, its data nor a page give these loop_values: take them from there, or leave "
            "loop_values null and say in the plan what on the page is meant; only what follows from the job's goal "
            "may be given again",
            plan,
            "; ".join(made_up)[:_SAID_CHARS],
        )


def _sound_loop(plan: Plan, url: str, state: SessionState, given: AllowedTargets) -> Plan:
    if state.loop is not None:
        return replace(plan, loop_values=None)  # the job says over what: it is collected, not invented
    values = plan.loop_values
    if values is None:
        return plan
    if plan.is_loop_value_link:
        values = tuple(dict.fromkeys(_absolute(value, url) for value in values))
        for value in values:
            given.check_address(value, url)
    if state.item is not None and state.item.value in values:
        raise ReplyProblem("this session is for one value already: a loop over that same value never ends")
    return replace(plan, loop_values=values)


def _absolute(value: str, base: str) -> str:
    try:
        address = urljoin(base, value.strip())
        parts = urlsplit(address)
    except ValueError as err:
        raise ReplyProblem("a loop value is no address", f"{value[:80]!r}: {err}") from err
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ReplyProblem("a loop value is no http address, but is_loop_value_link is true", repr(value[:80]))
    return address
