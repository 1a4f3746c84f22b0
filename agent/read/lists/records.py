"""The records of a list page, for any JSON Schema of a record: the run that fits it best, settled as a whole."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median
from urllib.parse import urlsplit

from lxml.html import HtmlElement

from shoal.agent.page.page import Page
from shoal.agent.read.lists.assignment import DOUBT, Assignment, assign, is_linked, rivals_of
from shoal.agent.read.lists.column import Column, Value
from shoal.agent.read.lists.columns import columns_of
from shoal.agent.read.lists.day_order import days_of
from shoal.agent.read.lists.elements import classes_of, step_of
from shoal.agent.read.lists.empty_page import message_above
from shoal.agent.read.lists.fields import ListField, loosely, with_numbered_names
from shoal.agent.read.lists.pieces import HeadingSpan, PagePieces, Piece
from shoal.agent.read.lists.runs import Run, Span, find_runs
from shoal.agent.read.lists.words import split_words
from shoal.agent.read.values.phrases import squash
from shoal.agent.read.values.text_values import shape
from shoal.agent.read.word_lists.page_words import OTHER_MATTER
from shoal.agent.sureness import Sureness

_ANOTHER = "the page shows another list of such records, with {} entries; `extract.records` says which are meant"
_ELSEWHERE = "the page shows such records only under {!r}; `extract.records` says whether they are meant"
_INSTEAD = (
    "the page says {!r}, and shows such records under another heading; `extract.records` says whether they are meant"
)
NO_LIST = "the page has no list whose entries state the fields"
_LONGEST_HEADING = 80
"""Characters of a heading that a reason names."""
LEAST_FIELDS = 3
"""Fields by which records under other headings, or in other parts of the page, are known to be of one list."""
_FEW, _MOST_TRIED = 24, 4
_SAMPLE = 120
"""Records by which the runs of a page are compared."""
_LOOSE = 0.3
"""Loss of parts that differ in their own classes."""
_WITHIN_LINES = 0.6
"""Loss of records that begin amid lines."""
_NUMBERED = re.compile(r"[^\d:]{2,40}\d{1,6}")
_SAFE = 0.5
"""The lead from which a column's values are certain."""


@dataclass(frozen=True, slots=True)
class ListRecord:
    """One record of a list."""

    values: Mapping[str, str]  # by field: text, address, or a day as YYYY-MM-DD
    sureness: Mapping[str, Sureness]  # by field
    pieces: Mapping[str, Sequence[Piece]]  # where each value stands, by field; empty for links
    links: Mapping[str, HtmlElement]  # of fields that are addresses


@dataclass(frozen=True, slots=True)
class ListReading:
    """The records and columns of a list on a page."""

    records: tuple[ListRecord, ...] = ()
    columns: Mapping[str, Column] = field(default_factory=dict)  # by field
    left_out: str = ""  # what the page shows of the list and was not read, in words; "" for nothing


@dataclass(slots=True)
class _Trial:
    """A run with its best assignment, and what it is worth."""

    score: float
    run: Run
    columns: list[Column]
    taken: Assignment
    keep: list[int]  # records that state enough of the fields
    elsewhere: Collection[int] = ()  # records that are about something else

    def column(self, asked: ListField) -> Column | None:
        """The column of a field."""
        return self.columns[self.taken.columns[asked.name]] if asked.name in self.taken.columns else None

    def places(self) -> dict[str, tuple[str, object]]:
        return {
            name: (self.columns[place].kind, self.columns[place].source) for name, place in self.taken.columns.items()
        }


def read_list(page: Page, fields: Sequence[ListField]) -> ListReading:
    """The records of the list that states the fields best; what is not shown is read where nothing else is."""
    reading = _read_list(PagePieces(page), fields)
    if reading.records or reading.left_out != NO_LIST:
        return reading
    return _read_list(PagePieces(page, hidden=True), fields)


def _read_list(pieces: PagePieces, fields: Sequence[ListField]) -> ListReading:
    runs = find_runs(pieces, [split_words(asked.name) for asked in fields])
    tried = _ranked(runs, fields)
    if not tried:
        fields = loosely(fields)
        tried = _ranked(runs, fields)
    if not tried or len(tried[0].run.spans) == 2:  # two parts are a list, or two columns of one
        numbered = with_numbered_names(fields)
        again = _ranked(runs, numbered)
        if again:
            fields, tried = numbered, again
    if not tried:
        return ListReading(left_out=NO_LIST)
    if other := _other_matter(tried[0]):
        tried = [trial for trial in tried if _is_alike(tried[0], trial) and not _other_matter(trial)]
    if not tried:
        return ListReading(left_out=_ELSEWHERE.format(other))
    best = _under_own_headings(_gone_on(_best_in_full(tried, fields), tried, fields), fields)
    if message := message_above(best.run):
        return ListReading(left_out=_INSTEAD.format(message))
    led = loosely(fields)
    if led[0].leads and led[0].name not in best.taken.columns:
        best = _try(best.run, led) or best
    best = _with_numbered_names(best, fields)
    return _settle(best, fields, runs, _beside(best, tried, fields))


