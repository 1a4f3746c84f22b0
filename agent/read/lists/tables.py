"""Rows and headers of tables, as lists read them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from itertools import islice
from statistics import mode

from lxml.html import HtmlElement

from shoal.agent.read.facts.tables import is_cell, is_head, is_row, is_table
from shoal.agent.read.lists.elements import attribute_number, line_of, step_of
from shoal.agent.read.lists.words import is_named, words_in_line
from shoal.agent.read.values.phrases import fold
from shoal.agent.read.word_lists.page_words import SUM_WORDS

_HEADER_ROWS = 400
_MOST_LABELS = 60
"""Rows of a table whose records are columns: each is of a field."""
_FIRST_ROWS = 4
"""Rows of a table among which its header is."""
_MOST_OF_FOOT = 12
"""Rows of a foot."""
_LONGEST_SUM = 40
"""Characters of a cell that says that its row is a sum."""

_LAID_HEAD = re.compile(r"(^|[-_\s])(head|header|heading|th|thead)([-_\s]|$)", re.I)
"""Names of the cells that head a table that is laid out by style, cell after cell."""
_LEAST_LAID = 3
"""Rows from which elements with the same number of parts are a table."""


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


def cells_of_records(
    table: HtmlElement, names: Collection[Sequence[str]], shown: Callable[[HtmlElement], bool]
) -> tuple[list[str], list[list[HtmlElement]]]:
    """The labels, and each record's cells in their order, of a table whose records are no rows; empty for others.

    Its records are columns, whose labels stand in front of the rows and are called as `names`; or parts of rows, under
    headers that come again: "Name, Price, Name, Price".
    """
    every = (row for row in table.iter("tr") if shown(row) and next(row.iterancestors("table"), None) is table)
    rows = [row for row in islice(every, _HEADER_ROWS) if len(row) > 1]
    if len(rows) < 3 or len(rows[0]) < 3:
        return [], []
    head = list(map(line_of, cells_of(rows[0])))
    widths = (width for width in range(2, len(head) // 2 + 1) if len(head) % width == 0 and all(head[:width]))
    again = next((width for width in widths if head == head[:width] * (len(head) // width)), 0)
    if not again and (len(rows) > _MOST_LABELS or not all(head[1:]) or any(is_named(text, names) for text in head[1:])):
        return [], []
    grid = [cells_of(row) for row in rows]
    if len(set(map(len, grid))) > 1 or any(cell.get("colspan") for cells in grid for cell in cells):
        return [], []
    if again:
        parts = [cells[at : at + again] for cells in grid[1:] for at in range(0, len(head), again)]
        return head[:again], [part for part in parts if any(map(line_of, part))]
    labels = [line_of(cells[0]).rstrip(": ") for cells in grid]
    named = [is_named(label, names) for label in labels]
    heads = not head[0] or all(map(is_head, grid[0])) or (named[0] and all(is_head(cells[0]) for cells in grid))
    if sum(named) < 2 or not heads:
        return [], []
    columns = zip(*(row[1:] for row in grid), strict=True)
    return [labels[0] if named[0] else "", *labels[1:]], list(map(list, columns))


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
    return (len(text) <= _LONGEST_SUM and fold(text).rstrip(": ") in SUM_WORDS) or _is_foot(row)


def _is_foot(row: HtmlElement) -> bool:
    """True for one of the last rows of a table, where these alone begin with a cell that spans columns."""
    if not _begins_wide(row):
        return False
    after = list(islice(row.itersiblings("tr"), _MOST_OF_FOOT + 1))
    before = islice(row.itersiblings("tr", preceding=True), _MOST_OF_FOOT)
    return len(after) <= _MOST_OF_FOOT and all(map(_begins_wide, after)) and not all(map(_begins_wide, before))


def _begins_wide(row: HtmlElement) -> bool:
    first = next(iter(cells_of(row)), None)
    return first is not None and attribute_number(first, "colspan", 30) > 1


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


def laid_columns(el: HtmlElement) -> int:
    """Columns of a table that is laid out by style: cell after cell, the first ones called headers; 0 for others."""
    if len(el) < 3 or not _LAID_HEAD.search(el[0].get("class") or ""):
        return 0
    heads = [bool(_LAID_HEAD.search(cell.get("class") or "")) for cell in el if isinstance(cell.tag, str)]
    first = heads.index(False) if heads[:2] == [True, True] and False in heads else 0
    return first if first and len(heads) % first == 0 and len(heads) == len(el) and not any(heads[first:]) else 0


def laid_rows_of(el: HtmlElement) -> Sequence[HtmlElement]:
    """The rows of a table that is laid out by style, the first one called a header; none for others."""
    rows = [row for row in el if isinstance(row.tag, str)]
    if len(rows) < _LEAST_LAID or not _LAID_HEAD.search(rows[0].get("class") or "") or is_row(rows[0]):
        return ()
    alike = all(len(row) == len(rows[0]) and step_of(row) == step_of(rows[1]) for row in rows[1:])
    return rows if len(rows[0]) > 1 and alike else ()
