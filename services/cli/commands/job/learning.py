"""`shoal learn`: a finished job's evidence, compiled into a workflow."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.by_hand.drafting import KIND as DRAFT
from shoal.agent.workflows.format.version import Decision
from shoal.agent.workflows.format.workflow import Scope, Workflow, goal_hash, schema_hash, write_workflow
from shoal.agent.workflows.learning.compile_version import compile_version
from shoal.agent.workflows.learning.evidence import KIND, SessionEvidence, unpacked
from shoal.api import Api, rows
from shoal.records import Job, Session, SessionDetail
from shoal.services.cli.ending import BadUsage

_LOOKED_AT = 4
"""So many times more sessions are looked at than are learned from: some ended without evidence."""


@dataclass(frozen=True, slots=True)
class LearnReport:
    """The result of compiling a job's evidence."""

    workflow: bytes | None  # to be imported; None: nothing was learned
    runs: int  # items that it was learned from
    open: tuple[Decision, ...]  # what stayed a decision of the model, and why
    session: str = ""  # in which a person showed it; the gateway has the workflow already


async def learned(client: Api, job: str, name: str, items: int) -> LearnReport:
    """The workflow that `items` completed sessions of a job teach.

    Raises:
        Usage: the job is not finished, has no goal for a model, or kept no evidence.
    """
    row = Job.model_validate(await client.job(job))
    if row.finished_at is None:
        raise BadUsage(f"{job} is not finished: it is {row.status}")
    if row.spec.get("policy") == "person":
        return await _demonstration_report(client, row.root_session)
    shown = {key: value for key, value in row.spec.items() if value is not None}
    spec = JobSpec.model_validate(shown)
    runs = await _runs(client, job, items, loop=spec.loop is not None)
    if len(runs) < (2 if spec.loop is not None else 1):
        raise BadUsage(
            f"{len(runs)} items of {job} have evidence to learn from, and 2 are needed: a model has to have worked "
            "them out, and the job's artifacts must not be dropped"
        )
    schema = spec.extract.record_schema if spec.extract is not None else None
    at = datetime.now(UTC).isoformat(timespec="seconds")
    compiled = compile_version(runs, schema, at=at, by_origin=spec.loop is None)
    if compiled.version is None:
        return LearnReport(None, len(runs), compiled.open)
    site = _site(runs, spec)
    scope = Scope(site=site, goal=goal_hash(spec.goal), record_schema=schema_hash(schema))
    begins = spec.url if spec.loop is None else ""  # of a loop each item begins elsewhere
    version = compiled.version.model_copy(update={"url": begins})
    workflow = Workflow(name=name or _name_of(site, scope), scope=scope, versions=(version,))
    return LearnReport(json.dumps(write_workflow(workflow)).encode(), len(runs), compiled.version.open)


async def _demonstration_report(client: Api, session: str) -> LearnReport:
    """The session in which a person showed a workflow, where one was drafted."""
    detail = SessionDetail.model_validate(await client.session(session))
    if any(artifact.kind == DRAFT for artifact in detail.artifacts):
        return LearnReport(None, 1, (), session)
    return LearnReport(None, 1, (Decision(what=session, why=detail.reason or "no person has shown anything"),))


async def _runs(client: Api, job: str, items: int, *, loop: bool) -> list[SessionEvidence]:
    async def read(**query: Json) -> dict[str, Json]:
        return await client.sessions(job, status=["completed"], **query)

    sessions, _ = await rows(read, "sessions", _LOOKED_AT * items)
    runs: list[SessionEvidence] = []
    for session in map(Session.model_validate, sessions):
        if loop and not session.depth:
            continue  # the root has found the items, and none of them is its own
        detail = SessionDetail.model_validate(await client.session(session.id))
        evidence = next((artifact.id for artifact in detail.artifacts if artifact.kind == KIND), None)
        if evidence is not None:
            data, _ = await client.artifact(evidence)
            runs.append(unpacked(data))
        if len(runs) == items:
            break
    return runs


def _site(runs: list[SessionEvidence], spec: JobSpec) -> str:
    pages = [page.url for run in runs for page in run.pages]
    return urlsplit(pages[0] if pages else spec.url).netloc.lower()


def _name_of(site: str, scope: Scope) -> str:
    goal_and_schema: Mapping[str, str] = {"goal": scope.goal, "schema": scope.record_schema}
    plain = re.sub(r"[^a-z0-9.-]+", "-", site).strip(".-") or "site"
    return f"{plain[:60]}-{schema_hash(dict(goal_and_schema))[:8]}"
