"""Places for `extract.fields` by which the values of records can be read again: each was tried on the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Self

from pydantic import ValidationError

from shoal.agent.browser import Context
from shoal.agent.page.page import Page
from shoal.agent.read.by_place.cell_labels import cell_labels
from shoal.agent.read.by_place.reading import values_at_places, values_of_each
from shoal.agent.read.by_place.selectors_of_values import FoundSelectors, selectors_of
from shoal.agent.read.drawn.page_tree import drawn_page, is_large
from shoal.agent.read.facts.facts import Facts, facts_of
from shoal.agent.spec import ExtractSpec, FieldPlace
from shoal.agent.support.json_value import Json
from shoal.agent.types import FieldSource, Record

_LABELED = frozenset({"table", "definition-list", "label", "control"})
_DATA_ATTRIBUTE = re.compile(r"^(.*)\[(data-[\w-]+)\]$", re.DOTALL)
_JSON_PATH = re.compile(r'^script\[type="application/ld\+json"\] ([A-Za-z_][\w.]*)$')
_MOST_RECORDS = 200
"""Records of a list by whose elements a selector is looked for."""
_MOST_CANDIDATES = 3
"""Of one field that are told with a place."""
_MOST_PLACES = 4
"""Places of one field that are proposed: another page may have only the second."""


@dataclass(frozen=True, slots=True)
class Proposals:
    """Places that give what was read, best first."""

    fields: Mapping[str, tuple[FieldPlace, ...]] = field(default_factory=dict)
    records: str | None = (
        None  # of a list: what one record is; None: its fields are columns of a table, or none is known
    )

    def to_json(self) -> dict[str, Json]:
        """The same as a job spells it."""
        spelled = {
            name: [place.model_dump(by_alias=True, exclude_defaults=True) for place in places]
            for name, places in self.fields.items()
        }
        return {"records": self.records, "fields": spelled}


async def propose_places(page: Context, extract: ExtractSpec, records: Sequence[Record], locale: str = "") -> Proposals:
    """Places for the fields of `records`, which were read from the page as it stands.

    A place is proposed only where reading by it gives the very values of the records.

    Raises:
        BrowserError, NavigationError: the page cannot be asked.
    """
    read = [record for record in records if isinstance(record.value, dict) and record.sources][:_MOST_RECORDS]
    if not read or (extract.records or "").startswith("$"):
        return Proposals()
    seen = await drawn_page(page, _elements(read))
    selectors = selectors_of(seen, _held(seen, read), many=extract.many)
    if extract.many:
        labels = _Labels({} if is_large(seen) else cell_labels(seen))
        return await _of_list(page, extract, read, labels, selectors, locale)
    return await _of_one(page, extract, read[0], _Labels.of(facts_of(seen)), selectors, locale)


async def uncertain_values(
    page: Context, extract: ExtractSpec, records: Sequence[Record], locale: str = ""
) -> dict[str, Json]:
    """By field that was not given, what the page may state for it: each with a place that gives the very value, if any.

    Raises:
        BrowserError, NavigationError: the page cannot be asked.
    """
    first = records[0].candidates if records else {}
    several = {name: candidates[:_MOST_CANDIDATES] for name, candidates in first.items()}
    if not several or extract.many or (extract.records or "").startswith("$"):
        return {}
    sources = {
        f"{name} {place}": FieldSource(candidate.how, candidate.where, False, candidate.sureness, candidate.why)
        for name, candidates in several.items()
        for place, candidate in enumerate(candidates)
    }
    asked = Record({}, sources)
    seen = await drawn_page(page, _elements([asked]))
    labels, selectors = _Labels.of(facts_of(seen)), selectors_of(seen, _held(seen, [asked]), many=False)
    possible = [
        (name, place, number)
        for name, candidates in several.items()
        for number in range(len(candidates))
        for place in _possible(f"{name} {number}", asked, labels, selectors)
    ]
    given = await values_of_each(page, extract, [(name, place) for name, place, _ in possible], locale)
    good: dict[tuple[str, int], FieldPlace] = {}
    for (name, place, number), rows in zip(possible, given, strict=True):
        if rows and _same(rows[0].get(name), several[name][number].value):
            good.setdefault((name, number), place)
    candidates_by_field: dict[str, Json] = {}
    for name, candidates in several.items():
        spelled = {
            number: good[name, number].model_dump(by_alias=True, exclude_defaults=True)
            for number in range(len(candidates))
            if (name, number) in good
        }
        candidates_by_field[name] = [
            {**asdict(candidate), "place": spelled.get(number)} for number, candidate in enumerate(candidates)
        ]
    return candidates_by_field


def _elements(records: Sequence[Record]) -> dict[str, str]:
    """The selectors of the elements at which the values of records stood, by themselves."""
    stood = (_element(source.where) for record in records for source in record.sources.values())
    return {where: where for where in stood if where}


def _held(page: Page, records: Sequence[Record]) -> list[dict[str, int]]:
    """By record and field the number of the element at which the value stood."""
    first = {where: numbers[0] for where, numbers in page.matches.items() if numbers}
    stood = ({name: _element(source.where) for name, source in record.sources.items()} for record in records)
    return [{name: first[where] for name, where in held.items() if where in first} for held in stood]


def _element(where: str) -> str:
    """The selector in a source's `where`, without an attribute of ours."""
    hit = _DATA_ATTRIBUTE.match(where)
    return hit[1] if hit else where


