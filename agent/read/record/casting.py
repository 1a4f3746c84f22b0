"""Values of structured data, and texts, as the JSON value that a field asks for. None for what cannot be read."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from shoal.agent.read.field import Field
from shoal.agent.read.record.nodes import PageNodes, property_of, types_of, values_of
from shoal.agent.read.values.conversion import read_amount
from shoal.agent.read.values.dates import read_date
from shoal.agent.read.values.days import read_day
from shoal.agent.read.values.placeholders import is_no_picture
from shoal.agent.read.values.quantities import read_quantity, states_no_unit, unit_named
from shoal.agent.read.vocabulary import ENUMERATIONS, property_named
from shoal.agent.read.words import folded, one_line, plain_text
from shoal.agent.support.json_value import Json
from shoal.agent.support.web_addresses import joined

Wanted = Literal["number", "text", "address"]

_PRINCIPAL: Mapping[Wanted, Sequence[str]] = {
    "number": ("value", "ratingValue", "price", "name", "text"),
    "text": ("name", "headline", "text", "value", "description"),
    "address": ("contentUrl", "url", "@id"),
}
"""Properties that say what a structure is, by the kind of value wanted."""

_NOTHING = frozenset({"null", "none", "undefined", "n/a", "nan", "-", ""})
_MEMBER = re.compile(r"https?://(?:www\.)?schema\.org/(\w+)")
_ADDRESS = re.compile(r"(https?:)?//|^/\S*$|^#")
_LINKED = re.compile(r"(https?:)?//|/|\w[\w./%-]*\.\w{2,5}(\?|$)")
_ISO_DURATION = re.compile(r"P[\dT]")
_LONGEST_NAME = 200
_MOST_PEOPLE = 6
_LONGEST_NUMBER = 40
_TRUE = frozenset({"true", "instock", "yes", "1", "limitedavailability", "onlineonly"})
_FALSE = frozenset({"false", "outofstock", "soldout", "no", "0", "discontinued"})
_PLACE_IN_LIST = re.compile(r"\W{0,5}\w{1,20}\W{0,5}\d{1,5}\W{0,5}")


@dataclass(frozen=True)
class Casting:
    """The reading of values, with the parts of the page that it needs."""

    nodes: PageNodes
    base: str  # URL that relative addresses belong to
    lang: str  # two letters
    titles: frozenset[str]  # of the page, folded: no entries of lists

    def cast(self, raw: Json, field: Field, prop: str = "") -> Json:
        """`raw`, stated as the schema.org property `prop`, as the value that `field` asks for."""
        if field.kind == "list":
            return self._list(raw, field, prop)
        stated = values_of(raw)
        if not stated:
            return None
        match field.kind:
            case "number" | "integer":
                return self._first(self._number(value, field, prop) for value in stated)
            case "boolean":
                return _boolean(self._principal(stated[0], "text"))
            case "address":
                return self._first(self._address(value, prop) for value in stated)
            case "day":
                return self._first(self._day(value, field) for value in stated)
            case "text":
                return self._text(stated, field, prop)
        return None

    @staticmethod
    def _first(values: Iterable[Json]) -> Json:
        return next((value for value in values if value is not None), None)

    def _list(self, raw: Json, field: Field, prop: str) -> Json:
        if field.of_lines:
            return [line for line in self.lines(raw) if folded(line) not in self.titles] or None
        item = field.item
        if item is None or item.kind in ("object", "list"):
            return None
        values = [cast for value in values_of(raw) if (cast := self.cast(value, item, prop)) is not None]
        return values or None

    def _number(self, value: Json, field: Field, prop: str) -> Json:
        principal = self._principal(value, "number") if isinstance(value, Mapping) else value
        if isinstance(principal, bool) or principal is None:
            return None
        if isinstance(value, Mapping) and self.asks_unit(value, field):
            principal = f"{principal} {self.unit_of(value)}"
        amount = self._amount(principal, field, prop)
        if amount is None or (field.kind == "integer" and abs(amount - round(amount)) > 0.01):
            return None
        return round(amount) if field.kind == "integer" or amount == int(amount) else amount

    def _amount(self, stated: Json, field: Field, prop: str) -> float | None:
        text = one_line(str(stated))
        unit = field.prop.unit_for(text, self.lang)
        of_time = "Duration" in property_named(prop).ranges
        if isinstance(stated, str) and unit:
            amount = read_quantity(text, unit, self.lang)
            if amount is not None:
                return amount if amount > 0 or not of_time else None
            if not states_no_unit(text) or (of_time and not text.isdigit()):
                return None
        elif isinstance(stated, str) and (of_time or _ISO_DURATION.match(text)):
            return None if re.search(r"[^\W\d_]", text) else self._plain_amount(text, field, prop)
        return self._plain_amount(text, field, prop) if len(text) < _LONGEST_NUMBER else None

    def _plain_amount(self, text: str, field: Field, prop: str) -> float | None:
        named = field.prop.concept.kind if field.prop.concept else "text"
        amount = read_amount(text, "price" if "price" in prop.lower() else named, self.lang, exact=True)
        unset = amount == 0 and (named == "rating" or prop == "ratingValue")  # a scale begins at one
        return None if amount is None or unset else float(amount)

    def lacks_unit(self, raw: Json, field: Field) -> bool:
        """True for plain numbers where the field asks for a unit: which one they are in is not said."""
        if not field.prop.unit:
            return False
        return all(not isinstance(stated, Mapping) and states_no_unit(str(stated)) for stated in values_of(raw))

    def asks_unit(self, quantity: Mapping[str, Json], field: Field) -> bool:
        """True for a quantity whose unit is one that the field asks for, or another one of its kind."""
        unit = self.unit_of(quantity)
        return unit is not None and field.prop.unit_for(f"1 {unit}", self.lang) != ""

    @staticmethod
    def unit_of(node: Mapping[str, Json]) -> str | None:
        """The unit that a quantity states beside its value."""
        for name in ("unitText", "unitCode"):
            stated = values_of(property_of(node, name))
            if stated and isinstance(stated[0], str):
                return unit_named(stated[0]) or stated[0]
        return None

    def _address(self, value: Json, prop: str) -> str | None:
        principal = self._principal(value, "address") if isinstance(value, Mapping) else value
        text = principal.strip() if isinstance(principal, str) else ""
        if text.startswith(("data:", "javascript:", "#")) or " " in text or not _LINKED.match(text):
            return None
        if "ImageObject" in property_named(prop).ranges and is_no_picture(text, of=prop):
            return None
        return joined(self.base, html.unescape(text)) or None

    def _day(self, value: Json, field: Field) -> str | None:
        principal = self._principal(value, "text") if isinstance(value, Mapping) else value
        if principal is None:
            return None
        timed = field.prop.format == "date-time"
        return read_date(str(principal), self.lang, with_time=True) if timed else read_day(str(principal), self.lang)

    def _text(self, stated: Sequence[Json], field: Field, prop: str) -> Json:
        long = prop in ("articleBody", "text")
        texts = []
        for value in stated:
            principal = self._principal(value, "text")
            if principal is not None and not isinstance(principal, bool):
                texts.append(str(principal).strip() if long and "\n" in str(principal) else one_line(str(principal)))
        texts = list(dict.fromkeys(text for text in texts if folded(text)))
        ranges = property_named(prop).ranges
        members = [ENUMERATIONS[name] for name in ranges if ENUMERATIONS.get(name)]
        if members and not {"Text", "DefinedTerm"} & ranges:
            return next((member for text in texts for names in members for member in names if _is(member, text)), None)
        if prop in ("name", "headline"):
            texts = [text for text in texts if len(text) <= _LONGEST_NAME]
        if field.prop.enum:
            choices = {folded(str(member)): member for member in field.prop.enum}
            return next((choices[key] for text in texts if (key := folded(text)) in choices), None)
        if not texts:
            return None
        if {"Person", "Organization"} & ranges and len(texts) > 1 and all(len(text) < 60 for text in texts):
            return ", ".join(texts[:_MOST_PEOPLE])
        if "QuantitativeValue" in ranges:
            return next((text for text in texts if re.search(r"\d", text)), texts[0])
        return texts[0]

    def principal_text(self, value: Json) -> Json:
        """The text of a scalar, or of the property that says what a structure is; None without one."""
        return self._principal(value, "text")

    def _principal(self, value: Json, expected: Wanted) -> Json:
        """A scalar; of a structure, the property that says what it is."""
        if isinstance(value, Mapping):
            return self._principal_of(value, expected)
        if not isinstance(value, str):
            return value
        if expected == "text":
            joined = self.nodes.join(value)
            if isinstance(joined, Mapping):
                return self._principal_of(joined, expected)
            if member := _MEMBER.fullmatch(value.strip()):
                return member[1]
            if _ADDRESS.match(value.strip()):
                return None
        return None if value.strip().lower() in _NOTHING else plain_text(value)

    def _principal_of(self, node: Mapping[str, Json], expected: Wanted) -> Json:
        joined = self.nodes.join(node)
        node = joined if isinstance(joined, Mapping) else node
        if "@value" in node:
            return self._principal(node["@value"], expected)
        for name in _PRINCIPAL[expected]:
            stated = values_of(property_of(node, name))
            principal = self._principal(stated[0], expected) if stated and stated[0] is not node else None
            if principal in (None, ""):
                continue
            unit = property_of(node, "unitText") if name == "value" and expected == "text" else None
            return f"{principal} {one_line(str(unit))}" if unit else principal
        return None

    # --- lists of lines -------------------------------------------------------------------------------

    def lines(self, raw: Json) -> list[str]:
        """The lines of a structured list: steps with name and text, sections, item lists, or a text with line ends."""
        lines: list[str] = []
        for value in values_of(raw):
            if isinstance(value, Mapping):
                joined = self.nodes.join(value)
                lines += self._lines_of(joined if isinstance(joined, Mapping) else value)
            else:
                lines += [one_line(part) for part in plain_text(str(value)).split("\n")]
        return [line for line in lines if re.search(r"[^\W\d_]", line)]

    def _lines_of(self, node: Mapping[str, Json]) -> list[str]:
        if "ListItem" in types_of(node) and property_of(node, "item"):
            return self.lines(property_of(node, "item"))
        parts = property_of(node, "itemListElement") or property_of(node, "step")
        name, text = self._text_of(node, "name"), self._text_of(node, "text", keep_lines=True)
        lines = []
        only_a_place = bool(text or parts) and _PLACE_IN_LIST.fullmatch(name)
        if name and not _is_repetition(name, text) and not only_a_place:
            lines.append(name)
        lines += [one_line(part) for part in text.split("\n")]
        if parts:
            lines += self.lines(parts)
        if not (name or text or parts):
            principal = self._principal(node, "text")
            lines += [one_line(str(principal))] if principal else []
        return lines

    def _text_of(self, node: Mapping[str, Json], name: str, *, keep_lines: bool = False) -> str:
        stated = values_of(property_of(node, name))
        principal = self._principal(stated[0], "text") if stated else None
        return "" if principal is None else plain_text(str(principal)) if keep_lines else one_line(str(principal))


def _is_repetition(name: str, text: str) -> bool:
    short, long = folded(name.rstrip(".")), folded(text)
    return bool(long) and (long.startswith(short) or short.startswith(long))


def _is(member: str, text: str) -> bool:
    return folded(member) == re.sub(r"[^a-z]", "", folded(text))


def _boolean(stated: Json) -> bool | None:
    text = str(stated).lower()
    return True if text in _TRUE else False if text in _FALSE else None
