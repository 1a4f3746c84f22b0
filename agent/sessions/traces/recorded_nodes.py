"""The DOM in a recording, without values of its fields and without what would run or load something."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from shoal.agent.redaction.masking import HIDDEN, Hide, may_open
from shoal.agent.support.json_value import Json

_DOCUMENT, _DOCTYPE, _ELEMENT, _TEXT, _CDATA, _COMMENT = range(6)
"""Types of nodes, as rrweb numbers them."""
_NUMBERS = ("id", "rootId")
_FLAGS = ("isSVG", "isShadow", "isShadowHost")
_INERT = frozenset({"script", "object", "embed", "applet", "base", "meta", "portal", "noscript", "fencedframe"})
"""Elements that run, load or lead somewhere: drawn as `template`, which shows nothing. Later events refer to them."""
_FIELDS = frozenset({"input", "textarea", "select", "option", "button", "progress", "meter"})
_LABELLED = frozenset({"submit", "button", "reset"})
"""Types of inputs whose value is what they are called, and no visitor's."""
_LEFT_OUT = frozenset(
    (
        *("src", "srcset", "poster", "background", "data", "code", "codebase", "archive", "manifest", "ping", "action"),
        *("formaction", "imagesrcset", "srcdoc", "rr_src", "xlink:href", "http-equiv", "nonce", "integrity", "sandbox"),
        *("allow", "csp", "loading", "autofocus", "autoplay", "checked", "selected", "target", "download", "rel"),
        *("rr_dataurl", "usemap", "longdesc", "cite", "popovertarget", "formtarget"),
    )
)
"""Attributes that load something or lead somewhere, and those that hold a visitor's choice."""
_STYLES = frozenset({"style", "_csstext"})
_URL = re.compile(r"url\(", re.IGNORECASE)
_PICTURE = ("data:image/png", "data:image/jpeg", "data:image/gif", "data:image/webp", "data:image/svg+xml")


def redacted_node(node: Json, hide: Hide, *, typed: bool = False, style: bool = False) -> Json:
    """A node with all below it, as it may be kept; None where it is none.

    `typed`: it stands in what a visitor writes into, so that its texts are a field's value. `style`: in a style sheet.

    Raises:
        RecursionError: the page is nested too deeply.
    """
    if not isinstance(node, Mapping):
        return None
    kind = node.get("type")
    redacted: dict[str, Json] = {"type": kind} | {name: node[name] for name in _NUMBERS if _is_number(node.get(name))}
    redacted |= {name: True for name in _FLAGS if node.get(name) is True}
    if kind == _DOCUMENT:
        if node.get("compatMode") == "BackCompat":
            redacted["compatMode"] = "BackCompat"
    elif kind == _DOCTYPE:
        return redacted | {name: hide(str(node.get(name) or "")) for name in ("name", "publicId", "systemId")}
    elif kind == _ELEMENT:
        tag = str(node.get("tagName", "")).lower()
        attributes = node.get("attributes")
        attributes = attributes if isinstance(attributes, Mapping) else {}
        typed = typed or tag == "textarea" or _editable(attributes)
        style = tag == "style"
        redacted["tagName"] = "template" if tag in _INERT else tag
        redacted["attributes"] = redacted_attributes(attributes, hide, tag=tag)
    elif kind in (_TEXT, _CDATA):
        text = str(node.get("textContent") or "")
        redacted["textContent"] = (
            HIDDEN if typed and not style and text.strip() else redacted_text(text, hide, style=style)
        )
        return redacted
    elif kind == _COMMENT:
        return redacted | {"textContent": ""}
    else:
        return None
    children = node.get("childNodes")
    below = (redacted_node(child, hide, typed=typed, style=style) for child in _list(children))
    redacted["childNodes"] = [child for child in below if child is not None]
    return redacted


def redacted_text(text: str, hide: Hide, *, style: bool = False) -> str:
    """A text of a page, or of a style sheet."""
    return without_addresses(hide(text)) if style else hide(text)


def redacted_attributes(attributes: Mapping[str, Json], hide: Hide, *, tag: str = "") -> dict[str, Json]:
    """Attributes as they may be kept; of an element whose `tag` is not known, no value of a field is told."""
    redacted: dict[str, Json] = {}
    for name, value in attributes.items():
        told_value = _attribute(tag, name.lower(), value, attributes, hide)
        if told_value is not None:
            redacted[name] = told_value
    return redacted


def _attribute(tag: str, name: str, value: Json, attributes: Mapping[str, Json], hide: Hide) -> Json:
    """One attribute's value; None where the attribute is left out."""
    if name.startswith("on"):
        return None
    if name == "src" and tag == "img" and isinstance(value, str) and value.lower().startswith(_PICTURE):
        return value
    if name in _LEFT_OUT:
        return None
    if name == "href":
        return "#" if tag in ("a", "area") else None
    if name in _STYLES:
        return _redacted_style(value, hide)
    if value is None or isinstance(value, bool | int | float):
        return value
    text = str(value)
    if text and (may_open(name) or (name in ("value", "content") and may_open(_called(attributes)))):
        return HIDDEN
    if name == "value" and (tag in _FIELDS or not tag):
        labelled = tag == "button" or (tag == "input" and str(attributes.get("type", "")).lower() in _LABELLED)
        return hide(text) if labelled or not text else HIDDEN
    return hide(text)


def _redacted_style(value: Json, hide: Hide) -> Json:
    """A style: its text, or what has changed of it: each property with its value, or with value and priority."""
    if isinstance(value, str):
        return without_addresses(hide(value))
    if isinstance(value, Mapping):
        return {str(name): _redacted_style(part, hide) for name, part in value.items()}
    if isinstance(value, list):
        return [_redacted_style(part, hide) for part in value[:2]]
    return value if isinstance(value, bool) else None


def without_addresses(css: str) -> str:
    """A style sheet without the addresses that it loads; what it brings along, and parts of its page, stay."""
    first, *rest = _URL.split(css)
    pieces = [first]
    for part in rest:
        inside = part.lstrip(" \t\r\n\"'")
        if inside[:5].lower() == "data:" or inside.startswith("#"):
            pieces.append(f"url({part}")
        elif (closing := part.find(")")) >= 0:
            pieces.append(f"none{part[closing + 1 :]}")
    return "".join(pieces)


def _editable(attributes: Mapping[str, Json]) -> bool:
    """Return whether a visitor may type into the element itself."""
    return str(attributes.get("contenteditable", "false")).lower() != "false"


def _called(attributes: Mapping[str, Json]) -> str:
    return " ".join(str(attributes[key]) for key in ("name", "property", "itemprop") if key in attributes)


def _is_number(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else ()
