"""The values of a loop that are named in words: a model points at them, page after page."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from shoal.agent.policies.model.requests.elements import absolute, describe
from shoal.agent.policies.policy import SessionState
from shoal.agent.policies.rules.lists.onward import open_next
from shoal.agent.support.json_value import Json
from shoal.agent.support.web_addresses import canonical_address, leads_astray, link_key
from shoal.agent.types import Action, Element, LoopItem

_CSS = re.compile(r"[#\[>*]|\.[A-Za-z_]|:[a-z]")
_TAG = re.compile(r"a|article|button|d[dlt]|div|h[1-6]|img|li|main|[ou]l|p|section|span|t(able|body|d|h|r)")


def is_css(select: str) -> bool:
    """Return whether `select` is a CSS selector rather than words:
    by its signs, or because it is made of tag names only.
    """
    return bool(_CSS.search(select)) or all(_TAG.fullmatch(word) for word in select.split())


def collect_schema(ids: tuple[str, ...]) -> dict[str, Json]:
    """The JSON Schema of a collecting reply, with the ids of this page."""
    reference: Json = {"$ref": "#/$defs/id"}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["thought", "next", "items"],
        # What is long comes last: a reply that is cut off has all but some of its items.
        "properties": {
            "thought": {"type": "string"},
            "next": {"anyOf": [reference, {"type": "null"}]},
            "items": {"type": "array", "items": reference},
        },
        "$defs": {"id": {"type": "string", "enum": list(ids)}},
    }


@dataclass(frozen=True, slots=True)
class CollectedPage:
    """The items and the next page's link that one page gave."""

    url: str
    items: tuple[Element, ...]
    next: Element | None


Look = Callable[[], Awaitable[CollectedPage]]
"""Asks the model about the page as it is now."""


async def collected(
    state: SessionState, look: Look, *, is_link: bool | None, max_pages: int, max_items: int | None
) -> AsyncIterator[LoopItem]:
    """The items in order, page after page, without doubles; ends with the pages, the limits, or nothing new."""
    seen: set[str] = set()
    for number in range(1, max_pages + 1):
        page = await look()
        before = len(seen)
        for element in page.items:
            if is_link is not False and leads_astray(element.attributes.get("href", "")):
                state.left_out += 1
                continue
            item = _item(element, page.url, len(seen), is_link)
            if item is None:
                continue
            key = link_key(item.value, item.label) if item.is_link else item.value
            if key in seen:
                continue
            seen.add(key)
            yield item
            if max_items is not None and len(seen) >= max_items:
                return
        if page.next is None or len(seen) == before:
            return
        if number == max_pages:
            state.cut_after(number)
            return
        if not await _go_on(state, page.next, page.url):
            return


def _item(element: Element, base: str, index: int, is_link: bool | None) -> LoopItem | None:
    """The item that an element stands for: where it leads, else what it says; None when it is neither."""
    label = " ".join((element.name or element.text or describe(element)).split())
    address = _way_out(element, base) if is_link is not False else None
    if address is not None:
        return LoopItem(index, address, is_link=True, label=label)
    if is_link or not (element.name or element.text):
        return None
    return LoopItem(index, label, is_link=False, label=label)


def _way_out(element: Element, base: str) -> str | None:
    """Return where a link leads, None when it does not leave the page."""
    href = element.attributes.get("href", "")
    return None if href.startswith("#") else absolute(href, base)


async def _go_on(state: SessionState, element: Element, base: str) -> bool:
    """To the next page; False when that leads nowhere."""
    address = _way_out(element, base)
    if address is not None:
        if canonical_address(address) == canonical_address(base):
            return False
        state.cut = await open_next(state, address)
        return not state.cut
    result = await state.turn_page(Action("click", {"bid": element.bid}, "to the next items"))
    if result.error is not None:
        return False
    await state.page.settle()
    return True
