"""The route of events: a job's event rows as server-sent events, resumable at any of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

import orjson
from fastapi import APIRouter, Depends, Header, Query, Request, Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from shoal.agent.status import FINAL
from shoal.services.errors import BadInput, StoreAway
from shoal.services.events import JobEvent
from shoal.services.metrics import Metrics
from shoal.services.store import ids
from shoal.services.store.records import EventRow
from shoal.services.store.store import Store
from shoal.services.web.api.views.jobs import event_data
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.lazy_route import LazyRoute

PAGE = 500
PING_S = 15
LOOK_S = 10.0
"""A stream looks that often though nothing woke it: a missed notification must not silence it."""
AT_MOST_EVERY_S = 0.2
"""Pause between two looks of one stream, so that a busy store is not asked for every commit by every viewer."""
RECONNECT_MS = 2000
Holds = Callable[[], Awaitable[bool]]
"""Whether the key or login that a stream was opened with still opens it."""
_MAX_SEQ = 2**63 - 1


def feed_routes(deps: GatewayDeps, authenticator: Authenticator) -> APIRouter:
    """The routes of event streams."""
    router = APIRouter(prefix="/v1", tags=["events"], route_class=LazyRoute)

    @router.get(
        "/jobs/{job}/events",
        summary="Follow a job's events",
        response_class=EventSourceResponse,
        responses={
            200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
            204: {"description": "the job is final and every event was read: do not come back"},
        },
    )
    async def events(
        request: Request,
        job: str,
        caller: Caller = Depends(guard(authenticator, "read")),
        follow: bool = Query(True, description="false: what there is, then the end"),
        last_event_id: str | None = Header(None, description="go on after this event"),
        after: int | None = Query(None, ge=0, le=_MAX_SEQ, description="the same, for clients without headers"),
    ) -> Response:
        """Each event has its sequence number as id and its name as type. The stream ends when the job is final."""
        row = await deps.store.job(ids.parse_job(job), tenant=caller.sees)
        start = resume_point(last_event_id, after)
        holds = partial(authenticator.holds, caller)
        return await event_stream(deps.store, deps.metrics, row.id, start, follow=follow, holds=holds)

    return router


def resume_point(last_event_id: str | None, after: int | None) -> int:
    """The sequence number to go on after.

    Raises:
        BadInput: the header is not a number that we gave.
    """
    if last_event_id is None or last_event_id == "":
        return after or 0
    if last_event_id.isascii() and last_event_id.isdigit() and int(last_event_id[:20]) <= _MAX_SEQ:
        return int(last_event_id)
    raise BadInput(
        "Last-Event-ID is not the id of an event.", errors=[{"field": "Last-Event-ID", "reason": "is not a number"}]
    )


async def event_stream(store: Store, metrics: Metrics, job: int, after: int, *, follow: bool, holds: Holds) -> Response:
    """The stream of `job` after an event; 204 where it is over, which tells a browser not to reconnect.

    It ends with the key that opened it: `holds` is asked before anything more is told.
    """
    seen = await store.changed(0.0)
    first = await store.events(job=job, after=after, limit=PAGE)
    if follow and not first and (await store.job(job)).status in FINAL:
        return Response(status_code=204)
    stream = _counted(metrics, _events(store, job, after, first, seen, follow=follow, holds=holds))
    return EventSourceResponse(stream, ping=PING_S)


async def _counted(metrics: Metrics, events: AsyncIterator[ServerSentEvent]) -> AsyncIterator[ServerSentEvent]:
    metrics.event_streams.inc()
    try:
        async for event in events:
            yield event
    finally:
        metrics.event_streams.dec()


async def _events(
    store: Store, job: int, after: int, page: list[EventRow], seen: int, *, follow: bool, holds: Holds
) -> AsyncIterator[ServerSentEvent]:
    """Rows as they come. A store that is away ends the stream: the client comes back with the last id it saw."""
    yield ServerSentEvent(retry=RECONNECT_MS, comment="shoal")
    try:
        while True:
            looked_at = time.monotonic()
            for row in page:
                after = row.seq
                yield ServerSentEvent(orjson.dumps(event_data(row)).decode(), event=row.name, id=str(row.seq))
            if len(page) < PAGE:
                if not follow or await _is_over(store, job, page):
                    return
                seen = await store.changed(LOOK_S, since=seen)
                await asyncio.sleep(max(0.0, looked_at + AT_MOST_EVERY_S - time.monotonic()))
            if not await holds():
                return
            page = await store.events(job=job, after=after, limit=PAGE)
    except StoreAway:
        return


async def _is_over(store: Store, job: int, page: list[EventRow]) -> bool:
    """Whether no event will come any more: asked only when the last one says so, or when nothing came."""
    if page and page[-1].name != JobEvent.FINISHED:
        return False
    return (await store.job(job)).status in FINAL
