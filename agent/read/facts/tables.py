"""Tables of HTML and of ARIA: rows, cells, the column that a cell stands in with spans counted in, names of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lxml.html import HtmlElement

from shoal.agent.read.facts.texts import one_line

_CELL_ROLES = frozenset({"cell", "gridcell", "columnheader", "rowheader"})
_HEAD_ROLES = frozenset({"columnheader", "rowheader"})
_TABLE_ROLES = frozenset({"table", "grid", "treegrid"})
_MOST_ROWS = 5_000
_MOST_COLUMNS = 100
_MOST_DOWN = 500
_MOST_HEAD_ROWS = 3
_ARROWS = str.maketrans("", "", "\u25b2\u25bc\u2191\u2193\u21c5")


def is_row(el: HtmlElement) -> bool:
    """True for a row of a table, of HTML or by its role."""
    return bool(el.tag == "tr" or el.get("role") == "row")


def is_cell(el: HtmlElement) -> bool:
    """True for a cell of a table."""
    return el.tag in ("td", "th") or el.get("role") in _CELL_ROLES


def is_table(el: HtmlElement) -> bool:
    """True for a table."""
    return el.tag == "table" or el.get("role") in _TABLE_ROLES


def is_head(cell: HtmlElement) -> bool:
    """True for a cell that names a row or a column."""
    return cell.tag == "th" or cell.get("role") in _HEAD_ROLES


def cells_of(row: HtmlElement) -> list[HtmlElement]:
    """The cells of a row, without those of tables in it."""
    own = [cell for cell in row.iterchildren("td", "th")]
    if row.tag == "tr" and row.get("role") != "row":
        return own
    return list(_cells_within(row)) or own


def _cells_within(el: HtmlElement) -> Iterator[HtmlElement]:
    for child in el.iterchildren():
        if is_cell(child):
            yield child
        elif isinstance(child.tag, str):
            yield from _cells_within(child)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with each of its cells at its columns."""

    rows: Sequence[HtmlElement]
    by_row: Mapping[HtmlElement, Mapping[int, HtmlElement]]  # the cell at each column
    width: int
    heads: Sequence[HtmlElement]  # rows that name the columns
    names: Sequence[Sequence[str]]  # by column, the outermost first; empty without heads

    def is_section(self, row: HtmlElement) -> bool:
        """True for a row whose one cell spans the columns: it says what follows, and states nothing itself."""
        cells = set(self.by_row[row].values())
        full = [cell for cell in cells if cell.text_content().strip()]
        return (
            self.width > 1
            and len(full) <= 1
            and any(_span(cell) > 1 and _span(cell) >= self.width - 1 for cell in cells)
        )

    def is_record(self, row: HtmlElement) -> bool:
        """True for a row that is neither a head, nor a section's title, nor the table's foot."""
        if row not in self.by_row:
            return True
        foot = row.getparent().tag == "tfoot"
        return not (row in self.heads or self.is_section(row) or foot or all(map(is_head, cells_of(row))))


def table_of(row: HtmlElement) -> HtmlElement | None:
    """The table that a row is of."""
    plain = row.tag == "tr"
    return next(
        (el for el in row.iterancestors() if (el.tag == "table" if plain else el.get("role") in _TABLE_ROLES)), None
    )


def in_turns(cells: Sequence[HtmlElement]) -> bool:
    """True for cells that are names and values in turns: header cells, bold ones, or ones that end with a colon."""
    if not cells or len(cells) % 2:
        return False
    names = (is_head, _is_bold, _has_colon)
    return any(all(is_name(cell) == (at % 2 == 0) for at, cell in enumerate(cells)) for is_name in names)


def _has_colon(cell: HtmlElement) -> bool:
    return str(cell.text_content()).rstrip().endswith((":", "："))


