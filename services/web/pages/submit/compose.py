"""From the inputs of the form to the job that they spell out."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from fastapi import Request

from shoal.agent.support.json_value import Json
from shoal.services.errors import BadInput
from shoal.services.web.aside import aside
from shoal.services.web.http.body import read_body
from shoal.services.web.pages.submit.fields import KEY, PRESENT, SpecField, blank_form
from shoal.services.web.specs.specs import parse_json

_ENTRY = re.compile(r"\[(\d{1,6})\]")
_WHOLE = re.compile(r"[+-]?\d{1,30}")
_ABSENT = object()
_MOST_FIELDS, _LONGEST_NAME = 10_000, 300
"""Of a form. Names hold numbers of entries, and a long one of nothing else would be cut at each of them."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A job as a person has written it so far."""

    spec: Mapping[str, Json]
    faults: tuple[Mapping[str, str], ...] = ()  # {field, reason} of what is not even a value of its kind


class Inputs:
    """The texts of a form: one or several by name."""

    def __init__(self, pairs: Sequence[tuple[str, str]], size: int = 0) -> None:
        self.size = size  # bytes of the body
        self._texts: dict[str, list[str]] = {}
        for name, text in pairs:
            self._texts.setdefault(name, []).append(text)
        self._entries: dict[str, dict[int, None]] = {}
        for name in self._texts:
            for match in _ENTRY.finditer(name):
                self._entries.setdefault(name[: match.start()], {})[int(match[1])] = None

    @classmethod
    def of_body(cls, body: bytes) -> Inputs:
        """The inputs of a urlencoded body.

        Raises:
            BadInput: it is none.
        """
        if body.count(b"&") >= _MOST_FIELDS:
            raise BadInput(f"The form has more than {_MOST_FIELDS:,} fields, which is the most that is taken.")
        try:
            pairs = parse_qsl(body.decode(), keep_blank_values=True, errors="strict")
        except ValueError:
            raise BadInput("The form's body cannot be read: it is no urlencoded UTF-8 text.") from None
        if any(len(name) > _LONGEST_NAME for name, _ in pairs):
            raise BadInput(f"The form has a field whose name is longer than {_LONGEST_NAME} characters.")
        return cls(pairs, len(body))

    def one(self, name: str) -> str:
        """The text of an input; "" without it."""
        return self._texts.get(name, [""])[-1].replace("\r\n", "\n")

    def every(self, name: str) -> list[str]:
        """The texts of all inputs of this name."""
        return self._texts.get(name, [])

    def has(self, name: str) -> bool:
        """Return whether an input of this name was sent."""
        return name in self._texts

    def entries(self, path: str) -> list[int]:
        """The numbers of a map's entries, in order."""
        return sorted(self._entries.get(path, ()))


async def form_inputs(request: Request, limit: int) -> Inputs:
    """Return what a form sent, in a body of at most `limit` bytes.

    Raises:
        TooLarge, BadInput.
    """
    body = await read_body(request, limit)
    return await aside(len(body), Inputs.of_body, body)


def composed(inputs: Inputs) -> Draft:
    """The job that the form's inputs spell out. An empty input gives nothing."""
    composer = _Composer(inputs)
    spec = composer.group(blank_form(), "")
    return Draft(spec, tuple(composer.faults))


def once_key(key: str, body: bytes) -> str | None:
    """The idempotency key of a job that a form handed in: a second click is the same job. None without `key`."""
    return f"{key[:64]}-{hashlib.sha256(body).hexdigest()[:32]}" if key else None


def read_draft(text: str) -> Draft:
    """A job that was written as JSON.

    Raises:
        BadInput: it is no JSON object; with line and column.
    """
    spec = parse_json(text.encode())
    if not isinstance(spec, dict):
        raise BadInput("The job must be a JSON object.", errors=[{"field": "body", "reason": "must be an object"}])
    return Draft(spec)


@dataclass(slots=True)
class _Composer:
    inputs: Inputs
    faults: list[Mapping[str, str]] = field(default_factory=list)

    def group(self, fields: Sequence[SpecField], prefix: str) -> dict[str, Json]:
        """The properties that are given of an object at `prefix`."""
        given = {part.name: self.value(part, f"{prefix}{part.name}") for part in fields}
        return {name: value for name, value in given.items() if value is not _ABSENT}

    def value(self, form_field: SpecField, path: str) -> Json:
        """Return what is given for a field, or `_ABSENT`."""
        match form_field.kind:
            case "group":
                inner = self.group(form_field.fields, f"{path}.")
                return inner if inner or self.inputs.has(f"{path}.{PRESENT}") else _ABSENT
            case "map":
                return self.entries(form_field, path) or _ABSENT
            case "choices":
                chosen = [text for text in self.inputs.every(path) if text]
                return chosen or _ABSENT
        text = self.inputs.one(path)
        if not text.strip():
            return _ABSENT
        match form_field.kind:
            case "integer" | "number":
                return self.number(form_field, path, text.strip())
            case "flag":
                return self.flag(path, text.strip())
            case "json":
                return self.json(path, text)
            case "lines":
                return [self.line(path, n, line) for n, line in enumerate(_lines(text))] or _ABSENT
        return text.strip()

    def entries(self, form_field: SpecField, path: str) -> dict[str, Json]:
        """Return what is given of a map. An entry without a name is a fault, unless it is empty altogether."""
        entries: dict[str, Json] = {}
        for number in self.inputs.entries(path):
            here = f"{path}[{number}]"
            key = self.inputs.one(f"{here}.{KEY}").strip()
            value: Json = (
                self.group(form_field.fields, f"{here}.") if form_field.fields else self.inputs.one(here).strip()
            )
            if not key:
                if value:
                    self.fault(f"{here}.{KEY}", "needs a name")
                continue
            if key in entries:
                self.fault(f"{here}.{KEY}", f"{key!r} is there twice")
            entries[key] = value
        return entries

    def number(self, form_field: SpecField, path: str, text: str) -> Json:
        if _WHOLE.fullmatch(text):
            return int(text)
        try:
            value = float(text) if form_field.kind == "number" else None
        except ValueError:
            value = None
        if value is None or value != value or value in (float("inf"), float("-inf")):
            return self.fault(path, "must be a whole number" if form_field.kind == "integer" else "must be a number")
        return value

    def flag(self, path: str, text: str) -> Json:
        if text not in ("true", "false"):
            return self.fault(path, "must be true or false")
        return text == "true"

    def json(self, path: str, text: str) -> Json:
        try:
            return parse_json(text.encode())
        except BadInput as error:
            return self.fault(path, error.message.removeprefix("The body ").removesuffix("."))

    def line(self, path: str, number: int, text: str) -> Json:
        """One line of a list: a text that begins with a quotation mark is JSON."""
        if not text.startswith('"'):
            return text
        try:
            value = parse_json(text.encode())
        except BadInput:
            return text
        return value if isinstance(value, str) else self.fault(f"{path}[{number}]", "must be a text")

    def fault(self, path: str, reason: str) -> Json:
        self.faults.append({"field": path, "reason": reason})
        return _ABSENT


def _lines(text: str) -> list[str]:
    return [line for line in (line.strip() for line in text.split("\n")) if line]
