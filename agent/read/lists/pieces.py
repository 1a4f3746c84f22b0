"""A page as pieces of text in order, each with its path, its line and its link: what lists are found in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from urllib.parse import urljoin

from lxml import etree
from lxml.html import HtmlElement

from shoal.agent.page.page import Page
from shoal.agent.read.facts.struck import is_struck
from shoal.agent.read.facts.tables import is_cell, is_head, is_row, is_table
from shoal.agent.read.facts.texts import is_initials, is_note_mark
from shoal.agent.read.lists.elements import (
    INLINE,
    LOOKS,
    Path,
    attribute_number,
    classes_of,
    is_menu,
    step_of,
    step_with,
)
from shoal.agent.read.lists.tables import laid_columns, laid_rows_of
from shoal.agent.read.lists.words import words_in_line
from shoal.agent.read.words import word_set

_WITHOUT_TEXT = word_set("head iframe noscript object option script select style svg template textarea")
_FOR_READERS = re.compile(r"\b(visually-?hidden|sr-only|screen-reader(-text)?|hidden-accessible)\b", re.I)
"""Classes of text that only screen readers are given."""
_NO_TARGET = re.compile(r"\s*(javascript:|mailto:|tel:|#\s*$|$)", re.I)
_CODE = frozenset({"code", "tt", "kbd", "samp", "var"})
_MOST_BESIDE_CODE = 40
"""Characters of a paragraph that names and presents a piece of code, as "Since version 1.2"."""
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_ANCHOR = re.compile(r"[^\w\s]")
"""The text of a link that leads to its own place."""
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
    led: bool = False  # white space stands before it
    spaced: bool = False  # white space follows it


@dataclass(frozen=True, slots=True)
class Part:
    """A child of an element, or text between its children, with its stretch of pieces."""

    step: str
    start: int
    end: int
    el: HtmlElement | None  # None for text


@dataclass(frozen=True, slots=True)
class HeadingSpan:
    """A heading with its stretch of pieces."""

    start: int
    end: int
    text: str
    el: HtmlElement


@dataclass(slots=True)
class _OpenElement:
    """An element that is being walked through."""

    el: HtmlElement
    path: Path
    start: int
    link: HtmlElement | None
    in_menu: bool
    silent: bool  # its text is not shown
    struck: bool = False  # its text is struck through beside other text
    lines: bool = False  # its text is in lines as it is written
    parts: list[Part] = field(default_factory=list)
    classes: frozenset[str] = frozenset()
    kind: frozenset[str] | None = None  # the classes of the records that it is one of, once they were asked for
    of_kind: frozenset[str] = frozenset()  # those of the record that it is nested in
    own_end: int = -1  # the first piece of an element of its kind in it


@dataclass(slots=True)
class _Row:
    """The row of a table that is being walked through."""

    next_column: int = 0
    own: list[tuple[int, HtmlElement, int]] = field(default_factory=list)  # column, cell, rows below that it stands in


def joined(pieces: Sequence[Piece]) -> str:
    """The text of pieces that follow each other, with spaces where the page has some."""
    text, last = "", None
    for piece in pieces:
        apart = last is not None and (last.line != piece.line or last.spaced or piece.led or _set_apart(last, piece))
        text += (" " if apart else "") + piece.text
        last = piece
    return words_in_line(text)


def _set_apart(piece: Piece, following: Piece) -> bool:
    """True for words or figures of two elements side by side that hold all text of the element around.

    Style sets them apart: a price and what is left of it are no one number.
    """
    around = piece.el.getparent()
    if not (piece.text[-1:].isalnum() and following.text[:1].isalnum()) or piece.el is following.el or around is None:
        return False
    if around is not following.el.getparent():
        return False
    return not any(text and text.strip() for text in (around.text, *(el.tail for el in around)))


class PagePieces:
    """The pieces of a page; of each element its stretch of pieces, its path and its parts. Made in one walk."""

    def __init__(self, page: Page, *, hidden: bool = False) -> None:
        self.page = page
        self.hidden = hidden  # what is not shown is taken, too
        base = page.root.find(".//base[@href]")
        self.base = urljoin(page.url, base.get("href", "")) if base is not None else page.url
        self.pieces: list[Piece] = []
        self.span: dict[HtmlElement, tuple[int, int]] = {}
        self.path: dict[HtmlElement, Path] = {}
        self.parts: dict[HtmlElement, list[Part]] = {}
        self.menus: set[HtmlElement] = set()  # blocks that are named as navigation, and all elements in them
        self.laid: dict[HtmlElement, int] = {}  # columns of tables that are laid out by style
        self.laid_rows: dict[HtmlElement, HtmlElement] = {}  # the row that heads them, by row of such a table
        self._laid_at: dict[HtmlElement, int] = {}  # column, by cell of such a table
        self._lengths: dict[HtmlElement, int] = {}  # characters of paragraphs
        self._addresses: dict[HtmlElement, str] = {}  # of links
        self._texts: dict[HtmlElement, str] = {}  # of links
        self._mentioned: dict[HtmlElement, HtmlElement | None] = {}  # paragraphs of code, by the element of a piece
        self.between: set[HtmlElement] = set()  # elements between a record and those that are nested in it
        self._classes: dict[HtmlElement, Counter[tuple[object, str]]] = {}  # of children, by tag and class
        self._line = 0
        self._open: list[_OpenElement] = []
        self._rows: list[_Row] = []
        self._spread: list[dict[int, tuple[HtmlElement, int]]] = []  # of open tables: cells that reach down, by column
        self._walk()

    def address(self, link: HtmlElement) -> str:
        """The absolute address of a link."""
        known = self._addresses.get(link)
        if known is None:
            target = str(link.get("href") or "").strip()
            try:
                known = urljoin(self.base, target)
            except ValueError:
                known = target
            self._addresses[link] = known
        return known

    def text_of(self, link: HtmlElement) -> str:
        """All text in a link, shown or not, in one line."""
        known = self._texts.get(link)
        if known is None:
            known = self._texts[link] = words_in_line(str(link.text_content()))
        return known

    def in_menu(self, piece: Piece) -> bool:
        """True when the piece stands in a block that is named as navigation."""
        return piece.el in self.menus

    def mentioned(self, piece: Piece) -> bool:
        """True for code within a sentence: it mentions something, and what the record is called stands elsewhere."""
        if piece.el not in self._mentioned:
            self._mentioned[piece.el] = _paragraph_of_code(piece.el)
        paragraph = self._mentioned[piece.el]
        if paragraph is None or paragraph not in self.span:
            return False
        if paragraph not in self._lengths:
            start, end = self.span[paragraph]
            self._lengths[paragraph] = sum(len(each.text) for each in self.pieces[start:end])
        return self._lengths[paragraph] - len(piece.text) > _MOST_BESIDE_CODE

    @cached_property
    def headings(self) -> list[HeadingSpan]:
        """The headings that have a text, in the order of their ends."""
        spans = ((el, self.span[el]) for el in self.span if el.tag in _HEADINGS or el.get("role") == "heading")
        headings = (
            HeadingSpan(start, end, joined(self.pieces[start:end]), el) for el, (start, end) in spans if end > start
        )
        return sorted(headings, key=lambda heading: heading.end)

    def is_over(self, heading: HeadingSpan, start: int) -> bool:
        """True for a piece that stands in the block that a heading begins: in what is around it and has more text."""
        spans = (self.span.get(around, (0, 0)) for around in heading.el.iterancestors())
        block = next((span for span in spans if span != (heading.start, heading.end)), (0, 0))
        return heading.end <= start < block[1]

    # --- the walk -------------------------------------------------------------------------------------

    def span_of(self, cells: Sequence[HtmlElement]) -> tuple[int, int]:
        """The first piece in cells that follow each other, and the one after the last; (0, 0) without any."""
        spans = [span for cell in cells if (span := self.span.get(cell, (0, 0)))[1] > span[0]]
        return (spans[0][0], spans[-1][1]) if spans else (0, 0)

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
        if el.tag in _WITHOUT_TEXT:
            return True
        for_readers = _FOR_READERS.search(el.get("class") or "") or (el.get("aria-hidden") == "true" and el.tag != "a")
        if for_readers and not self.hidden:
            return True
        if (
            el.tag == "a"
            and (el.get("href") or "").startswith("#")
            and _ANCHOR.fullmatch(str(el.text_content()).strip())
        ):
            return True
        if is_note_mark(el) or is_initials(el):
            return True
        return not self.hidden and self.page.layout(el) == "none"

    def _enter(self, el: HtmlElement) -> None:
        above = self._open[-1] if self._open else None
        if el.tag not in INLINE:
            self._line += 1
        path = above.path if above else ()
        classes = of_kind = frozenset[str]()
        if is_cell(el):
            path = (*path, f"{'th' if is_head(el) else 'td'}@{self._column_of(el)}")
        elif el.tag in ("dt", "dd"):
            path = (*path, f"{el.tag}@0")
        elif el in self._laid_at:
            path = (*path, f"td@{self._laid_at[el]}")
        elif el.tag not in LOOKS:
            path = (*path, step_of(el))
            classes = classes_of(el)
            if classes and (outer := self._outer_of(el, classes)) is not None:
                of_kind = outer.kind or of_kind
                path = (*outer.path[:-1], step_with(el, of_kind))  # whatever further classes it has
        if columns := laid_columns(el):
            self.laid[el] = columns
            self._laid_at |= {cell: place % columns for place, cell in enumerate(el)}
        elif rows := laid_rows_of(el):
            self.laid_rows |= dict.fromkeys(rows[1:], rows[0])
            self._laid_at |= {cell: place for row in rows for place, cell in enumerate(row)}
        in_menu = (above.in_menu if above else False) or is_menu(el)
        if in_menu:
            self.menus.add(el)
        link = above.link if above else None
        if el.tag == "a" and el.get("href") is not None and not _NO_TARGET.match(el.get("href")):
            link = el
        if el.tag == "br":
            self._line += 1
        elif is_table(el):
            self._spread.append({})
        elif is_row(el):
            self._rows.append(_Row())
        self.path[el] = path
        struck = el.tag in INLINE and is_struck(self.page, el) and not (above and is_struck(self.page, above.el))
        silent = (
            struck
            or (above is not None and above.silent and above.struck)
            or not (self.hidden or self.page.is_visible(el))
        )
        struck = struck or (above is not None and above.struck)
        entry = _OpenElement(el, path, len(self.pieces), link, in_menu, silent, struck)
        entry.classes, entry.of_kind = classes, of_kind
        entry.lines = el.tag == "pre" or (above is not None and above.lines)
        self._open.append(entry)
        self._add_text(el.text, entry)

    def _outer_of(self, el: HtmlElement, classes: frozenset[str]) -> _OpenElement | None:
        """The record that another one of its kind, as a comment's answer, is nested in: its own pieces end there."""
        if el.tag in INLINE:
            return None
        for outer in reversed(self._open):
            if outer.el.tag != el.tag or classes.isdisjoint(outer.classes):
                continue
            if outer.kind is None:
                outer.kind = self._classes_of_records(outer)
            if outer.kind and outer.kind <= classes:
                if outer.own_end < 0:
                    outer.own_end = len(self.pieces)
                if outer.own_end == outer.start:
                    return None  # without pieces before those of the first one in it, it lays them out
                self.between |= {entry.el for entry in self._open if len(entry.path) > len(outer.path)}
                return outer
        return None

    def _classes_of_records(self, entry: _OpenElement) -> frozenset[str]:
        """The classes that tell the records beside an element: most of its siblings share them; none beside no record.

        A record that stands alone in another one is of that one's kind.
        """
        parent = entry.el.getparent()
        if parent is None:
            return frozenset()
        if parent not in self._classes:
            beside = (other for other in parent if isinstance(other.tag, str))
            self._classes[parent] = Counter((other.tag, name) for other in beside for name in classes_of(other))
        others = {name: self._classes[parent][entry.el.tag, name] - 1 for name in entry.classes}
        most = max(others.values())
        return frozenset(name for name, count in others.items() if 2 * count >= most) if most else entry.of_kind

    def _leave(self, el: HtmlElement) -> None:
        if is_row(el) and self._rows and el in self.path:
            self._end_row()
        elif is_table(el) and self._spread and el in self.path:
            self._spread.pop()
        entry = self._open.pop()
        if el not in self.path:
            return
        if len(self.pieces) == entry.start:
            if entry.link is el:
                self._add_picture_link(el, entry)
            elif is_cell(el) and not entry.silent and (text := self._control_or_picture_text(el)):
                self.pieces.append(Piece(text, el, entry.path, self._line, None, entry.start))
        self.span[el] = (entry.start, entry.own_end if entry.own_end > entry.start else len(self.pieces))
        self.parts[el] = entry.parts
        if self._open:
            self._open[-1].parts.append(Part(step_of(el), entry.start, len(self.pieces), el))
        if el.tag not in INLINE:
            self._line += 1

    def _control_or_picture_text(self, cell: HtmlElement) -> str:
        """Return what a cell without a text holds: the value of its one control, else what its one picture shows."""
        controls = [el for el in cell.iter("input", "select", "textarea") if el.get("type") != "hidden"]
        pictures = [el for el in cell.iter("img") if el.get("alt")]
        if len(controls) == 1:
            (control,) = controls
            if control.get("type") in ("checkbox", "radio"):
                return str(self.page.checked(control)).lower()
            if control.get("type") in ("password", "submit", "button", "image", "file", "reset"):
                return ""
            if control.tag == "select":
                chosen = [option for option in control.iter("option") if self.page.selected(option)]
                return words_in_line(str(chosen[0].text_content())) if chosen else ""
            return words_in_line(self.page.value(control) or "")
        return words_in_line(pictures[0].get("alt") or "") if len(pictures) == 1 and not controls else ""

    def _add_picture_link(self, el: HtmlElement, entry: _OpenElement) -> None:
        """A link without a text is called as its picture."""
        picture = el.find(".//img")
        name = el.get("title") or el.get("aria-label") or (picture.get("alt") if picture is not None else "") or ""
        self.pieces.append(Piece(words_in_line(name), el, (*entry.path, "%"), self._line, el, len(self.pieces)))

    def _add_tail(self, el: HtmlElement) -> None:
        if self._open:
            self._add_text(el.tail, self._open[-1])

    def _add_text(self, text: str | None, entry: _OpenElement) -> None:
        if text and entry.lines and "\n" in text:
            for place, line in enumerate(text.split("\n")):
                self._line += place > 0
                self._add_line(line, entry)
        else:
            self._add_line(text, entry)

    def _add_line(self, text: str | None, entry: _OpenElement) -> None:
        last = self.pieces[-1] if self.pieces else None
        if not text or entry.silent or not text.strip():
            if text and last is not None and last.line == self._line:
                last.spaced = True
            return
        if last is not None and self._goes_on(last, entry):
            between = "" if not text[:1].isspace() and not last.spaced else " "
            last.text = words_in_line(last.text + between + text)
            last.spaced = text[-1].isspace()
            return
        order = len(self.pieces)
        text = _unclipped(text, (entry.el, entry.link))
        led, spaced = text[0].isspace(), text[-1].isspace()
        self.pieces.append(Piece(words_in_line(text), entry.el, entry.path, self._line, entry.link, order, led, spaced))
        entry.parts.append(Part("#text", order, order + 1, None))

    def _goes_on(self, last: Piece, entry: _OpenElement) -> bool:
        if last.line != self._line or last.path != entry.path or last.link is not entry.link:
            return False
        looks = [el for el in (last.el, entry.el) if el.tag in LOOKS]
        if any(self.page.boxed(el) or self.page.smaller(el) for el in looks):
            return last.el is entry.el
        return bool(looks) or last.el is entry.el

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
        above = self._open[-1].path if is_row(self._open[-1].el) else self._open[-1].path[:depth]
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
                    piece.led,
                    piece.spaced,
                )
            )
        self._line = (self.pieces[-1].line if end > start else self._line) + 1


def _paragraph_of_code(el: HtmlElement) -> HtmlElement | None:
    """The paragraph that an element stands in, where it is code."""
    if not any(each.tag in _CODE for each in (el, *islice(el.iterancestors(), 3))):
        return None
    return next((each for each in (el, *el.iterancestors()) if each.tag == "p"), None)


def _unclipped(text: str, holders: Iterable[HtmlElement | None]) -> str:
    """A text that ends with dots in full, where a title of its element or its link has the rest."""
    begun = text.strip().rstrip(".… ")
    if not begun or not text.rstrip().endswith(("...", "…")):
        return text
    titles = (words_in_line(el.get("title") or "") for el in holders if el is not None)
    return next((title for title in titles if title.startswith(begun)), text)
