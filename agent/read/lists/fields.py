"""Fields of a list's records: the kind of value and the words that each asks for, and how well a column fits it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from shoal.agent.read.field import Field
from shoal.agent.read.lists.column import Column, ColumnKind
from shoal.agent.read.lists.elements import tags_of
from shoal.agent.read.lists.typed_columns import is_counted
from shoal.agent.read.lists.words import (
    BOUND_MEANINGS,
    BOUNDS,
    FILE_TYPES,
    IMPLIED_WORDS,
    KIND_WORDS,
    STOP_WORDS,
    any_same,
    meaning_of,
    same_words,
    split_words,
)
from shoal.agent.read.schema import Property
from shoal.agent.read.values.currencies import currency_codes
from shoal.agent.read.values.placeholders import is_placeholder
from shoal.agent.read.values.text_values import weekday_names

ListKind = Literal["day", "link", "image", "money", "number", "identifier", "name", "long", "short"]

_EXAMPLE = re.compile(r"\b(?:such as|e\.?g\.?|for example|like)\s+(.*)$")
_NUMBER = re.compile(r"\D{0,12}[-+]?[\d.,' ]+[kKmM]?\s?(?:(?:out of|of|von|sur|de|su|van|z|/)\s?\d{1,3}\b)?\D{0,12}")
_CLOCK = r"\d{1,2}[:h]\d{2}(?:\s?[ap]\.?m\.?)?"
_OPENS = r"\d{1,2}(?:[:.h]\d{2})?\s?(?:[ap]\.?m\.?|uhr)?\s?[-–—]\s?\d{1,2}(?:[:.h]\d{2})?\s?(?:[ap]\.?m\.?|uhr)?"
_HOURS = re.compile(
    rf"{_OPENS}(?:\s?[,;&/]\s?{_OPENS})?|closed|open 24 hours|geschlossen|fermé|cerrado|chiuso|gesloten", re.I
)
_PHONE = re.compile(
    r"""(?=(?:[\s()/.+-]{0,3}\d){7,15}$)
      (?: \+ [\d\s()/.-]{7,40}
        | (?!\d-[\d-]{1,20}-[\dXx]$) (?!\d\d?([./-])\d\d?\1\d{1,4}$)
          (?: \(\d{1,6}\) | 0\d{1,6}[\s/.-] ) [\d\s()/.-]{3,40}
        | (?:1[\s.-])? \d{3}[\s.-]\d{3}[\s.-]\d{4} )""",
    re.X,
)
"""A number with its country's or area's code, which neither a day nor the number of a book has."""
_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}\.\w{2,24}")
_AGO = re.compile(
    r"(?:just )?now|today|yesterday|(?:an?\s|\d{1,3}\s?)?[^\W\d_]{1,9}\s(?:ago|fa|geleden)"
    r"|(?:vor|il y a|hace|há)(?:\s\d{1,3}\s[^\W\d_]{1,9})?",
    re.I,
)
"""Spans of time since something was, also without their number."""
_FORMS: Mapping[str, re.Pattern[str]] = {
    "email": _EMAIL,
    "phone": _PHONE,
    "time": re.compile(rf"{_CLOCK}(?:\s?[-–]\s?{_CLOCK})?", re.I),
    **dict.fromkeys(("hour", "opening hour", "business hour", "office hour"), _HOURS),
}
"""Forms of the values of fields with these names."""
_SIGNS: Mapping[str, re.Pattern[str]] = {
    "email": re.compile(r"@|\bat\b", re.I),
    "phone": re.compile(r"(?:\D{0,9}\d){3}"),
}
"""Signs that values of fields with these names have in each way of writing: other texts under "E-mail" are none."""
_MOSTLY, _FORMED = 0.8, 0.7
"""Share of a column's values that must have the form, and the score of a column that its form names."""
_WEEKDAYS = 0.55
"""The fit of days of the week where a day is asked for: less than that of dates."""
_ATTRIBUTES = frozenset({"sign", "email", "phone"})
"""Sources of texts that attributes state: nothing but a name says that a field asks for them."""
_TITLES = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_HEADINGS = _TITLES | {"strong", "b", "dt"}

