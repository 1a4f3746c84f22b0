"""A finished job as a record of the data-flow layout, with the documents that it gave."""

from __future__ import annotations

import mimetypes
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import orjson

from shoal.agent.error_info import ErrorInfo
from shoal.agent.evaluate import Evaluation, evaluate
from shoal.agent.models.model import Model
from shoal.agent.results import TimeCost, execution_record, save_document, write
from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.api import Api
from shoal.services.errors import BadInput
from shoal.services.evaluation.evidence import EpisodeEvidence, evidence_of, trial_of


async def export_job(
    client: Api, job: str, root: Path, *, judge: Model | None = None, last_screenshots: int = 3
) -> Path:
    """Writes the record of a finished job below `root`, in place of what was exported of it before; gives its path.

    Without a judge a job that completed is `unsure`: that it says so itself is no evaluation.

    Raises:
        BadInput: the job is not over.
        ShoalError, ModelError: gateway or judge cannot be had.
    """
    view = await client.job(job)
    if view["finished_at"] is None:
        raise BadInput(f"{job} is {view['status']}: only a job that is over can be exported")
    evidence = await evidence_of(client, view)
    execute_s = seconds_of(view)
    judged, judging_s = _unjudged(evidence), None
    if judge is not None:
        started = time.monotonic()
        spec = JobSpec.model_validate(view["spec"])
        trial = await trial_of(client, spec, evidence, screenshots=last_screenshots)
        judged = await evaluate(judge, trial, last_screenshots=last_screenshots)
        judging_s = round(time.monotonic() - started, 3)
    record = execution_record(
        job,
        app=urlsplit(str(view["url"])).hostname or "",
        request=str(view.get("goal") or ""),
        tasks=evidence.tasks,
        judged=judged,
        error=error_of(view),
        time_cost=TimeCost(execute=execute_s, execute_eval=judging_s, total=round(execute_s + (judging_s or 0), 3)),
    )
    await save_documents(client, root, job, evidence)
    return write(root, record, again=True)


def _unjudged(evidence: EpisodeEvidence) -> Evaluation:
    status, reason = evidence.job["status"], str(evidence.root.get("reason") or "")
    complete = "unsure" if status == "completed" else "no"
    why = f"it was not judged; the job is {status}" + (f": {reason}" if reason else "")
    return Evaluation(complete, {}, why)  # type: ignore[arg-type]


async def save_documents(client: Api, root: Path, unique_id: str, evidence: EpisodeEvidence) -> None:
    """Write what a run gave: its records as one table of JSON lines, and the files that it downloaded."""
    if evidence.records:
        lines = b"".join(orjson.dumps(record) + b"\n" for record in evidence.records)
        save_document(root, unique_id, "records.jsonl", lines)
    for artifact in (entry for session in evidence.sessions for entry in session.get("artifacts", ())):
        if artifact["kind"] == "download":
            data, content_type = await client.artifact(artifact["id"])
            ending = mimetypes.guess_extension(content_type.partition(";")[0].strip()) or ""
            save_document(root, unique_id, f"{artifact['id']}{ending}", data)


def error_of(job: Mapping[str, Json]) -> ErrorInfo | None:
    """Return what ended a job, None when nothing did."""
    error = job.get("error")
    return ErrorInfo(error["class"], error["code"], error["message"], error["retryable"]) if error else None


def seconds_of(job: Mapping[str, Json]) -> float:
    """From a job's start to its end; 0 for one that never ran."""
    if not job["started_at"] or not job["finished_at"]:
        return 0.0
    took = datetime.fromisoformat(job["finished_at"]) - datetime.fromisoformat(job["started_at"])
    return round(took.total_seconds(), 3)
