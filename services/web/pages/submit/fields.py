"""The form of a job: a field for each property of the spec's own JSON Schema, with what a draft gives for it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.services.web.specs.browser_checks import NOT_YET_FIELDS

Kind = Literal["text", "words", "integer", "number", "flag", "choice", "choices", "lines", "json", "group", "map"]
KEY, PRESENT = "#key", "#present"
"""Names of inputs that are no field: the name of an entry of a map, and the mark of a group that is given and empty."""
_WORDS = frozenset({"goal", "extract.goal", "complete_criterion", "help.webhook"})
_LEVELS = 2
"""Loops within loops that have fields of their own; a deeper one is written as JSON."""
_UNITS = {"_s": "seconds", "_days": "days"}


@dataclass(frozen=True, slots=True)
class SpecField:
    """One property of the spec, as the form shows it."""

    path: str  # where it lies in the spec: `loop.from.select`; an entry of a map has a number: `labels[0]`
    name: str  # the last part of it
    kind: Kind
    help: str = ""
    required: bool = False
    optional: bool = False  # of a group: the spec may be without it
    available: bool = True  # False: the gateway refuses it
    default: str = ""  # what holds where nothing is given, as text
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    fields: tuple[SpecField, ...] = ()  # of a group, or of one entry of a map of objects
    value: str = ""  # what is given, as the input holds it
    chosen: tuple[str, ...] = ()  # of `choices`: what is given
    present: bool = False  # of a group or a map: something is given
    entries: tuple[SpecField, ...] = ()  # of a map: a group for each name that is given, its first field the name

    @property
    def label(self) -> str:
        """The name in words, with its unit."""
        for ending, unit in _UNITS.items():
            if self.name.endswith(ending):
                return f"{self.name.removesuffix(ending).replace('_', ' ')} ({unit})"
        return self.name.replace("_", " ")

    @property
    def blank(self) -> SpecField:
        """One more entry of a map, with nothing in it; scripts put its number in the place of `NEW`."""
        return _entry(self, "NEW", "", None)


@lru_cache(maxsize=1)
def spec_schema() -> Mapping[str, Json]:
    """The JSON Schema of a job, as the API publishes it."""
    return JobSpec.model_json_schema(by_alias=True)


@lru_cache(maxsize=1)
def blank_form() -> tuple[SpecField, ...]:
    """The form without anything in it."""
    return tuple(_properties(spec_schema(), "", 0))


def filled_form(spec: Mapping[str, Json]) -> tuple[SpecField, ...]:
    """The form with what `spec` gives. What has no field is left out: see `strangers`."""
    return tuple(_filled(field, spec.get(field.name)) for field in blank_form())


def strangers(spec: Mapping[str, Json]) -> list[str]:
    """Paths of `spec` that the form has no field for."""
    return list(_strangers(blank_form(), spec, ""))


def _strangers(fields: Sequence[SpecField], value: Mapping[str, Json], prefix: str) -> Iterator[str]:
    known = {field.name: field for field in fields}
    for name, part in value.items():
        field = known.get(name)
        if field is None:
            yield prefix + name
        elif field.kind == "group" and isinstance(part, Mapping):
            yield from _strangers(field.fields, part, f"{prefix}{name}.")
        elif field.kind == "map" and field.fields and isinstance(part, Mapping):
            for key, entry in part.items():
                if isinstance(entry, Mapping):
                    yield from _strangers(field.fields, entry, f"{prefix}{name}.{key}.")


# --- from the schema ----------------------------------------------------------------------------------


def _properties(schema: Mapping[str, Json], prefix: str, depth: int) -> Iterator[SpecField]:
    required = schema.get("required", ())
    for name, part in schema["properties"].items():
        yield _field(f"{prefix}{name}", name, part, name in required, depth)


def _field(path: str, name: str, part: Mapping[str, Json], required: bool, depth: int) -> SpecField:
    variants = [variant for variant in part.get("anyOf", [part]) if variant.get("type") != "null"]
    resolved = _resolved(variants[0])
    field = SpecField(
        path=path,
        name=name,
        kind="text",
        help=part.get("description") or resolved.get("description", ""),
        required=required,
        optional="anyOf" in part,
        available=path not in NOT_YET_FIELDS,
        default=_default(part.get("default")),
        minimum=resolved.get("minimum"),
        maximum=resolved.get("maximum"),
    )
    nested = depth + (name == "loop")
    match resolved.get("type"):
        case "object" if "properties" in resolved and nested <= _LEVELS:
            return replace(field, kind="group", default="", fields=tuple(_properties(resolved, f"{path}.", nested)))
        case "object" if isinstance(resolved.get("additionalProperties"), Mapping):
            entry = _resolved(resolved["additionalProperties"])
            inner = tuple(_properties(entry, "", depth)) if "properties" in entry else ()
            return replace(field, kind="map", default="", fields=inner)
        case "array":
            items = _resolved(resolved["items"])
            if items.get("type") != "string":  # a line holds a text only
                about = "; ".join(filter(None, (field.help, items.get("description", ""))))
                return replace(field, kind="json", help=about)
            choices = tuple(items.get("enum", ()))
            return replace(field, kind="choices" if choices else "lines", choices=choices)
        case "string" if "enum" in resolved:
            return replace(field, kind="choice", choices=tuple(resolved["enum"]))
        case "string":
            return replace(field, kind="words" if path in _WORDS else "text")
        case "boolean":
            return replace(field, kind="flag", default={"true": "yes", "false": "no"}.get(field.default, ""))
        case "integer":
            return replace(field, kind="integer")
        case "number":
            return replace(field, kind="number")
        case _:
            return replace(field, kind="json")


def _resolved(part: Mapping[str, Json]) -> Mapping[str, Json]:
    reference = part.get("$ref")
    resolved: Mapping[str, Json] = spec_schema()["$defs"][reference.rpartition("/")[2]] if reference else part
    return resolved


def _default(value: Json) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None or isinstance(value, dict) else value if isinstance(value, str) else json.dumps(value)


# --- with what is given -------------------------------------------------------------------------------


def _filled(field: SpecField, value: Json) -> SpecField:
    if value is None:
        return field
    match field.kind:
        case "group" if isinstance(value, Mapping):
            inner = tuple(_filled(part, value.get(part.name)) for part in field.fields)
            return replace(field, present=True, fields=inner)
        case "map" if isinstance(value, Mapping):
            entries = tuple(_entry(field, str(n), key, entry) for n, (key, entry) in enumerate(value.items()))
            return replace(field, present=bool(entries), entries=entries)
        case "choices" if isinstance(value, list | tuple):
            return replace(field, chosen=tuple(map(str, value)))
        case "lines" if isinstance(value, list | tuple):
            return replace(field, value="\n".join(map(as_line, value)))
        case "json":
            return replace(field, value=json.dumps(value, indent=2, ensure_ascii=False))
        case _:
            return replace(field, value=_text(value))


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def as_line(value: Json) -> str:
    """One value of a list as a line. A text that a line cannot hold as it is, is written as JSON."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    plain = value == value.strip() and value and not value.startswith('"') and len(value.splitlines()) == 1
    return value if plain else json.dumps(value, ensure_ascii=False)


def _entry(field: SpecField, number: str, key: str, value: Json) -> SpecField:
    """The group of one entry of a map: its name, and its value or the fields of its value."""
    path = f"{field.path}[{number}]"
    name = SpecField(f"{path}.{KEY}", "name", "text", value=key)
    if not field.fields:
        text = "" if value is None else _text(value)
        return SpecField(path, number, "group", fields=(name, SpecField(path, "value", "text", value=text)))
    placed = tuple(_placed(part, f"{path}.") for part in field.fields)
    given = value if isinstance(value, Mapping) else {}
    return SpecField(
        path, number, "group", fields=(name, *(_filled(part, given.get(part.name)) for part in placed)), present=True
    )


def _placed(field: SpecField, prefix: str) -> SpecField:
    path = f"{prefix}{field.name}"
    return replace(field, path=path, fields=tuple(_placed(part, f"{path}.") for part in field.fields))
