"""The link of one running session to a gateway where people look at it. The worker calls; nothing listens here."""

from __future__ import annotations

import asyncio
import base64

import httpx
import structlog
from pydantic import ValidationError

from shoal.agent.browser import FrameOptions
from shoal.agent.errors import ActionRefused
from shoal.agent.hooks import DialogAnswer
from shoal.agent.sessions.attended.attendance import Attendance, Standing
from shoal.agent.types import Action
from shoal.agent.worker_messages import LiveRequest
from shoal.services.browsers.live.steps import steps_update
from shoal.services.events import LogEvent
from shoal.services.live_messages import (
    DOWN,
    PING_S,
    Act,
    DialogReply,
    DialogUpdate,
    Done,
    FrameUpdate,
    HandBack,
    Keep,
    Order,
    SessionEnded,
    StandingUpdate,
    StepsUpdate,
    Take,
    TellSteps,
    Update,
    Watch,
)

log = structlog.get_logger()

_SILENT_S = 3 * PING_S
_POST_S = 10.0
_STEPS_EVERY_S = 1.0
"""Steps are looked at that often; a page that shows them asks less often."""
_ORDERS = 16
"""Orders of one gateway that may be under way; a person has one, and a dialog's answer beside it."""
_LINE_BYTES = 128 * 1024


class LiveLink:
    """Runs until the session ends or the gateway lets it go.

    Args:
        http: reaches the gateway, and shows the installation's token there.
    """

    def __init__(self, attendance: Attendance, http: httpx.AsyncClient, request: LiveRequest) -> None:
        self._attendance = attendance
        self._http = http
        self._url = f"{request.url}/v1/live/{request.ticket}"
        self._frames: asyncio.Task[None] | None = None
        self._steps: asyncio.Task[None] | None = None
        self._orders: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Takes orders and sends updates. It ends with its gateway, which asks again when it is back."""
        tasks = [
            asyncio.create_task(self._tell_standing(), name="live-standing"),
            asyncio.create_task(self._hear(), name="live-orders"),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            tasks += [task for task in (self._frames, self._steps, *self._orders) if task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _hear(self) -> None:
        """Takes orders until the gateway lets this session go, or says nothing any more."""
        try:
            async with self._http.stream("GET", self._url, timeout=httpx.Timeout(_POST_S, read=_SILENT_S)) as answer:
                if answer.status_code != httpx.codes.OK:
                    return
                async for line in answer.aiter_lines():
                    if line and len(line) <= _LINE_BYTES:
                        self._take(line)
        except httpx.HTTPError as error:
            log.info(LogEvent.LIVE_LINK_LOST, error=f"{type(error).__name__}: {error}")

    def _take(self, line: str) -> None:
        try:
            order = DOWN.validate_json(line)
        except ValidationError as error:
            log.warning(LogEvent.LIVE_LINK_LOST, error=f"an order cannot be read: {error.error_count()} faults")
            return
        if isinstance(order, Watch):
            self._show(order.on)
        elif isinstance(order, TellSteps):
            self._tell_steps(order.on)
        elif isinstance(order, Order) and len(self._orders) < _ORDERS:
            task = asyncio.create_task(self._obey(order), name="live-order")
            self._orders.add(task)
            task.add_done_callback(self._orders.discard)

    def _show(self, on: bool) -> None:
        """Begins or ends to send pictures."""
        if on and (self._frames is None or self._frames.done()):
            self._frames = asyncio.create_task(self._send_frames(), name="live-frames")
        elif not on and self._frames is not None:
            self._frames.cancel()
            self._frames = None

    def _tell_steps(self, on: bool) -> None:
        """Begins or ends to tell the session's steps."""
        if on and (self._steps is None or self._steps.done()):
            self._steps = asyncio.create_task(self._send_steps(), name="live-steps")
        elif not on and self._steps is not None:
            self._steps.cancel()
            self._steps = None

    async def _send_steps(self) -> None:
        """Tells what the session has done so far, whenever there is something new."""
        sent: StepsUpdate | None = None
        try:
            while not self._attendance.ended:
                if (now := steps_update(self._attendance.tasks)) != sent:
                    await self._post(now)
                    sent = now
                await asyncio.sleep(_STEPS_EVERY_S)
        except httpx.HTTPError as error:
            log.info(LogEvent.LIVE_LINK_LOST, error=f"{type(error).__name__}: {error}")
        except Exception:  # the top of a loop: a view that breaks is no session's fault
            log.exception(LogEvent.LOOP_FAILED, loop="live-steps")

    async def _send_frames(self) -> None:
        frames = self._attendance.frames(FrameOptions())
        try:
            async for frame in frames:
                picture = base64.b64encode(frame.jpeg).decode()
                await self._post(FrameUpdate(jpeg=picture, width=frame.width, height=frame.height))
        except httpx.HTTPError as error:
            log.info(LogEvent.LIVE_LINK_LOST, error=f"{type(error).__name__}: {error}")
        except Exception:  # the top of a loop: a view that breaks is no session's fault
            log.exception(LogEvent.LOOP_FAILED, loop="live-frames")
        finally:
            await frames.aclose()

    async def _tell_standing(self) -> None:
        """Tells how the session stands, whenever that changes, and at last that it is over."""
        sent: StandingUpdate | None = None
        try:
            while not self._attendance.ended:
                now = _standing_update(self._attendance.standing)
                if now != sent:
                    await self._post(now)
                    sent = now
                else:
                    await self._attendance.changed(1.0)
            await self._post(SessionEnded())
        except httpx.HTTPError as error:
            log.info(LogEvent.LIVE_LINK_LOST, error=f"{type(error).__name__}: {error}")

    async def _obey(self, order: Order) -> None:
        try:
            url = await self._do(order)
            done = Done(id=order.id, url=url)
        except ActionRefused as error:
            done = Done(id=order.id, error=error.message)
        try:
            await self._post(done)
        except httpx.HTTPError:
            return  # the gateway tells the person that the worker is gone

    async def _do(self, order: Order) -> str:
        """Does as ordered; the page's address where it was acted on.

        Raises:
            ActionRefused: it may not be done, or did not work.
        """
        people = self._attendance
        if isinstance(order, Take):
            people.take(order.lease, order.name)
        elif isinstance(order, Keep):
            people.keep(order.lease)
        elif isinstance(order, DialogReply):
            people.answer(order.lease, DialogAnswer(order.accept, order.text))
        elif isinstance(order, HandBack):
            people.hand_back(order.lease, order.said, done=order.done)
        elif isinstance(order, Act):
            result = await people.act(order.lease, Action(order.action, order.args))
            if result.error is not None:
                raise ActionRefused(result.error.message)
            return people.standing.url
        return ""

    async def _post(self, update: Update) -> None:
        answer = await self._http.post(
            self._url,
            content=update.model_dump_json(),
            headers={"Content-Type": "application/json"},
            timeout=_POST_S,
        )
        answer.raise_for_status()


def _standing_update(standing: Standing) -> StandingUpdate:
    dialog = standing.dialog
    return StandingUpdate(
        url=standing.url,
        control=standing.control.value,
        holder=standing.holder,
        withheld=standing.withheld,
        dialog=DialogUpdate(kind=dialog.kind, message=dialog.message, default=dialog.default) if dialog else None,
    )
