"""The elements of a page that a model may act on, under the names that the job's grounding gives them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from string import ascii_uppercase
from typing import Literal

from shoal.agent.observe.quoting import ELEMENT
from shoal.agent.observe.rebuild import rebuilt
from shoal.agent.policies.model.requests.canvas import Canvas
from shoal.agent.support.web_addresses import address_parts, is_web, joined
from shoal.agent.types import Element, Observation

Grounding = Literal["bid", "mark", "attributes", "choice", "coordinates"]

_CONTROLS = frozenset({"a", "button", "input", "select", "textarea"})
_NAME_CHARS = 80
# A frame adds a letter, small ones first: the 27th frame of a page has "A".
_ID = re.compile(r"\[(?=[A-Za-z]*\d)")
_IDS_IN_TEXT = re.compile(rf"{ELEMENT.pattern} ?")


@dataclass(frozen=True, slots=True)
class Offered:
    """The elements that a model may act on, by the id that it answers with."""

    elements: Mapping[str, Element]
    candidates: Mapping[str, str]  # listed under the page: id to words; empty where the page's text has the ids
    bids: frozenset[str]  # of everything on the page that is not disabled, for calls on what takes no clicks
    url: str = ""  # of the page
    disabled: frozenset[str] = frozenset()  # bids that the text shows too, where it has ids
    canvas: Canvas | None = None  # the picture that a call may point at, where it can be read
    # Disabled buttons beside fields: an action before may enable them. Empty where the text has no ids.
    waiting: Mapping[str, Element] = field(default_factory=dict)


def offered(seen: Observation, grounding: Grounding) -> Offered:
    """The usable elements of `seen`. Disabled ones are not among them: what is not offered cannot be chosen."""
    usable = [element for element in walk(seen.elements) if _usable(element)]
    shown = {element.bid: "disabled" in element.states for element in walk(seen.elements) if element.bid}
    bids = frozenset(bid for bid, disabled in shown.items() if not disabled)
    named = grounding in ("bid", "mark")
    return replace(
        _by_grounding(usable, grounding, bids),
        url=seen.url,
        disabled=frozenset(shown) - bids if named else frozenset(),
        waiting=_waiting(seen.elements) if named and any(map(_is_field, usable)) else {},
    )


def _by_grounding(usable: list[Element], grounding: Grounding, bids: frozenset[str]) -> Offered:
    match grounding:
        case "coordinates":
            return Offered({}, {}, bids)
        case "mark":
            marked = [element for element in usable if element.marked] or usable
            return Offered({element.bid: element for element in marked}, {}, bids)
        case "choice":
            letters = {_letters(n): element for n, element in enumerate(usable)}
            return Offered(letters, {letter: describe(element) for letter, element in letters.items()}, bids)
        case "attributes":
            described = _described(usable)
            return Offered(described, dict.fromkeys(described, ""), bids)
        case _:
            return Offered({element.bid: element for element in usable}, {}, bids)


def only_in(text: str, choices: Offered) -> Offered:
    """Return what of `choices` the rendered `text` shows with its id."""
    shown = set(_IDS_IN_TEXT.findall(text))
    return replace(choices, elements={bid: e for bid, e in choices.elements.items() if bid in shown})


def unmistakable(element: Element) -> Element:
    """The tree with no text in it that looks like an element's id: a page could give its own words another's number."""
    if not any(_ID.search(text) for part in walk(element) for text in _texts(part)):
        return element
    return rebuilt(element, _reworded)


def without_ids(text: str) -> str:
    """The rendered text of an `unmistakable` page without ids: a caller that only reads needs none.

    Ids count what stands before them, so that the same menu has others on the next page: without them it is the same.
    """
    return _IDS_IN_TEXT.sub("[", text)


def in_view(element: Element) -> Element:
    """The tree as if all of it were in the window: for who only reads, it makes no difference."""
    return rebuilt(element, lambda node, children: replace(node, in_viewport=True, children=children))


def with_addresses(element: Element, base: str) -> Element:
    """The tree with each link's and picture's address in its name, for who has to read addresses off the page."""

    def addressed(element: Element, children: tuple[Element, ...]) -> Element:
        address = absolute(element.attributes.get("href") or element.attributes.get("src") or "", base)
        name = f"{element.name or element.text} -> {address}" if address else element.name
        return replace(element, name=name, children=children)

    return rebuilt(element, addressed)


def absolute(address: str, base: str) -> str | None:
    """The web address that `address` on the page `base` stands for, None when it is none."""
    whole = joined(base, address)
    return whole if address and is_web(whole) and address_parts(whole).hostname else None


def _texts(element: Element) -> Iterable[str]:
    return (element.name, element.text, *element.attributes.values(), *(label for label, _, _ in element.options))


def _reworded(element: Element, children: tuple[Element, ...]) -> Element:
    return replace(
        element,
        name=_ID.sub("(", element.name),
        text=_ID.sub("(", element.text),
        attributes={name: _ID.sub("(", value) for name, value in element.attributes.items()},
        options=tuple((_ID.sub("(", label), value, selected) for label, value, selected in element.options),
        children=children,
    )


def in_parts(text: str, chars: int) -> list[str]:
    """`text` in pieces of at most `chars`, cut between lines; each begins with the last lines of the one before.

    A record that a cut goes through is whole in one of the two, as long as it is no longer than what they share.
    """
    lines = [line[at : at + chars] for line in text.split("\n") for at in range(0, max(1, len(line)), chars)]
    parts: list[str] = []
    piece: list[str] = []
    length = 0
    for line in lines:
        if piece and length + len(line) + 1 > chars:
            parts.append("\n".join(piece))
            piece = _tail(piece, min(chars // 8, chars - len(line) - 1))
            length = sum(len(kept) + 1 for kept in piece)
        piece.append(line)
        length += len(line) + 1
    return [*parts, "\n".join(piece)]


def _tail(lines: list[str], chars: int) -> list[str]:
    """The last lines that together have at most `chars`."""
    kept: list[str] = []
    for line in reversed(lines):
        chars -= len(line) + 1
        if chars < 0:
            break
        kept.insert(0, line)
    return kept


def walk(element: Element) -> Iterator[Element]:
    """The tree in document order; a deep page does not exhaust the stack."""
    waiting = [element]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(current.children))


def _usable(element: Element) -> bool:
    if not element.bid or "disabled" in element.states:
        return False
    if element.attributes.get("type") == "file":
        return True  # the real control of an upload is usually hidden behind a drawn one
    return element.visible and (element.clickable or element.tag in _CONTROLS)


def describe(element: Element) -> str:
    """An element in words: role and name, with what else tells it apart."""
    name = " ".join((element.name or element.text).split())[:_NAME_CHARS]
    role = element.role or element.tag
    parts = [f'{role} "{name}"' if name else role]
    for attribute in ("type", "placeholder", "title", "alt"):
        value = " ".join(element.attributes.get(attribute, "").split())[:_NAME_CHARS]
        if value and value != name and value != role:
            parts.append(f'{attribute} "{value}"')
    return " ".join(parts)


def _is_field(element: Element) -> bool:
    return element.tag in ("input", "select", "textarea") or element.role in ("textbox", "combobox", "checkbox")


def _waiting(root: Element) -> dict[str, Element]:
    """The disabled buttons, by their ids."""
    disabled = (element for element in walk(root) if "disabled" in element.states and element.role == "button")
    return {element.bid: element for element in disabled if _usable(replace(element, states=frozenset()))}


def _described(usable: list[Element]) -> dict[str, Element]:
    """Elements by description; the second of a kind has its number, so that every description names one."""
    seen: Counter[str] = Counter()
    named: dict[str, Element] = {}
    for element in usable:
        words = describe(element)
        seen[words] += 1
        named[words if seen[words] == 1 else f"{words} ({seen[words]})"] = element
    return named


def _letters(number: int) -> str:
    """A … Z, AA, AB, …"""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, len(ascii_uppercase))
        letters = ascii_uppercase[rest] + letters
    return letters