@dataclass(frozen=True)
class _Labels:
    """The page's labels for the values that stand at a selector."""

    by_selector: Mapping[str, str]

    @classmethod
    def of(cls, facts: Facts) -> Self:
        """The labels of a page's own values."""
        pairs = [pair for pair in facts.pairs if pair.how in _LABELED]
        return cls({pair.selector: pair.label for pair in reversed(pairs)})

    def at(self, where: str) -> str:
        """The label of the value there; "" for none."""
        return self.by_selector.get(where, "")


def _possible(name: str, record: Record, labels: _Labels, selectors: FoundSelectors) -> Iterator[FieldPlace]:
    """Places where the value of a field may be found again, best first."""
    source = record.sources[name]
    label = labels.at(source.where)
    if label:
        yield FieldPlace(label=label)
    if path := _JSON_PATH.match(source.where):
        yield FieldPlace(json_path=f"$.{path[1]}")
    if data := _DATA_ATTRIBUTE.match(source.where):
        yield FieldPlace(select=data[1], attribute=data[2])
    for selector, attribute in selectors.fields.get(name, ()):
        try:
            yield FieldPlace(select=selector, attribute=attribute)
        except ValidationError:  # an empty selector, of an element that is gone
            continue


async def _of_one(
    page: Context, extract: ExtractSpec, record: Record, labels: _Labels, selectors: FoundSelectors, locale: str
) -> Proposals:
    possible = [
        (name, place)
        for name in record.sources
        if name not in extract.fields
        for place in _possible(name, record, labels, selectors)
    ]
    proposed: dict[str, tuple[FieldPlace, ...]] = {}
    for (name, place), rows in zip(possible, await values_of_each(page, extract, possible, locale), strict=True):
        if rows and _same(rows[0].get(name), record.value[name]):
            proposed[name] = (*proposed.get(name, ()), place)[:_MOST_PLACES]
    return Proposals(proposed)


async def _of_list(
    page: Context,
    extract: ExtractSpec,
    records: Sequence[Record],
    labels: _Labels,
    selectors: FoundSelectors,
    locale: str,
) -> Proposals:
    """Places for a list: columns where it is a table, else what a record is and where its fields are within."""
    names = list(dict.fromkeys(name for record in records for name in record.sources if name not in extract.fields))
    columns = {name: _column(name, records, labels) for name in names}
    places = {name: FieldPlace(column=column) for name, column in columns.items() if column}
    if len(places) == len(names) and extract.records is None:
        read = await values_at_places(page, extract, places, locale)
        if _all_same(read, records, names):
            return Proposals({name: (place,) for name, place in places.items()})
    for what in [extract.records] if extract.records is not None else selectors.records:
        asked = extract.model_copy(update={"records": what})
        possible = list(_possible_in_list(names, records, columns, labels, selectors))
        proposed: dict[str, tuple[FieldPlace, ...]] = {}
        for (name, place), rows in zip(possible, await values_of_each(page, asked, possible, locale), strict=True):
            if name not in proposed and _all_same(rows, records, [name]):
                proposed[name] = (place,)
        if proposed:
            return Proposals(proposed, str(what))
    return Proposals()


def _possible_in_list(
    names: Sequence[str],
    records: Sequence[Record],
    columns: Mapping[str, str],
    labels: _Labels,
    selectors: FoundSelectors,
) -> Iterator[tuple[str, FieldPlace]]:
    for name in names:
        if columns[name]:
            yield name, FieldPlace(column=columns[name])
        first = next(record for record in records if name in record.sources)
        for place in _possible(name, first, labels, selectors):
            if place.kind != "json":
                yield name, place


def _column(name: str, records: Sequence[Record], labels: _Labels) -> str:
    """The header under which all records have the field; "" for none."""
    heads = {
        labels.at(record.sources[name].where)
        for record in records
        if record.sources.get(name) and _in_table(record, name)
    }
    return heads.pop() if len(heads) == 1 else ""


def _in_table(record: Record, name: str) -> bool:
    return record.sources[name].how == "table"


def _all_same(read: Sequence[Mapping[str, Json]] | None, records: Sequence[Record], names: Sequence[str]) -> bool:
    """Return whether what was read is the same as the records say, in their order;
    rows that say nothing do not count.
    """
    if read is None:
        return False
    given = [
        row for row in ({name: row.get(name) for name in names} for row in read) if any(map(_is_value, row.values()))
    ]
    values = [
        {name: record.value.get(name) if name in record.sources else None for name in names} for record in records
    ]
    stated = [row for row in values if any(map(_is_value, row.values()))]
    return len(given) == len(stated) and all(
        _same(row[name], other[name]) for row, other in zip(given, stated, strict=True) for name in names
    )


def _is_value(value: Json) -> bool:
    return value is not None


def _same(value: Json, other: Json) -> bool:
    """Return whether two readings say the same; how lines are broken does not count."""
    if isinstance(value, str) and isinstance(other, str):
        return value.split() == other.split()
    return bool(value == other) and isinstance(value, bool) is isinstance(other, bool)
