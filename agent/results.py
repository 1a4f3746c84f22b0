"""Outcomes in the data-flow layout that dataset builders and evaluators read: records, their schemas, their folders.

The folder of a record follows from what it says. A record is checked before it is written, appears in one piece or not
at all, and is written once, however often a run is started again.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import orjson

from shoal.agent.error_info import ErrorInfo
from shoal.agent.evaluate import Evaluation
from shoal.agent.support.json_value import Json
from shoal.agent.support.schemas.engine import compiled, faults, fits
from shoal.agent.types import Task

Stage = Literal["instantiation", "execution", "dataflow"]
_FOLDERS: Mapping[Stage, tuple[str, ...]] = {
    "instantiation": ("instantiation_pass", "instantiation_fail"),
    "execution": ("execution_pass", "execution_fail", "execution_unsure"),
    "dataflow": ("execution_pass", "execution_fail", "execution_unsure"),
}
_VERDICT_FOLDER = {"yes": "execution_pass", "no": "execution_fail", "unsure": "execution_unsure"}
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class RecordRefused(ValueError):
    """The record does not follow the layout's schema; the message names the place."""


@dataclass(frozen=True, slots=True)
class TimeCost:
    """Seconds of each stage; None where a stage did not run."""

    choose_template: float | None = None
    prefill: float | None = None
    instantiation_evaluation: float | None = None
    execute: float | None = None
    execute_eval: float | None = None
    total: float | None = None


# --- schemas -------------------------------------------------------------------------------------------


def _object(properties: dict[str, Json], optional: Sequence[str] = ()) -> dict[str, Json]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "additionalProperties": False, "required": required, "properties": properties}


def _or_null(schema: dict[str, Json]) -> dict[str, Json]:
    return {"anyOf": [schema, {"type": "null"}]}


_TEXT: dict[str, Json] = {"type": "string"}
_FLAG: dict[str, Json] = {"type": "boolean"}

_PLANNED_STEP: dict[str, dict[str, Json]] = {
    "Step": {"type": "integer"},
    "Subtask": _TEXT,
    "ControlLabel": _or_null(_TEXT),
    "ControlText": _TEXT,
    "Function": _TEXT,
    "Args": {"type": "object"},
}
_EXECUTED_STEP = {**_PLANNED_STEP, "Success": _or_null(_FLAG), "MatchedControlText": _or_null(_TEXT)}


def _record_schema(step: dict[str, Json], executed: bool) -> dict[str, Json]:
    prefill = _object({"instantiated_request": _TEXT, "instantiated_plan": {"type": "array", "items": _object(step)}})
    judged = _object({"judge": _FLAG, "thought": _TEXT, "request_type": _TEXT})
    properties: dict[str, Json] = {
        "unique_id": {"type": "string", "minLength": 1},
        "app": _TEXT,
        "original": _object({"original_task": _TEXT, "original_steps": {"type": "array", "items": _TEXT}}),
        "instantiation_result": _object(
            {
                "choose_template": _stage(_TEXT),
                "prefill": _stage(prefill),
                "instantiation_evaluation": _stage(judged),
            }
        ),
        "time_cost": _object(
            {name: _or_null({"type": "number", "minimum": 0}) for name in TimeCost.__dataclass_fields__}
        ),
    }
    if executed:
        verdict = {"type": "string", "enum": list(_VERDICT_FOLDER)}
        scores = {"type": "object", "additionalProperties": _TEXT}
        properties["execution_result"] = _object(
            {
                "result": _or_null(_object({"reason": _TEXT, "sub_scores": scores, "complete": verdict})),
                "error": _or_null(_object({"type": _TEXT, "message": _TEXT, "traceback": _TEXT})),
            }
        )
    return _object(properties)


def _stage(result: dict[str, Json]) -> dict[str, Json]:
    return _object({"result": _or_null(result), "error": _or_null(_TEXT)})


INSTANTIATION_SCHEMA: dict[str, Json] = _record_schema(_PLANNED_STEP, executed=False)
"""Of a record that was instantiated and judged."""

EXECUTION_SCHEMA: dict[str, Json] = _record_schema(_EXECUTED_STEP, executed=True)
"""Of a record that was executed and evaluated."""


# --- records -------------------------------------------------------------------------------------------


def planned_steps(tasks: Sequence[Task]) -> list[dict[str, Json]]:
    """A run's actions as an executed plan: one entry per action, numbered through."""
    rows: list[dict[str, Json]] = []
    for task in tasks:
        for result in (result for step in task.steps for result in step.results):
            label = result.action.args.get("bid")
            rows.append(
                {
                    "Step": len(rows) + 1,
                    "Subtask": task.plan,
                    "ControlLabel": str(label) if label is not None else None,
                    "ControlText": result.action.target,
                    "Function": result.action.name,
                    "Args": {name: value for name, value in result.action.args.items() if name != "bid"},
                    "Success": result.error is None,
                    "MatchedControlText": (result.action.target or None) if result.error is None else None,
                }
            )
    return rows


