"""Fields of one record: for each property the best candidate that converts, how sure, and from where.

Order of trust: structured data that the page also shows; then what the visible record says; then structured data that
the page does not show. Where both speak and disagree, the visible text wins for typed and short values and the field is
marked as not confirmed: people see the page, and stale markup is common. Two equally good values that differ are no
answer: the field stays missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

from shoal.agent.policies.rules.facts.facts import Facts
from shoal.agent.policies.rules.fields.candidates import (
    PRICED,
    Candidate,
    candidates_of,
    likeness_to,
    section_candidates,
    wanted_words,
)
from shoal.agent.policies.rules.fields.schema import Property
from shoal.agent.policies.rules.values.currencies import read_currency
from shoal.agent.policies.rules.values.numbers import decimal_of, looks_like_rating, number_tokens, read_price
from shoal.agent.policies.rules.values.stock import read_stock, stock_line
from shoal.agent.policies.rules.values.values import Raw, Reading, convert
from shoal.agent.policies.rules.values.vocabulary import CONCEPTS
from shoal.agent.policies.rules.values.words import Phrase, fold, phrase, squash
from shoal.agent.types import FieldSource

Json = Any

ENOUGH = 0.5
"""The least score that counts as found."""
_STRONG = 0.78  # from here on what is visible may overrule what is not
_CLOSE = 0.03  # scores nearer than this are equal
_BIGGER = 1.15  # a font larger by this factor is meant to be seen first
_SECTION = 1.0  # an id that names the field, its value shown in the same section
_SHORT = 80  # characters of a string that may be compared with structured data


@dataclass(frozen=True, slots=True)
class FoundValue:
    """One field's value."""

    value: Json
    source: FieldSource
    score: float = 1.0


