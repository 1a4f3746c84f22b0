"""Claims of a page against its records: values that it does not state, and its own number of records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Protocol

from babel import UnknownLocaleError
from babel.core import get_global
from babel.numbers import get_currency_symbol

from shoal.agent.read.grounding.page_text import PageText
from shoal.agent.read.schema import properties_of
from shoal.agent.read.word_lists.common_words import common_words
from shoal.agent.spec import ExtractSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import Record

Path = tuple[str | int, ...]

_SHARE = 0.8
"""Of a text's words that the page must hold. A text put together from several places is not on it in one piece."""
_VALUE_CHARS = 60
_WORD = re.compile(r"\w+")
_CURRENCY = re.compile(r"[A-Z]{3}")
_MOST_HOMES = 30
"""Territories of one currency whose way of writing it is known."""
_SQUEEZED_CHARS = 5
"""Fewer letters in a row are found on every page by chance."""
_MAX_DEPTH = 40
_SHORT_NUMBER = 100
_SHORT_WORD = 12
_LONGEST_BESIDE = 100
"""Characters of a text whose words may stand beside a short value: longer ones have the words of any page."""
_BESIDE = 12
"""Characters to a name that is made of words of any page: `year`, "for"."""
_MOST_BESIDE = 40
"""Texts of one record that may stand beside a short value."""
_LEAST_WORD = 3
"""Letters of a word by which a value is known."""
_ANY_WORD = re.compile(r"\w+")
_NAME_WORD = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")

