"""The properties of a JSON Schema as plain records: references followed, alternatives merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.policies.rules.vocabulary import CONCEPTS, Concept
from agent.policies.rules.words import NEUTRAL_WORDS, UNIT_WORDS, Phrase, phrase

Json = Any

_MAX_DEPTH = 8  # references may lead in circles


@dataclass(frozen=True, slots=True)
class Property:
    """One property of a record."""

    name: str  # as the schema spells it
    types: frozenset[str]  # JSON types without "null"; empty: any
    nullable: bool
    required: bool
    phrases: tuple[Phrase, ...]  # what it may be called, most telling first
    hints: Phrase  # words of the description
    concept: Concept | None = None
    format: str = ""  # JSON Schema's format
    pattern: str = ""
    enum: tuple[Json, ...] = ()
    properties: tuple[Property, ...] = ()  # of an object
    items: Property | None = None  # of an array


def properties_of(schema: Mapping[str, Json]) -> tuple[Property, ...]:
    """The properties of a record schema, in its order."""
    return _properties(schema, schema, (), 0)


def _properties(
    schema: Mapping[str, Json], root: Mapping[str, Json], parents: Phrase, depth: int
) -> tuple[Property, ...]:
    flat = _flatten(schema, root, depth)
    required = set(flat.get("required", ()))
    entity = phrase(str(flat.get("title", "")))
    found = flat.get("properties")
    if not isinstance(found, Mapping) or depth > _MAX_DEPTH:
        return ()
    return tuple(
        _property(name, part if isinstance(part, Mapping) else {}, name in required, root, parents, entity, depth)
        for name, part in found.items()
    )


def _property(
    name: str,
    part: Mapping[str, Json],
    required: bool,
    root: Mapping[str, Json],
    parents: Phrase,
    entity: Phrase,
    depth: int,
) -> Property:
    flat = _flatten(part, root, depth)
    types = _types(flat)
    phrases = _phrases(name, str(flat.get("title", "")), parents, entity)
    hints = phrase(str(flat.get("description", "")))
    items = flat.get("items")
    return Property(
        name=name,
        types=types - {"null"},
        nullable="null" in types or None in flat.get("enum", ()),
        required=required,
        phrases=phrases,
        hints=hints,
        concept=_concept(phrases, hints, types, str(flat.get("format", ""))),
        format=str(flat.get("format", "")),
        pattern=str(flat.get("pattern", "")),
        enum=_enum(flat),
        properties=_properties(flat, root, phrase(name), depth + 1),
        items=_property(name, items, True, root, parents, entity, depth + 1) if isinstance(items, Mapping) else None,
    )


def _flatten(part: Mapping[str, Json], root: Mapping[str, Json], depth: int) -> dict[str, Json]:
    """`part` with its reference followed, `allOf` merged, and the non-null branch of `anyOf`/`oneOf` taken in."""
    flat: dict[str, Json] = {}
    if depth > _MAX_DEPTH:
        return flat
    reference = part.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        flat.update(_flatten(_resolve(reference, root), root, depth + 1))
    for one in part.get("allOf", ()):
        if isinstance(one, Mapping):
            flat.update(_flatten(one, root, depth + 1))
    types: set[str] = set()
    for keyword in ("anyOf", "oneOf"):
        for one in part.get(keyword, ()):
            if isinstance(one, Mapping):
                branch = _flatten(one, root, depth + 1)
                types |= _types(branch)
                flat.update({key: value for key, value in branch.items() if key != "type" and key not in flat})
    flat.update({key: value for key, value in part.items() if key not in ("$ref", "allOf", "anyOf", "oneOf")})
    if types:
        flat["type"] = sorted(types | _types({"type": part.get("type", [])}))
    return flat


def _resolve(reference: str, root: Mapping[str, Json]) -> Mapping[str, Json]:
    here: Json = root
    for step in reference.lstrip("#").strip("/").split("/"):
        if step:
            here = here.get(step.replace("~1", "/").replace("~0", "~"), {}) if isinstance(here, Mapping) else {}
    return here if isinstance(here, Mapping) else {}


def _types(part: Mapping[str, Json]) -> frozenset[str]:
    found = part.get("type", ())
    types = {found} if isinstance(found, str) else {str(one) for one in found}
    if not types and "enum" in part:
        types = {_type_of(one) for one in part["enum"]}
    if not types and "const" in part:
        types = {_type_of(part["const"])}
    if not types and "properties" in part:
        types = {"object"}
    return frozenset(types)


def _type_of(value: Json) -> str:
    if value is None:
        return "null"
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array")):
        if isinstance(value, kind):
            return name
    return "object"


def _enum(flat: Mapping[str, Json]) -> tuple[Json, ...]:
    if "const" in flat:
        return (flat["const"],)
    return tuple(one for one in flat.get("enum", ()) if one is not None)


def _phrases(name: str, title: str, parents: Phrase, entity: Phrase) -> tuple[Phrase, ...]:
    """The names of a property: itself, its title, both without the record's own name and without units."""
    out: list[Phrase] = []

    def add(words: Phrase) -> None:
        if words and words not in out:
            out.append(words)

    plain = phrase(name)
    if parents:
        add(parents + plain)
    for words in (plain, phrase(title)):
        add(words)
        add(tuple(word for word in words if word not in UNIT_WORDS))
        add(tuple(word for word in words if word not in NEUTRAL_WORDS and word not in entity))
    if len(plain) == 2 and plain[1] == "name" and plain[0] not in NEUTRAL_WORDS:
        add(plain[:1])
    return tuple(out)


_BY_PHRASE: dict[Phrase, Concept] = {phrase(name): concept for concept in CONCEPTS for name in concept.names}


def _concept(phrases: tuple[Phrase, ...], hints: Phrase, types: frozenset[str], format_: str) -> Concept | None:
    """The common thing that the property asks for, by its name, its title, and last by its description.

    A description only counts when the name says nothing by itself and exactly one concept is named in it.
    """
    for words in phrases:
        found = _BY_PHRASE.get(words)
        if found is not None and _fits(found, types):
            return found
    if len(phrases) == 1 and len(phrases[0]) == 1 and len(phrases[0][0]) <= 3:
        named = {id(c): c for n in (1, 2, 3) for i in range(len(hints)) if (c := _BY_PHRASE.get(hints[i : i + n]))}
        fitting = [one for one in named.values() if _fits(one, types)]
        if len(fitting) == 1:
            return fitting[0]
    return None


def _fits(concept: Concept, types: frozenset[str]) -> bool:
    if concept.kind == "availability":
        return True
    if types and types <= {"boolean"}:
        return False
    if types and types <= {"number", "integer"}:
        return concept.kind in ("price", "rating", "count", "gtin") or concept.name in ("weight", "size", "sku", "date")
    return True
