"""What a page offers to loop over, and its ways to the next page, as `links.js` sends them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from shoal.agent.browser import Context
from shoal.agent.errors import BrowserError
from shoal.agent.support.json_value import Json
from shoal.agent.support.printable import readable_json
from shoal.agent.support.web_addresses import canonical_address, page_address

LINKS_JS = (Path(__file__).parent / "links.js").read_text(encoding="utf-8")


class ListRow(NamedTuple):
    """One row of a list. A named tuple, since a page may have twenty thousand."""

    link: str  # where it leads; "" for a text
    text: str
    astray: str = ""  # a link that leads off the web, as the page writes it

    @classmethod
    def of(cls, said: Mapping[str, Json]) -> Self:
        """The row that a script sent."""
        return cls(str(said["h"]), str(said["t"]), str(said.get("x", "")))


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

    @classmethod
    def of(cls, said: Mapping[str, Json]) -> Self:
        """The group that a script sent."""
        return cls(
            kind=str(said["k"]),
            size=int(said["n"]),
            astray=tuple(said.get("off", ())),
            words=str(said["w"]),
            heading=str(said["head"]),
            caption=str(said["cap"]),
            region=str(said["mark"]),
            richness=int(said["rich"]),
            away=int(said["away"]),
            texts=int(said["texts"]),
            visible=int(said["v"]),
            rows=tuple(map(ListRow.of, said["items"])),
        )


@dataclass(frozen=True, slots=True)
class ListControl:
    """A link or a button that may lead on."""

    link: str  # where it leads; "" for a button
    text: str
    aria_label: str
    tip: str
    names: str  # classes and id
    rel: str
    sends: bool  # it sends a form by POST
    disabled: bool
    visible: bool
    place: str = ""  # selector of a button in a pager; "" for a link, and for buttons elsewhere

    @classmethod
    def of(cls, said: Mapping[str, Json]) -> Self:
        """The control that a script sent."""
        return cls(
            link=str(said["h"]),
            text=str(said["t"]),
            aria_label=str(said["a"]),
            tip=str(said["ti"]),
            names=str(said["c"]),
            rel=str(said["rel"]),
            sends=bool(said["post"]),
            disabled=bool(said["off"]),
            visible=bool(said["v"]),
            place=str(said.get("s", "")),
        )

    @property
    def name(self) -> str:
        """What it is called by its text, else by its label."""
        return self.text or self.aria_label

    @property
    def label(self) -> str:
        """The same, and its tool tip where it has neither."""
        return self.name or self.tip


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
    height: float  # of the document, CSS pixels
    viewport_height: float

    @classmethod
    def of(cls, said: Mapping[str, Json]) -> Self:
        """The page that a script sent."""
        matched = said["css"]
        return cls(
            url=str(said["url"]),
            title=str(said["title"]),
            heading=str(said["h1"]),
            matched=None if matched is None else tuple(map(ListRow.of, matched)),
            groups=tuple(map(LinkGroup.of, said["groups"])),
            unread=tuple(said["unread"]),
            cut=int(said["cut"]),
            astray=tuple(said["astray"]),
            about=str(said["about"]),
            heard=frozenset(said["heard"]),
            text=str(said["says"]),
            next_controls=tuple(map(ListControl.of, said["nextCss"] or ())),
            controls=tuple(map(ListControl.of, said["controls"])),
            rel_next=str(said["relNext"]),
            current=str(said["current"]),
            scripted=bool(said["scripts"]),
            busy=bool(said["busy"]),
            loaded=said["ready"] == "complete",
            height=float(said["height"]),
            viewport_height=float(said["viewport"]),
        )

    @property
    def address(self) -> str:
        """Where the page is, without the place on it."""
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
        """Whether the page is longer than its window, and scripts may load more at its end."""
        return self.scripted and self.height > self.viewport_height + 1


async def read_list_page(page: Context, asked: Mapping[str, Json]) -> ListPage:
    """What the page offers to loop over and to go on by, in one call.

    Raises:
        BrowserError: the page answered nothing of the kind.
    """
    answer = await page.read(LINKS_JS, dict(asked))
    said = readable_json(answer) if isinstance(answer, str) else answer
    if not isinstance(said, Mapping):
        raise BrowserError("the page answered no links")
    return ListPage.of(said)


async def read_ways_on(page: Context, asked: str | None) -> ListPage:
    """Only the ways to the next page; `asked` is the caller's selector or words of it."""
    return await read_list_page(page, {"select": None, "next": asked, "words": [], "onward": True})