@dataclass(slots=True)
class FieldReader:
    """Reads fields from the candidates of one page or one block."""

    candidates: Sequence[Candidate]
    reading: Reading
    shown: VisibleText
    facts: Facts | None = None  # the page, for what only a page has: sections, lines of text
    _by_word: dict[str, list[int]] = field(default_factory=dict)
    _by_path: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place, candidate in enumerate(self.candidates):
            for word in {word for label in candidate.labels for word in label}:
                self._by_word.setdefault(word, []).append(place)
            if candidate.path:
                self._by_path.setdefault(candidate.path, []).append(place)

    def _possible(self, prop: Property) -> list[Candidate]:
        """The candidates that share a word or a path with the property: a page has hundreds that do not."""
        places = {place for word in wanted_words(prop) for place in self._by_word.get(word, ())}
        if prop.concept:
            paths = (*prop.concept.paths, *prop.concept.metas)
            places |= {place for path in paths for place in self._by_path.get(path, ())}
        return [self.candidates[place] for place in sorted(places)]

    def read(self, prop: Property) -> FoundValue | None:
        """The value of `prop`; None when the page does not state it, or not clearly."""
        if prop.properties and (not prop.types or "object" in prop.types):
            return self._object(prop)
        if prop.items is not None and "array" in prop.types:
            return self._array(prop, prop.items)
        scored = self._scored(prop)
        machine = _best([one for one in scored if one.candidate.structured], self.shown, prop)
        visible = _best(
            [one for one in scored if not one.candidate.structured and one.candidate.visible], self.shown, prop
        )
        hidden = _best(
            [one for one in scored if not one.candidate.structured and not one.candidate.visible], self.shown, prop
        )
        if machine is None:
            machine = hidden
        if machine is not None:
            return _settle(prop, machine, visible, self.shown)
        if visible is not None:
            return visible.found(confirmed=True)
        return self._from_text(prop) if self.facts is not None else None

    def _scored(self, prop: Property) -> list[Scored]:
        scored = []
        for candidate in section_candidates(self.facts, prop) if self.facts is not None else ():
            value = convert(prop, candidate.raw, self.reading)
            if value is not None:
                scored.append(Scored(_SECTION, candidate, value))
        for candidate in self._possible(prop):
            score = likeness_to(prop, candidate)
            if prop.concept and prop.concept.kind == "currency" and score < ENOUGH:
                score = 0.9 * likeness_to(PRICED, candidate)
            if score < ENOUGH:
                continue
            value = convert(prop, _without_label(candidate.raw, prop), self.reading)
            if value is not None:
                scored.append(Scored(score + (0.01 if candidate.in_fragment else 0.0), candidate, value))
        return scored

    def _object(self, prop: Property) -> FoundValue | None:
        parts = {one.name: found for one in prop.properties if (found := self.read(one)) is not None}
        if not parts or any(one.required and one.name not in parts for one in prop.properties):
            return None
        first = next(iter(parts.values()))
        confirmed = all(found.source.confirmed for found in parts.values())
        source = replace(first.source, confirmed=confirmed)
        return FoundValue({name: found.value for name, found in parts.items()}, source, first.score)

    def _array(self, prop: Property, items: Property) -> FoundValue | None:
        """A list: all values at the best place, or the lines or commas of the one text there."""
        if items.properties:
            return None
        one = replace(items, phrases=prop.phrases, concept=items.concept or prop.concept)
        scored = sorted(self._scored(one), key=lambda each: -each.score)
        if not scored:
            return None
        best = scored[0]
        same = [
            each for each in scored if each.candidate.how == best.candidate.how and best.score - each.score < _CLOSE
        ]
        values = list(dict.fromkeys(each.value for each in same))
        if len(values) == 1 and isinstance(values[0], str) and not best.candidate.structured:
            values = _listed(best.candidate.raw.text) if one.format == "" and not best.candidate.raw.href else values
        confirmed = all(self.shown.has(one, value) for value in values)
        return FoundValue(values, FieldSource(best.candidate.how, best.candidate.where, confirmed), best.score)

    # --- text without a label -------------------------------------------------------------------------

    def _from_text(self, prop: Property) -> FoundValue | None:
        """What a line of the record says by its form alone, when all such lines say the same."""
        kind = prop.concept.kind if prop.concept else "text"
        found: dict[str, tuple[Json, str]] = {}
        for line in self.shown.lines:
            if self._speaks(prop, kind, line):
                value = convert(prop, _without_label(Raw(line), prop), self.reading)
                if value is not None:
                    found.setdefault(repr(value), (value, line))
        if len(found) != 1:
            return None
        value, line = next(iter(found.values()))
        return FoundValue(value, FieldSource("text", line, True), ENOUGH)

    def _speaks(self, prop: Property, kind: str, line: str) -> bool:
        if kind == "availability":
            return stock_line(line) is not None
        if kind == "rating":
            return looks_like_rating(line)
        if kind == "price":
            return prop.concept is PRICED.concept and _is_amount(line, self.reading.lang)
        if kind == "currency":
            return _is_amount(line, self.reading.lang)
        if prop.types & {"number", "integer"} and not prop.types - {"number", "integer"} and len(line) <= 40:
            words = set(phrase(line))
            names = prop.phrases + (tuple(phrase(n) for n in prop.concept.names) if prop.concept else ())
            return any(set(name) <= words for name in names if name)
        if prop.types == {"string"} and not prop.format and kind in ("text", "gtin") and len(line) <= 60:
            rest = _without_label(Raw(line), prop).text
            return rest != line and len(rest.split()) == 1 and any(sign.isdigit() for sign in rest)
        return False


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate whose text converts."""

    score: float
    candidate: Candidate
    value: Json

    def found(self, *, confirmed: bool) -> FoundValue:
        """The answer that this candidate gives."""
        return FoundValue(self.value, FieldSource(self.candidate.how, self.candidate.where, confirmed), self.score)


def _best(scored: Sequence[Scored], shown: VisibleText, prop: Property) -> Scored | None:
    """The best of `scored`; None when there is none, or when equally good ones differ."""
    if not scored:
        return None
    top = max(one.score for one in scored)
    equal = [one for one in scored if top - one.score < _CLOSE]
    if len({_key(one.value) for one in equal}) == 1:
        return max(equal, key=lambda one: one.score)
    for narrower in (_in_fragment, _largest, lambda ones: [one for one in ones if shown.has(prop, one.value)]):
        fewer = narrower(equal)
        if fewer and len({_key(one.value) for one in fewer}) == 1:
            return max(fewer, key=lambda one: one.score)
    if all(isinstance(one.value, str) for one in equal):  # one text quoted in part, or in another case
        longest = max(equal, key=lambda one: len(one.value))
        if all(squash(one.value) in squash(longest.value) for one in equal):
            return max(equal, key=lambda one: one.score)
        if prop.concept and prop.concept.kind in ("name", "image", "url"):
            return max(equal, key=lambda one: (one.score, -one.candidate.order))
    return None


def _key(value: Json) -> str:
    return squash(value) if isinstance(value, str) else repr(float(value) if isinstance(value, int) else value)


def _in_fragment(scored: Sequence[Scored]) -> list[Scored]:
    return [one for one in scored if one.candidate.in_fragment]


def _largest(scored: Sequence[Scored]) -> list[Scored]:
    sizes = [one.candidate.size for one in scored]
    big = max(sizes)
    rest = [size for size in sizes if size < big]
    return [one for one in scored if one.candidate.size == big] if rest and big >= _BIGGER * max(rest) > 0 else []


def _settle(prop: Property, machine: Scored, visible: Scored | None, shown: VisibleText) -> FoundValue:
    """Structured data against what is visible; see the head of this file."""
    if visible is not None and _agree(machine.value, visible.value):
        return machine.found(confirmed=True)
    if shown.has(prop, machine.value):
        return machine.found(confirmed=True)
    short = not isinstance(visible.value, str) or len(visible.value) <= _SHORT if visible is not None else False
    if visible is not None and short and visible.score >= _STRONG:
        return visible.found(confirmed=False)
    return machine.found(confirmed=False)


def _agree(one: Json, other: Json) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        first, second = squash(one), squash(other)
        return first == second or (min(len(first), len(second)) > 2 and (first in second or second in first))
    return _key(one) == _key(other)


def _without_label(raw: Raw, prop: Property) -> Raw:
    """`raw` without the property's own name in front: "SKU: 12-3" is the sku "12-3", "by Ann" the author "Ann"."""
    if raw.structured or "string" not in prop.types or len(raw.text) > 200:
        return raw
    words = raw.text.split()
    if prop.concept and prop.concept.name in ("sku", "gtin"):
        lead = next((i for i, word in enumerate(words) if any(sign.isdigit() for sign in word)), 0)
        if lead and all(set(phrase(word)) <= _CODE_WORDS for word in words[:lead]):
            return replace(raw, text=" ".join(words[lead:]), parts=())
    names: list[Phrase] = list(prop.phrases)
    if prop.concept:
        names += [phrase(name) for name in prop.concept.names]
    for count in (3, 2, 1):
        head = " ".join(words[:count])
        colon = head.endswith((":", "："))
        if (
            len(words) > count
            and phrase(head) in names
            and (colon or fold(head) in _LEADS or any(c.isdigit() for c in raw.text))
        ):
            return replace(raw, text=" ".join(words[count:]).lstrip(": #"), parts=())
    return raw


