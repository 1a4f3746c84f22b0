"""The engine that holds values to schemas: compiled by rules that no schema can get around.

Only the standard library and `jsonschema_rs` are imported here: the process of `child` has to start fast.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import islice

import jsonschema_rs
from jsonschema_rs import RegexOptions, ValidationError, ValidationErrorKind, Validator

from shoal.agent.support.json_value import Json

PATTERN_BYTES = 1 << 20
"""Largest compiled pattern. `^.{1,255}$` needs this much, since a character may be any of Unicode's."""
_STATES_BYTES = 1 << 18
_MASK = "\0"
"""The character that the engine writes in place of a value. A schema with U+0000 is refused."""
_SHOWN_CHARS = 80
_MESSAGE_CHARS = 300
_MOST_DEEP = 3
"""Choices inside of choices that are followed to find the fault that is meant."""


def _is_date(text: str) -> bool:
    try:
        return len(text) == 10 and bool(date.fromisoformat(text))
    except ValueError:
        return False


# Checked are the five formats that need no judgement. The engine knows stricter ideas of the others than pages do.
_UNCHECKED = (
    *("date-time", "time", "duration", "regex", "hostname", "idn-hostname", "idn-email", "uri", "uri-reference", "iri"),
    *("iri-reference", "uri-template", "json-pointer", "relative-json-pointer"),
)
_FORMATS: dict[str, Callable[..., bool]] = {
    **dict.fromkeys(_UNCHECKED, lambda text: True),
    "date": _is_date,
    "email": lambda text: "@" in text,
}


class SchemaUnusable(ValueError):
    """The engine cannot work with the schema; the message says why."""


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """One way in which a value does not fit a schema."""

    path: tuple[str | int, ...]  # names and positions in the value
    keyword: str  # of the schema
    message: str
    missing: str = ""  # the name of a required field that is absent


def options(size: int = PATTERN_BYTES) -> RegexOptions:
    """Patterns by an engine whose time is linear in the text: no look-around, no back references."""
    return RegexOptions(size_limit=size, dfa_size_limit=_STATES_BYTES)


def compiled(schema: Mapping[str, Json]) -> Validator:
    """A schema ready for checks. References lead nowhere outside of it.

    Raises:
        SchemaUnusable: it is no schema, or holds what the engine does not know.
    """
    try:
        return jsonschema_rs.validator_for(
            dict(schema),
            pattern_options=options(),
            offline=True,
            formats=_FORMATS,
            validate_formats=True,
            mask=_MASK,
        )
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise SchemaUnusable(_unusable(error)) from None


def _unusable(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return "is nested too deeply" if "Recursion" in str(error) else str(error)[:_MESSAGE_CHARS]
    place = "/".join(map(str, error.instance_path))
    if error.kind.name == "format" and isinstance(error.instance, str):
        return (
            f"has a pattern at {place} that is not known: {format_value(error.instance)}; "
            "patterns are matched in linear time, without look-around, back references and very long repetitions"
        )
    return f"is not a valid JSON Schema at {place or 'the top'}: {_message(error)}"


def meta_fault(schema: Mapping[str, Json]) -> str | None:
    """Why `schema` is no JSON Schema at all; None when it is one. Says nothing of what it costs."""
    if not isinstance(schema.get("$schema", ""), str):
        return "is not a valid JSON Schema at $schema: it must be a string"
    try:
        jsonschema_rs.meta.validate({name: part for name, part in schema.items() if name != "$schema"})
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        return _unusable(error)
    return None


def fits(validator: Validator, value: Json) -> bool:
    """Return whether `value` fits."""
    try:
        return validator.is_valid(value)
    except UnicodeEncodeError:
        return validator.is_valid(_without_halves(value))


def faults(validator: Validator, value: Json, most: int) -> list[SchemaFault]:
    """The first `most` faults of `value`. Costs time and memory for each fault there is, told or not."""
    try:
        errors = validator.iter_errors(value)
    except UnicodeEncodeError:
        errors = validator.iter_errors(_without_halves(value))
    return list(islice(map(_fault, errors), most))


def _fault(error: ValidationError) -> SchemaFault:
    error = _main_fault(error)
    missing = str(error.kind.property) if isinstance(error.kind, ValidationErrorKind.Required) else ""
    return SchemaFault(tuple(error.instance_path), error.kind.name, _message(error), missing)


def _main_fault(error: ValidationError) -> ValidationError:
    """The fault inside of a choice that says what is wrong: that of the option of which most was right."""
    for _ in range(_MOST_DEEP):
        options_: list[list[ValidationError]] = getattr(error.kind, "context", None) or []
        firsts = [min(option, key=_depth) for option in options_ if option]
        firsts.sort(key=_depth, reverse=True)
        if not firsts or (len(firsts) > 1 and _depth(firsts[0]) == _depth(firsts[1])):
            break
        error = firsts[0]
    return error


def _depth(error: ValidationError) -> int:
    return len(error.instance_path)


def _message(error: ValidationError) -> str:
    text = error.message.replace(_MASK, format_value(error.instance)) if _MASK in error.message else error.message
    return text if len(text) <= _MESSAGE_CHARS else text[:_MESSAGE_CHARS] + " …"


def format_value(value: Json) -> str:
    """A value as messages show it, cut where it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + " …"


def _without_halves(value: Json) -> Json:
    """`value` with U+FFFD for halves of surrogate pairs, which the engine cannot read."""
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
