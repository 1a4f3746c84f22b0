"""What a page says of further pages of a list: links, "page 1 of 4", "1 to 20 of 240"."""

from __future__ import annotations

import re

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


def said_to_go_on(run: Run, given: int) -> str:
    """What the page says of further pages of the list, in words; "" where it says nothing of the kind."""
    control = next((text for el in run.page.page.root.iter("a", "button", "input") if (text := _leads_on(el))), "")
    if control:
        return f"a further page: {control!r}"
    inside = {order for start, end in run.spans for order in range(start, end)}
    text = " ".join(piece.text for piece in run.page.pieces if piece.order not in inside)
    if (match := _PAGE_OF.search(text)) and int(match[1]) < int(match[2]):
        return match[0]
    if (match := _RANGE_OF.search(text)) and max(given, int(match[1])) < int(re.sub(r"\D", "", match[2]) or 0):
        return match[0]
    return ""


def _leads_on(el: HtmlElement) -> str:
    """The text of a control that leads to a further page; "" for others."""
    text = words_in_line(str(el.text_content())) or el.get("aria-label") or el.get("title") or el.get("value") or ""
    parent = el.getparent()
    classes = f"{el.get('class') or ''} {(parent.get('class') or '') if parent is not None else ''}"
    if "disabled" in classes or el.get("disabled") is not None:
        return ""
    named = len(text) < _LONGEST_NEXT and _NEXT.match(text)
    return text or "next" if named or (el.get("rel") or "").casefold() == "next" else ""
