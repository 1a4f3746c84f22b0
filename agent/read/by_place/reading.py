"""The values at the places that a job gives: one reading of the page that is open."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from shoal.agent.browser import Context
from shoal.agent.errors import (
    AgentError,
    BadSelector,
    PlaceAmbiguous,
    PlaceMissing,
    PlaceNotYet,
    RecordInvalid,
)
from shoal.agent.read.by_place.page_json import Document, documents_of, fetched_documents, nearest_paths, places_at
from shoal.agent.read.by_place.place import Place, StatedByPlaces, stated
from shoal.agent.read.by_place.places_page import PlacesPage, read_places
from shoal.agent.read.lists.empty_page import read_empty_page
from shoal.agent.read.schema import Property, properties_of
from shoal.agent.read.values.conversion import ValueHints
from shoal.agent.spec import ExtractSpec, FieldPlace
from shoal.agent.support.json_paths import JsonPathFault
from shoal.agent.support.json_value import Json
from shoal.agent.types import FieldSource, Reason

_SETTLE_S = 5.0
"""Seconds that a page may take for data that its scripts still bring."""
_AWAIT_S = 10.0
"""Seconds that a page may take for an element that the job itself waits for: as long as an action may take."""
_LOOK_S = 0.2
_IS_THERE = "(css) => { try { return document.querySelector(css) !== null; } catch { return null; } }"


@dataclass(frozen=True, slots=True)
class RecordReading:
    """The values at the given places for one record."""

    where: str  # selector of its element; "" for the page as a whole
    value: Mapping[str, Json]
    sources: Mapping[str, FieldSource]
    lacking: Mapping[str, str]  # fields without a value, each with the reason


@dataclass(frozen=True, slots=True)
class PageReading:
    """One reading of a page."""

    url: str
    records: tuple[RecordReading, ...]
    text: str = ""  # what a page with a list says, for its own words on how long the list is
    cut: bool = False  # the page has more records than one reading takes
    empty: bool = False  # the page says that its list has nothing in it


@dataclass(slots=True)
class _Reading:
    """One look at the page, and what its places gave."""

    extract: ExtractSpec
    page: PlacesPage
    properties: Mapping[str, Property]
    reading: ValueHints
    documents: Sequence[Document] = ()  # the page's own JSON
    fetched: Sequence[Document] = ()  # the JSON that its scripts fetched
    records: list[RecordReading] = field(default_factory=list)
    present: set[str] = field(default_factory=set)  # fields whose place is on the page, whatever it says

    @property
    def absent(self) -> list[str]:
        """The fields whose place is nowhere on the page and has to be."""
        if not self.records and self.extract.many:
            return []
        return [name for name in self.extract.fields if name not in self.present and self.needs(name)]

    def needs(self, name: str) -> bool:
        """Return whether a record without the field is none.

        A schema without `required` says nothing of what may be left out: then each given place has to be there.
        """
        prop = self.properties[name]
        none_required = "required" not in (self.extract.record_schema or {})
        return prop.required or (none_required and not prop.nullable)


async def wait_for(page: Context, selector: str) -> None:
    """Returns once `selector` finds something on the page.

    Raises:
        BadSelector: it is no CSS.
        PlaceNotYet: it found nothing in time.
    """
    deadline = time.monotonic() + _AWAIT_S
    while True:
        match await page.read(_IS_THERE, selector):
            case True:
                return
            case None:
                raise _no_css("wait_for", selector)
        if time.monotonic() > deadline:
            raise PlaceNotYet(
                f"`extract.wait_for`: {selector} did not appear on {page.url} within {_AWAIT_S:g} s; "
                "check the selector, or leave it out",
                selector=selector,
            )
        await asyncio.sleep(_LOOK_S)


async def read_by_places(
    page: Context, extract: ExtractSpec, locale: str = "", asked: frozenset[str] = frozenset()
) -> PageReading:
    """The records that the places of `extract` give; one for a schema of one record.

    Where scripts may still bring what is not there, the page is looked at again for some seconds.

    Args:
        asked: folded words by which the job calls the entries of its list: what says that there are none names them.

    Raises:
        BadSelector: a selector is no CSS.
        PlaceMissing: a place that has to be there is not; `PlaceNotYet` on a page that still loads.
        PlaceAmbiguous: a place is several elements that differ.
        RecordInvalid: what a required place says is no such value.
    """
    read = await _read(page, extract, locale)
    deadline = time.monotonic() + _SETTLE_S
    while _lacks(read) and _may_still_come(read.page) and time.monotonic() < deadline:
        await page.settle(budget_s=max(_LOOK_S, deadline - time.monotonic()))
        await asyncio.sleep(_LOOK_S)
        read = await _read(page, extract, locale)
    lacks_records = extract.many and not read.records
    if lacks_records and (_empty_in_json(read) or (await read_empty_page(page)).empty_message(asked)):
        return PageReading(read.page.url, (), read.page.text, empty=True)
    _check_there(read)
    return PageReading(read.page.url, tuple(read.records), read.page.text, read.page.cut)


async def values_at_places(
    page: Context, extract: ExtractSpec, fields: Mapping[str, FieldPlace], locale: str = ""
) -> list[Mapping[str, Json]] | None:
    """Return what `fields` give on the page as it stands, by record;
    None where a place is several, or is no selector.

    Nothing is waited for, and nothing that is missing is an error: this tells whether places can be used.
    """
    try:
        read = await _read(page, extract.model_copy(update={"fields": dict(fields)}), locale)
    except (PlaceAmbiguous, BadSelector):
        return None
    return [record.value for record in read.records]


async def values_of_each(
    page: Context, extract: ExtractSpec, places: Sequence[tuple[str, FieldPlace]], locale: str = ""
) -> list[list[Mapping[str, Json]]]:
    """Return what each place, read alone, gives its field on the page as it stands, by record; one look for all.

    A place that is several gives nothing, as one that is no selector.
    """
    if not places:
        return []
    keyed = {f"{number} {name}": (name, place) for number, (name, place) in enumerate(places)}
    fields = {key: place for key, (_, place) in keyed.items()}
    seen = await _read_page(page, extract.model_copy(update={"fields": fields}), locale)
    given: list[list[Mapping[str, Json]]] = []
    for key, (name, place) in keyed.items():
        records = [replace(record, places={name: record.places.get(key, ())}) for record in seen.page.records]
        alone = _Reading(
            extract.model_copy(update={"fields": {name: place}}),
            replace(seen.page, records=tuple(records)),
            _properties(extract, [name]),
            seen.reading,
            seen.documents,
            seen.fetched,
        )
        try:
            _read_records(alone)
        except (PlaceAmbiguous, BadSelector):
            alone.records.clear()
        given.append([record.value for record in alone.records])
    return given


def _lacks(read: _Reading) -> bool:
    if not read.records:
        return read.extract.many
    empty = not read.extract.many and any(map(read.needs, read.records[0].lacking))  # a container that is filled later
    return empty or bool(read.absent)


def _may_still_come(page: PlacesPage) -> bool:
    return page.scripted or page.loading


# --- looking ------------------------------------------------------------------------------------------


async def _read(page: Context, extract: ExtractSpec, locale: str) -> _Reading:
    read = await _read_page(page, extract, locale)
    _check_selectors(read)
    _read_records(read)
    return read


async def _read_page(page: Context, extract: ExtractSpec, locale: str) -> _Reading:
    """Return what stands on the page now, without a record made of it."""
    read = await _look(page, extract, locale)
    if extract.asks_json and not _own_json_leads(read) and (fetched := await _fetched(page)):
        read = await _look(page, extract, locale)  # it came to rest since, and may be another document
        read.fetched = fetched
    return read


def _read_records(read: _Reading) -> None:
    if read.extract.records is not None and read.extract.records.startswith("$"):
        _read_entries(read)
    else:
        _read_elements(read)


async def _look(page: Context, extract: ExtractSpec, locale: str) -> _Reading:
    in_page = {name: place for name, place in extract.fields.items() if place.kind != "json"}
    in_json = extract.records is not None and extract.records.startswith("$")
    looked = await read_places(
        page,
        {
            "fields": {
                name: {"kind": place.kind, "query": place.query, "attribute": place.attribute}
                for name, place in in_page.items()
            },
            "records": None if in_json else extract.records,
            "many": extract.many,
            "json": in_json or len(in_page) < len(extract.fields),
        },
    )
    properties = _properties(extract, extract.fields)
    read = _Reading(extract, looked, properties, ValueHints(looked.lang or locale, looked.url))
    read.documents = documents_of(looked.json)
    return read


def _properties(extract: ExtractSpec, names: Iterable[str]) -> dict[str, Property]:
    known = {prop.name: prop for prop in properties_of(extract.record_schema or {})}
    return {name: known.get(name) or Property(name, frozenset(), False, False, (), ()) for name in names}


def _own_json_leads(read: _Reading) -> bool:
    """Return whether the page's own JSON has all that the job looks for in JSON."""
    if read.extract.records is not None and read.extract.records.startswith("$"):
        return bool(_in_json(read, "records", read.extract.records))
    places = {name: place for name, place in read.extract.fields.items() if place.kind == "json"}
    return all(_in_json(read, f"fields.{name}", place.query) for name, place in places.items())


