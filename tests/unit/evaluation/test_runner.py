"""Running a suite against a gateway that is a script: each episode once, resumed, checked, judged, kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shoal.agent.support.json_value import Json
from shoal.api import Api
from shoal.errors import ApiError
from shoal.records import Event
from shoal.services.errors import BadInput
from shoal.services.evaluation.episode import Check, Episode
from shoal.services.evaluation.look import look
from shoal.services.evaluation.runner import Folder, Runner, RunOptions
from tests.doubles import ScriptedModel

URL = "https://shop.example/"
STEP = {
    "index": 0,
    "url": URL,
    "thought": "press it",
    "results": [
        {
            "action": {"name": "click", "args": {"bid": "7"}, "reasoning": "", "submits": False},
            "error": None,
            "effect": {},
            "value": None,
            "seconds": 0.1,
        }
    ],
    "screenshot": "shot1",
    "prompt": None,
    "seconds": 0.2,
}


class Gateway(Api):
    """A gateway whose jobs end as their spec's label says."""

    def __init__(self) -> None:
        super().__init__("http://gateway.example")
        self.submitted: dict[str, Json] = {}
        self.keys: list[str] = []
        self.canceled: list[str] = []
        self.running = 0
        self.most_running = 0
        self.hold = asyncio.Event()
        self.hold.set()

    async def submit(self, spec: bytes | Mapping[str, Json], *, key: str | None = None) -> dict[str, Json]:
        assert isinstance(spec, Mapping)
        assert key is not None
        if spec["goal"] == "refuse":
            raise ApiError.of(400, {"code": "bad_input", "detail": "no such thing"})
        job = f"j{len(self.submitted)}"
        self.submitted[job] = dict(spec)
        self.keys.append(key)
        return {"id": job}

    async def events(self, job: str, *, after: int = 0) -> Any:
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await asyncio.sleep(0)
        await self.hold.wait()
        self.running -= 1
        yield Event(1, "job.finished", {})

    async def control(self, job: str, verb: str) -> dict[str, Json]:
        self.canceled.append(job)
        return {}

    def _error(self, job: str) -> Json:
        failed = self.submitted[job]["goal"] == "fail"
        return (
            {"class": "StepLimit", "code": "step_limit", "message": "too many", "retryable": False} if failed else None
        )

    async def job(self, job: str) -> dict[str, Json]:
        error = self._error(job)
        usage = {"model_calls": 2, "prompt_tokens": 100, "completion_tokens": 10, "cached_tokens": 50, "pages": 1}
        return {
            "id": job,
            "url": URL,
            "goal": self.submitted[job]["goal"],
            "status": "failed" if error else "completed",
            "error": error,
            "usage": usage,
            "started_at": "2026-11-22T10:00:00+00:00",
            "finished_at": "2026-11-22T10:00:02.500+00:00",
        }

    async def sessions(self, job: str, **query: Json) -> dict[str, Json]:
        return {"sessions": [{"id": f"s{job[1:]}"}], "next": None}

    async def session(self, session: str) -> dict[str, Json]:
        task = {"type": "navigate", "plan": "x", "status": "completed", "result": None, "reason": "", "seconds": 1.0}
        return {
            "id": session,
            "status": "completed",
            "item": None,
            "error": None,
            "reason": "",
            "url": URL + "done",
            "answer": "it is 42",
            "screenshot": "shot2",
            "attempts": [[{**task, "steps": [STEP]}]],
            "artifacts": [{"id": "page1", "kind": "page"}, {"id": "file1", "kind": "download"}],
        }

    async def result_page(self, job: str, *, after: str | None, limit: int) -> tuple[list[bytes], str | None]:
        return [json.dumps({"record": {"n": 1}}).encode(), json.dumps({"record": None}).encode()], None

    async def artifact(self, artifact: str) -> tuple[bytes, str]:
        if artifact == "page1":
            return b"the last page", "text/plain"
        return artifact.encode(), "application/pdf" if artifact == "file1" else "image/jpeg"


