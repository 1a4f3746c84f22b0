"""The surroundings of a value, and the common parts of addresses, from which columns are made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, takewhile

from lxml.html import HtmlElement

from shoal.agent.page.page import Page
from shoal.agent.read.facts.lines import BY, WROTE
from shoal.agent.read.facts.tables import is_cell, is_head, is_row
from shoal.agent.read.lists.column import Column
from shoal.agent.read.lists.elements import INLINE, block_of, tags_of
from shoal.agent.read.lists.pieces import PagePieces, Piece
from shoal.agent.read.lists.tables import cells_of
from shoal.agent.read.values.text_values import money_in

_HEADINGS = frozenset({"h2", "h3", "h4", "h5", "h6", "strong", "summary"})
_WORD = re.compile(r"[^\W\d_]{3,20}")
_BY = re.compile(rf"(?:(?:{WROTE}|\d{{1,9}} \w{{1,40}}) )?(?:{BY}):?", re.I)
_ADDRESS = re.compile(r"https?://\S+")


def addresses(place: Column) -> list[Column]:
    """The column of addresses that are texts, and no links."""
    if not place.texts or not all(map(_ADDRESS.fullmatch, place.texts)):
        return []
    return [replace(place, kind="link", source=(*place.source, "address"), links=[])]


def common_steps(addresses: Sequence[str]) -> list[str]:
    """The words of the paths, their ends aside, that all addresses have."""
    steps = [set(re.split(r"[/._-]", re.sub(r"^\w+://[^/]*|[?#].*", "", address))[:-1]) for address in addresses]
    return sorted(set.intersection(*steps))


def first_link(pieces: Sequence[Piece]) -> HtmlElement | None:
    """The first link of a record; None where it has none."""
    return next((piece.link for piece in pieces if piece.link is not None), None)


def within_named(pieces: Sequence[Piece], place: int) -> Sequence[Piece]:
    """A piece, with those that follow it within its element where a class names that."""
    path, line = pieces[place].path, pieces[place].line
    if not path or not path[-1].startswith("span."):
        return pieces[place : place + 1]
    return list(takewhile(lambda piece: piece.line == line and piece.path[: len(path)] == path, pieces[place:]))


def headed(pieces: Sequence[Piece], depth: int) -> Sequence[Piece]:
    """A record's heading, where the rest of the record is text of one kind: a question and its answer."""
    steps = [tags_of(piece.path[depth:]) for piece in pieces]
    head = [piece for piece, tags in zip(pieces, steps, strict=True) if _HEADINGS & set(tags)]
    rest = {block_of(piece.path[depth:]) for piece in pieces[len(head) :]}
    if head and any(piece.line == head[-1].line and money_in(piece.text) for piece in pieces[len(head) :]):
        return ()  # a thing with its price
    return head if len(rest) == 1 and head == list(pieces[: len(head)]) else ()


def named_before(pieces: Sequence[Piece], place: int) -> str:
    """Return what the word right before a piece in its line says that it is: an author, after "by"; "" for nothing."""
    before = pieces[place - 1] if place else None
    led = before is not None and before.line == pieces[place].line and _BY.fullmatch(before.text)
    return "author" if led else ""


def within_line(el: HtmlElement) -> Iterator[HtmlElement]:
    """An element and those around it, within its cell."""
    return takewhile(lambda above: not is_cell(above), (el, *el.iterancestors()))


def beside(label: Piece, value: Piece) -> bool:
    """True where a label stands with its value in one cell, or in a row of just the two; in one entry of a list."""
    entry = next((el for el in _around(label) if el.tag == "li"), None)
    if entry is not None and entry not in _around(value):
        return False
    label_cell, value_cell = (next(filter(is_cell, _around(piece)), None) for piece in (label, value))
    if label_cell is not value_cell and value_cell is not None and is_head(value_cell):
        return False  # the next header
    if label_cell is value_cell or label_cell is None or value_cell is None or is_head(label_cell):
        return True
    row = label_cell.getparent()
    return row is not None and row is value_cell.getparent() and len(cells_of(row)) == 2


def held_with(label: Piece, following: Sequence[Piece]) -> Sequence[Piece]:
    """The pieces up to the end of the element that holds the label and the first of them.

    In <span>Priority: <b>Low</b></span> <span>Oslo</span> the label says nothing of "Oslo".
    """
    first = set(_around(following[0])) if following else set()
    holder = next((el for el in _around(label) if el in first), None)
    return [piece for piece in following if holder in _around(piece)]


def ends_with_badge(line: Sequence[Piece]) -> bool:
    """True for a line whose last words, in an element with a class of its own, follow its text without a space.

    Style sets them apart, as of a label behind the subject of a message.
    """
    if len(line) < 2:
        return False
    text, badge = line[-2:]
    within = badge.el.getparent() is text.el and bool(badge.el.get("class")) and not (badge.el.tail or "").strip()
    words = " " in text.text and text.text[-1].isalpha() and _WORD.fullmatch(badge.text) is not None
    return within and words and not (text.spaced or badge.led)


def _around(piece: Piece) -> Sequence[HtmlElement]:
    return (piece.el, *piece.el.iterancestors())


def element_with_text(page: Page, text: str) -> HtmlElement | None:
    """The row, else the block, whose text is `text`, spaces aside; None where the page has none, or several."""
    pieces = PagePieces(page)
    bare = _squashed(text)
    texts = [_squashed(piece.text) for piece in pieces.pieces]
    ends = [0, *accumulate(map(len, texts))]
    alike = [
        el
        for el, (start, end) in pieces.span.items()
        if ends[end] - ends[start] == len(bare) and "".join(texts[start:end]) == bare
    ]
    alike.sort(key=lambda el: sum(1 for _ in el.iterancestors()))
    if not alike or any(alike[0] not in el.iterancestors() for el in alike[1:]):
        return None
    blocks = [el for el in alike if el.tag not in INLINE]
    return next(filter(is_row, blocks), (blocks or alike)[-1])


def _squashed(text: str) -> str:
    return "".join(text.split()).casefold()
