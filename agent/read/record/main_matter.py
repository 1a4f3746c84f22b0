"""The main matter of one page: its shown text by element, what stands apart from it, its titles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate

from lxml import etree, html

from shoal.agent.page import marks as m
from shoal.agent.page.page import Page
from shoal.agent.read.facts.struck import is_struck
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
        self._pieces: list[str] = []
        self._starts = [0] * len(page.elements)
        self._ends = [0] * len(page.elements)
        self.depth = 0  # levels of the tree
        self._collect_text()
        self._apart = self._find_apart()

    def _collect_text(self) -> None:
        page, pieces, number = self.page, self._pieces, -1
        open_: list[tuple[int, bool]] = []
        for event, el in etree.iterwalk(page.root, events=("start", "end")):
            if not isinstance(el.tag, str):
                if event == "end" and el.tail and open_ and open_[-1][1]:
                    pieces.append(el.tail)
                continue
            if event == "start":
                number += 1
                mark = page.marks[number]
                shown = not mark & m.HIDDEN
                open_.append((number, shown))
                self.depth = max(self.depth, len(open_))
                self._starts[number] = len(pieces)
                if mark & m.LAYOUT != _INLINE:
                    pieces.append(_PARTING)
                if shown and el.text:
                    pieces.append(el.text)
                continue
            mine, _ = open_.pop()
            if page.marks[mine] & m.LAYOUT != _INLINE or el.tag == "br":
                pieces.append(_PARTING)
            self._ends[mine] = len(pieces)
            if el.tail and open_ and open_[-1][1]:
                pieces.append(el.tail)

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

    def text_length(self, el: html.HtmlElement) -> int:
        """Characters of the element's shown text, spaces between elements included."""
        number = self.page.number(el)
        return self._lengths[self._ends[number]] - self._lengths[self._starts[number]]

    @cached_property
    def _lengths(self) -> list[int]:
        return [0, *accumulate(map(len, self._pieces))]

    def main_elements(self, *tags: str) -> Iterator[html.HtmlElement]:
        """The shown elements of the main matter in document order, of these tags alone where some are given."""
        for el in self.page.root.iter(*tags) if tags else self.page.elements:
            if self.in_main(el):
                yield el

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
        pieces: list[str] = []
        for el in self.page.elements:
            if self.in_main(el) and el.text:
                pieces.append(el.text)
            parent = el.getparent()
            if el.tail and parent is not None and self.in_main(parent):
                pieces.append(el.tail)
        return folded(" ".join(pieces))

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
    return any(map(_is_apart, f"{el.get('class') or ''} {el.get('id') or ''}".split()))


@bounded_cache(8_000, longest=100)
def _is_apart(name: str) -> bool:
    return _APART.search(name) is not None


def _content(el: html.HtmlElement) -> str:
    return str(el.text_content())