def episode(name: str, goal: str = "x", **check: Json) -> Episode:
    return Episode(name, name.partition(":")[0], {"url": URL, "goal": goal}, Check.model_validate(check))


async def run(
    folder: Path, episodes: list[Episode], gateway: Gateway | None = None, **more: Any
) -> tuple[Any, Gateway]:
    gateway = gateway or Gateway()
    judge = more.pop("judge", None)
    options = RunOptions(**{"run": "r1", "parallel": 3, **more})
    runner = Runner(gateway, Folder(folder), options, judge=judge)
    return await runner.run(episodes, {}), gateway


async def test_each_episode_is_checked_and_failures_have_a_class(tmp_path: Path) -> None:
    episodes = [
        episode("ok", records=[{"n": 1}], answer="42", address="done$"),
        episode("wrong", records=[{"n": 2}]),
        episode("failed", "fail"),
        episode("wanted-failure", "fail", status="failed"),
        episode("refused", "refuse"),
        episode("judged", judge=True),
    ]
    results, _ = await run(tmp_path, episodes)
    assert [(r.name, r.success, r.failure) for r in results] == [
        ("ok", True, ""),
        ("wrong", False, "wrong"),
        ("failed", False, "step_limit"),
        ("wanted-failure", True, ""),
        ("refused", False, "refused"),
        ("judged", False, "judge"),
    ]
    one = results[0]
    assert (one.steps, one.tokens, one.cached_tokens, one.seconds, one.job) == (1, 110, 50, 2.5, "j0")


async def test_a_run_goes_on_where_it_ended_and_runs_nothing_twice(tmp_path: Path) -> None:
    episodes = [episode(f"e:{n}") for n in range(6)]
    first, gateway = await run(tmp_path, episodes[:4])
    assert gateway.most_running == 3
    lines = tmp_path / "episodes.jsonl"
    lines.write_bytes(lines.read_bytes()[:-20])  # the crash came in the middle of a line
    again, gateway = await run(tmp_path, episodes)
    assert len(gateway.submitted) == 3
    assert [result.name for result in again] == [episode.name for episode in episodes]
    _, gateway = await run(tmp_path, episodes)
    assert gateway.submitted == {}
    assert len(first) == 4


async def test_the_same_job_has_the_same_key_and_another_spec_another(tmp_path: Path) -> None:
    keys = []
    for n, goal in enumerate(("x", "x", "y")):
        _, gateway = await run(tmp_path / str(n), [episode("e", goal)])
        keys += gateway.keys
    assert keys[0] == keys[1] != keys[2]


async def test_a_wrong_job_stops_the_suite_before_anything_runs(tmp_path: Path) -> None:
    gateway = Gateway()
    bad = Episode("bad", "bad", {"url": URL, "goal": "x", "max_steps": 0})
    with pytest.raises(BadInput, match=r"episode bad: job\.max_steps"):
        await run(tmp_path, [episode("ok"), bad], gateway)
    assert gateway.submitted == {}


async def test_a_judge_sees_actions_records_page_and_the_last_pictures(tmp_path: Path) -> None:
    verdict = {
        "thought": "",
        "sub_scores": [{"name": "pressed", "met": "yes"}],
        "reason": "the page says so",
        "complete": "yes",
    }
    judge = ScriptedModel([verdict, {**verdict, "complete": "no", "reason": "it does not"}])
    results, _ = await run(
        tmp_path, [episode("a", judge=True), episode("b")], judge=judge, judge_all=True, parallel=1, last_screenshots=1
    )
    assert [(r.success, r.verdict) for r in results] == [(True, "yes"), (True, "no")]
    asked = judge.asked[0].messages
    text = "".join(message.text for message in asked)
    assert "click(bid='7')" in text
    assert "the last page" in text
    assert '{"n": 1}' in text
    assert [image.data for message in asked for image in message.images] == [b"shot2"]


