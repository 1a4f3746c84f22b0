"""Runs a suite's episodes over a cluster, many at once, each once: what is finished is on disk and not run again."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import orjson
from pydantic import TypeAdapter, ValidationError

from shoal.agent.error_info import ErrorInfo
from shoal.agent.errors import AgentError
from shoal.agent.evaluate import Evaluation, evaluate
from shoal.agent.gym.miniwob import MiniWob
from shoal.agent.models.model import Model
from shoal.agent.results import TimeCost, execution_record, file_name, write
from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import Task
from shoal.api import Api
from shoal.errors import ApiError, ShoalError
from shoal.services.errors import BadInput
from shoal.services.evaluation.arena import Arena
from shoal.services.evaluation.checks import page_fault, records_fault, words_fault
from shoal.services.evaluation.episode import Episode, EpisodeResult
from shoal.services.evaluation.evidence import EpisodeEvidence, evidence_of, pictures, trial_of
from shoal.services.evaluation.export import error_of, save_documents, seconds_of

Tell = Callable[[str], None]

_RESULT = TypeAdapter(EpisodeResult)
_CANCEL_S = 10.0
_THE_JOBS_FAULT = (400, 413)
NO_VERDICT = "judge"
"""The failure of an episode that a judge should have judged and could not."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options for running a suite."""

    run: str  # names this run in idempotency keys
    policy: str = "auto"
    parallel: int = 8  # jobs in flight at once
    max_steps: int = 0  # 0: as the jobs say, for MiniWoB++ 15
    judge_all: bool = False  # every run is judged, and the judge measured against the checks and labels
    last_screenshots: int = 3
    keep_pictures: bool = True


class Folder:
    """A run on disk: `episodes.jsonl` with a line per finished episode, `steps/` with what each did, `results/`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = path / "episodes.jsonl"

    def results(self) -> list[EpisodeResult]:
        """The finished episodes, each once, as they ended last. A line that a crash cut off counts as not run."""
        results: dict[str, EpisodeResult] = {}
        for line in self._lines.read_bytes().splitlines() if self._lines.exists() else ():
            with suppress(ValidationError):
                result = _RESULT.validate_json(line)
                results[result.name] = result
        return list(results.values())

    def done(self) -> dict[str, EpisodeResult]:
        """The episodes that need not be run again: all that are finished, but for those whose judge was away."""
        return {result.name: result for result in self.results() if result.failure != NO_VERDICT}

    def add(self, result: EpisodeResult) -> None:
        """Writes a finished episode so that a crash right after loses nothing."""
        whole = not self._lines.exists() or self._lines.read_bytes()[-1:] in (b"", b"\n")
        with self._lines.open("ab") as file:
            file.write((b"" if whole else b"\n") + orjson.dumps(asdict(result)) + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def steps(self, name: str) -> Path:
        """Return where an episode's steps and pictures lie."""
        return self.path / "steps" / file_name(name)


