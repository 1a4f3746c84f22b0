"""Values of the page's main subject, and of nothing else, in the JSON that the page's scripts fetched."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote

from shoal.agent.browser import FetchedJson
from shoal.agent.read.facts.facts import Facts
from shoal.agent.read.values.phrases import phrase, squash
from shoal.agent.support.json_value import Json
from shoal.agent.support.web_addresses import address_parts

_MOST_NODES = 20_000
"""Parts of all answers that are looked at."""
_DEEPEST = 12
_NAMES = frozenset(
    {("name",), ("title",), ("headline",), ("label",), ("subject",), ("display", "name"), ("full", "name")}
)
"""Keys whose value is what a page has as its heading."""
_IDENTITIES = frozenset(phrase("id uuid guid key slug sku code number no path url href permalink ref"))
"""Words of keys whose value tells one item from the others."""
_TELLING = 4
"""Characters of a text that stands on a page by more than chance."""
_LONGEST = 5_000
"""Characters of a value; a longer one is a document of its own."""


@dataclass(frozen=True, slots=True)
class FetchedValue:
    """One value of the object that the page is about."""

    path: str  # keys from the object on, joined by dots
    value: str | int | float | bool
    where: str  # address of the answer, and the path

    @property
    def text(self) -> str:
        """The value as JSON writes it, a text without its quotes."""
        return str(self.value).lower() if isinstance(self.value, bool) else str(self.value)


def subject_values(answers: Sequence[FetchedJson], facts: Facts) -> list[FetchedValue]:
    """The values of the one object of the answers that the page is about; nothing where that is none or several.

    Two things have to hold: the object is named as the page's heading says, and a second value of it stands in the
    page's address or in its text. Objects that differ in a value are several.
    """
    names = _names_of(facts)
    if not answers or not names:
        return []
    text = squash(facts.text)
    address = _parts_of(facts.url)
    subjects = [
        (answer.url, node)
        for answer, node in _objects(answers)
        if (named := _named(node, names)) and _is_borne_out(node, named, address, text)
    ]
    merged: dict[str, FetchedValue] = {}
    for url, node in subjects:
        for path, value in _values(node, "", 0):
            known = merged.setdefault(path, FetchedValue(path, value, f"{url} {path}"))
            if known.value != value:
                return []
    return list(merged.values())


def _names_of(facts: Facts) -> list[str]:
    """Return what the page calls its subject:
    its heading, and where it has none, its title or the first part of that.
    """
    if facts.h1:
        return [squash(facts.h1)]
    own = [heading for heading in facts.headings if heading.visible and not heading.region and heading.text]
    if own:
        top = min(heading.level for heading in own)
        first = [heading.text for heading in own if heading.level == top]
        return [squash(first[0])] if len(first) == 1 else []
    return [name for name in map(squash, re.split(r" [-–—|·:] ", facts.title)[:1]) if name]


def _parts_of(url: str) -> frozenset[str]:
    """The parts of an address that may say which item it is of, the last of its path and the values of its query."""
    parts = address_parts(url)
    parts_of_item = [unquote(step) for step in parts.path.split("/") if step][-1:]
    parts_of_item += [unquote(step) for step in parts.fragment.split("/") if step][-1:]
    parts_of_item += [value for _, value in parse_qsl(parts.query)]
    return frozenset(filter(None, map(squash, parts_of_item)))


def _objects(answers: Sequence[FetchedJson]) -> list[tuple[FetchedJson, Mapping[str, Json]]]:
    """All objects of the answers; none where there are too many to look at each: what is left out may contradict."""
    objects: list[tuple[FetchedJson, Mapping[str, Json]]] = []
    left = _MOST_NODES
    for answer in answers:
        try:
            waiting: list[tuple[Json, int]] = [(json.loads(answer.text, strict=False), 0)]
        except (ValueError, RecursionError):
            continue  # what calls itself JSON and is none is the site's own fault
        while waiting:
            value, depth = waiting.pop()
            left -= 1
            if left < 0 or depth > _DEEPEST:
                return []
            if isinstance(value, Mapping):
                objects.append((answer, value))
            parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
            waiting += [(part, depth + 1) for part in parts if isinstance(part, (Mapping, list))]
    return objects


def _named(node: Mapping[str, Json], names: Sequence[str]) -> str:
    """The key by whose value the object is named as the page is; "" where it is not."""
    for key, value in node.items():
        if isinstance(value, str) and len(value) <= _LONGEST and phrase(str(key)) in _NAMES and squash(value) in names:
            return str(key)
    return ""


def _is_borne_out(node: Mapping[str, Json], named: str, address: frozenset[str], text: str) -> bool:
    """Return whether another value than the name stands in the page's address or text,
    and no number speaks against it.
    """
    rest = {str(key): value for key, value in node.items() if str(key) != named and _is_scalar(value)}
    ids = {_last_step(str(value)) for key, value in rest.items() if _IDENTITIES & set(phrase(key))} - {""}
    own = squash(str(node[named]))
    if address & ids:
        return True
    if any(part.isdecimal() for part in address) and any(value.isdecimal() for value in ids):
        return False  # the page of number 12 is not about number 13, though both have one name
    return any(_stands_in(value, own, text) for value in rest.values())


def _last_step(identity: str) -> str:
    """Return what tells the item in an identity, which may be an address."""
    return squash(identity).rstrip("/").rpartition("/")[2]


def _stands_in(value: Json, own: str, text: str) -> bool:
    squashed = squash(str(value)) if not isinstance(value, bool) else ""
    telling = _TELLING if isinstance(value, str) else 3
    if len(squashed) < telling or squashed in own:
        return False
    return re.search(rf"(?<![\w.]){re.escape(squashed[:200])}(?!\w)", text) is not None


def _is_scalar(value: Json) -> bool:
    return isinstance(value, (str, int, float)) and len(str(value)) <= _LONGEST


def _values(node: Mapping[str, Json], path: str, depth: int) -> Iterator[tuple[str, str | int | float | bool]]:
    """The object's own values by path. A list holds other items, and so does an object with a name or number."""
    for key, value in node.items():
        at = f"{path}.{key}" if path else str(key)
        if _is_scalar(value):
            if str(value).strip():
                yield at, value
        elif isinstance(value, Mapping) and depth < 2:
            name = next((part for own, part in value.items() if phrase(str(own)) in _NAMES), None)
            if isinstance(name, str) and name.strip():
                yield at, name  # "brand": {"id": 7, "name": "Acme"} says who the brand is, and more about the brand
            elif not any(phrase(str(own)) == ("id",) for own in value):
                yield from _values(value, at, depth + 1)


def path_phrase(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a path's last key, and of its last two."""
    keys = path.split(".")
    return phrase(keys[-1]), phrase(" ".join(keys[-2:]))