_CODE_WORDS = {word for one in CONCEPTS if one.name in ("sku", "gtin") for name in one.names for word in phrase(name)}
_LEADS = frozenset(
    {
        "by",
        "von",
        "par",
        "written by",
        "posted by",
        "posted on",
        "published",
        "published on",
        "ref",
        "ref.",
        "sku",
        "no.",
    }
)


def _listed(text: str) -> list[Json]:
    rows = [row.strip() for row in text.splitlines() if row.strip()]
    if len(rows) == 1:
        rows = [
            part.strip() for sign in (";", ",", "·", "|") if sign in rows[0] for part in rows[0].split(sign)
        ] or rows
    return list(dict.fromkeys(row for row in rows if row))


def _is_amount(line: str, lang: str) -> bool:
    """The line is an amount of money and nothing else."""
    return (
        len(line) <= 24
        and read_currency(line, lang) is not None
        and read_price(line, lang) is not None
        and not any(len(word) > 3 for word in line.split() if word.isalpha())
    )


class VisibleText:
    """What the record's visible text says, for finding values again."""

    def __init__(self, text: str, reading: Reading, candidates: Sequence[Candidate] = ()) -> None:
        self._text = text
        self._reading = reading
        self._candidates = candidates

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the visible text, clipped in number."""
        rows = re.split(r"\n| [·•|] ", self._text)
        return [row.strip() for row in rows if row.strip()][:600]

    @cached_property
    def _squashed(self) -> str:
        return squash(self._text)

    @cached_property
    def _numbers(self) -> set[Decimal]:
        numbers: set[Decimal] = set()
        for line in self.lines:
            if len(line) <= 300:
                for token in number_tokens(line):
                    for price in (False, True):
                        value = decimal_of(token, self._reading.lang, price=price)
                        if value is not None:
                            numbers.add(value)
        for one in self._candidates:
            if one.visible and not one.struck and len(one.raw.parts) > 1:
                amount = read_price(one.raw.text, self._reading.lang, one.raw.parts)
                if amount is not None:
                    numbers.add(amount)
        return numbers

    def has(self, prop: Property, value: Json) -> bool:
        """Whether the visible text says `value`."""
        kind = prop.concept.kind if prop.concept else "text"
        if isinstance(value, bool):
            states = {read_stock(line) for line in self.lines if len(line) <= 60 and stock_line(line)}
            states = states or {found for line in self.lines if len(line) <= 80 and (found := read_stock(line))}
            return kind == "availability" and bool(states) and states <= ({"in"} if value else {"out", "preorder"})
        if isinstance(value, (int, float)):
            return Decimal(str(value)) in self._numbers
        if not isinstance(value, str):
            return False
        if kind == "currency":
            return any(read_currency(line, self._reading.lang) == value for line in self.lines if len(line) <= 60)
        if kind == "availability":
            wanted = read_stock(value)
            return any(stock_line(line) == wanted for line in self.lines) if wanted else squash(value) in self._squashed
        if kind in ("image", "url") or prop.format.startswith("uri"):
            return any(one.raw.href == value and one.visible for one in self._candidates)
        return squash(value)[:200] in self._squashed


def page_reader(facts: Facts, locale: str = "") -> FieldReader:
    """The reader of a page's own record. `locale` helps where the page does not say its language."""
    reading = Reading(facts.lang or locale, facts.url)
    candidates = candidates_of(facts)
    return FieldReader(candidates, reading, VisibleText(facts.text, reading, candidates), facts)


def read_record(
    reader: FieldReader, properties: Sequence[Property]
) -> tuple[dict[str, Json], dict[str, FieldSource], list[str]]:
    """The record, where each field came from, and the fields that were not found.

    A field that may be null and was not found is null; it is reported as missing all the same when it is required.
    """
    value: dict[str, Json] = {}
    sources: dict[str, FieldSource] = {}
    missing: list[str] = []
    for prop in properties:
        found = reader.read(prop)
        if found is not None:
            value[prop.name] = found.value
            sources[prop.name] = found.source
            continue
        missing.append(prop.name)
        if prop.nullable:
            value[prop.name] = None
    return value, sources, missing