_KINDS_OF_COLUMNS: Mapping[ListKind, tuple[ColumnKind, ...]] = {
    "day": ("day",),
    "link": ("link",),
    "image": ("image",),
    "money": ("money", "text", "identifier"),
    "number": ("money", "text", "identifier"),
    "identifier": ("text", "identifier"),
    "name": ("text",),
    "long": ("text",),
    "short": ("text", "day"),
}
"""The kinds of columns that a field may stand in."""

LEAST_FIT = {"name": 0.85, "identifier": 0.8, "day": 0.5, "link": 0.7}
"""The fit from which a column may be what a field asks for, by kind."""
LEAST_FIT_OF_OTHERS = 0.45
_WHOLE = 0.999
"""Share of their cells' text from which values are all of it."""
_NEARLY_ALL, _CUT_LITTLE = 0.8, 0.5
_AS_A_DEFINITION = 0.7
"""Score of a term, or of its meaning, that is named by being one."""
_OF_GLOSSARY, _LATER, _LEAST_OF_GLOSSARY = 0.85, 0.03, 0.6
"""Score of the first label of a field's glossary, the loss of each later one, and the least of all."""
_LEADING = 0.6
"""Score of a column that nothing but its place names."""
_OF_SEVERAL = 0.05
"""Loss of a line that is made of several pieces."""
_FEW_WORDS = 2.5
"""Words, in the mean, of texts that are no descriptions by themselves."""
_SHORT = 3
"""Letters of words that others end with by chance."""
_TITLED = 0.25
"""Gain of a name that stands in a heading, however short it is."""
_LATER_PICTURE = 0.2
"""Loss of each later picture of a record."""
_NAMED_MONEY = 0.3
"""Score of a column from which a field takes its amounts of money although its name says nothing of money."""
_CUT = 0.8
"""Loss of a part of a cell, by the share that it leaves out: all of a cell is the value of the field in its header."""