async def _fetched(page: Context) -> list[Document]:
    """The JSON that the page's scripts fetched. A page that fetches is let come to rest: another answer may follow,
    and only all of them tell whether a path leads to one value.
    """
    if not await page.fetched_json(budget_s=_SETTLE_S):
        return []
    await page.settle(budget_s=_SETTLE_S)
    return fetched_documents(await page.fetched_json(budget_s=_SETTLE_S))


def _check_selectors(read: _Reading) -> None:
    """Lets a reading pass whose selectors are CSS.

    Raises:
        BadSelector: one is not.
    """
    extract = read.extract
    selectors = {"records": extract.records or ""} | {f"fields.{n}": place.query for n, place in extract.fields.items()}
    for name in read.page.invalid:
        raise _no_css(name, selectors[name])


def _no_css(name: str, selector: str) -> BadSelector:
    return BadSelector(
        f"`extract.{name}`: {selector} is no CSS selector; a selector is written like .price or #main td",
        field=f"extract.{name}",
    )


def _read_entries(read: _Reading) -> None:
    """The records of a JSON document: what `records` leads to."""
    assert read.extract.records is not None
    for entry in _entries(read, read.extract.records):
        inner = replace(read, documents=[Document(entry.where, entry.value)], fetched=())
        places = {name: _in_json(inner, name, place.query) for name, place in read.extract.fields.items()}
        _add(read, entry.where, places)


