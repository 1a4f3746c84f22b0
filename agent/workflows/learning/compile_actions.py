"""Compiling actions: runs that did the same with different values become nodes with targets and parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from shoal.agent.support.json_value import Json
from shoal.agent.workflows.elements.finding import is_enough
from shoal.agent.workflows.format.condition import Condition
from shoal.agent.workflows.format.node import ActionNode, BranchNode, Case, NodeEvidence
from shoal.agent.workflows.format.param import Arg, Param, Source
from shoal.agent.workflows.format.target import FAMILIES, Locator, Target
from shoal.agent.workflows.format.version import Decision
from shoal.agent.workflows.learning.compile_fields import url_template
from shoal.agent.workflows.learning.evidence import ActionEvidence, SessionEvidence
from shoal.agent.workflows.learning.one_run import undecided
from shoal.agent.workflows.learning.optional_step import OptionalStep, optional_step

_PARAMS: dict[str, Source] = {"loop": "loop", "data": "data", "secret": "secret", "earlier": "earlier"}
_NAME = re.compile(r"[A-Za-z_][\w]*")
_COORDINATES = frozenset({"x", "y"})


@dataclass(slots=True)
class CompiledActions:
    """The nodes and parameters that were compiled from runs."""

    nodes: list[ActionNode | BranchNode] = field(default_factory=list)
    params: dict[str, Param] = field(default_factory=dict)  # by name
    open: list[Decision] = field(default_factory=list)  # what stayed a decision of the model, and why


def compile_actions(runs: Sequence[SessionEvidence], *, least: int = 2, by_origin: bool = False) -> CompiledActions:
    """The nodes that all `runs` have in common, and one that only some did where its element was in these only.

    With anything open they cannot be replayed.

    Args:
        least: runs that have to be known; 1 where the run itself says which of its values differ from run to run.
        by_origin: the one run that there is says it by where its values came from (see `one_run`).
    """
    made = CompiledActions()
    if len(runs) < (1 if by_origin else least):
        made.open.append(Decision(what="the steps", why=f"{len(runs)} run is known: what differs between runs is not"))
        return made
    optional = None
    shapes = {tuple(action.action for action in run.actions) for run in runs}
    if len(shapes) > 1:
        optional = optional_step(runs)
        if optional is None:
            sequences = " / ".join(", ".join(shape) or "nothing" for shape in sorted(shapes, key=len)[:3])
            made.open.append(Decision(what="the steps", why=f"the runs did different things: {sequences}"))
            return made
        runs = [optional.rest(run) for run in runs]
    for index, several in enumerate(zip(*(run.actions for run in runs), strict=True)):
        if optional is not None and index == optional.at:
            _optional_node(optional, f"n{index + 1}", made)
        if by_origin and (why := undecided(several[0], runs[0])):
            made.open.append(Decision(what=f"step {index + 1} ({several[0].action})", why=why))
            continue
        _node(f"n{index + 1}", several, runs, made)
    _unused(runs, made)
    for index, (node, following) in enumerate(zip(made.nodes, made.nodes[1:], strict=False)):
        if isinstance(node, ActionNode):
            made.nodes[index] = node.model_copy(update={"next": following.id})
    return made


def _optional_node(step: OptionalStep, following: str, made: CompiledActions) -> None:
    """A branch that leads to the step where its element can be seen, and the step; `following` is behind them."""
    before = len(made.nodes)
    _node(f"{following}-if", [run.actions[step.at] for run in step.having], step.having, made)
    if len(made.nodes) == before:  # it says itself why it is none
        return
    node = made.nodes.pop()
    assert isinstance(node, ActionNode) and node.target is not None
    seen, gone = (Condition(kind=kind, target=node.target) for kind in ("visible", "hidden"))
    case = Case(when=(seen,), to=node.id)
    says = f"is {node.target.name or 'its element'} there?"
    made.nodes.append(BranchNode(id=f"{following}-is", cases=(case,), next=following, says=says))
    made.nodes.append(node.model_copy(update={"post": (gone,)}))


def _node(name: str, several: Sequence[ActionEvidence], runs: Sequence[SessionEvidence], made: CompiledActions) -> None:
    first = several[0]
    what = f"step {name[1:].removesuffix('-if')} ({first.action})"
    if _COORDINATES & first.args.keys():
        made.open.append(Decision(what=what, why="it goes by coordinates, and those hold for one window only"))
        return
    submits = any(action.submits for action in several)
    target = None
    if any(action.target is not None or action.lost for action in several):
        merged = _target(several)
        if isinstance(merged, str):
            made.open.append(Decision(what=what, why=merged))
            return
        target = merged
    args: dict[str, Arg] = {}
    for arg in first.args:
        value = _arg(arg, several, target, made)
        if isinstance(value, str):
            made.open.append(Decision(what=f"{what}, {arg}", why=value))
            return
        args[arg] = value
    post = _post(several, runs, args, target)
    if submits and not post:
        made.open.append(
            Decision(what=what, why="it sends something, and nothing on the pages after it says that it was taken")
        )
        return
    if target is not None and not is_enough(target.locators, once=submits, posted=bool(post)):
        families = " and ".join(sorted(target.families))
        made.open.append(Decision(what=what, why=f"only {families} finds its element in all runs"))
        return
    evidence = tuple(NodeEvidence(step=action.step, screenshot=action.screenshot, box=action.box) for action in several)
    made.nodes.append(
        ActionNode(
            id=name,
            action=first.action,
            args=args,
            target=target,
            submits=submits,
            once=submits,
            post=post,
            says=f"{first.action} {target.name}".strip() if target else first.action,
            evidence=evidence,
        )
    )


def _unused(runs: Sequence[SessionEvidence], made: CompiledActions) -> None:
    """Notes the values that no step used and that were the same in all runs.

    A field that holds the right value already gets no action. With another value it would, and that step was not seen.
    """
    used = {f"{param.source} {param.path}" for param in made.params.values()}
    for key, known in runs[0].leaves.items():
        if key in used or any(run.leaves.get(key) != known for run in runs):
            continue
        source, _, path = key.partition(" ")
        name = _free_name(path, None, made)
        made.params[name] = Param.model_validate({"name": name, "source": source, "path": path, "known": (known,)})


def _target(several: Sequence[ActionEvidence]) -> Target | str:
    """The element by what found it, and nothing else, in all runs; or why there is none."""
    lost = next((action.lost for action in several if action.target is None), None)
    if lost is not None:
        return lost or "nothing is known of its element"
    targets = [action.target for action in several if action.target is not None]
    if len({(target.frame, target.origin, target.shadow) for target in targets}) > 1:
        return "the frame or the shadow root of its element is not the same in all runs"
    kept: list[Locator] = []
    for locator in targets[0].locators:
        key = (locator.family, locator.value, locator.role)
        same = [next((o for o in t.locators if (o.family, o.value, o.role) == key), None) for t in targets]
        if all(other is not None and other.unique_on for other in same):
            kept.append(locator.model_copy(update={"unique_on": len(targets)}))
    if not kept:
        return "no way to find its element is the same in all runs"
    kept.sort(key=lambda way: FAMILIES.index(way.family))
    names = {target.name for target in targets}
    return targets[0].model_copy(
        update={
            "locators": tuple(kept),
            "name": targets[0].name if len(names) == 1 else "",
            "fingerprint": tuple(
                trait for trait in targets[0].fingerprint if all(trait in t.fingerprint for t in targets)
            ),
        }
    )


def _arg(name: str, several: Sequence[ActionEvidence], target: Target | None, made: CompiledActions) -> Arg | str:
    """One argument: a parameter where all runs took it from the same place, else a constant; or why it is neither."""
    origins = [action.origins.get(name) for action in several]
    values = [action.args.get(name) for action in several]
    known = {(origin.kind, origin.path, origin.transform) for origin in origins if origin is not None}
    if len(known) == 1 and all(origins):
        kind, path, transform = next(iter(known))
        source = _PARAMS.get(kind)
        if source is not None:
            sensitive = source == "secret"
            param = Param(
                name=_free_name(path, target, made),
                source=source,
                path=path,
                transform=transform,
                type=_type(values[0]),
                description=target.name if target is not None else "",
                sensitive=sensitive,
            )
            same = next((made_param for made_param in made.params.values() if _is_same(made_param, param)), None)
            made.params.setdefault((same or param).name, param)
            return Arg(param=(same or param).name)
    if all(value == values[0] for value in values):
        return Arg(const=values[0])
    kinds = " and ".join(sorted({origin.kind if origin else "nowhere" for origin in origins}))
    return f"its values differ between the runs, and came from {kinds}"


def _is_same(param: Param, other: Param) -> bool:
    """Return whether both are the same value; what people call it may differ from field to field."""
    return param.model_copy(update={"name": other.name, "description": other.description}) == other


def _type(value: Json) -> Literal["string", "number", "integer", "boolean"]:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    return "number" if isinstance(value, float) else "string"


def _free_name(path: str, target: Target | None, made: CompiledActions) -> str:
    """A name that says what the parameter is, and that none has yet."""
    words: list[str] = _NAME.findall(path) or _NAME.findall((target.name if target else "").lower()) or ["value"]
    name, number = words[-1], 2
    while name in made.params:
        name, number = f"{words[-1]}_{number}", number + 1
    return name


def _post(
    several: Sequence[ActionEvidence], runs: Sequence[SessionEvidence], args: dict[str, Arg], target: Target | None
) -> tuple[Condition, ...]:
    """Return what was so after the action in all runs, and tells that it worked."""
    conditions: list[Condition] = []
    led = [action.led_to for action in several]
    if all(led):
        template = url_template(led)
        if template and template not in {action.url for action in several}:
            conditions.append(Condition(kind="url", value=template))
    typed = args.get("value")
    # A site's own formatting is no condition.
    kept = all(action.value and action.value == str(action.args.get("value")) for action in several)
    if kept and target is not None and typed is not None and typed.param is not None:
        conditions.append(Condition(kind="value", value=f"{{{typed.param}}}", target=target))
    if not conditions:
        conditions += [Condition(kind="text", value=text) for text in _in_all([action.said for action in several])]
    if all(action is run.actions[-1] for action, run in zip(several, runs, strict=True)):
        closing = [Condition(kind="text", value=text) for text in _in_all([run.said for run in runs])]
        conditions += [condition for condition in closing if condition not in conditions]
    return tuple(conditions)


def _in_all(messages_by_run: Sequence[Sequence[str]]) -> list[str]:
    """Of the headings and messages of a page those that are the same in all runs, the first of them."""
    common = [text for text in messages_by_run[0] if all(text in other for other in messages_by_run)]
    return common[:1]