@dataclass(frozen=True, eq=False)
class ListField:
    """One field of a list's records."""

    prop: Property
    loose: bool = False
    """True: a text that only looks like a term and its meaning names the field, too. This is asked where no list is
    found by its names.
    """
    leads: bool = False
    """It is the schema's first text: what the records are called, where no list is found by its name."""
    numbered_names: bool = False
    """Names may differ by a number alone: "Part 7". Such texts are mostly none, so this is asked where no list is."""

    @property
    def name(self) -> str:
        """The field's name, as the schema spells it."""
        return self.prop.name

    @property
    def description(self) -> str:
        """Return what the schema says of it."""
        return self.prop.description

    @cached_property
    def field(self) -> Field:
        """The field, as readers of single records ask for it."""
        return Field(self.prop)

    @cached_property
    def name_words(self) -> list[str]:
        """The words of its name."""
        words = list(split_words(self.name))
        return [word for word in words if word not in STOP_WORDS] or words

    @cached_property
    def glossary_words(self) -> dict[tuple[str, ...], str]:
        """The labels of its glossary by their words, most telling first."""
        labels: dict[tuple[str, ...], str] = {}
        for label in self.prop.glossary.labels:
            words = split_words(label)
            labels.setdefault(tuple(word for word in words if word not in STOP_WORDS) or tuple(words), label)
        return labels

    def called_by(self, words: Sequence[str]) -> str:
        """The label of the glossary that a column's label is; "" where the field's own words name it as well."""
        telling = tuple(word for word in words if word not in STOP_WORDS)
        return "" if list(telling) == self.name_words else self.glossary_words.get(telling, "")

    @cached_property
    def _example(self) -> re.Match[str] | None:
        return _EXAMPLE.search(self.description)

    @cached_property
    def example_words(self) -> frozenset[str]:
        """Words of the example that the description gives."""
        return frozenset(re.findall(r"[^\W\d_]+", self._example[1].casefold())) if self._example else frozenset()

    @cached_property
    def description_words(self) -> list[str]:
        """Words of the description before its example."""
        text = self.description[: self._example.start()] if self._example else self.description
        return [word for word in split_words(text) if word not in STOP_WORDS]

    @cached_property
    def files(self) -> frozenset[str]:
        """Kinds of files that the description names."""
        return FILE_TYPES & frozenset(self.description_words)

    @cached_property
    def kind(self) -> ListKind:
        """The kind of value, by format and type, else by the words of name and description."""
        if self.field.kind == "day":
            return "day"
        if self.field.kind == "address":
            return "image" if KIND_WORDS["image"] & set(self.name_words) else "link"
        number = self.field.is_number
        glossary_words = [word for name in self.prop.glossary.properties for word in split_words(name)]
        glossary_words += [word for label in self.glossary_words for word in label[-1:]]
        for words in (self.name_words[-1:], self.name_words, self.description_words[:3], glossary_words):
            for kind, known in KIND_WORDS.items():
                if known & set(words):
                    return "number" if number and kind != "money" else kind  # type: ignore[return-value]
        return "number" if number else "short"

    def is_called(self, column: Column) -> bool:
        """True for a column with the field's very name."""
        if names := column.names or (column.loose_names if self.loose else None):
            return len(self.name_words) == 1 and self.name_words[0] in names
        return same_words([word for word in column.label_words if word not in STOP_WORDS], self.name_words)

    def is_other_amount(self, column: Column) -> bool:
        """True for an amount of money that nothing calls what the field's name says beside "price": old, monthly."""
        own = [
            word for word in self.name_words if word not in KIND_WORDS["money"] and word.upper() not in currency_codes()
        ]
        beside = [*column.label_words, *column.hint_words]
        meanings = set(map(meaning_of, beside))
        called = any(any_same(word, beside) or meaning_of(word) in meanings for word in own)
        return bool(own) and not called

    def is_described_by(self, column: Column) -> bool:
        """True for whole cells under "Description" where a name is asked for."""
        whole = column.in_cells and column.part > _WHOLE and column.source[0] != "label"
        describes = whole and not KIND_WORDS["long"].isdisjoint(column.label_words)
        return (
            self.kind == "name"
            and describes
            and not self.likeness(column.label_words)
            and not self.hinted(column.hint_words)
        )

    def likeness(self, words: Sequence[str]) -> float:
        """Return how well the words of a header, label or class name the field,
        0 to 1.2.

        Words that its kind implies say little, and words of something else speak against it.
        """
        key = tuple(words)
        known = self._likenesses.get(key)
        if known is None:
            known = self._likenesses[key] = self._likeness(key)
        return known

    @cached_property
    def _likenesses(self) -> dict[tuple[str, ...], float]:
        return {}

    def hinted(self, words: Sequence[str]) -> float:
        """The same for the words of classes, of which one is the field's: they run together, as `refpurpose`."""
        long_words = [word for word in self.name_words if len(word) > _SHORT]
        parted = [next((name for name in long_words if word.endswith(name)), word) for word in words]
        return self.likeness(parted) if any(any_same(word, self.name_words) for word in parted) else 0.0

    def _likeness(self, words: Sequence[str]) -> float:
        telling = [word for word in words if word not in STOP_WORDS]
        telling = telling or [word for word in words if word in BOUNDS]
        if not telling:
            return 0.0
        implied = IMPLIED_WORDS.get(self.kind, frozenset())
        meanings = {meaning_of(word) for word in telling}
        if telling != self.name_words and same_words(telling, self.name_words):
            return self._likeness(self.name_words)
        named = 0.3 if telling == self.name_words else 0.0
        for place, word in enumerate(self.name_words):
            full = 0.6 if place == len(self.name_words) - 1 else 0.4
            if any_same(word, telling):
                named += 0.05 if word in implied else full
            elif meaning_of(word) in meanings:
                named += 0.05 if word in implied else full - 0.15
        named = max(named, self._by_glossary(tuple(telling)))
        own = self.name_words + self.description_words
        known = {meaning_of(word) for word in own}
        foreign = sum(meaning_of(word) not in known and not any_same(word, own) for word in set(telling))
        return max(
            0.0, min(1.2, named + min(0.5, self._described(telling, meanings, implied))) - 0.05 * min(3, foreign)
        )

    def _by_glossary(self, label: tuple[str, ...]) -> float:
        """Return what a label of the glossary says, where it is what the page says;
        it says less than the field's own name.
        """
        place = next((at for at, words in enumerate(self.glossary_words) if words == label), None)
        return 0.0 if place is None else max(_LEAST_OF_GLOSSARY, _OF_GLOSSARY - _LATER * place)

    def _described(self, telling: Sequence[str], meanings: set[int | str], implied: frozenset[str]) -> float:
        total = 0.0
        for word in dict.fromkeys(self.description_words):
            if any_same(word, self.name_words):
                continue
            if any_same(word, telling):
                total += 0.05 if word in implied else 0.3
            elif meaning_of(word) in meanings and word not in implied:
                total += 0.12
        return total