def _entries(read: _Reading, path: str) -> list[Place]:
    """The entries of the one list that `path` leads to.

    Raises:
        PlaceAmbiguous: several answers that scripts fetched have such a list.
    """
    if entries := _in_json(replace(read, fetched=()), "records", path):
        return entries
    lists = [(answer.where, places) for answer in read.fetched if (places := _at(path, [answer], "records"))]
    if len({json.dumps([place.value for place in places], sort_keys=True) for _, places in lists}) > 1:
        answers = ", ".join(where for where, _ in lists[:3])
        raise PlaceAmbiguous(
            f"`extract.records`: {path} leads to {len(lists)} different lists in what scripts of {read.page.url} "
            f"fetched: {answers}; start on the address of the one that is meant, which is a page of JSON",
            field="records",
        )
    return lists[0][1] if lists else []


def _read_elements(read: _Reading) -> None:
    in_json = {
        name: _in_json(read, f"fields.{name}", place.query)
        for name, place in read.extract.fields.items()
        if place.kind == "json"
    }
    has_columns = any(place.kind == "column" for place in read.extract.fields.values())
    for record in read.page.records:
        states_some = any(not place.empty for several in record.places.values() for place in several)
        if record.may_be_heading and (has_columns or not states_some):
            continue
        _add(read, record.where, {**record.places, **in_json})


def _in_json(read: _Reading, name: str, path: str) -> list[Place]:
    """Return where `path` leads in the page's own JSON; where it leads nowhere there, in what its scripts fetched."""
    return _at(path, read.documents, name) or _at(path, read.fetched, name)


def _at(path: str, documents: Sequence[Document], name: str) -> list[Place]:
    try:
        return places_at(path, documents)
    except JsonPathFault as fault:
        raise BadSelector(f"`extract.{name}`: {path} {fault}", field=f"extract.{name}") from None