async def test_an_episode_whose_judge_was_away_is_judged_anew(tmp_path: Path) -> None:
    verdict = {"thought": "", "sub_scores": [], "reason": "fine", "complete": "yes"}
    first, gateway = await run(tmp_path, [episode("a", judge=True)], judge=ScriptedModel([]))
    assert first[0].failure == "judge"
    ((folder, record),) = exported(tmp_path).values()
    assert folder == "execution_fail"
    assert record["execution_result"]["error"]["type"] == "NoVerdict"
    again, second = await run(tmp_path, [episode("a", judge=True)], judge=ScriptedModel([verdict]))
    assert again[0].success
    assert gateway.keys == second.keys, "the job itself is not run twice"
    assert [result.success for result in Folder(tmp_path).results()] == [True]
    ((folder, record),) = exported(tmp_path).values()
    assert folder == "execution_pass", "what was said without the judge is gone"
    assert record["execution_result"]["result"]["reason"] == "fine"


def exported(folder: Path) -> dict[str, tuple[str, Json]]:
    """The records of the data-flow layout, by id: in which folder, and what they say."""
    files = (folder / "results" / "execution").glob("*/*.json")
    told = [(path.parent.name, json.loads(path.read_text())) for path in files]
    assert len({record["unique_id"] for _, record in told}) == len(told)
    return {record["unique_id"]: (where, record) for where, record in told}


async def test_every_episode_leaves_a_record_with_what_it_took_and_gave(tmp_path: Path) -> None:
    verdict = {"thought": "", "sub_scores": [], "reason": "fine", "complete": "yes"}
    episodes = [episode("ok", judge=True), episode("failed", "fail"), episode("refused", "refuse")]
    await run(tmp_path, episodes, judge=ScriptedModel([verdict]))
    told = exported(tmp_path)
    assert {name: folder for name, (folder, _) in told.items()} == {
        "r1-ok": "execution_pass",
        "r1-failed": "execution_fail",
        "r1-refused": "execution_fail",
    }
    assert told["r1-refused"][1]["execution_result"]["error"]["type"] == "Refused"
    cost = told["r1-ok"][1]["time_cost"]
    assert cost["execute"] == 2.5
    assert cost["total"] == pytest.approx(2.5 + cost["execute_eval"])
    saved = tmp_path / "results" / "saved_document" / "r1-ok"
    assert (saved / "records.jsonl").read_text() == '{"n":1}\n'
    assert (saved / "file1.pdf").read_bytes() == b"file1"


async def test_a_gateway_that_takes_nobody_ends_the_run(tmp_path: Path) -> None:
    class Closed(Gateway):
        async def submit(self, spec: bytes | Mapping[str, Json], *, key: str | None = None) -> dict[str, Json]:
            raise ApiError.of(401, {"code": "unauthenticated", "detail": "who are you?"})

    with pytest.raises(ApiError):
        await run(tmp_path, [episode("a")], Closed())
    assert Folder(tmp_path).results() == []


def test_episodes_with_alike_names_have_folders_of_their_own(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    names = ("a:b", "a_b", "a/b", "../a", "a-b", "A:B")
    assert len({folder.steps(name) for name in names}) == len(names)
    assert all(folder.steps(name).parent == tmp_path / "steps" for name in names)


async def test_every_episodes_steps_can_be_looked_at(tmp_path: Path) -> None:
    await run(tmp_path, [episode("e:0")])
    told = look(Folder(tmp_path), "e:0")
    for words in (
        "e:0: success",
        "1 steps, 110 tokens",
        "navigate: x -> completed",
        "press it",
        "click(bid='7') -> done",
    ):
        assert words in told, words
    assert "judge:" not in told
    judged = replace(Folder(tmp_path).results()[0], verdict="unsure", reason="no picture", sub_scores={"sent": "no"})
    Folder(tmp_path).add(judged)
    assert "judge: unsure (NOT SUCCESS): no picture\n  sent: no" in look(Folder(tmp_path), "e:0")
    kept = Folder(tmp_path).steps("e:0")
    assert {path.name for path in kept.iterdir()} == {"episode.json", "shot1.jpeg", "shot2.jpeg"}
    assert list((tmp_path / "results" / "execution" / "execution_pass").glob("*.json"))
    with pytest.raises(BadInput):
        look(Folder(tmp_path), "none")
