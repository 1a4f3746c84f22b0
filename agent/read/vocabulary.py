"""schema.org's vocabulary, and how well a field's name fits a property of it.

The data are `vocabulary.json`, which `scripts/vocabulary.py` makes of a release.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from shoal.agent.read.names import OTHER_NAMES
from shoal.agent.read.word_lists.concepts import CONCEPTS
from shoal.agent.read.words import is_plural, tokens

Types = tuple[str, ...]
"""Names of schema.org types of one thing."""

ENOUGH = 0.62
"""The fit from which a property may be what a field asks for."""

_UNKNOWN_WEIGHT = 5.0
"""Weight of a word that no name of the vocabulary has."""


@dataclass(frozen=True, slots=True)
class VocabularyProperty:
    """One property of the vocabulary."""

    domains: frozenset[str]  # types that have it
    ranges: frozenset[str]  # types of its values
    superseded_by: tuple[str, ...]
    broader: tuple[str, ...]  # what it is a special case of
    words: frozenset[str]  # stems of its comment, those that few comments have
    counts: frozenset[str]  # stems of what it is "the number of"


_NO_PROPERTY = VocabularyProperty(frozenset(), frozenset(), (), (), frozenset(), frozenset())

_DATA = json.loads((Path(__file__).parent / "vocabulary.json").read_text(encoding="utf-8"))

TYPES: Mapping[str, tuple[str, ...]] = {name: tuple(parents) for name, parents in _DATA["types"].items()}
"""Each type with its direct supertypes."""

PROPERTIES: Mapping[str, VocabularyProperty] = {
    name: VocabularyProperty(
        domains=frozenset(entry.get("domains", ())),
        ranges=frozenset(entry.get("ranges", ())),
        superseded_by=tuple(entry.get("superseded_by", ())),
        broader=tuple(entry.get("broader", ())),
        words=frozenset(entry.get("words", ())),
        counts=frozenset(entry.get("counts", ())),
    )
    for name, entry in _DATA["properties"].items()
}

_BY_LOWER_TYPE = {name.lower(): name for name in TYPES}
_BY_LOWER_PROPERTY = {name.lower(): name for name in PROPERTIES}


@cache
def supertypes(name: str) -> tuple[str, ...]:
    """A type and all that it is a kind of, nearest first."""
    names = [name]
    for parent in TYPES.get(name, ()):
        names += supertypes(parent)
    return tuple(dict.fromkeys(names))


def all_supertypes(types: Iterable[str]) -> set[str]:
    """The types and all that they are kinds of."""
    return {above for name in types for above in supertypes(name)}


_THINGS = frozenset({"CreativeWork", "Product", "Event", "Place", "Organization", "Person", "JobPosting"})

STRUCTURES = frozenset(
    name for name in TYPES if "Intangible" in supertypes(name) and "CreativeWork" not in supertypes(name)
) - {"ListItem", "ItemList", "BreadcrumbList"}
"""Types that say something of another thing: offers, ratings, addresses."""

ENUMERATIONS: Mapping[str, frozenset[str]] = {
    name: frozenset(member for member, kinds in _DATA["members"].items() if name in kinds)
    for name in TYPES
    if "Enumeration" in supertypes(name)
}
"""Each enumeration with its members."""

LITERALS = frozenset({"Duration", "Date", "DateTime", "Time", "Number", "Integer", "Boolean", "Float"})
"""Types of values that are no text."""


def known_type(name: str) -> str | None:
    """The type that `name`, an address or a name in any case, means; None: none of the vocabulary."""
    return _BY_LOWER_TYPE.get(re.split(r"[/#:]", name.strip())[-1].lower())


def known_property(name: str) -> str:
    """The property that `name` means, as the vocabulary spells it; `name` without its prefix where it is none."""
    bare = re.split(r"[/#:]", name)[-1]
    return _BY_LOWER_PROPERTY.get(bare.lower(), bare)


def property_named(name: str) -> VocabularyProperty:
    """The property of this name; one without domain and range where the vocabulary has none."""
    return PROPERTIES.get(name, _NO_PROPERTY)


# --- fit of a field's name ----------------------------------------------------------------------------

_IN_NAMES = Counter(word for name in PROPERTIES for word in set(tokens(name)))
_IN_COMMENTS = Counter(word for prop in PROPERTIES.values() for word in prop.words)

_SUPERSEDES: Mapping[str, list[str]] = defaultdict(list)
for _old, _prop in PROPERTIES.items():
    for _new in _prop.superseded_by:
        _SUPERSEDES[_new].append(_old)

_OTHERS: Mapping[frozenset[str], tuple[str, ...]] = {
    frozenset(tokens(name)): targets
    for name, targets in (
        *((name, concept.props) for concept in reversed(CONCEPTS) for name in concept.names),
        *OTHER_NAMES.items(),
    )
}


def _name_weight(word: str) -> float:
    count = _IN_NAMES[word]
    return math.log(len(PROPERTIES) / (1 + count)) if count else _UNKNOWN_WEIGHT


def _comment_weight(word: str) -> float:
    return math.log(len(PROPERTIES) / (1 + _IN_COMMENTS[word]))


@dataclass(frozen=True, slots=True)
class AskedName:
    """The names of a field."""

    name: str  # as the schema spells it
    properties: tuple[str, ...] = ()  # that its glossary names, most telling first


_BY_GLOSSARY = 0.95
"""The fit of the property that a field's glossary names first."""


