"""Links as browsers read them: where they lead, and what they are called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import ada_url
from lxml.html import HtmlElement

from shoal.agent.page.page import Page
from shoal.agent.read.facts.texts import one_line
from shoal.agent.support.web_addresses import WEB, scheme_of

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_MOST_CHARS = 300
"""Of what a link is called, and of an address that is told as the page writes it."""
_DOES = frozenset({"javascript", "mailto", "tel", "sms"})
"""Schemes of links by which a page does something."""


class ListRow(NamedTuple):
    """One row of a list. A named tuple, since a page may have twenty thousand."""

    link: str  # where it leads; "" for a text
    text: str
    astray: str = ""  # a link that leads off the web, as the page writes it


class PageLinks:
    """The links of one page; what is asked of one is kept."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._base = page.root.base_url or page.url
        self._addresses: dict[HtmlElement, str] = {}
        self._labels: dict[HtmlElement, str] = {}

    def address(self, link: HtmlElement) -> str:
        """The absolute address of a link as a browser opens it; "" where it is none."""
        known = self._addresses.get(link)
        if known is None:
            try:
                known = ada_url.join_url(self._base, link.get("href") or "")
            except ValueError:
                known = ""
            self._addresses[link] = known
        return known

    def is_usable(self, link: HtmlElement) -> bool:
        """True for a link to an address of the web."""
        return scheme_of(self.address(link)) in WEB and (link.get("href") or "").strip() not in ("", "#")

    def leads_astray(self, link: HtmlElement) -> bool:
        """True for a link that leads off the web, and is no way of saying "this page does something"."""
        return scheme_of(self.address(link)) not in (*WEB, *_DOES)

    def label(self, el: HtmlElement) -> str:
        """Return what is shown of an element, or else what is in it, its name, its tool tip or its picture's text."""
        known = self._labels.get(el)
        if known is None:
            shown = self.page.text(el) if len(el) else el.text or ""
            text = one_line(shown or str(el.text_content()))[:_MOST_CHARS]
            known = self._labels[el] = text or el.get("aria-label") or el.get("title") or _picture_of(el)
        return known

    def main_link(self, el: HtmlElement) -> HtmlElement | None:
        """The link that a block is about: the one of its heading, the one around it, else the first with text."""
        if is_link(el):
            return el if self.is_usable(el) else None
        inside = [link for link in links_in(el) if self.is_usable(link)]
        if not inside:
            around = next((above for above in el.iterancestors("a") if is_link(above)), None)
            return around if around is not None and self.is_usable(around) else None
        headed = (link for link in inside if _is_headed(link))
        texts = (link for link in inside if str(link.text_content()).strip())
        return next(chain(headed, texts, inside))

    def row(self, el: HtmlElement) -> ListRow:
        """An element as a row of a list."""
        link = self.main_link(el)
        if link is None:
            links = (each for each in (el, *links_in(el)) if is_link(each) and self.leads_astray(each))
            astray = next(links, None)
            return ListRow("", self.label(el), self.written(astray) if astray is not None else "")
        head = next((inner for inner in el.iter(*HEADINGS) if inner is not el), None)
        apart = head is not None and not _holds(link, head) and not _holds(head, link)
        text = self.label(head if head is not None and apart else link)
        return ListRow(self.address(link), text or self.label(el))

    @staticmethod
    def written(link: HtmlElement) -> str:
        """A link's address as the page writes it."""
        return (link.get("href") or "")[:_MOST_CHARS]


def text_in(el: HtmlElement) -> str:
    """All text in an element, shown or not, in one line."""
    return one_line(str(el.text_content()))


def is_link(el: HtmlElement) -> bool:
    """True for an element that may lead to an address."""
    return el.tag in ("a", "area") and el.get("href") is not None


def links_in(el: HtmlElement) -> Iterator[HtmlElement]:
    """The links below an element."""
    return (link for link in el.iter("a") if link.get("href") is not None and link is not el)


def within(el: HtmlElement) -> Iterator[HtmlElement]:
    """An element and those around it, the innermost first, up to the page's body."""
    for each in (el, *el.iterancestors()):
        if each.tag in ("body", "html"):
            return
        yield each


def elements_before(el: HtmlElement) -> Iterator[HtmlElement]:
    """The elements before one with the same parent, the nearest first."""
    return (other for other in el.itersiblings(preceding=True) if isinstance(other.tag, str))


def headings_in(el: HtmlElement, most: int) -> Sequence[HtmlElement]:
    """The first headings in an element."""
    headings: list[HtmlElement] = []
    for heading in el.iter(*HEADINGS):
        headings.append(heading)
        if len(headings) == most:
            break
    return headings


def _is_headed(link: HtmlElement) -> bool:
    return next(link.iterancestors(*HEADINGS), None) is not None or bool(headings_in(link, 1))


def _holds(el: HtmlElement, other: HtmlElement) -> bool:
    return el is other or any(above is el for above in other.iterancestors())


def _picture_of(el: HtmlElement) -> str:
    return next((picture.get("alt") for picture in el.iter("img") if picture.get("alt")), "")
