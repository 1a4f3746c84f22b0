"""An observation as text: compact for a model, the whole tree, an HTML skeleton, JSON."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any, Literal, get_args

import orjson

from shoal.agent.observe import quoting
from shoal.agent.observe.letters import lettered
from shoal.agent.observe.quoting import ELEMENT, escape_in_brackets, line, plain_name, quoted, words
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.support.json_value import Json
from shoal.agent.types import Box, Element, Observation

Format = Literal["text", "axtree", "html", "json", "choices"]
FORMATS: tuple[Format, ...] = get_args(Format)

_CONSOLE_CHARS = 300
"""Of one error of the console."""
_LINE_CHARS = 2_000
"""Of what stands beside each other: the next piece begins another line. One text alone may be longer."""
_SHORT_NAME = 3  # characters: a letter, a mark or a key, of which a title says what it does
_SHOWN_OPTIONS = 15
_INLINE = frozenset({"#text", "svg", "img", "label", "code", "output", "progress", "meter", "canvas", "del"})
_PREFIXES = {"heading": "# ", "listitem": "- ", "row": "", "caption": "", "term": "", "definition": "  "}
_ANNOUNCED = frozenset(
    {"dialog", "alertdialog", "form", "navigation", "search", "menu", "listbox", "tablist", "tree", "alert", "table"}
)
_NAMED = frozenset(
    {"group", "radiogroup", "region", "article", "complementary", "figure", "list", "listitem", "toolbar"}
)
"""Roles that show their name only where that is not their first text anyway."""
_CELLS = frozenset({"cell", "gridcell", "columnheader", "rowheader"})
_MAX_SPAN = 50
_QUIET_STATES = frozenset({"multiple", "placed"})
_HANDLED = frozenset({"draggable", "drop target", "hovers", "context menu", "keys"})
"""Events of an element without clicks; actions on it need its id."""


def render(observation: Observation, format: Format = "text", *, max_chars: int | None = None) -> str:
    """The observation in one of `FORMATS`.

    Raises:
        ValueError: there is no such format.
    """
    writers: dict[str, Callable[[Observation, int | None], str]] = {
        "text": _text,
        "axtree": _axtree,
        "html": _html,
        "json": _json,
        "choices": _choices,
    }
    if format not in writers:
        raise ValueError(f"no such format: {format!r}; there are {', '.join(FORMATS)}")
    return writers[format](observation, max_chars)


# --- compact text ---------------------------------------------------------------------------------------


def compact(root: Element, *, omitted: int = 0, max_chars: int | None = None) -> str:
    """Elements that take actions, as `[id role "name" …]`, in the text around them; a line per block."""
    writer = _LineCollector()
    for child in root.children or (root,):
        _write(child, writer)
    lines = writer.finish()
    if max_chars is not None:
        lines, cut = _fit(lines, max_chars)
        omitted += cut
    if omitted > 0:
        lines.append(f"… {omitted} more not shown; scroll, or ask for the next part")
    return "\n".join(lines)


def _fit(lines: list[str], max_chars: int) -> tuple[list[str], int]:
    """As many lines as fit, the last one in part if it is text only, and how many elements were in the others."""
    kept, left = 0, max_chars
    for row in lines:
        if len(row) + 1 > left:
            break
        left -= len(row) + 1
        kept += 1
    begun = [f"{cut[: left - 2]}…" for cut in lines[kept : kept + 1] if left > 2 and not ELEMENT.search(cut)]
    return lines[:kept] + begun, sum(max(1, len(ELEMENT.findall(dropped))) for dropped in lines[kept:])


class _LineCollector:
    """Collects inline pieces into lines."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._pieces: list[str] = []
        self._chars = 0
        self._prefix = ""
        self.hanging: dict[int, int] = {}  # of a table: columns that a cell above goes on in, and for how many rows

    def add(self, piece: str) -> None:
        if piece and self._chars > _LINE_CHARS:
            self.end()
        if piece:
            self._pieces.append(piece)
            self._chars += len(piece)

    def end(self, prefix: str = "") -> None:
        """Ends the line; the next one begins with `prefix`, once it has something to say."""
        if self._pieces:
            self._lines.append(self._prefix + " ".join(self._pieces))
            self._pieces, self._chars = [], 0
        self._prefix = prefix

    def finish(self) -> list[str]:
        self.end()
        return self._lines