_THINGS = (
    "results|rows|items|products|entries|articles|matches|hits|records|listings|books|jobs|offers|posts|reviews"
    "|pages? found"
    "|ergebnisse|treffer|artikel|produkte|einträge|résultats|produits|articles|resultados|productos|risultati|prodotti"
    "|resultaten|producten"
)
# A number has at most so many characters: without a bound a page of digits alone would take the square of its length.
_FIRST = r"\d[\d.,\u00a0\u202f ]{0,18}?"
_BETWEEN = r"\s{0,9}(?:-|–|—|\.\.|to|bis|à|a|do)\s{0,9}"
_RANGE = rf"{_FIRST}{_BETWEEN}{_FIRST}\s{{1,9}}"
_OF = r"(?:out of|of|von|de|sur|di|van|av|z|/)"
_NUMBER = r"(\d{1,3}(?:[.,\u00a0\u202f ]\d{3}){1,6}|\d+)"
_COUNTS = (
    # "1–20 of 134 results", "Showing 1 to 20 of 134"
    re.compile(rf"(?<!\d){_RANGE}{_OF}\s+{_NUMBER}\b", re.IGNORECASE),
    # "20 of 134 results"
    re.compile(rf"{_OF}\s+{_NUMBER}\s+(?:{_THINGS})\b", re.IGNORECASE),
    # "Showing 20 of 134"
    re.compile(rf"\b(?:showing|displaying|viewing|shown:?|loaded)\s+\d+\s+{_OF}\s+{_NUMBER}\b", re.IGNORECASE),
    # "200 pages are in this category, out of 345 total"
    re.compile(rf"\bout of\s+{_NUMBER}\s+(?:in\s+)?total\b", re.IGNORECASE),
    # the tab of the list itself
    re.compile(rf"\blist\s*\({_NUMBER}\)", re.IGNORECASE),
)
_COUNTED = re.compile(rf"(?<![\w.,])(?<!page )(?<!top )(?<!first )(?<!latest ){_NUMBER}\s+({_THINGS})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Unproven:
    """One value that the page does not say."""

    path: Path  # record number, then names and positions
    value: Json

    @property
    def field(self) -> str:
        """The record's field that is concerned."""
        return str(self.path[1]) if len(self.path) > 1 else ""

    def __str__(self) -> str:
        place = "/".join(str(part) for part in self.path[1:])
        return f"{place} {str(self.value)[:_VALUE_CHARS]!r} in record {self.path[0]}"


class FieldKnowledge(Protocol):
    """The rules' knowledge of a schema's fields."""

    def names(self, field: str) -> Sequence[str]:
        """Return what pages call a field, beside its own name."""
        ...

    def states(self, field: str, value: Json) -> bool:
        """Return whether the page states a value of a field otherwise: by a conversion, or in its structured data."""
        ...


class NoKnowledge:
    """Of which nothing is known."""

    def names(self, field: str) -> Sequence[str]:
        """See `FieldKnowledge`."""
        return ()

    def states(self, field: str, value: Json) -> bool:
        """See `FieldKnowledge`."""
        return False


def unproven(
    records: Sequence[Json], extract: ExtractSpec, text: PageText, known: FieldKnowledge = NoKnowledge()
) -> list[Unproven]:
    """The numbers and texts of `records` that the page does not show.

    A short number or word is shown by itself, among nothing but values of its record and names of fields, near a word
    of its field's name, near all words of a label or of another value of its record; a price beside the sign of a
    currency.
    Left alone are yes and no, and values of an enumeration: those are conclusions, and no text says them.
    """
    schema = extract.record_schema or {}
    whole = extract.json_schema or {}
    kinds = {prop.name: prop.concept.kind for prop in properties_of(schema) if prop.concept is not None}
    claims: list[Unproven] = []
    for index, record in enumerate(records):
        leaves = list(_leaves(record, schema, whole, (index,)))
        proven = [_proven(value, own, text) for _, value, own in leaves]
        borne_out = [leaf for leaf, shown in zip(leaves, proven, strict=True) if shown]
        beside = _beside(borne_out)
        for (path, value, own), shown in zip(leaves, proven, strict=True):
            field = str(path[1]) if len(path) > 1 else ""
            if shown and (
                not _is_short(value, own)
                or _is_in_place(value, path, known.names(field), beside, text)
                or _is_listed(value, path, borne_out, text)
                or (kinds.get(field) == "price" and text.states_amount(value))
            ):
                continue
            if not known.states(field, value):
                claims.append(Unproven(path, value))
    return claims


def _is_in_place(
    value: Json, path: Path, names: Sequence[str], beside: Mapping[Path, frozenset[str]], text: PageText
) -> bool:
    """Return whether a short value stands by itself, or near what names it; the name of its field is no value."""
    fields = [part.casefold() for part in path[1:] if isinstance(part, str)]
    if text.shows_alone(value) and str(value).strip().casefold() not in fields:
        return True
    own = [_words_of(part) for part in path[1:] if isinstance(part, str)]
    labels = [*own, *map(_words_of, names)]
    common = [words for words in labels if words <= common_words()]
    telling = [words for words in labels if not words <= common_words()]
    own_words = [frozenset({word}) for words in own for word in words - common_words()]
    others = [words for other, words in beside.items() if other != path]
    return text.states_nearby(value, [*own_words, *telling, *others]) or text.states_nearby(value, common, _BESIDE)


def _is_listed(value: Json, path: Path, leaves: Sequence[tuple[Path, Json, Json]], text: PageText) -> bool:
    """Return whether a text of the page is made of the value, others of its record and names of fields: "3.
    casting".

    Short values of a record bear out each other there only beside a field's name or a word of a longer value.
    """
    fields = {part.casefold() for leaf, _, _ in leaves for part in leaf[1:] if isinstance(part, str)}
    others = [
        (set(_ANY_WORD.findall(str(leaf_value).casefold())), leaf_value, own)
        for leaf, leaf_value, own in leaves
        if leaf != path
    ]
    telling = {
        word for words, leaf_value, own in others if not _is_short(leaf_value, own) for word in words - common_words()
    }
    words = fields.union(*(words for words, _, _ in others))
    return str(value).strip().casefold() not in fields and text.shows_among(
        value, frozenset(words), frozenset(fields | telling)
    )


def _is_conclusion(schema: Json) -> bool:
    """Return whether a schema names the values that there are, so that a page need not show the one that holds."""
    return "enum" in schema or "const" in schema


def _is_short(value: Json, schema: dict[str, Json]) -> bool:
    """Return whether a value stands on many pages by chance: a number of two digits, a word without figures."""
    if isinstance(value, bool) or value is None or _is_conclusion(schema):
        return False
    if isinstance(value, int | float):
        return value == int(value) and abs(value) < _SHORT_NUMBER if abs(value) < 1e300 else False
    text = str(value).strip()
    return (text.isalpha() and text.islower() and len(text) <= _SHORT_WORD) or (text.isdigit() and len(text) <= 2)


def _words_of(text: str) -> frozenset[str]:
    """The words of a name or a value that say anything, in lower case."""
    words = _NAME_WORD.findall(_HUMP.sub(" ", text).casefold())
    return frozenset(word for word in words if len(word) >= _LEAST_WORD)


def _beside(leaves: Sequence[tuple[Path, Json, Json]]) -> dict[Path, frozenset[str]]:
    """The words of texts that a page shows, by their places in the record.

    Left out are those of long texts, of the code of a currency, and of short values: these need a proof themselves.
    """
    texts = {
        path: _words_of(value) - common_words()
        for path, value, own in leaves
        if isinstance(value, str)
        and len(value) <= _LONGEST_BESIDE
        and not (_is_conclusion(own) or _is_short(value, own) or _CURRENCY.fullmatch(value))
    }
    return dict(islice(((path, words) for path, words in texts.items() if words), _MOST_BESIDE))


def _leaves(value: Json, schema: Json, root: Json, path: Path) -> Iterator[tuple[Path, Json, Json]]:
    schema = _resolved(schema, root)
    if len(path) > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        named = schema.get("properties", {})
        for name, part in value.items():
            yield from _leaves(part, named.get(name, {}), root, (*path, name))
    elif isinstance(value, list):
        for position, part in enumerate(value):
            yield from _leaves(part, schema.get("items", {}), root, (*path, position))
    else:
        yield path, value, schema


def _resolved(schema: Json, root: Json) -> dict[str, Json]:
    """A schema without its reference; the one option of a choice that is not null."""
    for _ in range(_MAX_DEPTH):
        if not isinstance(schema, dict):
            return {}
        if isinstance(reference := schema.get("$ref"), str):
            kind, _, name = reference.removeprefix("#/").partition("/")
            schema = root.get(kind, {}).get(name, {}) if reference.startswith("#/") else {}
            continue
        options = [part for part in (schema.get("anyOf") or schema.get("oneOf") or ()) if part != {"type": "null"}]
        if len(options) != 1:
            return schema
        schema = options[0]
    return {}


def _proven(value: Json, schema: dict[str, Json], text: PageText) -> bool:
    if value is None or isinstance(value, bool) or _is_conclusion(schema):
        return True
    if text.find(value) is not None:
        return True
    if not isinstance(value, str):
        return False
    if not value.strip():
        return True  # it says nothing, so it says nothing wrong
    words = _WORD.findall(value.casefold())
    if _written_otherwise(value, text):
        return True
    # An address, a date or a number in words is on the page or it is not; only longer texts are put together.
    together = len(words) > 1 and "://" not in value and not any(word.isdigit() for word in words)
    return together and sum(word in text.words for word in words) >= _SHARE * len(words)


def _written_otherwise(value: str, text: PageText) -> bool:
    """Return whether the page says it with other punctuation ("+49 (30) 12-34"), or a currency's code by its symbol."""
    if _CURRENCY.fullmatch(value):
        return any(_is_beside_number(symbol, text.whole) for symbol in _symbols(value))
    squeezed = "".join(letter for letter in value.casefold() if letter.isalnum())
    return len(squeezed) >= _SQUEEZED_CHARS and squeezed in text.squeezed


@cache
def _symbols(currency: str) -> frozenset[str]:
    """Return how a currency is written in English, and where it is at home."""
    homes = [land for land, used in get_global("territory_currencies").items() if currency in {use[0] for use in used}]
    likely = get_global("likely_subtags")
    spoken = {land: str(likely[f"und_{land}"]).split("_")[0] for land in homes if f"und_{land}" in likely}
    locales = ["en", *(f"{language}_{land}" for land, language in spoken.items())]
    return frozenset(_symbol(currency, locale) for locale in locales[:_MOST_HOMES]) - {currency.casefold()}


def _symbol(currency: str, locale: str) -> str:
    try:
        return get_currency_symbol(currency, locale=locale).casefold()
    except UnknownLocaleError:
        return currency.casefold()


def _is_beside_number(symbol: str, text: str) -> bool:
    """Return whether a currency's symbol is shown; one of letters stands by a number."""
    sign = re.escape(symbol)
    if not any(letter.isalpha() for letter in symbol):
        return symbol in text
    return re.search(rf"\d[.,\s-]{{0,3}}{sign}(?!\w)|(?<!\w){sign}\s?\d", text) is not None


def without(records: Sequence[Json], doubted: Sequence[Unproven]) -> list[Json]:
    """`records` with those values left out: a field is gone, a list is shorter."""
    gone = {claim.path for claim in doubted}
    return [_pruned(record, gone, (index,)) for index, record in enumerate(records)] if gone else list(records)


def _pruned(value: Json, gone: set[Path], path: Path) -> Json:
    if isinstance(value, dict):
        return {name: _pruned(part, gone, (*path, name)) for name, part in value.items() if (*path, name) not in gone}
    if isinstance(value, list):
        return [_pruned(part, gone, (*path, n)) for n, part in enumerate(value) if (*path, n) not in gone]
    return value


_PART = re.compile(
    rf"(?<!\d)({_FIRST}){_BETWEEN}({_FIRST})\s{{1,9}}{_OF}\s{{1,9}}{_NUMBER}\b",
    re.IGNORECASE,
)


def stated_part(text: str) -> tuple[int, int, int] | None:
    """Which records of how many a page's text says that it shows: (1, 10, 57) for "1 to 10 of 57"."""
    hit = _PART.search(text)
    return None if hit is None else (_whole(hit[1]), _whole(hit[2]), _whole(hit[3]))


def stated_count(text: str, things: Sequence[str] | None = None) -> int | None:
    """Return how many records a page's text says that there are,
    None where it does not say so plainly.

    Args:
        things: only counts of things that these folded words name; None: of whatever a list may hold.
    """
    for form in _COUNTS if things is None else ():
        counts = [_whole(count) for count in form.findall(text)]
        if counts:
            return max(counts)
    by_thing: dict[str, set[int]] = {}
    for number, thing in _COUNTED.findall(text):
        if things is None or any(thing.casefold().startswith(word) for word in things):
            by_thing.setdefault(thing.casefold(), set()).add(_whole(number))
    # Several counts of one kind are told of the records, not of the list: this lamp has 178 reviews, that one 12.
    return max((max(counts) for counts in by_thing.values() if len(counts) == 1), default=None)


def texts_of(records: Sequence[Record]) -> frozenset[str]:
    """The texts that records hold at their first level."""
    values = (record.value for record in records)
    return frozenset(
        value for own in values if isinstance(own, Mapping) for value in own.values() if isinstance(value, str)
    )


def _whole(number: str) -> int:
    return int(re.sub(r"\D", "", number))
