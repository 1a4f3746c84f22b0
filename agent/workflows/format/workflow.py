"""A workflow, read from JSON and written to it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal

import orjson
from pydantic import Field, ValidationError, model_validator

from shoal.agent.errors import WorkflowInvalid
from shoal.agent.support.json_value import Json
from shoal.agent.support.once_each import once_each
from shoal.agent.workflows.format.checks import faults_of
from shoal.agent.workflows.format.part import WorkflowPart
from shoal.agent.workflows.format.version import Version

FORMAT: Final = "shoal-workflow/1"
_MOST_FAULTS = 20
_MOST_COMPARED = 1_000
"""Faults of which each is told. Each is compared with each, so half a million would take days."""


_MOST_READ = 64
_MOST_ENTRIES = 50_000
"""Of a file. Pydantic looks at all of them, and makes a fault of each that is wrong, while no other thread runs."""


class Scope(WorkflowPart):
    """The pages and jobs that a workflow applies to. It belongs to one tenant, which the store knows and the file does
    not say.
    """

    site: str = Field(
        pattern=r"^[^\x00-\x20]+$",
        description="host of the pages, in lower case, with the port where it is not the scheme's",
    )
    goal: str = Field("", pattern=r"^[^\x00]*$", description="hash of the job's goal (`goal_hash`)")
    record_schema: str = Field(
        "", pattern=r"^[^\x00]*$", alias="schema", description="hash of the record's schema (`schema_hash`)"
    )


class Workflow(WorkflowPart):
    """A learned workflow, in its versions."""

    format: Literal["shoal-workflow/1"] = Field(FORMAT, description="name and version of this format")
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,99}$", description="by which jobs refer to it")
    scope: Scope = Field(description="where it applies")
    versions: tuple[Version, ...] = Field(min_length=1, description="all of them, or the one that is exchanged")

    @model_validator(mode="after")
    def _numbers(self) -> Workflow:
        numbers = Counter(version.number for version in self.versions)
        number, times = numbers.most_common(1)[0]
        if times > 1:
            raise ValueError(f"`versions`: number {number} is there twice")
        if sum(version.state == "active" for version in self.versions) > 1:
            raise ValueError("`versions`: more than one is active")
        return self

    @property
    def active(self) -> Version | None:
        """The version that jobs get."""
        return next((version for version in self.versions if version.state == "active"), None)

    def version(self, number: int) -> Version:
        """The version with this number.

        Raises:
            KeyError: there is none.
        """
        numbered = next((version for version in self.versions if version.number == number), None)
        if numbered is None:
            raise KeyError(number)
        return numbered


def goal_hash(goal: str | None) -> str:
    """The hash of a goal: the same for texts that differ in spaces and capitals only; "" for none."""
    folded = " ".join((goal or "").lower().split())
    return hashlib.sha256(folded.encode()).hexdigest()[:32] if folded else ""


def schema_hash(schema: Json) -> str:
    """The hash of a JSON Schema, whatever the order of its keys; "" for none."""
    if schema is None:
        return ""
    return hashlib.sha256(json.dumps(schema, sort_keys=True).encode()).hexdigest()[:32]


def read_workflow(data: Json) -> Workflow:
    """The workflow that `data` (text, bytes or parsed JSON) says.

    Raises:
        WorkflowInvalid: it says none; the message names the place of each fault.
    """
    if isinstance(data, (str, bytes)):
        try:
            data = json.loads(data)
        except (ValueError, RecursionError) as error:
            place = f"line {getattr(error, 'lineno', 1)} column {getattr(error, 'colno', 1)}"
            raise WorkflowInvalid(f"{place}: no JSON: {getattr(error, 'msg', error)}", places=(place,)) from None
        if (count := _entries(data)) > _MOST_ENTRIES:
            place, what = "the workflow", f"has {count:,} entries; at most {_MOST_ENTRIES:,} are read"
            raise WorkflowInvalid(f"{place}: {what}", places=(place,))
    try:
        workflow = Workflow.model_validate(data)
    except (ValidationError, RecursionError) as error:
        raise invalid(error, data) from None
    check_workflow(workflow)
    return workflow


def _entries(data: Json) -> int:
    """Return how many entries all its lists and objects have together."""
    count, left = 0, [data]
    while left:
        part = left.pop()
        if isinstance(part, (dict, list)):
            count += len(part)
            left += part.values() if isinstance(part, dict) else part
    return count


@once_each(_MOST_READ)
def read_once(data: dict[str, Json]) -> Workflow:
    """`read_workflow`, once for one object: sessions that came together share their workflow, which nothing changes.

    Raises:
        WorkflowInvalid: as `read_workflow`.
    """
    return read_workflow(data)


def check_workflow(workflow: Workflow) -> None:
    """Lets a workflow pass whose parts fit together, and that JSON can say.

    Raises:
        WorkflowInvalid: they do not, or it cannot; the message names the place of each fault.
    """
    faults = [
        (f"versions[{index}].{place}", what)
        for index, version in enumerate(workflow.versions)
        for place, what in faults_of(version)
    ]
    faults = faults or _unwritable(workflow)
    if faults:
        raise _invalid(faults)


def _unwritable(workflow: Workflow) -> list[tuple[str, str]]:
    """The versions that hold values which come from no JSON, or that are nested too deep to be written."""
    faults = []
    for index, version in enumerate(workflow.versions):
        try:
            version_json = version.as_json()
            orjson.dumps(version_json)  # no half of a surrogate pair, no integer beyond 64 bits
            json.dumps(version_json, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            faults.append((f"versions[{index}]", f"holds what JSON cannot say: {error}"))
    return faults


def write_workflow(workflow: Workflow) -> dict[str, Json]:
    """The workflow as JSON, without what is as by default; `read_workflow` gives it back."""
    return workflow.as_json()


def workflow_schema() -> dict[str, Json]:
    """The JSON Schema (2020-12) of the format."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Shoal workflow",
        **Workflow.model_json_schema(by_alias=True),
    }