def loosely(fields: Sequence[ListField]) -> list[ListField]:
    """The fields, with the first one as what the records are called where it is a text of no other kind."""
    return [replace(asked, loose=True, leads=not place and asked.kind == "short") for place, asked in enumerate(fields)]


def with_numbered_names(fields: Sequence[ListField]) -> list[ListField]:
    """The fields, with names that may differ by a number alone: "Lot 12"."""
    return [replace(asked, numbered_names=True) for asked in fields]


def _is_preset(column: Column) -> bool:
    """True for what all records' inputs hold: "1" of each thing to order says nothing of the things."""
    control = next(column.first.el.iter("input"), None) if column.first is not None else None
    typed = control is not None and control.get("type") not in ("checkbox", "radio")
    return typed and column.count > 2 and len(set(column.texts)) == 1


def fit_of_column(asked: ListField, column: Column, records: int) -> float:
    """Return how well a column fits a field; 0 or below: not at all."""
    if (column.count < 2 and records > 2) or _is_preset(column) or _lacks_sign(asked, column):
        return 0.0
    if _states_weekdays(asked, column):
        return column.cover * (_WEEKDAYS + asked.is_called(column))
    if column.kind not in _KINDS_OF_COLUMNS[asked.kind] or (is_counted(column) and not asked.field.is_number):
        return 0.0
    named = asked.likeness(column.label_words) or 0.5 * asked.hinted(column.hint_words)
    if (column.names or column.loose_names) and asked.is_called(column):
        named = max(named, _AS_A_DEFINITION)
    if not named and _has_form(asked, column):
        named = _FORMED
    heading = column.source[0] == "heading"
    match asked.kind:
        case "day":
            return _fit_of_days(column, named, heading)
        case "link":
            return _fit_of_links(asked, column, named)
        case "image":
            return _fit_of_pictures(column, named)
        case "money" | "number":
            return _fit_of_amounts(asked, column, named)
    if heading:
        return 0.0
    if column.kind == "day":
        return column.cover * (0.5 + named) if column.whole and named > 0.3 else 0.0
    cut = 0.0
    if asked.is_called(column) and column.source[0] != "label":
        cut = _CUT * (1 - column.part) + _CUT_LITTLE * (not column.whole and column.part > _NEARLY_ALL)
    if asked.kind == "identifier":
        return _fit_of_identifiers(column, named) - cut
    if asked.kind == "name":
        return _fit_of_names(asked, column, named, records) - cut
    if asked.leads and not named:
        return _fit_of_leading(asked, column, records)
    if asked.kind == "short" and column.in_cells and not column.label_words:
        cut = _CUT * (1 - column.part)
    return _fit_of_texts(column, named, long=asked.kind == "long") - cut


