"""Claims of a page that its list is a part: rows that load or could not, a page of several, an end before its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

_LONGEST = 120  # characters: a message stands on a line of its own
_THINGS = (
    r"(?:results?|rows?|items?|products?|entries|matches|hits|records?|listings?|posts?"
    r"|ergebnisse|treffer|einträge|artikel|résultats|resultados|risultati|resultaten)"
)
_NUMBER = r"\d[\d.,]{0,15}"
_CUT = re.compile(
    r"(?:(?:(?:showing|displaying|shown|listing)(?: only)?|only)(?: the)? (?:first|top|latest|last)"
    rf" {_NUMBER} {_THINGS}"
    r"(?: (?:are|were) (?:shown|displayed|listed))?"
    rf"|(?:only )?the first {_NUMBER} {_THINGS} (?:are|were) (?:shown|displayed|listed)"
    rf"|(?:the |this )?(?:list|table|output|{_THINGS}) (?:is|are|was|were|has been|have been)"
    rf" (?:truncated|cut off|incomplete|limited to {_NUMBER}.{{0,20}})"
    rf"|(?:…|\.\.\.)? ?(?:and )?\+? ?{_NUMBER} more {_THINGS}|(?:…|\.\.\.) ?(?:and )?\+? ?{_NUMBER} more"
    rf"|(?:nur )?die ersten {_NUMBER} {_THINGS} werden angezeigt|(?:…|\.\.\.)? ?(?:und )?{_NUMBER} weitere {_THINGS}"
    r")[.!…]*",
    re.IGNORECASE,
)
LOADING = r"(?:loading|please wait|l[äa]dt|wird geladen|bitte warten|chargement|cargando|na[čc][íi]t[áa]n[íi])"
"""Words, as an expression that Python and JavaScript take, by which a text that says that content is coming begins."""
_LOADING = re.compile(
    LOADING + r"(?: more)?(?: (?:data|results?|items?|rows?|list|weitere \w+|daten|des \w+|datos))?(?:\.{2,}|…)?",
    re.IGNORECASE,
)
_PAGE = re.compile(
    r"(?:page|seite|página|pagina|strana|side)\s(\d{1,6})\s?(?:of|von|de|sur|di|van|z|/)\s?(\d{1,6})[.,]?",
    re.IGNORECASE,
)


_DATA = r"(?:the |your |more |all )?(?:data|results?|items?|records?|rows?|entries|list|table|content|page)"
_FAILED = re.compile(
    r"(?:error: ?)?(?:"
    r"(?:sorry, |oops[,!.]? )?something went wrong"
    r"|an? (?:unknown |unexpected |network |server )?error (?:has )?(?:happened|occurr?ed)"
    rf"(?: (?:while|when) (?:fetching|loading|getting|retrieving|reading)(?: {_DATA})?)?"
    rf"|(?:error|failure|problem) (?:while |when )?(?:fetching|loading|getting|retrieving|reading) {_DATA}"
    rf"|(?:failed|unable) to (?:fetch|load|get|retrieve|read) {_DATA}"
    rf"|(?:we )?(?:could not|couldn['’]t|cannot|can['’]t) (?:fetch|load|get|retrieve|read) {_DATA}"
    rf"|{_DATA} (?:could not|couldn['’]t|cannot|can['’]t) be (?:fetched|loaded|retrieved|read)"
    r"|(?:es ist )?ein fehler (?:ist )?aufgetreten|fehler beim (?:laden|abrufen)(?: der daten| der liste)?"
    r"|(?:die )?daten konnten nicht geladen werden"
    r"|une erreur (?:est survenue|s['’]est produite)|erreur (?:lors du|de) chargement(?: des données)?"
    r"|(?:se )?ha (?:ocurrido|producido) un error|error al cargar(?: los datos)?"
    r")(?:[.!,:;]? (?:please )?(?:try again|retry|reload)(?: later)?)?[.!…]*",
    re.IGNORECASE,
)


_END = re.compile(
    rf"(?:(?:there are |that's |sorry, )?no (?:more|further) (?:{_THINGS}|data|pages?)(?: (?:to (?:show|load)|found))?"
    r"|(?:you(?:['’]ve| have) )?reached the (?:very )?end(?: of .{1,40})?|(?:this is )?(?:the )?end of .{0,20}"
    r"(?:list|results?|page|feed|content)|that(?:['’]s| is) (?:all|it|everything)(?: folks)?"
    rf"|all (?:{_NUMBER} )?{_THINGS} (?:are |have been |were )?(?:shown|loaded|displayed|listed)"
    r"|keine weiteren \w+(?: vorhanden)?|ende der (?:liste|ergebnisse)|alle \w+ (?:geladen|angezeigt)"
    r"|fin de (?:la )?(?:liste|lista|los resultados|résultats)|no hay más \w+|plus de résultats|fine (?:della )?lista"
    r"|geen resultaten meer|einde van de lijst)[.!…]*",
    re.IGNORECASE,
)


def partial_list_message(text: str, known: Collection[str] = ()) -> str:
    """Why a page's own words say that there may be more than it shows of a list; "" where none do.

    Args:
        known: texts of the records, which say nothing of the list.
    """
    if line := failure_line(text, known) or cut_line(text, known):
        return f"the page says {line!r}"
    line = loading_line(text, known)
    return f"the page still says {line!r}" if line else ""


def failure_line(text: str, known: Collection[str] = ()) -> str:
    """The line of a page's text that says that what it lists could not be loaded; "" where none does.

    Args:
        known: texts of the records, such as the title of an issue: a line that is one of these says nothing of the
            page.
    """
    return _line(_FAILED, text, known)


def cut_line(text: str, known: Collection[str] = ()) -> str:
    """The line that says that the page shows a part of its list: "Only the first 10 results are shown"; "" for none.

    Args:
        known: texts of the records, which say nothing of the list.
    """
    return _line(_CUT, text, known)


def loading_line(text: str, known: Collection[str] = ()) -> str:
    """The line that says that rows are still loading; "" for none. `known`: as above."""
    return _line(_LOADING, text, known)


def page_number_line(text: str, known: Collection[str] = ()) -> str:
    """The line that says that this is one of several pages and not the last: "Page 1 of 6"; "" for none."""
    matches = [(line, _PAGE.fullmatch(line)) for line in _lines(text, known)]
    return next((line for line, hit in matches if hit is not None and int(hit[1]) < int(hit[2])), "")


def end_line(text: str) -> str:
    """The line that says that all of a list is shown: "No more results", "You've reached the end"; "" for none."""
    return _line(_END, text, ())


def is_last_page(text: str) -> bool:
    """Return whether a line says that this is the last of several pages: "Page 6 of 6"."""
    hits = (_PAGE.fullmatch(line) for line in _lines(text, ()))
    return any(hit is not None and int(hit[1]) >= int(hit[2]) for hit in hits)


def _line(form: re.Pattern[str], text: str, known: Collection[str]) -> str:
    return next((line for line in _lines(text, known) if form.fullmatch(line)), "")


def _lines(text: str, known: Collection[str]) -> Iterator[str]:
    lines = (" ".join(line.split()) for line in text.splitlines() if len(line) <= _LONGEST)
    return (line for line in lines if line and line not in known)
