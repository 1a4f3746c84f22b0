"""Extraction: the records that a job reads from pages, and the places of their fields."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticSerializationError, to_json

from shoal.agent.spec.part import SpecPart
from shoal.agent.support.bounded_cache import bounded_cache
from shoal.agent.support.json_paths import path_fault
from shoal.agent.support.json_value import Json
from shoal.agent.support.schemas.bounds import LONG_SCHEMA
from shoal.agent.support.schemas.engine import meta_fault


def schema_text(schema: Mapping[str, Json]) -> str:
    """A JSON Schema as text, by which what was found out about it is remembered."""
    try:
        return to_json(schema).decode()
    except PydanticSerializationError:  # nested deeper than it goes, or with half of a surrogate pair
        return json.dumps(schema)


@bounded_cache(512, longest=LONG_SCHEMA)
def _schema_fault(text: str) -> str | None:
    """Return what is wrong with a JSON Schema;
    None when nothing is.

    Remembered, because a check takes a millisecond and the jobs of a batch mostly share their schema.
    """
    return meta_fault(json.loads(text))


X_KEY = "x-key"
"""In the schema of a record: the name of the field, or the names of those, by which a record is known."""

X_GLOSSARY = "x-glossary"
"""In the schema of a record: by field, what pages may call it. Parts of objects are named `offer.price`."""

Reader = Literal[
    "text", "number", "integer", "price", "currency", "boolean", "date", "datetime", "url", "email"
]  # fmt: skip


class FieldPlace(SpecPart):
    """The place of one field on a page: exactly one of `select`, `label`, `column` and `json`."""

    select: str | None = Field(None, min_length=1, description="CSS selector of the element, within its record")
    attribute: str | None = Field(
        None, min_length=1, description="with `select`: the element's attribute is the value, rather than its text"
    )
    all: bool = Field(False, description="with `select`: the values of all elements that it finds, as a list")
    label: str | None = Field(None, min_length=1, description="what the page calls the value, such as `UPC`")
    column: str | None = Field(None, min_length=1, description="header of the table's column")
    json_path: str | None = Field(
        None,
        alias="json",
        min_length=1,
        description="JSONPath in the page's JSON-LD and other JSON, in JSON that its scripts fetched, or in a JSON "
        "document, such as `$.offers.price`",
    )
    reader: Reader | None = Field(None, description="how the value is read; default: by the field's type in `schema`")

    @model_validator(mode="after")
    def _one_place(self) -> FieldPlace:
        given = [name for name in _PLACES if getattr(self, name) is not None]
        if len(given) != 1:
            problem = f"has {' and '.join(map(_spelled, given))}" if given else "says no place"
            raise ValueError(f"{problem}: give exactly one of `select`, `label`, `column` and `json`")
        if self.select is None and (self.attribute is not None or self.all):
            name = "attribute" if self.attribute is not None else "all"
            raise ValueError(f"`{name}` goes with `select` only: leave it out, or say the place by `select`")
        fault = path_fault(self.json_path) if self.json_path is not None else None
        if fault is not None:
            raise ValueError(f"`json` {fault}")
        return self

    @property
    def kind(self) -> str:
        """Which of the four it is, as a job spells it."""
        return next(_spelled(name) for name in _PLACES if getattr(self, name) is not None)

    @property
    def query(self) -> str:
        """The selector, label, column or path itself."""
        return next(str(value) for name in _PLACES if (value := getattr(self, name)) is not None)


_PLACES = ("select", "label", "column", "json_path")


def _spelled(name: str) -> str:
    return name.removesuffix("_path")


_READER_TYPES: dict[str | None, dict[str, Json]] = {
    "number": {"type": "number"},
    "price": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "date": {"type": "string", "format": "date"},
    "datetime": {"type": "string", "format": "date-time"},
    "url": {"type": "string", "format": "uri"},
    "email": {"type": "string", "format": "email"},
}


def _schema_of(fields: Json, *, many: bool) -> dict[str, Json] | None:
    """The schema of a job that gives `fields` and none: each is required, and a text unless its reader says otherwise.

    None for what are no fields: the checks of their own say so.
    """
    properties: dict[str, Json] = {}
    for name, place in fields.items() if isinstance(fields, Mapping) else ():
        given = place.model_dump() if isinstance(place, FieldPlace) else place
        if not isinstance(given, Mapping):
            return None
        item_schema = _READER_TYPES.get(str(given.get("reader")), {"type": "string"})
        properties[str(name)] = {"type": "array", "items": item_schema} if given.get("all") is True else item_schema
    if not properties:
        return None
    record: dict[str, Json] = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "array", "items": record} if many else record


class ExtractSpec(SpecPart):
    """The records to read from a page."""

    goal: str | None = Field(None, description="what to read, in words")
    json_schema: dict[str, Json] | None = Field(
        None,
        alias="schema",
        description="JSON Schema (2020-12) of one record, or of an array of records; with `fields` it may be left out",
    )
    fields: dict[str, FieldPlace] = Field(
        default_factory=dict, description="where fields are, by name; the others are found"
    )
    records: str | None = Field(
        None,
        min_length=1,
        description="what one record of an array is: a CSS selector, or the JSONPath of a JSON document's entries",
    )
    next: str | None = Field(
        None, min_length=1, description="CSS selector or words of the link or button to the next page of records"
    )
    max_pages: int = Field(100, ge=1, le=10_000, description="with `next`: so many pages are read at most")
    wait_for: str | None = Field(
        None, min_length=1, description="CSS selector of what must be on the page before it is read"
    )
    accept: Literal["certain", "likely", "weak"] = Field(
        "likely",
        description="how sure a value must at least be to be given; what is less sure is listed as a candidate",
    )

    @model_validator(mode="before")
    @classmethod
    def _made_of_fields(cls, given: Json) -> Json:
        if not isinstance(given, Mapping) or given.get("schema") is not None or given.get("json_schema") is not None:
            return given
        schema = _schema_of(given.get("fields"), many=given.get("records") is not None)
        return given if schema is None else {**given, "schema": schema}

    @field_validator("json_schema")
    @classmethod
    def _is_schema(cls, schema: dict[str, Json] | None) -> dict[str, Json] | None:
        if schema is None:
            return None
        fault = _schema_fault(schema_text(schema))
        if fault is not None:
            raise ValueError(fault)
        if schema.get("type", "object") not in ("object", "array"):
            raise ValueError("must describe an object (one record) or an array of objects")
        return schema

    @field_validator("records")
    @classmethod
    def _is_path(cls, records: str | None) -> str | None:
        fault = path_fault(records) if records is not None and records.startswith("$") else None
        if fault is not None:
            raise ValueError(fault)
        return records

    @model_validator(mode="after")
    def _validate_purpose(self) -> ExtractSpec:
        if self.goal is None and self.json_schema is None:
            raise ValueError("needs `goal`, `schema`, `fields` or several of these")
        return self

    @model_validator(mode="after")
    def _fits_together(self) -> ExtractSpec:
        for fault in (self._unknown_field(), self._list_fault()):
            if fault is not None:
                raise ValueError(fault)
        return self

    @property
    def asks_json(self) -> bool:
        """Return whether the job names a place in the page's JSON."""
        in_json = any(place.kind == "json" for place in self.fields.values())
        return in_json or (self.records is not None and self.records.startswith("$"))

    @property
    def record_key(self) -> tuple[str, ...]:
        """The fields that name a record in every run, which its schema declares by `x-key`; empty: it declares none."""
        declared = (self.record_schema or {}).get(X_KEY)
        names = declared if isinstance(declared, list) else [declared]
        return tuple(name for name in names if isinstance(name, str))

    def with_glossary(self, entries: Json) -> ExtractSpec:
        """Itself, with a field glossary in the schema of a record."""
        schema, record = self.json_schema or {}, {**(self.record_schema or {}), X_GLOSSARY: entries}
        return self.model_copy(update={"json_schema": {**schema, "items": record} if self.many else record})

    def _unknown_field(self) -> str | None:
        """A field that the schema does not have; where the schema refers to others, that cannot be told here."""
        schema = self.record_schema or {}
        known = schema.get("properties")
        if not isinstance(known, Mapping) or schema.keys() & {"$ref", "allOf", "anyOf", "oneOf", "patternProperties"}:
            return None
        name = next((name for name in self.fields if name not in known), None)
        return name and f"`fields.{name}` is no property of `schema`; it has: {', '.join(map(str, known))}"

    def _list_fault(self) -> str | None:
        """Why what is said of a list does not go with the rest."""
        if not self.many:
            name = "records" if self.records is not None else "next" if self.next is not None else None
            hint = 'give {"type": "array", "items": …} as `schema`'
            return name and f"`{name}` is for a list, and `schema` describes one record: {hint}"
        in_json = self.records is not None and self.records.startswith("$")
        for name, place in self.fields.items():
            if self.records is None and place.kind != "column":
                return (
                    f"`fields.{name}` is the place in one record: give `records`, the CSS selector of what a record is"
                )
            if in_json and place.kind != "json":
                return f"`fields.{name}` must be a `json` path within one record, since `records` is a JSONPath"
            if self.records is not None and not in_json and place.kind == "json":
                return f"`fields.{name}` is a `json` path, and `records` elements: give `records` as a JSONPath"
        return None

    @property
    def many(self) -> bool:
        """True when the schema asks for an array of records from one page."""
        return (self.json_schema or {}).get("type") == "array"

    @property
    def record_schema(self) -> dict[str, Json] | None:
        """The schema of one record, also when `schema` asks for an array of them."""
        if self.json_schema is None or not self.many:
            return self.json_schema
        items = self.json_schema.get("items")
        return items if isinstance(items, dict) else {"type": "object"}