def _lacks_sign(asked: ListField, column: Column) -> bool:
    if (sign := _SIGNS.get(asked.name_words[-1])) is None:
        return False
    stated = [text for text in column.texts if not is_placeholder(text)]
    return 2 * sum(sign.search(text) is not None for text in stated) < len(stated)


def _has_form(asked: ListField, column: Column) -> bool:
    """True for a place whose values look as the field's own do, and that nothing names but a header of more values.

    An address of mail is one whatever its place is called.
    """
    form = _FORMS.get(" ".join(asked.name_words))
    named = "." in column.hint or (column.label and (column.in_cells is False or column.part > _NEARLY_ALL))
    if form is None or column.kind != "text" or column.source[0] != "piece" or (named and form is not _EMAIL):
        return False
    return _are_of(form, column)


def _are_of(form: re.Pattern[str], column: Column) -> bool:
    return bool(column.texts) and sum(bool(form.fullmatch(text)) for text in column.texts) > _MOSTLY * column.count


def _states_weekdays(asked: ListField, column: Column) -> bool:
    """True for days of the week, or spans of them, where the field asks for days in no form of its own."""
    if asked.kind != "day" or asked.field.kind == "day" or column.kind != "text" or not column.texts:
        return False
    words_by_text = (re.split(r"\s?[-–—,&]\s?", text.casefold().rstrip(":.")) for text in column.texts)
    return (
        sum(weekday_names().issuperset(word.strip(".") for word in words) for words in words_by_text)
        > _MOSTLY * column.count
    )


def _fit_of_days(column: Column, named: float, heading: bool) -> float:
    return column.cover * (1.0 + 0.3 * column.whole - 0.25 * heading - 0.5 * column.unsteady + 1.2 * named)


def _fit_of_links(asked: ListField, column: Column, named: float) -> float:
    if column.distinct <= 0.3:
        return 0.0
    score = 0.5 + 0.6 * column.distinct + 0.9 * named - 0.5 * column.unsteady
    if asked.files:
        score += 0.8 * _share_ending(column, asked.files) - 0.5 * _share_ending(column, FILE_TYPES - asked.files)
    return float(column.cover ** (1 - 0.5 * min(1.0, named)) * score)


def _fit_of_pictures(column: Column, named: float) -> float:
    """The first picture of a record is its own, unless a class says otherwise; icons are the same in all records."""
    if column.distinct <= 0.3:
        return 0.0
    return column.cover * (0.6 + 0.6 * column.distinct + 0.9 * named - _LATER_PICTURE * int(str(column.source[-1])))


def _share_ending(column: Column, endings: frozenset[str]) -> float:
    pattern = re.compile(rf"\.({'|'.join(sorted(endings))})\b", re.I)
    return sum(bool(pattern.search(target)) for target in column.texts) / max(1, column.count)


def _fit_of_amounts(asked: ListField, column: Column, named: float) -> float:
    if column.kind == "money":
        ends = BOUND_MEANINGS & set(map(meaning_of, asked.name_words))
        if ends - set(map(meaning_of, (*column.label_words, *column.hint_words))):
            return 0.0  # an amount that nothing calls the least, or the most
        if asked.kind != "money" and named < _NAMED_MONEY:
            return 0.0  # 40 m² beside 900 €
        return column.cover * (1.0 + 0.3 * (asked.kind == "money") + named)
    if not column.whole:
        return 0.0
    numbers = sum(bool(_NUMBER.fullmatch(text)) for text in column.texts)
    share = numbers / max(1, column.count)
    return column.cover * (0.4 * share + named) if share > 0.7 and named > 0 else 0.0