def _write(element: Element, out: _LineCollector) -> None:
    if element.tag == "#text":
        out.add(words(element.text))
    elif element.clickable or (element.bid and element.states & _HANDLED):
        out.add(control_text(element))
        if element.children:
            out.end()
            _write_all(element, out)
            out.end()
    elif element.tag == "del":
        inner = _LineCollector()
        inner.add(words(element.text))
        _write_all(element, inner)
        out.add(f"(struck out {' '.join(part.strip() for part in inner.finish())})")
    elif element.tag in _INLINE:
        if element.tag == "canvas" and element.box is not None:
            out.add(f"({' '.join(filter(None, ('canvas', line(element.name), _extent(element.box))))})")
        elif element.name and element.tag != "label":
            label = f"{plain_name(element.role)} {line(element.name)}"
            out.add(f"({label})" if element.role == "img" else label)
        if element.tag in ("progress", "meter"):
            out.add(f"({plain_name(element.role)} at {line(element.attributes.get('value', 'an unknown part'))})")
        out.add(words(element.text))
        _write_all(element, out)
    elif element.role == "row":
        _write_row(element, out)
    else:
        _write_block(element, out)


def _write_all(element: Element, out: _LineCollector) -> None:
    for child in element.children:
        _write(child, out)


def _write_block(element: Element, out: _LineCollector) -> None:
    out.end(_PREFIXES.get(element.role, ""))
    if element.role == "frame":
        out.add(f"--- frame {line(element.name)}".rstrip())
        out.end()
    elif element.name and (element.role in _ANNOUNCED or not element.children):
        name = line(element.name)
        out.add(name if element.role in _PREFIXES else f"{plain_name(element.role)} {name}:")
        if element.children:
            out.end()
    elif element.name and element.role in _NAMED and not _begins_with(element, element.name):
        out.add(f"{plain_name(element.role)} {line(element.name)}:")
    elif element.role in ("dialog", "alertdialog"):
        out.add("dialog:")
        out.end()
    elif "placed" in element.states and element.box is not None:
        out.add(f"({_extent(element.box)})")
    if element.role in ("table", "grid", "treegrid"):
        out.hanging.clear()
    out.add(words(element.text))
    _write_all(element, out)
    out.end()
    if element.role == "frame":
        out.add("---")
        out.end()


def _begins_with(element: Element, name: str) -> bool:
    """Return whether `name` is what a reader of the element's content comes upon first."""
    while element.children and not element.text:
        element = element.children[0]
        if element.name == name:
            return True
    return element.text.startswith(name)


def _write_row(element: Element, out: _LineCollector) -> None:
    """A table row on one line, its cells between bars: an empty one keeps its place, as does one that is further up.

    A row that holds rows lays out a page: what is in its cells stands below each other.
    """
    out.end()
    if any(_holds_rows(cell) for child in element.children for cell in child.children):
        for child in element.children:
            _write(child, out)
            out.end()
        return
    cells: list[str] = []
    for child in element.children:
        _go_on(cells, out.hanging)
        inner = _LineCollector()
        _write(child, inner)
        text = " ".join(part.strip() for part in inner.finish())
        across, down = (_span(child, name) for name in ("colspan", "rowspan"))
        if down > 1:
            out.hanging.update((len(cells) + n, down - 1) for n in range(across))
        cells += [text, *[""] * (across - 1)]
    _go_on(cells, out.hanging)
    while cells and not cells[-1]:
        cells.pop()
    if element.name and not _begins_with(element, element.name):
        out.add(f"row {line(element.name)}:")
    out.add(" | ".join(cells) if cells else words(element.text))
    out.end()


def _holds_rows(element: Element) -> bool:
    return element.role == "row" or any(_holds_rows(child) for child in element.children)


def _go_on(cells: list[str], hanging: dict[int, int]) -> None:
    """Adds the cells that begin in a row above and reach down to here."""
    while len(cells) in hanging:
        at = len(cells)
        hanging[at] -= 1
        if not hanging[at]:
            del hanging[at]
        cells.append("")


def _span(cell: Element, name: str) -> int:
    attribute = cell.attributes.get(name, "") if cell.role in _CELLS or cell.tag in ("td", "th") else ""
    return min(int(attribute), _MAX_SPAN) if attribute.isascii() and attribute.isdigit() and attribute != "0" else 1


