"""The inputs of a run of a workflow: one for each part of its details, read from a form or a file. Pure."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.param import Param
from shoal.agent.workflows.format.version import Version
from shoal.services.errors import BadInput
from shoal.services.web.pages.submit.loop_values import TableFile
from shoal.services.web.specs.specs import parse_json

Fault = dict[str, str]
_STEP = re.compile(r"""\.([A-Za-z_][\w-]{0,99})|\[(\d{1,4})\]|\[("(?:[^"\\]|\\.){1,100}"|'[^'\\]{1,100}')\]""")
_MOST_FAULTS = 20
"""Faults of a file of which each is told."""
_ALIKE = 0.8
_TYPES: Mapping[str, tuple[type, ...]] = {
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_CALLED = {
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a JSON list",
    "object": "a JSON object",
}


@dataclass(frozen=True, slots=True)
class RunInput:
    """One part of the details of a run."""

    name: str  # by which people know it
    place: tuple[str | int, ...]  # in the details; () where it is all of them
    type: str
    description: str
    same: bool  # every run that was learned from had the same value, so another one is a miss

    @property
    def type_text(self) -> str:
        """Its type in words."""
        return _CALLED.get(self.type, "a text")

    def read(self, value: Json, *, may_be_empty: bool) -> Json:
        """The value that `value`, a text or a part of JSON, spells out.

        Raises:
            ValueError: it is none of this type; the message says why.
        """
        text = value if isinstance(value, str) else None
        if value is None or (text is not None and not text.strip()):
            if may_be_empty and self.type == "string":
                return ""
            raise ValueError("is empty")
        if self.type == "string":
            return text.strip() if text is not None else json.dumps(value, ensure_ascii=False)
        if text is not None:
            try:
                value = parse_json((text.lower() if self.type == "boolean" else text).encode())
            except BadInput:
                raise ValueError(f"is not {self.type_text}") from None
        if not isinstance(value, _TYPES[self.type]) or (isinstance(value, bool) and self.type != "boolean"):
            raise ValueError(f"is not {self.type_text}")
        return value


@dataclass(frozen=True, slots=True)
class RunInputs:
    """All that a run of a version is given."""

    fields: tuple[RunInput, ...]
    secrets: tuple[str, ...]  # names of stored secrets
    codes: bool  # it types one-time codes
    of_item: bool = False  # some are read from the item of a loop, so that one run is a loop of one item
    unsaid: str = ""  # why a form cannot give the details; "" where it can


def run_inputs(version: Version) -> RunInputs:
    """The inputs of a version, from its parameters: those with the same place are one."""
    fields: dict[tuple[str | int, ...], RunInput] = {}
    unsaid = ""
    for param in version.params:
        if param.source not in ("data", "loop"):
            continue
        place = _place(param.path)
        if place is None:
            unsaid = f"the parameter {param.name!r} is read from {param.path}, which is no single place"
        elif place not in fields:
            fields[place] = _input(param, place)
    for place, each in fields.items():
        if any(other[: len(place)] == place for other in fields if other != place):
            unsaid = f"another parameter is read from a part of what the parameter {each.name!r} is"
    secrets = dict.fromkeys(param.path for param in version.params if param.source == "secret")
    codes = any(param.source == "otp" for param in version.params)
    of_item = any(param.source == "loop" for param in version.params)
    return RunInputs(tuple(fields.values()), tuple(secrets), codes, of_item, unsaid)


def _input(param: Param, place: tuple[str | int, ...]) -> RunInput:
    return RunInput(param.name, place, param.type, param.description, bool(param.known))


def _place(path: str) -> tuple[str | int, ...] | None:
    """The names and numbers of a JSONPath that leads to one place; None for any other."""
    rest = path.removeprefix("$")
    if rest and rest == path:
        return None
    steps: list[str | int] = []
    while rest:
        step = _STEP.match(rest)
        if step is None:
            return None
        name, number, quoted = step.groups()
        if quoted is not None:
            name = json.loads(quoted) if quoted[0] == '"' else quoted[1:-1]
        steps.append(int(number) if number is not None else name)
        rest = rest[step.end() :]
    return tuple(steps)


def matched(inputs: RunInputs, columns: Sequence[str]) -> dict[str, str]:
    """The column of a file that each input is called like, by the input's name; "" where none is."""
    free = {_plain(column): column for column in columns}
    chosen: dict[str, str] = {}
    for alike in (1.0, _ALIKE):
        for each in inputs.fields:
            if chosen.get(each.name):
                continue
            last = str(each.place[-1]) if each.place else ""
            names = [plain for label in (each.name, last, each.description) if (plain := _plain(label))]
            close = (difflib.get_close_matches(name, free, 1, alike) for name in names)
            match = next((alikes[0] for alikes in close if alikes), None)
            chosen[each.name] = free.pop(match) if match is not None else ""
    return chosen


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def details(
    inputs: RunInputs, given: Mapping[str, Json], empty: Iterable[str], faults: list[Fault], where: str
) -> Json:
    """The details of one run.

    Args:
        given: by the names of the inputs.
        empty: names of those that may be empty.
        faults: gets what is wrong.
        where: what the name of an input follows in a fault, such as `row 3, `.
    """
    made: dict[str | int, Json] = {}
    for each in inputs.fields:
        try:
            value = each.read(given.get(each.name), may_be_empty=each.name in empty)
        except ValueError as error:
            faults.append({"field": f"{where}{each.name}", "reason": str(error)})
            continue
        if not each.place:
            return value
        at = made
        for step in each.place[:-1]:
            at = at.setdefault(step, {})
        at[each.place[-1]] = value
    return _listed(made)


def _listed(made: Json) -> Json:
    """Return what was put together by names and numbers; numbers become places of a list."""
    if not isinstance(made, dict):
        return made
    if made and all(isinstance(key, int) for key in made):
        return [_listed(made.get(index)) for index in range(max(made) + 1)]
    return {str(key): _listed(part) for key, part in made.items()}


def rows_of(
    inputs: RunInputs, table: TableFile, columns: Mapping[str, str], empty: Iterable[str]
) -> tuple[list[Json], list[Fault]]:
    """The details of a run for each row of a file, and the first faults, each with its row and column."""
    faults: list[Fault] = []
    for each in inputs.fields:
        column = columns.get(each.name, "")
        if column not in table.columns:
            why = f"there is no column {column!r}" if column else "no column is chosen"
            faults.append({"field": each.name, "reason": why})
    rows: list[Json] = []
    for number, row in enumerate(table.rows if not faults else (), 1):
        wrong: list[Fault] = []
        given = {name: row.get(column) for name, column in columns.items()}
        rows.append(details(inputs, given, empty, wrong, ""))
        for fault in wrong:
            value = given[fault["field"]]
            quoted = "" if value in (None, "") else f"{str(value)[:60]!r} "
            field = f"row {number}, column {columns[fault['field']]!r}"
            faults.append({"field": field, "reason": f"{quoted}{fault['reason']}"})
        if len(faults) >= _MOST_FAULTS:
            break
    return rows, faults[:_MOST_FAULTS]