class Runner:
    """One run of a suite."""

    def __init__(
        self, client: Api, folder: Folder, options: RunOptions, *, arena: Arena | None = None,
        judge: Model | None = None, tell: Tell = lambda text: None,
    ) -> None:  # fmt: skip
        self._client = client
        self._folder = folder
        self._options = options
        self._arena = arena
        self._judge = judge
        self._tell = tell

    async def run(self, episodes: Sequence[Episode], goals: Mapping[str, str]) -> list[EpisodeResult]:
        """The results of all episodes, those of earlier runs into the same folder included, in the suite's order.

        Args:
            goals: of MiniWoB++ episodes, by name.

        Raises:
            BadInput: an episode's job is not valid.
            ShoalError: the gateway is away.
        """
        done = self._folder.done()
        left = [episode for episode in episodes if episode.name not in done]
        jobs = {episode.name: self._job(episode, goals) for episode in left}
        limit = asyncio.Semaphore(self._options.parallel)

        async def one(episode: Episode) -> None:
            async with limit:
                result = await self._episode(episode, jobs[episode.name])
            self._folder.add(result)
            done[episode.name] = result
            result_text = "ok" if result.success else f"FAILED ({result.failure}): {result.why}"
            self._tell(f"{len(done)}/{len(episodes)} {episode.name}: {result_text}")

        try:
            async with asyncio.TaskGroup() as group:
                for episode in left:
                    group.create_task(one(episode))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        return [done[episode.name] for episode in episodes]

    def _job(self, episode: Episode, goals: Mapping[str, str]) -> dict[str, Json]:
        """The spec that is handed in; checked here, so that a suite with a wrong line runs none of it."""
        job: dict[str, Json] = dict(episode.job)
        if episode.seed is not None:
            assert self._arena is not None
            job = {
                "url": self._arena.open(episode.name, episode.group, episode.seed),
                "goal": goals[episode.name],
                "max_steps": 15,
                "max_attempts": 2,
                "politeness": {"robots": False},
                "browser": {"viewport": dict(MiniWob.viewport or {})},
            }
        job.setdefault("policy", self._options.policy)
        if self._options.max_steps:
            job["max_steps"] = self._options.max_steps
        job["labels"] = {**job.get("labels", {}), "eval": self._options.run, "episode": episode.name}
        try:
            JobSpec.model_validate(job)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            raise BadInput(f"episode {episode.name}: job.{place}: {first['msg']}") from error
        return job

    # --- one episode ---------------------------------------------------------------------------------

    async def _episode(self, episode: Episode, job: Mapping[str, Json]) -> EpisodeResult:
        try:
            # The key holds the spec: a suite that was changed, or an arena at another address, is another job.
            digest = hashlib.sha256(orjson.dumps(job, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
            submitted = await self._client.submit(job, key=f"eval-{self._options.run}-{episode.name}-{digest}")
        except ApiError as refused:
            if refused.status not in _THE_JOBS_FAULT:
                raise
            fault = ErrorInfo("Refused", "refused", str(refused), False)
            self._export(episode, job, (), None, fault, TimeCost())
            return EpisodeResult(episode.name, episode.group, False, str(refused), "refused", label=episode.label)
        try:
            async for _ in self._client.events(submitted["id"]):
                pass
        except asyncio.CancelledError:
            if episode.seed is not None:  # its page goes away with this process
                with suppress(ShoalError, TimeoutError):
                    await asyncio.wait_for(self._client.control(submitted["id"], "cancel"), _CANCEL_S)
            raise
        evidence = await evidence_of(self._client, await self._client.job(submitted["id"]))
        started = time.monotonic()
        judged = await self._judged(episode, job, evidence)
        judging_s = round(time.monotonic() - started, 3)
        result = self._result(episode, evidence, await self._fault(episode, evidence, judged), judged)
        await self._keep(episode, evidence, judged)
        cost = TimeCost(execute=result.seconds, total=result.seconds)
        if isinstance(judged, Evaluation):
            cost = replace(cost, execute_eval=judging_s, total=round(result.seconds + judging_s, 3))
        self._export(
            episode, job, evidence.tasks, self._verdict(result, judged), self._ended_by(evidence, result), cost
        )
        await save_documents(self._client, self._folder.path / "results", self._id(episode), evidence)
        return result

    async def _fault(
        self, episode: Episode, evidence: EpisodeEvidence, judged: Evaluation | str | None
    ) -> tuple[str, str]:
        """Return what is wrong, and the class of that; two empty texts when nothing is."""
        if episode.seed is not None:
            assert self._arena is not None
            match = self._arena.match(episode.name)
            if match.right is None:
                return "the episode was not brought to an end", _ended_badly(evidence) or "not_done"
            return ("", "") if match.right else (match.reason or "wrong", "wrong")
        check = episode.check
        if evidence.job["status"] != check.status:
            return f"the job is {evidence.job['status']}: {_reason(evidence)}", _ended_badly(evidence) or "wrong"
        faults = [
            records_fault(evidence.records, check),
            words_fault(check.answer, evidence.answer, "the answer"),
            words_fault(check.address, evidence.address, "the address"),
        ]
        if check.page is not None:
            gave = {"answer": evidence.answer, "records": list(evidence.records), "url": evidence.address}
            async with httpx.AsyncClient() as http:
                faults.append(await page_fault(http, check.page, gave))
        if check.judge:
            if not isinstance(judged, Evaluation):
                return f"the judge could not be asked: {judged}", NO_VERDICT
            faults.append("" if judged.complete == "yes" else f"the judge says {judged.complete}: {judged.reason}")
        first = next((fault for fault in faults if fault), "")
        return first, "wrong" if first else ""

    async def _judged(
        self, episode: Episode, job: Mapping[str, Json], evidence: EpisodeEvidence
    ) -> Evaluation | str | None:
        """The judge's verdict; why there is none, where one was wanted."""
        if not (episode.check.judge or self._options.judge_all):
            return None
        if self._judge is None:
            return "no judge is configured"
        spec = JobSpec.model_validate(job)
        try:
            trial = await trial_of(self._client, spec, evidence, screenshots=self._options.last_screenshots)
            return await evaluate(self._judge, trial, last_screenshots=self._options.last_screenshots)
        except AgentError as error:
            return error.message

    def _result(
        self, episode: Episode, evidence: EpisodeEvidence, fault: tuple[str, str], judged: Evaluation | str | None
    ) -> EpisodeResult:
        why, failure = fault
        usage = evidence.job["usage"]
        result = EpisodeResult(
            name=episode.name,
            group=episode.group,
            success=not why,
            why=why,
            failure=failure,
            status=evidence.job["status"],
            steps=evidence.steps,
            model_calls=usage["model_calls"],
            prompt_tokens=usage["prompt_tokens"],
            completion_tokens=usage["completion_tokens"],
            cached_tokens=usage.get("cached_tokens", 0),
            pages=usage.get("pages", 0),
            seconds=seconds_of(evidence.job),
            job=evidence.job["id"],
            label=episode.label,
        )
        if isinstance(judged, Evaluation):
            return replace(result, verdict=judged.complete, reason=judged.reason, sub_scores=dict(judged.sub_scores))
        return result

    # --- keeping -------------------------------------------------------------------------------------

    async def _keep(self, episode: Episode, evidence: EpisodeEvidence, judged: Evaluation | str | None) -> None:
        """Steps, pictures and the judge's own words, to look at when the cluster is gone."""
        folder = self._folder.steps(episode.name)
        folder.mkdir(parents=True, exist_ok=True)
        kept = {"job": evidence.job, "sessions": list(evidence.sessions), "records": list(evidence.records)}
        (folder / "episode.json").write_bytes(orjson.dumps(kept, option=orjson.OPT_INDENT_2))
        if isinstance(judged, Evaluation):
            (folder / "judge.json").write_text(judged.transcript, encoding="utf-8")
        if self._options.keep_pictures:
            for name in pictures(evidence.sessions):
                data, content_type = await self._client.artifact(name)
                (folder / f"{name}.{content_type.rpartition('/')[2]}").write_bytes(data)

    def _export(
        self,
        episode: Episode,
        job: Mapping[str, Json],
        tasks: Sequence[Task],
        judged: Evaluation | None,
        error: ErrorInfo | None,
        cost: TimeCost,
    ) -> None:
        """The run as a record of the data-flow layout, in place of what an interrupted run said of this episode."""
        record = execution_record(
            self._id(episode),
            app=urlsplit(str(job["url"])).hostname or "",
            request=str(job.get("goal") or ""),
            tasks=tasks,
            judged=judged,
            error=error,
            time_cost=cost,
        )
        write(self._folder.path / "results", record, again=True)

    def _id(self, episode: Episode) -> str:
        return f"{self._options.run}-{episode.name}"

    @staticmethod
    def _verdict(result: EpisodeResult, judged: Evaluation | str | None) -> Evaluation | None:
        """The judge's verdict, or the check's where none was wanted; None where one was and could not be had."""
        if isinstance(judged, Evaluation):
            return judged
        if result.failure == NO_VERDICT:
            return None
        return Evaluation("yes" if result.success else "no", {}, result.why or "the check holds")

    @staticmethod
    def _ended_by(evidence: EpisodeEvidence, result: EpisodeResult) -> ErrorInfo | None:
        if result.failure == NO_VERDICT:
            return ErrorInfo("NoVerdict", NO_VERDICT, result.why, True)
        return error_of(evidence.job)


def _ended_badly(evidence: EpisodeEvidence) -> str:
    """The class of a job's bad end: its error's code, else its status; "" when it completed."""
    error = evidence.job.get("error") or evidence.root.get("error")
    if evidence.job["status"] == "completed":
        return ""
    return str(error["code"]) if error else str(evidence.job["status"])


def _reason(evidence: EpisodeEvidence) -> str:
    error = evidence.job.get("error") or evidence.root.get("error")
    return str(error["message"] if error else evidence.root.get("reason", ""))
