"""The run's folder: begun once, gone on with, refused for another suite; complete ones need no cluster."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shoal.services.errors import BadInput
from shoal.services.evaluation.command import Wish, run_suite
from shoal.services.settings import load_settings
from tests.unit.evaluation.test_runner import URL, Gateway

SUITE = [{"name": f"e:{n}", "job": {"url": URL, "goal": "x"}, "check": {"records": [{"n": 1}]}} for n in range(3)]


@pytest.fixture
def wish(tmp_path: Path) -> Wish:
    file = tmp_path / "suite.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in SUITE))
    return Wish((str(file),), tmp_path / "out")


async def evaluated(wish: Wish, gateway: Gateway | None, tmp_path: Path, **more: Any) -> tuple[dict[str, Any], int]:
    connections = 0

    @asynccontextmanager
    async def connect(settings: Any) -> Any:
        nonlocal connections
        connections += 1
        yield gateway

    settings = load_settings(data_dir=tmp_path / "data")
    told = await run_suite(replace(wish, **more), settings, connect, lambda text: None)
    return told, connections


async def test_a_complete_run_is_only_reported_on(wish: Wish, tmp_path: Path) -> None:
    told, connections = await evaluated(wish, Gateway(), tmp_path)
    assert (told["all"]["success"]["successes"], connections) == (3, 1)
    assert json.loads((wish.out / "report.json").read_text()) == json.loads(json.dumps(told))
    assert "100.0%" in (wish.out / "report.md").read_text()
    again, connections = await evaluated(wish, None, tmp_path, against=wish.out)
    assert (again["change"]["both"], connections) == (3, 0)


async def test_labels_that_people_gave_later_measure_the_judge(wish: Wish, tmp_path: Path) -> None:
    await evaluated(wish, Gateway(), tmp_path)
    lines = wish.out / "episodes.jsonl"
    kept = [json.loads(line) | {"verdict": "yes"} for line in lines.read_text().splitlines()]
    lines.write_text("".join(json.dumps(line) + "\n" for line in kept))
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"name": "e:0", "label": "yes"}\n{"name": "e:1", "label": "no"}\n')
    told, _ = await evaluated(wish, None, tmp_path, labels=labels)
    assert told["judge"]["labels"]["cases"] == 2
    assert told["judge"]["labels"]["accuracy"] == 0.5
    labels.write_text('{"name": "e:0", "label": "maybe"}')
    with pytest.raises(BadInput, match="line 1"):
        await evaluated(wish, None, tmp_path, labels=labels)


async def test_a_folder_takes_no_other_suite(wish: Wish, tmp_path: Path) -> None:
    await evaluated(wish, Gateway(), tmp_path)
    with pytest.raises(BadInput, match="another policy"):
        await evaluated(wish, Gateway(), tmp_path, policy="rules")
    with pytest.raises(BadInput, match="no earlier run"):
        await evaluated(wish, Gateway(), tmp_path, against=tmp_path / "nothing")


async def test_a_judge_that_nobody_named_is_missed_before_anything_runs(wish: Wish, tmp_path: Path) -> None:
    gateway = Gateway()
    with pytest.raises(BadInput, match="judge"):
        await evaluated(wish, gateway, tmp_path, judge=True)
    assert gateway.submitted == {}
