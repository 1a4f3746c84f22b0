"""Documents that are no HTML, read as pages: JSON, CSV and text that are shown, CSV and PDF that are saved."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal.agent.browser import Context
from shoal.agent.observe.documents import file_text
from shoal.agent.support.json_value import Json

DOCUMENT_JS = (Path(__file__).parent / "document_page.js").read_text(encoding="utf-8")
MOST_CHARS = 4_000_000
"""Of one document; what is longer is not read."""
_MOST_ROWS = 5_000
_MOST_LINES = 20_000
_DEEPEST = 4
_DELIMITERS = ",;\t|"
_ADDRESS = re.compile(r"https?://\S+")


@dataclass(frozen=True, slots=True)
class NamedTable:
    """Rows under the names of their columns."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def drawn(self) -> list[Json]:
        """The table as a page has it, for the page's script."""
        rows = [_row(row, "td") for row in self.rows]
        return [["table", {}, ["thead", {}, _row(self.head, "th")], ["tbody", {}, *rows]]]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Names with their values."""

    pairs: tuple[tuple[str, str], ...]

    def drawn(self) -> list[Json]:
        """A table whose rows begin with the names, for the page's script."""
        return [["table", {}, *(_row(pair, "th", "td") for pair in self.pairs)]]


@dataclass(frozen=True, slots=True)
class TextLines:
    """Text, line by line."""

    lines: tuple[str, ...]

    def drawn(self) -> list[Json]:
        """Each line as a block, for the page's script."""
        return [_element("div", line) for line in self.lines]


Part = NamedTable | Pairs | TextLines


async def draw_open_document(page: Context, kind: str, url: str) -> bool:
    """Draws the document that the browser shows as plain text; False where it is none, or too long.

    Args:
        kind: the content type of the document.
        url: its address, whose ending tells CSV that is sent as plain text.
    """
    if not is_document(kind):
        return False
    text = await page.read("() => document.body ? document.body.textContent : ''")
    if not isinstance(text, str) or len(text) > MOST_CHARS:
        return False
    return await _draw(page, parts_of(text, kind, url), "")


async def draw_saved(page: Context, file: Path, url: str) -> bool:
    """Draws a file that the browser saved instead of showing it; False where it is no document with text."""
    text = await file_text(file, MOST_CHARS)
    parts = parts_of(text, "text/csv" if file.suffix.lower() in (".csv", ".tsv") else "text/plain", url)
    return await _draw(page, parts, url)


async def _draw(page: Context, parts: Sequence[Part], url: str) -> bool:
    drawn = [element for part in parts for element in part.drawn()]
    return bool(parts) and bool(await page.read(DOCUMENT_JS, {"drawn": drawn, "url": url}))


def is_document(kind: str) -> bool:
    """Return whether a content type is one of a document that states data or text and is no HTML."""
    kind = kind.partition(";")[0].strip().lower()
    return (
        kind in ("text/plain", "text/csv", "text/tab-separated-values")
        or kind.rpartition("+")[2] == "json"
        or (kind.endswith("/json"))
    )


def parts_of(text: str, kind: str, url: str) -> list[Part]:
    """Return what a document states, as tables, pairs and lines; none where it says nothing."""
    if "json" in kind:
        try:
            return list(_of_json(json.loads(text)))
        except (ValueError, RecursionError):
            return []
    if kind in ("text/csv", "text/tab-separated-values") or url.partition("?")[0].lower().endswith((".csv", ".tsv")):
        return [table] if (table := _of_csv(text)) is not None else []
    lines = tuple(line.rstrip() for line in text.splitlines()[:_MOST_LINES])
    return [TextLines(lines)] if any(lines) else []


# --- elements -----------------------------------------------------------------------------------------


def _row(cells: Sequence[str], first: str, rest: str = "") -> Json:
    """A row whose first cell has the tag `first`, and the others `rest`, where it is another."""
    return ["tr", {}, *(_element(rest or first if place else first, text) for place, text in enumerate(cells))]


def _element(tag: str, text: str) -> Json:
    """An element with a text; an address is a link."""
    return [tag, {}, ["a", {"href": text}, text] if _ADDRESS.fullmatch(text) else text]


# --- JSON ---------------------------------------------------------------------------------------------


def _of_json(value: Json) -> Iterator[Part]:
    """The value's own facts, then each list of objects that is in it."""
    if isinstance(value, list):
        yield from _of_list(value)
        return
    if not isinstance(value, Mapping):
        yield TextLines((_text(value),))
        return
    pairs = tuple(_pairs(value))
    if pairs:
        yield Pairs(pairs)
    columns = value.get("columns")
    for part in value.values():
        if isinstance(part, list):
            yield from _of_list(part, columns)


def _of_list(values: Sequence[Json], columns: Json = None) -> Iterator[Part]:
    """A list of objects, or of rows whose columns are named beside it."""
    values = values[:_MOST_ROWS]
    objects = [dict(_pairs(value)) for value in values if isinstance(value, Mapping)]
    if objects and len(objects) == len(values):
        head = tuple(dict.fromkeys(name for row in objects for name in row))
        yield NamedTable(head, tuple(tuple(row.get(name, "") for name in head) for row in objects))
    elif (
        values
        and isinstance(columns, list)
        and all(isinstance(row, list) and len(row) == len(columns) for row in values)
    ):
        yield NamedTable(tuple(map(_text, columns)), tuple(tuple(map(_text, row)) for row in values))


def _pairs(value: Mapping[str, Json], before: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Names and values of an object; those of inner objects have the names around them."""
    for key, part in value.items():
        name = f"{before} {key}".strip()
        if isinstance(part, Mapping):
            if depth < _DEEPEST:
                yield from _pairs(part, name, depth + 1)
        elif not isinstance(part, list):
            yield name, _text(part)
        elif part and not any(isinstance(inner, Mapping | list) for inner in part):
            yield name, "\n".join(map(_text, part))


def _text(value: Json) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# --- CSV ----------------------------------------------------------------------------------------------


def _of_csv(text: str) -> NamedTable | None:
    """The table of a text whose first row names the columns; None where it has no second column or row."""
    text = text.removeprefix("\ufeff")
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    if not first.count(delimiter):
        return None
    rows = [tuple(row) for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
    head, *body = rows
    width = len(head)
    return (
        NamedTable(head, tuple(row[:width] + ("",) * (width - len(row)) for row in body[:_MOST_ROWS])) if body else None
    )
