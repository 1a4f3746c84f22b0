"""The stream for people who look at a session: its pictures and its state, as server-sent events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass

import orjson
from sse_starlette import EventSourceResponse, ServerSentEvent

from shoal.agent.status import FINAL, Status
from shoal.agent.support.json_value import Json
from shoal.services.errors import NotFound, QuotaExceeded, StoreAway
from shoal.services.live_messages import PING_S
from shoal.services.store.store import Store
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.live.rooms import LiveRooms, Room
from shoal.services.web.live.shares import SharedStream

_LOOK_S = 2.0
"""A session that no worker shows is looked at in the store that often; so is the key of the person who looks."""
_RECONNECT_MS = 2000
Holds = Callable[[], Awaitable[bool]]
"""A test that the key or login that a stream was opened with still opens it."""


async def live_stream(
    deps: GatewayDeps, rooms: LiveRooms, session: int, caller: Caller, holds: Holds
) -> EventSourceResponse:
    """The stream of one person. It ends with the session, and with the key that opened it.

    Raises:
        NotFound: there is no such session for them.
        WrongState: workers do not reach this gateway.
        QuotaExceeded: people of the caller's tenant have too many streams, or look at too many sessions, or too many of
            them look at this one.
    """
    deps.streams.admit(caller.tenant)
    rooms.require()
    detail = await deps.store.session(session, tenant=caller.sees)
    tenant = (await deps.store.job(detail.row.job, tenant=caller.sees)).tenant
    if detail.row.status is Status.RUNNING:
        rooms.of(session, tenant, caller.tenant).people.admit(caller.tenant)
    view = LiveView(session, tenant, caller.tenant)
    return SharedStream(_viewed(deps, rooms, view, holds), deps.streams.one(caller.tenant), ping=15)


@dataclass(frozen=True, slots=True)
class LiveView:
    """The session that one person looks at."""

    session: int
    tenant: str  # whose session it is
    looks: str  # the person's tenant


async def _viewed(deps: GatewayDeps, rooms: LiveRooms, view: LiveView, holds: Holds) -> AsyncIterator[ServerSentEvent]:
    deps.metrics.event_streams.inc()
    try:
        async with aclosing(_events(deps.store, rooms, view, holds)) as events:
            async for event in events:
                yield event
    except (StoreAway, QuotaExceeded):
        return  # the browser comes back by itself, and is told why
    finally:
        deps.metrics.event_streams.dec()


async def _events(
    store: Store, rooms: LiveRooms, view: LiveView, holds: Holds
) -> AsyncGenerator[ServerSentEvent, None]:
    """The events of one view. It is in a room only while the session runs."""
    yield ServerSentEvent(retry=_RECONNECT_MS, comment="shoal")
    sent: Json = None
    frames = asked_at = looked_at = 0.0
    status = ""
    room: Room | None = None
    async with AsyncExitStack() as seat:
        while True:
            now = time.monotonic()
            if now - looked_at >= _LOOK_S:
                if not await holds():
                    return
                status = await _status(store, view.session)
                looked_at = now
                if status == Status.RUNNING and room is None:
                    room = await seat.enter_async_context(rooms.looking(view.session, view.tenant, view.looks))
                    frames = asked_at = 0.0
                elif status != Status.RUNNING and room is not None:
                    await seat.aclose()
                    room = None
            if status in FINAL or status == "":
                yield _event("end", {"status": status})
                return
            if room is not None and now - asked_at >= PING_S:
                await rooms.request(room)
                asked_at = now
            standing = _standing(room, status)
            if standing != sent:
                sent = standing
                yield _event("standing", standing)
            if room is None:
                await asyncio.sleep(_LOOK_S)
                continue
            frame, number = room.frame, room.frames
            if frame is not None and number != frames:
                frames = number
                yield _event("frame", {"jpeg": frame.jpeg, "width": frame.width, "height": frame.height})
            elif standing == _standing(room, status):
                await room.changed(_LOOK_S)


async def _status(store: Store, session: int) -> str:
    """Return how the session stands in the store; "" when it is not there any more."""
    try:
        return (await store.session(session)).row.status.value
    except NotFound:
        return ""


def _standing(room: Room | None, status: str) -> Json:
    known = room.standing if room is not None else None
    standing = known.model_dump(mode="json", exclude={"kind"}) if known is not None else {}
    return {"status": status, "linked": room is not None and room.linked, **standing}


def _event(name: str, data: Json) -> ServerSentEvent:
    return ServerSentEvent(orjson.dumps(data).decode(), event=name)
