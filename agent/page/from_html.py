"""The page of raw HTML: what a browser's own style, `hidden`, inline styles and `<style>` rules say is shown.

External style sheets are not read: of what they alone hide, this page says that it is shown. Shadow trees that the
document declares (`<template shadowrootmode>`) are not read.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping

from shoal.agent.page import marks as m
from shoal.agent.page.browser_style import LAYOUT_OF_DISPLAY, LAYOUT_OF_TAG, NEVER_SHOWN, PRE_TAGS, STRUCK_TAGS
from shoal.agent.page.lexbor_tree import ParsedHtml, parse_html
from shoal.agent.page.page import Page
from shoal.agent.page.styles import Style, Styles

_INLINE, _BLOCK, _INLINE_BLOCK, _LIST_ITEM = (
    m.LAYOUTS.index(name) for name in ("inline", "block", "inline-block", "list-item")
)
_LOOSE, _GLASS, _TINY = 1 << 28, 1 << 29, 1 << 30
"""Clipped by what does not clip absolute boxes; letters that are transparent, or of no size. Not told to others."""
_PICTURES = frozenset(
    {"button", "canvas", "embed", "iframe", "img", "input", "object", "select", "svg", "textarea", "video"}
)
"""Elements that are seen without letters."""
_LENGTH = re.compile(r"(-?\d*\.?\d+)(px|em|rem|%)?", re.ASCII)
_NO_CLIP = re.compile(r"rect\((?:\s*[01](?:px)?[\s,]*){4}\)")
_NO_SCALE = re.compile(r"scale(?:3d)?\(0[,)]")
_NO_FILTER = re.compile(r"opacity\(0%?\)")
_CLEAR = re.compile(r"transparent|(?:rgb|hsl)a?\([^()]*[,/]\s*0?\.?0+%?\s*\)")
_NO_SHAPE = re.compile(r"inset\((?:50|100)%\)|circle\(0|polygon\(0(?:px|%)? 0(?:px|%)?\)")
_LEAST_SEEN = 2.0
"""Pixels of a side; what is smaller is clipped away."""
_LEAST_OPACITY = 0.02
_FAR_OFF = -900.0
"""Pixels left of or above the page."""
_FAR_INDENT = -300.0


def page_from_html(
    data: bytes | str, url: str, charset: str | None = None, find: Mapping[str, str] | None = None
) -> Page:
    """The page of a document that no browser opened.

    Args:
        data: The document. Bytes are read by a byte-order mark, `charset`, or what the document declares; otherwise as
            UTF-8, or as windows-1252 where they are none.
        url: The address of the document, where redirects ended.
        charset: What the server declared.
        find: CSS selectors by name, whose elements the page's `matches` names.
    """
    document = parse_html(data, url, charset)
    by_selector = {name: document.find(selector) for name, selector in (find or {}).items()}
    return Page(url=url, root=document.root, marks=_Looks(document).marks(), matches=by_selector)


class _Looks:
    """Marks of the elements of a document, by their tags, attributes, places and styles."""

    def __init__(self, document: ParsedHtml) -> None:
        self._document = document
        self._styles = Styles(document)
        self._within = [0] * len(document.tags)  # what holds for all that is within an element
        self._flexible = bytearray(len(document.tags))  # whose children are blocks, whatever they are by themselves
        self._chosen = _chosen_options(document)
        self._summaries = _summaries(document)

    def marks(self) -> array[int]:
        """The marks of all elements in document order."""
        return array("i", [self._mark(number) for number in range(len(self._document.tags))])

    def _mark(self, number: int) -> int:
        tag, attributes = self._document.tags[number], self._document.attributes[number]
        parent = self._document.parents[number]
        within = self._within[parent] if parent >= 0 else 0
        style = self._styles.of(number)
        own = self._state(number, tag, attributes)
        if parent in self._summaries and self._summaries[parent] != number and self._is_closed_details(parent):
            within |= m.SKIPPED
        if _has_no_box(tag, attributes, style):
            within |= m.NONE
        if within & (m.NONE | m.SKIPPED):
            self._within[number] = within
            return _public_mark(own | within, tag)
        if style:
            within = _styled(within, style)
            own |= m.FIXED if style.get("position") == "fixed" else 0
        within |= _of_tag(tag, attributes)
        if own & m.SELECTED:
            within &= ~m.CHOICE
        inner = within
        if (attributes.get("hidden") or "").lower() == "until-found" or style.get("content-visibility") == "hidden":
            inner |= m.SKIPPED
        if tag == "select" and _is_closed(attributes):
            inner |= m.CHOICE
        self._within[number] = inner
        return _public_mark(own | within | self._layout(number, style), tag)

    def _state(self, number: int, tag: str, attributes: Mapping[str, str | None]) -> int:
        state = m.SELECTED if number in self._chosen else 0
        if "checked" in attributes and tag == "input":
            state |= m.CHECKED
        if "disabled" in attributes:
            state |= m.DISABLED
        return state

    def _is_closed_details(self, number: int) -> bool:
        return self._document.tags[number] == "details" and "open" not in self._document.attributes[number]

    def _layout(self, number: int, style: Style) -> int:
        tag, parent = self._document.tags[number], self._document.parents[number]
        display = style.get("display", "")
        layout = LAYOUT_OF_DISPLAY.get(display, LAYOUT_OF_TAG.get(tag, _INLINE))
        if display in ("flex", "grid", "inline-flex", "inline-grid"):
            self._flexible[number] = 1
        if self._summaries.get(parent) == number and not display:
            return _LIST_ITEM
        is_block = style.get("float", "none") != "none" or style.get("position") in ("absolute", "fixed")
        if layout in (_INLINE, _INLINE_BLOCK) and (is_block or (parent >= 0 and self._flexible[parent])):
            return _BLOCK
        return _INLINE_BLOCK if tag == "button" and layout == _INLINE else layout


def _public_mark(mark: int, tag: str) -> int:
    """A mark without the bits that are of this file alone."""
    letters = 0
    if mark & (_GLASS | _TINY) and tag not in _PICTURES:
        letters = (m.TRANSPARENT if mark & _GLASS else 0) | (m.CLIPPED if mark & _TINY else 0)
    return mark & ~(_LOOSE | _GLASS | _TINY) | letters


def _has_no_box(tag: str, attributes: Mapping[str, str | None], style: Style) -> bool:
    display = style.get("display")
    if tag in NEVER_SHOWN or (tag == "input" and (attributes.get("type") or "").lower() == "hidden"):
        return True
    if display is not None:
        return display == "none"
    if "hidden" in attributes and (attributes["hidden"] or "").lower() != "until-found":
        return True
    return "popover" in attributes or (tag == "dialog" and "open" not in attributes)


def _of_tag(tag: str, attributes: Mapping[str, str | None]) -> int:
    """Marks that hold within an element by what it is."""
    marks = 0
    if tag in PRE_TAGS:
        marks |= m.PRE
    if tag in STRUCK_TAGS:
        marks |= m.STRUCK
    if tag == "svg" and "0" in (attributes.get("width"), attributes.get("height")):
        marks |= m.CLIPPED
    return marks


def _styled(within: int, style: Style) -> int:
    """Marks that hold within an element after its style."""
    visibility, space, color = style.get("visibility"), style.get("white-space"), style.get("color")
    if visibility is not None:
        within = within & ~m.INVISIBLE if visibility in ("visible", "initial") else within | m.INVISIBLE
    if space is not None:
        within = within | m.PRE if space.startswith(("pre", "break-spaces")) else within & ~m.PRE
    if color is not None:
        within = within | _GLASS if _CLEAR.fullmatch(color) else within & ~_GLASS
    if "font-size" in style:
        within = within | _TINY if _pixels(style["font-size"], 1.0) == 0 else within & ~_TINY
    if style.get("position") in ("absolute", "fixed") and within & _LOOSE:
        within &= ~(m.CLIPPED | _LOOSE)
    # What an animation of the style sheet brings in is shown a moment later.
    is_clear = _pixels(style.get("opacity"), 1.0) < _LEAST_OPACITY and style.get("animation", "none") == "none"
    if is_clear or _NO_FILTER.match(style.get("filter", "")):
        within |= m.TRANSPARENT
    if _is_flat(style) and not within & m.CLIPPED:
        within |= m.CLIPPED | (_LOOSE if style.get("position", "static") == "static" else 0)
    if _is_cut_away(style):
        within = within & ~_LOOSE | m.CLIPPED
    if _is_off_page(style):
        within |= m.OFF_PAGE
    if "line-through" in style.get("text-decoration", "") + style.get("text-decoration-line", ""):
        within |= m.STRUCK
    return within


def _is_flat(style: Style) -> bool:
    """True where nothing of what is within has room, except what is placed absolutely elsewhere."""
    overflow = " ".join(style.get(name, "") for name in ("overflow", "overflow-x", "overflow-y"))
    if "hidden" not in overflow and "clip" not in overflow:
        return False
    return min(_pixels(style.get(name), _LEAST_SEEN) for name in ("height", "max-height", "width")) < _LEAST_SEEN


def _is_cut_away(style: Style) -> bool:
    if style.get("position") in ("absolute", "fixed") and _NO_CLIP.match(style.get("clip", "")):
        return True
    return bool(_NO_SHAPE.match(style.get("clip-path", "")) or _NO_SCALE.match(style.get("transform", "")))


def _is_off_page(style: Style) -> bool:
    if _pixels(style.get("text-indent"), 0.0) <= _FAR_INDENT:
        return True
    if style.get("position") not in ("absolute", "fixed"):
        return False
    left, top = _pixels(style.get("left"), 0.0), _pixels(style.get("top"), 0.0)
    is_above = style["position"] == "fixed" and "height" in style and top + _pixels(style["height"], -top + 1) <= 0
    return min(left, top) <= _FAR_OFF or is_above


def _pixels(value: str | None, otherwise: float) -> float:
    """A length or a number; percentages only where they are nothing, since nobody knows of what."""
    length = _LENGTH.fullmatch(value) if value else None
    if length is None:
        return otherwise
    number = float(length[1])
    if length[2] == "%":
        return 0.0 if number == 0 else otherwise
    return number * 16 if length[2] in ("em", "rem") else number


def _is_closed(attributes: Mapping[str, str | None]) -> bool:
    """True where a select shows its choices only when it is opened."""
    size = attributes.get("size") or ""
    return "multiple" not in attributes and not (size.isdecimal() and int(size) > 1)


def _chosen_options(document: ParsedHtml) -> set[int]:
    """Numbers of the options that are chosen: those that say so; of a closed select one, its first without such."""
    options: dict[int, list[int]] = {}  # by the number of the select
    selects: dict[int, int] = {}  # the select around an option group or an option
    for number, tag in enumerate(document.tags):
        parent = document.parents[number]
        if tag == "select":
            selects[number] = number
            options[number] = []
        elif parent in selects:
            selects[number] = selects[parent]
            if tag == "option":
                options[selects[parent]].append(number)
    chosen: set[int] = set()
    for select, its in options.items():
        stated = [number for number in its if "selected" in document.attributes[number]]
        if _is_closed(document.attributes[select]):
            free = [number for number in its if "disabled" not in document.attributes[number]]
            stated = stated[-1:] or free[:1] or its[:1]
        chosen.update(stated)
    return chosen


def _summaries(document: ParsedHtml) -> dict[int, int]:
    """The numbers of `details` elements, each with that of its first summary, or -1."""
    summaries: dict[int, int] = {}
    for number, tag in enumerate(document.tags):
        if tag == "details":
            summaries[number] = -1
        elif tag == "summary" and summaries.get(document.parents[number]) == -1:
            summaries[document.parents[number]] = number
    return summaries
