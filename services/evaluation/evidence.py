"""A gateway's data of a finished job, as its judge and its readers need them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from shoal.agent.evaluate import Trial
from shoal.agent.models.model import Image
from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import Record, Task
from shoal.api import Api

_MOST_SESSIONS = 50
"""Sessions of one job that are looked at: a loop may have a hundred thousand."""

_TASKS = TypeAdapter(tuple[Task, ...])
_PAGE_CHARS = 100_000


@dataclass(frozen=True, slots=True)
class EpisodeEvidence:
    """A finished job with its sessions."""

    job: Mapping[str, Json]
    sessions: tuple[Mapping[str, Json], ...]  # the root first, then items in order; at most 50
    records: tuple[Json, ...]  # values of all result lines

    @property
    def root(self) -> Mapping[str, Json]:
        """The session that the job began with."""
        return self.sessions[0] if self.sessions else {}

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Return what the last attempt of each session did, in order."""
        done: tuple[Task, ...] = ()
        for session in self.sessions:
            attempts = session["attempts"]
            done = (*done, *_TASKS.validate_python(attempts[-1] if attempts else []))
        return done

    @property
    def steps(self) -> int:
        """Steps of all attempts."""
        tasks = (task for session in self.sessions for attempt in session["attempts"] for task in attempt)
        return sum(len(task["steps"]) for task in tasks)

    @property
    def answer(self) -> str:
        """The free-text answer, "" where there is none."""
        return str(self.root.get("answer", ""))

    @property
    def address(self) -> str:
        """Return where the job's root session ended."""
        return str(self.root.get("url", ""))


async def evidence_of(client: Api, job: Mapping[str, Json]) -> EpisodeEvidence:
    """Return what is kept of `job`, which is final."""
    page = await client.sessions(job["id"], limit=_MOST_SESSIONS)
    sessions = [await client.session(row["id"]) for row in page["sessions"]]
    records: list[Json] = []
    after: str | None = None
    while True:
        lines, after = await client.result_page(job["id"], after=after, limit=1000)
        records += [line["record"] for line in map(_loads, lines) if line["record"] is not None]
        if after is None:
            return EpisodeEvidence(job, tuple(sessions), tuple(records))


_LINE: TypeAdapter[dict[str, Json]] = TypeAdapter(dict[str, Any])


def _loads(line: bytes) -> dict[str, Json]:
    return _LINE.validate_json(line)


async def trial_of(client: Api, spec: JobSpec, evidence: EpisodeEvidence, *, screenshots: int) -> Trial:
    """The run as its judge sees it: with the last screenshots, in order, and the text of the last page."""
    names = pictures(evidence.sessions)[-screenshots:] if screenshots > 0 else []
    return Trial(
        spec=spec,
        tasks=evidence.tasks,
        answer=evidence.answer,
        records=tuple(Record(value) for value in evidence.records),
        url=evidence.address,
        text=await _last_page(client, evidence.root),
        screenshots=tuple([Image(*await client.artifact(name)) for name in names]),
    )


def pictures(sessions: Sequence[Mapping[str, Json]]) -> list[str]:
    """Screenshots of all steps in order, each once; the last one of a session is its end."""
    names = [
        name
        for session in sessions
        for name in [
            *(step["screenshot"] for attempt in session["attempts"] for task in attempt for step in task["steps"]),
            session["screenshot"],
        ]
    ]
    return list(dict.fromkeys(name for name in names if name))


async def _last_page(client: Api, session: Mapping[str, Json]) -> str:
    pages = [artifact["id"] for artifact in session.get("artifacts", ()) if artifact["kind"] == "page"]
    if not pages:
        return ""
    data, _ = await client.artifact(pages[-1])
    return data.decode("utf-8", "replace")[:_PAGE_CHARS]