def _with_numbered_names(best: _Trial, fields: Sequence[ListField]) -> _Trial:
    """The trial with names such as "Lot 12" where its run has no others; all else as it is."""
    if all(asked.kind != "name" or asked.name in best.taken.columns for asked in fields):
        return best
    again = _try(best.run, with_numbered_names(fields))
    if again is None or not best.places().items() < again.places().items():
        return best
    new = [again.columns[place] for name, place in again.taken.columns.items() if name not in best.taken.columns]
    return again if all(_NUMBERED.fullmatch(text) for column in new for text in column.texts) else best


def _ranked(runs: Sequence[Run], fields: Sequence[ListField]) -> list[_Trial]:
    """The trials of the runs, best first: all by a few records, and the best of these by more.

    Runs in menus are tried where no other run states all fields.
    """
    first = _first_trials([run for run in runs if not run.in_menu], fields)
    if not any(len(trial.taken.columns) == len(fields) for trial in first):
        first += _first_trials([run for run in runs if run.in_menu], fields)
    first.sort(key=_by_score)
    better = [_by_more(trial, fields) for trial in first[:_MOST_TRIED]]
    return [*sorted(better, key=_by_score), *first[_MOST_TRIED:]]


def _by_score(trial: _Trial) -> tuple[float, bool]:
    """A key that puts the best first. An element is a record rather than a stretch of as much worth."""
    return -trial.score, trial.run.how.startswith("from ")


def _first_trials(runs: Sequence[Run], fields: Sequence[ListField]) -> list[_Trial]:
    return [trial for run in runs if (trial := _try(run.sample(_FEW), fields)) is not None]


def _by_more(trial: _Trial, fields: Sequence[ListField]) -> _Trial:
    whole = trial.run.whole
    return trial if whole is None else _try(whole.sample(_SAMPLE), fields) or trial


# --- the best run -------------------------------------------------------------------------------------


def _try(run: Run, fields: Sequence[ListField]) -> _Trial | None:
    columns, count = columns_of(run), len(run.spans)
    if not columns:
        return None
    taken = assign(fields, columns, count)
    if len(taken.columns) < min(2, len(fields)):
        return None
    leading = next((asked for asked in fields if asked.leads and asked.name in taken.columns), None)
    if leading is not None and not _is_name_column(run, leading, fields, columns, taken):
        return None
    chosen = [columns[place] for place in taken.columns.values()]
    rows = [tuple(_text_of(column.values[record]) for column in chosen) for record in range(count)]
    own = [
        sum(
            bool(text) and column.source[0] != "heading" and column.kind != "image"
            for text, column in zip(row, chosen, strict=True)
        )
        for row in rows
    ]
    called = sum(asked.is_called(columns[taken.columns[asked.name]]) for asked in fields if asked.name in taken.columns)
    all_called = bool(run.headers) and called == len(taken.columns)
    least = 1 if all_called else max(1, math.ceil(0.51 * median(own)))
    unique = 1.0 if called == len(fields) else len(set(rows)) / count
    size = len(run.whole.spans) / count if run.whole is not None else 1.0
    doubted = sum(
        len(rivals_of(asked, fields, columns, taken, count).records) > 0.5 * count
        for asked in fields
        if asked.name in taken.columns
    )
    score = taken.score + _more_of(_whole_records(rows, len(chosen)) * size * unique)
    score = score * (0.5 if run.in_menu else 1.0) * (0.6 + 0.4 * unique)
    score -= _LOOSE * (run.how == "loose" and not run.headers)
    score -= _WITHIN_LINES * _begins_within_lines(run)
    score += 0.15 * (run.how in ("hr", "blank")) - 0.6 * (count < 3) - 0.2 * doubted
    return _Trial(score, run, columns, taken, [record for record, number in enumerate(own) if number >= least])