def execution_record(
    unique_id: str,
    *,
    app: str,
    request: str,
    tasks: Sequence[Task],
    judged: Evaluation | None = None,
    error: BaseException | ErrorInfo | None = None,
    time_cost: TimeCost = TimeCost(),
) -> dict[str, Json]:
    """The record of a concrete task that was executed: with its evaluation, or with the error that ended it."""
    result = None
    if judged is not None:
        result = {"reason": judged.reason, "sub_scores": dict(judged.sub_scores), "complete": judged.complete}
    plan = {"instantiated_request": request, "instantiated_plan": planned_steps(tasks)}
    return {
        "unique_id": unique_id,
        "app": app,
        "original": {"original_task": request, "original_steps": [task.plan for task in tasks]},
        "instantiation_result": {
            "choose_template": {"result": None, "error": None},
            "prefill": {"result": plan, "error": None},
            "instantiation_evaluation": {"result": None, "error": None},
        },
        "execution_result": {"result": result, "error": _error(error)},
        "time_cost": {name: getattr(time_cost, name) for name in TimeCost.__dataclass_fields__},
    }


def _error(error: BaseException | ErrorInfo | None) -> dict[str, str] | None:
    if error is None:
        return None
    if isinstance(error, ErrorInfo):  # it happened elsewhere; the log there has the traceback
        return {"type": error.cls, "message": error.message, "traceback": ""}
    trace = "".join(traceback.format_exception(error))
    return {"type": type(error).__name__, "message": str(error), "traceback": trace}


def check(record: Mapping[str, Json]) -> None:
    """Holds a record to the schema of its stage.

    Raises:
        RecordRefused: naming the first place that does not follow it.
    """
    schema = EXECUTION_SCHEMA if "execution_result" in record else INSTANTIATION_SCHEMA
    validator = compiled(schema)
    if not fits(validator, record):
        first = faults(validator, record, 1)[0]
        raise RecordRefused(f"{'/'.join(map(str, first.path)) or 'the record'}: {first.message}")


def folder_of(record: Mapping[str, Json]) -> str:
    """Return where a valid record belongs, relative to the results' root."""
    stage = _stage_of(record)
    if stage == "instantiation":
        judged = record["instantiation_result"]["instantiation_evaluation"]["result"]
        return f"{stage}/instantiation_{'pass' if judged is not None and judged['judge'] else 'fail'}"
    executed = record["execution_result"]
    if executed["error"] is not None or executed["result"] is None:
        return f"{stage}/execution_fail"
    return f"{stage}/{_VERDICT_FOLDER[executed['result']['complete']]}"


def _stage_of(record: Mapping[str, Json]) -> Stage:
    """Instantiated only, executed only, or both in one go: then both have taken time."""
    if "execution_result" not in record:
        return "instantiation"
    spent = record["time_cost"]
    prepared = ("choose_template", "prefill", "instantiation_evaluation")
    return "dataflow" if any(spent[name] is not None for name in prepared) else "execution"


# --- files ----------------------------------------------------------------------------------------------


def write(root: Path, record: Mapping[str, Json], *, again: bool = False) -> Path:
    """Writes a record into the folder that its content names; one that is there already stays as it is.

    Args:
        again: what an earlier run wrote of the same task is replaced, wherever it lies: this one knows better.

    Raises:
        RecordRefused: the record does not follow the schema; nothing is written.
    """
    check(record)
    name = f"{file_name(record['unique_id'])}.json"
    stage = _stage_of(record)
    for folder in _FOLDERS[stage]:
        written = root / stage / folder / name
        if again:
            written.unlink(missing_ok=True)  # before the new one: a run that is killed here comes by again
        elif written.exists():
            return written
    return _put(root / folder_of(record) / name, orjson.dumps(record, option=orjson.OPT_INDENT_2))


def save_document(root: Path, unique_id: str, filename: str, data: bytes) -> Path:
    """Keeps a final document (a download, an extracted table) of a task."""
    return _put(root / "saved_document" / file_name(unique_id) / file_name(filename), data)


def file_name(text: str) -> str:
    """`text` where it is a harmless file name; else what is harmless in it, with a digest that keeps names apart."""
    if _PLAIN_NAME.fullmatch(text):
        return text
    kept = re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:60]
    return f"{kept or 'task'}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def _put(path: Path, data: bytes) -> Path:
    """Writes beside its place and renames: a run that is killed leaves no half of a file under the final name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path
