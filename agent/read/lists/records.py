"""The records of a list page, for any JSON Schema of a record: the run that fits it best, settled as a whole."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from urllib.parse import urlsplit

from shoal.agent.page.page import Page
from shoal.agent.read.lists.column import Column, Value
from shoal.agent.read.lists.columns import columns_of
from shoal.agent.read.lists.end import said_to_go_on
from shoal.agent.read.lists.fields import (
    Assignment,
    ListField,
    assign,
    clash,
    fit_of_column,
    is_linked,
    more_of,
    whole_records,
)
from shoal.agent.read.lists.pieces import PagePieces
from shoal.agent.read.lists.runs import Run, Span, find_runs
from shoal.agent.read.values.text_values import Day, DayOrder, shape
from shoal.agent.types import Sureness

NO_LIST = "the page has no list whose entries state the fields"
_SAMPLE = 120
"""Records by which the runs of a page are compared."""
_DOUBT = 0.12
"""The lead of a column's fit below which a value is withheld where another column says otherwise."""
_SAFE = 0.5
"""The lead from which a column's values are certain."""


@dataclass(frozen=True, slots=True)
class ListRecord:
    """One record of a list."""

    values: Mapping[str, str]  # by field: text, address, or a day as YYYY-MM-DD
    sureness: Mapping[str, Sureness]  # by field
    span: Span  # its stretch of the page's pieces


@dataclass(frozen=True, slots=True)
class ListReading:
    """What a page states of a list."""

    records: tuple[ListRecord, ...] = ()
    columns: Mapping[str, Column] = field(default_factory=dict)  # by field
    left_out: str = ""  # what the page shows of the list and was not read, in words; "" for nothing
    goes_on: str = ""  # what says that further pages go on with it, in words

    @property
    def complete(self) -> bool:
        """True where nothing says that there are further records."""
        return not self.left_out and not self.goes_on


@dataclass(slots=True)
class _Trial:
    """A run with its best assignment, and what it is worth."""

    score: float
    run: Run
    columns: list[Column]
    taken: Assignment
    keep: list[int]  # records that state enough of the fields

    def places(self) -> dict[str, tuple[str, object]]:
        return {
            name: (self.columns[place].kind, self.columns[place].source) for name, place in self.taken.columns.items()
        }


def read_list(page: Page, fields: Sequence[ListField]) -> ListReading:
    """The records of the list on a page that states the fields best."""
    pieces = PagePieces(page)
    runs = find_runs(pieces)
    tried = [trial for run in runs if (trial := _try(run.sample(_SAMPLE), fields)) is not None]
    if not tried:
        return ListReading(left_out=NO_LIST)
    tried.sort(key=lambda trial: -trial.score)
    best = _gone_on(_best_in_full(tried, fields), tried, fields)
    return _settle(best, fields, runs)


# --- the best run -------------------------------------------------------------------------------------


def _try(run: Run, fields: Sequence[ListField]) -> _Trial | None:
    columns, count = columns_of(run), len(run.spans)
    if not columns:
        return None
    taken = assign(fields, columns, count)
    if len(taken.columns) < min(2, len(fields)):
        return None
    chosen = [columns[place] for place in taken.columns.values()]
    rows = [tuple(_text_of(column.values[record]) for column in chosen) for record in range(count)]
    own = [
        sum(bool(text) and column.source[0] != "heading" for text, column in zip(row, chosen, strict=True))
        for row in rows
    ]
    least = max(1, math.ceil(0.51 * median(own)))
    unique = len(set(rows)) / count
    size = len(run.whole.spans) / count if run.whole is not None else 1.0
    doubted = sum(
        len(_rivals(asked, fields, columns, taken, count).records) > 0.5 * count
        for asked in fields
        if asked.name in taken.columns
    )
    score = taken.score + more_of(whole_records(rows, len(chosen)) * size * unique)
    score = score * (0.5 if _in_menu(run) else 1.0) * (0.6 + 0.4 * unique)
    score += 0.15 * (run.how in ("hr", "blank")) - 0.6 * (count < 3) - 0.2 * doubted
    return _Trial(score, run, columns, taken, [record for record, number in enumerate(own) if number >= least])


def _text_of(value: Value | None) -> str:
    return "" if value is None else str(value)


def _in_menu(run: Run) -> bool:
    first = [run.page.pieces[start] for start, _ in run.spans[:20]]
    return sum(map(run.page.in_menu, first)) > 0.5 * len(first)


