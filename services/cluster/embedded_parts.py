"""Ray under an embedded cluster, and the dispatcher on it. Their import takes more than a second."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import ray
import structlog
from ray.actor import ActorHandle
from ray.exceptions import RayError

from shoal.agent.support.busy import load_and_cores
from shoal.services.browsers.configs import worker_config
from shoal.services.cluster.configs import artifact_store, dispatch_config
from shoal.services.cluster.guard import RayEnded, ended_parts, guarded, while_ray_runs
from shoal.services.cluster.limits import start_advice, start_limit_s
from shoal.services.cluster.local_ray import local_ray
from shoal.services.cluster.run_dir import RunDir
from shoal.services.dispatch.actor import DispatcherParts, start_dispatcher
from shoal.services.errors import ClusterFailed
from shoal.services.events import LogEvent
from shoal.services.settings import Settings
from shoal.services.store.store import open_store

__all__ = ["artifact_store", "dispatcher", "guarded", "open_store", "start_ray"]

log = structlog.get_logger()

_RAY_STARTS = 3
_STOP_S = 60.0

Tell = Callable[[str], None]


async def start_ray(
    stack: ExitStack, run_dir: RunDir, settings: Settings, tell: Tell, forks: Path | None = None
) -> None:
    """Ray, until `stack` ends; tried again when it does not start, with nothing left of the start that failed.

    Args:
        forks: where the fork server is that becomes its workers.

    Raises:
        ClusterFailed: it did not start in several tries; the message says what to do.
    """
    for tried in range(1, _RAY_STARTS + 1):
        try:
            stack.enter_context(
                local_ray(
                    run_dir,
                    # One more than ever run, so that a lost worker can be replaced at once.
                    browsers=max(settings.workers, settings.most_workers) + 1,
                    object_store_bytes=settings.ray_object_store_mib * 1024 * 1024,
                    namespace=settings.ray_namespace,
                    forks=forks,
                )
            )
            return
        except ClusterFailed as error:
            log.warning(LogEvent.CLUSTER_STARTING, error=error.message, tried=tried)
            if tried == _RAY_STARTS:
                advice = start_advice(*load_and_cores())
                raise ClusterFailed(f"Ray did not start in {tried} tries: {error.message}. {advice}") from error
            tell(f"Ray did not start; trying again ({tried + 1} of {_RAY_STARTS})")
            await asyncio.sleep(0)  # a signal that came meanwhile ends the command here


@asynccontextmanager
async def dispatcher(settings: Settings, run_dir: RunDir) -> AsyncIterator[ActorHandle[Any]]:
    """The dispatcher with its workers, until they are drained."""
    parts = DispatcherParts(settings.store_url, dispatch_config(settings), worker_config(settings, run_dir.tmp))
    actor = start_dispatcher(parts)
    limit_s = start_limit_s()
    try:
        await while_ray_runs(actor.ready.remote(), limit_s)
    except (RayError, TimeoutError, RayEnded) as error:
        cause = getattr(error, "cause", None) or str(error) or f"not within {limit_s:.0f} s"
        advice = start_advice(*load_and_cores())
        raise ClusterFailed(f"the browser workers did not start: {cause}. {advice}") from error
    try:
        yield actor
    finally:
        if not ended_parts():  # without Ray there is nothing to stop: its processes end with this one
            await _stop(actor)


async def _stop(actor: ActorHandle[Any]) -> None:
    """Drains and ends the dispatcher, as long as Ray is there: it may be ending just as well."""
    try:
        await while_ray_runs(actor.stop.remote(), _STOP_S)
    except RayEnded:
        log.warning(LogEvent.CLUSTER_STOPPING, error="Ray has ended before the dispatcher did")
        return
    except (RayError, TimeoutError) as error:
        log.warning(LogEvent.CLUSTER_STOPPING, error=f"the dispatcher did not stop in order: {error}")
    ray.kill(actor)
