"""The values of the record's nodes of structured data, by path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shoal.agent.read.record.nodes import FoundNode, types_of
from shoal.agent.read.values.phrases import phrase
from shoal.agent.support.json_value import Json

_MAX_DEPTH = 5
_MOST_ENTRIES = 50
_JSON_LD = 'script[type="application/ld+json"]'


@dataclass(frozen=True, slots=True)
class StatedByEntity:
    """One value of structured data."""

    path: str  # keys joined by dots, as schema.org names them
    text: str
    how: str  # json-ld, microdata or rdfa
    where: str
    href: str = ""
    label: str = ""  # of a PropertyValue: what it calls itself


def structured(nodes: Sequence[FoundNode]) -> list[StatedByEntity]:
    """The values of the nodes that are the record."""
    return [value for each in nodes if each.syntax != "itemprop" for value in _walk(each.node, each, "", 0)]


def _walk(value: Json, source: FoundNode, path: str, depth: int) -> Iterator[StatedByEntity]:
    if depth > _MAX_DEPTH or value is None:
        return
    where = f"{_JSON_LD if source.syntax == 'json-ld' else source.where} {path}"
    if isinstance(value, Mapping):
        if "@value" in value:
            yield from _walk(value["@value"], source, path, depth + 1)
            return
        if types_of(value) == ("PropertyValue",) and "name" in value and "value" in value:
            label, said = (_first(value[name]) for name in ("name", "value"))
            yield StatedByEntity(path, said, source.syntax, where, label=label)
            return
        for key, part in value.items():
            if not key.startswith("@") or key == "@id":
                name = key.rstrip("/").split("/")[-1]
                yield from _walk(part, source, f"{path}.{name}" if path else name, depth + 1)
    elif isinstance(value, list):
        for entry in value[:_MOST_ENTRIES]:
            yield from _walk(entry, source, path, depth)
    else:
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if text.strip():
            href = text if text.startswith(("http://", "https://", "/")) and " " not in text else ""
            yield StatedByEntity(path, text, source.syntax, where, href=href)


def _first(value: Json) -> str:
    return str(value[0] if isinstance(value, list) and value else value)


def path_phrase(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a path's last key, and of its last two."""
    keys = path.split(".")
    return phrase(keys[-1]), phrase(" ".join(keys[-2:]))
