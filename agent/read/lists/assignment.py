"""The joint choice of columns for the fields of a list, and how clear it is."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from shoal.agent.read.lists.column import Column, Value
from shoal.agent.read.lists.fields import LEAST_FIT, LEAST_FIT_OF_OTHERS, ListField, fit_of_column
from shoal.agent.read.lists.typed_columns import BOUNDS_OF_MONEY, is_counted
from shoal.agent.support.bounded_cache import bounded_cache

_SHORT_NUMBER = re.compile(r"\s{0,4}\d{1,4}[.):]?\s{0,4}")
DOUBT = 0.12
"""The lead of a column's fit below which a value is withheld where another column says otherwise."""
_BEAM = 120
_OPTIONS = 7
_LINKED, _LINKED_ASIDE = 0.35, 0.15
"""Gain of a link whose text is the record's name, and of one whose text is another field's value."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """The column of each field, as places in the run's columns."""

    score: float
    columns: dict[str, int]  # by field
    options: dict[str, list[tuple[float, int]]]  # by field: what fits it at all, best first


def assign(fields: Sequence[ListField], columns: Sequence[Column], records: int) -> Assignment:
    """The best joint choice of a column for each field; no two fields take one stretch of text."""
    options = {asked.name: _options(asked, columns, records) for asked in fields}
    clashing, linked = cache(clash), cache(is_linked)  # each pair is met in many of the choices
    beam: list[tuple[float, dict[str, int]]] = [(0.0, {})]
    for asked in sorted(fields, key=lambda asked: _turn(asked, options)):
        grown = list(beam)
        for score, taken in beam:
            for fitness, place in options[asked.name]:
                others = {name: columns[at] for name, at in taken.items()}
                if not any(clashing(columns[place], other) for other in others.values()):
                    worth = link_worth(asked, columns[place], others, fields, linked)
                    grown.append((score + fitness + worth, {**taken, asked.name: place}))
        beam = sorted(grown, key=lambda each: -each[0])[:_BEAM]
    score, taken = beam[0]
    described = (
        asked.name for asked in fields if asked.name in taken and asked.is_described_by(columns[taken[asked.name]])
    )
    for name in list(described):
        taken = {each: place for each, place in taken.items() if each != name}
    return Assignment(
        score, {name: _whole(place, taken, columns, options[name]) for name, place in taken.items()}, options
    )


def _whole(
    place: int, taken: Mapping[str, int], columns: Sequence[Column], options: Sequence[tuple[float, int]]
) -> int:
    """The column of all the words of a place, for one that lacks a short number which no other field takes.

    "Course 101" is called so; a longer number, or a code, beside a name is mostly another value.
    """
    part = columns[place]
    if part.whole or part.kind != "text" or str(part.source[-1]) not in ("head", "rest"):
        return place
    others = [columns[other] for other in taken.values() if other != place]
    if any(other.source[:3] == part.source[:3] and not is_counted(other) for other in others):
        return place
    whole = next((at for _, at in options if columns[at].source == part.source[:-1] and columns[at].whole), place)
    pairs = zip(columns[whole].values, part.values, strict=True)
    cut = [str(text).replace(str(value), "", 1) for text, value in pairs if text and value]
    return whole if sum(bool(_SHORT_NUMBER.fullmatch(text)) for text in cut) > 0.5 * len(cut) else place


def _options(asked: ListField, columns: Sequence[Column], records: int) -> list[tuple[float, int]]:
    least = LEAST_FIT.get(asked.kind, LEAST_FIT_OF_OTHERS)
    fits = [(fit_of_column(asked, column, records), place) for place, column in enumerate(columns)]
    fitting = [each for each in fits if each[0] > least]
    amounts = {tuple(column.values) for column in columns if column.kind == "money"}
    if asked.kind == "money" and len(amounts) > 1:
        fitting = [each for each in fitting if not asked.is_other_amount(columns[each[1]])]
    return sorted(fitting, reverse=True)[:_OPTIONS]


def _turn(asked: ListField, options: dict[str, list[tuple[float, int]]]) -> tuple[bool, bool, float]:
    """Links come last, since what they lead from is known then; unnamed kinds before them."""
    best = options[asked.name][0][0] if options[asked.name] else 0.0
    return asked.kind == "link", asked.kind == "short", -best


def is_linked(text: Column, link: Column) -> bool:
    """True when the texts of a column stand in the links of another."""
    if not text.links or not link.links:
        return False
    pairs = zip(text.links, link.links, strict=True)
    return sum(mine is not None and mine is its for mine, its in pairs) > 0.6 * max(1, link.count)


def link_worth(
    asked: ListField,
    link: Column,
    taken: Mapping[str, Column],
    fields: Sequence[ListField],
    linked: Callable[[Column, Column], bool] = is_linked,
) -> float:
    """Return what a column of links gains for a field by the values of other fields that are its text."""
    if asked.kind != "link":
        return 0.0
    of = [
        each
        for each in fields
        if each.name in taken and taken[each.name].kind in ("text", "identifier") and linked(taken[each.name], link)
    ]
    return max((_LINKED if each.kind == "name" or each is fields[0] else _LINKED_ASIDE for each in of), default=0.0)


