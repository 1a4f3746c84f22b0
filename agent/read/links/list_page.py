"""The links, rows and ways on that a page offers, read from its tree: the same with a browser and without one."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import unquote

from shoal.agent.page.page import Page, Window
from shoal.agent.read.facts.texts import one_line
from shoal.agent.read.links.link_groups import MOST_LINKS, LinkGroup, PageGroups, groups_of
from shoal.agent.read.links.page_links import ListRow, PageLinks, text_in
from shoal.agent.read.links.ways_on import ListControl, WaysOn
from shoal.agent.read.values.phrases import fold
from shoal.agent.support.web_addresses import canonical_address, page_address

_LONGEST_TEXT = 200_000
_MOST_NEXT = 5
"""Elements of the caller's selector of the next page that are looked at."""
_OF_SCRIPTS = ("javascript", "module")


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page on which a list is looked for."""

    url: str
    title: str
    heading: str  # its first h1 elements
    matched: tuple[ListRow, ...] | None  # what the given selector finds; None: none was given, or it is no CSS
    groups: tuple[LinkGroup, ...]
    unread: tuple[str, ...]  # which of `select` and `next` are no CSS
    cut: int  # rows beyond which the page was not read; 0: it was read as a whole
    astray: tuple[str, ...]  # links off the web that are in no group
    about: str  # title, headings and address
    heard: frozenset[str]  # the asked words that stand somewhere on the page
    text: str  # what it says, where the list's own count was asked for
    next_controls: tuple[ListControl, ...]  # what the given selector of the next page finds
    controls: tuple[ListControl, ...]
    rel_next: str  # address of the next page by `rel`
    current: str  # what a pager says of the page that is open
    scripted: bool
    busy: bool
    loaded: bool
    height: float  # of the document, CSS pixels; 0 without a browser
    viewport_height: float

    @property
    def address(self) -> str:
        """Return where the page is, without the place on it."""
        return page_address(self.url)

    @property
    def key(self) -> str:
        """By which the page is known under all its addresses."""
        return canonical_address(self.url)

    @property
    def usable_controls(self) -> list[ListControl]:
        """The controls that a person could use now."""
        return [control for control in self.controls if control.visible and not control.disabled]

    @property
    def scrolls(self) -> bool:
        """Return whether the page is longer than its window, and scripts may load more at its end."""
        return self.scripted and self.height > self.viewport_height + 1


def list_page_of(page: Page, *, onward: bool = False, words: Collection[str] = (), counts: bool = False) -> ListPage:
    """Return what a page offers to loop over and to go on by.

    Args:
        page: It was asked to find the selectors `select` and `next`, where the caller gave them.
        onward: Only the ways on are wanted.
        words: Folded words of the caller, to be heard of on the page.
        counts: The page's text is wanted, too.
    """
    links = PageLinks(page)
    ways, root = WaysOn(links), page.root
    selected, next_selected = page.matches.get("select"), page.matches.get("next")
    matched = None if selected is None else tuple(links.row(page.elements[number]) for number in selected[:MOST_LINKS])
    by_words = not onward and not matched
    groups = groups_of(links) if by_words else PageGroups()
    rel = ways.rel_next()
    off_web = rel is not None and links.leads_astray(rel)
    title = next(map(text_in, root.iter("title")), "")
    headings = [text_in(heading) for heading in root.iter("h1")]
    body = root.find("body")
    window = page.window or Window(0, 0, loaded=True)
    return ListPage(
        url=page.url,
        title=title,
        heading=one_line(" ".join(headings[:3]))[:300],
        matched=matched,
        groups=groups.groups,
        unread=tuple(name for name, numbers in page.matches.items() if numbers is None),
        cut=MOST_LINKS if groups.cut or len(selected or ()) > MOST_LINKS else 0,
        astray=(*groups.astray, *([links.written(rel)] if rel is not None and off_web else [])),
        about=one_line(" ".join([title, *headings[:5], unquote(page.url)]))[:1000] if by_words else "",
        heard=_heard(page, words) if by_words and words else frozenset(),
        text=page.text(body)[:_LONGEST_TEXT] if counts and body is not None else "",
        next_controls=tuple(ways.control(page.elements[number]) for number in (next_selected or ())[:_MOST_NEXT]),
        controls=ways.controls(),
        rel_next=links.address(rel) if rel is not None and links.is_usable(rel) else "",
        current=ways.current(),
        scripted=any(map(_is_run, (script.get("type") for script in root.iter("script")))),
        busy=bool(root.xpath("//*[@aria-busy='true']")),
        loaded=window.loaded,
        height=window.height,
        viewport_height=window.viewport_height,
    )


def _heard(page: Page, words: Collection[str]) -> frozenset[str]:
    text = fold(str(page.root.text_content()))
    return frozenset(word for word in words if word in text)


def _is_run(kind: str | None) -> bool:
    """True for the type of a script that browsers run."""
    return not kind or any(word in kind.lower() for word in _OF_SCRIPTS)
