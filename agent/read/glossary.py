"""The field glossary of a schema: the labels, schema.org properties and units under which pages may state its fields.

It stands in the record's schema under `x-glossary`, where a caller writes it, or where a session puts what a model has
answered. Its words are further names of a field: they say less than the field's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shoal.agent.read.values.phrases import Phrase, phrase
from shoal.agent.read.values.quantities import unit_named
from shoal.agent.read.vocabulary import PROPERTIES
from shoal.agent.spec import X_GLOSSARY
from shoal.agent.support.json_value import Json

MOST_FIELDS = 100
MOST_LABELS, MOST_PROPERTIES = 20, 6
"""Of one field."""
LONGEST_LABEL = 60
_KEYS = frozenset({"labels", "properties", "unit"})


@dataclass(frozen=True, slots=True)
class GlossaryEntry:
    """Names that pages may use for one field, most telling first."""

    labels: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()  # of schema.org
    unit: str = ""  # of a number, as CLDR names it

    def called(self, names: Sequence[Phrase]) -> str:
        """The label that says the same as one of a place's names; "" for none."""
        return next((label for label in self.labels if phrase(label) in names), "")


NO_ENTRY = GlossaryEntry()


def entries_of(schema: Mapping[str, Json]) -> Mapping[str, GlossaryEntry]:
    """The glossary that a record's schema has, by field; what is no entry is left out."""
    keyword = schema.get(X_GLOSSARY)
    if not isinstance(keyword, Mapping):
        return {}
    return {name: _entry(part) for name, part in keyword.items() if isinstance(part, Mapping)}


def _entry(part: Mapping[str, Json]) -> GlossaryEntry:
    labels = [label for label in _texts(part.get("labels")) if 0 < len(label) <= LONGEST_LABEL and phrase(label)]
    properties = [name for name in _texts(part.get("properties")) if name in PROPERTIES]
    unit = part.get("unit")
    return GlossaryEntry(
        tuple(dict.fromkeys(labels))[:MOST_LABELS],
        tuple(dict.fromkeys(properties))[:MOST_PROPERTIES],
        (unit_named(unit) or "") if isinstance(unit, str) else "",
    )


def _texts(texts: Json) -> list[str]:
    return (
        [" ".join(text.split()) for text in texts if isinstance(text, str)] if isinstance(texts, list | tuple) else []
    )


def glossary_faults(keyword: Json, known: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield what of a glossary would say nothing:
    each place, "" for all of it, and what is wrong there.

    Args:
        known: names of the record's fields, those of their parts with a dot.
    """
    if not isinstance(keyword, Mapping):
        yield "", 'must name fields: {"price": {"labels": ["Our price"], "properties": ["price"], "unit": ""}}'
        return
    if len(keyword) > MOST_FIELDS:
        yield "", f"has {len(keyword):,} fields; {MOST_FIELDS} are read at most"
    for name, part in keyword.items():
        if name not in known:
            yield name, "is no field of the schema"
        elif not isinstance(part, Mapping) or part.keys() - _KEYS:
            yield name, "must be an object with `labels`, `properties` and `unit`, each of which may be left out"
        else:
            yield from ((f"{name}.{place}", why) for place, why in _faults(part))


def _faults(part: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for key, most in (("labels", MOST_LABELS), ("properties", MOST_PROPERTIES)):
        given = part.get(key, [])
        if not isinstance(given, list) or not all(isinstance(text, str) for text in given) or len(given) > most:
            yield key, f"must be a list of {most} texts at most"
            return
    for label in part.get("labels", ()):
        if not phrase(label) or len(label) > LONGEST_LABEL:
            yield "labels", f"{label[:LONGEST_LABEL]!r} is no label of 1 to {LONGEST_LABEL} characters"
    for name in part.get("properties", ()):
        if name not in PROPERTIES:
            yield "properties", f"{name[:LONGEST_LABEL]!r} is no property of schema.org"
    unit = part.get("unit", "")
    if not isinstance(unit, str) or (unit and unit_named(unit) is None):
        yield "unit", f"{str(unit)[:LONGEST_LABEL]!r} is no unit that is known"


def unambiguous(entries: Mapping[str, GlossaryEntry], own: Mapping[str, Sequence[Phrase]]) -> dict[str, GlossaryEntry]:
    """The entries without the labels that name several fields, or that are another field's own name.

    Args:
        own: what each field of the schema is called without a glossary.
    """
    counts = Counter(words for entry in entries.values() for words in {phrase(label) for label in entry.labels})
    owners: dict[Phrase, set[str]] = {}
    for name, phrases in own.items():
        for words in phrases:
            owners.setdefault(words, set()).add(name)

    def names(field: str, label: str) -> bool:
        words = phrase(label)
        return counts[words] == 1 and field in owners.get(words, {field})

    return {
        name: GlossaryEntry(
            tuple(label for label in entry.labels if names(name, label)),
            entry.properties,
            entry.unit,
        )
        for name, entry in entries.items()
    }


def as_keyword(entries: Mapping[str, GlossaryEntry]) -> dict[str, Json]:
    """The entries as a schema holds them."""
    return {
        name: {"labels": list(entry.labels), "properties": list(entry.properties), "unit": entry.unit}
        for name, entry in entries.items()
    }
