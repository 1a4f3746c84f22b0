"""Routes of jobs: submit, list, look at, control, delete."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import AwareDatetime

from shoal.agent.status import FINAL, Status
from shoal.services.errors import BadInput, NotFound
from shoal.services.store import ids
from shoal.services.store.records import JobFilter, JobRow
from shoal.services.store.store import Store
from shoal.services.web.api.submitter import Submitter
from shoal.services.web.api.views.jobs import JobEnd, JobPage, JobSummary, JobView, SubmittedJob
from shoal.services.web.api.views.sinks import SinkView
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.body import JSON_TYPES, read_body, require_type
from shoal.services.web.http.lazy_route import LazyRoute
from shoal.services.web.results.dropping import drop_small

Verb = Literal["cancel", "pause", "resume", "retry"]
JSON = "application/json"


def submit_routes(deps: GatewayDeps, authenticator: Authenticator, submitter: Submitter) -> APIRouter:
    """The route of single submissions. The app should ask it first: it is the one that is called most."""
    router = APIRouter(prefix="/v1", tags=["jobs"], route_class=BareRoute)
    store = deps.store
    may_submit = guard(authenticator, "submit")

    @router.post(
        "/jobs",
        status_code=201,
        response_model=SubmittedJob,
        responses={
            200: {"model": SubmittedJob, "description": "The idempotency key was known", "headers": LOCATION},
            201: {"headers": LOCATION},
        },
        openapi_extra=SPEC_BODY,
        summary="Submit a job",
    )
    async def submit(request: Request) -> Response:
        """Stores one job. 201 for a new one; 200 with the earlier one when the idempotency key is known."""
        caller = await may_submit(request)
        require_type(request, JSON_TYPES)
        body = await read_body(request, deps.options.body_limit)
        done = await submitter.submit(body, caller, idempotency_key=request.headers.get("idempotency-key"))
        # A new job is queued; reading it back would cost as much as storing it.
        status = Status.QUEUED if done.created else (await store.job(done.job)).status
        return Response(
            SubmittedJob(id=ids.job_id(done.job), status=status, created=done.created).json_bytes(),
            status_code=201 if done.created else 200,
            media_type=JSON,
            headers={"Location": f"/v1/jobs/{ids.job_id(done.job)}"},
        )

    return router


def job_routes(deps: GatewayDeps, authenticator: Authenticator) -> APIRouter:
    """The routes under /v1/jobs that concern jobs which are there."""
    router = APIRouter(prefix="/v1", tags=["jobs"], route_class=LazyRoute)
    store = deps.store

    @router.get("/jobs", response_model=JobPage, summary="List jobs, newest first")
    async def listing(
        caller: Caller = Depends(guard(authenticator, "read")),
        status: list[Status] = Query(default=[], description="only these statuses"),
        label: list[str] = Query(default=[], description="only jobs with this label, as `name:value`"),
        text: str = Query(
            "", max_length=300, description="only jobs with these words in name, goal, address or labels"
        ),
        site: str = Query("", max_length=300, description="only jobs that start on this host"),
        since: AwareDatetime | None = Query(None, description="only jobs submitted then or later (ISO 8601)"),
        until: AwareDatetime | None = Query(None, description="only jobs submitted before (ISO 8601)"),
        cursor: str | None = Query(None, description="`next` of the page before"),
        limit: int = Query(50, ge=1, le=500),
    ) -> Response:
        """One page of jobs; pass `next` as `cursor` for the next one."""
        job_filter = JobFilter(
            tenant=caller.sees,
            statuses=tuple(status),
            labels=labels_of(label),
            text=text.replace("\0", ""),
            site=site.replace("\0", ""),
            since=since,
            until=until,
            before=job_cursor(cursor),
            limit=limit + 1,
        )
        rows = await store.jobs(job_filter)
        more = len(rows) > limit
        shown = rows[:limit]
        page = JobPage(jobs=[JobSummary.of(row) for row in shown], next=ids.job_id(shown[-1].id) if more else None)
        return Response(page.json_bytes(), media_type=JSON)

    @router.get("/jobs/{job}", response_model=JobView, summary="Look at a job")
    async def show(job: str, caller: Caller = Depends(guard(authenticator, "read"))) -> Response:
        """The job with its counts and its spec."""
        row = await store.job(ids.parse_job(job), tenant=caller.sees)
        learning = await store.learning.of_job(row.id)
        sinks = await store.sinks.of_job(row.id) if row.spec.sinks else ()
        run = await store.schedules.run_of_job(row.id)
        view = JobView.of(row, await job_end(store, row), learning, sinks, run)
        return Response(view.json_bytes(), media_type=JSON)

    @router.delete("/jobs/{job}", status_code=204, summary="Delete a final job with all it gave")
    async def delete(job: str, caller: Caller = Depends(guard(authenticator, "control"))) -> Response:
        """Removes the job, its sessions, results and artifacts: they are not found any more. 409 while it is not final.

        The rows and files of a job with more than 1,000 sessions are gone some time later.
        """
        number = ids.parse_job(job)
        await store.delete(number, tenant=caller.sees)
        await drop_small(store, deps.artifacts, number)
        return Response(status_code=204)

    @router.post("/jobs/{job}/sinks/{sink}/again", response_model=SinkView, summary="Write a job's records once more")
    async def write_again(
        job: str,
        sink: int = Path(ge=0, le=100, description="its place among the job's `sinks`, from 0"),
        caller: Caller = Depends(guard(authenticator, "control")),
    ) -> Response:
        """A sink that was given up goes on where it stopped; any other begins anew. 409 while it waits."""
        row = await store.sinks.again(ids.parse_job(job), sink, tenant=caller.sees)
        return Response(SinkView.of(row).json_bytes(), media_type=JSON)

    def add_control(verb: Verb, summary: str) -> None:
        @router.post(f"/jobs/{{job}}/{verb}", response_model=JobView, summary=summary, name=verb)
        async def control(job: str, caller: Caller = Depends(guard(authenticator, "control"))) -> Response:
            row = await control_job(deps, verb, ids.parse_job(job), caller)
            return Response(JobView.of(row).json_bytes(), media_type=JSON)

    for verb, summary in CONTROLS.items():
        add_control(verb, summary)
    return router


class BareRoute(LazyRoute):
    """A route whose function takes the request and nothing else.

    FastAPI's search for parameters and dependencies costs a third of what storing a job does, and finds none here.
    """

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        handle: Callable[[Request], Awaitable[Response]] = self.endpoint
        return handle


CONTROLS: Mapping[Verb, str] = {
    "cancel": "Cancel a job",
    "pause": "Hold a job back",
    "resume": "Let a paused job go on",
    "retry": "Queue failed, terminated and canceled items again",
}
"""Commands of an owner to a job, with a sentence for the documentation."""

LOCATION = {"Location": {"description": "where it is", "required": True, "schema": {"type": "string"}}}


def key_parameter(meaning: str) -> Mapping[str, object]:
    """The header `Idempotency-Key` in the document."""
    schema = {"type": "string", "minLength": 1, "maxLength": 200}
    return {"name": "Idempotency-Key", "in": "header", "required": False, "schema": schema, "description": meaning}


SPEC_BODY = {
    "parameters": [
        key_parameter("the same as the field `idempotency_key`: sent again, it gives the job of the first time")
    ],
    "requestBody": {
        "required": True,
        "content": {JSON: {"schema": {"$ref": "#/components/schemas/JobSpec"}}},
    },
}


async def control_job(deps: GatewayDeps, verb: Verb, job: int, caller: Caller) -> JobRow:
    """Does what `verb` says to a job that `caller` may see, and gives the job as it then stands.

    Raises:
        NotFound, WrongState.
    """
    match verb:
        case "cancel":
            return await deps.store.cancel(job, tenant=caller.sees)
        case "pause":
            return await deps.store.pause(job, tenant=caller.sees)
        case "resume":
            return await deps.store.resume(job, tenant=caller.sees)
        case "retry":
            return await deps.store.retry(job, tenant=caller.sees)


async def job_end(store: Store, job: JobRow) -> JobEnd:
    """Why a job ended as it did, and its answer, in the words of its root session.

    Both are "" before its end, and once its sessions are dropped.
    """
    if job.status not in FINAL or job.archive is not None:
        return JobEnd()
    try:
        outcome = (await store.session(job.root_session, tenant=job.tenant)).row.outcome
    except NotFound:  # dropped or deleted since
        return JobEnd()
    return JobEnd(outcome.reason, outcome.answer, outcome.rests_on) if outcome is not None else JobEnd()


def labels_of(pairs: Sequence[str]) -> dict[str, str]:
    """`name:value` pairs of a query as a mapping.

    Raises:
        BadInput: one has no colon.
    """
    labels: dict[str, str] = {}
    for pair in pairs:
        name, colon, value = pair.partition(":")
        if not colon or not name or "\0" in pair:
            raise BadInput("A label filter is `name:value`.", errors=[{"field": "label", "reason": f"not {pair!r}"}])
        labels[name] = value
    return labels


def job_cursor(text: str | None) -> int | None:
    """The job that a cursor stands for.

    Raises:
        BadInput: it is none of ours.
    """
    try:
        return None if text is None else ids.parse_job(text)
    except NotFound:
        raise bad_cursor("cursor") from None


def bad_cursor(field: str) -> BadInput:
    """The error for a cursor that no answer of ours gave."""
    return BadInput("The cursor is not one of ours.", errors=[{"field": field, "reason": "is not a cursor"}])
