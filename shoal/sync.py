"""The blocking client of a gateway: `AsyncClient` on an event loop in a thread of its own.

A thread rather than `asyncio.run`, so that it also works where an event loop runs already, as in notebooks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.support.loop_thread import LoopThread
from shoal.client import UNCHANGED, AsyncClient
from shoal.records import (
    BatchLine,
    Event,
    Job,
    JobSummary,
    Question,
    RecordChange,
    Result,
    Session,
    SessionDetail,
    Sink,
    SubmittedJob,
)
from shoal.schedules import Schedule, ScheduleKey, ScheduleRun, Schedules
from shoal.trial import Trial
from shoal.version_trial import VersionTrial

if TYPE_CHECKING:
    import httpx
    import pandas
    import pyarrow

    from shoal.agent.spec import JobSpec


class SyncSchedules:
    """The schedules of a `Client`. Each method is that of `Schedules`."""

    def __init__(self, schedules: Schedules, thread: LoopThread) -> None:
        self._schedules = schedules
        self._thread = thread

    def put(self, spec: Mapping[str, Json]) -> Schedule:
        """See `Schedules.put`."""
        return self._thread.run(self._schedules.put(spec))

    def all(self) -> list[Schedule]:
        """See `Schedules.all`."""
        return self._thread.run(self._schedules.all())

    def get(self, name: str) -> Schedule:
        """See `Schedules.get`."""
        return self._thread.run(self._schedules.get(name))

    def runs(self, name: str, limit: int = 30) -> list[ScheduleRun]:
        """See `Schedules.runs`."""
        return self._thread.run(self._schedules.runs(name, limit))

    def latest(self, name: str) -> ScheduleRun:
        """See `Schedules.latest`."""
        return self._thread.run(self._schedules.latest(name))

    def command(self, name: str, verb: Literal["pause", "resume", "fire", "accept"]) -> Schedule:
        """See `Schedules.command`."""
        return self._thread.run(self._schedules.command(name, verb))

    def make_key(self, name: str, label: str, *, days: float | None = None) -> ScheduleKey:
        """See `Schedules.make_key`."""
        return self._thread.run(self._schedules.make_key(name, label, days=days))

    def keys(self, name: str) -> list[ScheduleKey]:
        """See `Schedules.keys`."""
        return self._thread.run(self._schedules.keys(name))

    def revoke_key(self, name: str, key: int) -> None:
        """See `Schedules.revoke_key`."""
        self._thread.run(self._schedules.revoke_key(name, key))

    def drop(self, name: str) -> None:
        """See `Schedules.drop`."""
        self._thread.run(self._schedules.drop(name))


class Client:
    """A client of one gateway whose calls block.

        with Client() as client:
            job = client.submit(JobSpec(url="https://shop.example/", goal="…"))
            for result in client.results(job.id):
                print(result.record)

    Each method is that of `AsyncClient`, with the same arguments, results and errors.
    """

    def __init__(self, url: str = "", api_key: str = "", *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._client = AsyncClient(url, api_key, transport=transport)
        self._thread = LoopThread("shoal-client")

    @property
    def url(self) -> str:
        """Address of the gateway."""
        return self._client.url

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def schedules(self) -> SyncSchedules:
        """See `AsyncClient.schedules`."""
        return SyncSchedules(self._client.schedules, self._thread)

    def close(self) -> None:
        """Ends the connections."""
        try:
            self._thread.run(self._client.close())
        finally:
            self._thread.close()

    def submit(self, spec: JobSpec | Mapping[str, Json], *, key: str | None = None) -> SubmittedJob:
        """See `AsyncClient.submit`."""
        return self._thread.run(self._client.submit(spec, key=key))

    def try_job(
        self, spec: JobSpec | Mapping[str, Json], *, items: int | None = None, timeout_s: float | None = None
    ) -> Trial:
        """See `AsyncClient.try_job`."""
        return self._thread.run(self._client.try_job(spec, items=items, timeout_s=timeout_s))

    def try_workflow(
        self,
        name: str,
        urls: Sequence[str],
        *,
        version: int | None = None,
        start: str | None = None,
        data: Json = None,
        item: Json = None,
        timeout_s: float | None = None,
    ) -> VersionTrial:
        """See `AsyncClient.try_workflow`."""
        asked = self._client.try_workflow(
            name, urls, version=version, start=start, data=data, item=item, timeout_s=timeout_s
        )
        return self._thread.run(asked)

    def submit_batch(self, specs: Iterable[JobSpec | Mapping[str, Json]], *, key: str | None = None) -> list[BatchLine]:
        """See `AsyncClient.submit_batch`."""
        return self._thread.run(self._client.submit_batch(specs, key=key))

    def job(self, job: str) -> Job:
        """See `AsyncClient.job`."""
        return self._thread.run(self._client.job(job))

    def jobs(
        self,
        *,
        status: Sequence[Status | str] = (),
        labels: Mapping[str, str] | None = None,
        text: str | None = None,
        limit: int = 100,
    ) -> list[JobSummary]:
        """See `AsyncClient.jobs`."""
        return self._thread.run(self._client.jobs(status=status, labels=labels, text=text, limit=limit))

    def cancel(self, job: str) -> Job:
        """See `AsyncClient.cancel`."""
        return self._thread.run(self._client.cancel(job))

    def pause(self, job: str) -> Job:
        """See `AsyncClient.pause`."""
        return self._thread.run(self._client.pause(job))

    def resume(self, job: str) -> Job:
        """See `AsyncClient.resume`."""
        return self._thread.run(self._client.resume(job))

    def retry(self, job: str) -> Job:
        """See `AsyncClient.retry`."""
        return self._thread.run(self._client.retry(job))

    def change(
        self,
        job: str,
        *,
        concurrency: int | None = UNCHANGED,
        deadline_s: float | None = UNCHANGED,
        job_tokens: int | None = UNCHANGED,
        priority: int = UNCHANGED,
    ) -> Job:
        """See `AsyncClient.change`."""
        change = self._client.change(
            job, concurrency=concurrency, deadline_s=deadline_s, job_tokens=job_tokens, priority=priority
        )
        return self._thread.run(change)

    def write_again(self, job: str, sink: int) -> Sink:
        """See `AsyncClient.write_again`."""
        return self._thread.run(self._client.write_again(job, sink))

    def delete(self, job: str) -> None:
        """See `AsyncClient.delete`."""
        self._thread.run(self._client.delete(job))

    def wait(self, job: str, *, timeout_s: float | None = None) -> Job:
        """See `AsyncClient.wait`."""
        return self._thread.run(self._client.wait(job, timeout_s=timeout_s))

    def events(self, job: str, *, after: int = 0) -> Iterator[Event]:
        """See `AsyncClient.events`."""
        return self._thread.iterate(lambda: self._client.events(job, after=after))

    def results(self, job: str, *, follow: bool = True) -> Iterator[Result]:
        """See `AsyncClient.results`."""
        return self._thread.iterate(lambda: self._client.results(job, follow=follow))

    def changes(self, job: str, *, since: str = "previous", key: Sequence[str] = ()) -> Iterator[RecordChange]:
        """See `AsyncClient.changes`."""
        return self._thread.iterate(lambda: self._client.changes(job, since=since, key=key))

    def to_arrow(self, job: str) -> pyarrow.Table:
        """See `AsyncClient.to_arrow`."""
        return self._thread.run(self._client.to_arrow(job))

    def to_pandas(self, job: str) -> pandas.DataFrame:
        """See `AsyncClient.to_pandas`."""
        return self._thread.run(self._client.to_pandas(job))

    def sessions(self, job: str, *, status: Sequence[Status | str] = (), limit: int = 100) -> list[Session]:
        """See `AsyncClient.sessions`."""
        return self._thread.run(self._client.sessions(job, status=status, limit=limit))

    def session(self, session: str) -> SessionDetail:
        """See `AsyncClient.session`."""
        return self._thread.run(self._client.session(session))

    def settle(self, session: str, how: Literal["done", "retry"]) -> SessionDetail:
        """See `AsyncClient.settle`."""
        return self._thread.run(self._client.settle(session, how))

    def retry_session(self, session: str) -> SessionDetail:
        """See `AsyncClient.retry_session`."""
        return self._thread.run(self._client.retry_session(session))

    def artifact(self, artifact: str) -> tuple[bytes, str]:
        """See `AsyncClient.artifact`."""
        return self._thread.run(self._client.artifact(artifact))

    def questions(self, *, job: str | None = None) -> list[Question]:
        """See `AsyncClient.questions`."""
        return self._thread.run(self._client.questions(job=job))

    def answer(self, question: str, text: str) -> None:
        """See `AsyncClient.answer`."""
        self._thread.run(self._client.answer(question, text))

    def notify(self) -> list[dict[str, Json]]:
        """See `AsyncClient.notify`."""
        return self._thread.run(self._client.notify())

    def set_notify(self, people: Sequence[Mapping[str, Json]]) -> list[dict[str, Json]]:
        """See `AsyncClient.set_notify`."""
        return self._thread.run(self._client.set_notify(people))