def control_text(element: Element) -> str:
    """One element that takes actions, on one line."""
    parts = [f"[{element.bid} {plain_name(element.role or element.tag)}"]
    if element.name:
        parts.append(quoted(element.name))
        title = element.attributes.get("title", "")
        if len(element.name) <= _SHORT_NAME and title != element.name and title:
            parts.append(f"title={escape_in_brackets(repr(title[:60]))}")
    elif href := element.attributes.get("href"):
        parts.append(escape_in_brackets(href[:80]))
    if element.text and not element.children:
        parts.append(f"({escape_in_brackets(element.text)})")
    value = element.attributes.get("value")
    if value is not None and element.role not in ("button",):
        parts.append(f"={quoting.value(value)}")
    if (placeholder := element.attributes.get("placeholder")) and placeholder != element.name and not value:
        parts.append(f"placeholder={escape_in_brackets(repr(placeholder))}")
    if element.options:
        shown = " | ".join(
            escape_in_brackets(label) + (" (disabled)" if index in element.disabled_options else "")
            for index, (label, _, _) in enumerate(element.options[:_SHOWN_OPTIONS])
        )
        more = len(element.options) - _SHOWN_OPTIONS
        parts.append(f"options: {shown}" + (f" | … {more} more" if more > 0 else ""))
    if struck := element.attributes.get("struck"):
        parts.append(f"struck out: {quoted(struck)}")
    if (element.tag == "canvas" or "placed" in element.states) and element.box is not None:
        parts.append(_extent(element.box))
    parts += sorted(element.states - _QUIET_STATES)
    if not element.in_viewport:
        parts.append("offscreen")
    return " ".join(parts) + "]"


def _extent(box: Box) -> str:
    """Return where something is that is only a picture: points of it are acted on."""
    return f"{box.width:.0f} x {box.height:.0f} px at {box.x:.0f}, {box.y:.0f}"


def _text(observation: Observation, max_chars: int | None) -> str:
    head = "\n".join(header(observation))
    left = None if max_chars is None else max(0, max_chars - len(head) - 2)
    text = compact(observation.elements, omitted=observation.omitted, max_chars=left)
    unsaid = observation.cut and not observation.omitted
    return f"{head}\n\n{text}" + ("\n… some not shown; scroll, or ask for the next part" if unsaid else "")


def header(observation: Observation) -> list[str]:
    """Return what stands above the page: where it is, tabs, and what happened since the last step."""
    url, title = line(observation.url), line(observation.title)
    lines = [f"{title} - {url}" if title else url]
    if len(observation.tabs) > 1:
        tabs = [
            f"{'*' if i == observation.active_tab else ''}{i}: {line(t.title or t.url)}"
            for i, t in enumerate(observation.tabs)
        ]
        lines.append("tabs: " + ", ".join(tabs))
    height, seen = observation.page_size[1], observation.viewport[1]
    if seen and height > seen * 1.1:
        lines.append(f"scrolled to {observation.scroll[1]:.0f} of {height - seen:.0f} px")
    lines += [f"dialog ({d.kind}, {line(d.answer)}): {line(d.message)}" for d in observation.dialogs]
    for download in observation.downloads:
        lines.append(f"downloaded {line(download.filename)} ({download.bytes} bytes)")
        if download.text:
            lines.append(f"its text: {words(download.text)}")
    if observation.last_error:
        lines.append(f"the last action failed: {line(observation.last_error)}")
    lines += [f"console error: {line(error[:_CONSOLE_CHARS])}" for error in observation.console_errors[:5]]
    return lines


# --- the whole tree ------------------------------------------------------------------------------------------


def _axtree(observation: Observation, max_chars: int | None) -> str:
    return _clipped("\n".join(_axtree_lines(observation.elements, 0)), max_chars)


def _axtree_lines(element: Element, depth: int) -> Iterator[str]:
    pad = "  " * depth
    if element.tag == "#text":
        yield f"{pad}text {element.text!r}"
        return
    parts = [f"[{element.bid}]" if element.bid else "", plain_name(element.role or element.tag)]
    if element.name:
        parts.append(repr(element.name))
    parts += [f"{name}={value!r}" for name, value in element.attributes.items()]
    parts += sorted(element.states)
    if element.clickable:
        parts.append("clickable")
    if not element.in_viewport:
        parts.append("offscreen")
    yield pad + " ".join(part for part in parts if part)
    if element.text:
        yield f"{pad}  text {element.text!r}"
    for index, (label, value, chosen) in enumerate(element.options):
        off = " disabled" * (index in element.disabled_options)
        yield f"{pad}  option {label!r} value={value!r}" + (" selected" if chosen else "") + off
    for child in element.children:
        yield from _axtree_lines(child, depth + 1)


