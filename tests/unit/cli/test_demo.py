"""The report of `make demo` about records and failures."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from shoal.records import Job

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def demo() -> ModuleType:
    spec = importlib.util.spec_from_file_location("demo", ROOT / "scripts" / "demo.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(**fields: Any) -> dict[str, Any]:
    return {"item": None, "record": None, "error": None, "attempts": 1, "screenshot": None, **fields}


def test_each_failure_is_told_with_its_reason(demo: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    item = {"value": "https://shop.example/p/1", "label": "Kettle"}
    rows = [
        row(item=item, record={"name": "Kettle", "price": 5.0}, screenshot="ab"),
        row(item={**item, "label": ""}, error={"message": "the page is gone"}),
        row(error={"message": "the shop does not answer"}),
    ]
    counts = {"expected": 2, "completed": 1, "terminated": 0, "failed": 2, "unsure": 0, "canceled": 0, "running": 0}
    usage = {"model_calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "pages": 4}
    at = "2026-11-27T10:00:00Z"
    job = Job.model_validate({"id": "j1", "tenant": "default", "status": "completed", "url": "https://shop.example/",
                              "goal": None, "labels": {}, "priority": 0, "counts": counts, "usage": usage,
                              "error": None, "cancel_requested": False, "created_at": at, "started_at": at,
                              "finished_at": at, "root_session": "s1", "spec": {}, "concurrency": None,
                              "deadline_at": None, "job_tokens": None})  # fmt: skip
    demo.report(job, rows, 2.0, "http://127.0.0.1:1", Path("d"))
    told = capsys.readouterr().out
    assert "failed: https://shop.example/p/1: the page is gone" in told
    assert "failed: the job itself: the shop does not answer" in told
    assert "expected 2, done 1, failed 2" in told
    assert "2.0 pages per second" in told
    assert "(1 screenshots)" in told


def test_fewer_products_can_be_asked_for(demo: ModuleType) -> None:
    whole, some = (demo.job_spec("http://shop.example/", items)["loop"] for items in (None, 3))
    assert "max_items" not in whole["loop"]
    assert some["loop"]["max_items"] == 3
    assert (some["values"], some["loop"]["from"]) == (whole["values"], whole["loop"]["from"])
