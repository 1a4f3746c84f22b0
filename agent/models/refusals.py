"""Faults of a reply that does not fit its schema, in words by which a model can mend it."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from difflib import get_close_matches

from shoal.agent.support.json_value import Json

_PLAIN_ID = re.compile(r"[A-Za-z]{0,3}\d{1,7}")
_SHOWN = 12
_SHOWN_CHARS = 80
_MOST_DEEP = 12
_KINDS = ("action_type", "name")
"""Fields by which an object says which of several shapes it has."""

Refusal = tuple[str, str]
"""Our own words, and words of the page or of the reply that go with them."""


def unknown_id(given: Json, ids: Sequence[str], disabled: Container[str] = ()) -> Refusal:
    """Return what to say of an id that takes no action:
    it is disabled, or no element has it and another one may be meant.
    """
    text = str(given)[:_SHOWN_CHARS]
    if text in disabled and _PLAIN_ID.fullmatch(text):
        return f"id {text} is disabled on this page: it takes no action now", ""
    near = _near(text, ids)
    if _PLAIN_ID.fullmatch(text) and (near is None or _PLAIN_ID.fullmatch(near)):
        return f"id {text} is not on this page" + (f"; did you mean {near}?" if near else ""), ""
    return "an id is not on this page", repr(text) + (f"; did you mean {near!r}?" if near else "")


def _near(text: str, ids: Sequence[str]) -> str | None:
    alike = get_close_matches(text, ids, n=1, cutoff=0.5)
    return alike[0] if alike else next((known for known in ids if text and known.endswith(text)), None)


def refusal(value: Json, schema: Mapping[str, Json], disabled: Container[str] = ()) -> Refusal | None:
    """The first thing that is wrong with `value`; None where this finds nothing, though it may not fit."""
    return _Explaining(schema, disabled).of(value, schema, "", 0)


class _Explaining:
    def __init__(self, root: Mapping[str, Json], disabled: Container[str]) -> None:
        self._definitions = root.get("$defs", {})
        self._disabled = disabled

    def of(self, value: Json, schema: Json, place: str, depth: int) -> Refusal | None:
        schema, name = self._resolved(schema)
        if not isinstance(schema, Mapping) or depth > _MOST_DEEP:
            return None
        if "anyOf" in schema:
            return self._of_choice(value, schema["anyOf"], place, depth)
        if "enum" in schema:
            return self._of_enum(value, schema["enum"], place, name)
        if isinstance(value, dict) and "properties" in schema:
            return self._of_object(value, schema, place, depth)
        if isinstance(value, list) and "items" in schema:
            parts = (self.of(part, schema["items"], f"{place}[{n}]", depth + 1) for n, part in enumerate(value))
            return next(filter(None, parts), None)
        return _of_type(value, schema.get("type"), place)

    def _resolved(self, schema: Json) -> tuple[Json, str]:
        reference = schema.get("$ref") if isinstance(schema, Mapping) else None
        if not isinstance(reference, str):
            return schema, ""
        name = reference.rpartition("/")[2]
        return self._definitions.get(name), name

    def _of_choice(self, value: Json, options: Sequence[Json], place: str, depth: int) -> Refusal | None:
        shapes = [shape for shape in (self._resolved(option)[0] for option in options) if isinstance(shape, Mapping)]
        if isinstance(value, dict):
            for field in _KINDS:
                kinds = {kind: shape for shape in shapes for kind in _kinds(shape, field)}
                if kinds and value.get(field) in kinds:
                    return self.of(value, kinds[value[field]], place, depth + 1)
                if kinds:
                    there = ", ".join(kinds)
                    value_text = repr(value.get(field))[:_SHOWN_CHARS]
                    return f"{_named(place, field)} is none of those that are possible here: {there}", value_text
        if value is None and any(shape.get("type") == "null" for shape in shapes):
            return None
        own = [shape for shape in shapes if shape.get("type") != "null"]
        fitting = [shape for shape in own if _of_type(value, shape.get("type"), place) is None]
        chosen = fitting or own
        return self.of(value, chosen[0], place, depth + 1) if len(chosen) == 1 else None

    def _of_enum(self, value: Json, known: Sequence[Json], place: str, name: str) -> Refusal | None:
        if value in known:
            return None
        if name == "id":
            return unknown_id(value, [str(possible) for possible in known], self._disabled)
        there = ", ".join(str(possible) for possible in known[:_SHOWN])
        return f"{place or 'it'} is none of its possible values", f"{str(value)[:_SHOWN_CHARS]!r}; there are {there}"

    def _of_object(self, value: dict[str, Json], schema: Mapping[str, Json], place: str, depth: int) -> Refusal | None:
        parts = schema["properties"]
        missing = [name for name in schema.get("required", ()) if name not in value]
        if missing:
            return f"{_named(place, missing[0])} is missing", ""
        if schema.get("additionalProperties") is False and (unknown := [name for name in value if name not in parts]):
            return f"{place or 'it'} has a field that is not possible there", repr(unknown[0][:_SHOWN_CHARS])
        refusals = (
            self.of(part, parts[name], _named(place, name), depth + 1) for name, part in value.items() if name in parts
        )
        return next(filter(None, refusals), None)


def _kinds(shape: Mapping[str, Json], field: str) -> Sequence[str]:
    part = shape.get("properties", {}).get(field, {})
    return part.get("enum", ()) if len(part.get("enum", ())) == 1 else ()


def _named(place: str, field: str) -> str:
    return f"{place}.{field}" if place else field


_TYPES: Mapping[str, tuple[type, ...]] = {
    **{"string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float), "array": (list,)},
    **{"object": (dict,), "null": (type(None),)},
}


def _of_type(value: Json, kinds: Json, place: str) -> Refusal | None:
    names = [kinds] if isinstance(kinds, str) else kinds
    if not isinstance(names, list):
        return None
    for name in names:
        if isinstance(value, bool) and name != "boolean":
            continue
        if isinstance(value, _TYPES.get(name, (object,))):
            return None
    return f"{place or 'it'} has to be of type {' or '.join(names)}", ""