def _begins_within_lines(run: Run) -> bool:
    """True where most stretches from one part to the next begin amid a line: the line's first part is of the record."""
    pieces = run.page.pieces
    within = sum(start > 0 and pieces[start - 1].line == pieces[start].line for start, _ in run.spans)
    return run.how.startswith("from ") and within > 0.5 * len(run.spans)


def _is_name_column(
    run: Run, leading: ListField, fields: Sequence[ListField], columns: Sequence[Column], taken: Assignment
) -> bool:
    """True where more than its place says that a column is what the records are called.

    The text is that of the link that another field asks for; or another field is called as a column of the same table
    or the other half of a pair; or two others are called so.
    """
    others = [(asked, columns[taken.columns[asked.name]]) for asked in fields if asked.name in taken.columns]
    lead = columns[taken.columns[leading.name]]
    called = [column for asked, column in others if asked is not leading and asked.is_called(column)]
    linked = any(column.kind == "link" and is_linked(lead, column) for _, column in others)
    beside = lead.in_cells or bool(lead.loose_names)
    return not run.in_menu and (linked or len(called) > 1 or (beside and bool(called)))


def _whole_records(rows: Sequence[Sequence[str]], fields: int) -> int:
    """Records that have at least three quarters of the fields."""
    return sum(sum(map(bool, row)) >= 0.75 * fields for row in rows)


def _more_of(records: float) -> float:
    """Return what the number of records adds to a run's score: each doubling the same, and little beyond fifty."""
    return 0.3 * math.log2(1 + min(50.0, records)) + 0.05 * math.log2(max(1.0, records / 50))


def _text_of(value: Value | None) -> str:
    return "" if value is None else str(value)


def _best_in_full(tried: Sequence[_Trial], fields: Sequence[ListField]) -> _Trial:
    """The best trial once the best runs are tried in full, and without the parts that are no records."""
    best: _Trial | None = None
    for trial in tried[: 5 if len(tried[0].run.spans) < _SAMPLE else 2]:
        if trial.run.whole is not None:
            trial = _try(trial.run.whole, fields) or trial
        kept = set(trial.keep)
        dropped = [span for place, span in enumerate(trial.run.spans) if place not in kept]
        if dropped and len(kept) > 1:
            again = _try(trial.run.without(dropped), fields)
            if again is not None:
                again.score -= 0.5 * len(dropped) / len(trial.run.spans)
                trial = again if again.score > trial.score else trial
        if best is None or trial.score > best.score:
            best = trial
    assert best is not None
    return best


