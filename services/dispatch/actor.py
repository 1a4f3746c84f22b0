"""The dispatcher as a Ray actor: detached, named, and restarted by Ray when it dies."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass, field
from typing import Any

import ray
import structlog
from ray.actor import ActorHandle

from shoal.services import interpreter, tracing
from shoal.services.artifacts.open import open_artifacts
from shoal.services.artifacts.store import ArtifactStore
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.pools.ray_pool import RayPool
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatcher import Dispatcher
from shoal.services.errors import StoreAway, StoreBroken
from shoal.services.events import LogEvent
from shoal.services.logs import set_up
from shoal.services.store.restarts import STARTS, Restarts
from shoal.services.store.store import Store, open_store

log = structlog.get_logger()

PREFIX = "shoal-dispatcher-"

_STORE_S = 60.0
_AGAIN_S = 0.5


@dataclass(frozen=True, slots=True)
class DispatcherParts:
    """The configuration that a dispatcher actor is made from."""

    store_url: str = field(repr=False)  # holds the database's password
    dispatch: DispatchConfig
    worker: WorkerConfig


async def opened(store_url: str) -> Store:
    """The store; waited for while it is away: a dispatcher that is restarted just then must not need a supervisor.

    Raises:
        StoreAway: it did not come back within a minute.
    """
    deadline = time.monotonic() + _STORE_S
    while True:
        try:
            return await open_store(store_url, migrate=False)
        except StoreBroken:
            raise
        except StoreAway as error:
            if time.monotonic() >= deadline:
                raise
            log.warning(LogEvent.STORE_AWAY, error=str(error))
            await asyncio.sleep(_AGAIN_S)


async def counted_start(store: Store, name: str, *, again: bool) -> Restarts:
    """Notes that the dispatcher `name` starts, after a pause where it has ended soon after it was started.

    Args:
        again: its process has ended by itself, and Ray has started another.
    """
    state = f"{STARTS}{name}"
    restarts = Restarts()
    earlier = (await store.states(state)).get(state) if again else None
    if earlier is not None:
        data, age_s = earlier
        restarts = Restarts.from_data(data).ended("its process died", age_s)
        log.error(LogEvent.DISPATCHER_ENDED, name=name, restarts=restarts.n, again_in_s=restarts.pause_s)
        await asyncio.sleep(restarts.pause_s)
    await store.put_state(state, restarts.data())
    return restarts


def _is_restarted() -> bool:
    return bool(ray.get_runtime_context().was_current_actor_reconstructed)


class DispatcherActor:
    """Starts its dispatcher by itself, so that a restart by Ray needs no other process."""

    def __init__(self, parts: DispatcherParts) -> None:
        set_up(parts.worker.log_level, parts.worker.log_format)
        tracing.start(parts.worker.traces, "dispatcher")
        interpreter.tune()
        self._parts = parts
        self._store: Store | None = None
        self._artifacts: ArtifactStore | None = None
        self._dispatcher: Dispatcher | None = None
        # Ray runs the constructor of an asyncio actor on the actor's loop, also after a restart.
        self._starting = asyncio.get_running_loop().create_task(self._start())

    async def ready(self) -> int:
        """Returns, with the process id, once workers can take sessions."""
        await asyncio.shield(self._starting)
        return os.getpid()

    async def alive(self) -> None:
        """Returns at once, also while it is starting."""

    async def made_of(self, parts: DispatcherParts) -> bool:
        """Return whether it was made from `parts`:
        a supervisor with other settings replaces it.

        It tells no more, since each process that has Ray's token can ask, and the parts hold the database's password
        and the keys of the workers.
        """
        return self._parts == parts

    async def _start(self) -> None:
        self._store = await opened(self._parts.store_url)
        restarts = await counted_start(self._store, self._parts.dispatch.name, again=_is_restarted())
        pool = RayPool(self._parts.worker, self._parts.dispatch.name)
        worker = self._parts.worker
        self._artifacts = open_artifacts(worker.artifacts_url, worker.artifacts)
        self._dispatcher = Dispatcher(
            self._store, pool, self._parts.dispatch, artifacts=self._artifacts, restarts=restarts
        )
        await self._dispatcher.start()

    async def workers(self) -> list[str]:
        return self._dispatcher.workers if self._dispatcher else []

    async def stop(self) -> None:
        """Drains and ends the dispatcher and its workers."""
        if self._dispatcher is not None:
            await self._dispatcher.stop()
        if self._artifacts is not None:
            await self._artifacts.close()
        if self._store is not None:
            await self._store.close()


def start_dispatcher(parts: DispatcherParts) -> ActorHandle[Any]:
    """The dispatcher of this shard: the one that runs, else a new one."""
    actor: Any = ray.remote(DispatcherActor)  # Ray's types know of no actor methods
    started: ActorHandle[Any] = actor.options(
        name=PREFIX + parts.dispatch.name,
        lifetime="detached",
        get_if_exists=True,
        num_cpus=0,
        resources={"control": 0.01},
        max_restarts=-1,
        max_concurrency=100,
    ).remote(parts)
    return started
