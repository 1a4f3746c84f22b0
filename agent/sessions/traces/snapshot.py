"""A page's snapshot in a trace, without values of its fields."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.agent.redaction.masking import HIDDEN, Hide, may_open, redacted_address
from shoal.agent.support.json_value import Json

_SHOWN = (
    *("callId", "phase", "snapshotName", "pageId", "frameId", "doctype", "viewport", "timestamp", "wallTime"),
    *("collectionTime", "isMainFrame"),
)
_VALUE = "__playwright_value_"
_FIELDS = frozenset({"INPUT", "TEXTAREA"})
_LABELLED = frozenset({"submit", "button", "reset", "checkbox", "radio"})
"""Types of inputs whose value is what they are called, and no visitor's."""
_STYLES = frozenset({"style", "__playwright_style_sheet_"})
"""Attributes that hold styles; any other may hold an address."""


def redacted_snapshot(snapshot: Mapping[str, Json], hide: Hide) -> dict[str, Json]:
    """One frame's snapshot as it may leave the worker.

    Raises:
        RecursionError: the page is nested too deeply.
    """
    overrides = snapshot.get("resourceOverrides")
    return {
        **{name: snapshot[name] for name in _SHOWN if name in snapshot},
        "frameUrl": redacted_address(str(snapshot.get("frameUrl", "")), hide),
        "html": _node(snapshot.get("html"), hide),
        "resourceOverrides": [
            {name: value for name, value in override.items() if name in ("file", "ref")}
            | {"url": redacted_address(str(override.get("url", "")), hide)}
            for override in (overrides if isinstance(overrides, list) else ())
        ],
    }


def _node(node: Json, hide: Hide, *, typed: bool = False) -> Json:
    """A text, a reference to an earlier snapshot's node ([[1, 2]]), or an element: its name, attributes, children.

    `typed`: it stands in a field, so that its texts are the field's value.
    """
    if isinstance(node, str):
        return HIDDEN if typed and node.strip() else hide(node)
    if not isinstance(node, list) or not node or not isinstance(node[0], str):
        return node
    name, attributes = node[0], node[1] if len(node) > 1 and isinstance(node[1], Mapping) else {}
    tag = name.upper()
    redacted = {
        key: _attribute(tag, key, str(value), attributes, hide)
        for key, value in attributes.items()
        if not key.lower().startswith("on") and key.lower() != "srcdoc"
    }
    typed = (typed or tag == "TEXTAREA" or _editable(attributes)) and tag != "STYLE"
    if tag == "SCRIPT":  # its place stays: later snapshots refer to nodes by their number
        return [name, redacted, *("" if isinstance(child, str) else child for child in node[2:])]
    return [name, redacted, *(_node(child, hide, typed=typed) for child in node[2:])]


def _editable(attributes: Mapping[str, Json]) -> bool:
    """Return whether a visitor may type into the element itself."""
    return str(attributes.get("contenteditable", "false")).lower() != "false"


def _attribute(tag: str, name: str, value: str, attributes: Mapping[str, Json], hide: Hide) -> str:
    if not value:
        return value
    if tag in _FIELDS and name in ("value", _VALUE):
        labelled = tag == "INPUT" and str(attributes.get("type", "")).lower() in _LABELLED
        return hide(value) if labelled else HIDDEN
    if may_open(name) or (name in ("value", "content") and may_open(_called(attributes))):
        return HIDDEN
    return hide(value) if name in _STYLES else redacted_address(value, hide)


def _called(attributes: Mapping[str, Json]) -> str:
    return " ".join(str(attributes[key]) for key in ("name", "property", "itemprop") if key in attributes)
