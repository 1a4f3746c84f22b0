"""Recordings of Chrome's DevTools Recorder: JSON with a title and steps, each with several ways to find its element."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from shoal.agent.errors import WorkflowInvalid
from shoal.agent.support.json_value import Json
from shoal.agent.support.web_addresses import host_of
from shoal.agent.workflows.exchange.exchanged import (
    Exported,
    Imported,
    check_length,
    imported,
    part_at,
    straight,
    untold,
)
from shoal.agent.workflows.format.checks import address_fault
from shoal.agent.workflows.format.condition import Condition
from shoal.agent.workflows.format.node import ActionNode, ExtractNode, Node, WaitNode
from shoal.agent.workflows.format.param import Arg
from shoal.agent.workflows.format.target import Family, Locator, Target
from shoal.agent.workflows.format.version import Version

_ON_ELEMENT = {"click": "click", "doubleClick": "dblclick", "hover": "hover", "change": "fill"}
_TYPES = {action: kind for kind, action in _ON_ELEMENT.items()}
_ARIA = re.compile(r'aria/(?P<name>.*?)(?:\[role="(?P<role>[\w-]+)"\])?$', re.DOTALL)
_STEPS = frozenset({*_ON_ELEMENT, "navigate", "keyDown", "waitForElement", "scroll"})


def read_recording(text: str, name: str) -> Imported:
    """The workflow of a recording.

    Raises:
        WorkflowInvalid: it is no recording; the message names the place.
    """
    try:
        recording = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _wrong(f"line {getattr(error, 'lineno', 1)}", "no JSON") from None
    steps = recording.get("steps") if isinstance(recording, dict) else None
    if not isinstance(steps, list):
        raise _wrong("steps", "a recording has a list of steps")
    check_length("steps", len(steps))
    nodes: list[Node] = []
    lost: list[str] = []
    site = ""
    for index, step in enumerate(steps):
        place = f"steps[{index}]"
        if not isinstance(step, dict) or not isinstance(step.get("type"), str):
            raise _wrong(place, "a step is an object with a type")
        lost += _lost(step, place)
        with part_at(place):
            node = _node(step, place, f"n{len(nodes) + 1}")
        if node is not None:
            nodes.append(node)
        if step["type"] == "navigate" and not site:
            site = host_of(str(step.get("url", "")))
    if not nodes:
        raise _wrong("steps", "no step is an action that can be replayed")
    return imported(name, site or "unknown", nodes, lost, recording=True)


def _wrong(place: str, what: str) -> WorkflowInvalid:
    return WorkflowInvalid(f"{place}: {what}", places=(place,))


def _lost(step: Mapping[str, Json], place: str) -> Iterator[str]:
    kind = step["type"]
    if kind == "keyUp":
        return  # the key of a `keyDown` goes up by itself
    if kind not in _STEPS:
        yield f"{place}: a step {kind} has no node"
    if step.get("frame"):
        yield f"{place}: its element is in a frame, and is left to the policy behind"
    if step.get("target", "main") != "main":
        yield f"{place}: it was done in the window {step['target']}, and is replayed in the one that is open"
    if kind == "waitForElement" and (step.get("count", 1) != 1 or step.get("operator", ">=") not in (">=", "==")):
        yield f"{place}: how many elements are waited for"
    if kind == "scroll" and step.get("selectors"):
        yield f"{place}: which element is scrolled; the page is"
    if kind in _ON_ELEMENT and step.get("button", "primary") != "primary":
        yield f"{place}: the button {step['button']}"


def _node(step: Mapping[str, Json], place: str, name: str) -> Node | None:
    match step["type"]:
        case "navigate":
            url = step.get("url")
            if not isinstance(url, str) or not url:
                raise _wrong(f"{place}.url", "is missing")
            if fault := address_fault(url):
                raise _wrong(f"{place}.url", fault)
            return ActionNode(id=name, action="goto", args={"url": Arg(const=url)})
        case "keyDown":
            return ActionNode(id=name, action="keyboard_press", args={"key_comb": Arg(const=str(step.get("key", "")))})
        case "scroll":
            args = {"dx": Arg(const=step.get("x", 0)), "dy": Arg(const=step.get("y", 0))}
            return ActionNode(id=name, action="scroll", args=args)
        case "waitForElement":
            target = _target(step, place)
            visible = step.get("visible", True) is not False
            until = Condition(kind="visible" if visible else "hidden", target=target)
            timeout = step.get("timeout") or 10_000
            if not isinstance(timeout, (int, float)):
                raise _wrong(f"{place}.timeout", "is no number")
            seconds = min(300_000, max(100, timeout)) / 1000
            return WaitNode(id=name, until=(until,), timeout_s=seconds)
        case kind if kind in _ON_ELEMENT:
            args = {"value": Arg(const=str(step.get("value", "")))} if kind == "change" else {}
            target = _target(step, place)
            post = tuple(_asserted(step, place))
            return ActionNode(id=name, action=_ON_ELEMENT[kind], args=args, target=target, post=post)
    return None


def _asserted(step: Mapping[str, Json], place: str) -> Iterator[Condition]:
    for event in _listed(step, "assertedEvents", place):
        if isinstance(event, dict) and event.get("type") == "navigation" and event.get("url"):
            yield Condition(kind="url", value=str(event["url"]))


def _listed(step: Mapping[str, Json], name: str, place: str) -> list[Json]:
    listed = step.get(name) or []
    if not isinstance(listed, list):
        raise _wrong(f"{place}.{name}", "is no list")
    return listed


def _target(step: Mapping[str, Json], place: str) -> Target:
    alternatives = step.get("selectors")
    if not isinstance(alternatives, list) or not alternatives:
        raise _wrong(f"{place}.selectors", "a step on an element has selectors")
    locators: dict[tuple[str, str], Locator] = {}
    shadow: tuple[str, ...] = ()
    for alternative in alternatives:
        path = [alternative] if isinstance(alternative, str) else alternative
        if not isinstance(path, list) or not path or not all(isinstance(selector, str) for selector in path):
            raise _wrong(f"{place}.selectors", "holds something else than texts")
        if len(path) > 1:
            shadow = tuple(host.removeprefix("css/") for host in path[:-1])
        locator = _locator(path[-1], step["type"])
        locators.setdefault((locator.family, locator.value), locator)
    name = next((known.value for known in locators.values() if known.family in ("role_name", "label", "text")), "")
    frame = tuple(map(str, _listed(step, "frame", place)))
    return Target(name=name, locators=tuple(locators.values()), shadow=shadow, frame=frame)


def _locator(selector: str, kind: str) -> Locator:
    if match := _ARIA.match(selector):
        if match.group("role"):
            return Locator(family="role_name", value=match.group("name"), role=match.group("role"))
        return Locator(family="label" if kind == "change" else "text", value=match.group("name"))
    families: tuple[tuple[str, Family], ...] = (
        ("xpath/", "xpath"),
        ("text/", "text"),
        ("pierce/", "css"),
        ("css/", "css"),
    )
    for prefix, family in families:
        if selector.startswith(prefix):
            return Locator(family=family, value=selector.removeprefix(prefix))
    return Locator(family="css", value=selector)


def write_recording(version: Version, title: str) -> Exported:
    """A version as a recording."""
    line, lost = straight(version)
    steps: list[dict[str, Json]] = []
    for node in line:
        lost += [part for part in untold(node) if not isinstance(node, WaitNode)]
        match node:
            case ActionNode():
                step = _step(node, lost)
                if step is not None:
                    steps.append(step)
            case WaitNode():
                steps += _waits(node, lost)
            case ExtractNode():
                lost.append(f"{node.id}: what is read from the page")
    return Exported(
        json.dumps({"title": title, "steps": steps}, indent=2, ensure_ascii=False), tuple(dict.fromkeys(lost))
    )


def _step(node: ActionNode, lost: list[str]) -> dict[str, Json] | None:
    recorded = {name: _recorded_value(node, name, arg, lost) for name, arg in node.args.items()}
    step: dict[str, Json]
    if node.action == "goto":
        step = {"type": "navigate", "url": recorded["url"]}
    elif node.action == "keyboard_press":
        step = {"type": "keyDown", "key": recorded["key_comb"]}
    elif node.action == "scroll":
        step = {"type": "scroll", "x": recorded["dx"], "y": recorded["dy"]}
    elif node.action in _TYPES and node.target is not None:
        step = {"type": _TYPES[node.action], "target": "main", "selectors": _selectors(node.target)}
        step |= {"value": recorded["value"]} if node.action == "fill" else {"offsetX": 1, "offsetY": 1}
    elif node.action == "select_option" and node.target is not None:
        step = {"type": "change", "target": "main", "selectors": _selectors(node.target), "value": recorded["options"]}
        lost.append(f"{node.id}: an option is chosen by its label, and a recording knows values only")
    else:
        lost.append(f"{node.id}: the action {node.action}")
        return None
    urls = [condition.value for condition in node.post if condition.kind == "url"]
    lost += [
        f"{node.id}: the condition after it ({condition.kind})" for condition in node.post if condition.kind != "url"
    ]
    if urls:
        step["assertedEvents"] = [{"type": "navigation", "url": url} for url in urls if "{}" not in url]
        lost += [f"{node.id}: the template of the address {url}" for url in urls if "{}" in url]
    return step


def _recorded_value(node: ActionNode, name: str, arg: Arg, lost: list[str]) -> Json:
    if arg.param is not None:
        lost.append(f"{node.id}: the parameter {arg.param}; it stands as {{{arg.param}}}")
        return f"{{{arg.param}}}"
    if arg.template is not None:
        lost.append(f"{node.id}: the template of {name}; it stands as written")
        return arg.template
    return arg.const


def _waits(node: WaitNode, lost: list[str]) -> Iterator[dict[str, Json]]:
    for condition in node.until:
        if condition.target is None or condition.kind == "value":
            lost.append(f"{node.id}: waiting for {condition.kind}")
            continue
        yield {
            "type": "waitForElement",
            "selectors": _selectors(condition.target),
            "visible": condition.kind == "visible",
            "timeout": round(node.timeout_s * 1000),
        }


def _selectors(target: Target) -> Sequence[list[str]]:
    return [[_spelled(locator)] for locator in target.locators]


def _spelled(locator: Locator) -> str:
    match locator.family:
        case "role_name":
            return f'aria/{locator.value}[role="{locator.role}"]' if locator.role else f"aria/{locator.value}"
        case "label":
            return f"aria/{locator.value}"
        case "text":
            return f"text/{locator.value}"
        case "xpath":
            return f"xpath/{locator.value}"
        case "placeholder":
            return f"[placeholder={json.dumps(locator.value)}]"
        case "test_id":
            return f"[data-testid={json.dumps(locator.value)}]"
    return locator.value