def _gone_on(best: _Trial, tried: Sequence[_Trial], fields: Sequence[ListField]) -> _Trial:
    """The best trial with the runs in which the same list goes on elsewhere in the page."""
    if len(best.taken.columns) < LEAST_FIELDS:
        return best
    spans = best.run.spans
    for other in tried:
        more = (other.run.whole or other.run).spans
        if not _is_alike(best, other) or other.run.in_menu != best.run.in_menu or _overlap(spans, more):
            continue
        both = _try(best.run.of(sorted([*spans[-_SAMPLE // 2 :], *more[: _SAMPLE // 2]])), fields)
        if both is not None and both.score > best.score - 0.2 - _more_of(len(spans)) + _more_of(_SAMPLE):
            spans = sorted([*spans, *more])
    return best if len(spans) == len(best.run.spans) else _try(best.run.of(spans), fields) or best


def _under_own_headings(best: _Trial, fields: Sequence[ListField]) -> _Trial:
    """The trial without the records under headings that say another list begins.

    Parts under headings are chapters of one list: letters, years, kinds of goods. The last ones may say that they are
    about something else, "Related products"; or some are called as a field: "Options", and then "Commands".
    """
    parts: dict[HeadingSpan | None, list[Span]] = defaultdict(list)
    for span in best.run.spans:
        parts[best.run.heading_over(span)].append(span)
    own = list(parts)
    while len(own) > 1 and own[-1] is not None and _is_other_matter(own[-1].text):
        own.pop()
    if len(fields) < LEAST_FIELDS:
        own = [heading for heading in own if _names_a_field(heading, fields)] or own
    if not own or len(own) == len(parts):
        return best
    trial = _try(best.run.of([span for heading in own for span in parts[heading]]), fields)
    if trial is not None:
        return trial
    theirs = {span for heading in parts.keys() - own for span in parts[heading]}  # its own are too few for columns
    elsewhere = {place for place, span in enumerate(best.run.spans) if span in theirs}
    return replace(best, keep=[place for place in best.keep if place not in elsewhere], elsewhere=elsewhere)


def _is_other_matter(heading: str) -> bool:
    padded = f"{squash(heading)} "
    return any(padded.startswith(f"{words} ") or (" " in words and f" {words} " in padded) for words in OTHER_MATTER)


def _other_matter(best: _Trial) -> str:
    """The last heading over the records where all of these say that they are about something else; "" for others."""
    last_heading = ""
    for place in best.keep:
        heading = best.run.heading_over(best.run.spans[place])
        if heading is None or heading.el.tag == "h1" or not _is_other_matter(heading.text):
            return ""
        if not best.run.page.is_over(heading, best.run.spans[place][0]):
            return ""
        last_heading = heading.text
    return last_heading[:_LONGEST_HEADING]


def _names_a_field(heading: HeadingSpan | None, fields: Sequence[ListField]) -> bool:
    heading_words = split_words(heading.text) if heading is not None else ()
    return any(word in heading_words for asked in fields for word in asked.name_words)


def _beside(best: _Trial, tried: Sequence[_Trial], fields: Sequence[ListField]) -> int:
    """Records of another list of the same kind in the page's own content; 0 where there is none with others."""
    rows = _rows_of(best)
    named = any(_names_a_field(best.run.heading_over(span), fields) for span in best.run.spans[:1])
    for other in tried:
        run = other.run.whole or other.run
        if not _is_alike(best, other) or _overlap(best.run.spans, run.spans):
            continue
        if run.in_menu and not best.run.in_menu:
            continue
        if run.headers != best.run.headers:
            continue
        if step_of(run.roots[0]) != step_of(best.run.roots[0]) and not _goes_with(best.run, run):
            continue
        heading = run.heading_over(run.spans[0])
        if heading is not None and _is_other_matter(heading.text):
            continue
        if named and not _names_a_field(heading, fields):
            continue
        if _rows_of(other) - rows:
            return len(run.spans)
    return 0


def _goes_with(run: Run, other: Run) -> bool:
    """True for runs below the same element, where one stands between the other's records or has a class more."""
    parents = {id(root.getparent()) for root in run.roots}
    between = run.spans[0] < other.spans[-1] and other.spans[0] < run.spans[-1]
    classes, others = classes_of(run.roots[0]), classes_of(other.roots[0])
    further = classes < others or others < classes
    return (between or further) and all(id(root.getparent()) in parents for root in other.roots)


def _rows_of(trial: _Trial) -> set[tuple[str, ...]]:
    chosen = [trial.columns[place] for _, place in sorted(trial.taken.columns.items())]
    return {tuple(_text_of(column.values[record]) for column in chosen) for record in trial.keep}


def _is_alike(best: _Trial, other: _Trial) -> bool:
    """True where most fields have the same places in the records of both."""
    mine, its = best.places(), other.places()
    same = sum(its.get(name) == place for name, place in mine.items())
    return other.run is not best.run and same >= 0.7 * len(mine)


def _overlap(spans: Sequence[Span], others: Sequence[Span]) -> bool:
    return any(span[1] > following[0] for span, following in pairwise(sorted([*spans, *others])))


# --- settling -----------------------------------------------------------------------------------------


def _settle(best: _Trial, fields: Sequence[ListField], runs: Sequence[Run], apart: int) -> ListReading:
    run, count = best.run, len(best.run.spans)
    chosen = {name: best.columns[place] for name, place in best.taken.columns.items()}
    values: dict[str, list[str | None]] = {}
    sureness: dict[str, Sureness] = {}
    for asked in fields:
        column = chosen.get(asked.name)
        if column is None:
            continue
        rivals = rivals_of(asked, fields, best.columns, best.taken, count)
        settled = (
            days_of(column, best.columns, run.page)
            if column.kind == "day"
            else [_text_of(value) or None for value in column.values]
        )
        values[asked.name] = [None if record in rivals.records else value for record, value in enumerate(settled)]
        sureness[asked.name] = _sureness(rivals.lead, column)
    records = _records(best, fields, chosen, values, sureness)
    left_out = _left_out(best, fields, runs, records) or (_ANOTHER.format(apart) if apart else "")
    left_out = left_out.replace("1 entries", "1 entry") if apart == 1 else left_out
    return ListReading(tuple(records.values()), chosen, left_out)


def _sureness(lead: float, column: Column) -> Sureness:
    if lead > _SAFE and column.cover > 0.8:
        return "certain"
    return "likely" if lead >= DOUBT else "weak"


def _records(
    best: _Trial,
    fields: Sequence[ListField],
    chosen: Mapping[str, Column],
    values: Mapping[str, Sequence[str | None]],
    sureness: Mapping[str, Sureness],
) -> dict[int, ListRecord]:
    """The records by their places in the run; parts that state too little, and what is none, are left out."""
    headers = set(best.run.headers.values())
    named = any(asked.kind == "name" and asked.name in chosen for asked in fields)
    records: dict[int, ListRecord] = {}
    for place in best.keep:
        record = {name: value for name, given in values.items() if (value := given[place])}
        texts = [column for column in chosen.values() if column.kind != "image"]
        stated = sum(column.values[place] not in (None, "") for column in texts)
        if not record or (named and stated < 2 <= len(texts)):
            continue
        if len(record) < len(chosen) and headers & set(record.values()):
            continue  # a header that stands between the rows
        if not records and len(record) < len(chosen) and _leads_up(best.run, best.run.spans[place]):
            continue  # "Parent directory", above a folder's files
        sure = {name: _sure_of(sureness[name], chosen[name], value) for name, value in record.items()}
        places = {name: _pieces_of(best.run, chosen[name], place) for name in record}
        links = {name: link for name in record if (link := _link_of(chosen[name], place)) is not None}
        records[place] = ListRecord(record, sure, places, links)
    return records


def _leads_up(run: Run, span: Span) -> bool:
    """True for a stretch whose only link leads to a folder above the page's own."""
    links = {piece.link for piece in run.page.pieces[slice(*span)] if piece.link is not None}
    if len(links) != 1:
        return False
    target, own = urlsplit(run.page.address(links.pop())), urlsplit(run.page.base)
    folder = own.path.rpartition("/")[0] + "/"
    above = target.path.endswith("/") and folder.startswith(target.path) and target.path != folder
    return target.netloc == own.netloc and above


def _link_of(column: Column, record: int) -> HtmlElement | None:
    return column.links[record] if column.kind in ("link", "image") and column.links else None


def _pieces_of(run: Run, column: Column, record: int) -> Sequence[Piece]:
    stretch = column.stretches.get(record)
    return run.page.pieces[stretch.first : stretch.last + 1] if stretch is not None else ()


def _sure_of(sureness: Sureness, column: Column, value: str) -> Sureness:
    """A value unlike the others of its column, far longer or of another form, is not certain."""
    odd = column.kind == "text" and len(value) > 3 * column.length + 20
    odd = odd or (column.kind == "identifier" and column.form_share > 0.8 and shape(value) != column.form)
    return "likely" if odd and sureness == "certain" else sureness


def _left_out(best: _Trial, fields: Sequence[ListField], runs: Sequence[Run], records: Mapping[int, ListRecord]) -> str:
    if not records:
        return NO_LIST
    skipped = (place for place in range(len(best.run.spans)) if place not in records and place not in best.elsewhere)
    lost = [*best.run.dropped, *(best.run.spans[place] for place in skipped)]
    if len(lost) > 0.1 * (len(lost) + len(records)) + 1:
        return f"{len(lost)} parts like the records were not read"
    if alike := _number_alike(best.run, lost):
        return f"{alike} part{'s' * (alike > 1)} like the records state{'s' * (alike == 1)} too little to be read"
    missing = [asked for asked in fields if asked.name not in best.taken.columns]
    if any(asked.prop.required for asked in missing) or len(missing) > 0.4 * len(fields):
        return "not found: " + ", ".join(asked.name for asked in missing)
    taken = best.run.characters
    if all(asked.is_called(column) for asked, column in zip(fields, map(best.column, fields), strict=True) if column):
        return ""
    larger = next((run for run in runs if _is_larger(run, best.run, taken)), None)
    return f"a larger list of {len(larger.spans)} parts was not read" if larger is not None else ""


def _number_alike(run: Run, lost: Sequence[Span]) -> int:
    """The number of lost parts that stand as the records do: all that is in them stands where most records have
    something.
    """
    places = Counter(path for pieces in run.records() for path in {piece.path for piece in pieces})
    usual = {path for path, number in places.items() if number > 0.5 * len(run.spans)}
    parts = (run.page.pieces[start:end] for start, end in lost if not _leads_up(run, (start, end)))
    own = ({piece.path for piece in pieces if piece.text} for pieces in parts)  # a link may have a picture alone
    return sum(bool(paths) and paths <= usual for paths in own)


def _is_larger(run: Run, best: Run, taken: int) -> bool:
    if len(run.spans) <= 3 * len(best.spans) or run.size <= 3 * taken:
        return False
    return not any(run.page.in_menu(run.page.pieces[start]) for start, _ in run.spans[:3])
