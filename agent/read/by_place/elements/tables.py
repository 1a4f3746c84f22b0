"""Tables as slots, and what stands in them under a header or beside a cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from shoal.agent.read.by_place.elements import text as js
from shoal.agent.read.by_place.elements.elements import Elements, Node

_MOST_COLUMNS = 1_000
_MOST_ROWS = 65_534
_TABLE_ROLES = frozenset({"table", "grid", "treegrid"})
_GRID_ROLES = frozenset({"grid", "treegrid"})
_HEAD_ROLES = frozenset({"columnheader", "rowheader"})
_DATA_ROLES = frozenset({"cell", "gridcell"})
_ROLES = (*_TABLE_ROLES, *_HEAD_ROLES, *_DATA_ROLES, "row")
_COUNT = re.compile(r"\+?(\d{1,9})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Slot:
    """One cell: where it begins, and over how many columns and rows it reaches."""

    cell: Node
    r: int
    c: int
    w: int
    h: int


@dataclass
class TableGrid:
    """One table."""

    rows: list[Node]
    slots: list[dict[int, Slot]]  # by row, by column
    heads: int
    is_data: list[bool]

    def row_of(self, row: Node) -> int | None:
        """The index of a row."""
        return self._index.get(row.mem_id)

    @cached_property
    def _index(self) -> dict[int, int]:
        return {row.mem_id: r for r, row in enumerate(self.rows)}

    @cached_property
    def width(self) -> int:
        """The number of its columns."""
        return max((max(row) + 1 for row in self.slots if row), default=0)

    def distinct(self, r: int) -> list[Slot]:
        """The cells that reach into a row, in order."""
        return list({id(slot): slot for _, slot in sorted(self.slots[r].items())}.values())


class Tables:
    """The tables of one document; each is laid out once."""

    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._grids: dict[int, TableGrid] = {}
        self._columns_of: dict[tuple[int, str], list[tuple[int, int]]] = {}
        self._plain = False

    def check(self) -> None:
        """Lets a document pass whose tables are made of tables alone; of a page every table.

        Raises:
            BeyondDocument: some are made by roles.
        """
        if not self._plain and self._elements.roles(self._elements.root, *_ROLES):
            self._elements.only_in_browser("tables that are made by roles are read in a browser")
        self._plain = True

    def _role(self, el: Node) -> str:
        return self._elements.attribute(el, "role") or ""

    def is_head(self, cell: Node) -> bool:
        """Return whether a cell is a header."""
        role = self._role(cell)
        return role not in _DATA_ROLES if cell.tag == "th" else role in _HEAD_ROLES

    def is_row(self, el: Node) -> bool:
        """Return whether an element is a row of a table."""
        return el.tag == "tr" or self._role(el) == "row"

    def table_of(self, row: Node) -> Node | None:
        """The table around a row."""
        if row.tag == "tr":
            return self._elements.closest(row, frozenset({"table"}))
        return next((at for at in self._elements.up(row) if self._role(at) in _TABLE_ROLES), None)

    def tables_in(self, scope: Node) -> list[Node]:
        """The tables within an element, in order."""
        by_role = self._elements.roles(scope, *_TABLE_ROLES)
        tables = self._elements.below(scope, ("table",))
        if not by_role:
            return tables
        several = {table.mem_id: table for table in (*tables, *by_role) if not self._is_drawn_over(table)}
        return self._elements.in_order(list(several.values()))

    def _is_drawn_over(self, table: Node) -> bool:
        """True for a `<table>` without rows that is, or lies in, a grid that is made by roles."""
        in_grid = table.tag == "table" and any(self._role(at) in _GRID_ROLES for at in self._elements.up(table))
        return in_grid and not self.grid(table).rows

    # --- the grid -------------------------------------------------------------------------------------

    def grid(self, table: Node) -> TableGrid:
        """The table as slots."""
        known = self._grids.get(table.mem_id)
        if known is None:
            known = self._grids[table.mem_id] = self._laid_out(table)
        return known

    def _laid_out(self, table: Node) -> TableGrid:
        rows = self._rows(table)
        slots: list[dict[int, Slot]] = [{} for _ in rows]
        taken = 0
        for r, row in enumerate(rows):
            c = 0
            for cell in self._cells_of(table, row):
                if table.tag != "table":
                    c = (self._count(cell, "aria-colindex") or c + 1) - 1
                while c in slots[r]:
                    c += 1
                slot = self._slot(cell, rows, r, c, is_html=table.tag == "table")
                taken += slot.w * slot.h
                if taken > self._elements.most_slots:
                    self._elements.only_in_browser("a table is very large")
                    break
                for y in range(r, r + slot.h):
                    for x in range(c, c + slot.w):
                        slots[y].setdefault(x, slot)
                c += slot.w
        grid = TableGrid(rows, slots, 0, [])
        heads = self._heads(table, grid)
        grid.heads = 0 if heads == len(rows) else heads
        grid.is_data = [self._is_data(table, grid, r) for r in range(len(rows))]
        return grid

    def _rows(self, table: Node) -> list[Node]:
        """The rows as a browser orders them: heads, then bodies, then feet."""
        if table.tag != "table":
            rows = self._elements.roles(table, "row")
            return [row for row in rows if (own := self.table_of(row)) is not None and own.mem_id == table.mem_id]
        parts: dict[str, list[Node]] = {"thead": [], "tbody": [], "tfoot": []}
        for part in self._elements.children(table):
            if part.tag == "tr":
                parts["tbody"].append(part)
            elif part.tag in parts:
                parts[part.tag] += [row for row in self._elements.children(part) if row.tag == "tr"]
        return [*parts["thead"], *parts["tbody"], *parts["tfoot"]]

    def _cells_of(self, table: Node, row: Node) -> list[Node]:
        if table.tag == "table":
            return [cell for cell in self._elements.children(row) if cell.tag in ("td", "th")]
        cells = self._elements.roles(row, *_DATA_ROLES, *_HEAD_ROLES)
        return [
            cell
            for cell in cells
            if next(at for at in self._elements.up(cell) if self._role(at) == "row").mem_id == row.mem_id
        ]

    def _slot(self, cell: Node, rows: list[Node], r: int, c: int, *, is_html: bool) -> Slot:
        stated = self._count(cell, "colspan" if is_html else "aria-colspan") or 1
        down = self._count(cell, "rowspan" if is_html else "aria-rowspan")
        most = len(rows) if down == 0 else min(_MOST_ROWS, 1 if down is None else down)
        h = 1
        while h < most and r + h < len(rows) and _same_parent(rows[r + h], rows[r]):
            h += 1
        return Slot(cell, r, c, min(_MOST_COLUMNS, stated), h)

    def _count(self, cell: Node, name: str) -> int | None:
        """A count as a browser reads it; None for none."""
        stated = self._elements.attribute(cell, name)
        hit = _COUNT.match(stated.strip()) if stated is not None else None
        return int(hit[1]) if hit is not None else None

    def _heads(self, table: Node, grid: TableGrid) -> int:
        width, heads = grid.width, 0
        while heads < len(grid.rows):
            cells = grid.distinct(heads)
            full = [slot for slot in cells if js.squash(slot.cell.text_lexbor())]
            in_head = self._part_of(table, grid.rows[heads]) == "thead"
            named = bool(cells) and (in_head or (bool(full) and all(self.is_head(slot.cell) for slot in full)))
            if not named or (len(cells) == 1 and width > 1 and not in_head):
                break
            heads += 1
        return heads

    def _is_data(self, table: Node, grid: TableGrid, r: int) -> bool:
        cells = grid.distinct(r)
        if r < grid.heads or not cells or all(self.is_head(slot.cell) for slot in cells):
            return False
        if self._part_of(table, grid.rows[r]) == "tfoot":
            return False
        return not (len(cells) == 1 and grid.width > 1)

    def _part_of(self, table: Node, row: Node) -> str:
        """`thead` or `tfoot` where the row is in the first of them; else ""."""
        around = row.parent
        if table.tag != "table" or around is None or around.tag not in ("thead", "tfoot"):
            return ""
        first = next((part for part in self._elements.children(table) if part.tag == around.tag), None)
        return str(around.tag) if first is not None and first.mem_id == around.mem_id else ""

    # --- columns --------------------------------------------------------------------------------------

    def column(self, scope: Node, asked: str) -> list[Node]:
        """The cells under the header `asked`: of a row those in it, else those of all tables in the scope."""
        self.check()
        if self.is_row(scope):
            table = self.table_of(scope)
            at = self.grid(table).row_of(scope) if table is not None else None
            return self._cells(table, at, asked) if table is not None and at is not None else []
        cells: list[Node] = []
        for table in self.tables_in(scope):
            for r in self._data_rows(table, [asked]):
                cells += self._cells(table, r, asked)
        return cells

    def data_rows(self, table: Node, asked: Sequence[str]) -> list[Node]:
        """The rows with data of a table that has all these headers."""
        rows = self.grid(table).rows
        return [rows[r] for r in self._data_rows(table, asked)]

    def _data_rows(self, table: Node, asked: Sequence[str]) -> list[int]:
        grid = self.grid(table)
        if not all(self._columns(table, name) for name in asked):
            return []
        return [r for r in range(len(grid.rows)) if grid.is_data[r] and (grid.heads or r > 0)]

    def may_be_heading(self, row: Node) -> bool:
        """True for a row of a table that may hold headers or the title of a section."""
        table = self.table_of(row) if self.is_row(row) else None
        at = self.grid(table).row_of(row) if table is not None else None
        return table is not None and at is not None and not self.grid(table).is_data[at]

    def headers(self, table: Node) -> list[str]:
        """The texts of the cells of a table's headers, or of its first row."""
        grid = self.grid(table)
        return [
            slot.cell.text_lexbor() for r in range(min(len(grid.rows), max(1, grid.heads))) for slot in grid.distinct(r)
        ]

    def _called(self, cell: Node) -> list[str]:
        texts = (
            cell.text_lexbor(),
            self._elements.attribute(cell, "abbr"),
            self._elements.attribute(cell, "aria-label"),
        )
        return [js.fold(text) for text in texts if text]

    def _columns(self, table: Node, asked: str) -> list[tuple[int, int]]:
        """The columns under a header, as the first and the last of each; of rows of headers the lowest that has it."""
        key = (table.mem_id, asked)
        if key not in self._columns_of:
            self._columns_of[key] = self._under(self.grid(table), asked)
        return self._columns_of[key]

    def _under(self, grid: TableGrid, asked: str) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        rows = grid.heads or (1 if len(grid.slots) > 1 else 0)
        for r in range(rows - 1, -1, -1):
            spans = [(slot.c, slot.c + slot.w - 1) for slot in grid.distinct(r) if asked in self._called(slot.cell)]
            if spans:
                return spans
        # "Price net": the names of both rows of headers.
        for c in range(max(grid.slots[rows - 1], default=-1) + 1) if rows > 1 else ():
            cells = {id(row[c]): row[c].cell for row in grid.slots[:rows] if c in row}
            if js.fold(" ".join(js.fold(cell.text_lexbor()) for cell in cells.values())) == asked:
                spans.append((c, c))
        return spans

    def _cells(self, table: Node, r: int, asked: str) -> list[Node]:
        """The cells of a row under a header; none that spans other columns, too."""
        cells: dict[int, Node] = {}
        for first, last in self._columns(table, asked):
            for c in range(first, last + 1):
                slot = self.grid(table).slots[r].get(c)
                if slot is not None and slot.c >= first and slot.c + slot.w - 1 <= last:
                    cells.setdefault(slot.cell.mem_id, slot.cell)
        return list(cells.values())

    def beside(self, cell: Node) -> list[Node]:
        """The cells that a cell with a label labels: those right of it, or below a column's header."""
        row = next(filter(self.is_row, self._elements.up(cell)), None)
        table = self.table_of(row) if row is not None else None
        if row is None or table is None:
            return []
        grid = self.grid(table)
        at = grid.row_of(row)
        slot = (
            next((candidate for candidate in grid.distinct(at) if candidate.cell.mem_id == cell.mem_id), None)
            if at is not None
            else None
        )
        if slot is None:
            return []
        is_named = self._elements.attribute(cell, "scope") == "col" or self._role(cell) == "columnheader"
        heads_column = is_named or (slot.r < grid.heads and self.is_head(cell))
        if heads_column and len(grid.rows) > grid.heads:
            below = [grid.slots[r].get(slot.c) for r in range(len(grid.rows)) if grid.is_data[r]]
            return [
                under.cell
                for under in below
                if under is not None and under.w <= slot.w and not self.is_head(under.cell)
            ]
        return self._right_of(grid, slot)

    def _right_of(self, grid: TableGrid, slot: Slot) -> list[Node]:
        cells: dict[int, Node] = {}
        for r in range(slot.r, slot.r + slot.h):
            for c in range(slot.c + slot.w, max(grid.slots[r], default=-1) + 1):
                other = grid.slots[r].get(c)
                if other is None or other is slot:
                    continue
                if self.is_head(other.cell):
                    break
                cells.setdefault(other.cell.mem_id, other.cell)
        return list(cells.values())


def _same_parent(el: Node, other: Node) -> bool:
    around, its = el.parent, other.parent
    return around is not None and its is not None and around.mem_id == its.mem_id