def fit(asked: AskedName, name: str, types: Types) -> float:
    """Return how well a field fits the property `name` of a thing of these types:
    1 is the same name, 0 another thing.

    The properties that the field's glossary names fit less than one of the field's own name.
    """
    own = fit_of_name(asked.name, name, types)
    if name not in asked.properties:
        return own
    return max(own, _BY_GLOSSARY - 0.02 * asked.properties.index(name))


@lru_cache(100_000)
def fit_of_name(field: str, name: str, types: Types) -> float:
    """Return how well a field's name fits the property `name`,
    as `fit` says.

    A name counts as the same without the words of the thing's own type: `recipe_title` of a recipe is its title.
    """
    asked, name_words = frozenset(tokens(field)), frozenset(tokens(name))
    prop = property_named(name)
    if asked == name_words:
        return 1.0
    renamed = [*prop.superseded_by[:1], *_SUPERSEDES.get(name, ())]
    if any(asked == set(tokens(other)) for other in renamed):
        return 0.98
    if {word for word in name_words if not word.isdigit()} == asked:
        return 0.93
    if any(asked == set(tokens(other)) for other in prop.broader):
        return 0.8
    own = {word for kind in types for word in tokens(kind)}
    inherited = {word for above in all_supertypes(types) for word in tokens(above)}
    rest, said_rest = asked - own or asked, name_words - own or name_words
    if rest == said_rest or rest == name_words - inherited or asked == name_words - inherited:
        return 0.97
    targets = _OTHERS.get(rest, ())
    if name in targets:
        return 0.96 - 0.02 * targets.index(name)
    return max(_fit_of_words(rest, name_words, said_rest), _fit_of_comment(field, rest, prop))


def _fit_of_words(asked: frozenset[str], name_words: frozenset[str], said_rest: frozenset[str]) -> float:
    both = asked & name_words
    if not both:
        return 0.0
    share = sum(map(_name_weight, both)) / sum(map(_name_weight, asked | said_rest))
    return 0.55 + 0.4 * share if asked <= name_words else 0.9 * share


def _fit_of_comment(field: str, asked: frozenset[str], prop: VocabularyProperty) -> float:
    if is_plural(field) and asked and asked <= prop.counts:
        return 0.88
    if asked and asked <= prop.words:
        return 0.5 + 0.03 * min(5.0, *map(_comment_weight, asked), 5.0)
    return 0.0


_HANGING = ("offers", "aggregateRating", "address", "geo", "nutrition", "brand", "baseSalary")
"""Properties by which structures hang from a thing."""


@lru_cache(256)
def types_for(fields: tuple[AskedName, ...]) -> Types:
    """The types whose properties, and those of their structures, fit a schema's fields best."""
    best: dict[AskedName, dict[str, float]] = {field: {} for field in fields}
    for field, by_domain in best.items():
        for name, prop in PROPERTIES.items():
            for domain in prop.domains:
                score = fit(field, name, (domain,))
                if score >= ENOUGH and score > by_domain.get(domain, 0.0):
                    by_domain[domain] = score
    scores: dict[str, float] = {}
    for name in TYPES:
        above = supertypes(name)
        if "Intangible" in above and not _THINGS & set(above):
            continue
        hanging = [
            kind for prop in _HANGING if property_named(prop).domains & set(above) for kind in _structures_of(prop)
        ]
        total = 0.0
        for by_domain in best.values():
            own = [by_domain.get(kind, 0.0) * (1.02 if kind == name else 1.0) for kind in above]
            total += max([*own, *(by_domain.get(kind, 0.0) * 0.97 for kind in hanging), 0.0])
        scores[name] = total - 0.001 * len(above)
    top = max(scores.values())
    return tuple(sorted(name for name, score in scores.items() if score >= top - 0.02))


@cache
def _structures_of(prop: str) -> tuple[str, ...]:
    kinds = property_named(prop).ranges & STRUCTURES
    return tuple(dict.fromkeys(above for kind in kinds for above in supertypes(kind)))
