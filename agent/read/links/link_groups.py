"""Links that stand alike on a page: each group may be the list that a job's words name."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from lxml.html import HtmlElement

from shoal.agent.read.facts.texts import names_of, one_line
from shoal.agent.read.links.page_links import (
    HEADINGS,
    ListRow,
    PageLinks,
    elements_before,
    headings_in,
    is_link,
    text_in,
    within,
)
from shoal.agent.support.web_addresses import page_address

MOST_LINKS = 20_000
"""Links of a page that are looked at."""
_MOST_GROUPS = 60
_STEPS = 6
"""Elements from a link upwards that say what kind it is."""
_STATE = re.compile(r"first|last|odd|even|active|current|selected|is-|has-|js-")
_NAVIGATION = re.compile(
    r"(site-?|page-?|top-?)?(nav|navbar|navigation|menu|breadcrumbs?|pagination|pager|topbar|toolbar|sort|sorting"
    r"|filters?|facets?|tabs)",
    re.I,
)
_FOOTER = re.compile(r"(site-?|page-?)?footer", re.I)
_SIDE_BAR = re.compile(r"(left-?|right-?)?side-?bar", re.I)
_REGIONS = {
    "navigation": "nav",
    "menu": "nav",
    "menubar": "nav",
    "complementary": "aside",
    "dialog": "dialog",
    "contentinfo": "footer",
    "banner": "header",
    "main": "main",
}
"""Regions by the role of an element."""
_PARTS = frozenset({"main", "article", "section"})
"""Elements whose header and footer are not the page's."""
_LOOKS_UP, _LOOKS_BACK = 8, 6
"""Elements around a list, and before each of these, among which its heading is looked for."""


@dataclass(frozen=True, slots=True)
class LinkGroup:
    """Links that stand alike on the page."""

    kind: str  # tags and classes from the link upwards
    size: int
    astray: tuple[str, ...]  # links of the same kind that lead off the web
    words: str  # ids and classes around them
    heading: str  # over them
    caption: str  # of a table: the names of its columns
    region: str  # landmark around them: main, nav, aside, header, footer, dialog, or ""
    richness: int  # 0 to 3: how much a card holds besides its link
    away: int  # links that lead to another page
    texts: int  # texts that differ
    visible: int
    rows: tuple[ListRow, ...]


@dataclass(frozen=True, slots=True)
class PageGroups:
    """The groups of a page's links, the largest first."""

    groups: tuple[LinkGroup, ...] = ()
    astray: tuple[str, ...] = ()  # links off the web that are in no group
    cut: bool = False  # the page has more links than were looked at


def groups_of(links: PageLinks) -> PageGroups:
    """The links of a page in groups by what they stand in, those in shadow trees included."""
    kinds: dict[HtmlElement, str] = {}
    by_kind: dict[str, list[HtmlElement]] = defaultdict(list)
    off: dict[str, list[str]] = defaultdict(list)
    seen = 0
    for link in links.page.root.iter("a"):
        if not is_link(link):
            continue
        seen += 1
        if seen > MOST_LINKS:
            break
        strange = links.leads_astray(link)
        if not strange and not links.is_usable(link):
            continue
        steps = (kinds.get(el) or kinds.setdefault(el, _kind_of(el)) for el in islice(within(link), _STEPS))
        kind = "<".join(steps)
        if strange:
            off[kind].append(links.written(link))
        else:
            by_kind[kind].append(link)
    alike = [_Alike(links, kind, several, off.pop(kind, ())) for kind, several in by_kind.items()]
    alike.sort(key=lambda group: -len(group.links))
    astray = tuple(address for addresses in off.values() for address in addresses)
    return PageGroups(tuple(group.link_group() for group in alike[:_MOST_GROUPS]), astray, seen > MOST_LINKS)


