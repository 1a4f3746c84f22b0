"""The editor's changes to nodes: insert, delete, move, rename. On plain JSON, which may be faulty."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy

from shoal.agent.support.json_value import Json

Object = dict[str, Json]
KINDS = ("action", "wait", "guard", "extract", "branch")
"""Kinds of nodes that replay runs."""
_NEW: dict[str, Object] = {
    "action": {"action": "click", "target": {"locators": []}},
    "wait": {"until": [{"kind": "text"}]},
    "guard": {"holds": [{"kind": "text"}]},
    "branch": {"cases": []},
}
"""The first contents of a new node, by kind. Some of it is missing, and said to be, until a person gives it."""


def nodes_of(version: Object) -> list[Object]:
    """The nodes that have an id, in their order."""
    listed = version.get("nodes")
    nodes = listed if isinstance(listed, list) else []
    return [node for node in nodes if isinstance(node, dict) and isinstance(node.get("id"), str)]


def misshapen(version: Object) -> str:
    """The place of the first part that is no object or list where one has to be; "" for none."""
    for place, part, kind in _parts(version):
        if not isinstance(part, kind):
            return place
    return ""


def _parts(version: Object) -> Iterator[tuple[str, Json, type]]:
    """Parts of a version that forms go into, each with what it has to be."""
    for name in ("nodes", "params", "branches"):
        listed = version.get(name, [])
        yield name, listed, list
        for index, part in enumerate(listed):
            yield f"{name}[{index}]", part, dict
            if name != "params":
                yield f"{name}[{index}].id", part.get("id"), str
            if name == "nodes":
                yield from _parts_of_node(f"nodes[{index}]", part)


def _parts_of_node(place: str, node: Object) -> Iterator[tuple[str, Json, type]]:
    args, target = node.get("args", {}), node.get("target", {})
    yield f"{place}.kind", node.get("kind"), str
    yield f"{place}.args", args, dict
    yield from ((f"{place}.args.{name}", arg, dict) for name, arg in args.items())
    yield f"{place}.target", target, dict
    yield from _objects(f"{place}.target.locators", target.get("locators", []))
    yield from ((f"{place}.target.{name}", target.get(name, []), list) for name in ("frame", "shadow"))
    for name in ("pre", "post", "until", "holds"):
        yield from _objects(f"{place}.{name}", node.get(name, []))
    cases = node.get("cases", [])
    yield from _objects(f"{place}.cases", cases)
    for index, case in enumerate(cases):
        yield from _objects(f"{place}.cases[{index}].when", case.get("when", []))
    yield f"{place}.branches", node.get("branches", []), list


def _objects(place: str, listed: Json) -> Iterator[tuple[str, Json, type]]:
    yield place, listed, list
    yield from ((f"{place}[{index}]", part, dict) for index, part in enumerate(listed))


def node_named(version: Object, name: str) -> Object | None:
    """The node with this id."""
    return next((node for node in nodes_of(version) if node["id"] == name), None)


def inserted(version: Object, at: str, kind: str, *, before: bool) -> tuple[Object, str]:
    """The version with a new node before or after node `at`, and the id of the new one."""
    changed = deepcopy(version)
    nodes, name = nodes_of(changed), _free(changed, kind)
    new: Object = {"id": name, "kind": kind, **deepcopy(_NEW.get(kind, {}))}
    place = next((place for place, node in enumerate(nodes) if node["id"] == at), None)
    if place is None:
        changed["nodes"] = [*nodes, new]
    elif before:
        _lead_to(changed, at, name)
        new["next"] = at
        changed["nodes"] = [*nodes[:place], new, *nodes[place:]]
    else:
        _move_next(nodes[place], new)
        nodes[place]["next"] = name
        changed["nodes"] = [*nodes[: place + 1], new, *nodes[place + 1 :]]
    return changed, name


def deleted(version: Object, name: str) -> Object:
    """The version without a node; what led to it leads to the node behind it."""
    changed = deepcopy(version)
    gone = node_named(changed, name)
    if gone is None:
        return changed
    _lead_to(changed, name, gone.get("next") if gone.get("next") != name else None)
    changed["nodes"] = [node for node in nodes_of(changed) if node["id"] != name]
    return changed


def moved(version: Object, name: str, *, earlier: bool) -> Object:
    """The version with a node before the one that leads to it, or behind the one that it leads to."""
    node = node_named(version, name)
    other = _leading(version, name) if earlier else node_named(version, str(node.get("next"))) if node else None
    if node is None or other is None or other["id"] == name:
        return deepcopy(version)
    first, second = (str(other["id"]), name) if earlier else (name, str(other["id"]))
    return _swapped(deepcopy(version), first, second)


def renamed(version: Object, name: str, new: str) -> Object:
    """The version with another id for a node, wherever it is named."""
    changed = deepcopy(version)
    node = node_named(changed, name)
    if node is not None and new != name:
        _lead_to(changed, name, new)
        node["id"] = new
    return changed


def _swapped(version: Object, first: str, second: str) -> Object:
    """The version in which `second`, the node behind `first`, comes before it."""
    before, behind = node_named(version, first), node_named(version, second)
    assert before is not None and behind is not None
    _lead_to(version, first, second)
    _move_next(behind, before)
    behind["next"] = first
    nodes = [node for node in nodes_of(version) if node["id"] != second]
    place = next(place for place, node in enumerate(nodes) if node["id"] == first)
    version["nodes"] = [*nodes[:place], behind, *nodes[place:]]
    return version


def _leading(version: Object, name: str) -> Object | None:
    """The first node whose usual way leads to `name`."""
    return next((node for node in nodes_of(version) if node.get("next") == name), None)


def _move_next(source: Object, target: Object) -> None:
    target.pop("next", None)
    if source.get("next") is not None:
        target["next"] = source["next"]


def _lead_to(version: Object, name: str, new: Json) -> None:
    """Has everything that names a node name another one; None: the ways to it end."""
    for holder, key in _references(version):
        if holder.get(key) == name:
            if new is None and key in ("next", "start"):
                holder.pop(key)
            elif new is None and key == "otherwise":
                holder.pop(key)
                holder.pop("on_miss", None)
            else:
                holder[key] = new if new is not None else ""


def _references(version: Object) -> Iterator[tuple[Object, str]]:
    yield version, "start"
    for node in nodes_of(version):
        yield from ((node, key) for key in ("next", "otherwise", "body"))
        cases = node.get("cases")
        yield from ((case, "to") for case in (cases if isinstance(cases, list) else ()) if isinstance(case, dict))


def _free(version: Object, kind: str) -> str:
    """An id that no node has."""
    taken = {node["id"] for node in nodes_of(version)}
    names = (kind if number == 1 else f"{kind}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