def _add(read: _Reading, where: str, places: Mapping[str, Sequence[Place]]) -> None:
    """Puts one record behind the others.

    Raises:
        PlaceAmbiguous: a place is several elements that differ.
    """
    values: dict[str, Json] = {}
    sources: dict[str, FieldSource] = {}
    lacking: dict[str, str] = {}
    for name, several in places.items():
        place, prop = read.extract.fields[name], read.properties[name]
        statement = stated(several, place, prop, read.reading)
        if several:
            read.present.add(name)
        if statement.ambiguous is not None:
            raise _ambiguous(name, place, statement, where, read.page.url)
        if statement.value is not None and statement.place is not None:
            values[name] = statement.value
            sources[name] = FieldSource("given", statement.place.where, True, "certain", Reason.GIVEN)
            continue
        lacking[name] = statement.fault or (
            f"{statement.place.where} is empty" if statement.place else f"{place.query} finds nothing"
        )
        if prop.nullable and not statement.fault:
            values[name] = None
    read.records.append(RecordReading(where, values, sources, lacking))


def _ambiguous(name: str, field_place: FieldPlace, statement: StatedByPlaces, where: str, url: str) -> PlaceAmbiguous:
    assert statement.ambiguous is not None
    record = f" in the record {where}" if where else ""
    more = (
        "; give a narrower selector, or `all` for a list" if field_place.select else "; give its selector by `select`"
    )
    return PlaceAmbiguous(
        f"`extract.fields.{name}`: {field_place.kind} {field_place.query} is {len(statement.ambiguous.places)} "
        f"different values on {url}{record}: {statement.ambiguous}{more}",
        field=name,
    )


# --- what is not there --------------------------------------------------------------------------------


def _check_there(read: _Reading) -> None:
    """Lets a reading pass that has what has to be there.

    Raises:
        PlaceMissing: it has not; `PlaceNotYet` where the page still loads.
        PlaceAmbiguous: several tables have the columns of the list.
        RecordInvalid: what a required place says is no such value.
    """
    url = read.page.url
    missing = PlaceNotYet if read.page.loading else PlaceMissing
    if read.extract.many and not read.records:
        raise _no_records(read, missing)
    if absent := read.absent:
        reasons = "; ".join(f"`extract.fields.{name}`: {_not_found_message(read, name)}" for name in absent)
        raise missing(f"{url}: {reasons}", fields=tuple(absent))
    faults = {name: why for name, why in read.records[0].lacking.items() if read.needs(name)}
    if faults and not read.extract.many:
        reasons = "; ".join(f"`extract.fields.{name}`: {why}" for name, why in faults.items())
        raise RecordInvalid(f"{url}: {reasons}")


def _no_records(read: _Reading, missing: type[PlaceMissing]) -> AgentError:
    """Why there is no record at all."""
    url, extract = read.page.url, read.extract
    if extract.records is not None:
        near: Sequence[str] = read.page.near.get("records", ())
        if extract.records.startswith("$"):
            near = nearest_paths(extract.records, [*read.documents, *read.fetched])
        return missing(
            f"{url}: `extract.records`: {extract.records} finds nothing{_nearest(near)}", fields=("records",)
        )
    if read.page.tables > 1:
        return PlaceAmbiguous(
            f"{url}: {read.page.tables} tables have these columns; give `extract.records`, such as #parts tbody tr"
        )
    near = [text for texts in read.page.near.values() for text in texts]
    columns = ", ".join(place.query for place in extract.fields.values())
    fields = tuple(extract.fields)
    return missing(f"{url}: no table with rows has the columns {columns}{_nearest(near)}", fields=fields)


def _empty_in_json(read: _Reading) -> bool:
    """Return whether the list that `records` leads to is there, with nothing in it."""
    records = read.extract.records or ""
    return records.endswith("[*]") and any(
        place.value == [] for place in _in_json(read, "records", records.removesuffix("[*]"))
    )


def _not_found_message(read: _Reading, name: str) -> str:
    place = read.extract.fields[name]
    near: Sequence[str]
    if place.kind == "json":
        documents = [*read.documents, *read.fetched]
        near = nearest_paths(place.query, documents)
        where = "the page has no JSON" if not documents else f"{place.query} leads nowhere in the page's JSON"
        where += " (a part of it is too large to be read)" if read.page.json_cut else ""
    else:
        near = read.page.near.get(name, ())
        what = {"select": "finds nothing", "label": "labels nothing", "column": "is no header of a table"}[place.kind]
        where = f"{place.kind} {place.query} {what}"
    return where + _nearest(near)


def _nearest(texts: Sequence[str]) -> str:
    return f"; nearest: {', '.join(dict.fromkeys(texts))}" if texts else "; nothing on the page is similar"
