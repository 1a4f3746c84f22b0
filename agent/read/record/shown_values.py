"""What a page shows with a name beside it: labelled values, lists under a heading, and elements that are named."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from lxml.html import HtmlElement

from shoal.agent.read.record.main_matter import MainMatter
from shoal.agent.read.vocabulary import Types
from shoal.agent.read.words import tokens, word_set

_LABEL_TAGS = ("dt", "th", "td", "li", "p", "div", "span", "strong", "b", "label", "em", "h4", "h5")
_LINE = re.compile(r"([^:：]{2,30})[:：]\s*(.{1,80})")
_LONGEST_LABEL = 32
_LONGEST_VALUE = 120
_VALUE_TAGS = frozenset({"span", "div", "a", "p", "strong", "b", "time"})
_LABELLING_TAGS = frozenset({"strong", "b", "label", "span", "div", "h4", "h5"})
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "legend")
_BULLETS = re.compile(r"^[▢□☐•\-–\s]+")
_NAMING = ("class", "id", "itemprop", "data-testid", "data-test", "data-qa")
_NEUTRAL = word_set(
    "value item text info detail main field content list entry single js wrapper name page current block title"
)
"""Words in the names of elements that say nothing of what they hold."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A value that stands beside a label."""

    label: str
    value: str
    el: HtmlElement  # that holds the value


@dataclass(frozen=True, slots=True)
class HeadedList:
    """A list that stands under a heading."""

    heading: str
    entries: tuple[str, ...]


class ShownValues:
    """The values of a page's main matter that have a name beside them."""

    def __init__(self, view: MainMatter) -> None:
        self._view = view

    @cached_property
    def labelled(self) -> tuple[Labelled, ...]:
        """Values with labels: definition lists, rows, "Label: value", a label element before its value."""
        return tuple(
            Labelled(label, value, el)
            for each in self._labels()
            if (label := each.label.strip(" :：*"))
            and (value := each.value.strip(" :："))
            and (el := each.el) is not None
        )

    def _labels(self) -> Iterator[Labelled]:
        view = self._view
        for el in view.main_elements(*_LABEL_TAGS):
            after = el.getnext()
            if after is not None and _heads_cell(el, after):
                yield Labelled(view.text(el), view.text(after), after)
            own = view.own_text(el)
            line = _LINE.match(own) if el.tag in ("li", "p", "div", "span") and len(el) == 0 else None
            if line is not None and line.end() == len(own):
                yield Labelled(line[1], line[2], el)
            elif 1 < len(own) < _LONGEST_LABEL and len(el) <= 1 and _may_label(el, own, after):
                tail = " ".join((el.tail or "").split())
                value = tail or (view.text(after) if after is not None else "")
                if 0 < len(value) < _LONGEST_VALUE:
                    yield Labelled(own, value, after if after is not None and not tail else el)

    @cached_property
    def lists(self) -> tuple[HeadedList, ...]:
        """Lists of two entries and more with the last heading before them."""
        view, lists, heading = self._view, list[HeadedList](), ""
        for el in view.main_elements(*_HEADINGS, "strong", "p", "span", "div", "ul", "ol"):
            if el.tag in ("ul", "ol"):
                entries = tuple(entry for item in el.iterchildren("li") if (entry := self.entry(item)))
                if heading and len(entries) >= 2 and el.getparent().tag != "li":
                    lists.append(HeadedList(heading, entries))
            elif el.tag in _HEADINGS or self._may_head(el):
                heading = self._heading(el) or heading
        return tuple(lists)

    def entry(self, item: HtmlElement) -> str:
        """The text of a list's entry without its bullet."""
        return _BULLETS.sub("", self._view.text(item)) if self._view.shown(item) else ""

    def _may_head(self, el: HtmlElement) -> bool:
        text = (el.text or "").strip() if len(el) == 0 else ""
        return 2 < len(text) < 30 and not re.search(r"\d", text)

    def _heading(self, el: HtmlElement) -> str:
        text = self._view.text(el) if self._view.text_length(el) < 200 else ""
        return text if len(text) < 60 else ""

    @cached_property
    def _named(self) -> tuple[tuple[HtmlElement, tuple[frozenset[str], ...]], ...]:
        elements = []
        for el in self._view.main_elements():
            names = [name for key in _NAMING for name in (el.get(key) or "").split()]
            if words := tuple(each for name in names if (each := frozenset(tokens(name)))):
                elements.append((el, words))
        return tuple(elements)

    def named(self, name_words: Collection[str], types: Types) -> Iterator[HtmlElement]:
        """Elements whose class, id, item property or test id says the wanted words, the type's own words aside."""
        words = frozenset(name_words)
        allowed = ({word for name in types for word in tokens(name)} | _NEUTRAL) - words
        for el, names in self._named:
            if any(words <= name and not name - words - allowed for name in names):
                yield el


def _may_label(el: HtmlElement, own: str, after: HtmlElement | None) -> bool:
    if own.endswith((":", "：")):
        return True
    return el.tag in _LABELLING_TAGS and after is not None and after.tag in _VALUE_TAGS


def _heads_cell(el: HtmlElement, after: HtmlElement) -> bool:
    """True for a term before its definition, and a header or the first of two cells before a cell."""
    if el.tag not in ("dt", "th", "td") or after.tag not in ("dd", "td"):
        return False
    return el.tag != "td" or len(el.getparent()) == 2
