"""The asynchronous client of a gateway."""

from __future__ import annotations

import asyncio
import json
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Literal

from shoal import bodies, tables
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.api import TRIES, Api, passing, rows, tries
from shoal.connect import connect
from shoal.errors import ApiError, ShoalError
from shoal.ready import ReadyLines
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
from shoal.schedules import Schedules
from shoal.trial import Trial
from shoal.version_trial import VersionTrial

if TYPE_CHECKING:
    import httpx
    import pandas
    import pyarrow

    from shoal.agent.spec import JobSpec


BATCH_LINES = 500
"""Jobs of one request of `submit_batch`; what was read of its answer is not sent again."""
_LOOK_EVERY_S = 0.5
"""Pause between two looks at the results of a running job."""
UNCHANGED: Any = object()


class AsyncClient:
    """A client of one gateway, for asyncio.

        async with AsyncClient() as client:
            job = await client.submit(JobSpec(url="https://shop.example/", goal="…"))
            async for result in client.results(job.id):
                print(result.record)

    Requests are tried again, with growing pauses, while the gateway is away or says that it is busy. Submissions carry
    an idempotency key, so that trying again stores a job once.

    Every method that asks the gateway raises `GatewayUnreachable` when it is away after all tries, and a subclass of
    `ApiError` when it refuses: `AuthenticationFailed`, `PermissionDenied`, `NotFound`, `RateLimited`,
    `ServerUnavailable`, and those that the method names.

    Args:
        url: address of the gateway. "": SHOAL_URL, SHOAL_GATEWAY, or the cluster that runs on this machine.
        api_key: "": SHOAL_API_KEY. A gateway on loopback needs none.
        transport: replaces the HTTP transport, for tests.

    Raises:
        GatewayUnreachable: no gateway is named, and none runs on this machine.
        ValueError: `url` is not an HTTP address.
    """

    def __init__(self, url: str = "", api_key: str = "", *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._api = connect(url, api_key, transport=transport)

    @classmethod
    def over(cls, api: Api) -> AsyncClient:
        """A client that uses an open `Api`; closing the client closes it."""
        client = cls.__new__(cls)
        client._api = api
        return client

    @property
    def url(self) -> str:
        """Address of the gateway."""
        return self._api.url

    async def __aenter__(self) -> AsyncClient:
        return self

    @property
    def schedules(self) -> Schedules:
        """Schedules: `put`, `all`, `get`, `runs`, `latest`, `command`, `drop`, and keys to their results."""
        return Schedules(self._api)

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the connections."""
        await self._api.close()

    # --- submission ----------------------------------------------------------------------------------

    async def submit(self, spec: JobSpec | Mapping[str, Json], *, key: str | None = None) -> SubmittedJob:
        """Submits one job.

        Args:
            spec: a `JobSpec`, or the same as a mapping.
            key: idempotency key: the same one with the same spec gives the same job. None: one is made for this call.

        Raises:
            BadRequest: the spec is not valid; `faults` names each field.
            KeyReused: the key stands for a job with another spec.
        """
        return SubmittedJob.model_validate(await self._api.submit(bodies.spec_json(spec), key=key))

    async def try_job(
        self, spec: JobSpec | Mapping[str, Json], *, items: int | None = None, timeout_s: float | None = None
    ) -> Trial:
        """Runs a sample of a job at once: how many items it has, some records, and where each value is from.

        No form is sent but the login's, and nothing is kept.

        Args:
            spec: a `JobSpec`, or the same as a mapping.
            items: so many items of each loop are opened, 1 to 10. None: 3.
            timeout_s: the answer comes after so many seconds in any case, 5 to 300. None: 90.

        Raises:
            BadRequest: the spec is not valid; `faults` names each field.
        """
        answer = await self._api.attempt(bodies.spec_json(spec), items=items, timeout_s=timeout_s)
        return Trial.model_validate(answer)

    async def try_workflow(
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
        """Runs a version of a workflow on given pages at once: the record of each and what each channel read, or why
        there is none.

        An action that may send something or may run once only is named and not done. Nothing is kept.

        Args:
            name: of the workflow.
            urls: addresses of 1 to 10 pages.
            version: its number. None: the active one.
            start: the node where it begins. None: the version's first.
            data: details for parameters from the job's data.
            item: the loop's item, such as a row with details for a form; it goes with one address. None: each page's
                address is its item.
            timeout_s: the answer comes after so many seconds in any case, 5 to 300. None: 90.

        Raises:
            BadRequest: an address or a node is not valid; `faults` names each field.
            NotFound: there is no such workflow or version.
        """
        body = {"urls": list(urls), "version": version, "start": start, "data": data, "item": item}
        return VersionTrial.model_validate(await self._api.try_workflow(name, body, timeout_s=timeout_s))

    async def submit_batch(
        self, specs: Iterable[JobSpec | Mapping[str, Json]], *, key: str | None = None
    ) -> list[BatchLine]:
        """Submits many jobs; each is stored by itself, and one that is refused does not keep the others back.

        Args:
            specs: the jobs, in order.
            key: idempotency key of the batch. Job n, counted from 1, has the key `KEY:n` unless its spec has one, so
                that the whole batch can be submitted again. None: a key is made for this call.

        Returns:
            A line for each job, in the order of `specs`: `job` is its id, or `error` says why it was refused.
        """
        whole = key or uuid.uuid4().hex
        done: list[BatchLine] = []
        chunk: list[bytes] = []
        for number, spec in enumerate(specs, 1):
            fields = bodies.spec_fields(spec)
            if fields.get("idempotency_key") is None:
                fields["idempotency_key"] = f"{whole}:{number}"
            chunk.append(json.dumps(fields).encode() + b"\n")
            if len(chunk) == BATCH_LINES:
                done += await self._submit_chunk(chunk, first=len(done) + 1)
                chunk = []
        return [*done, *(await self._submit_chunk(chunk, first=len(done) + 1) if chunk else [])]

    async def _submit_chunk(self, chunk: Sequence[bytes], *, first: int) -> list[BatchLine]:
        """Return what became of each line; those whose answer is missing, or that say "not now", are sent again."""
        done: dict[int, BatchLine] = {}
        late: dict[int, BatchLine] = {}
        try:
            async for attempt in tries(TRIES):
                with attempt:
                    late.clear()
                    left = [index for index in range(len(chunk)) if index not in done]
                    async for answer in self._api.submit_lines(bodies.each([chunk[index] for index in left])):
                        index = left[answer["line"] - 1]
                        line = BatchLine.model_validate({**answer, "line": first + index})
                        kept = late if line.error is not None and passing(line.error.status) else done
                        kept[index] = line
                    if late:
                        error = next(iter(late.values())).error
                        assert error is not None
                        raise ApiError.of(error.status, {"code": error.code, "detail": error.detail})
        except ApiError:
            if not late:
                raise
        if missing := len(chunk) - len(done) - len(late):
            raise ShoalError(f"the gateway's answer to a batch lacks {missing} lines")
        return [line for _, line in sorted({**late, **done}.items())]

    # --- one job -------------------------------------------------------------------------------------

    async def job(self, job: str) -> Job:
        """The job `job`, with its counts and its spec."""
        return Job.model_validate(await self._api.job(job))

    async def jobs(
        self,
        *,
        status: Sequence[Status | str] = (),
        labels: Mapping[str, str] | None = None,
        text: str | None = None,
        limit: int = 100,
    ) -> list[JobSummary]:
        """The newest `limit` jobs first: of one of these statuses, all these labels, and with all words of `text`."""
        pairs = [f"{name}:{value}" for name, value in (labels or {}).items()]

        async def read(**page: Json) -> Mapping[str, Json]:
            return await self._api.jobs(status=[str(state) for state in status], label=pairs, text=text, **page)

        jobs, _ = await rows(read, "jobs", limit)
        return [JobSummary.model_validate(row) for row in jobs]

    async def cancel(self, job: str) -> Job:
        """Cancels a job; what runs is stopped.

        Raises:
            Conflict: the job has ended.
        """
        return await self._control(job, "cancel")

    async def pause(self, job: str) -> Job:
        """Holds a job back; its running sessions stop at their next checkpoint.

        Raises:
            Conflict: the job is not in a state that can be paused.
        """
        return await self._control(job, "pause")

    async def resume(self, job: str) -> Job:
        """Lets a paused job go on.

        Raises:
            Conflict: the job is not paused.
        """
        return await self._control(job, "resume")

    async def retry(self, job: str) -> Job:
        """Queues failed, terminated and canceled items again.

        Raises:
            Conflict: nothing can be queued again.
        """
        return await self._control(job, "retry")

    async def _control(self, job: str, verb: Literal["cancel", "pause", "resume", "retry"]) -> Job:
        return Job.model_validate(await self._api.control(job, verb))

    async def change(
        self,
        job: str,
        *,
        concurrency: int | None = UNCHANGED,
        deadline_s: float | None = UNCHANGED,
        job_tokens: int | None = UNCHANGED,
        priority: int = UNCHANGED,
    ) -> Job:
        """Changes the limits of a running job. What is left out stays; None takes a limit away.

        Args:
            concurrency: items of its outermost loop at once.
            deadline_s: seconds from now to the end of the job.
            job_tokens: model tokens of all its sessions, those spent included.
            priority: from -100 to 100.

        Raises:
            BadRequest: a value is out of its bounds.
            Conflict: the job has ended.
        """
        given = {
            "concurrency": concurrency,
            "deadline_s": deadline_s,
            "job_tokens": job_tokens,
            "priority": priority,
        }
        changes = {name: value for name, value in given.items() if value is not UNCHANGED}
        return Job.model_validate(await self._api.change(job, changes))

    async def write_again(self, job: str, sink: int) -> Sink:
        """Writes an ended job's records once more to one of its `sinks`, by its place there, from 0.

        Raises:
            Conflict: it waits for its next attempt.
        """
        return Sink.model_validate(await self._api.write_again(job, sink))

    async def delete(self, job: str) -> None:
        """Deletes an ended job with its sessions, results and artifacts.

        Raises:
            Conflict: the job has not ended.
            NotFound: there is no such job; also where a try whose answer was lost has deleted it.
        """
        await self._api.delete(job)

    async def wait(self, job: str, *, timeout_s: float | None = None) -> Job:
        """The job as it ended, whatever its status; `succeeded` of the job says whether it reached its goal.

        Raises:
            TimeoutError: the job has not ended within `timeout_s`; it goes on running.
        """
        async with asyncio.timeout(timeout_s):
            async for _ in self.events(job):
                pass
            return await self.job(job)

    async def events(self, job: str, *, after: int = 0) -> AsyncIterator[Event]:
        """The events of a job as they happen, each once, until the job has ended; a broken stream is taken up again.

        Args:
            after: give only events with a greater `seq`.
        """
        async with aclosing(self._api.events(job, after=after)) as events:
            async for event in events:
                yield event

    # --- results -------------------------------------------------------------------------------------

    async def results(self, job: str, *, follow: bool = True) -> AsyncIterator[Result]:
        """The results of a job, in item order: a line per record, and one for each item that gave none.

        Args:
            follow: True: until the job has ended; an item is given as soon as all before it have ended, and the items
                of a loop in a loop at the end. False: those that there are now.
        """
        if not follow:
            async for line in ReadyLines(self._api, job).rest():
                yield Result.model_validate_json(line)
            return
        spec = (await self.job(job)).spec
        lines = ReadyLines(self._api, job, early="loop" not in (spec.get("loop") or {}))
        changed = asyncio.Event()
        watching = asyncio.create_task(self._watch(job, changed))
        try:
            while not watching.done():
                await changed.wait()
                changed.clear()
                async for line in lines.ready():
                    yield Result.model_validate_json(line)
                await asyncio.wait({watching}, timeout=_LOOK_EVERY_S)
            await watching
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        async for line in lines.rest():
            yield Result.model_validate_json(line)

    async def _watch(self, job: str, changed: asyncio.Event) -> None:
        """Sets `changed` at each event of a job, and when its events are over."""
        try:
            async for _ in self.events(job):
                changed.set()
        finally:
            changed.set()

    async def changes(
        self, job: str, *, since: str = "previous", key: Sequence[str] = ()
    ) -> AsyncIterator[RecordChange]:
        """Yield what changed since an earlier run: the records that appeared, went or changed, and those of which it is
        unclear.

        Args:
            job: an ended job.
            since: the earlier job, which has ended as well. "previous": the last run of the same work that completed.
            key: names of the fields that name a record, "#item" or "#url". Empty: what the schema declares by `x-key`,
                else what is found.

        Raises:
            BadRequest: no record has such a field.
            Conflict: one of the jobs has not ended.
            NotFound: also where there is no earlier run.
        """
        pieces = self._api.changes(job, since=since, key=key)
        async for line in bodies.lines_of(pieces):
            yield RecordChange.model_validate_json(line)

    async def to_arrow(self, job: str) -> pyarrow.Table:
        """The results that there are now as an Arrow table: objects are flattened to columns such as `record.price`.

        Raises:
            MissingDependency: pyarrow is not installed.
        """
        tables.needed("pyarrow.parquet", "to_arrow")
        with tempfile.SpooledTemporaryFile(max_size=8 << 20) as file:
            async for piece in self._api.results(job, form="parquet"):
                file.write(piece)
            file.seek(0)
            return await asyncio.to_thread(tables.arrow_of, file)

    async def to_pandas(self, job: str) -> pandas.DataFrame:
        """The same as a DataFrame.

        Raises:
            MissingDependency: pandas is not installed.
        """
        tables.needed("pandas", "to_pandas")
        return tables.pandas_of(await self.to_arrow(job))

    # --- sessions, artifacts, questions ---------------------------------------------------------------

    async def sessions(self, job: str, *, status: Sequence[Status | str] = (), limit: int = 100) -> list[Session]:
        """The first `limit` sessions of a job with one of these statuses, in item order."""

        async def read(**page: Json) -> Mapping[str, Json]:
            return await self._api.sessions(job, status=[str(state) for state in status], **page)

        sessions, _ = await rows(read, "sessions", limit)
        return [Session.model_validate(row) for row in sessions]

    async def session(self, session: str) -> SessionDetail:
        """A session with its records, its artifacts, and the tasks and steps of each attempt."""
        return SessionDetail.model_validate(await self._api.session(session))

    async def settle(self, session: str, how: Literal["done", "retry"]) -> SessionDetail:
        """Says what became of the action of an unsure session.

        Args:
            how: "done": it took place, and the session counts as completed; "retry": it did not.

        Raises:
            Conflict: the session is not unsure.
        """
        return SessionDetail.model_validate(await self._api.settle(session, how))

    async def retry_session(self, session: str) -> SessionDetail:
        """Queues one failed, terminated or canceled session again, alone; its job goes on, where it had ended.

        Raises:
            Conflict: it is none of these, or unsure (see `settle`); it is a loop with items that are to be retried; or
                its job or loop is being ended, retried or summed up.
        """
        return SessionDetail.model_validate(await self._api.retry_session(session))

    async def artifact(self, artifact: str) -> tuple[bytes, str]:
        """The bytes of an artifact and their content type.

        Raises:
            Gone: the bytes are gone.
        """
        return await self._api.artifact(artifact)

    async def questions(self, *, job: str | None = None) -> list[Question]:
        """Return what running sessions, of one job or of all, need to be told by a person."""
        return [Question.model_validate(row) for row in (await self._api.questions(job=job))["questions"]]

    async def answer(self, question: str, text: str) -> None:
        """Answers a question; its session goes on within seconds."""
        await self._api.answer(question, text)

    async def notify(self) -> list[dict[str, Json]]:
        """The people whom the tenant tells of jobs without `notify`, as `notify` of a job has them."""
        return list((await self._api.notify())["notify"])

    async def set_notify(self, people: Sequence[Mapping[str, Json]]) -> list[dict[str, Json]]:
        """Sets whom the tenant tells of such jobs, those that run included; none: no people are told.

        Raises:
            BadRequest: `faults` names each field.
        """
        return list((await self._api.set_notify(people))["notify"])
