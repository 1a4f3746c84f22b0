"""The route of events: a job's event rows as server-sent events, resumable at any of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from shoal.agent.status import FINAL
from shoal.services.errors import BadInput, StoreAway
from shoal.services.events import JobEvent
from shoal.services.metrics import Metrics
from shoal.services.store import ids
from shoal.services.store.store import Store
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.lazy_route import LazyRoute
from shoal.services.web.live.event_feed import PAGE, EventFeed, StreamedEvent, streamed_event
from shoal.services.web.live.shares import SharedStream

PING_S = 15
OVER_S = 30.0
"""A stream to which nothing came for so long asks whether its job is over."""
RECONNECT_MS = 2000
Holds = Callable[[], Awaitable[bool]]
"""A test that the key or login that a stream was opened with still opens it."""
_MAX_SEQ = 2**63 - 1


def feed_routes(deps: GatewayDeps, authenticator: Authenticator, feed: EventFeed) -> APIRouter:
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
        return await event_stream(deps, feed, row.id, start, caller.tenant, follow=follow, holds=holds)

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


async def event_stream(
    deps: GatewayDeps, feed: EventFeed, job: int, after: int, tenant: str, *, follow: bool, holds: Holds
) -> Response:
    """The stream of `job` after an event; 204 where it is over, which tells a browser not to reconnect.

    It ends with the key that opened it: `holds` is asked before anything more is told.

    Args:
        tenant: in whose share the stream is.

    Raises:
        QuotaExceeded: the tenant has too many.
    """
    deps.streams.admit(tenant)
    first = await deps.store.events(job=job, after=after, limit=PAGE)
    if follow and not first and (await deps.store.job(job)).status in FINAL:
        return Response(status_code=204)
    events = _followed(deps.store, feed, job, after, holds) if follow else _there(deps.store, job, after, holds)
    return SharedStream(_counted(deps.metrics, events), deps.streams.one(tenant), ping=PING_S)


async def _counted(metrics: Metrics, events: AsyncGenerator[Sequence[StreamedEvent], None]) -> AsyncIterator[bytes]:
    """The bytes of the stream. A store that is away ends it: the client comes back with the last id that it saw."""
    metrics.event_streams.inc()
    try:
        yield ServerSentEvent(retry=RECONNECT_MS, comment="shoal").encode()
        async with aclosing(events):
            async for several in events:
                yield b"".join(event.data for event in several)
    except StoreAway:
        return
    finally:
        metrics.event_streams.dec()


async def _there(store: Store, job: int, after: int, holds: Holds) -> AsyncGenerator[Sequence[StreamedEvent], None]:
    """Yield what the store has behind an event."""
    while await holds():
        page = [streamed_event(row) for row in await store.events(job=job, after=after, limit=PAGE)]
        if page:
            after = page[-1].seq
            yield page
        if len(page) < PAGE:
            return


async def _followed(
    store: Store, feed: EventFeed, job: int, after: int, holds: Holds
) -> AsyncGenerator[Sequence[StreamedEvent], None]:
    """Yield what the store has behind an event, and then what comes, until the job is over."""
    async with feed.following(job) as follower:
        while True:
            follower.overrun = False
            last = ""
            async with aclosing(_there(store, job, after, holds)) as pages:
                async for page in pages:
                    after, last = page[-1].seq, page[-1].name
                    yield page
            if not await holds():
                return
            is_over = last in ("", JobEvent.FINISHED) and (await store.job(job)).status in FINAL
            while not is_over:
                came = [event for event in await follower.next(OVER_S) if event.seq > after]
                if follower.ended or not await holds():
                    return
                if follower.overrun:
                    break
                if came:
                    after = came[-1].seq
                    yield came
                # Asked only when the last event says so, or when nothing came for long.
                asks = not came or came[-1].name == JobEvent.FINISHED
                is_over = asks and (await store.job(job)).status in FINAL
            if is_over:
                return
