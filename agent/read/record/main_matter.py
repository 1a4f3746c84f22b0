"""The main matter of one page: its shown text by element, what stands apart from it, its titles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from lxml import etree, html

from shoal.agent.page import marks as m
from shoal.agent.page.page import Page
from shoal.agent.read.facts.struck import is_struck
from shoal.agent.read.facts.texts import names_of
from shoal.agent.read.values.days import day_is_shown
from shoal.agent.read.words import folded, letters, one_line
from shoal.agent.support.bounded_cache import bounded_cache
from shoal.agent.support.web_addresses import joined

_APART = re.compile(
    r"comment|respond|related|recommend|sidebar|similar|also|carousel|upsell|cross-?sell|footer|nav(bar|igation)?$|^nav"
    r"|breadcrumb|menu|cookie|newsletter|subscribe|share|social|promo|advert|popup|modal|login|recently|teaser",
    re.I,
)
"""Words by which pages name blocks that are about something else than the page."""
_APART_TAGS = frozenset({"nav", "footer", "aside", "form"})
_WHOLE_TAGS = frozenset({"html", "body", "main", "article"})
_INLINE = m.LAYOUTS.index("inline")
_PARTING = "\x1e"
"""Separator of the texts of blocks: white space to all that reads a line."""
_PARTING_SIGNS = re.compile(r" ?[|_·»«—–]+ ?| -+ ")
_LONGEST_TITLE = 500
_TELLING = 7
"""Characters of a line that is in a title by more than chance."""
_PARTS_OF_LINE = re.compile(r"[;|·•]|\. |, (?=[a-z]{4})")
_LONGEST_PART = 200
_MARKS = " \u00a0-–—*•·|:,;.([\"'"
_OTHER_EVENT = re.compile(
    r"(?:and )?(?:received|accepted|submitted|revised|expires?|expiry|valid|due|closing|deadline|until|ends?|born"
    r"|died|incorporated|founded|established|eingegangen|angenommen|reçu|accepté)\b",
    re.I,
)
"""Words before a day that is not that of the publication."""


class MainMatter:
    """A page's shown text, by element. Made once a page; all readers share it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        base = page.root.find(".//base[@href]")
        self.base = joined(page.url, base.get("href", "")) if base is not None else page.url
        self.lang = (page.root.get("lang") or "en")[:2].lower()
        self._apart = self._find_apart()
        self._pieces: list[str] = []
        self._owners: list[int] = []  # by piece: the number of the element whose text it is, -1 for what parts lines
        self._starts = [0] * len(page.elements)
        self._ends = [0] * len(page.elements)
        self.depth = 0  # levels of the tree
        self._collect_text()

    def _collect_text(self) -> None:
        number, open_ = -1, list[int]()
        for event, el in etree.iterwalk(self.page.root, events=("start", "end")):
            if isinstance(el.tag, str):
                if event == "start":
                    number += 1
                    open_.append(number)
                    self.depth = max(self.depth, len(open_))
                    self._starts[number] = len(self._pieces)
                    if self.parts_lines(number):
                        self._add(_PARTING)
                    self._add(el.text, number)
                    continue
                mine = open_.pop()
                if self.parts_lines(mine) or el.tag == "br":
                    self._add(_PARTING)
                self._ends[mine] = len(self._pieces)
            if event == "end" and open_:
                self._add(el.tail, open_[-1])

    def parts_lines(self, number: int) -> bool:
        """True for the number of an element that is a block, or stands as one in a line."""
        return self.page.marks[number] & m.LAYOUT != _INLINE

    def _add(self, text: str | None, owner: int = -1) -> None:
        if text and (owner < 0 or not self.page.marks[owner] & m.HIDDEN):
            self._pieces.append(text)
            self._owners.append(owner)

    def _find_apart(self) -> bytearray:
        page = self.page
        titled = {ancestor for heading in page.root.iter("h1") for ancestor in (heading, *heading.iterancestors())}
        apart = bytearray(len(page.elements))
        for number, el in enumerate(page.elements):
            parent = el.getparent()
            inherited = parent is not None and apart[page.number(parent)]
            apart[number] = inherited or (el not in titled and (_named_apart(el) or is_struck(page, el)))
        return apart

    # --- elements -------------------------------------------------------------------------------------

    def is_visible(self, el: html.HtmlElement) -> bool:
        """True when a person who scrolls can see the element."""
        return self.page.is_visible(el)

    def in_main(self, el: html.HtmlElement) -> bool:
        """True when the element is shown and does not stand apart from the page's main matter."""
        return self.page.is_visible(el) and not self._apart[self.page.number(el)]

    def text(self, el: html.HtmlElement) -> str:
        """The shown text of an element on one line."""
        number = self.page.number(el)
        return one_line("".join(self._pieces[self._starts[number] : self._ends[number]]))

    def main_pieces(self, el: html.HtmlElement | None = None) -> Iterator[tuple[int, str]]:
        """The shown texts of the main matter, of all of it or of one element, in document order.

        Each with the number of the element whose text it is; what parts lines with -1.
        """
        number = 0 if el is None else self.page.number(el)
        for place in range(self._starts[number], self._ends[number]):
            owner = self._owners[place]
            if owner < 0 or not self._apart[owner]:
                yield owner, self._pieces[place]

    @cached_property
    def linked(self) -> bytearray:
        """By element: 1 where it is a link or stands in one."""
        linked = bytearray(len(self.page.elements))
        for number, el in enumerate(self.page.elements):
            parent = el.getparent()
            linked[number] = el.tag == "a" or (parent is not None and linked[self.page.number(parent)])
        return linked

    def text_length(self, el: html.HtmlElement) -> int:
        """Characters of the element's shown text, spaces between elements included."""
        number = self.page.number(el)
        return self._lengths[self._ends[number]] - self._lengths[self._starts[number]]

    @cached_property
    def _lengths(self) -> list[int]:
        return [0, *accumulate(map(len, self._pieces))]

    # --- the whole page -------------------------------------------------------------------------------

    @cached_property
    def visible_text(self) -> str:
        """All shown text on one line."""
        return one_line("".join(self._pieces))

    @cached_property
    def visible_lines(self) -> tuple[str, ...]:
        """The shown text of each block, or of what stands beside blocks in one."""
        lines = "".join(self._pieces).split(_PARTING)
        return tuple(line for text in lines if (line := one_line(text)))

    def dates_another_event(self, day: str) -> bool:
        """True for a day that the page shows only as that of something else: "Received 1 March 2025"."""
        shown = [
            part
            for line in self.visible_lines
            for part in _PARTS_OF_LINE.split(line)
            if len(part) <= _LONGEST_PART and day_is_shown(day, part.lower(), self.lang)
        ]
        return bool(shown) and all(_OTHER_EVENT.match(part.lstrip(_MARKS)) for part in shown)

    @cached_property
    def visible_folded(self) -> str:
        """All shown text, folded for looking values up."""
        return folded(self.visible_text)

    @cached_property
    def visible_letters(self) -> str:
        """All shown text, folded to letters and figures alone."""
        return letters(self.visible_text)

    @cached_property
    def main_folded(self) -> str:
        """The shown text of the main matter, folded."""
        return folded("".join(piece for _, piece in self.main_pieces()))

    @cached_property
    def title_line(self) -> str:
        """The line of the main matter that is the document's title, or begins it before a sign; "" for none.

        Behind the sign stands the site's name. Where the page shows both sides, which is the site's is not known. A
        link is none: it leads to another page.
        """
        title = one_line(next(map(_content, self.page.root.iter("title")), ""))
        if len(title) > _LONGEST_TITLE:
            return ""
        signs = list(_PARTING_SIGNS.finditer(title))
        begun = {folded(title), *(folded(title[: sign.start()]) for sign in signs)}
        behind = {folded(title[sign.end() :]) for sign in signs}
        lines = {folded(line): line for line in self._main_lines(linked=False) if len(line) <= 2 * len(title)}
        shown = {folded(line) for line in self._main_lines(linked=True) if len(line) <= 2 * len(title)} - {""}
        best = max(begun & lines.keys(), key=len, default="")
        known = len(best) >= _TELLING and all(part in best for part in (begun | behind) & shown)
        return one_line(lines[best]) if known else ""

    def _main_lines(self, *, linked: bool) -> Sequence[str]:
        """The lines of the main matter, with links or without."""
        pieces = (piece for owner, piece in self.main_pieces() if owner < 0 or linked or not self.linked[owner])
        return "".join(pieces).split(_PARTING)

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """Return what the page calls itself: first-level headings, titles of meta elements, the document's title."""
        root = self.page.root
        metas = [
            el.get("content", "")
            for el in root.iter("meta")
            if "og:title" in (el.get("property"), el.get("name")) or el.get("name") == "twitter:title"
        ]
        texts = [*map(_content, root.iter("h1")), *metas, *[_content(el) for el in root.iter("title")][:1]]
        return tuple(line for text in texts if (line := one_line(text)))


def _named_apart(el: html.HtmlElement) -> bool:
    if el.tag in _APART_TAGS:
        return True
    if el.tag in _WHOLE_TAGS:
        return False
    return any(map(_is_apart, names_of(el).split()))


@bounded_cache(8_000, longest=100)
def _is_apart(name: str) -> bool:
    return _APART.search(name) is not None


def _content(el: html.HtmlElement) -> str:
    return str(el.text_content())
