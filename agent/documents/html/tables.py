"""The tables of a raw document as slots, and what stands in them under a header or beside a cell."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.html import text as js
from shoal.agent.documents.html.elements import Elements, children

_MOST_SLOTS = 20_000
_MOST_COLUMNS = 1_000
_ROLES = '[role="table"],[role="grid"],[role="treegrid"],[role="row"],[role="columnheader"],[role="rowheader"],'
_ROLES += '[role="cell"],[role="gridcell"]'
_TABLE = frozenset({"table"})


@dataclass(frozen=True, slots=True)
class Slot:
    """One cell: where it begins, and over how many columns and rows it reaches."""

    cell: LexborNode
    r: int
    c: int
    w: int
    h: int


@dataclass(slots=True)
class TableGrid:
    """One table."""

    rows: list[LexborNode]
    slots: list[dict[int, Slot]]  # by row, by column
    heads: int
    is_data: list[bool]

    def row_of(self, row: LexborNode) -> int | None:
        """The index of a row."""
        return next((r for r, other in enumerate(self.rows) if other.mem_id == row.mem_id), None)

    def distinct(self, r: int) -> list[Slot]:
        """The cells that reach into a row, in order."""
        return list({id(slot): slot for _, slot in sorted(self.slots[r].items())}.values())


class Tables:
    """The tables of one document; each is laid out once."""

    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._grids: dict[int, TableGrid] = {}
        self._plain = False

    def check(self) -> None:
        """Lets a document pass whose tables are made of tables alone.

        Raises:
            BeyondDocument: some are made by roles.
        """
        if not self._plain and self._elements.tree.css_first(_ROLES) is not None:
            raise BeyondDocument("tables that are made by roles are read in a browser")
        self._plain = True

    def is_head(self, cell: LexborNode) -> bool:
        """Return whether a cell is a header."""
        return cell.tag == "th" and self._elements.attribute(cell, "role") not in ("cell", "gridcell")

    def table_of(self, row: LexborNode) -> LexborNode | None:
        """The table around a row."""
        return self._elements.closest(row, _TABLE)

    # --- the grid -------------------------------------------------------------------------------------

    def grid(self, table: LexborNode) -> TableGrid:
        """The table as slots."""
        known = self._grids.get(table.mem_id)
        if known is None:
            known = self._grids[table.mem_id] = self._laid_out(table)
        return known

    def _laid_out(self, table: LexborNode) -> TableGrid:
        rows = _rows(table)
        slots: list[dict[int, Slot]] = [{} for _ in rows]
        taken = 0
        for r, row in enumerate(rows):
            c = 0
            for cell in children(row):
                if cell.tag not in ("td", "th"):
                    continue
                while c in slots[r]:
                    c += 1
                slot = self._slot(cell, rows, r, c)
                for y in range(r, r + slot.h):
                    for x in range(c, c + slot.w):
                        slots[y].setdefault(x, slot)
                        taken += 1
                if taken > _MOST_SLOTS:
                    raise BeyondDocument("a table is very large")
                c += slot.w
        grid = TableGrid(rows, slots, 0, [])
        heads = self._heads(table, grid)
        grid.heads = 0 if heads == len(rows) else heads
        grid.is_data = [self._is_data(table, grid, r) for r in range(len(rows))]
        return grid

    def _slot(self, cell: LexborNode, rows: list[LexborNode], r: int, c: int) -> Slot:
        w = self._span(cell, "colspan")
        said = self._span(cell, "rowspan")
        most = len(rows) if said == 0 else said
        h = 1
        while h < most and r + h < len(rows) and _same_parent(rows[r + h], rows[r]):
            h += 1
        return Slot(cell, r, c, max(1, w), h)

    def _span(self, cell: LexborNode, name: str) -> int:
        said = self._elements.attribute(cell, name)
        if said is None:
            return 1
        if not (said.isascii() and said.isdigit()) or int(said) > _MOST_COLUMNS:
            raise BeyondDocument("a cell's span is written in an odd way")
        return int(said)

    def _width(self, grid: TableGrid) -> int:
        return max((max(row) + 1 for row in grid.slots if row), default=0)

    def _heads(self, table: LexborNode, grid: TableGrid) -> int:
        width, heads = self._width(grid), 0
        while heads < len(grid.rows):
            cells = grid.distinct(heads)
            full = [slot for slot in cells if js.squash(slot.cell.text_lexbor())]
            in_head = _part_of(table, grid.rows[heads]) == "thead"
            named = bool(cells) and (in_head or (bool(full) and all(self.is_head(slot.cell) for slot in full)))
            if not named or (len(cells) == 1 and width > 1 and not in_head):
                break
            heads += 1
        return heads

    def _is_data(self, table: LexborNode, grid: TableGrid, r: int) -> bool:
        cells = grid.distinct(r)
        if r < grid.heads or not cells or all(self.is_head(slot.cell) for slot in cells):
            return False
        if _part_of(table, grid.rows[r]) == "tfoot":
            return False
        return not (len(cells) == 1 and self._width(grid) > 1)

    # --- columns --------------------------------------------------------------------------------------

    def column(self, asked: str) -> list[LexborNode]:
        """The cells under the header `asked`, in all tables."""
        self.check()
        cells: list[LexborNode] = []
        for table in self._elements.find(self._elements.root, "table"):
            grid = self.grid(table)
            columns = self._columns(grid, asked)
            for r in range(len(grid.rows)):
                if columns and grid.is_data[r] and (grid.heads or r > 0):
                    cells += self._cells(grid, r, columns)
        return cells

    def _called(self, cell: LexborNode) -> list[str]:
        texts = (
            cell.text_lexbor(),
            self._elements.attribute(cell, "abbr"),
            self._elements.attribute(cell, "aria-label"),
        )
        return [js.fold(text) for text in texts if text]

    def _columns(self, grid: TableGrid, asked: str) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        rows = grid.heads or (1 if len(grid.slots) > 1 else 0)
        for r in range(rows - 1, -1, -1):
            spans = [(slot.c, slot.c + slot.w - 1) for slot in grid.distinct(r) if asked in self._called(slot.cell)]
            if spans:
                return spans
        for c in range(max(grid.slots[rows - 1], default=-1) + 1) if rows > 1 else ():
            cells = {id(row[c]): row[c].cell for row in grid.slots[:rows] if c in row}
            if js.fold(" ".join(js.fold(cell.text_lexbor()) for cell in cells.values())) == asked:
                spans.append((c, c))
        return spans

    def _cells(self, grid: TableGrid, r: int, columns: list[tuple[int, int]]) -> list[LexborNode]:
        cells: dict[int, LexborNode] = {}
        for first, last in columns:
            for c in range(first, last + 1):
                slot = grid.slots[r].get(c)
                if slot is not None and slot.c >= first and slot.c + slot.w - 1 <= last:
                    cells.setdefault(slot.cell.mem_id, slot.cell)
        return list(cells.values())

    def beside(self, cell: LexborNode) -> list[LexborNode]:
        """The cells that a cell with a label labels: those right of it, or below a column's header."""
        row = self._elements.closest(cell, frozenset({"tr"}))
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
        heads_column = self._elements.attribute(cell, "scope") == "col" or (slot.r < grid.heads and self.is_head(cell))
        if heads_column and len(grid.rows) > grid.heads:
            below = [grid.slots[r].get(slot.c) for r in range(len(grid.rows)) if grid.is_data[r]]
            return [
                under.cell
                for under in below
                if under is not None and under.w <= slot.w and not self.is_head(under.cell)
            ]
        return self._right_of(grid, slot)

    def _right_of(self, grid: TableGrid, slot: Slot) -> list[LexborNode]:
        cells: dict[int, LexborNode] = {}
        for r in range(slot.r, slot.r + slot.h):
            for c in range(slot.c + slot.w, max(grid.slots[r], default=-1) + 1):
                other = grid.slots[r].get(c)
                if other is None or other is slot:
                    continue
                if self.is_head(other.cell):
                    break
                cells.setdefault(other.cell.mem_id, other.cell)
        return list(cells.values())


def _rows(table: LexborNode) -> list[LexborNode]:
    """The rows as a browser orders them: heads, then bodies, then feet."""
    parts: dict[str, list[LexborNode]] = {"thead": [], "tbody": [], "tfoot": []}
    for part in children(table):
        if part.tag == "tr":
            parts["tbody"].append(part)
        elif part.tag in parts:
            parts[str(part.tag)] += [row for row in children(part) if row.tag == "tr"]
    return [*parts["thead"], *parts["tbody"], *parts["tfoot"]]


def _part_of(table: LexborNode, row: LexborNode) -> str:
    """`thead` or `tfoot` where the row is in the first of them; else ""."""
    around = row.parent
    if around is None or around.tag not in ("thead", "tfoot"):
        return ""
    first = next((part for part in children(table) if part.tag == around.tag), None)
    return str(around.tag) if first is not None and first.mem_id == around.mem_id else ""


def _same_parent(lexbor_node: LexborNode, other: LexborNode) -> bool:
    return (
        lexbor_node.parent is not None and other.parent is not None and lexbor_node.parent.mem_id == other.parent.mem_id
    )
