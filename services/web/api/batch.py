"""Many jobs at once: JSON lines in, one outcome per line out."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from typing import IO

import orjson
from fastapi import APIRouter, Depends, Request
from fastapi.responses import StreamingResponse

from shoal.agent.spec import JobSpec
from shoal.services import tracing
from shoal.services.errors import KeyReused, ServiceError, TooLarge
from shoal.services.store import ids
from shoal.services.store.records import NewJob, Submitted
from shoal.services.web.api.jobs import key_parameter
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.body import LINES_TYPES, read_lines, require_length, require_type
from shoal.services.web.http.lazy_route import LazyRoute
from shoal.services.web.http.problems import STATUS, faults_of
from shoal.services.web.http.quota import Quota
from shoal.services.web.specs.specs import SpecChecker

GROUP_JOBS = 500
"""Jobs of one transaction: enough that the commit does not count, few enough that others get in between."""
GROUP_BYTES = 4 << 20
"""A group is stored early once its lines have this size together, so that large jobs do not fill the memory."""
IN_MEMORY = 1 << 20
"""Outcomes beyond this size go to a temporary file until the body has been read."""
CHUNK = 1 << 16
NDJSON = "application/x-ndjson"


def batch_routes(deps: GatewayDeps, authenticator: Authenticator, checker: SpecChecker, quota: Quota) -> APIRouter:
    """The route of batches."""
    router = APIRouter(prefix="/v1", tags=["jobs"], route_class=LazyRoute)

    @router.post(
        "/jobs:batch",
        summary="Submit many jobs",
        response_class=StreamingResponse,
        responses={
            200: {
                "content": {NDJSON: {"schema": {"$ref": "#/components/schemas/SubmittedView"}}},
                "headers": {
                    "Shoal-Accepted": _count("lines whose job is stored, now or before under the same key"),
                    "Shoal-Refused": _count("lines that are not"),
                },
            }
        },
        openapi_extra={
            "parameters": [key_parameter("line n without a key of its own has this one, with `:n` behind it")],
            "requestBody": {
                "required": True,
                "content": {NDJSON: {"schema": {"type": "string", "description": "one job spec per line"}}},
            },
        },
    )
    async def batch(request: Request, caller: Caller = Depends(guard(authenticator, "submit"))) -> StreamingResponse:
        """Stores each line by itself: a bad one does not keep the others back.

        With an Idempotency-Key header, a line without a key of its own has `KEY:NUMBER`, so that the whole batch can
        be sent again. The answer begins when the body has been read: most clients do not read before they have
        written, and would wait for ever on a full connection.
        """
        require_type(request, LINES_TYPES)
        require_length(request, deps.options.batch_limit)
        outcomes: IO[bytes] = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  # closed by _contents
        run = _Batch(deps, checker, quota, caller, request.headers.get("idempotency-key"), outcomes)
        try:
            await run.read(request)
        except BaseException:
            outcomes.close()
            raise
        return StreamingResponse(
            _contents(outcomes),
            media_type=NDJSON,
            headers={"Shoal-Accepted": str(run.accepted), "Shoal-Refused": str(run.refused)},
        )

    return router


def _count(meaning: str) -> Mapping[str, object]:
    return {"description": meaning, "required": True, "schema": {"type": "integer", "minimum": 0}}


@dataclass(slots=True)
class _WaitingLines:
    """Lines that were read and wait for their group to be checked and stored, with the errors between them."""

    numbers: list[int] = field(default_factory=list)
    lines: list[bytes | ServiceError] = field(default_factory=list)
    size: int = 0


class _Batch:
    """One batch while it is read."""

    def __init__(
        self,
        deps: GatewayDeps,
        checker: SpecChecker,
        quota: Quota,
        caller: Caller,
        key: str | None,
        outcomes: IO[bytes],
    ) -> None:
        self._deps = deps
        self._checker = checker
        self._quota = quota
        self._caller = caller
        self._tenant = caller.tenant
        self._key = key
        self._outcomes = outcomes
        self._waiting = _WaitingLines()
        self.accepted = 0
        self.refused = 0

    async def read(self, request: Request) -> None:
        """Takes in every line of the body and writes its outcome."""
        limit, taken, number = self._deps.options.batch_limit, 0, 0
        async for line in read_lines(request, self._deps.options.body_limit):
            number += 1
            taken += len(line or b"") + 1
            if taken > limit:
                self._add(number, TooLarge(f"The batch has more than {limit} bytes; nothing from here on was read."))
                break
            if line is None:
                self._add(number, TooLarge(f"The line has more than {self._deps.options.body_limit} bytes."))
            elif line.strip():
                self._add(number, line)
            if len(self._waiting.lines) >= GROUP_JOBS or self._waiting.size >= GROUP_BYTES:
                await self._store()
        await self._store()

    def _add(self, number: int, line: bytes | ServiceError) -> None:
        self._waiting.numbers.append(number)
        self._waiting.lines.append(line)
        self._waiting.size += len(line) if isinstance(line, bytes) else 0

    async def _store(self) -> None:
        waiting, self._waiting = self._waiting, _WaitingLines()
        specs = []
        for line in waiting.lines:
            specs.append(await self._read(line))
            await asyncio.sleep(0)  # what else waits goes in between
        checked = await asyncio.gather(*map(self._check, waiting.numbers, specs))  # their names all at once
        done = iter(await self._admit([job for job in checked if isinstance(job, NewJob)]))
        for number, job in zip(waiting.numbers, checked, strict=True):
            self._write(number, next(done) if isinstance(job, NewJob) else job)

    async def _read(self, line: bytes | ServiceError) -> JobSpec | ServiceError:
        try:
            return line if isinstance(line, ServiceError) else await self._checker.read(line)
        except ServiceError as error:
            return error

    async def _check(self, number: int, spec: JobSpec | ServiceError) -> NewJob | ServiceError:
        """The job that a line asks for, under the batch's key where it has none of its own; or why it is refused."""
        if isinstance(spec, ServiceError):
            return spec
        try:
            job = await self._checker.admit(spec, self._tenant)
        except ServiceError as error:
            return error
        if self._key is not None and job.spec.idempotency_key is None:
            keyed = job.spec.model_copy(update={"idempotency_key": f"{self._key}:{number}"})
            job = replace(job, spec=keyed)
        return replace(job, submitted_by=self._caller.name or None)

    async def _admit(self, jobs: list[NewJob]) -> list[Submitted | ServiceError]:
        """Stores as many of a group as the tenant's quota has room for; the rest is refused line by line.

        Lines that were stored before take no room, so that a batch that is sent again gets further than the last time.
        """
        try:
            admitted = await self._quota.admits(self._tenant, jobs)
        except ServiceError as error:  # the store is away
            return [error] * len(jobs)
        stored = await self._submit([job for job, fits in zip(jobs, admitted, strict=True) if fits])
        self._quota.count_jobs(self._tenant, sum(isinstance(answer, Submitted) and answer.created for answer in stored))
        done = iter(stored)
        return [next(done) if fits else self._quota.exceeded(self._tenant) for fits in admitted]

    async def _submit(self, jobs: list[NewJob]) -> list[Submitted | ServiceError]:
        """Stores a group, all or nothing; where one line spoils it, each line by itself, which the store joins."""
        if not jobs:
            return []
        began = time.time()
        try:
            done = await self._deps.store.submit(jobs)
            for submitted in done:
                tracing.record("submit", tracing.job_place(submitted.job), below=None, began=began, batch=len(jobs))
            return list(done)
        except KeyReused as error:
            if len(jobs) == 1:
                return [error]
            alone = await asyncio.gather(*(self._submit([job]) for job in jobs))
            return [answer for (answer,) in alone]
        except ServiceError as error:  # the store is away: every line of the group says so
            return [error] * len(jobs)

    def _write(self, number: int, outcome: Submitted | ServiceError) -> None:
        line: dict[str, object]
        if isinstance(outcome, Submitted):
            self.accepted += 1
            if outcome.created:
                self._deps.metrics.jobs_submitted.labels("batch").inc()
            line = {"line": number, "job": ids.job_id(outcome.job), "created": outcome.created}
        else:
            self.refused += 1
            self._deps.metrics.submissions_refused.labels(outcome.code).inc()
            line = {"line": number, "error": problem_of(outcome)}
        self._outcomes.write(orjson.dumps(line) + b"\n")


def problem_of(error: ServiceError) -> dict[str, object]:
    """An error inside a stream, where no status line can carry it."""
    status = next((STATUS[cls] for cls in type(error).__mro__ if cls in STATUS), 500)
    problem: dict[str, object] = {"status": status, "code": error.code, "detail": error.message}
    if faults := faults_of(error):
        problem["errors"] = faults
    return problem


async def _contents(file: IO[bytes]) -> AsyncIterator[bytes]:
    with file:
        file.seek(0)
        while chunk := file.read(CHUNK):
            yield chunk
