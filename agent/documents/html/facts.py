"""Facts of a raw document for guards, in the form in which `facts.js` gives those of a page."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.agent.documents.html.elements import DocumentElements
from shoal.agent.read.by_place.elements import text as js
from shoal.agent.support.json_value import Json

_MOST_HEADINGS = 40


def facts_of(elements: DocumentElements, url: str, status: int, selectors: Sequence[str]) -> dict[str, Json]:
    """Return what page it is, without the text that it shows: what a record says has to stand at a place that is seen.

    Raises:
        BeyondDocument: only a browser can tell.
    """
    matches = {selector: elements.find(selector) for selector in selectors}
    headings = [el for el in elements.find("h1,h2") if elements.is_rendered(el)][:_MOST_HEADINGS]
    title = elements.tree.css_first("title")
    return {
        "url": url,
        "status": status,
        "lang": elements.attribute(elements.root, "lang") or "",
        "title": js.squash(title.text_lexbor()) if title is not None else "",
        "headings": [js.squash(el.text_lexbor()) for el in headings],
        "text": "",
        "ready": "complete",
        "busy": elements.tree.css_first('[aria-busy="true"]') is not None,
        "present": [selector for selector, several in matches.items() if several],
        # Each is asked, not only up to the first that is shown: a browser has to have seen every kind of them.
        "visible": [
            selector for selector, several in matches.items() if any([elements.is_rendered(el) for el in several])
        ],
        "landmarks": [],
        "outline": "",
        "document": True,
    }
