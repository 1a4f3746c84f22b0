"""The surroundings of a page's own record: landmarks, repeated blocks, teasers; and the record's own heading."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from urllib.parse import urldefrag, urljoin

from lxml.html import HtmlElement

from shoal.agent.page.page import Page
from shoal.agent.read.facts.tables import Grids, cells_of, in_turns, is_head, is_row, table_of
from shoal.agent.read.facts.texts import leaves, one_line

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_NO_CARDS = frozenset(
    {*HEADINGS, *("dt", "dd", "th", "td", "p", "pre", "option", "label", "br", "button", "script", "style", "source")}
)
_STATE = re.compile(r"(?:first|last|odd|even|active|current|selected|is-|has-|js-)")
"""Classes that tell where an element stands or how it is, and not what it is."""
_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg)(?:\?|$)", re.I)
_SEPARATOR = re.compile(r"[|–—·•:»«/-]")
_NAMES = (
    (
        re.compile(
            r"(?:site-?|page-?|top-?|global-?)?(?:nav|navbar|navigation|menu|breadcrumbs?|pagination|pager|topbar)",
            re.I,
        ),
        "nav",
    ),
    (re.compile(r"(?:site-?|page-?|global-?)?footer", re.I), "footer"),
    (re.compile(r"(?:site-?|page-?|global-?)?header", re.I), "header"),
    (re.compile(r"(?:left-?|right-?)?side-?bar", re.I), "aside"),
)
_REGION_TAGS = frozenset({"div", "ul", "ol", "table", "section"})
_MOST_LEAVES = 12
_MOST_CARD_CHARS = 600
_LEAST_CARD_CHARS = 60
_MOST_TEASERS = 300
_MOST_TEASER_CHARS = 900
_CERTAIN_MEMBERS = 60
"""Members of a run after which further ones are not looked at one by one."""


class Surroundings:
    """The parts of a page that are about something else than its record."""

    def __init__(self, page: Page, grids: Grids) -> None:
        self.page, self._grids = page, grids
        root = page.root
        base = root.find(".//base[@href]")
        self.base = urljoin(page.url, base.get("href", "")) if base is not None else page.url
        canonical = next((el for el in root.iter("link") if "canonical" in (el.get("rel") or "").split()), None)
        self.canonical = urljoin(self.base, canonical.get("href", "")) if canonical is not None else ""
        self.title = one_line(next((str(el.text_content()) for el in root.iter("title")), ""))
        self._links = [
            number for number, el in enumerate(page.elements) if el.tag == "a" and el.get("href") is not None
        ]
        self._away: dict[str, bool] = {}  # by what links say: they are met again in each block around them
        self._heads = [number for number, el in enumerate(page.elements) if el.tag in HEADINGS]
        self.h1s = [el for el in root.iter("h1")]
        self.titled = self._titled()
        self.own_heading = self._own_heading()

    def holds(self, el: HtmlElement, inner: HtmlElement | None) -> bool:
        """True for an element and what it stands in."""
        if inner is None:
            return False
        number = self.page.number(el)
        return number <= self.page.number(inner) <= self.page.last_within[number]

    def _within(self, el: HtmlElement, numbers: Sequence[int]) -> Iterator[HtmlElement]:
        """The elements of these numbers that an element holds, itself left out."""
        first = self.page.number(el)
        last = self.page.last_within[first]
        for at in range(bisect_left(numbers, first + 1), len(numbers)):
            if numbers[at] > last:
                return
            yield self.page.elements[numbers[at]]

    # --- the record's heading -------------------------------------------------------------------------

    def _titled(self) -> HtmlElement | None:
        """Of a page without an h1, the element that is called the title and says a part of the document's title."""
        if self.h1s:
            return None
        called = [
            el
            for el in self.page.elements
            if ({"title", "page-title", "pagetitle"} & set((el.get("class") or "").split()) or el.get("id") == "title")
            and isinstance(el.tag, str)
            and el.tag != "title"
        ][:20]
        outside = ("nav", "aside", "footer")
        called = [
            el
            for el in called
            if len(one_line(el.text_content())) > 2 and not any(up.tag in outside for up in (el, *el.iterancestors()))
        ]
        if self.title:
            return next((el for el in called if one_line(el.text_content()) in self.title), None)
        return called[0] if len(called) == 1 else None

    def _own_heading(self) -> HtmlElement | None:
        """The heading that the document's title is of.

        What holds it is about the page's own record, whatever its id or its classes are made of. A title also names the
        shop, the category or another product: a page's only h1 is asked alone; on other pages one heading must be
        named, and the title must begin with it.
        """
        if self.titled is not None:
            return self.titled
        if len(self.h1s) == 1:
            return None if self._place_in_title(self.h1s[0]) < 0 else self.h1s[0]
        several = [el for el in self.page.root.iter("h1", "h2", "h3")][:50]
        named = [el for el in several if self._place_in_title(el) >= 0]
        outermost = [el for el in named if not any(other is not el and self.holds(other, el) for other in named)]
        return outermost[0] if len(outermost) == 1 and self._place_in_title(outermost[0]) == 0 else None

    def _place_in_title(self, el: HtmlElement) -> int:
        text = one_line(el.text_content())
        at = self.title.find(text) if len(text) > 2 else -1
        if at < 0:
            return -1
        before, after = self.title[:at].strip()[-1:], self.title[at + len(text) :].strip()[:1]
        parted = (not before or _SEPARATOR.match(before)) and (not after or _SEPARATOR.match(after))
        return at if parted else -1

    # --- landmarks ------------------------------------------------------------------------------------

    def region(self, el: HtmlElement, *, inside: bool) -> str:
        """The landmark that an element is: nav, dialog, aside, header or footer; "" for none.

        Args:
            inside: it stands in the page's own content.
        """
        role, tag = el.get("role"), el.tag
        if tag == "nav" or role in ("navigation", "menu", "search"):
            return "nav"
        if tag == "dialog" or role in ("dialog", "alertdialog"):
            return "dialog"
        if tag == "aside" or role == "complementary":
            return "aside"
        if inside:
            return ""
        if tag == "header" or role == "banner":
            return "" if len(self.h1s) == 1 and self.holds(el, self.h1s[0]) else "header"
        if tag == "footer" or role == "contentinfo":
            return "" if next(el.iterancestors("blockquote"), None) is not None else "footer"
        if tag in _REGION_TAGS:
            names = ([el.get("id")] if el.get("id") else []) + (el.get("class") or "").split()
            for name in names:
                for pattern, landmark in _NAMES:
                    if pattern.fullmatch(name) and not self.has_h1(el) and not self.holds(el, self.titled):
                        return landmark
        return ""

    def has_h1(self, el: HtmlElement) -> bool:
        """True for an element around a heading of the first level."""
        return any(h1 is not el and self.holds(el, h1) for h1 in self.h1s)

    # --- repeated blocks ------------------------------------------------------------------------------

    def teasers(self) -> set[HtmlElement]:
        """The smallest blocks around headings that are links to other pages."""
        teasers = set()
        for number in self._links[: 10 * _MOST_TEASERS]:
            link = self.page.elements[number]
            within = next((up for up in link.iterancestors() if up.tag in HEADINGS), None)
            head = within if within is not None else next(self._within(link, self._heads), None)
            if head is None or (within is not None and head.tag == "h1") or not self._leads_away(link):
                continue
            if within is not None and len(one_line(link.text_content())) < 0.8 * len(one_line(head.text_content())):
                continue
            teasers.add(self._block_around(within if within is not None else link))
            if len(teasers) >= _MOST_TEASERS:
                break
        return teasers

    def _block_around(self, block: HtmlElement) -> HtmlElement:
        while (
            (parent := block.getparent()) is not None
            and parent.tag not in ("body", "main", "html")
            and sum(1 for _ in self._within(parent, self._heads)) == 1
            and len(parent.text_content()) < _MOST_TEASER_CHARS
        ):
            block = parent
        return block

    def _leads_away(self, link: HtmlElement) -> bool:
        href = link.get("href") or ""
        away = self._away.get(href)
        if away is None:
            to = urldefrag(self.address(href)).url
            here = (urldefrag(self.page.url).url, self.canonical)
            away = to.startswith(("http:", "https:", "file:")) and to not in here and not _PICTURE.search(to)
            self._away[href] = away
        return away

    def address(self, href: str) -> str:
        """An address of the page, made absolute; as it is where it is none."""
        try:
            return urljoin(self.base, href.strip())
        except ValueError:
            return href

    def repeated(self, el: HtmlElement) -> set[HtmlElement]:
        """The children that are blocks of one kind, each about something of its own: products, reviews, hits."""
        by_kind: defaultdict[str, list[HtmlElement]] = defaultdict(list)
        for child in el.iterchildren():
            if isinstance(child.tag, str):
                by_kind[_kind(child)].append(child)
        repeated: set[HtmlElement] = set()
        for members in by_kind.values():
            rows = is_row(members[0])
            if rows:
                members = [
                    row for row in members if (table := table_of(row)) is None or self._grids.of(table).is_record(row)
                ]
            if len(members) < 2:
                continue
            fitting = [m for at, m in enumerate(members) if at > _CERTAIN_MEMBERS or self._is_card(m, len(members))]
            if not fitting:
                continue
            if not rows and members[0].tag != "dl":
                first = _shape(fitting[min(1, len(fitting) - 1)])
                fitting = [m for at, m in enumerate(fitting) if at > _CERTAIN_MEMBERS or _alike(_shape(m), first)]
            if len(fitting) >= 2:
                repeated.update(fitting)
        return repeated

    def _is_card(self, el: HtmlElement, size: int) -> bool:
        """True for a block about something of its own.

        Rows of a two-column table and lines of a list of properties are none.
        """
        if el.tag in _NO_CARDS or self.has_h1(el) or (el.tag == "section" and el.get("id")):
            return False
        if is_row(el):
            cells = cells_of(el)
            return sum(not is_head(cell) for cell in cells) >= 3 and not in_turns(cells)
        count, chars = _leaves(el)
        if count >= _MOST_LEAVES:
            return False
        own = [el] if el.tag == "a" and el.get("href") is not None else []
        links = [link for link in (*own, *self._within(el, self._links)) if self._leads_away(link)]
        if any(self._is_heading(link) for link in links):
            return True
        if size < 3:
            return False
        if links and chars <= _MOST_CARD_CHARS and (count >= 2 or next(el.iterdescendants("img"), None) is not None):
            return True
        return count >= 3 and chars >= _LEAST_CARD_CHARS

    def _is_heading(self, link: HtmlElement) -> bool:
        titles = HEADINGS[1:]
        return (
            any(up.tag in titles for up in link.iterancestors())
            or next(link.iterdescendants(*titles), None) is not None
        )


def _kind(el: HtmlElement) -> str:
    if is_row(el):
        return "row"
    names = (el.get("class") or "").split()
    if el.tag == "dl":
        return "dl." + " ".join(names)
    name = next((name for name in names if not _STATE.match(name)), "")
    return f"{el.tag}.{name}" if name else str(el.tag)


def _shape(el: HtmlElement) -> set[str]:
    """The kinds of what an element holds, three levels deep."""
    seen: set[str] = set()
    level = [el]
    for _ in range(3):
        level = [child for each in level for child in each.iterchildren() if isinstance(child.tag, str)]
        for child in level:
            if len(seen) >= 60:
                return seen
            seen.add(_kind(child))
    return seen


def _alike(shape: set[str], other: set[str]) -> bool:
    common = len(shape & other)
    union = len(shape) + len(other) - common
    return not union or common / union >= 0.5


def _leaves(el: HtmlElement) -> tuple[int, int]:
    """Texts in an element, twelve at most, and their characters."""
    count = chars = 0
    for text, parent in leaves(el):
        if parent.tag not in ("script", "style"):
            count, chars = count + 1, chars + len(text)
            if count >= _MOST_LEAVES:
                break
    return count, chars
