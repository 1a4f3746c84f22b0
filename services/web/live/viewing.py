"""What people who look at a session get: its pictures and how it stands, as server-sent events."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable

import orjson
from sse_starlette import EventSourceResponse, ServerSentEvent

from shoal.agent.status import FINAL
from shoal.agent.support.json_value import Json
from shoal.services.errors import NotFound, StoreAway
from shoal.services.live_messages import PING_S
from shoal.services.metrics import Metrics
from shoal.services.store.store import Store
from shoal.services.web.live.rooms import LiveRooms, Room

_LOOK_S = 2.0
"""A session that no worker shows is looked at in the store that often; so is the key of the person who looks."""
_RECONNECT_MS = 2000
Holds = Callable[[], Awaitable[bool]]
"""Whether the key or login that a stream was opened with still opens it."""


def live_stream(store: Store, metrics: Metrics, rooms: LiveRooms, room: Room, holds: Holds) -> EventSourceResponse:
    """The stream of one person. It ends with the session, and with the key that opened it.

    Raises:
        QuotaExceeded: too many people look at this session.
    """
    room.admit()
    return EventSourceResponse(_viewed(store, metrics, rooms, room, holds), ping=15)


async def _viewed(
    store: Store, metrics: Metrics, rooms: LiveRooms, room: Room, holds: Holds
) -> AsyncIterator[ServerSentEvent]:
    metrics.event_streams.inc()
    try:
        with room.viewing():
            async for event in _events(store, rooms, room, holds):
                yield event
    except StoreAway:
        return  # the browser comes back by itself
    finally:
        metrics.event_streams.dec()
        await rooms.let_go(room)


async def _events(store: Store, rooms: LiveRooms, room: Room, holds: Holds) -> AsyncIterator[ServerSentEvent]:
    yield ServerSentEvent(retry=_RECONNECT_MS, comment="shoal")
    told: Json = None
    frames = asked_at = looked_at = 0.0
    status = ""
    while True:
        now = time.monotonic()
        if now - asked_at >= PING_S:
            await rooms.request(room)
            asked_at = now
        if now - looked_at >= _LOOK_S:
            if not await holds():
                return
            status = await _status(store, room.session)
            looked_at = now
        if status in FINAL or status == "":
            yield _event("end", {"status": status})
            return
        standing = _standing(room, status)
        if standing != told:
            told = standing
            yield _event("standing", standing)
        frame, number = room.frame, room.frames
        if frame is not None and number != frames:
            frames = number
            yield _event("frame", {"jpeg": frame.jpeg, "width": frame.width, "height": frame.height})
        elif standing == _standing(room, status):
            await room.changed(_LOOK_S)


async def _status(store: Store, session: int) -> str:
    """How the session stands in the store; "" when it is not there any more."""
    try:
        return (await store.session(session)).row.status.value
    except NotFound:
        return ""


def _standing(room: Room, status: str) -> Json:
    known = room.standing
    told = known.model_dump(mode="json", exclude={"kind"}) if known is not None else {}
    return {"status": status, "linked": room.linked, **told}


def _event(name: str, data: Json) -> ServerSentEvent:
    return ServerSentEvent(orjson.dumps(data).decode(), event=name)
