"""What code knows about plans: those that the job itself gives, and whether a model's plan can be carried out."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from agent.models.reply import ReplyProblem
from agent.plan import Plan
from agent.policies.policy import Scene
from agent.status import Status
from agent.types import TaskType


def spelled_out(scene: Scene) -> Plan | None:
    """The plan that the job itself gives; None where a goal in words leaves it to the model."""
    spec = scene.spec
    if scene.loop is not None and scene.children is None and spec.goal is None:
        return Plan(thoughts="the job is a loop", plan=_loop_words(scene), task_type="loop")
    if spec.goal is not None:
        return None
    if scene.loop is not None or _done(scene, "extract"):
        return Plan(thoughts="all that the job asks for is done", user_goal_achieved=True)
    if spec.extract is None:
        return Plan(thoughts="the page is open, and nothing more is asked for", user_goal_achieved=True)
    # A value in words has to be found first.
    return _reading(scene) if scene.item is None or scene.item.is_link else None


def _loop_words(scene: Scene) -> str:
    source = scene.loop.source if scene.loop else None
    return f"the same for each: {source.select}" if source else "the same for each of the given values"


def _reading(scene: Scene) -> Plan:
    extract = scene.spec.extract
    words = extract.goal if extract and extract.goal else "read the data that the job asks for"
    return Plan(
        thoughts="the data are read off this page",
        require_extraction=True,
        information_extracted=False,
        plan=words,
        task_type="extract",
    )


def _done(scene: Scene, kind: TaskType) -> bool:
    return any(task.type == kind and task.status is Status.COMPLETED for task in scene.history)


def task_types(scene: Scene) -> tuple[TaskType, ...]:
    """What this session may plan: a loop once, and only where it is not itself one value of the innermost loop."""
    may_loop = scene.children is None and (scene.loop is not None or scene.item is None)
    return ("navigate", "extract", "loop") if may_loop else ("navigate", "extract")


def sound(plan: Plan, url: str, scene: Scene) -> Plan:
    """`plan` where it is consistent and can be carried out.

    Raises:
        ReplyProblem: it contradicts itself.
    """
    if plan.should_terminate:
        if not plan.termination_reason:
            raise ReplyProblem("should_terminate needs a termination_reason that quotes the page")
        return plan
    if plan.user_goal_achieved:
        # The job's own wish outweighs the model's impression: without the records it is not done.
        reads_here = scene.spec.extract is not None and scene.loop is None
        return _reading(scene) if reads_here and not _done(scene, "extract") else plan
    if not plan.plan or plan.task_type is None:
        raise ReplyProblem("the goal is not reached: give the next mini goal in `plan` and its `task_type`")
    if plan.task_type != "loop":
        return replace(plan, loop_values=None, is_loop_value_link=False)
    return _sound_loop(plan, url, scene)


def _sound_loop(plan: Plan, url: str, scene: Scene) -> Plan:
    if scene.loop is not None:
        return replace(plan, loop_values=None)  # the job says over what: it is collected, not invented
    if plan.loop_values is None or not plan.is_loop_value_link:
        return plan
    return replace(plan, loop_values=tuple(_absolute(value, url) for value in plan.loop_values))


def _absolute(value: str, base: str) -> str:
    try:
        address = urljoin(base, value.strip())
        parts = urlsplit(address)
    except ValueError as err:
        raise ReplyProblem(f"the loop value {value[:80]!r} is no address: {err}") from err
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ReplyProblem(f"the loop value {value[:80]!r} is no http address, but is_loop_value_link is true")
    return address