def _best_in_full(tried: Sequence[_Trial], fields: Sequence[ListField]) -> _Trial:
    """The best trial once the best runs are tried in full, and without the parts that are no records."""
    best: _Trial | None = None
    for trial in tried[: 5 if len(tried[0].run.spans) < _SAMPLE else 2]:
        if trial.run.whole is not None:
            trial = _try(trial.run.whole, fields) or trial
        dropped = len(trial.run.spans) - len(trial.keep)
        if dropped and len(trial.keep) > 1:
            again = _try(trial.run.of([trial.run.spans[record] for record in trial.keep]), fields)
            if again is not None:
                again.score -= 0.5 * dropped / len(trial.run.spans)
                trial = again if again.score > trial.score else trial
        if best is None or trial.score > best.score:
            best = trial
    assert best is not None
    return best


def _gone_on(best: _Trial, tried: Sequence[_Trial], fields: Sequence[ListField]) -> _Trial:
    """The best trial with the runs in which the same list goes on elsewhere in the page."""
    for other in tried:
        mine, its = best.places(), other.places()
        same = sum(its.get(name) == place for name, place in mine.items())
        if other.run is best.run or same < 0.7 * len(mine):
            continue
        spans = sorted([*best.run.spans, *(other.run.whole or other.run).spans])
        if any(span[1] > following[0] for span, following in pairwise(spans)):
            continue
        both = _try(best.run.of(spans), fields)
        if both is not None and both.score > best.score - 0.2:
            best = both
    return best


# --- rivals -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rivals:
    """Other columns that fit a field."""

    lead: float  # over the next one that says otherwise
    records: frozenset[int]  # where one that fits as well says otherwise


def _rivals(
    asked: ListField, fields: Sequence[ListField], columns: Sequence[Column], taken: Assignment, count: int
) -> _Rivals:
    chosen = taken.columns[asked.name]
    column = columns[chosen]
    others = [columns[place] for name, place in taken.columns.items() if name != asked.name]
    texts = [other for other in others if other.kind == "text"]

    def worth(candidate: Column) -> float:
        linked = asked.kind == "link" and any(is_linked(text, candidate) for text in texts)
        return fit_of_column(asked, candidate, count) + 0.35 * linked

    own, lead, doubted = worth(column), math.inf, set[int]()
    for _, place in taken.options[asked.name]:
        rival = columns[place]
        if place == chosen or (asked.kind != "link" and any(rival is other or clash(rival, other) for other in others)):
            continue
        apart = [record for record in range(count) if _differ(rival.values[record], column.values[record], column.kind)]
        if not apart:
            continue
        doubt = _least_lead(asked, column, rival)
        distance = own - worth(rival)
        if distance < doubt:
            doubted |= set(apart)
        if len(apart) > 0.1 * count:
            lead = min(lead, distance - doubt + _DOUBT)
    return _Rivals(lead, frozenset(doubted))


def _least_lead(asked: ListField, column: Column, rival: Column) -> float:
    """Two kinds of number that are both called as the field ask for a greater lead."""
    both = asked.kind == "identifier" and min(map(asked.likeness, (column.label_words, rival.label_words))) >= 0.5
    return 0.35 if both and column.label_words != asked.name_words else _DOUBT


def _differ(value: Value | None, other: Value | None, kind: str) -> bool:
    if value in (None, "") or other in (None, ""):
        return False
    if kind in ("day", "link"):
        return value != other
    first, second = (re.sub(r"\W+", "", str(value)).casefold() for value in (value, other))
    return first not in second and second not in first


# --- settling -----------------------------------------------------------------------------------------


def _settle(best: _Trial, fields: Sequence[ListField], runs: Sequence[Run]) -> ListReading:
    run, count = best.run, len(best.run.spans)
    chosen = {name: best.columns[place] for name, place in best.taken.columns.items()}
    values: dict[str, list[str | None]] = {}
    sureness: dict[str, Sureness] = {}
    for asked in fields:
        column = chosen.get(asked.name)
        if column is None:
            continue
        rivals = _rivals(asked, fields, best.columns, best.taken, count)
        settled = (
            days_of(column, run.page) if column.kind == "day" else [_text_of(value) or None for value in column.values]
        )
        values[asked.name] = [None if record in rivals.records else value for record, value in enumerate(settled)]
        sureness[asked.name] = _sureness(rivals.lead, column)
    records = _records(best, fields, chosen, values, sureness)
    left_out = _left_out(best, fields, runs, len(records))
    return ListReading(tuple(records), chosen, left_out, said_to_go_on(run, len(records)))


