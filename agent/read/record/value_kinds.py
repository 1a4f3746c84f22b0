"""Kinds of values by how often witnesses err about them, and how sure each may be: measured, not judged.

`sureness.json` holds what the bench counted on real pages (load-tests/bench/web.py --calibrate): by what bore a value
out and by its kind, how many were right and wrong.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

from shoal.agent.read.field import Field
from shoal.agent.read.shown.choosing import FieldAnswer
from shoal.agent.read.values.codes import has_check_digit
from shoal.agent.read.vocabulary import ENUMERATIONS, property_named
from shoal.agent.support.json_value import Json
from shoal.agent.sureness import Sureness
from shoal.agent.types import Reason

MEASURED = Path(__file__).parent / "sureness.json"
CODES = frozenset({"sku", "mpn", "productID", "identifier"})
"""Properties of codes without a check digit."""
_CODE = re.compile(r"(?=[^\d]{0,40}\d)(?:\S{1,40}|[^a-zß-öø-ÿ]{1,40})")
"""The form of a code: figures and no space, or figures and no small letter."""
_TITLES = frozenset({"name", "headline"})
_LONG_TEXTS = frozenset({"articleBody", "text", "description"})
_NAMES = frozenset({"Person", "Organization", "Brand"})
_MOST_WRONG = 0.003
"""Share of wrong values among those that are called certain."""
_ENOUGH = 50
"""Values that were counted, from which a kind may be certain."""
_TWO_WITNESSES = frozenset({Reason.AGREED, Reason.BORNE_OUT})


class ValueKind(StrEnum):
    """Kinds of values whose readers err alike."""

    TITLE = "title"
    NAME = "person, maker"
    LIST = "list"
    CODE = "code"
    CHECKED_CODE = "code with a check digit"
    DAY = "day"
    LONG_TEXT = "long text"
    ADDRESS = "address"
    NUMBER = "number"
    CHOICE = "yes, no, one of several"
    TEXT = "other text"


class Count(NamedTuple):
    """One line of what was measured."""

    witness: str  # as a source's `how` tells it
    reason: str  # a `Reason`
    kind: str  # a `ValueKind`
    right: int
    wrong: int


def kind_of(asked: Field, prop: str, value: Json) -> ValueKind:
    """The kind of a value that is read as this schema.org property; a code also by its form."""
    described = property_named(prop)
    match asked.kind:
        case "list":
            return ValueKind.LIST
        case "address":
            return ValueKind.ADDRESS
        case "day":
            return ValueKind.DAY
        case "number" | "integer":
            return ValueKind.NUMBER
        case "boolean":
            return ValueKind.CHOICE
    if prop.startswith(("gtin", "isbn")) and has_check_digit(str(value)):
        return ValueKind.CHECKED_CODE
    if prop in CODES or prop.startswith(("gtin", "isbn")):
        return ValueKind.CODE
    if prop in _TITLES:
        return ValueKind.TITLE
    if prop in _LONG_TEXTS:
        return ValueKind.LONG_TEXT
    if described.ranges & _NAMES:
        return ValueKind.NAME
    choice = asked.prop.enum or any(ENUMERATIONS.get(name) for name in described.ranges)
    if choice:
        return ValueKind.CHOICE
    return ValueKind.CODE if _CODE.fullmatch(str(value).strip()) else ValueKind.TEXT


@cache
def measured() -> tuple[Count, ...]:
    """Return what was counted."""
    return tuple(Count(*row) for row in json.loads(MEASURED.read_text(encoding="utf-8")))


@cache
def most_sure() -> Mapping[ValueKind, Sureness]:
    """As sure as each kind of value may be that two kinds of witnesses state."""
    right, wrong = Counter[str](), Counter[str]()
    for count in measured():
        if count.reason in _TWO_WITNESSES:
            right[count.kind] += count.right
            wrong[count.kind] += count.wrong
    return {
        kind: "certain"
        if right[kind] >= _ENOUGH and wrong[kind] <= _MOST_WRONG * (right[kind] + wrong[kind])
        else "likely"
        for kind in ValueKind
    }


def limit_sureness(answer: FieldAnswer, asked: Field, prop: str) -> FieldAnswer:
    """An answer that is no surer than its kind of value may be."""
    if answer.source is None or answer.source.sureness != "certain":
        return answer
    if most_sure()[kind_of(asked, prop, answer.value)] == "certain":
        return answer
    return replace(answer, source=replace(answer.source, sureness="likely"))


def summary() -> str:
    """The table of what was measured, as the documentation shows it."""
    cells: defaultdict[tuple[str, bool], list[int]] = defaultdict(lambda: [0, 0])
    for count in measured():
        for at, number in enumerate((count.right, count.wrong)):
            cells[count.kind, count.reason in _TWO_WITNESSES][at] += number
    rows = [
        f"| {kind} | {_share(*cells[kind, True])} | {_share(*cells[kind, False])} | {most_sure()[kind]} |"
        for kind in ValueKind
    ]
    head = "| kind of value | two witnesses: right, wrong | else: right, wrong | at most |"
    return "\n".join([head, "| --- | ---: | ---: | --- |", *rows])


def _share(right: int, wrong: int) -> str:
    return f"{right}, {wrong}"
