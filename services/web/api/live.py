"""Routes of running sessions that people look at and take over, and of the workers that show them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field, ValidationError
from sse_starlette import EventSourceResponse

from shoal.agent.status import Status
from shoal.services.errors import BadInput, NotFound, WrongState
from shoal.services.live_messages import MOST_MESSAGE_BYTES, UP
from shoal.services.store import ids
from shoal.services.store.store import Store
from shoal.services.web.api.changes import body_as, body_of
from shoal.services.web.api.jobs import JSON
from shoal.services.web.api.questions import require_token
from shoal.services.web.api.views.base import View
from shoal.services.web.api.views.sessions import TaskView
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.audit import note_detail, note_nothing
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.body import JSON_TYPES, read_body, require_type
from shoal.services.web.http.lazy_route import LazyRoute
from shoal.services.web.live.orders import LOGGED, TakeoverBody, order_of
from shoal.services.web.live.progress import Progress, progress_of
from shoal.services.web.live.rooms import LiveRooms, Room
from shoal.services.web.live.viewing import live_stream

_LINES = "application/x-ndjson"


class TakeoverView(View):
    """The state of a takeover."""

    lease: str = Field(description="names this takeover; it ends when nothing is said for 20 seconds")
    url: str = Field(description="of the page afterwards, where it was acted on")


class ProgressView(View):
    """The steps of a running session so far. Nothing of it is stored before its attempt ends."""

    running: bool = Field(description="false: what the session did is in its attempts")
    tasks: list[TaskView] = Field(description="the last one may be under way")
    left_out: int = Field(description="earlier steps that are not among them")
    missing: str = Field(description='why nothing is known, in words; "" when something is')


def live_routes(deps: GatewayDeps, authenticator: Authenticator, rooms: LiveRooms) -> APIRouter:
    """The routes of live sessions."""
    router = APIRouter(prefix="/v1", tags=["sessions"], route_class=LazyRoute)
    _add_people(router, deps, authenticator, rooms)
    _add_workers(router, deps, rooms)
    return router


def _add_people(router: APIRouter, deps: GatewayDeps, authenticator: Authenticator, rooms: LiveRooms) -> None:
    @router.get(
        "/sessions/{session}/live",
        summary="Look at a running session",
        response_class=EventSourceResponse,
        responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
    )
    async def look(session: str, caller: Caller = Depends(guard(authenticator, "read"))) -> Response:
        """Server-sent events: `standing` (who acts, the page's address, a dialog), `frame` (a JPEG of the page, up to
        five a second, nothing while the page shows a secret) and `end`."""
        return await live_stream(deps, rooms, ids.parse_session(session), caller, partial(authenticator.holds, caller))

    @router.get(
        "/sessions/{session}/progress",
        response_model=ProgressView,
        summary="See what a running session has done so far",
    )
    async def progress(session: str, caller: Caller = Depends(guard(authenticator, "read"))) -> Response:
        """Its tasks and steps, as far as its worker told them. The first call asks the worker, whose answer comes some
        seconds later; it goes on telling while this is asked again within some seconds."""
        detail = await deps.store.session(ids.parse_session(session), tenant=caller.sees)
        job = await deps.store.job(detail.row.job, tenant=caller.sees)
        done = await progress_of(rooms, detail.row, job.tenant, caller.tenant)
        known = done or Progress()
        counts = {"tasks": list(known.tasks), "left_out": known.left_out, "missing": known.missing}
        view = ProgressView.model_validate({"running": done is not None, **counts})
        return Response(view.json_bytes(), media_type=JSON)

    @router.post(
        "/sessions/{session}/live",
        response_model=TakeoverView,
        summary="Take a running session over",
        openapi_extra=body_of(TakeoverBody, "application/json"),
    )
    async def take_over(
        request: Request, session: str, caller: Caller = Depends(guard(authenticator, "control"))
    ) -> Response:
        """A person acts on the page in the agent's place: `take` first, `hand_back` at last. 409 when that is not
        possible, with the reason."""
        require_type(request, JSON_TYPES)
        body = await body_as(request, TakeoverBody, deps.options.body_limit)
        view = await obey(request, deps.store, rooms, ids.parse_session(session), body, caller)
        return Response(view.json_bytes(), media_type=JSON)


def _add_workers(router: APIRouter, deps: GatewayDeps, rooms: LiveRooms) -> None:
    @router.get(
        "/live/{ticket}",
        summary="Take orders for a session (for workers)",
        response_class=StreamingResponse,
        responses={200: {"content": {_LINES: {"schema": {"type": "string"}}}}},
    )
    async def orders(request: Request, ticket: str) -> Response:
        """Lines of JSON, as long as people look. Workers show the installation's token."""
        require_token(request, deps.options.help_token)
        return StreamingResponse(_lines(_room_by_ticket(rooms, ticket)), media_type=_LINES)

    @router.post(
        "/live/{ticket}", status_code=204, response_class=Response, summary="Send an update of a session (for workers)"
    )
    async def update(request: Request, ticket: str) -> Response:
        """A picture, how the session stands, or what became of an order."""
        require_token(request, deps.options.help_token)
        require_type(request, JSON_TYPES)
        room = _room_by_ticket(rooms, ticket)
        body = await read_body(request, MOST_MESSAGE_BYTES)
        try:
            room.take(UP.validate_json(body))
        except ValidationError as error:
            raise BadInput(f"The message cannot be read: {error.error_count()} faults.") from None
        return Response(status_code=204)


async def _lines(room: Room) -> AsyncIterator[bytes]:
    async for order in room.down():
        yield order.model_dump_json().encode() + b"\n"


def _room_by_ticket(rooms: LiveRooms, ticket: str) -> Room:
    room = rooms.by_ticket(ticket)
    if room is None:
        raise NotFound("this session has no viewer")
    return room


async def room_of(store: Store, rooms: LiveRooms, session: int, caller: Caller) -> Room:
    """The room of a session that `caller` may see, and that runs: no other needs one.

    Raises:
        NotFound: there is no such session for them.
        WrongState, QuotaExceeded: it does not run; or see `LiveRooms.of`.
    """
    room = rooms.by_session(session)
    if room is not None and room.linked and caller.sees in (None, room.tenant):
        return room
    detail = await store.session(session, tenant=caller.sees)
    if detail.row.status is not Status.RUNNING:
        raise WrongState(f"The session does not run: it is {detail.row.status.value}.")
    job = await store.job(detail.row.job, tenant=caller.sees)
    return rooms.of(session, job.tenant, caller.tenant)


async def obey(
    request: Request, store: Store, rooms: LiveRooms, session: int, body: TakeoverBody, caller: Caller
) -> TakeoverView:
    """Has the session's worker do what a person says.

    Raises:
        WrongState: it was not done, with the reason.
    """
    if body.do in LOGGED:
        note_detail(request, body.do)
    else:
        note_nothing(request)
    order = order_of(body, caller.name)
    room = await room_of(store, rooms, session, caller)
    if not room.linked or body.do == "keep":
        await rooms.request(room)
    done = await room.order(order)
    return TakeoverView(lease=order.lease, url=done.url)