def _sureness(lead: float, column: Column) -> Sureness:
    if lead > _SAFE and column.cover > 0.8:
        return "certain"
    return "likely" if lead >= _DOUBT else "weak"


def _records(
    best: _Trial,
    fields: Sequence[ListField],
    chosen: Mapping[str, Column],
    values: Mapping[str, Sequence[str | None]],
    sureness: Mapping[str, Sureness],
) -> list[ListRecord]:
    headers = set(best.run.headers.values())
    named = any(asked.kind == "name" and asked.name in chosen for asked in fields)
    records: list[ListRecord] = []
    for place in best.keep:
        record = {name: value for name, given in values.items() if (value := given[place])}
        stated = sum(column.values[place] not in (None, "") for column in chosen.values())
        if not record or (named and stated < 2 <= len(chosen)):
            continue
        if len(record) < len(chosen) and headers & set(record.values()):
            continue  # a header that stands between the rows
        sure = {name: _sure_of(sureness[name], chosen[name], value) for name, value in record.items()}
        records.append(ListRecord(record, sure, best.run.spans[place]))
    return records


def _sure_of(sureness: Sureness, column: Column, value: str) -> Sureness:
    """A value unlike the others of its column, far longer or of another form, is not certain."""
    odd = column.kind == "text" and len(value) > 3 * column.length + 20
    odd = odd or (column.kind == "identifier" and column.form_share > 0.8 and shape(value) != column.form)
    return "likely" if odd and sureness == "certain" else sureness


def _left_out(best: _Trial, fields: Sequence[ListField], runs: Sequence[Run], given: int) -> str:
    if not given:
        return NO_LIST
    if given < 0.9 * len(best.run.spans) - 1:
        return f"{len(best.run.spans) - given} parts like the records were not read"
    missing = [asked for asked in fields if asked.name not in best.taken.columns]
    if any(asked.prop.required for asked in missing) or len(missing) > 0.4 * len(fields):
        return "not found: " + ", ".join(asked.name for asked in missing)
    taken = sum(len(piece.text) for record in best.run.records() for piece in record)
    larger = next((run for run in runs if _is_larger(run, best.run, taken)), None)
    return f"a larger list of {len(larger.spans)} parts was not read" if larger is not None else ""


def _is_larger(run: Run, best: Run, taken: int) -> bool:
    if len(run.spans) <= 3 * len(best.spans) or run.size <= 3 * taken:
        return False
    return not any(run.page.in_menu(run.page.pieces[start]) for start, _ in run.spans[:3])


# --- days ---------------------------------------------------------------------------------------------


def days_of(column: Column, pieces: PagePieces) -> list[str | None]:
    """The days of a column as YYYY-MM-DD, by one order of day and month; None where the order is open and matters."""
    open_ = [value for value in column.given if isinstance(value, Day) and value.is_open]
    order = _order_of(open_, pieces)
    return [value.iso(order) if isinstance(value, Day) else None for value in column.values]


def _order_of(days: Sequence[Day], pieces: PagePieces) -> DayOrder | None:
    """The order of day and month: the one that all days have, else by sign, by the list's own order, by language."""
    if not days:
        return None
    fits: dict[DayOrder, int] = {
        "mdy": sum(day.fits("mdy") for day in days),
        "dmy": sum(day.fits("dmy") for day in days),
    }
    if fits["mdy"] != fits["dmy"]:
        return "mdy" if fits["mdy"] > fits["dmy"] else "dmy"
    if days[0].sign == ".":
        return "dmy"
    month_first, day_first = _turns(days, "mdy"), _turns(days, "dmy")
    nearly_sorted = min(month_first, day_first) <= 0.05 * len(days) < max(month_first, day_first) / 2
    if len(days) > 3 and nearly_sorted:
        return "mdy" if month_first < day_first else "dmy"
    language = (pieces.page.root.get("lang") or "").casefold()
    if language == "en-us" or re.search(r"\.(gov|mil|us)$", urlsplit(pieces.base).hostname or ""):
        return "mdy"
    return "dmy" if language[:2] not in ("", "en") else None


def _turns(days: Sequence[Day], order: DayOrder) -> int:
    """Pairs of neighbours that are out of order, where the list is sorted by day either way."""
    sequence = [day.iso(order) or "" for day in days]
    rising = sum(day < following for day, following in pairwise(sequence))
    falling = sum(day > following for day, following in pairwise(sequence))
    return min(rising, falling)
