"""The walker's answer as elements. The order of the fields and bits is that of `walker.js`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from shoal.agent.support.page_names import script_by_names
from shoal.agent.types import Box, Element

CHOOSES, _WALKER, _CHANGES = (
    Path(__file__).with_name(script).read_text(encoding="utf-8") for script in ("chooses.js", "walker.js", "changes.js")
)
"""`shoalChooses`, the one rule for fields whose values are chosen from a list."""
WALKER = script_by_names(f"{CHOOSES}\n{_WALKER}\n{_CHANGES}")
"""JavaScript that, run once in a document's world, gives that world `shoalWalker` and `shoalChanges`."""

_VISIBLE, _IN_VIEW, _CLICKABLE, _FRAME, _AROUND, _CHOOSES = 1, 2, 4, 8, 16, 32
_STATES = (
    (1, "checked"),
    (2, "disabled"),
    (4, "expanded"),
    (8, "selected"),
    (16, "required"),
    (32, "invalid"),
    (64, "focused"),
    (128, "readonly"),
    (256, "collapsed"),
    (512, "pressed"),
    (1024, "mixed"),
    (2048, "multiple"),
    (4096, "current"),
    (8192, "modal"),
    (16384, "draggable"),
    (32768, "drop target"),
    (65536, "hovers"),
    (131072, "context menu"),
    (262144, "keys"),
    (524288, "placed"),
    (1048576, "greyed"),
    (2097152, "highlighted"),
)
_ADDRESS_CHARS = 300
_NO_STATES: frozenset[str] = frozenset()
_NO_ATTRIBUTES: Mapping[str, str] = {}

Node = Any
"""A node as the walker writes it: a list, or a string for text."""


@dataclass(frozen=True, slots=True)
class FrameSpot:
    """A frame that a walk came upon."""

    element_id: int  # of the iframe element, in its parent's document
    letter: str  # which it adds to its elements' ids
    left: float  # of its content, in CSS pixels of its parent's viewport
    top: float
    width: float
    height: float
    in_view: bool
    scale: float = 1.0  # CSS pixels of its parent's per pixel of its own


@dataclass(slots=True)
class FrameWalk:
    """The data of one frame."""

    data: dict[str, Any]  # the walker's answer
    prefix: str = ""  # letters before this frame's ids
    left: float = 0.0  # where its viewport begins, in CSS pixels of the tab's
    top: float = 0.0
    scale: float = 1.0  # CSS pixels of the tab's per pixel of its own
    frames: tuple[FrameSpot, ...] = ()
    inner: dict[int, FrameWalk] | None = None  # walks of nested frames, by the iframe's element id
    unread: int = 0  # nested frames for which the budget had nothing left, or that lie too deep


def read_walk(
    text: str | bytes, prefix: str = "", left: float = 0.0, top: float = 0.0, scale: float = 1.0
) -> FrameWalk:
    """The walker's JSON, and the frames in it."""
    data = orjson.loads(text)
    return FrameWalk(data, prefix, left, top, scale, frames=tuple(_frames(data["tree"])))


def _frames(nodes: list[Node]) -> Iterator[FrameSpot]:
    for node in nodes:
        if type(node) is str:
            continue
        if len(node) > 9 and node[9] & _FRAME:
            x, y, scale = node[6]
            box = node[8]
            yield FrameSpot(node[1], node[4], x, y, box[2], box[3], bool(node[9] & _IN_VIEW), scale)
        elif len(node) > 10 and node[10]:
            yield from _frames(node[10])


def element_tree(walk: FrameWalk) -> Element:
    """The page as one element, with the nested frames in their places."""
    return Element(
        "", "body", role="document", name=walk.data["title"], children=_elements(walk.data["tree"], walk, True)
    )


def _elements(nodes: list[Node], walk: FrameWalk, in_view: bool) -> tuple[Element, ...]:
    """`in_view`: whether what is around these nodes is in the window, as text and cells are that have no box here."""
    return tuple([_text(node, in_view) if type(node) is str else _element(node, walk, in_view) for node in nodes])


def _text(text: str, in_view: bool) -> Element:
    return Element("", "#text", text=text, in_viewport=in_view)


