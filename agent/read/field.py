"""A field of the job's schema as readers ask for it: its kind of value, its unit, its names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from shoal.agent.read.schema import Property
from shoal.agent.read.vocabulary import AskedName, Types, fit, fit_of_name
from shoal.agent.read.words import is_plural, tokens

Kind = Literal["text", "number", "integer", "boolean", "address", "day", "list", "object"]
"""Types that a field's value is read as."""

_ADDRESSES = frozenset({"uri", "url", "uri-reference", "iri"})
_DAYS = frozenset({"date", "date-time"})


@dataclass(frozen=True)
class Field:
    """One property of a record schema."""

    prop: Property

    @property
    def name(self) -> str:
        """The field's name, as the schema spells it."""
        return self.prop.name

    @cached_property
    def requested_name(self) -> AskedName:
        """Return what the job calls it."""
        return AskedName(self.prop.name, self.prop.glossary.properties)

    def by_glossary(self, prop: str, types: Types) -> str:
        """A property of a thing of these types, where the field's glossary says that it fits; "" for any other."""
        return prop if fit(self.requested_name, prop, types) > fit_of_name(self.name, prop, types) else ""

    @cached_property
    def kind(self) -> Kind:
        """The kind of value: by format, else by JSON type; a field of any type is text."""
        prop = self.prop
        if prop.items is not None and "array" in prop.types:
            return "list"
        if prop.properties:
            return "object"
        if prop.format in _ADDRESSES:
            return "address"
        if prop.format in _DAYS:
            return "day"
        if not prop.types or "string" in prop.types:
            return "text"
        if "number" in prop.types:
            return "number"
        if "integer" in prop.types:
            return "integer"
        return "boolean" if "boolean" in prop.types else "text"

    @property
    def is_number(self) -> bool:
        """True for numbers and integers."""
        return self.kind in ("number", "integer")

    @cached_property
    def item(self) -> Field | None:
        """Of a list: its entries as a field of the same name."""
        return Field(self.prop.items) if self.kind == "list" and self.prop.items is not None else None

    @cached_property
    def of_lines(self) -> bool:
        """True for a list of plain texts."""
        return self.item is not None and self.item.kind == "text" and not self.item.prop.enum

    @cached_property
    def counts(self) -> bool:
        """True where the name may mean a number of things: `reviews`, where no list is asked for."""
        return self.kind != "list" and is_plural(self.name)

    @cached_property
    def words(self) -> frozenset[str]:
        """Stems of the name."""
        return frozenset(tokens(self.name))
