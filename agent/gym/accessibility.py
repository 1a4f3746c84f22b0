"""An observation's elements in the forms that readers of BrowserGym's observations take: three dictionaries.

`axtree` is in the form of Chromium's accessibility tree, `dom` in that of its DOM snapshots, and `properties` says of
each element where it is and what can be done with it. All hold what the observation holds: what can be seen.
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
_BUTTONS = ("button", "submit", "reset")
_WITHOUT_VALUE = ("checkbox", "radio", "image", "file", "password")
_DOCUMENT, _ELEMENT, _TEXT = 9, 1, 3
_COLUMNS = ("parentIndex", "nodeType", "nodeName", "nodeValue", "backendNodeId", "attributes")
_STANDARD = frozenset(
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
            element, bid=element.bid if element.tag in _STANDARD else "", children=children
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


class _Snapshot:
    """A DOM snapshot in the making: one document per frame, strings by number."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self.documents: list[dict[str, Any]] = []
        self._numbers: dict[str, int] = {}

    def string(self, text: str) -> int:
        number = self._numbers.setdefault(text, len(self.strings))
        if number == len(self.strings):
            self.strings.append(text)
        return number

    def document(self, children: tuple[Element, ...]) -> int:
        """Adds a document whose body holds `children`; its number."""
        nodes: dict[str, Any] = {
            **{
                name: [] for name in ("parentIndex", "nodeType", "nodeName", "nodeValue", "backendNodeId", "attributes")
            },
            "contentDocumentIndex": {"index": [], "value": []},
        }
        number = len(self.documents)
        self.documents.append({"nodes": nodes})
        root = self._add(nodes, -1, _DOCUMENT, "#document", "", {})
        html = self._add(nodes, root, _ELEMENT, "HTML", "", {})
        body = self._add(nodes, html, _ELEMENT, "BODY", "", {})
        for child in children:
            self._element(nodes, body, child)
        return number

    def _element(self, nodes: dict[str, Any], parent: int, element: Element) -> None:
        if element.tag == "#text":
            self._add(nodes, parent, _TEXT, "#text", element.text, {})
            return
        given = {"bid": element.bid, **element.attributes, **{state: "" for state in sorted(element.states)}}
        if element.tag == "input":
            given |= _input_value(element)
        if element.name and element.name not in (element.text, given.get("value")):
            given.setdefault("aria-label", element.name)
        shown = {name: value for name, value in given.items() if value or name in (*element.states, "value")}
        own = self._add(nodes, parent, _ELEMENT, element.tag.upper(), "", shown)
        if element.role == "frame":
            nodes["contentDocumentIndex"]["index"].append(own)
            nodes["contentDocumentIndex"]["value"].append(self.document(element.children))
            return
        if element.text:
            self._add(nodes, own, _TEXT, "#text", element.text, {})
        for label, value, on in element.options:
            option = self._add(nodes, own, _ELEMENT, "OPTION", "", {"value": value, **({"selected": ""} if on else {})})
            self._add(nodes, option, _TEXT, "#text", label, {})
        for child in element.children:
            self._element(nodes, own, child)

    def _add(
        self, nodes: dict[str, Any], parent: int, kind: int, name: str, value: str, attributes: dict[str, str]
    ) -> int:
        number = len(nodes["nodeName"])
        nodes["parentIndex"].append(parent)
        nodes["nodeType"].append(kind)
        nodes["nodeName"].append(self.string(name))
        nodes["nodeValue"].append(self.string(value) if kind == _TEXT else -1)
        nodes["backendNodeId"].append(number + 1)
        nodes["attributes"].append([self.string(part) for pair in attributes.items() for part in pair])
        return number


def _input_value(element: Element) -> dict[str, str]:
    """The `value` of an input whose observation has none: that of a button is its name, and a field may be empty."""
    kind = element.attributes.get("type", "text")
    if "value" in element.attributes or kind in _WITHOUT_VALUE or element.name == element.attributes.get("title"):
        return {}
    return {"value": element.name if kind in _BUTTONS else ""}


def dom(root: Element) -> dict[str, Any]:
    """The elements as a DOM snapshot; the attribute `bid` holds the id for actions."""
    snapshot = _Snapshot()
    snapshot.document(root.children)
    return {"documents": snapshot.documents, "strings": snapshot.strings}


def properties(seen: Observation, root: Element) -> dict[str, dict[str, Any]]:
    """By id: how much of the element is in the window (0 to 1), its box, whether it takes clicks and is marked."""
    return {
        element.bid: {
            "visibility": _visibility(element, seen.viewport),
            "bbox": [element.box.x, element.box.y, element.box.width, element.box.height]
            if element.box is not None
            else None,
            "clickable": element.clickable,
            "set_of_marks": element.marked,
        }
        for element in walk_elements(root)
        if element.bid
    }


def _visibility(element: Element, viewport: tuple[int, int]) -> float:
    box = element.box
    if not element.in_viewport or not element.visible:
        return 0.0
    if box is None or not box.width or not box.height:
        return 1.0
    wide = min(box.x + box.width, viewport[0]) - max(box.x, 0)
    high = min(box.y + box.height, viewport[1]) - max(box.y, 0)
    return round(max(0.0, wide) * max(0.0, high) / (box.width * box.height), 3)