def _are_bounds(first: Column, second: Column) -> bool:
    """True for the two bounds of one span of money."""
    bounds = {first.source[-1], second.source[-1]} == {*BOUNDS_OF_MONEY}
    return bounds and first.kind == second.kind == "money" and first.source[:-1] == second.source[:-1]


def clash(first: Column, second: Column) -> bool:
    """True when two columns may not serve two fields: both take the same stretch of text."""
    if {first.kind, second.kind} & {"link", "image"}:
        return first is second
    if (is_counted(first) and is_counted(second)) or _are_bounds(first, second):
        return first is second
    if first.source[0] == second.source[0] == "label" and first.source[1] != second.source[1]:
        return False  # one text may hold both: "Price: 5 | Seller: Ann"
    cells = {_cell_of(first), _cell_of(second)}
    if len(cells) == 2 and "" not in cells:
        return False  # one cell may stand in two columns
    shared = [
        record
        for record, stretch in first.stretches.items()
        if record in second.stretches and stretch.overlaps(second.stretches[record])
    ]
    if len(shared) <= 0.4 * max(1, min(len(first.stretches), len(second.stretches))):
        return False
    if "pair" in (first.source[0], second.source[0]) or (first.whole and second.whole):
        return True
    if first.kind == second.kind and first.source == second.source:
        return True
    pairs = [(str(first.values[record] or ""), str(second.values[record] or "")) for record in shared]
    if sum(mine == its for mine, its in pairs) > 0.3 * len(shared):
        return True
    near = sum(
        bool(mine and its) and max(map(len, (mine, its))) < 1.6 * min(map(len, (mine, its))) for mine, its in pairs
    )
    return "day" not in (first.kind, second.kind) and near > 0.5 * len(shared)


def _cell_of(column: Column) -> str:
    """The step of the cell that a column's values stand in; "" for others."""
    place = column.source[1]
    steps = (place,) if column.source[0] == "cell" else place if isinstance(place, tuple) else ()
    return next((str(step) for step in steps if str(step).startswith(("td@", "th@"))), "")


# --- rivals ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rivals:
    """Other columns that fit a field."""

    lead: float  # over the next one that says otherwise
    records: frozenset[int]  # where one that fits as well says otherwise


def rivals_of(
    asked: ListField, fields: Sequence[ListField], columns: Sequence[Column], taken: Assignment, count: int
) -> Rivals:
    chosen = taken.columns[asked.name]
    column = columns[chosen]
    others = {name: columns[place] for name, place in taken.columns.items() if name != asked.name}
    fits = {place: fitness for fitness, place in taken.options[asked.name]}
    exchanged = _exchanged(asked.name, taken) if asked.kind != "link" else {}

    def worth(place: int) -> float:
        return fits[place] + link_worth(asked, columns[place], others, fields)

    own, lead, doubted = worth(chosen), math.inf, set[int]()
    for place in fits:
        rival = columns[place]
        if place == chosen or (
            asked.kind != "link"
            and place not in exchanged
            and any(rival is other or clash(rival, other) for other in others.values())
        ):
            continue
        apart = [record for record in range(count) if _differ(rival.values[record], column.values[record], column.kind)]
        if not apart:
            continue
        doubt = _least_lead(asked, column, rival)
        distance = exchanged.get(place, own - worth(place))
        if distance < doubt:
            doubted |= set(apart)
        if len(apart) > 0.1 * count:
            lead = min(lead, distance - doubt + DOUBT)
    return Rivals(lead, frozenset(doubted))


def _exchanged(name: str, taken: Assignment) -> dict[int, float]:
    """Return what is lost where a field and another one exchange their columns, by the other's column."""
    fits = {each: {place: fitness for fitness, place in options} for each, options in taken.options.items()}
    mine = taken.columns[name]
    return {
        its: fits[name][mine] + fits[other][its] - fits[name][its] - fits[other][mine]
        for other, its in taken.columns.items()
        if other != name
        and its in fits[name]
        and mine in fits[other]
        and {mine, its} <= fits[name].keys() & fits[other].keys()
    }


def _least_lead(asked: ListField, column: Column, rival: Column) -> float:
    """Two kinds of number that are both called as the field ask for a greater lead."""
    both = asked.kind == "identifier" and min(map(asked.likeness, (column.label_words, rival.label_words))) >= 0.5
    return 0.35 if both and column.label_words != asked.name_words else DOUBT


def _differ(value: Value | None, other: Value | None, kind: str) -> bool:
    if value in (None, "") or other in (None, ""):
        return False
    if kind in ("day", "link", "image"):
        return value != other
    first, second = _letters_of(str(value)), _letters_of(str(other))
    return first not in second and second not in first


@bounded_cache(20_000, longest=400)
def _letters_of(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()
