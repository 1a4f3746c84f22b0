"""Watching a dispatcher that works, and the Ray under an embedded cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import ray
import structlog
from ray._private import worker as ray_worker
from ray.actor import ActorHandle
from ray.exceptions import RayError, RayTaskError

from shoal.agent.support.json_value import Json
from shoal.services.errors import ClusterFailed, StoreAway
from shoal.services.events import LogEvent
from shoal.services.store.restarts import SNAPSHOTS, STARTS
from shoal.services.store.store import Store

log = structlog.get_logger()

ANSWER_S = 30.0
"""A dispatcher, or a Ray cluster, that does not answer within this time is taken for gone."""
_LOOK_S = 5.0
_RAY_LOOK_S = 1.0
_CALL_LOOK_S = 0.2

_VITAL = ("gcs_server", "raylet")
"""Ray's processes without which nothing goes on; it starts none of them again."""


class RayEnded(Exception):
    """Ray has ended under the embedded cluster."""


async def answer(call: Any, limit_s: float) -> Any:
    """Return what a call of an actor gives.

    Raises:
        TimeoutError: nothing within `limit_s`.
    """
    async with asyncio.timeout(limit_s):
        return await call


async def ready_pid(actor: ActorHandle[Any]) -> int | None:
    """The process id of a dispatcher that works; None while it lives and is still starting.

    Raises:
        TimeoutError: it is silent, or hangs.
        RayTaskError: it lives, but could not start: no database, no workers.
        RayError: it is gone, for now.
    """
    try:
        pid: int = await answer(actor.ready.remote(), ANSWER_S)
    except TimeoutError:
        await answer(actor.alive.remote(), ANSWER_S)
        return None
    return pid


def ended_parts() -> list[str]:
    """Those of Ray's vital processes that this process has started and that have ended."""
    node = ray_worker._global_node
    return [] if node is None else [name for name, _ in node.dead_processes() if name in _VITAL]


async def while_ray_runs(call: Any, limit_s: float) -> Any:
    """Return what a call of an actor gives, as long as Ray is there:
    a call outlives its Ray by minutes.

    Raises:
        RayEnded: Ray has ended.
        TimeoutError: nothing within `limit_s`.
    """
    calling = asyncio.create_task(answer(call, limit_s), name="while-ray-runs")
    try:
        while not calling.done():
            await asyncio.wait([calling], timeout=_CALL_LOOK_S)
            if not calling.done() and (ended := ended_parts()):
                raise RayEnded(f"Ray's {' and '.join(ended)} has ended")
        return await calling
    finally:
        calling.cancel()


@asynccontextmanager
async def guarded(actor: ActorHandle[Any], store: Store) -> AsyncIterator[None]:
    """Keeps the dispatcher of an embedded cluster at work, and ends the context when Ray itself has ended.

    Ends of the dispatcher and of workers are logged here, too: what Ray's processes log lies in the run folder.

    Raises:
        ClusterFailed: Ray has ended. What the context does is canceled first.
    """
    owner = asyncio.current_task()
    assert owner is not None
    ended: list[str] = []

    async def watch() -> None:
        while not ended:
            await asyncio.sleep(_RAY_LOOK_S)
            ended.extend(ended_parts())
        owner.cancel()

    loops = {"watch-ray": watch(), "keep-dispatcher": _keep(actor), "log-ends": log_ends(store)}
    tasks = [asyncio.create_task(loop, name=name) for name, loop in loops.items()]
    try:
        yield
    except asyncio.CancelledError:
        if not ended:
            raise
        owner.uncancel()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    if ended:
        raise ClusterFailed(
            f"Ray's {' and '.join(ended)} has ended, and the cluster with it; nothing is lost: start it again"
        )


async def _keep(actor: ActorHandle[Any]) -> None:
    """Lets Ray begin the dispatcher anew when it lives without working; what dies, Ray restarts by itself."""
    while True:
        await asyncio.sleep(_LOOK_S)
        try:
            await ready_pid(actor)
        except (TimeoutError, RayTaskError) as error:
            log.warning(LogEvent.DISPATCHER_REPLACED, why=f"{type(error).__name__}: {error}".splitlines()[0])
            await asyncio.to_thread(ray.kill, actor, no_restart=False)
        except RayError as error:
            log.warning(LogEvent.DISPATCHER_REPLACED, why=str(error).splitlines()[0])


async def log_ends(store: Store) -> None:
    """Logs each end of a dispatcher or a worker that is counted from now on; never returns."""
    known: Mapping[tuple[LogEvent, str], Json] | None = None
    while True:
        try:
            seen = await _counted_ends(store)
            for (event, dispatcher), ends in seen.items():
                if known is not None and ends["restarts"] and ends != known.get((event, dispatcher)):
                    log.error(event, dispatcher=dispatcher, why=ends["why"], ended=ends["restarts"])
            known = seen
        except StoreAway as error:
            log.warning(LogEvent.STORE_AWAY, error=str(error))
        await asyncio.sleep(_LOOK_S)


async def _counted_ends(store: Store) -> dict[tuple[LogEvent, str], Json]:
    """Ends as dispatchers count them: their own when they start, so also those of one that never gets further."""
    ends: dict[tuple[LogEvent, str], Json] = {}
    for name, (data, _) in (await store.states(STARTS)).items():
        ends[LogEvent.DISPATCHER_ENDED, name.removeprefix(STARTS)] = data
    for name, (data, _) in (await store.states(SNAPSHOTS)).items():
        if "workers_lost" in data:
            ends[LogEvent.WORKER_LOST, name.removeprefix(SNAPSHOTS)] = data["workers_lost"]
    return ends