class Grids:
    """The grids of a page's tables, each made once."""

    def __init__(self) -> None:
        self._known: dict[HtmlElement, Grid] = {}

    def of(self, table: HtmlElement) -> Grid:
        """The grid of a table."""
        if table not in self._known:
            self._known[table] = self._made(table)
        return self._known[table]

    def _made(self, table: HtmlElement) -> Grid:
        several = (
            table.iter("tr")
            if table.tag == "table"
            else (el for el in table.iterdescendants() if el.get("role") == "row")
        )
        rows = [row for row in several if table_of(row) is table][:_MOST_ROWS]
        by_row, width = _placed(rows)
        grid = Grid(rows, by_row, width, (), ())
        heads = _heads(grid)
        if heads:
            return Grid(rows, by_row, width, heads, _names(heads, by_row, width))
        return Grid(rows, by_row, width, (), self._names_above(table, width) if width > 1 else ())

    def _names_above(self, table: HtmlElement, width: int) -> Sequence[Sequence[str]]:
        """The columns of the table before, which has nothing else: grids whose rows scroll have two."""
        above = [table, *list(table.iterancestors())[:3]]
        for el in (each for each in above if each.tag not in ("body", "html")):
            before = (other for place, other in zip(range(3), el.itersiblings(preceding=True), strict=False))
            other = next((inner for each in before if (inner := next(each.iter("table"), None)) is not None), None)
            if other is not None:
                head = self.of(other)
                rows = [row for row in head.rows if row.text_content().strip()]
                fits = head.heads and all(row in head.heads for row in rows) and width <= head.width <= width + 1
                return head.names[:width] if fits else ()
        return ()


def _placed(rows: Sequence[HtmlElement]) -> tuple[dict[HtmlElement, Mapping[int, HtmlElement]], int]:
    by_row: dict[HtmlElement, Mapping[int, HtmlElement]] = {}
    covered: dict[int, tuple[HtmlElement, int]] = {}  # by column: a cell, and the rows that it still covers
    width = 0
    for row in rows:
        at: dict[int, HtmlElement] = {}
        column = 0
        for cell in (*cells_of(row), None):
            while column in covered and covered[column][1] > 0:
                over, left = covered[column]
                at[column], covered[column] = over, (over, left - 1)
                column += 1
            if cell is None:
                break
            number = _number(cell, "aria-colindex")
            column = number - 1 if number else column
            for _ in range(_span(cell)):
                at[column], covered[column] = cell, (cell, _down(cell) - 1)
                column += 1
        width = max(width, column)
        by_row[row] = at
    return by_row, width


def _number(cell: HtmlElement, name: str) -> int:
    digits = (cell.get(name) or "").strip()
    return int(digits) if digits.isdecimal() and len(digits) < 6 else 0


def _span(cell: HtmlElement) -> int:
    return max(1, min(_number(cell, "colspan") or _number(cell, "aria-colspan") or 1, _MOST_COLUMNS))


def _down(cell: HtmlElement) -> int:
    return max(1, min(_number(cell, "rowspan") or _number(cell, "aria-rowspan") or 1, _MOST_DOWN))


def _heads(grid: Grid) -> list[HtmlElement]:
    """The rows that name the columns: those of thead, else the first ones whose cells are all header cells or bold."""
    in_head = [row for row in grid.rows if row.getparent().tag == "thead"]
    if in_head:
        return [row for row in in_head if len(set(grid.by_row[row].values())) > 1 or grid.width == 1]
    heads: list[HtmlElement] = []
    for row in grid.rows[:_MOST_HEAD_ROWS]:
        if _is_heading(row):
            heads.append(row)
        elif heads or not grid.is_section(row):
            break
    return heads if len(heads) < len(grid.rows) else heads[:1]


def _is_heading(row: HtmlElement) -> bool:
    cells = cells_of(row)
    full = [cell for cell in cells if cell.text_content().strip()]
    return len(cells) > 1 and len(full) > 1 and all(is_head(cell) or _is_bold(cell) for cell in full)


def _is_bold(cell: HtmlElement) -> bool:
    inner = cell[0] if len(cell) == 1 else None
    return (
        inner is not None
        and inner.tag in ("b", "strong")
        and inner.text_content().strip() == cell.text_content().strip()
    )


def _names(
    heads: Sequence[HtmlElement], by_row: Mapping[HtmlElement, Mapping[int, HtmlElement]], width: int
) -> list[list[str]]:
    names = []
    for column in range(width):
        texts = []
        for row in heads:
            cell = by_row[row].get(column)
            if cell is not None:
                texts.append(one_line(cell.text_content()).translate(_ARROWS).strip() or cell.get("aria-label") or "")
        names.append(list(dict.fromkeys(filter(None, texts))))
    return names