def _fit_of_identifiers(column: Column, named: float) -> float:
    if column.kind == "text":
        if named <= 0.3 or column.length >= 60:
            return 0.0
        score = 0.4 + 0.4 * column.distinct
    elif not named and _numbers_the_records(column):
        return 0.0
    else:
        score = 0.45 + 0.4 * min(1.0, 1.5 * column.distinct) + 0.3 * column.form_share + 0.15 * (1 - column.place)
        score += 0.25 * column.whole * (0.2 + 0.8 * column.figure_share) - 0.5 * column.unsteady
        score += 0.2 * (column.first is not None and bool(_TITLES & set(tags_of(column.first.path))))
    decimals = sum(bool(re.fullmatch(r"\d+[.,]\d{1,2}", text)) for text in column.texts)
    return column.cover * (score - 0.3 * (not named and decimals > 0.5 * column.count) + 1.2 * named)


def _numbers_the_records(column: Column) -> bool:
    """True for "1.", "2.", "3.": the records' places in the list."""
    numbers = [text.strip("#.) ") for text in column.texts]
    first = int(numbers[0]) if numbers and re.fullmatch(r"[0-9]{1,9}", numbers[0]) else 0
    return len(numbers) > 2 and first > 0 and numbers == [str(first + place) for place in range(len(numbers))]


def _fit_of_names(asked: ListField, column: Column, named: float, records: int) -> float:
    if column.words < 0.7 and not (column.words > 0.3 and named > 0.4) and not asked.is_called(column):
        return 0.0
    linked = sum(link is not None for link in column.links) / max(1, records)
    steps = column.first.path[-4:] if column.first is not None else ()
    strong = any(step.split(".")[0] in _HEADINGS for step in steps)
    called = asked.is_called(column)
    if not called and (_are_of(_EMAIL, column) or _are_of(_AGO, column)):
        return 0.0
    if column.count > 2 and (not called or column.names) and len(set(column.texts)) == 1:
        return 0.0  # a heading, a term, or the "Lot" of numbered lots, that all records share
    numbered = asked.numbered_names and column.words >= 1
    differ = column.distinct if numbered else column.distinct_letters
    score = 0.25 + 0.6 * (1.0 if called else min(1.0, 1.5 * differ)) + 0.35 * linked + 0.2 * strong
    score += _TITLED * any(step.split(".")[0] in _TITLES for step in steps)
    score += 0.25 * (1.5 <= column.words <= 16) - 0.5 * (column.length > 220) - 0.4 * column.unsteady
    score -= 0.0 if called or numbered else 1.2 * max(0.0, column.figure_share - 0.15)
    if asked.example_words:
        common = Counter(word for words in column.letters for word in words & asked.example_words)
        score += 0.9 * min(1.0, sum(common.values()) / column.count)
    return column.cover * (score + 1.1 * named - 0.05 * (not column.whole) + 0.05 * (column.source[0] == "piece"))


def _fit_of_leading(asked: ListField, column: Column, records: int) -> float:
    """A column that nothing names is worth less than any that is named."""
    if not column.leads or _fit_of_names(asked, column, 0.0, records) < LEAST_FIT["name"]:
        return 0.0
    return column.cover * (_LEADING - _OF_SEVERAL * (column.source[0] == "line")) - _CUT * (1 - column.part)


def _fit_of_texts(column: Column, named: float, *, long: bool) -> float:
    unnamed = column.distinct < 0.1 or not long or column.words < _FEW_WORDS or column.source[0] in _ATTRIBUTES
    if not named and unnamed:
        return 0.0  # nothing says what it is: neither a name nor its kind of value
    score = 0.3 + 0.3 * column.distinct + 1.3 * named - 0.5 * column.unsteady - 0.1 * (not column.whole)
    score += 0.5 * (long and column.length > 60) - 0.3 * (not long and column.length > 80)
    return column.cover * score
