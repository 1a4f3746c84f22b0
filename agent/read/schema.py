"""The properties of a JSON Schema as plain records: references followed, alternatives merged."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from shoal.agent.read.glossary import NO_ENTRY, GlossaryEntry, entries_of, unambiguous
from shoal.agent.read.values.phrases import NEUTRAL_WORDS, UNIT_WORDS, Phrase, day_phrases, phrase
from shoal.agent.read.values.quantities import requested_unit, shows_amount, unit_perhaps
from shoal.agent.read.word_lists.concepts import CONCEPTS, Concept
from shoal.agent.spec import X_GLOSSARY, schema_text
from shoal.agent.support.bounded_cache import bounded_cache
from shoal.agent.support.json_value import Json
from shoal.agent.support.schemas.bounds import LONG_SCHEMA

_DAYS = ("date", "date-time")
_ALSO_NUMBERS = ("weight", "size", "sku", "date", "servings")
"""Concepts whose values may be asked for as numbers, too."""
_MAX_DEPTH = 8  # references may lead in circles
_MOST_PARTS = 1_000
"""Parts of a schema that are looked at with all references followed: they may multiply at each level."""


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
    description: str = ""
    unit: str = ""  # of a number: the unit that it is asked for in, as CLDR names it; "" where the schema names none
    unit_perhaps: str = ""  # the unit that its name may mean: it is asked for beside an amount of the same kind
    glossary: GlossaryEntry = NO_ENTRY  # further names, which say less than its own
    day_phrases: tuple[Phrase, ...] = ()  # of a day: what else it may be called, "file date" for `date_filed`

    @property
    def own_names(self) -> tuple[Phrase, ...]:
        """Return what it is called without a glossary: by the schema, and by the synonyms of what it commonly means."""
        return self.phrases + (tuple(phrase(name) for name in self.concept.names) if self.concept is not None else ())

    def unit_for(self, text: str, lang: str) -> str:
        """The unit that it asks for of what `text` states; "" for none."""
        if self.unit_perhaps and shows_amount(text, self.unit_perhaps, lang[:2] or "en"):
            return self.unit_perhaps
        return self.unit


PRICED = Property("price", frozenset(), False, False, (("price",),), (), next(c for c in CONCEPTS if c.name == "price"))
"""The property in which a currency is looked for."""


def field_names(properties: Sequence[Property], above: str = "") -> list[str]:
    """The properties as a field glossary names them, those of objects with their parts: `offer.price`."""
    return [name for name, _ in _fields(properties, above)]


def _fields(properties: Sequence[Property], above: str = "") -> Iterator[tuple[str, Property]]:
    """The properties with their names in a field glossary."""
    for prop in properties:
        yield f"{above}{prop.name}", prop
        parts = prop.properties or (prop.items.properties if prop.items is not None else ())
        yield from _fields(parts, f"{above}{prop.name}.")


def properties_of(schema: Mapping[str, Json]) -> tuple[Property, ...]:
    """The properties of a record schema, in its order."""
    return _properties_of(schema_text(schema))


@bounded_cache(256, longest=LONG_SCHEMA)
def _properties_of(text: str) -> tuple[Property, ...]:
    """Remembered, because the pages of a loop share their schema; as deep as keeps the number of parts bounded."""
    root = json.loads(text)
    for deepest in range(_MAX_DEPTH, 0, -1):
        try:
            return _read(root, deepest, _MOST_PARTS)
        except _TooManyParts:
            continue
    return _read(root, 0, math.inf)  # follows nothing: as many parts as were written down


def _read(root: Mapping[str, Json], deepest: int, parts: float) -> tuple[Property, ...]:
    """The properties; read twice with a glossary, whose labels are held against the names of all fields.

    Args:
        deepest: what lies below is left out.
        parts: how many are looked at.
    """
    plain = _Reader(root, deepest, parts, {}).properties(root, (), "", 0)
    if X_GLOSSARY not in root:
        return plain
    own = {name: prop.own_names for name, prop in _fields(plain)}
    return _Reader(root, deepest, parts, unambiguous(entries_of(root), own)).properties(root, (), "", 0)


class _TooManyParts(Exception):
    """The schema unfolds to more parts than are read."""


@dataclass(slots=True)
class _Reader:
    """One reading of a schema."""

    root: Mapping[str, Json]
    deepest: int  # what lies below is left out
    parts: float  # how many may still be looked at
    glossary: Mapping[str, GlossaryEntry]  # by field

    def properties(self, schema: Mapping[str, Json], parents: Phrase, above: str, depth: int) -> tuple[Property, ...]:
        """The properties of an object.

        Args:
            parents: words of its name.
            above: its name in a glossary, with the dot before its parts.
        """
        flat = self._flat(schema, depth)
        required = set(flat.get("required", ()))
        entity = phrase(str(flat.get("title", "")))
        declared = flat.get("properties")
        if not isinstance(declared, Mapping) or depth > self.deepest:
            return ()
        read = (
            self._property(
                name, part if isinstance(part, Mapping) else {}, name in required, parents, entity, above, depth
            )
            for name, part in declared.items()
        )
        return tuple(
            replace(prop, unit_perhaps=unit_perhaps(prop.name, declared)) if prop.unit_perhaps else prop
            for prop in read
        )

    def _property(
        self,
        name: str,
        part: Mapping[str, Json],
        required: bool,
        parents: Phrase,
        entity: Phrase,
        above: str,
        depth: int,
    ) -> Property:
        flat = self._flat(part, depth)
        types = _types(flat)
        phrases = _phrases(name, str(flat.get("title", "")), parents, entity)
        description = str(flat.get("description", ""))
        hints = phrase(description)
        concept = _concept(phrases, hints, types, str(flat.get("format", "")))
        measured = types & {"number", "integer"} and not (concept is not None and concept.kind == "price")
        items, glossary = flat.get("items"), self.glossary.get(f"{above}{name}", NO_ENTRY)
        asked = requested_unit(name, description, str(flat.get("x-unit", ""))) or glossary.unit
        return Property(
            name=name,
            types=types - {"null"},
            nullable="null" in types or None in flat.get("enum", ()),
            required=required,
            phrases=phrases,
            hints=hints,
            description=description,
            unit=asked if measured else "",
            unit_perhaps=unit_perhaps(name) if measured and not asked else "",
            glossary=glossary,
            concept=concept,
            format=str(flat.get("format", "")),
            day_phrases=day_phrases(phrases) if flat.get("format") in _DAYS else (),
            pattern=str(flat.get("pattern", "")),
            enum=_enum(flat),
            properties=self.properties(flat, phrase(name), f"{above}{name}.", depth + 1),
            items=self._property(name, items, True, parents, entity, above, depth + 1)
            if isinstance(items, Mapping)
            else None,
        )

    def _flat(self, part: Mapping[str, Json], depth: int) -> dict[str, Json]:
        """`part` with its reference followed, `allOf` merged, and the non-null branch of `anyOf`/`oneOf` taken in."""
        flat: dict[str, Json] = {}
        if depth > self.deepest:
            return flat
        self.parts -= 1
        if self.parts < 0:
            raise _TooManyParts
        reference = part.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            flat.update(self._flat(_resolve(reference, self.root), depth + 1))
        for subschema in part.get("allOf", ()):
            if isinstance(subschema, Mapping):
                flat.update(self._flat(subschema, depth + 1))
        types: set[str] = set()
        for keyword in ("anyOf", "oneOf"):
            for subschema in part.get(keyword, ()):
                if isinstance(subschema, Mapping):
                    branch = self._flat(subschema, depth + 1)
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
    declared = part.get("type", ())
    types = {declared} if isinstance(declared, str) else {str(name) for name in declared}
    if not types and "enum" in part:
        types = {_type_of(value) for value in part["enum"]}
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
    return tuple(value for value in flat.get("enum", ()) if value is not None)


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
        concept = _BY_PHRASE.get(words)
        if concept is not None and _fits(concept, types):
            return concept
    if len(phrases) == 1 and len(phrases[0]) == 1 and len(phrases[0][0]) <= 3:
        named = {id(c): c for n in (1, 2, 3) for i in range(len(hints)) if (c := _BY_PHRASE.get(hints[i : i + n]))}
        fitting = [candidate for candidate in named.values() if _fits(candidate, types)]
        if len(fitting) == 1:
            return fitting[0]
    return None


def _fits(concept: Concept, types: frozenset[str]) -> bool:
    if concept.kind == "availability":
        return True
    if types and types <= {"boolean"}:
        return False
    if types and types <= {"number", "integer"}:
        return concept.kind in ("price", "rating", "count", "gtin") or concept.name in _ALSO_NUMBERS
    return True
