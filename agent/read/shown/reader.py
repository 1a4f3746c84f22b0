"""Fields by the shown places of a page or block: for each the best place whose text converts, and how sure it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from shoal.agent.browser import FetchedJson
from shoal.agent.read.facts.facts import Facts
from shoal.agent.read.facts.fetched import FetchedValue, subject_values
from shoal.agent.read.schema import PRICED, Property
from shoal.agent.read.shown.choosing import (
    ENOUGH,
    GOOD_FIT,
    MOST_CANDIDATES,
    FieldAnswer,
    Scored,
    answer,
)
from shoal.agent.read.shown.fetched import with_fetched
from shoal.agent.read.shown.no_values import is_no_value, without_label
from shoal.agent.read.shown.places import (
    Fit,
    ShownPlace,
    block_candidates,
    candidates_of,
    fit_of,
    likeness_to,
    possible_label_words,
    section_candidates,
    text_of_record,
)
from shoal.agent.read.shown.visible_text import VisibleText
from shoal.agent.read.values.conversion import Raw, ValueHints, convert
from shoal.agent.read.values.currencies import read_currency
from shoal.agent.read.values.numbers import looks_like_rating, read_price
from shoal.agent.read.values.phrases import Phrase, phrase
from shoal.agent.read.values.quantities import is_amount, states_no_unit, unit_beside
from shoal.agent.read.values.stock import stock_line
from shoal.agent.support.json_value import Json
from shoal.agent.types import FieldCandidate, FieldSource, Reason, Sureness

_SECTION = 1.0  # an id that names the field, its value shown in the same section
_CLOSE = 0.03  # scores nearer than this are equal
_LONG_ENTRY = 20  # characters of an entry that another one holds by more than chance
_ROUNDED = 0.5
"""Difference of a rating in stars from the one in figures."""
_MOST_WORDS = 4
"""Words of an entry between commas: longer ones are parts of a sentence."""
_BETWEEN = (";", "·", r"\|", r",(?!\d)|(?<!\d),")
"""Signs between the entries of one line, the first of them that stands there; a comma between figures is none."""
_FACTS = ("table", "definition-list", "label", "control")
_TOLD_BY_FORM = ("availability", "rating", "price", "currency")
"""Kinds of values that a line states without a label."""


@dataclass(slots=True)
class FieldReader:
    """Reads fields from the candidates of one page or one block."""

    candidates: Sequence[ShownPlace]
    reading: ValueHints
    shown: VisibleText
    facts: Facts | None = None  # the page, for what only a page has: sections, lines of text, a title
    fetched: Sequence[FetchedValue] = ()  # what its scripts fetched about its subject
    names: frozenset[Phrase] = frozenset()  # what the fields of the schema are called
    _by_word: dict[str, list[int]] = field(default_factory=dict)
    _boxes: Counter[str] = field(default_factory=Counter)  # how many fields of the schema a block of facts names

    def __post_init__(self) -> None:
        for place, candidate in enumerate(self.candidates):
            for word in {word for label in candidate.labels for word in label}:
                self._by_word.setdefault(word, []).append(place)

    def expect(self, properties: Sequence[Property]) -> None:
        """Notes what the schema asks for: a block that names several of its fields is about the record."""
        labels = {phrase(label) for prop in properties for label in prop.glossary.labels}
        self.names = frozenset(words for prop in properties for words in prop.phrases) | labels
        for prop in properties:
            boxes = {
                candidate.box
                for candidate in self._possible(prop)
                if candidate.box and fit_of(prop, candidate).likeness >= GOOD_FIT
            }
            self._boxes.update(boxes)

    def _possible(self, prop: Property) -> list[ShownPlace]:
        """The places that share a word with the property: a page has hundreds that do not."""
        labels = {word for label in prop.glossary.labels for word in phrase(label)}
        places = {place for word in possible_label_words(prop) | labels for place in self._by_word.get(word, ())}
        return [self.candidates[place] for place in sorted(places)]

    def read(self, prop: Property) -> FieldAnswer:
        """The value of `prop`; no value when the page does not state it, or not clearly."""
        if prop.items is not None and "array" in prop.types:
            return self._array(prop, prop.items)
        scored = self._scored(prop)
        if self._stated_empty(prop, scored):
            return FieldAnswer()
        by_page = _without_unit(prop, self._stated_answer(prop, scored), scored)
        if prop.concept is not None and prop.concept.kind == "rating":
            by_page = _stars_in_doubt(by_page, scored)
        return with_fetched(by_page, prop, self.fetched, self.shown, self.reading) if self.fetched else by_page

    def _stated_answer(self, prop: Property, scored: Sequence[Scored]) -> FieldAnswer:
        """Return what the page itself states."""
        by_page = answer(prop, scored, self.shown, self.facts)
        if self.facts is None or (by_page.candidates if by_page.source is None else by_page.source.sureness != "weak"):
            return by_page
        by_form = self._from_text(prop)
        if by_page.source is None or (by_form.source is not None and by_form.source.sureness != "weak"):
            return by_form
        return by_page

    def _stated_empty(self, prop: Property, scored: Sequence[Scored]) -> bool:
        """The record has a place of this name, and nothing stands there: no other place speaks for it."""
        if any(option.candidate.how == "table" and option.fit.likeness >= GOOD_FIT for option in scored):
            return False
        return any(
            candidate.empty and fit_of(prop, candidate).likeness >= GOOD_FIT for candidate in self._possible(prop)
        )

    def _scored(self, prop: Property) -> list[Scored]:
        scored = []
        for candidate in section_candidates(self.facts, prop) if self.facts is not None else ():
            value = self._value(prop, candidate.raw)
            if value is not None:
                scored.append(Scored(_SECTION, candidate, value, Fit(1.0, own=True)))
        for candidate in self._possible(prop):
            fit = fit_of(prop, candidate)
            score = likeness_to(prop, candidate, fit)
            if prop.concept and prop.concept.kind == "currency" and score < ENOUGH:
                fit = fit_of(PRICED, candidate)
                score = 0.9 * likeness_to(PRICED, candidate, fit)
            if score < ENOUGH or (candidate.ticked and "boolean" not in prop.types):
                continue
            raw = without_label(candidate.raw, prop)
            if raw != candidate.raw:  # its own text names the field: "Model SON-6722"
                fit = Fit(max(fit.likeness, GOOD_FIT), own=True)
            value = self._value(prop, raw, candidate.labels)
            in_row = self.facts is None
            if value is not None and not is_no_value(prop, candidate, value, self.names, in_row=in_row):
                scored.append(Scored(score + self._standing(prop, candidate), candidate, value, fit))
        return scored

    def _value(self, prop: Property, raw: Raw, labels: Sequence[Phrase] = ()) -> Json:
        """`raw` as the property asks for it."""
        return convert(prop, raw, self.reading, unit_beside(labels))

    def _standing(self, prop: Property, candidate: ShownPlace) -> float:
        """Return what the place of a candidate adds to its score.

        A line "Name: …" among other lines that the schema asks for names the record, and then not the heading does,
        which may say "Edit"; a line that stands alone may name anything.
        """
        added = 0.01 if candidate.in_fragment else 0.0
        if prop.concept is None or prop.concept.kind != "name" or candidate.how not in _FACTS or self.facts is None:
            return added
        edited = candidate.how == "control" and not candidate.asking
        return added + (0.07 if edited or self._boxes[candidate.box] > 1 else -0.1)

    def _array(self, prop: Property, items: Property) -> FieldAnswer:
        """A list: all values at the best place, what a select offers, or the lines or commas of the one text there."""
        if items.properties:
            return FieldAnswer()
        item = replace(items, phrases=prop.phrases, concept=items.concept or prop.concept, glossary=prop.glossary)
        offered = [each for each in self._possible(prop) if each.options and fit_of(item, each).likeness >= GOOD_FIT]
        if len(offered) == 1 and "string" in item.types:
            source = FieldSource("control", offered[0].where, True, "likely", Reason.ONE_PLACE)
            return FieldAnswer(list(dict.fromkeys(offered[0].options)), source)
        scored = sorted(self._scored(item), key=lambda each: -each.score)
        if not scored:
            return FieldAnswer()
        best = scored[0]
        same = [
            each for each in scored if each.candidate.how == best.candidate.how and best.score - each.score < _CLOSE
        ]
        values = [each.value for each in _once(_outermost(same))]
        if len(values) == 1 and isinstance(values[0], str):
            raw = best.candidate.raw
            if item.format and "\n" in raw.text:
                return FieldAnswer()  # of several lines one holds it
            if not item.format and ("\n" in raw.text or not raw.href):
                values = _listed(raw.text, self.reading.lang[:2] or "en")
        if any(_holds_another(value, values) for value in values):
            return FieldAnswer()
        shown, place = all(self.shown.has(item, value) for value in values), best.candidate
        sureness, reason = _of_list(best, values, shown)
        confirmed = shown and sureness != "weak"
        source = FieldSource(place.how, place.where, confirmed, sureness, reason, called=best.fit.called)
        return FieldAnswer(values, source)

    # --- text without a label -------------------------------------------------------------------------

    def _from_text(self, prop: Property) -> FieldAnswer:
        """Return what a line of the record says by its form alone, when all such lines say the same."""
        kind = prop.concept.kind if prop.concept else "text"
        by_value: dict[str, tuple[Json, str]] = {}
        for line in self.shown.lines:
            # A line that ends with a colon names what follows it: "changeset 73:" before a link.
            if not line.endswith((":", "：")) and self._speaks(prop, kind, line):
                value = self._value(prop, without_label(Raw(line), prop))
                if value is not None:
                    by_value.setdefault(repr(value), (value, line))
        if len(by_value) != 1:
            several = list(by_value.values())[:MOST_CANDIDATES]
            return FieldAnswer(
                candidates=tuple(FieldCandidate(pair[0], "text", pair[1], "weak", Reason.AMBIGUOUS) for pair in several)
            )
        value, line = next(iter(by_value.values()))
        sure = kind in _TOLD_BY_FORM or self._only_name_and_number(prop, line)
        return FieldAnswer(value, FieldSource("text", line, sure, "likely" if sure else "weak", Reason.BY_FORM))

    def _only_name_and_number(self, prop: Property, line: str) -> bool:
        words = {word for word in phrase(line) if not word.isdecimal()}
        names = prop.phrases + (tuple(phrase(n) for n in prop.concept.names) if prop.concept else ())
        return any(words <= set(name) for name in names)

    def _is_heading(self, line: str) -> bool:
        """True for a heading: the number behind its word is that of a part, "Quote 12"."""
        return self.facts is not None and any(heading.text == line for heading in self.facts.headings)

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
            rest = without_label(Raw(line), prop).text
            code = rest != line and len(rest.split()) == 1 and any(sign.isdigit() for sign in rest)
            of_person = prop.concept is not None and prop.concept.name == "author"  # "By 2030"
            return code and not of_person and not (rest.isdecimal() and self._is_heading(line))
        return False


def _stars_in_doubt(given: FieldAnswer, scored: Sequence[Scored]) -> FieldAnswer:
    """A rating of drawn stars is weak where figures that people read state another one: a hotel has its class."""
    if given.source is None or not isinstance(given.value, int | float):
        return given
    drawn = [each.candidate.raw.text for each in scored if each.candidate.where == given.source.where]
    read = [each.value for each in scored if each.candidate.visible and re.search(r"\d", each.candidate.raw.text)]
    figures = [value for value in read if isinstance(value, int | float)]
    if re.search(r"\d", "".join(drawn or [given.source.where])) or not figures:
        return given
    if any(abs(given.value - figure) <= _ROUNDED for figure in figures):
        return given
    return replace(given, source=replace(given.source, confirmed=False, sureness="weak", why=Reason.AMBIGUOUS))


def _holds_another(value: Json, values: Sequence[Json]) -> bool:
    """True for a text that another one of the list is a longer part of: elements within each other are no entries."""
    return isinstance(value, str) and any(
        isinstance(other, str) and len(other) > _LONG_ENTRY and other != value and other in value for other in values
    )


def _of_list(best: Scored, values: Sequence[Json], shown: bool) -> tuple[Sureness, Reason]:
    if best.fit.likeness < GOOD_FIT or not best.candidate.visible:
        return "weak", Reason.LOOSE_NAME
    if len(values) == 1 and re.search(r"[,;]\s", str(values[0])):
        return "weak", Reason.AMBIGUOUS  # one text that may hold several entries
    return "likely", Reason.ONE_PLACE if shown else Reason.UNSEEN


def _outermost(places: Sequence[Scored]) -> list[Scored]:
    """The places in their order, without those that stand within another one and say the same."""
    ordered = sorted(places, key=lambda each: each.candidate.order)
    return [
        each
        for each in ordered
        if not any(
            other is not each
            and other.value == each.value
            and each.candidate.where.startswith(f"{other.candidate.where} ")
            for other in ordered
        )
    ]


def _once(places: list[Scored]) -> list[Scored]:
    """A list that the page shows once, or in several blocks; an entry of it may stand in one block twice."""
    values = [each.value for each in places]
    for length in range(1, len(values) // 2 + 1):
        if len(values) % length or values[:length] * (len(values) // length) != values:
            continue
        blocks = [_block_of(places[start : start + length]) for start in range(0, len(values), length)]
        if len(set(blocks)) == len(blocks):
            return places[:length]
    return places


def _block_of(places: Sequence[Scored]) -> str:
    """The selector of the element that holds all of the places."""
    steps = [each.candidate.where.split(" > ")[:-1] for each in places]
    shared = takewhile(lambda pair: pair[0] == pair[1], zip(min(steps), max(steps), strict=False))
    return " > ".join(step for step, _ in shared)


def _listed(text: str, lang: str) -> list[Json]:
    """The lines of a text; of one line the short parts between its signs.

    Parts with figures are entries only where each is a number, one word or an amount: an address, a day or "1 potato,
    peeled" would be cut.
    """
    rows: list[Json] = [row.strip() for row in text.splitlines() if row.strip()]
    if len(rows) != 1:
        return rows
    parts = next((re.split(rf"\s*(?:{sign})\s*", text.strip()) for sign in _BETWEEN if re.search(sign, text)), [])
    if len(parts) < 2 or not all(0 < len(part.split()) <= _MOST_WORDS for part in parts):
        return rows
    numbers = [bool(re.fullmatch(r"\d[\d.,]*", part)) for part in parts]
    if any(numbers):
        return list(parts) if all(numbers) else rows
    figures = [part for part in parts if re.search(r"\d", part)]
    return list(parts) if all(part.isalnum() or is_amount(part, lang) for part in figures) else rows


def _without_unit(prop: Property, by_page: FieldAnswer, scored: Sequence[Scored]) -> FieldAnswer:
    """An answer that is not confirmed where neither its place nor its label says the unit that the field asks for."""
    if not prop.unit or by_page.source is None or by_page.source.sureness == "weak":
        return by_page
    places = [each.candidate for each in scored if each.candidate.where == by_page.source.where]
    if not any(states_no_unit(place.raw.text) and not unit_beside(place.labels) for place in places):
        return by_page
    return replace(by_page, source=replace(by_page.source, confirmed=False, sureness="likely", why=Reason.LOOSE_NAME))


def _is_amount(line: str, lang: str) -> bool:
    """The line is an amount of money and nothing else."""
    return (
        len(line) <= 24
        and read_currency(line, lang) is not None
        and read_price(line, lang) is not None
        and not any(len(word) > 3 for word in line.split() if word.isalpha())
    )


def page_fields(facts: Facts, locale: str = "", answers: Sequence[FetchedJson] = ()) -> FieldReader:
    """The reader of a page's own record.

    Args:
        locale: helps where the page does not say its language.
        answers: what its scripts fetched.
    """
    reading = ValueHints(facts.lang or locale, facts.url)
    candidates = candidates_of(facts)
    shown = VisibleText(text_of_record(facts), reading, candidates)
    return FieldReader(candidates, reading, shown, facts, subject_values(answers, facts))


def block_fields(block: Facts, hints: ValueHints) -> FieldReader:
    """The reader of one repeated block."""
    candidates = block_candidates(block)
    return FieldReader(candidates, hints, VisibleText(block.text, hints, candidates))
