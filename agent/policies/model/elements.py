"""The elements of a page that a model may act on, under the names that the job's grounding gives them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Literal

from agent.types import Element, Observation

Grounding = Literal["bid", "mark", "attributes", "choice", "coordinates"]

_CONTROLS = frozenset({"a", "button", "input", "select", "textarea", "option", "summary", "label"})
_NAME_CHARS = 80


@dataclass(frozen=True, slots=True)
class Offered:
    """What a model may act on: by the id that it answers with."""

    elements: Mapping[str, Element]
    candidates: Mapping[str, str]  # listed under the page: id to words; empty where the page's text has the ids
    bids: frozenset[str]  # of everything on the page that is not disabled, for calls on what takes no clicks


def offered(seen: Observation, grounding: Grounding) -> Offered:
    """The usable elements of `seen`. Disabled ones are not among them: what is not offered cannot be chosen."""
    usable = [element for element in walk(seen.elements) if _usable(element)]
    bids = frozenset(e.bid for e in walk(seen.elements) if e.bid and "disabled" not in e.states)
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
    return element.visible and (element.clickable or element.tag in _CONTROLS or bool(element.role))


def describe(element: Element) -> str:
    """An element in words: role and name, with what else tells it apart."""
    name = " ".join((element.name or element.text).split())[:_NAME_CHARS]
    role = element.role or element.tag
    told = [f'{role} "{name}"' if name else role]
    for attribute in ("type", "placeholder", "title", "alt"):
        value = " ".join(element.attributes.get(attribute, "").split())[:_NAME_CHARS]
        if value and value != name and value != role:
            told.append(f'{attribute} "{value}"')
    return " ".join(told)


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
