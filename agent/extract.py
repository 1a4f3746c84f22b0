"""One extraction decision: what was read, whether it fits the schema, and whether the page really says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from jsonschema import FormatChecker
from jsonschema.exceptions import ValidationError
from jsonschema.validators import Draft202012Validator, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from agent.spec import ExtractSpec
from agent.types import Record

Json = Any

# Only formats that jsonschema checks without optional packages: the verdict must not depend on what else is installed.
_FORMATS = FormatChecker(formats=("date", "email", "ipv4", "ipv6", "uuid"))
_SHOWN_VALUE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Problem:
    """One way in which records do not fit the schema."""

    index: int  # position of the record; -1 when the list as a whole is meant
    path: str  # place in the record: "price", "offers/0/price"; "" for the record itself
    message: str
    missing: bool = False  # a required field is absent, rather than wrong

    @property
    def field(self) -> str:
        """Name of the record's top-level field that is concerned, "" when none is."""
        return self.path.split("/", 1)[0]

    def __str__(self) -> str:
        where = "the list" if self.index < 0 else f"record {self.index}"
        return f"{where}, {self.path}: {self.message}" if self.path else f"{where}: {self.message}"


def validate_records(records: Sequence[Record], extract: ExtractSpec) -> list[Problem]:
    """What keeps `records` from being valid against the schema of `extract`; empty when nothing does.

    With a schema for an array the list is checked as a whole (`minItems`, `uniqueItems` and the like hold too).
    Without a schema everything is valid. A `$ref` that leads out of the schema is a problem, never a download.
    """
    if extract.json_schema is None:
        return []
    values = [record.value for record in records]
    if extract.many:
        return _problems(values, extract.json_schema, None)
    return [found for index, value in enumerate(values) for found in _problems(value, extract.json_schema, index)]


def _problems(value: Json, schema: dict[str, Json], index: int | None) -> list[Problem]:
    checker = validator_for(schema, default=Draft202012Validator)
    validator = checker(schema, format_checker=_FORMATS, registry=Registry())
    try:
        found = [problem for error in validator.iter_errors(value) for problem in _from_error(error, index)]
    except Unresolvable as err:
        return [Problem(-1 if index is None else index, "", f"the schema refers to something outside of it: {err}")]
    return list(dict.fromkeys(found))


def _from_error(error: ValidationError, index: int | None) -> Iterator[Problem]:
    path = [str(part) for part in error.absolute_path]
    if index is None:
        index = int(path.pop(0)) if path else -1
    wanted: Any = error.validator_value
    if error.validator == "required" and isinstance(wanted, list) and isinstance(error.instance, dict):
        # jsonschema reports each absent name by itself but says which one only in its message.
        for name in wanted:
            if name not in error.instance:
                yield Problem(index, "/".join([*path, name]), "is required and missing", missing=True)
        return
    yield Problem(index, "/".join(path), _short(error))


def _short(error: ValidationError) -> str:
    """The message, with a huge value in it cut: it is shown to people and fed back to models."""
    shown = repr(error.instance)
    if len(shown) <= _SHOWN_VALUE_CHARS:
        return error.message
    return error.message.replace(shown, shown[:_SHOWN_VALUE_CHARS] + " …")
