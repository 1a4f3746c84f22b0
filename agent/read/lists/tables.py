"""Rows and headers of tables, as lists read them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from itertools import islice
from statistics import mode

from lxml.html import HtmlElement

from shoal.agent.read.lists.elements import attribute_number, is_cell, is_head, is_row, is_table, line_of
from shoal.agent.read.lists.words import is_named, words_in_line
from shoal.agent.read.values.phrases import fold
from shoal.agent.read.word_lists.page_words import SUM_WORDS

_HEADER_ROWS = 400
_FIRST_ROWS = 4
"""Rows of a table among which its header is."""
_LONGEST_SUM = 40
"""Characters of a cell that says that its row is a sum."""


def cells_of(row: HtmlElement) -> list[HtmlElement]:
    """The cells that a row holds itself."""
    return [cell for cell in row if isinstance(cell.tag, str) and is_cell(cell)]


def table_header(
    table: HtmlElement,
    names: Collection[Sequence[str]] = (),
    shown: Callable[[HtmlElement], bool] = lambda row: True,
) -> tuple[dict[str, str], list[HtmlElement]]:
    """The header's texts by the step of the cells below, and its rows.

    They are rows of `th`, else a first one of another kind, else one of the first whose cells are called as `names`.
    """
    every = (row for row in table.iter() if isinstance(row.tag, str) and is_row(row) and shown(row))
    rows = [row for row in every if next(filter(is_table, row.iterancestors()), None) is table][:_HEADER_ROWS]
    widths = [len(cells_of(row)) for row in rows if cells_of(row)]
    if not widths:
        return {}, []
    width = mode(widths)
    first = next((place for place, row in enumerate(rows) if _is_header_row(row, place, rows, width)), None)
    if first is None:
        called = (place for place, row in enumerate(rows[:_FIRST_ROWS]) if _calls(row, names))
        first = next(called, None)
    if first is None:
        return {}, []
    last = first + 1
    while last < len(rows) and rows[last].getparent() is rows[first].getparent() and all(map(is_head, rows[last])):
        last += 1
    texts: dict[str, str] = {}
    taken: dict[int, int] = {}  # by column: rows below that a cell above covers
    for row in rows[first:last]:
        column = 0
        for cell in cells_of(row):
            while taken.get(column, 0) > 0:
                taken[column] -= 1
                column += 1
            for _ in range(attribute_number(cell, "colspan", 30)):
                text = line_of(cell) or cell.get("aria-label") or ""
                for step in (f"td@{column}", f"th@{column}"):
                    texts[step] = text or texts.get(step, "")
                taken[column] = attribute_number(cell, "rowspan", 30) - 1
                column += 1
    return texts, rows[first:last]


def _calls(row: HtmlElement, names: Collection[Sequence[str]]) -> bool:
    """True for a row most of whose cells, and at least two, are called as `names`."""
    texts = [text for cell in cells_of(row) if (text := line_of(cell))]
    called = sum(is_named(text, names) for text in texts)
    return called > 1 and 2 * called >= len(texts)


def _is_header_row(row: HtmlElement, place: int, rows: Sequence[HtmlElement], width: int) -> bool:
    cells = cells_of(row)
    texts = [words_in_line(str(cell.text_content())) for cell in cells]
    if len(cells) < max(2, 0.6 * width) or not any(texts):
        return False
    parent = row.getparent()
    filled = [cell for cell, text in zip(cells, texts, strict=True) if text]
    heads = sum(map(is_head, filled))
    if (len(filled) > 1 and heads >= 0.6 * len(filled)) or (parent is not None and parent.tag == "thead"):
        return heads < len(filled) or not _names_its_row(row, rows)
    if place > 1 or len(cells) != width or sum(map(bool, texts)) < 0.6 * len(cells):
        return False
    if not all(len(text) < 40 and not re.search(r"\d{2}", text) for text in texts) or any(map(_is_marked, cells)):
        return False
    below = [cells_of(other) for other in rows[place + 1 :] if len(cells_of(other)) == width]
    return len(below) > 1 and any(
        sum(_is_marked(cells[column]) for cells in below) >= 0.7 * len(below) for column in range(width)
    )


def is_section(row: HtmlElement) -> bool:
    """True for a row whose one cell spans columns: it says what follows, and is no record."""
    cells = cells_of(row)
    filled = [cell for cell in cells if words_in_line(str(cell.text_content()))]
    return len(filled) == 1 and len(cells) == 1 and attribute_number(filled[0], "colspan", 30) > 1


def is_sum(row: HtmlElement) -> bool:
    """True for a row that sums up others: one of a table's foot, or one that begins with a word for a sum."""
    if not is_row(row):
        return False
    parent = row.getparent()
    if parent is not None and parent.tag == "tfoot":
        return True
    first = next(iter(cells_of(row)), None)
    text = "" if first is None else str(first.text_content()).strip()
    return len(text) <= _LONGEST_SUM and fold(text).rstrip(": ") in SUM_WORDS


def header_above(table: HtmlElement) -> dict[str, str]:
    """The header of a table that has none, where the table right above it has nothing else, as of rows that scroll."""
    for el in (table, *islice(table.iterancestors(), 3)):
        before = next(
            (other for other in islice(el.itersiblings(preceding=True), 3) if isinstance(other.tag, str)), None
        )
        above = None if before is None else next((other for other in before.iter() if is_table(other)), None)
        if above is not None:
            texts, heads = table_header(above)
            filled = [row for row in above.iter("tr") if words_in_line(str(row.text_content()))]
            return texts if heads and filled == heads else {}
    return {}


def _names_its_row(row: HtmlElement, rows: Sequence[HtmlElement]) -> bool:
    """True where all rows are made of header cells alone: none of them names the others' columns."""
    return len(rows) > 1 and all(all(map(is_head, cells_of(other))) for other in rows) and row is not rows[0]


def _is_marked(cell: HtmlElement) -> bool:
    """True for a cell with figures or a link, as headers have none."""
    links = any(re.match(r"(?!javascript|#|\?)", link.get("href") or "#") for link in cell.iter("a"))
    return links or bool(re.search(r"\d", str(cell.text_content())))
