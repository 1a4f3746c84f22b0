"""Whether a page shows a whole list: links to further pages, stated totals, parts that were not read."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml.html import HtmlElement

from shoal.agent.read.lists.pieces import words_in_line
from shoal.agent.read.lists.runs import Run

_NEXT = re.compile(
    r"^\W*(next( page)?|older( posts| entries)?|load more|show more( results)?|siguientes?|suivante?|weiter|nächste"
    r"|volgende|próxim[ao]|successiv[ao]|last( page)?|›|»|>|>>)\W*$",
    re.I,
)
_PAGE_OF = re.compile(r"\b(?:page|seite|página)\s+(\d+)\s+(?:of|von|de|/)\s+(\d+)", re.I)
_RANGE_OF = re.compile(r"\b\d+\s*(?:-|–|to|bis|a)\s*(\d+)\s+(?:of|von|de)\s+(?:about\s+)?([\d,.]+)")
_LONGEST_NEXT = 20


@dataclass(frozen=True, slots=True)
class Completeness:
    """What a page says of the rest of a list."""

    complete: bool
    why: str = ""  # what says that there is more, in words


def completeness_of(run: Run, given: int) -> Completeness:
    """Look for what the page says beyond the `given` records of a run."""
    if not given:
        return Completeness(False, "no record")
    further = next((text for el in run.page.page.root.iter("a", "button", "input") if (text := _leads_on(el))), "")
    if further:
        return Completeness(False, f"a further page: {further!r}")
    inside = {order for start, end in run.spans for order in range(start, end)}
    text = " ".join(piece.text for piece in run.page.pieces if piece.order not in inside)
    if (match := _PAGE_OF.search(text)) and int(match[1]) < int(match[2]):
        return Completeness(False, match[0])
    if (match := _RANGE_OF.search(text)) and max(given, int(match[1])) < int(re.sub(r"\D", "", match[2]) or 0):
        return Completeness(False, match[0])
    if given < 0.9 * len(run.spans) - 1:
        return Completeness(False, f"{len(run.spans) - given} parts like the records were not read")
    return Completeness(True)


def _leads_on(el: HtmlElement) -> str:
    """The text of a control that leads to a further page; "" for others."""
    text = words_in_line(str(el.text_content())) or el.get("aria-label") or el.get("title") or el.get("value") or ""
    parent = el.getparent()
    classes = f"{el.get('class') or ''} {(parent.get('class') or '') if parent is not None else ''}"
    if "disabled" in classes or el.get("disabled") is not None:
        return ""
    named = len(text) < _LONGEST_NEXT and _NEXT.match(text)
    return text or "next" if named or (el.get("rel") or "").casefold() == "next" else ""
