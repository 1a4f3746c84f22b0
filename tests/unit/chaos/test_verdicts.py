"""A storm's verdict on forms: none is doubled, none is lost, and none that was received is told as failed."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "load-tests"))
verdicts: Any = importlib.import_module("_chaos_verdicts")

EMAIL = "chaos0@quimby.example"


def wrong(status: str, received: int, error: str = "") -> list[str]:
    rows = [{"item": {"index": 0}, "status": status, "error": error}]
    found: list[str] = verdicts.forms_wrong(rows, [EMAIL], [{"fields": {"email": EMAIL}}] * received, "callback")
    return found


@pytest.mark.parametrize(("status", "received"), [("completed", 1), ("unsure", 0), ("unsure", 1)])
def test_what_is_well(status: str, received: int) -> None:
    assert wrong(status, received) == []


@pytest.mark.parametrize(
    ("status", "received", "said"),
    [
        ("failed", 1, "was received and is told as failed: page_missing"),
        ("failed", 0, "is failed and was sent 0 times"),
        ("completed", 0, "is completed and was never sent"),
        ("completed", 2, "was sent 2 times"),
        ("canceled", 1, "is canceled"),
    ],
)
def test_what_is_wrong(status: str, received: int, said: str) -> None:
    (one,) = wrong(status, received, "page_missing")
    assert one.startswith("callback: item 0") and said in one


def test_a_record_has_to_be_the_truth_as_a_whole_and_each_item_is_there_once() -> None:
    rows = [
        {"item": {"index": 0}, "status": "completed", "record": {"name": "Lamp", "price": 3.0}},
        {"item": {"index": 1}, "status": "completed", "record": {"name": "Vase", "price": 4.0}},
        {"item": {"index": 2}, "status": "failed", "error": "page_missing", "record": None},
        {"item": {"index": 2}, "status": "completed", "record": {"name": "Tray", "price": 5.0}},
    ]
    truths = [{"name": "Lamp", "price": 3.0}, {"name": "Vase", "price": 4.5}, {"name": "Tray", "price": 5.0}]
    assert verdicts.pages_wrong(rows[:1], truths[:1], "pages") == []
    assert [said.split(":")[1] for said in verdicts.pages_wrong(rows, truths, "pages")] == [
        " item 2 is there 2 times",
        " item 1 is {'name'",
        " item 2 is failed",
    ]
