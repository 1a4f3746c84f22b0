"""Sees to it that a Ray cluster has its dispatcher: starts it, watches it, and comes back when Ray was replaced.

The supervisor owns nothing that could be lost: the dispatcher is a detached actor that Ray restarts by itself, and the
truth is in the database. What Ray cannot do is begin: start the actor in a new cluster, or replace one whose settings
are no longer the operator's.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
import ray
import structlog
from ray.actor import ActorHandle
from ray.exceptions import RayError, RayTaskError

from shoal.services.browsers.configs import worker_config
from shoal.services.cluster.configs import dispatch_config
from shoal.services.cluster.guard import ANSWER_S, answer, ready_pid
from shoal.services.cluster.serving import listening, served
from shoal.services.dispatch.actor import DispatcherParts, start_dispatcher
from shoal.services.errors import ClusterFailed
from shoal.services.events import LogEvent
from shoal.services.settings import Settings

log = structlog.get_logger()

_LOOK_S = 5.0
"""Seconds between two questions to the dispatcher whether it lives."""
_STOP_S = 90.0
"""Seconds that a dispatcher that is replaced gets to drain its workers."""
_AGAIN_S = 3.0
"""Pause before another try to reach Ray."""

_LOST = (RayError, ConnectionError, TimeoutError, RuntimeError)
"""Errors that Ray raises when the cluster or the actor is away; its client raises bare RuntimeErrors too."""


def _point(message: str) -> str:
    """The line of Ray's message that says what happened: after a traceback the last one, else the first."""
    lines = [line for line in message.splitlines() if line.strip()] or [""]
    return lines[-1] if any(line.startswith("Traceback") or "ray::" in line for line in lines) else lines[0]


class Supervisor:
    """Looks after the dispatcher of one Ray cluster until it is canceled."""

    def __init__(self, settings: Settings) -> None:
        if not settings.ray_address:
            raise ClusterFailed("SHOAL_RAY_ADDRESS is not set: it names the Ray cluster to look after")
        self._address = settings.ray_address
        self._namespace = settings.ray_namespace
        self._parts = DispatcherParts(settings.store_url, dispatch_config(settings), worker_config(settings))
        self.trouble = "Ray was not reached yet"
        """The present fault, in words; "" while the dispatcher answers."""

    async def run(self) -> None:
        """Watches, and begins anew whenever Ray or the dispatcher is lost. Never returns by itself."""
        while True:
            try:
                async with self._connected():
                    await self._watch()
            except _LOST as error:
                cause = getattr(error, "cause", None) or error  # Ray's own message begins with where, not what
                self._note(f"{type(cause).__name__}: {_point(str(cause))}")
            await asyncio.sleep(_AGAIN_S)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[None]:
        """A connection to the Ray cluster. In a thread: connecting blocks, and may take as long as Ray's patience."""
        try:
            await asyncio.to_thread(
                ray.init, self._address, namespace=self._namespace, log_to_driver=False, configure_logging=False
            )
            yield
        finally:
            with contextlib.suppress(*_LOST):  # the other side is gone already
                await asyncio.to_thread(ray.shutdown)

    async def _watch(self) -> None:
        actor = await self._current()
        while True:
            try:
                pid = await ready_pid(actor)
            except (RayTaskError, TimeoutError):
                # It lives, but could not start, or hangs. Only a new one tries again. In a thread: without Ray, the
                # call lasts as long as Ray's patience, and the next connection is what counts.
                await answer(asyncio.to_thread(ray.kill, actor), ANSWER_S)
                raise
            if pid is None:
                self._note("the dispatcher is starting")
            else:
                if self.trouble:
                    log.info(LogEvent.CLUSTER_READY, ray=self._address, dispatcher_pid=pid)
                self.trouble = ""
            await asyncio.sleep(_LOOK_S)

    async def _current(self) -> ActorHandle[Any]:
        """The dispatcher that runs with today's settings: one with others is drained and replaced."""
        actor = start_dispatcher(self._parts)
        # Of an earlier version it may lack the method; then it is replaced, too.
        if hasattr(actor, "made_of") and await answer(actor.made_of.remote(self._parts), ANSWER_S):
            return actor
        self._note("the dispatcher runs with other settings and is being replaced")
        try:
            await answer(actor.stop.remote(), _STOP_S)
        except TimeoutError:
            log.warning(LogEvent.CLUSTER_STOPPING, error="the dispatcher did not drain in time")
        ray.kill(actor)
        # Its name is free once Ray has noticed; until then `start_dispatcher` gives the dying one, which raises here.
        return start_dispatcher(self._parts)

    def _note(self, trouble: str) -> None:
        if trouble != self.trouble:
            log.warning(LogEvent.CLUSTER_STARTING, ray=self._address, waiting_for=trouble)
        self.trouble = trouble


@asynccontextmanager
async def supervised(settings: Settings, *, health_port: int | None) -> AsyncIterator[Supervisor]:
    """A supervisor at work for as long as the context lasts; the dispatcher stays behind when it ends.

    With `health_port`, `/healthz` there answers 200 as long as this process does, and `/readyz` 200 while the
    dispatcher answers, else 503 with the reason.
    """
    supervisor = Supervisor(settings)
    async with contextlib.AsyncExitStack() as stack:
        if health_port is not None:
            listener = stack.enter_context(listening(settings.host, health_port))
            await stack.enter_async_context(served(health_app(supervisor), listener, "health server"))
        task = asyncio.create_task(supervisor.run(), name="supervisor")
        try:
            yield supervisor
        finally:
            task.cancel()
            await asyncio.wait([task])


def health_app(supervisor: Supervisor) -> Any:
    """A bare ASGI app of two routes: an orchestrator's probes need no more."""

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        trouble = supervisor.trouble if scope.get("path") == "/readyz" else ""
        known = scope["type"] == "http" and scope["path"] in ("/healthz", "/readyz")
        body = orjson.dumps({"status": "unavailable", "reason": trouble} if trouble else {"status": "ok"})
        await send(
            {
                "type": "http.response.start",
                "status": (503 if trouble else 200) if known else 404,
                "headers": [(b"content-type", b"application/json")],
            }
        )
        await send({"type": "http.response.body", "body": body if known else b"{}"})

    return app
