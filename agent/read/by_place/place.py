"""One place of a page that a job gives, with what stands there, and the value that a field takes from it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from shoal.agent.read.schema import PRICED, Property
from shoal.agent.read.values.conversion import Raw, ValueHints, clean, convert
from shoal.agent.read.values.phrases import squash
from shoal.agent.read.word_lists.concepts import CONCEPTS
from shoal.agent.spec import FieldPlace
from shoal.agent.support.json_value import Json
from shoal.agent.support.schemas.patterns import fitting

LONGEST_VALUE = 100_000
"""Characters of a value; a longer one would come cut."""
_SHOWN_CHARS = 80
_TEXT = frozenset({"string"})
_CURRENCY = next(concept for concept in CONCEPTS if concept.kind == "currency")
_AVAILABILITY = next(concept for concept in CONCEPTS if concept.kind == "availability")


class Unreadable(ValueError):
    """The text at a place is not what the field asks for; the message says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """One element or one part of a JSON document."""

    where: str  # selector, or path in the page's JSON
    how: str  # selector, label, column or json
    kind: str = "text"  # text, lines, attribute, data, check, radio, choice, list, secret or json
    text: str = ""
    plain: str | None = None  # the text without what is struck through, where something is
    exact: str = ""  # machine-readable twin: datetime, the value of an option
    href: str = ""  # where it leads to
    parts: tuple[str, ...] = ()  # text nodes of a short text
    listed: tuple[str, ...] = ()  # of a list with several chosen options
    checked: bool = False
    visible: bool = True
    value: Json = None  # of a place in JSON

    @classmethod
    def of(cls, entry: Mapping[str, Json]) -> Self:
        """The place that the reader of places told."""
        plain = entry.get("u")
        return cls(
            where=str(entry["s"]),
            how=str(entry["w"]),
            kind=str(entry.get("k", "text")),
            text=str(entry.get("t", "")),
            plain=None if plain is None else str(plain),
            exact=str(entry.get("e") or ""),
            href=str(entry.get("h") or ""),
            parts=tuple(map(str, entry.get("p", ()))),
            listed=tuple(map(str, entry.get("l", ()))),
            checked=bool(entry.get("c")),
            visible=bool(entry["v"]),
        )

    @property
    def quoted_text(self) -> str:
        """Return what stands there, as a message quotes it."""
        text = json.dumps(self.value, ensure_ascii=False) if self.kind == "json" else squash_lines(self.text)
        text = str(self.checked).lower() if self.kind == "check" else text
        return repr(text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…")

    @property
    def empty(self) -> bool:
        """Return whether nothing stands there."""
        if self.kind == "json":
            return self.value is None or self.value == ""
        return self.kind not in ("check", "secret") and not (self.text.strip() or self.exact or self.href)


def squash_lines(text: str) -> str:
    """`text` in one line."""
    return " ".join(text.split())


def value_of(place: Place, field: FieldPlace, prop: Property, reading: ValueHints) -> Json:
    """The value of `prop` that stands at `place`; None where nothing stands there.

    Raises:
        Unreadable: something stands there, and it is no such value.
    """
    if place.kind == "secret":
        raise Unreadable("is a password field, and those are never read")
    if len(place.text) > LONGEST_VALUE:
        raise Unreadable(f"is longer than {LONGEST_VALUE:,} characters")
    if place.empty:
        return None
    if place.kind == "json":
        return _json_value(place, field, prop, reading)
    if place.kind == "check":
        if not _asks_boolean(field, prop):
            raise Unreadable("is a check box: its field has to be a boolean")
        return place.checked
    return _converted(_raw(place, field), place, field, prop, reading)


def _asks_boolean(field: FieldPlace, prop: Property) -> bool:
    return field.reader == "boolean" or (field.reader is None and (not prop.types or "boolean" in prop.types))


def _raw(place: Place, field: FieldPlace) -> Raw:
    text = place.text if place.plain is None or not place.plain.strip() else place.plain
    href = "" if field.reader == "text" else place.href
    return Raw(text, place.parts, place.exact, href, structured=place.kind in ("attribute", "data"))


def _converted(raw: Raw, place: Place, field: FieldPlace, prop: Property, reading: ValueHints) -> Json:
    """`raw` by the field's reader, else by the type that the schema gives the field."""
    if _is_text(field, prop):
        return _text(raw, place, field, prop)
    asked = _property_for_reader(field, prop)
    value = convert(asked, raw, reading)
    if value is None and asked.types == {"boolean"}:  # "In stock (3 available)", whatever the field is called
        value = convert(replace(asked, concept=_AVAILABILITY), raw, reading)
    if value is None:
        raise Unreadable(f"says {place.quoted_text}, which reads as no {field.reader or _kind(prop)}")
    return value


def _is_text(field: FieldPlace, prop: Property) -> bool:
    if field.reader is not None:
        return field.reader == "text"
    return not prop.enum and not prop.format and (not prop.types or "string" in prop.types)


def _text(raw: Raw, place: Place, field: FieldPlace, prop: Property) -> str | None:
    """The text as it stands there: lines stay where they count, and an attribute that leads somewhere is an address."""
    if place.kind == "attribute":
        return (raw.href or place.text).strip()
    lines = place.kind == "lines" or bool(prop.concept and prop.concept.name == "description")
    text = place.text.strip() if place.kind == "lines" else clean(place.text, lines=lines)
    text = text or place.exact
    if prop.pattern and field.reader is None:
        fit = fitting(prop.pattern, text)
        if not fit:
            raise Unreadable(f"says {place.quoted_text}, which does not fit the pattern {prop.pattern}")
        return fit
    return text or None


def _property_for_reader(field: FieldPlace, prop: Property) -> Property:
    """`prop` as the field's reader changes it."""
    match field.reader:
        case None:
            return prop
        case "number" | "integer":
            return replace(prop, types=frozenset({field.reader}), enum=(), concept=None)
        case "price":
            return replace(prop, types=frozenset({"number"}), enum=(), concept=PRICED.concept)
        case "boolean":
            return replace(prop, types=frozenset({"boolean"}), enum=())
        case "currency":
            return replace(prop, types=_TEXT, enum=(), format="", concept=_CURRENCY)
    format_ = {"date": "date", "datetime": "date-time", "url": "uri", "email": "email"}[field.reader]
    return replace(prop, types=_TEXT, enum=(), format=format_, pattern="", concept=None)


def _kind(prop: Property) -> str:
    if prop.enum:
        return f"one of {', '.join(map(str, prop.enum[:10]))}"
    return prop.format or " or ".join(sorted(prop.types)) or "value"


_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def _json_value(place: Place, field: FieldPlace, prop: Property, reading: ValueHints) -> Json:
    value = place.value
    if field.reader is None and not prop.enum and not prop.format and _has_type(value, prop.types):
        return value
    if isinstance(value, (dict, list)):
        raise Unreadable(f"is {place.quoted_text}, which is no {field.reader or _kind(prop)}")
    if isinstance(value, bool) and _asks_boolean(field, prop):
        return value
    text = str(value).lower() if isinstance(value, bool) else str(value)
    href = text if text.startswith(("http://", "https://", "/")) and " " not in text else ""
    return _converted(Raw(text, href=href, structured=True), replace(place, text=text), field, prop, reading)


def _has_type(value: Json, types: frozenset[str]) -> bool:
    if not types:
        return True
    if isinstance(value, bool):
        return "boolean" in types
    return any(isinstance(value, python) for name in types for python in _PYTHON_TYPES.get(name, ()))


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Several places where one is asked for, and what they say differs."""

    places: tuple[Place, ...]  # one for each value

    def __str__(self) -> str:
        listed = "; ".join(f"{place.where} says {place.quoted_text}" for place in self.places[:3])
        return listed + (f"; and {len(self.places) - 3} more" if len(self.places) > 3 else "")


@dataclass(frozen=True, slots=True)
class StatedByPlaces:
    """The value of a field by its places, for one record."""

    value: Json = None  # None: nothing
    place: Place | None = None  # the one that the value is from; None: there is none
    fault: str = ""  # why what stands there is no value
    ambiguous: Ambiguous | None = None


def stated(places: Sequence[Place], field: FieldPlace, prop: Property, reading: ValueHints) -> StatedByPlaces:
    """The one value that `places` give; a list of all values where the field is a list."""
    if not places:
        return StatedByPlaces()
    if field.all or prop.types == {"array"}:
        return _all_values(places, field, prop, reading)
    visible = [place for place in places if place.visible]
    values: dict[str, tuple[Json, Place]] = {}
    fault = ""
    for place in visible or places:
        try:
            value = value_of(place, field, prop, reading)
        except Unreadable as unreadable:
            fault = fault or f"{place.where} {unreadable}"
            continue
        if value is not None:
            values.setdefault(_key(value), (value, place))
    if len(values) > 1:
        return StatedByPlaces(ambiguous=Ambiguous(tuple(place for _, place in values.values())))
    if values and not fault:
        value, place = next(iter(values.values()))
        return StatedByPlaces(value, place)
    return StatedByPlaces(place=places[0], fault=fault)


def _all_values(places: Sequence[Place], field: FieldPlace, prop: Property, reading: ValueHints) -> StatedByPlaces:
    single = prop.items or replace(prop, types=_TEXT, items=None)
    values: list[Json] = []
    for place in places:
        if place.kind == "json" and isinstance(place.value, list):
            several = [replace(place, value=part) for part in place.value]
        elif place.kind == "list":
            several = [replace(place, kind="text", text=text) for text in place.listed]
        else:
            several = [place]
        try:
            read = [value_of(part, field, single, reading) for part in several]
        except Unreadable as unreadable:
            return StatedByPlaces(place=place, fault=f"{place.where} {unreadable}")
        values += [value for value in read if value is not None]
    return StatedByPlaces(values, places[0]) if values else StatedByPlaces(place=places[0])


def _key(value: Json) -> str:
    return squash(value) if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