# --- lettered choice --------------------------------------------------------------------------------------------


def _choices(observation: Observation, max_chars: int | None) -> str:
    """Return what takes clicks, a line each, under the letter by which SeeAct's notation names it."""
    listed = lettered(clickable_elements(observation.elements))
    return _clipped("\n".join(f"{letter}. {control_text(control)}" for letter, control in listed.items()), max_chars)


# --- HTML -------------------------------------------------------------------------------------------------------


def _html(observation: Observation, max_chars: int | None) -> str:
    return _clipped("\n".join(_html_lines(observation.elements, 0)), max_chars)


def _html_lines(element: Element, depth: int) -> Iterator[str]:
    pad = " " * depth
    if element.tag == "#text":
        yield pad + html.escape(element.text, quote=False)
        return
    attributes = {"bid": element.bid, **element.attributes}
    if element.name and element.name != element.text:
        attributes["aria-label"] = element.name
    tag = plain_name(element.tag)
    opened = tag + "".join(f' {n}="{html.escape(v)}"' for n, v in attributes.items() if v)
    opened += "".join(f" {state}" for state in sorted(element.states))
    text = html.escape(element.text, quote=False)
    options = [
        f'<option value="{html.escape(value)}"{" selected" * chosen}{" disabled" * (n in element.disabled_options)}>'
        f"{html.escape(label, quote=False)}</option>"
        for n, (label, value, chosen) in enumerate(element.options)
    ]
    if not element.children:
        yield f"{pad}<{opened}>{text}{''.join(options)}</{tag}>"
        return
    yield f"{pad}<{opened}>{text}{''.join(options)}"
    for child in element.children:
        yield from _html_lines(child, depth + 1)
    yield f"{pad}</{tag}>"


# --- JSON --------------------------------------------------------------------------------------------------------


def _json(observation: Observation, max_chars: int | None) -> str:
    # Cut JSON is no JSON: here the budget is the walk's alone.
    return orjson.dumps(as_json(observation), option=orjson.OPT_INDENT_2).decode()


def as_json(observation: Observation) -> dict[str, Json]:
    """The observation as JSON values; what is empty is left out, images are base64."""
    plain: dict[str, Json] = {}
    for field in fields(observation):
        value = getattr(observation, field.name)
        if isinstance(value, Element):
            plain[field.name] = element_json(value)
        elif isinstance(value, bytes):
            plain[field.name] = base64.b64encode(value).decode()
        elif value not in (None, (), "", 0):
            plain[field.name] = [_record(item) for item in value] if isinstance(value, tuple) else value
    return plain


def _record(value: Any) -> Json:
    if hasattr(value, "__dataclass_fields__"):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return list(value) if isinstance(value, tuple) else value


def element_json(element: Element) -> dict[str, Json]:
    """One element with all below it; what is empty is left out."""
    plain: dict[str, Json] = {"tag": element.tag}
    for name in ("bid", "role", "name", "text"):
        if value := getattr(element, name):
            plain[name] = value
    if element.attributes:
        plain["attributes"] = dict(element.attributes)
    if element.options:
        plain["options"] = [
            {"label": label, "value": value, "selected": on}
            | ({"disabled": True} if index in element.disabled_options else {})
            for index, (label, value, on) in enumerate(element.options)
        ]
    if element.states:
        plain["states"] = sorted(element.states)
    if element.box is not None:
        plain["box"] = _box(element.box)
    for name in ("clickable", "marked"):
        if getattr(element, name):
            plain[name] = True
    if not element.in_viewport:
        plain["in_viewport"] = False
    if element.children:
        plain["children"] = [element_json(child) for child in element.children]
    return plain


def _box(box: Box) -> Mapping[str, float]:
    return {"x": box.x, "y": box.y, "width": box.width, "height": box.height}


def _clipped(text: str, max_chars: int | None) -> str:
    if max_chars is None or len(text) <= max_chars:
        return text
    cut = text.rfind("\n", 0, max_chars)
    return text[: cut if cut > 0 else max_chars] + "\n…"
