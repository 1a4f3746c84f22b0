"""The pages that a session has looked at, as texts in which values are looked up."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from urllib.parse import unquote_plus

from shoal.agent.observe.rebuild import rebuilt
from shoal.agent.observe.tree import walk_elements
from shoal.agent.read.grounding.page_text import PageText
from shoal.agent.support.json_value import Json
from shoal.agent.support.web_addresses import address_parts, is_web
from shoal.agent.types import Element, Observation

_MOST_PAGES = 40
_MOST_CHARS = 2_000_000
"""Of all pages together; what was seen longest ago goes first."""
_MOST_TYPED = 400
_WITHIN_CHARS = 3
"""Shorter texts stand in many values by chance: only a field that holds nothing else holds what was typed."""


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """The place of a value."""

    url: str
    where: str  # the page's text around it


class SessionPages:
    """Remembers what pages said; a page that changed is remembered as it was, too.

    What a frame of another site says is told as that site's. What the session typed itself, in a field or in the
    address of a search, is no word of a page.
    """

    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[str, str], PageText] = OrderedDict()
        self._typed: dict[str, None] = {}

    def add(self, seen: Observation) -> PageText:
        """Remembers the page; the text of all of it, frames and fields too."""
        whole = PageText([seen])
        for part in _by_site(self._unwritten(seen)):
            page = whole if part is seen else PageText([part])
            key = (part.url, page.whole)
            self._pages[key] = page
            self._pages.move_to_end(key)
        while len(self._pages) > _MOST_PAGES or (len(self._pages) > 1 and self._chars() > _MOST_CHARS):
            self._pages.popitem(last=False)
        return whole

    def note_typed(self, text: str) -> None:
        """The session typed this into a page."""
        if text.strip():
            self._typed[text.strip()] = None
        while len(self._typed) > _MOST_TYPED:
            del self._typed[next(iter(self._typed))]

    def _chars(self) -> int:
        return sum(len(text) for _, text in self._pages)

    @property
    def texts(self) -> tuple[str, ...]:
        """Return what each page says, in lower case; the newest last."""
        return tuple(text for _, text in self._pages)

    @property
    def typed(self) -> tuple[str, ...]:
        """Return what the session typed."""
        return tuple(self._typed)

    def find(self, value: Json) -> ValuePlace | None:
        """The newest page that shows `value`, and where on it."""
        for (url, _), page in reversed(self._pages.items()):
            if (where := page.find(value)) is not None:
                return ValuePlace(url, where)
        return None

    # --- whose words they are -------------------------------------------------------------------------

    def _unwritten(self, seen: Observation) -> Observation:
        """The page without what the session wrote there."""
        if not self._typed:
            return seen
        url, mark, query = seen.url.partition("?")
        kept = seen.url if not mark or not self._holds_typed(unquote_plus(query)) else url
        return replace(seen, url=kept, elements=rebuilt(seen.elements, self._without_typed))

    def _without_typed(self, element: Element, children: tuple[Element, ...]) -> Element:
        value = element.attributes.get("value", "")
        if not value or not self._holds_typed(value):
            return replace(element, children=children)
        kept = {name: held for name, held in element.attributes.items() if name != "value"}
        shown = () if value.strip() in self._typed else children
        text = "" if value.strip() in self._typed else element.text
        return replace(element, attributes=kept, text=text, children=shown)

    def _holds_typed(self, value: str) -> bool:
        within = (len(text) >= _WITHIN_CHARS and text in value for text in self._typed)
        return value.strip() in self._typed or any(within)


def _by_site(seen: Observation) -> list[Observation]:
    """The page without its frames of other sites, and each of these by itself."""
    if not any(element.role == "frame" for element in walk_elements(seen.elements)):
        return [seen]
    own, frames = _site(seen.url), list[Observation]()

    def cut(element: Element, children: tuple[Element, ...]) -> Element:
        whole = replace(element, children=children)
        address = element.attributes.get("src", "") if element.role == "frame" and children else ""
        if not address or _site(address) in ("", own):
            return whole
        frames.append(Observation(address, element.name, whole))
        return replace(whole, children=())

    elements = rebuilt(seen.elements, cut)
    return [replace(seen, elements=elements), *frames] if frames else [seen]


def _site(url: str) -> str:
    parts = address_parts(url)
    return f"{parts.scheme}://{parts.netloc}".casefold() if is_web(url) else ""
