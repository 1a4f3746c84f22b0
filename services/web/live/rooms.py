"""Rooms: in each, people look at one running session, and the session's worker is linked in.

A gateway never calls a worker. While people are in a room, the gateway repeats a request in the store; the dispatcher
that has the session passes it to the worker, and the worker calls the gateway. Nothing runs for a room by itself: the
streams of its people keep the request alive, and it is gone some seconds after the last of them.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

from shoal.services.errors import QuotaExceeded, WrongState
from shoal.services.live_messages import (
    PING_S,
    PREFIX,
    REQUEST_S,
    Done,
    Down,
    FrameUpdate,
    Order,
    Ping,
    SessionEnded,
    StandingUpdate,
    StepsUpdate,
    TellSteps,
    Update,
    Watch,
)
from shoal.services.store.store import Store
from shoal.services.web.live.shares import TenantShares

MOST_VIEWERS = 10
"""People of one tenant who look at one session at one gateway."""
MOST_ROOMS = 50
"""Sessions that people of one tenant look at at one gateway."""
LINK_S = 8.0
"""Seconds that an order waits for the worker: a dispatcher looks for requests every second."""
ANSWER_S = 180.0
"""Seconds that an order may take; a dialog of the page that waits for the person is in it."""
FRESH_S = 5.0
"""A picture that is no older shows the page as it is now."""
_ORDERS = 32
_LEFT_S = 3600.0
"""Requests older than this are forgotten."""


class Room:
    """One session at this gateway.

    Args:
        tenant: whose session it is.
        opened_by: the tenant of the person who looked first, in whose share the room is.
    """

    def __init__(self, session: int, tenant: str, opened_by: str) -> None:
        self.session = session
        self.tenant = tenant
        self.opened_by = opened_by
        self.ticket = secrets.token_urlsafe(32)
        self.viewers = 0
        self.people = TenantShares(MOST_VIEWERS, "people who look at this session")
        self.frame: FrameUpdate | None = None
        self.frames = 0  # that came so far
        self.standing: StandingUpdate | None = None
        self.steps: StepsUpdate | None = None  # what the session has done so far, as far as that was told
        self.ended = False
        self.requested = False  # its worker was asked for
        self._frame_at = 0.0  # when the last one came
        self._link: object | None = None  # the worker's newest call
        self._asked = time.monotonic()
        self._steps_asked = -REQUEST_S  # when its steps were last asked for
        self._orders: asyncio.Queue[Order] = asyncio.Queue(_ORDERS)
        self._pending: dict[str, asyncio.Future[Done]] = {}
        self._change = asyncio.Event()

    @property
    def name(self) -> str:
        """Of its request in the store."""
        return f"{PREFIX}{self.session}:{self.ticket[:12]}"

    @property
    def linked(self) -> bool:
        """Return whether the session's worker is here."""
        return self._link is not None

    @property
    def in_use(self) -> bool:
        """Return whether people are here, or were a moment ago."""
        return self.viewers > 0 or time.monotonic() - self._asked < REQUEST_S

    def touch(self) -> None:
        """Somebody has just asked for something."""
        self._asked = time.monotonic()

    def ask_for_steps(self) -> None:
        """Somebody wants to see the session's steps, for some seconds."""
        self.touch()
        asked_before = self._wants_steps
        self._steps_asked = time.monotonic()
        if not asked_before:
            self._tell()

    @property
    def _wants_steps(self) -> bool:
        return time.monotonic() - self._steps_asked < REQUEST_S

    @contextmanager
    def viewing(self, tenant: str) -> Iterator[None]:
        """While a person of a tenant looks.

        Raises:
            QuotaExceeded: too many of them do.
        """
        with self.people.one(tenant):
            self.viewers += 1
            self._tell()
            try:
                yield
            finally:
                self.viewers -= 1
                self.touch()
                self._tell()

    async def picture(self, timeout_s: float, tenant: str) -> FrameUpdate | None:
        """A picture of the page as it is now; None where no worker shows one in time, or it shows a secret.

        Raises:
            QuotaExceeded: too many people of the tenant look.
        """
        ends = time.monotonic() + timeout_s
        if self.frame is not None and (self.viewers or time.monotonic() - self._frame_at < FRESH_S):
            return self.frame  # a page on which nothing moves gives no other one
        with self.viewing(tenant):
            before = self.frames
            while self.frames == before or self.frame is None:
                left_s = ends - time.monotonic()
                if left_s <= 0 or self.ended or (self.standing is not None and self.standing.withheld):
                    return None
                await self.changed(left_s)
            return self.frame

    async def changed(self, timeout_s: float) -> None:
        """Returns once there is something new here, or after `timeout_s`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._change.wait()

    def _tell(self) -> None:
        change, self._change = self._change, asyncio.Event()
        change.set()

    # --- the worker's side ---------------------------------------------------------------------------

    def take(self, update: Update) -> None:
        """Take what the worker tells."""
        if isinstance(update, FrameUpdate):
            self.frame = update
            self.frames += 1
            self._frame_at = time.monotonic()
        elif isinstance(update, StandingUpdate):
            self.standing = update
            if update.withheld:
                self.frame = None
        elif isinstance(update, StepsUpdate):
            self.steps = update
        elif isinstance(update, SessionEnded):
            self.ended = True
        elif (waits := self._pending.pop(update.id, None)) is not None and not waits.done():
            waits.set_result(update)
        self._tell()

    async def down(self) -> AsyncIterator[Down]:
        """Yield what the worker is told, as long as it is wanted here and no newer call of a worker takes its place."""
        link = self._link = object()
        self.ended = False  # another attempt of the session, on another worker perhaps
        self._tell()
        watched: bool | None = None
        told_steps = False
        try:
            while self.in_use and self._link is link and not self.ended:
                if watched != (self.viewers > 0):
                    watched = self.viewers > 0
                    yield Watch(on=watched)
                if told_steps != self._wants_steps:
                    told_steps = not told_steps
                    yield TellSteps(on=told_steps)
                try:
                    async with asyncio.timeout(PING_S):
                        order = await self._next_order()
                except TimeoutError:
                    yield Ping()
                    continue
                # Of an order that has been answered already, its person was told that it was not done.
                if order is not None and order.id in self._pending:
                    yield order
        finally:
            if self._link is link:
                self._link = None
                self.frame = self.standing = self.steps = None
                for waits in self._pending.values():
                    if not waits.done():
                        waits.set_exception(WrongState("The session's worker is gone."))
                self._pending.clear()
                self._tell()

    async def _next_order(self) -> Order | None:
        """The next order; None where something else has changed."""
        if self._orders.empty():
            await self._change.wait()
        return None if self._orders.empty() else self._orders.get_nowait()

    # --- people who act ------------------------------------------------------------------------------

    async def order(self, order: Order) -> Done:
        """Return what became of an order.

        Raises:
            WrongState: it was refused, with the reason, or no worker is there.
        """
        self.touch()
        ends = time.monotonic() + LINK_S
        while not self.linked and (left_s := ends - time.monotonic()) > 0:
            await self.changed(left_s)
        if not self.linked:
            raise WrongState("The session does not run at this moment, or its worker cannot reach this gateway.")
        waits: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        self._pending[order.id] = waits
        try:
            self._orders.put_nowait(order)
            self._tell()
            async with asyncio.timeout(ANSWER_S):
                done = await waits
        except asyncio.QueueFull:
            raise QuotaExceeded("The session's worker is behind: try again.", retry_after_s=1) from None
        except TimeoutError:
            raise WrongState("The session's worker did not answer.") from None
        finally:
            self._pending.pop(order.id, None)
        if done.error:
            raise WrongState(f"{done.error[:1].upper()}{done.error[1:]}.")
        return done


class LiveRooms:
    """All rooms of one gateway.

    Args:
        url: this gateway, as workers reach it; "": they do not, and no session can be looked at.
    """

    def __init__(self, store: Store, url: str) -> None:
        self._store = store
        self._url = url
        self._by_session: dict[int, Room] = {}

    @property
    def available(self) -> bool:
        """Return whether workers reach this gateway."""
        return bool(self._url)

    def require(self) -> None:
        """Raises WrongState where workers do not reach this gateway."""
        if not self.available:
            raise WrongState("No session can be looked at here: workers do not reach this gateway (SHOAL_LIVE_URL).")

    def of(self, session: int, tenant: str, looks: str) -> Room:
        """The room of a running session of `tenant`, made where there is none, in the share of the tenant that looks.

        Raises:
            WrongState: workers do not reach this gateway.
            QuotaExceeded: people of that tenant look at too many sessions.
        """
        self.require()
        for other in [room for room in self._by_session.values() if not room.in_use and not room.linked]:
            del self._by_session[other.session]
        if session not in self._by_session:
            if sum(room.opened_by == looks for room in self._by_session.values()) >= MOST_ROOMS:
                raise QuotaExceeded(
                    f"People of this tenant look at {MOST_ROOMS} running sessions already, which is the most.",
                    retry_after_s=30,
                )
            self._by_session[session] = Room(session, tenant, looks)
        return self._by_session[session]

    @asynccontextmanager
    async def looking(self, session: int, tenant: str, looks: str) -> AsyncIterator[Room]:
        """The room of a running session, as `of` gives it, while a person looks.

        Raises:
            WrongState, QuotaExceeded.
        """
        room = self.of(session, tenant, looks)
        try:
            with room.viewing(looks):
                yield room
        finally:
            await self.let_go(room)

    def by_session(self, session: int) -> Room | None:
        """The room of a session, where there is one."""
        return self._by_session.get(session)

    def by_ticket(self, ticket: str) -> Room | None:
        """The room that a worker was asked to call."""
        return next((room for room in self._by_session.values() if secrets.compare_digest(room.ticket, ticket)), None)

    async def request(self, room: Room) -> None:
        """Asks for the session's worker, for some seconds."""
        if not room.requested:  # what a gateway left that died
            await self._store.drop_states(PREFIX, older_than_s=_LEFT_S)
            room.requested = True
        await self._store.put_state(room.name, {"session": room.session, "url": self._url, "ticket": room.ticket})

    async def let_go(self, room: Room) -> None:
        """Stops asking the worker once the last viewer has left."""
        if room.viewers == 0:
            await self._store.drop_states(room.name, older_than_s=0.0)
