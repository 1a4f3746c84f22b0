"""The next plan, from the job and the history alone."""

from __future__ import annotations

import re

from shoal.agent.errors import GoalNeedsModel
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.policies.policy import SessionState
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json, merged
from shoal.agent.types import LoopItem, Task, TaskType

OPEN = "open what the page calls"
SEND = "fill in and send the form"
EXTRACT = "read the record that the schema describes"
LOOP = "do the same for each item"


def next_plan(state: SessionState) -> Plan:
    """The next mini goal of a session, or the end.

    Raises:
        GoalNeedsModel: the goal is said in words only.
    """
    spec = state.spec
    if (fault := spec.beyond_rules) is not None:
        raise GoalNeedsModel(fault[1])
    opening = to_open(state.item)
    if opening and not _done(state, "navigate", f"{OPEN} {opening}"):
        return _plan("navigate", f"{OPEN} {opening}", "the item is words: the page has to name it")
    if state.loop is not None:
        if state.children is None and not _done(state, "loop"):
            return _loop_plan(state)
        return _achieved("the loop is done")
    if details_of(state) and not _done(state, "navigate", SEND):
        return _plan("navigate", SEND, "the details are given and the form is not sent yet")
    if spec.extract is not None and not _done(state, "extract"):
        return _plan("extract", EXTRACT, "the page that holds the record is open", require_extraction=True)
    return _achieved("every step of the job was taken")


def details_of(state: SessionState) -> dict[str, Json]:
    """The details to fill in: the job's, and over them those of an item that is a row of data itself."""
    return merged(state.spec.data, state.item.row if state.item is not None else None)


def to_open(item: LoopItem | None) -> str:
    """Return what the page calls the item that has to be opened; "" when there is nothing to open."""
    if item is None or item.is_link or isinstance(item.row, dict):
        return ""
    return item.value


def _done(state: SessionState, kind: TaskType, plan: str | None = None) -> bool:
    return any(_is_done(task, kind, plan) for task in state.history)


def _is_done(task: Task, kind: TaskType, plan: str | None) -> bool:
    return task.type == kind and task.status is Status.COMPLETED and plan in (None, task.plan)


def _loop_plan(state: SessionState) -> Plan:
    assert state.loop is not None
    values = state.loop.values
    if values is None:
        return _plan("loop", LOOP, "the items are collected from the page")
    limited = values[: state.loop.max_items]
    link = state.loop.is_link
    if link is None:
        links = [is_address(value) for value in limited]
        if any(links) and not all(links):  # a plan has one answer for all of its values; a collection one for each
            return _plan("loop", LOOP, "the items are given")
        link = all(links)
    return Plan(
        thoughts="the items are given",
        plan=LOOP,
        task_type="loop",
        loop_values=limited,
        is_loop_value_link=link,
    )


def is_address(value: str) -> bool:
    """Return whether a loop's value is a link where the job does not say."""
    return re.match(r"https?://\S+$", value, re.IGNORECASE) is not None


def _plan(kind: TaskType, goal: str, why: str, *, require_extraction: bool = False) -> Plan:
    return Plan(
        thoughts=why,
        plan=goal,
        task_type=kind,
        require_extraction=require_extraction,
    )


def _achieved(why: str) -> Plan:
    return Plan(thoughts=why, user_goal_achieved=True)
