"""A page that says that its list has nothing in it: no other silence makes a list empty."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Self

from shoal.agent.browser import Context
from shoal.agent.read.lists.pieces import joined
from shoal.agent.read.lists.runs import Run
from shoal.agent.read.values.phrases import NEUTRAL_WORDS, phrase
from shoal.agent.support.json_value import Json
from shoal.agent.support.printable import readable_json

EMPTY_PAGE_JS = (Path(__file__).parent / "empty_page.js").read_text(encoding="utf-8")

_SAID = r"\b(?:no|none|not|nothing|0|zero|empty|keine|leer|aucune?|vide|sin|hay|nessun|geen)\b"
"""For the page's script: each message of emptiness has one of these words."""
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
    def of(cls, answer: Mapping[str, Json]) -> Self:
        """The page that the script sent."""
        lines = [(str(line["text"]), bool(line["beside"])) for line in answer["lines"]]
        return cls(
            tuple(text for text, beside in lines if not beside),
            tuple(text for text, beside in lines if beside),
            int(answer["entries"]),
            str(answer["first"]),
            str(answer["about"]),
        )

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
    """Return what the open page says of having nothing to list, in one call;
    a page that takes no scripts says nothing.
    """
    answer = await page.read(EMPTY_PAGE_JS, {"said": _SAID})
    parsed = readable_json(answer) if isinstance(answer, str) else answer
    return EmptyPage.of(parsed) if isinstance(parsed, Mapping) else EmptyPage()