def _element(node: list[Any], walk: FrameWalk, in_view: bool) -> Element:
    flags = node[9]
    if not flags & _AROUND:
        in_view = bool(flags & _IN_VIEW)
    children: tuple[Element, ...] = ()
    options: tuple[tuple[str, str, bool], ...] = ()
    off: frozenset[int] = frozenset()
    text, attributes = node[4], node[5] or _NO_ATTRIBUTES
    if flags & _FRAME:
        text = ""
        inner = (walk.inner or {}).get(node[1])
        if inner is not None:
            children = _elements(inner.data["tree"], inner, in_view)
            attributes = _framed(attributes, str(inner.data["url"]))
    else:
        if len(node) > 10 and node[10]:
            children = _elements(node[10], walk, in_view)
        if node[6]:
            options = tuple((option[0], option[1], bool(option[2])) for option in node[6])
            off = frozenset(index for index, option in enumerate(node[6]) if len(option) > 3)
    box = node[8]
    return Element(
        bid=f"{walk.prefix}{node[1]}" if node[1] else "",
        tag=node[0],
        role=node[2],
        name=node[3],
        text=text,
        attributes=attributes,
        options=options,
        disabled_options=off,
        states=frozenset(name for bit, name in _STATES if node[7] & bit) if node[7] else _NO_STATES,
        box=_box(box, walk) if box else None,
        visible=True,
        in_viewport=in_view,
        clickable=bool(flags & _CLICKABLE),
        chooses=bool(flags & _CHOOSES),
        children=children,
    )


def _framed(attributes: Mapping[str, str], url: str) -> Mapping[str, str]:
    """The frame's attributes with the address that it shows now, which need not be the one that was written there."""
    return {**attributes, "src": url[:_ADDRESS_CHARS]} if url.startswith(("http:", "https:")) else attributes


def _box(box: list[float], walk: FrameWalk) -> Box:
    if walk.scale == 1.0:
        return Box(box[0] + walk.left, box[1] + walk.top, box[2], box[3])
    left, top, width, height = (edge * walk.scale for edge in box)
    return Box(left + walk.left, top + walk.top, width, height)


def focused_bid(walk: FrameWalk) -> str:
    """The id of the element that has the focus, in whichever frame; "" when none has."""
    focus = walk.data["focus"]
    if not focus:
        return ""
    inner = (walk.inner or {}).get(focus)
    return (focused_bid(inner) if inner else "") or f"{walk.prefix}{focus}"


def omitted(walk: FrameWalk) -> int:
    """Return how many elements budgets cut, over all frames; a frame that was not looked at counts as one."""
    return int(walk.data["omitted"]) + walk.unread + sum(omitted(inner) for inner in (walk.inner or {}).values())


def is_drawn(walk: FrameWalk) -> bool:
    """Return whether the window shows something large that only a picture of it tells, in whichever frame."""
    return bool(walk.data.get("drawn") or any(is_drawn(inner) for inner in (walk.inner or {}).values()))


def is_cut(walk: FrameWalk) -> bool:
    """Return whether budgets left out anything, were it only text."""
    return bool(walk.data["less"] or walk.unread or any(is_cut(inner) for inner in (walk.inner or {}).values()))


def is_beyond(walk: FrameWalk) -> bool:
    """Return whether a page, or one of its frames, holds more than a look gives without a budget."""
    return bool(walk.data.get("beyond") or any(is_beyond(inner) for inner in (walk.inner or {}).values()))


def size(walk: FrameWalk) -> tuple[int, int]:
    """Return how many elements that take actions a walk lists, and characters of text, over all frames."""
    inner = [size(frame) for frame in (walk.inner or {}).values()]
    return walk.data["count"] + sum(total[0] for total in inner), walk.data["chars"] + sum(total[1] for total in inner)


def walk_elements(element: Element) -> Iterator[Element]:
    """`element` and all below it, in document order."""
    yield element
    for child in element.children:
        yield from walk_elements(child)


def find_element(root: Element, bid: str) -> Element | None:
    """The element with this id."""
    return next((element for element in walk_elements(root) if element.bid == bid), None)


def clickable_elements(root: Element) -> list[Element]:
    """Every element that takes clicks, in document order."""
    return [element for element in walk_elements(root) if element.clickable]


def with_marks(root: Element, bids: frozenset[str]) -> Element:
    """The same tree with `marked` set on the elements that carry a mark."""
    children = tuple(with_marks(child, bids) for child in root.children)
    return replace(root, marked=root.bid in bids, children=children) if children or root.bid in bids else root