class _Alike:
    """Links of one kind: one for each page that they lead to, the one with the longest text."""

    def __init__(self, links: PageLinks, kind: str, several: Sequence[HtmlElement], off: Sequence[str]) -> None:
        self._page_links, self._kind, self._off = links, kind, off
        by_page: dict[str, HtmlElement] = {}
        for link in several:  # a card links its picture and its name
            known = by_page.get(links.address(link))
            if known is None or len(links.label(known)) < len(links.label(link)):
                by_page[links.address(link)] = link
        self.links = list(by_page.values())

    def link_group(self) -> LinkGroup:
        links, first = self._page_links, self.links[0]
        here = page_address(links.page.url)
        container, card = self._container(), self._card(first)
        return LinkGroup(
            kind=self._kind,
            size=len(self.links),
            astray=tuple(self._off),
            words=one_line(" ".join(map(names_of, islice(within(first), _STEPS))))[:300],
            heading=_heading_among(card) or _heading_before(container),
            caption=_columns_of(container),
            region=_region_of(first),
            richness=self._richness(card),
            away=sum(page_address(links.address(link)) != here for link in self.links),
            texts=len(set(map(links.label, self.links))),
            visible=sum(map(links.page.drawn, self.links)),
            rows=tuple(
                ListRow(links.address(link), links.label(link) or links.label(self._card(link))) for link in self.links
            ),
        )

    def _container(self) -> HtmlElement:
        """The element around the first two links, some steps above the first at most."""
        first = self.links[0]
        if len(self.links) == 1:
            return first
        second = {self.links[1], *self.links[1].iterancestors()}
        container = first
        for el in islice(within(first), _STEPS):
            if container in second:
                break
            container = el
        return container

    @cached_property
    def _shared(self) -> Counter[HtmlElement]:
        """Return how many of the links stand in each element."""
        return Counter(el for link in self.links for el in within(link))

    def _card(self, link: HtmlElement) -> HtmlElement:
        """The largest element around a link in which no other one stands."""
        card = link
        for el in within(link):
            if self._shared[el] > 1:
                break
            card = el
        return card

    def _richness(self, card: HtmlElement) -> int:
        more = len(text_in(card)) > 2 * len(self._page_links.label(self.links[0])) + 5
        pictured = next(card.iter("img", "picture"), None) is not None
        headed = next(card.iter(*HEADINGS[1:]), None) is not None
        return headed + pictured + more


def _kind_of(el: HtmlElement) -> str:
    """An element's tag with its first class that is no state and has no figure."""
    names = (name for name in (el.get("class") or "").split() if not _STATE.match(name) and not re.search(r"\d", name))
    name = next(names, "")
    return f"{el.tag}.{name}" if name else str(el.tag)


def _region_of(el: HtmlElement) -> str:
    for around in within(el):
        role, tag = around.get("role"), str(around.tag)
        if tag in ("nav", "aside", "dialog", "main"):
            return tag
        if tag in ("header", "footer") and not _PARTS.intersection(above.tag for above in around.iterancestors()):
            return tag
        if role in _REGIONS:
            return _REGIONS[role]
        for name in names_of(around).split():
            if _NAVIGATION.fullmatch(name):
                return "nav"
            if _FOOTER.fullmatch(name):
                return "footer"
            if _SIDE_BAR.fullmatch(name):
                return "aside"
    return ""


def _heading_among(card: HtmlElement) -> str:
    """The heading that stands before the first of several cards, in what is around them all."""
    heads = (before for before in islice(elements_before(card), _LOOKS_BACK) if before.tag in HEADINGS)
    return next(map(text_in, heads), "")[:120]


def _heading_before(el: HtmlElement) -> str:
    """The heading of the section that a list stands in: inside of an element around it, and before it."""
    for around in islice(within(el), _LOOKS_UP):
        for before in islice(elements_before(around), _LOOKS_BACK):
            inner = [before] if before.tag in HEADINGS else headings_in(before, 2) if before.tag != "nav" else ()
            if len(inner) == 1:
                return text_in(inner[0])[:120]
        named = around.get("aria-label")
        if named:
            return str(named)[:120]
        caption = around.find("caption") if around.tag == "table" else None
        if caption is not None:
            return text_in(caption)[:120]
    return ""


def _columns_of(el: HtmlElement) -> str:
    table = next((around for around in within(el) if around.tag == "table"), None)
    head = table.find("thead") if table is not None else None
    return text_in(head)[:200] if head is not None else ""
