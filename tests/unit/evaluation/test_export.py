"""One finished job as a record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shoal.agent.support.json_value import Json
from shoal.services.errors import BadInput
from shoal.services.evaluation.export import export_job
from tests.doubles import ScriptedModel
from tests.unit.evaluation.test_runner import URL, Gateway


class Finished(Gateway):
    """A gateway with one job that is over, unless it is called `runs`."""

    async def job(self, job: str) -> dict[str, Json]:
        goal = "fail" if job == "failed" else "x"
        self.submitted[job] = {"url": URL, "goal": goal}
        told = {**await super().job(job), "spec": {"url": URL, "goal": goal}}
        return {**told, "finished_at": None, "status": "running"} if job == "runs" else told


def record(path: Path) -> tuple[str, Json]:
    return path.parent.name, json.loads(path.read_text())


async def test_a_job_that_nobody_judged_is_unsure(tmp_path: Path) -> None:
    folder, told = record(await export_job(Finished(), "j1", tmp_path))
    assert folder == "execution_unsure"
    assert told["execution_result"]["result"]["reason"].startswith("it was not judged; the job is completed")
    assert (told["unique_id"], told["app"], told["time_cost"]["execute"]) == ("j1", "shop.example", 2.5)
    assert told["instantiation_result"]["prefill"]["result"]["instantiated_plan"][0]["Function"] == "click"
    saved = tmp_path / "saved_document" / "j1"
    assert sorted(path.name for path in saved.iterdir()) == ["file1.pdf", "records.jsonl"]


async def test_a_verdict_takes_the_place_of_none(tmp_path: Path) -> None:
    await export_job(Finished(), "j1", tmp_path)
    verdict = {"thought": "", "sub_scores": [{"name": "pressed", "met": "yes"}], "reason": "fine", "complete": "yes"}
    folder, told = record(await export_job(Finished(), "j1", tmp_path, judge=ScriptedModel([verdict])))
    assert folder == "execution_pass"
    assert told["execution_result"]["result"]["sub_scores"] == {"pressed": "yes"}
    assert told["time_cost"]["execute_eval"] is not None
    assert len(list((tmp_path / "execution").glob("*/*.json"))) == 1


async def test_a_job_that_failed_is_a_record_with_its_error(tmp_path: Path) -> None:
    folder, told = record(await export_job(Finished(), "failed", tmp_path))
    assert folder == "execution_fail"
    assert told["execution_result"]["error"]["type"] == "StepLimit"


async def test_a_job_that_runs_cannot_be_exported(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="only a job that is over"):
        await export_job(Finished(), "runs", tmp_path)
    assert not list(tmp_path.rglob("*"))
