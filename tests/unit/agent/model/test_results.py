"""Results as data: the layout, its schemas, and what a killed run leaves behind."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shoal.agent.error_info import ErrorInfo
from shoal.agent.evaluate import Evaluation
from shoal.agent.results import (
    RecordRefused,
    TimeCost,
    check,
    execution_record,
    folder_of,
    planned_steps,
    save_document,
    write,
)
from shoal.agent.status import Status
from shoal.agent.types import Action, ActionResult, Step, Task

FAILED = ActionResult(Action("click", {"bid": "a5"}), ErrorInfo("ElementMissing", "element_missing", "gone", False))
DONE = ActionResult(Action("scroll", {"dx": 0, "dy": 9}))
TASKS = (Task("navigate", "Order", Status.COMPLETED, steps=(Step(0, "https://x.example", "t", (DONE, FAILED)),)),)


def executed(complete: Any = "yes", error: Exception | None = None, **cost: float) -> dict[str, Any]:
    judged = Evaluation(complete, {"ordered": complete}, "because") if complete else None
    return execution_record(
        "t1",
        app="shop",
        request="Order",
        tasks=TASKS,
        judged=judged,
        error=error,
        time_cost=TimeCost(execute=1.5, **cost),
    )


def instantiated(judge: bool | None) -> dict[str, Any]:
    record = executed()
    del record["execution_result"]
    for row in record["instantiation_result"]["prefill"]["result"]["instantiated_plan"]:
        del row["Success"], row["MatchedControlText"]
    if judge is not None:
        judged = {"judge": judge, "thought": "t", "request_type": "order"}
        record["instantiation_result"]["instantiation_evaluation"]["result"] = judged
    return record


def test_a_runs_actions_are_its_plan() -> None:
    rows = executed()["instantiation_result"]["prefill"]["result"]["instantiated_plan"]
    assert [(r["Step"], r["Function"], r["ControlLabel"], r["Args"], r["Success"]) for r in rows] == [
        (1, "scroll", None, {"dx": 0, "dy": 9}, True),
        (2, "click", "a5", {}, False),
    ]


@pytest.mark.parametrize(
    ("record", "folder"),
    [
        (instantiated(True), "instantiation/instantiation_pass"),
        (instantiated(False), "instantiation/instantiation_fail"),
        (instantiated(None), "instantiation/instantiation_fail"),
        (executed("yes"), "execution/execution_pass"),
        (executed("no"), "execution/execution_fail"),
        (executed("unsure"), "execution/execution_unsure"),
        (executed(None, ValueError("x")), "execution/execution_fail"),
        (executed("yes", ValueError("x")), "execution/execution_fail"),
        (executed(None), "execution/execution_fail"),
        (executed("yes", prefill=1.0), "dataflow/execution_pass"),
        (executed("unsure", choose_template=1.0), "dataflow/execution_unsure"),
    ],
)
def test_the_folder_follows_from_the_content(record: dict[str, Any], folder: str, tmp_path: Path) -> None:
    check(record)
    assert folder_of(record) == folder
    path = write(tmp_path, record)
    assert path == tmp_path / folder / "t1.json"
    assert json.loads(path.read_text()) == record


def test_an_error_is_in_the_record_with_its_traceback() -> None:
    try:
        raise ValueError("broken")
    except ValueError as err:
        record = executed(None, err)
    error = record["execution_result"]["error"]
    assert (error["type"], error["message"]) == ("ValueError", "broken")
    assert "test_results.py" in error["traceback"]
    check(record)


def test_a_control_is_told_by_its_words_where_they_are_known() -> None:
    click = Action("click", {"bid": "a5"}, target='button "Order"')
    steps = (Step(0, "https://x.example", "t", (replace(FAILED, action=click), ActionResult(click))),)
    rows = planned_steps((Task("navigate", "Order", Status.COMPLETED, steps=steps),))
    assert [(row["ControlText"], row["MatchedControlText"]) for row in rows] == [
        ('button "Order"', None),
        ('button "Order"', 'button "Order"'),
    ]


def test_a_record_that_knows_better_takes_the_place_of_the_first(tmp_path: Path) -> None:
    write(tmp_path, executed("no"))
    write(tmp_path, executed("yes"), again=True)
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.json")] == [
        "execution/execution_pass/t1.json"
    ]


def test_a_record_is_written_once(tmp_path: Path) -> None:
    first = write(tmp_path, executed("yes"))
    again = write(tmp_path, executed("no"))
    assert again == first
    assert [path.name for path in tmp_path.rglob("*.json")] == ["t1.json"]


@pytest.mark.parametrize(
    "change",
    [
        {"extra": 1},
        {"unique_id": ""},
        {"app": None},
        {"execution_result": {"result": {"reason": "", "sub_scores": {}, "complete": "maybe"}, "error": None}},
        {"execution_result": {"result": {"reason": "", "sub_scores": {"a": 1}, "complete": "yes"}, "error": None}},
        {"execution_result": {"result": None}},
        {"time_cost": {"execute": -1}},
    ],
)
def test_what_does_not_follow_the_schema_is_not_written(change: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(RecordRefused):
        write(tmp_path, {**executed(), **change})
    assert not list(tmp_path.rglob("*"))


def test_an_instantiated_plan_has_no_outcome_yet(tmp_path: Path) -> None:
    record = copy.deepcopy(instantiated(True))
    record["instantiation_result"]["prefill"]["result"]["instantiated_plan"][0]["Success"] = True
    with pytest.raises(RecordRefused):
        check(record)


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "日本", "", ".hidden", "x" * 300, "a\x00b"])
def test_no_name_leaves_the_folder(name: str, tmp_path: Path) -> None:
    path = save_document(tmp_path, name, name, b"data")
    assert path.resolve().is_relative_to(tmp_path / "saved_document")
    assert path.read_bytes() == b"data"
    assert save_document(tmp_path, name, name, b"new").read_bytes() == b"new"


def test_a_write_that_fails_leaves_nothing_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        write(tmp_path, executed())
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
