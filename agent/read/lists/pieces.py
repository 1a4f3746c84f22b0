"""A page as pieces of text in order, each with its path, its line and its link: what lists are found in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import urljoin

from lxml import etree
from lxml.html import HtmlElement

from shoal.agent.page.page import Page
from shoal.agent.read.words import word_set

Path = tuple[str, ...]
"""Steps from the root to an element: tag and classes, of cells the tag and their column."""

_LOOKS = word_set("abbr acronym bdi bdo big cite em font i ins mark nobr q s small sub sup tt u wbr")
"""Elements that only change how text looks: text in them goes on the text around."""
INLINE = _LOOKS | word_set("a b code img kbd label samp span strike strong time var")
"""Elements that stand in a line."""
_WITHOUT_TEXT = word_set("head iframe noscript object option script select style svg template textarea")
_MENU = re.compile(
    r"\b(nav|navbar|menu|footer|breadcrumbs?|pager|pagination|sidebar|toolbar|social|share|cookie|skip)", re.I
)
_FOR_READERS = re.compile(r"\b(visually-?hidden|sr-only|screen-reader(-text)?|hidden-accessible)\b", re.I)
"""Classes of text that only screen readers are given."""
_STATE = re.compile(r"\d|(^|[-_])(odd|even|first|last|alt|active|current|hidden|collapsed?|show)($|[-_])")
"""Classes that tell parts of one kind apart."""
_NO_TARGET = re.compile(r"\s*(javascript:|mailto:|tel:|#\s*$|$)", re.I)
_CELLS = ("td", "th")
_MOST_COLUMNS = 30
_MOST_ROWS = 200
"""Rows that one cell may stand in."""


@dataclass(slots=True)
class Piece:
    """A run of text that stands in one place."""

    text: str
    el: HtmlElement
    path: Path
    line: int  # pieces of one line stand beside each other
    link: HtmlElement | None  # the link that it stands in
    order: int
    spaced: bool = False  # white space follows it


@dataclass(frozen=True, slots=True)
class Part:
    """A child of an element, or text between its children, with its stretch of pieces."""

    step: str
    start: int
    end: int
    el: HtmlElement | None  # None for text


@dataclass(slots=True)
class _OpenElement:
    """An element that is being walked through."""

    el: HtmlElement
    path: Path
    start: int
    link: HtmlElement | None
    in_menu: bool
    silent: bool  # its text is not shown
    parts: list[Part] = field(default_factory=list)


@dataclass(slots=True)
class _Row:
    """The row of a table that is being walked through."""

    next_column: int = 0
    own: list[tuple[int, HtmlElement, int]] = field(default_factory=list)  # column, cell, rows below that it stands in


def words_in_line(text: str) -> str:
    """`text` with single spaces."""
    return " ".join(text.split())


def attribute_number(el: HtmlElement, name: str, most: int) -> int:
    """A whole number that an attribute states, 1 without one, at most `most`."""
    figures = re.sub(r"\D", "", el.get(name) or "")[:6]
    return max(1, min(int(figures or 1), most))


class PagePieces:
    """The pieces of a page; of each element its stretch of pieces, its path and its parts. Made in one walk."""

    def __init__(self, page: Page) -> None:
        self.page = page
        base = page.root.find(".//base[@href]")
        self.base = urljoin(page.url, base.get("href", "")) if base is not None else page.url
        self.pieces: list[Piece] = []
        self.span: dict[HtmlElement, tuple[int, int]] = {}
        self.path: dict[HtmlElement, Path] = {}
        self.parts: dict[HtmlElement, list[Part]] = {}
        self.menus: set[HtmlElement] = set()
        self._line = 0
        self._open: list[_OpenElement] = []
        self._rows: list[_Row] = []
        self._spread: list[
            dict[int, tuple[HtmlElement, int]]
        ] = []  # of each open table: cells that reach down, by column
        self._walk()

    def address(self, link: HtmlElement) -> str:
        """The absolute address of a link."""
        target = str(link.get("href") or "").strip()
        try:
            return urljoin(self.base, target)
        except ValueError:
            return target

    def in_menu(self, piece: Piece) -> bool:
        """True when the piece stands in a block that is named as navigation."""
        return any(el in self.menus for el in (piece.el, *piece.el.iterancestors()))

    # --- the walk -------------------------------------------------------------------------------------

    def _walk(self) -> None:
        body = self.page.root.find(".//body")
        walk = etree.iterwalk(body if body is not None else self.page.root, events=("start", "end"))
        for event, el in walk:
            if not isinstance(el.tag, str):
                if event == "end":
                    self._add_tail(el)
            elif event == "start":
                if self._skipped(el):
                    walk.skip_subtree()
                    self._open.append(_OpenElement(el, (), len(self.pieces), None, False, True))
                else:
                    self._enter(el)
            else:
                self._leave(el)
                self._add_tail(el)

    def _skipped(self, el: HtmlElement) -> bool:
        if el.tag in _WITHOUT_TEXT or _FOR_READERS.search(el.get("class") or ""):
            return True
        if el.get("aria-hidden") == "true" and el.tag != "a":
            return True
        return self.page.layout(el) == "none"

    def _enter(self, el: HtmlElement) -> None:
        above = self._open[-1] if self._open else None
        if el.tag not in INLINE:
            self._line += 1
        path = above.path if above else ()
        if el.tag in _CELLS:
            path = (*path, f"{el.tag}@{self._column_of(el)}")
        elif el.tag not in _LOOKS:
            path = (*path, step_of(el))
        in_menu = (above.in_menu if above else False) or _is_menu(el)
        if in_menu:
            self.menus.add(el)
        link = above.link if above else None
        if el.tag == "a" and el.get("href") is not None and not _NO_TARGET.match(el.get("href")):
            link = el
        if el.tag == "br":
            self._line += 1
        elif el.tag == "table":
            self._spread.append({})
        elif el.tag == "tr":
            self._rows.append(_Row())
        self.path[el] = path
        entry = _OpenElement(el, path, len(self.pieces), link, in_menu, not self.page.shown(el))
        self._open.append(entry)
        self._add_text(el.text, entry)

    def _leave(self, el: HtmlElement) -> None:
        if el.tag == "tr" and self._rows and el in self.path:
            self._end_row()
        elif el.tag == "table" and self._spread and el in self.path:
            self._spread.pop()
        entry = self._open.pop()
        if el not in self.path:
            return
        if entry.link is el and len(self.pieces) == entry.start:
            self._add_picture_link(el, entry)
        self.span[el] = (entry.start, len(self.pieces))
        self.parts[el] = entry.parts
        if self._open:
            self._open[-1].parts.append(Part(step_of(el), entry.start, len(self.pieces), el))
        if el.tag not in INLINE:
            self._line += 1

    def _add_picture_link(self, el: HtmlElement, entry: _OpenElement) -> None:
        """A link without a text is called as its picture."""
        picture = el.find(".//img")
        name = el.get("title") or el.get("aria-label") or (picture.get("alt") if picture is not None else "") or ""
        self.pieces.append(Piece(words_in_line(name), el, (*entry.path, "%"), self._line, el, len(self.pieces)))

    def _add_tail(self, el: HtmlElement) -> None:
        if self._open:
            self._add_text(el.tail, self._open[-1])

    def _add_text(self, text: str | None, entry: _OpenElement) -> None:
        if not text or entry.silent or not text.strip():
            return
        last = self.pieces[-1] if self.pieces else None
        if last is not None and self._goes_on(last, entry):
            between = "" if not text[:1].isspace() and not last.spaced else " "
            last.text = words_in_line(last.text + between + text)
            last.spaced = text[-1].isspace()
            return
        order = len(self.pieces)
        self.pieces.append(
            Piece(words_in_line(text), entry.el, entry.path, self._line, entry.link, order, text[-1].isspace())
        )
        entry.parts.append(Part("#text", order, order + 1, None))

    def _goes_on(self, last: Piece, entry: _OpenElement) -> bool:
        if last.line != self._line or last.path != entry.path or last.link is not entry.link:
            return False
        return entry.el.tag in _LOOKS or last.el.tag in _LOOKS or last.el is entry.el

    # --- cells that reach over several rows -----------------------------------------------------------

    def _column_of(self, cell: HtmlElement) -> int:
        """The column of a cell that begins, after the cells of earlier rows that reach into its row."""
        if not self._rows:
            return 0
        row = self._rows[-1]
        self._insert_spread(row, until=None)
        column = row.next_column
        row.next_column += attribute_number(cell, "colspan", _MOST_COLUMNS)
        rows = attribute_number(cell, "rowspan", _MOST_ROWS)
        if rows > 1:
            row.own.append((column, cell, rows - 1))
        return column

    def _end_row(self) -> None:
        row = self._rows[-1]
        spread = self._spread[-1] if self._spread else {}
        self._insert_spread(row, until=max(spread, default=-1))
        self._rows.pop()
        for column, cell, rows in row.own:
            spread[column] = (cell, rows)

    def _insert_spread(self, row: _Row, until: int | None) -> None:
        """Give the row the pieces of the cells above that reach into it: at its next column, or at all `until` one."""
        spread = self._spread[-1] if self._spread else {}
        while row.next_column in spread or (until is not None and row.next_column <= until):
            column = row.next_column
            if column not in spread:
                row.next_column += 1
                continue
            cell, rows = spread.pop(column)
            if rows > 1:
                row.own.append((column, cell, rows - 1))
            self._copy(cell)
            row.next_column += attribute_number(cell, "colspan", _MOST_COLUMNS)

    def _copy(self, cell: HtmlElement) -> None:
        start, end = self.span.get(cell, (0, 0))
        depth = len(self.path[cell]) - 1
        above = self._open[-1].path if self._open[-1].el.tag == "tr" else self._open[-1].path[:depth]
        first = self.pieces[start].line if end > start else 0
        self._line += 1
        for piece in self.pieces[start:end]:
            line = self._line + piece.line - first
            self.pieces.append(
                Piece(
                    piece.text,
                    piece.el,
                    (*above, *piece.path[depth:]),
                    line,
                    piece.link,
                    len(self.pieces),
                    piece.spaced,
                )
            )
        self._line = (self.pieces[-1].line if end > start else self._line) + 1


def step_of(el: HtmlElement) -> str:
    """An element's tag with its classes, those aside that tell parts of one kind apart."""
    classes = [name for name in (el.get("class") or "").split() if not _STATE.search(name)]
    return ".".join([str(el.tag), *sorted(classes)[:4]])


def _is_menu(el: HtmlElement) -> bool:
    if el.tag in ("nav", "footer"):
        return True
    if el.tag in ("body", "html", "main", "form"):
        return False
    return bool(_MENU.search(f"{el.get('class') or ''} {el.get('id') or ''} {el.get('role') or ''}"))
