"""`shoal eval` as a person runs it: MiniWoB++ over a cluster of its own, with a model behind real HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path

import pytest

from shoal.agent.support.json_value import Json
from shoal.services.evaluation.runner import Folder
from tests.embedded import ROOT
from tests.model_server import ModelServer, serving
from tests.unit.agent.model.test_step import act, step_reply
from tests.worker_world import PLAN

pytestmark = pytest.mark.timeout(800)

BUTTON = re.compile(r'\[(\w+) button "Click Me!"')


def clicks(body: Json) -> Json:
    """Plans one mini goal, presses the button where there is one, and is done when the page says so."""
    name = body["response_format"]["json_schema"]["name"]
    shown = str(body["messages"])
    over = "The episode is over" in shown
    if name == "plan":
        done = {"user_goal_achieved": True, "require_extraction": False}
        return PLAN | (done if over else {"plan": "Press the button", "task_type": "navigate"})
    if name == "evaluation":
        return {"thought": "", "sub_scores": [], "reason": "it is over", "complete": "yes"}
    button = BUTTON.search(shown)
    return step_reply(act("COMPLETE"), achieved=True) if over or not button else step_reply(act("CLICK", id=button[1]))


async def shoal(folder: Path, *arguments: str) -> tuple[int, str, str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SHOAL_")}
    environment |= {"SHOAL_DATA_DIR": str(folder / "data"), "SHOAL_WORKERS": "1"}
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("shoal")),
        "eval",
        *arguments,
        env=environment,
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def test_a_suite_is_run_reported_resumed_and_compared(tmp_path: Path) -> None:
    out = tmp_path / "run"
    async with serving(ModelServer(clicks)) as server:
        common = (
            "miniwob:click-test,click-checkboxes",
            "--model-url",
            server.url,
            "--model",
            "scripted",
            "--json",
            "--max-steps",
            "4",
        )
        code, told, err = await shoal(tmp_path, *common, "--seeds", "0-1", "--out", str(out), "--judge")
        assert code == 0, err
        report = json.loads(told)
        groups = report["groups"]
        assert groups["click-test"]["success"]["successes"] == 2, err
        assert groups["click-checkboxes"]["success"]["successes"] == 0, err
        assert report["failures"] == {"step_limit": 2}, "it never pressed what there was"
        assert report["all"]["success"]["low"] < 0.5 < report["all"]["success"]["high"]
        assert report["all"]["tokens"]["sum"] > 0
        assert report["judge"]["checks"]["accuracy"] == 0.5, "the judge says yes to all of them"

        asked = len(server.requests)
        code, told, err = await shoal(tmp_path, *common, "--seeds", "0-1", "--out", str(out), "--against", str(out))
        assert code == 0, err
        assert len(server.requests) == asked, "nothing is run twice"
        assert json.loads(told)["change"]["both"] == 4

        goals = [line for body in server.requests for line in re.findall(r"The job's goal: ([^\\]+)", str(body))]
        assert "Click the button." in goals
        assert any(goal.startswith("Select ") for goal in goals)

    code, told, err = await shoal(tmp_path, "--out", str(out), "--look", "click-test:1")
    assert code == 0, err
    assert "click-test:1: success" in told
    assert re.search(r"click\(.+\) -> (?!nothing changed)", told), told
    kept = {path.suffix for path in Folder(out).steps("click-test:1").iterdir()}
    assert kept > {".json"}, "the pictures lie beside the steps"
