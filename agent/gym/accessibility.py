"""An observation's elements in the forms that readers of BrowserGym's observations take.

`axtree` is in the form of Chromium's accessibility tree, and `properties` says of each element where it is and what can
be done with it. Both hold what the observation holds: what can be seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from shoal.agent.observe.rebuild import rebuilt
from shoal.agent.observe.tree import walk_elements
from shoal.agent.types import Element, Observation

_ROLES = {"document": "RootWebArea", "img": "image", "frame": "Iframe", "": "generic"}
_FLAGS = ("disabled", "required", "focused", "selected", "readonly", "modal", "multiselectable")
STANDARD = frozenset(
    """
    a abbr address area article aside audio b base blockquote body br button canvas caption cite code col colgroup
    data datalist dd del details dfn dialog div dl dt em embed fieldset figcaption figure footer form h1 h2 h3 h4
    h5 h6 head header hr html i iframe img input ins kbd label legend li link main map mark menu meta meter nav
    noscript object ol optgroup option output p picture pre progress q rp rt ruby s samp script search section
    select slot small source span strong style sub summary sup svg table tbody td template textarea tfoot th thead
    time title tr track u ul var video wbr
    """.split()  # noqa: SIM905
)


def standard_only(root: Element) -> Element:
    """The tree in which only elements with a tag of the HTML standard have ids."""
    return rebuilt(
        root,
        lambda element, children: replace(
            element, bid=element.bid if element.tag in STANDARD else "", children=children
        ),
    )


def axtree(root: Element) -> dict[str, Any]:
    """The elements as nodes of an accessibility tree, the page first; `browsergym_id` holds the id for actions."""
    nodes: list[dict[str, Any]] = []
    _ax_node(replace(root, role="document"), nodes)
    return {"nodes": nodes}


def _ax_node(element: Element, nodes: list[dict[str, Any]]) -> str:
    node: dict[str, Any] = {"nodeId": str(len(nodes) + 1), "ignored": False}
    nodes.append(node)
    text = element.tag == "#text"
    node["role"] = {"type": "role", "value": "StaticText" if text else _ROLES.get(element.role, element.role)}
    node["name"] = {"type": "computedString", "value": element.text if text else element.name}
    node["properties"] = [] if text else list(_ax_properties(element))
    if element.bid:
        node["browsergym_id"] = element.bid
    if (value := element.attributes.get("value")) is not None:
        node["value"] = {"type": "string", "value": value}
    texts = [Element("", "#text", text=element.text)] if element.text and not text else []
    options = [
        Element("", "option", role="option", name=label, states=frozenset({"selected"} if on else ()))
        for label, _, on in element.options
    ]
    node["childIds"] = [_ax_node(child, nodes) for child in (*texts, *options, *element.children)]
    return str(node["nodeId"])


def _ax_properties(element: Element) -> Iterator[dict[str, Any]]:
    states = element.states
    for name in _FLAGS:
        if name in states:
            yield {"name": name, "value": {"type": "boolean", "value": True}}
    if element.role in ("checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio") or "checked" in states:
        value = "mixed" if "mixed" in states else "true" if "checked" in states else "false"
        yield {"name": "checked", "value": {"type": "tristate", "value": value}}
    if "pressed" in states:
        yield {"name": "pressed", "value": {"type": "tristate", "value": "true"}}
    if "expanded" in states or "collapsed" in states:
        yield {"name": "expanded", "value": {"type": "booleanOrUndefined", "value": "expanded" in states}}
    if "invalid" in states:
        yield {"name": "invalid", "value": {"type": "token", "value": "true"}}


def properties(seen: Observation, root: Element, scale: float = 1.0) -> dict[str, dict[str, Any]]:
    """By id: how much of the element is in the window (0 to 1), its box, whether it takes clicks and is marked.

    Boxes are in pixels of the picture, of which `scale` make one of the page's.
    """
    return {
        element.bid: {
            "visibility": _visibility(element, seen.viewport),
            "bbox": [scale * side for side in (element.box.x, element.box.y, element.box.width, element.box.height)]
            if element.box is not None
            else None,
            "clickable": element.clickable,
            "set_of_marks": element.marked,
        }
        for element in walk_elements(root)
        if element.bid
    }


def no_properties() -> dict[str, Any]:
    """The properties of an element that cannot be seen."""
    return {"visibility": 0.0, "bbox": None, "clickable": False, "set_of_marks": False}


def _visibility(element: Element, viewport: tuple[int, int]) -> float:
    box = element.box
    if not element.in_viewport or not element.visible:
        return 0.0
    if box is None or not box.width or not box.height:
        return 1.0
    wide = min(box.x + box.width, viewport[0]) - max(box.x, 0)
    high = min(box.y + box.height, viewport[1]) - max(box.y, 0)
    return round(max(0.0, wide) * max(0.0, high) / (box.width * box.height), 3)
