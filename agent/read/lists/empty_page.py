"""A page that says that its list has nothing in it: no other silence makes a list empty."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice
from typing import Self

from lxml.html import HtmlElement

from shoal.agent.browser import Context
from shoal.agent.page.page import Page
from shoal.agent.read.drawn.page_tree import page_on
from shoal.agent.read.facts.texts import names_of, one_line
from shoal.agent.read.lists.pieces import joined
from shoal.agent.read.lists.runs import Run
from shoal.agent.read.values.phrases import NEUTRAL_WORDS, phrase

_MAY_SAY = re.compile(r"\b(?:no|none|not|nothing|0|zero|empty|keine|leer|aucune?|vide|sin|hay|nessun|geen)\b", re.I)
"""Each message of emptiness has one of these words."""
_LONGEST = 120
"""Characters. "No data is lost" in a paragraph says nothing of a list; a message stands on a line of its own."""

_SORRY = r"(?:(?:sorry|oops|unfortunately|we(?: are|['’]re) sorry|leider)[,.!:]? (?:but )?)?"
_SEARCHED = (
    r"(?:(?:your|this|the) (?:search|query|filters?|selection)(?: for .{1,60}?)? "
    r"(?:returned|gave|matched|yielded|found|produced|has|did(?: not|n['’]t) (?:return|match|find)) "
    r"|there (?:are|is|were|was) |we (?:found|have|could not find|couldn['’]t find) |(?:currently|showing|es gibt) )?"
)
_NOT_ONE = r"(?:no|0|zero|not any|any|currently no)"
_THINGS = r"(?P<things>[\w'’/&-]+(?: [\w'’/&-]+){0,3}?)"
_HERE = (
    r"(?:,? (?:(?:were|was|are|is|have been|has been|could be) )?"
    r"(?:found|available|returned|listed|posted|published|scheduled|registered|to (?:show|display|list|see)|here|yet"
    r"|right now|at (?:this|the|present)(?: (?:time|moment))?|currently))*+"
    r"(?:,? (?:for|in|with|on|of|under|(?:that )?match(?:es|ed|ing)?) .{1,100})?"
)
_LIST = r"(?:list|table|collection|category|folder|page|queue|inbox)"
_MESSAGES = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"{_SORRY}{_SEARCHED}{_NOT_ONE} {_THINGS}{_HERE}[.!…:]*",
        rf"{_SORRY}(?:nothing|none) (?:(?:was|were|has been) )?(?:here|found|matched|available|to (?:show|display|see))"
        r"(?: here)?(?: yet)?[.!…]*",
        rf"(?:this|the|your) (?:\w+ )?{_LIST} is (?:currently )?empty[.!…]*",
        rf"{_SORRY}(?:es wurden |derzeit )?keine (?P<dinge>(?:\w+ )??\w+?)(?: (?:gefunden|vorhanden|verfügbar))?[.!…]*",
        r"(?:désolé, )?aucune? (?P<choses>(?:\w+ )??\w+?)(?: (?:trouvée?|disponible))?[.!…]*",
        r"(?:lo sentimos, )?(?:sin|no hay|no se (?:encontraron|han encontrado)) (?P<cosas>(?:\w+ )?\w+?)"
        r"(?: (?:disponibles|encontrad[oa]s))?(?:: no hay resultados)?[.!…]*",
        r"nessun[oa]? (?P<cose>(?:\w+ )??\w+?)(?: (?:trovat[oa]|disponibile))?[.!…]*",
        r"geen (?P<dingen>(?:\w+ )??\w+?)(?: (?:gevonden|beschikbaar))?[.!…]*",
    )
)
_OF_ANY_LIST = frozenset(
    word
    for text in (
        "result", "record", "item", "entry", "match", "matches", "hit", "row", "data", "listing", "document", "file",
        "product", "article", "post", "ergebnisse", "treffer", "einträge", "eintrag", "daten", "artikel", "produkte",
        "résultat", "élément", "produit", "donnée", "resultados", "elementos", "productos", "datos", "risultato",
        "elemento", "prodotto", "dato", "resultaten", "producten", "gegevens",
    )
    for word in phrase(text)
)  # fmt: skip
"""Words of messages for the entries of whatever a list holds."""
_ANY_SORT = frozenset(
    phrase(
        "matching more further other such search active current new recent available open upcoming weiteren passenden"
    )
)
"""Words of messages about such entries that name nothing."""


@dataclass(frozen=True, slots=True)
class EmptyPage:
    """A page without a record, asked for what it says of that."""

    lines: tuple[str, ...] = ()  # short lines of its content that may be messages of emptiness
    beside: tuple[str, ...] = ()  # the same in menus, margins, headers, footers, links and buttons
    entries: int = 0  # of the longest run of alike entries in its content
    first: str = ""  # text of the first of them
    about: str = ""  # title and headings of the first level

    @classmethod
    def of(cls, page: Page) -> Self:
        """The words and the entries of a page."""
        return cls(*_Look(page).words())

    def empty_message(self, asked: frozenset[str]) -> str:
        """The line that says that the list that is asked for is empty; "" where none does.

        A page that lists something all the same says it of another list.

        Args:
            asked: folded words of the job; those of the page's title and heading count, too.
        """
        if self.entries:
            return ""
        known = asked | frozenset(phrase(self.about))
        return next((line for line in self.lines if is_message_of_emptiness(line, known)), "")

    def why_not_empty(self) -> str:
        """Why no line settles that the list is empty, in words; "" where the page says and lists nothing."""
        messages = [line for line in (*self.lines, *self.beside) if any(True for _ in _things(line))]
        doubt = f"its line {messages[0]!r} is not taken to speak of this list" if messages else ""
        lists = f"what it lists are {self.entries:,} entries such as {self.first!r}" if self.entries else ""
        return "; ".join(filter(None, (doubt, lists)))


def message_above(run: Run) -> str:
    """The line that says that the page has no entries at all, where a list follows it under a heading of its own: what
    the page offers instead. "" without one.
    """
    heading = run.heading_over(run.spans[0])
    if heading is None:
        return ""
    pieces = (piece for piece in run.page.pieces[: heading.start] if not run.page.in_menu(piece))
    lines = (tuple(line) for _, line in groupby(pieces, lambda piece: piece.line))
    messages = (line for line in lines if is_message_of_emptiness(joined(line), frozenset()))
    titled = any(other.el.tag == "h1" for other in run.page.headings)
    for line in messages:
        over = run.heading_over((line[0].order, line[-1].order + 1))
        if (over.el.tag == "h1") if over is not None else not titled:  # else it is about another part of the page
            return joined(line)
    return ""


def is_message_of_emptiness(line: str, asked: frozenset[str]) -> bool:
    """Return whether a line says that a list has nothing in it whose entries are called in the words `asked`,
    or in none.

    The whole line is the message: "No FEAR Act Data" names something of its own, and so does "No active jobs found"
    where nothing that is asked for is called jobs.
    """
    known = asked | _OF_ANY_LIST | _ANY_SORT | NEUTRAL_WORDS
    return any(things <= known for things in _things(line))


def _things(line: str) -> Iterator[frozenset[str]]:
    """Yield what a message says that there is none of, in folded words, by each form that it may have;
    none: no message.
    """
    if len(line) > _LONGEST:
        return
    for form in _MESSAGES:
        if (match := form.fullmatch(line)) is not None:
            yield frozenset(word for text in match.groupdict().values() if text for word in phrase(text))


async def read_empty_page(page: Context) -> EmptyPage:
    """Return what the open page says of having nothing to list; one that is too large to be read says nothing."""
    tree = await page_on(page)
    return EmptyPage() if tree is None else EmptyPage.of(tree)


# --- looking ------------------------------------------------------------------------------------------

_MOST_LINES = 40
_LEAST_ENTRIES, _LEAST_ROWS = 3, 2
_FIRST_CHARS = 80
_LANDMARK_TAGS = frozenset({"nav", "aside", "dialog"})
_LANDMARK_ROLES = frozenset(
    "navigation complementary contentinfo banner dialog menu menubar listbox tablist".split()  # noqa: SIM905
)
_CONTROLS = frozenset({"button", "label", "summary", "option"})
_CONTROL_ROLES = frozenset({"button", "tab", "option", "menuitem"})
_WAYS = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navigation|menu|breadcrumbs?|pagination|paginator|pager)(?:[\s_-]|$)", re.I
)
_BESIDE = re.compile(
    r"(?:^|[\s_-])(?:cart|minicart|basket|bag|wishlist|footer|sidebar|cookies?|consent)(?:[\s_-]|$)", re.I
)
_NO_TEXT = frozenset({"script", "style", "noscript", "template"})
_NO_LISTS = frozenset({"select", "datalist", "tr", "head"})


class _Look:
    """One look at a page for messages of emptiness, and for the run of entries that it shows all the same."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._body = page.root.find("body")
        self._is_way: dict[HtmlElement, bool] = {}

    def words(self) -> tuple[tuple[str, ...], tuple[str, ...], int, str, str]:
        """Lines of its content, lines beside it, the number of entries, the text of the first, title and headings."""
        entries = self._entries()
        first = one_line(entries[0].text_content())[:_FIRST_CHARS] if entries else ""
        titles = (*islice(self._page.root.iter("title"), 1), *islice(self._page.root.iter("h1"), 3))
        lines, beside = (
            tuple(line for line, el in self._lines if self._stands_beside(el) is is_beside)
            for is_beside in (False, True)
        )
        return lines, beside, len(entries), first, " ".join(one_line(el.text_content()) for el in titles)

    @cached_property
    def _lines(self) -> Sequence[tuple[str, HtmlElement]]:
        """Short lines that may be such messages, each with the element that holds it."""
        return list(islice(self._all_lines(), _MOST_LINES))

    def _all_lines(self) -> Iterator[tuple[str, HtmlElement]]:
        for el in () if self._body is None else self._body.iterdescendants():
            if not isinstance(el.tag, str) or el.tag in _NO_TEXT or not _has_own_text(el):
                continue
            text = el.text_content()
            if len(text) <= 4 * _LONGEST and _MAY_SAY.search(text) and self._page.is_visible(el):
                for line in map(one_line, self._page.text(el).split("\n")):
                    if len(line) <= _LONGEST and _MAY_SAY.search(line):
                        yield line, el

    def _stands_beside(self, el: HtmlElement) -> bool:
        """True where an element stands outside of the page's content, or is part of a control."""
        return self._leads(el) or any(
            up.tag in _CONTROLS
            or up.get("role") in _CONTROL_ROLES
            or (up.tag == "a" and up.get("href") is not None)
            or _BESIDE.search(names_of(up))
            for up in self._around(el)
        )

    def _leads(self, el: HtmlElement) -> bool:
        """True for a menu, a margin, a header or footer of the document, and for what is in one."""
        inner = []
        for at in self._around(el):
            if at in self._is_way:
                break
            inner.append(at)
        for at in reversed(inner):
            around = at.getparent()
            self._is_way[at] = self._is_landmark(at) or self._is_way.get(around, False)
        return self._is_way.get(el, False)

    def _is_landmark(self, el: HtmlElement) -> bool:
        if el.tag in _LANDMARK_TAGS or el.get("role") in _LANDMARK_ROLES or _WAYS.search(names_of(el)):
            return True
        parts = ("main", "article", "section")
        return el.tag in ("header", "footer") and not any(
            up.tag in parts or up.get("role") == "main" for up in el.iterancestors()
        )

    def _around(self, el: HtmlElement) -> Iterator[HtmlElement]:
        """The element and what it stands in, up to the body."""
        at: HtmlElement | None = el
        while at is not None and at is not self._body:
            yield at
            at = at.getparent()

    # --- entries --------------------------------------------------------------------------------------

    def _entries(self) -> Sequence[HtmlElement]:
        """The longest run of alike entries in the page's content."""
        root = self._content()
        longest: Sequence[HtmlElement] = ()
        for parent in () if root is None else root.iter():
            if len(parent) < _LEAST_ROWS or parent.tag in _NO_LISTS or _is_drawn(parent):
                continue
            for alike in _by_kind(parent):
                is_rows = alike[0].tag == "tr"
                least = max(_LEAST_ROWS if is_rows else _LEAST_ENTRIES, len(longest) + 1)
                if len(alike) < least:
                    continue
                entries = [el for el in alike if (not is_rows or _has_cells(el)) and self._is_entry(el)]
                if len(entries) >= least and not self._leads(parent):
                    longest = entries
        return longest

    def _content(self) -> HtmlElement | None:
        """The page's only shown main part, where no message stands outside of it; else its body."""
        mains = [el for el in self._page.elements if el.tag == "main" or el.get("role") == "main"]
        shown = [el for el in mains if self._page.is_visible(el)]
        if len(shown) != 1 or not all(
            self._stands_beside(el) or el is shown[0] or shown[0] in el.iterancestors() for _, el in self._lines
        ):
            return self._body
        return shown[0]

    def _is_entry(self, el: HtmlElement) -> bool:
        """True where it leads somewhere or has a number; advice for another search does neither."""
        text = el.text_content()
        if not text.strip() or not self._page.is_visible(el):
            return False
        return any(link.get("href") is not None for link in el.iter("a")) or re.search(r"[0-9]", text) is not None


def _is_drawn(el: HtmlElement) -> bool:
    """True within a drawing."""
    return next(el.iterancestors("svg"), None) is not None


def _has_own_text(el: HtmlElement) -> bool:
    return bool(el.text and el.text.strip()) or any(child.tail and child.tail.strip() for child in el)


def _has_cells(row: HtmlElement) -> bool:
    return sum(1 for cell in row.iterchildren("td") if cell.text_content().strip()) > 1


def _by_kind(parent: HtmlElement) -> Iterator[list[HtmlElement]]:
    kinds: defaultdict[tuple[str, str], list[HtmlElement]] = defaultdict(list)
    for child in parent.iterchildren():
        if isinstance(child.tag, str):
            kinds[child.tag, child.get("class") or ""].append(child)
    yield from kinds.values()
