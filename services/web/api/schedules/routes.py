"""Routes of schedules: put, list, look at, pause, resume, fire, accept, delete, and their runs."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import ValidationError

from shoal.services.errors import BadInput
from shoal.services.schedules.spec import ScheduleSpec
from shoal.services.store.schedules.records import ScheduleRow
from shoal.services.web.api.changes import body_of
from shoal.services.web.api.jobs import JSON, bad_cursor
from shoal.services.web.api.views.schedules import SchedulePage, ScheduleRunPage, ScheduleRunView, ScheduleView
from shoal.services.web.aside import aside
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.audit import note_detail
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.body import JSON_TYPES, read_body, require_type
from shoal.services.web.http.lazy_route import LazyRoute
from shoal.services.web.http.problems import faults_of
from shoal.services.web.specs.specs import SpecChecker, parse_json, validation_faults

Verb = Literal["pause", "resume", "fire", "accept"]
VERBS: dict[Verb, str] = {
    "pause": "Let a schedule fire no more",
    "resume": "Let a paused schedule fire again, from its next time on",
    "fire": "Let a schedule run now; its times stay what they are",
    "accept": "Take the newest run as the measure of later ones, and its mark away",
}
"""Commands of an operator to a schedule, with a sentence for the documentation."""


def schedule_routes(deps: GatewayDeps, authenticator: Authenticator, checker: SpecChecker) -> APIRouter:
    """The routes under /v1/schedules. Each caller sees the schedules of its own tenant alone."""
    router = APIRouter(prefix="/v1", tags=["schedules"], route_class=LazyRoute)
    _add_looking(router, deps, authenticator)
    store = deps.store.schedules

    @router.post(
        "/schedules",
        status_code=201,
        response_model=ScheduleView,
        responses={200: {"model": ScheduleView, "description": "A schedule of this name was changed"}},
        openapi_extra=body_of(ScheduleSpec, JSON),
        summary="Make a schedule, or change the one of its name",
    )
    async def put(request: Request, caller: Caller = Depends(guard(authenticator, "submit"))) -> Response:
        """201 for a new one, 200 for one that was there: its runs stay, and its times where they are the same."""
        require_type(request, JSON_TYPES)
        spec = await checked_schedule(await read_body(request, deps.options.body_limit), caller.tenant, checker)
        row, created = await store.put(caller.tenant, spec, caller.name or None)
        note_detail(request, spec.name)
        return Response(ScheduleView.of(row).json_bytes(), status_code=201 if created else 200, media_type=JSON)

    @router.delete("/schedules/{name}", status_code=204, summary="Delete a schedule")
    async def drop(name: str, caller: Caller = Depends(guard(authenticator, "control"))) -> Response:
        """Its jobs stay; a run that goes on is not stopped."""
        await store.drop(caller.tenant, name)
        return Response(status_code=204)

    def add_verb(verb: Verb, summary: str) -> None:
        @router.post(
            f"/schedules/{{name}}/{verb}", response_model=ScheduleView, summary=summary, name=f"{verb}_schedule"
        )
        async def command(name: str, caller: Caller = Depends(guard(authenticator, "control"))) -> Response:
            row = await command_schedule(deps, verb, caller.tenant, name)
            return Response(ScheduleView.of(row).json_bytes(), media_type=JSON)

    for verb, summary in VERBS.items():
        add_verb(verb, summary)
    return router


def _add_looking(router: APIRouter, deps: GatewayDeps, authenticator: Authenticator) -> None:
    store = deps.store.schedules
    may_read = guard(authenticator, "read")

    @router.get("/schedules", response_model=SchedulePage, summary="List schedules by name")
    async def listing(
        caller: Caller = Depends(may_read),
        cursor: str | None = Query(None, description="`next` of the page before"),
        limit: int = Query(50, ge=1, le=500),
    ) -> Response:
        """Schedules of the caller's tenant."""
        rows = await store.listed(caller.tenant, after=cursor, limit=limit + 1)
        shown = [ScheduleView.of(row) for row in rows[:limit]]
        page = SchedulePage(schedules=shown, next=shown[-1].name if len(rows) > limit else None)
        return Response(page.json_bytes(), media_type=JSON)

    @router.get("/schedules/{name}", response_model=ScheduleView, summary="Look at a schedule")
    async def show(name: str, caller: Caller = Depends(may_read)) -> Response:
        """The schedule with its next five times."""
        return Response(ScheduleView.of(await store.get(caller.tenant, name)).json_bytes(), media_type=JSON)

    @router.get("/schedules/{name}/runs", response_model=ScheduleRunPage, summary="List a schedule's runs")
    async def runs(
        name: str,
        caller: Caller = Depends(may_read),
        cursor: str | None = Query(None, description="`next` of the page before"),
        limit: int = Query(30, ge=1, le=500),
    ) -> Response:
        """The newest first."""
        rows = await store.runs(caller.tenant, name, before=_moment(cursor), limit=limit + 1)
        shown = [ScheduleRunView.of(row) for row in rows[:limit]]
        page = ScheduleRunPage(runs=shown, next=rows[limit - 1].at.isoformat() if len(rows) > limit else None)
        return Response(page.json_bytes(), media_type=JSON)

    @router.get("/schedules/{name}/runs/latest", response_model=ScheduleRunView, summary="A schedule's newest good run")
    async def latest(name: str, caller: Caller = Depends(may_read)) -> Response:
        """The newest run that completed and is not degraded; 404 before there is one."""
        row = await store.newest_completed(caller.tenant, name)
        return Response(ScheduleRunView.of(row).json_bytes(), media_type=JSON)


async def command_schedule(deps: GatewayDeps, verb: Verb, tenant: str, name: str) -> ScheduleRow:
    """Does what `verb` says to a schedule.

    Raises:
        NotFound, WrongState.
    """
    store = deps.store.schedules
    match verb:
        case "pause" | "resume":
            return await store.pause(tenant, name, verb == "pause")
        case "fire":
            return await store.fire_now(tenant, name)
        case "accept":
            return await store.accept(tenant, name)


async def checked_schedule(body: bytes, tenant: str, checker: SpecChecker) -> ScheduleSpec:
    """The schedule in `body`, whose job a submission would take now.

    Raises:
        BadInput: listing each fault as {field, reason}; those of the job begin with `job.`.
    """
    spec, job = await aside(len(body), _read, body)
    try:
        await checker.check(job, tenant)
    except BadInput as error:
        faults = [{**fault, "field": f"job.{fault['field']}"} for fault in faults_of(error)]
        raise BadInput(f"The schedule's job: {error.message}", errors=faults) from None
    return spec


def _read(body: bytes) -> tuple[ScheduleSpec, bytes]:
    """The schedule in `body`, and its job as a submission would spell it."""
    parse_json(body)  # says line and column where it is none
    try:
        spec = ScheduleSpec.model_validate_json(body, strict=True)
    except ValidationError as error:
        faults = validation_faults(error, ScheduleSpec, body)
        raise BadInput(
            f"The schedule is not valid: {faults[0]['field']}: {faults[0]['reason']}.", errors=faults
        ) from None
    return spec, spec.job.model_dump_json(by_alias=True, exclude_defaults=True).encode()


def _moment(cursor: str | None) -> float | None:
    try:
        return None if cursor is None else datetime.fromisoformat(cursor).timestamp()
    except ValueError:
        raise bad_cursor("cursor") from None