def place_of(loc: tuple[int | str, ...], data: Json) -> str:
    """Return where a fault is, as `versions[0].nodes[2].args.value`."""
    place, in_list = "", False
    for part in loc:
        if isinstance(part, int):
            place += f"[{part}]"
            data = data[part] if isinstance(data, list) and part < len(data) else None
            in_list = True
            continue
        if in_list and isinstance(data, dict) and part == data.get("kind"):
            continue  # the kind of a node, by which it was told apart: no key of the file
        in_list = False
        place += f".{part}" if place else part
        data = data.get(part) if isinstance(data, dict) else None
    return place or "the workflow"


def _distinct_faults(error: ValidationError) -> list[tuple[tuple[int | str, ...], str]]:
    """Each fault once: a list that is empty because its entries are wrong is no fault of its own."""
    if error.error_count() > _MOST_COMPARED:
        return [((), f"has {error.error_count()} faults")]
    faults = [(fault["loc"], fault["msg"]) for fault in error.errors()]
    return [
        (loc, what)
        for loc, what in faults
        if not any(len(other) > len(loc) and other[: len(loc)] == loc for other, _ in faults)
    ]


def invalid(error: ValidationError | RecursionError, data: Json, within: str = "") -> WorkflowInvalid:
    """Return what is wrong with a part of a workflow that was made of `data`.

    Args:
        within: the place of `data` in what was given; "" where it is all.
    """
    if isinstance(error, RecursionError):
        return _invalid([(within or "the workflow", "is nested too deep")])
    return _invalid([(within or place_of(loc, data), what) for loc, what in _distinct_faults(error)])


def _invalid(faults: Sequence[tuple[str, str]]) -> WorkflowInvalid:
    messages = [f"{place}: {what.removeprefix('Value error, ')}" for place, what in faults[:_MOST_FAULTS]]
    if len(faults) > _MOST_FAULTS:
        messages.append(f"and {len(faults) - _MOST_FAULTS} more faults")
    return WorkflowInvalid("; ".join(messages), places=tuple(place for place, _ in faults))
