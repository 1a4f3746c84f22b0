"""One answer: the shape of the reply that a model gives it in, and whether what was seen bears it out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from typing import Literal, get_args

from shoal.agent.models.reply import ReplyProblem
from shoal.agent.read.grounding.session_pages import SessionPages
from shoal.agent.read.grounding.written_values import dates_in, numbers_in
from shoal.agent.support.json_value import Json
from shoal.agent.types import Basis, Computation, Quotation, Record

Operation = Literal[
    "sum", "average", "count", "minimum", "maximum", "difference", "product", "quotient", "percentage", "comparison"
]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)

_SAID_CHARS = 300
_RESULTS: dict[str, Callable[[Sequence[float]], float]] = {
    "sum": math.fsum,
    "average": lambda values: math.fsum(values) / len(values),
    "minimum": min,
    "maximum": max,
    "difference": lambda values: values[0] - values[1],
    "product": math.prod,
    "quotient": lambda values: values[0] / values[1],
    "percentage": lambda values: 100 * values[0] / values[1],
}
_OF_TWO = frozenset({"difference", "quotient", "percentage", "comparison"})


def answer_schema() -> dict[str, Json]:
    """The JSON Schema of an answer."""
    text: Json = {"type": "string"}
    value: Json = {"anyOf": [{"type": "number"}, text]}
    computed = {
        "type": "object",
        "additionalProperties": False,
        "required": ["operation", "values", "result"],
        "properties": {
            "operation": {"type": "string", "enum": list(OPERATIONS)},
            "values": {"type": "array", "items": value, "minItems": 1},
            "result": value,
        },
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["text"],
        "properties": {
            "text": text,
            "quotes": {"type": "array", "items": text},
            "records": {"type": "array", "items": {"type": "integer", "minimum": 1}},
            "computed": {"anyOf": [{"type": "null"}, computed]},
        },
    }


def basis_of(reply: Json, pages: SessionPages, records: Sequence[Record], given: str) -> Basis:
    """Return what an answer rests on,
    each part of it looked up.

    Args:
        reply: held to `answer_schema`.
        pages: what the session has seen.
        records: what it has read; an answer counts them from 1.
        given: the job's own words: what they say need not be proven.

    Raises:
        ReplyProblem: a quotation stands on no page, a record is none, the arithmetic is wrong, or the answer has
            figures that nothing bears out, or rests on nothing.
    """
    if not reply["text"].strip():
        raise ReplyProblem("the answer says nothing")
    known = _KnownGrounds(pages, records, given)
    quotations = tuple(known.quotation(words) for words in reply.get("quotes") or ())
    numbers = tuple(dict.fromkeys(reply.get("records") or ()))
    if any(number > len(records) for number in numbers):
        raise ReplyProblem(f"the answer rests on records that were not read: there are {len(records)}")
    computed = _computed(reply["computed"], known) if reply.get("computed") else None
    if not quotations and not numbers and computed is None:
        raise ReplyProblem("an answer needs what it rests on: quotations of a page, records, or a computation")
    unproven = list(known.unproven(reply["text"], computed))
    if unproven:
        raise ReplyProblem(
            "no page, record or computation gives these figures of the answer: quote them, or give them as computed",
            "; ".join(unproven)[:_SAID_CHARS],
        )
    return Basis(quotations, tuple(number - 1 for number in numbers), computed)


def basis_of_words(text: str, pages: SessionPages, records: Sequence[Record], given: str) -> Basis:
    """Return what an answer in words alone rests on,
    as far as it can be looked up.

    Raises:
        ReplyProblem: it has figures that no page and no record gives.
    """
    known = _KnownGrounds(pages, records, given)
    unproven = list(known.unproven(text, None))
    if unproven:
        raise ReplyProblem("no page that was seen gives these figures of the answer", "; ".join(unproven)[:_SAID_CHARS])
    whole = pages.find(text)
    if whole is not None:
        return Basis((Quotation(text, whole.url, whole.where),))
    spans = [
        *((day.start, day.end) for day in dates_in(text)),
        *((number.start, number.end) for number in numbers_in(text)),
    ]
    figures = dict.fromkeys(text[start:end] for start, end in spans)
    placed = [(figure, pages.find(figure)) for figure in figures]
    return Basis(tuple(Quotation(figure, place.url, place.where) for figure, place in placed if place is not None))


class _KnownGrounds:
    """The grounds that an answer may rest on."""

    def __init__(self, pages: SessionPages, records: Sequence[Record], given: str) -> None:
        self._pages = pages
        self._records = [text for record in records for text in _texts(record.value)]
        self._given = given

    def quotation(self, words: str) -> Quotation:
        place = self._pages.find(words.strip().strip('"“”„«»'))
        if place is None:
            raise ReplyProblem("no page of this session says what the answer quotes", repr(words[:_SAID_CHARS]))
        return Quotation(words, place.url, place.where)

    def has(self, value: Json) -> bool:
        if self._pages.find(value) is not None:
            return True
        if isinstance(value, str) and value.casefold() in (text.casefold() for text in self._records):
            return True
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return False
        numbers = {float(value)} if not isinstance(value, str) else set(_readings(value))
        return bool(numbers & set(_readings(" ; ".join([*self._records, self._given]))))

    def unproven(self, text: str, computed: Computation | None) -> Iterator[str]:
        """The figures of `text` that nothing gives."""
        # A computed result may be told with a sign, a unit, or rounded to fewer digits than it was given with.
        results: set[float] = set()
        if computed is not None:
            results = {
                *_readings(" ; ".join(map(str, (computed.result, *computed.values)))),
                float(len(computed.values)),
            }
        days = list(dates_in(text))
        given = self._days() if days else set()
        for stated_day in days:
            if not stated_day.readings & given:
                yield text[stated_day.start : stated_day.end]
        for number in numbers_in(text):
            if any(day.start <= number.start < day.end for day in days):
                continue
            written = text[number.start : number.end]
            if not (number.readings & results) and not self.has(written):
                yield written

    def _days(self) -> set[date]:
        texts = (*self._pages.texts, *self._records, self._given)
        return {day for text in texts for written in dates_in(text) for day in written.readings}


def _computed(computation: Json, known: _KnownGrounds) -> Computation:
    operation, values, result = computation["operation"], tuple(computation["values"]), computation["result"]
    missing = [str(value) for value in values if not known.has(value)]
    if missing:
        raise ReplyProblem("no page and no record gives these values of `computed`", "; ".join(missing)[:_SAID_CHARS])
    if operation in _OF_TWO and len(values) != 2:
        raise ReplyProblem(f"a {operation} is of two values")
    if operation == "count":
        right: float | str = float(len(values))
    elif operation == "comparison":
        right = _compared(values)
    else:
        try:
            right = _RESULTS[operation]([_number(value) for value in values])
        except ZeroDivisionError:
            raise ReplyProblem(f"the {operation} divides by 0") from None
    if not _same(result, right):
        made = f"{right:g}" if isinstance(right, float) else right
        raise ReplyProblem(f"the {operation} of the given values is not the given result; code makes it", made)
    return Computation(operation, values, result)


def _compared(values: Sequence[Json]) -> str:
    a, b = _ordered(values[0]), _ordered(values[1])
    if type(a) is not type(b):
        raise ReplyProblem("a comparison is of two numbers or of two dates")
    return "equal" if a == b else "greater" if a > b else "less"


def _ordered(value: Json) -> float:
    days = [day for written in dates_in(value) for day in written.readings] if isinstance(value, str) else []
    return float(min(days).toordinal()) if days else _number(value)


def _number(value: Json) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    numbers = list(numbers_in(str(value)))
    if len(numbers) != 1 or len(numbers[0].readings) != 1:
        raise ReplyProblem("a value of `computed` is no plain number: give it as a JSON number", repr(str(value)[:80]))
    return float(next(iter(numbers[0].readings)))


def _same(result: Json, right: float | str) -> bool:
    """Return whether a stated result is the right one, rounded to the digits that it states."""
    if isinstance(right, str):
        return str(result).strip().casefold() == right
    try:
        stated = float(result)
    except (TypeError, ValueError):
        return any(_same(reading, right) for reading in _readings(str(result)))
    _, _, decimals = repr(stated).partition(".")
    digits = 0 if decimals in ("", "0") else len(decimals)
    exact = right == int(right)
    slack = 1e-9 if exact and digits == 0 else 0.5 * 10**-digits + 1e-9
    return abs(stated - right) <= slack


def _readings(text: str) -> Iterator[float]:
    for number in numbers_in(text):
        yield from number.readings


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)
    elif value is not None:
        yield str(value)
