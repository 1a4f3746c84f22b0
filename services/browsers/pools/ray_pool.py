"""Browser workers as Ray actors, on any node of the cluster. The only file of this room that imports Ray."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import ray
import structlog
from ray.actor import ActorHandle
from ray.exceptions import RayError, RayTaskError
from ray.util import list_named_actors

from shoal.agent.support.busy import longer_s
from shoal.agent.worker_messages import Answer, JobLimits, LiveRequest, Work
from shoal.services import interpreter, tracing
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.pools.node import ends_in_s, node_addresses
from shoal.services.browsers.pools.node_metrics import NodeMetrics
from shoal.services.browsers.pools.pool import WorkerHandle, WorkerLost, WorkerStats
from shoal.services.browsers.reports.report_batch import ReportBatch, pack, unpack
from shoal.services.events import LogEvent
from shoal.services.logs import set_up

if TYPE_CHECKING:
    from shoal.services.browsers.worker import Worker

log = structlog.get_logger()

PREFIX = "shoal-worker-"

_START_S = 120.0
"""A new node may have to be fetched first. On a busy machine a worker gets longer."""

_CALLS_AT_ONCE = 1000
"""Each pull that waits takes one of them; Ray would queue further calls behind it."""

_CALL_S = 60.0
"""Longer than any pull waits: a worker that does not answer by then hangs, and is as good as dead."""

_ADOPT_S = 15.0
"""Patience with a worker that an earlier dispatcher left: one that still waits for a node would answer much later."""

T = TypeVar("T")


class BrowserWorkerActor:
    """The actor: one `Worker` with its browser. All methods run on one event loop, beside each other."""

    def __init__(self) -> None:
        self._worker: Worker | None = None
        self._metrics = NodeMetrics()

    async def open(self, name: str, config: WorkerConfig) -> int:
        """Makes the worker; gives the process id."""
        set_up(config.log_level, config.log_format)
        log.info(LogEvent.WORKER_OPENED, worker=name, pid=os.getpid())
        tracing.start(config.traces, "worker")
        # Only here: the dispatcher has this class, too, and would import Playwright and all of the agent for nothing.
        parts = import_module("shoal.services.browsers.session_parts.real_parts")
        nodes = await asyncio.to_thread(node_addresses)
        self._worker = await parts.make_worker(name, replace(config, reach=config.reach.with_own(nodes)))
        interpreter.tune()
        return os.getpid()

    def _here(self) -> Worker:
        if self._worker is None:
            raise WorkerLost("the worker was not opened")
        return self._worker

    async def submit(self, works: bytes) -> None:
        await self._here().submit(unpack(works))

    async def pull(self, seen: int, committed: int, most_bytes: int) -> ReportBatch:
        return await self._here().pull(seen, committed, most_bytes)

    async def confirm(self, committed: int, refused: frozenset[int], answers: Mapping[int, Answer]) -> None:
        await self._here().confirm(committed, refused, answers)

    async def cancel(self, sessions: Sequence[int]) -> None:
        await self._here().cancel(sessions)

    async def limit(self, limits: Mapping[int, JobLimits]) -> None:
        await self._here().limit(limits)

    async def show(self, requests: Mapping[int, Sequence[LiveRequest]]) -> None:
        await self._here().show(requests)

    async def stats(self) -> WorkerStats:
        stats = replace(await self._here().stats(), ends_in_s=await ends_in_s())
        self._metrics.tell(stats)
        return stats

    async def drain(self, drain_s: float) -> None:
        await self._here().drain(drain_s)

    async def close(self) -> None:
        await self._here().close()


class RayWorker:
    """A `WorkerHandle` on an actor.

    The dispatcher starts another worker for one that is lost; so a worker that is only silent is ended, or else it
    would keep its place on the node for good.
    """

    def __init__(self, name: str, slots: int, actor: ActorHandle[Any]) -> None:
        self._name = name
        self._slots = slots
        self._actor = actor

    @property
    def name(self) -> str:
        return self._name

    @property
    def slots(self) -> int:
        return self._slots

    async def submit(self, works: Sequence[Work]) -> None:
        await self._answer(self._actor.submit.remote(pack(list(works))))

    async def pull(self, seen: int, committed: int, most_bytes: int) -> ReportBatch:
        return await self._answer(self._actor.pull.remote(seen, committed, most_bytes))

    async def confirm(self, committed: int, refused: frozenset[int], answers: Mapping[int, Answer]) -> None:
        await self._answer(self._actor.confirm.remote(committed, refused, dict(answers)))

    async def cancel(self, sessions: Sequence[int]) -> None:
        await self._answer(self._actor.cancel.remote(list(sessions)))

    async def limit(self, limits: Mapping[int, JobLimits]) -> None:
        await self._answer(self._actor.limit.remote(dict(limits)))

    async def show(self, requests: Mapping[int, Sequence[LiveRequest]]) -> None:
        await self._answer(self._actor.show.remote(dict(requests)))

    async def stats(self) -> WorkerStats:
        return await self._answer(self._actor.stats.remote())

    async def drain(self, drain_s: float) -> None:
        await self._answer(self._actor.drain.remote(drain_s), longer_s=drain_s)

    async def end(self) -> None:
        try:
            await self._answer(self._actor.close.remote())
        finally:
            await asyncio.to_thread(ray.kill, self._actor)

    async def _answer(self, call: Awaitable[T], *, longer_s: float = 0.0) -> T:
        try:
            return await _answer(call, self._name, limit_s=_CALL_S + longer_s)
        except WorkerLost:
            _end(self._actor)
            raise


_ending: set[asyncio.Task[None]] = set()


def _end(actor: ActorHandle[Any]) -> None:
    """Begins to end an actor. In a thread: where its node is gone, Ray's call lasts until Ray has noticed that too."""
    task = asyncio.create_task(asyncio.to_thread(ray.kill, actor), name="end-worker")
    _ending.add(task)
    task.add_done_callback(_ending.discard)


async def _answer(call: Awaitable[T], name: str, *, limit_s: float) -> T:
    """The actor's answer; a dead or silent actor is `WorkerLost`, an exception of the method stays what it is."""
    try:
        async with asyncio.timeout(limit_s):
            return await call
    except RayTaskError:
        raise
    except RayError as error:
        # Not only the actor's own end: a long reply lies on its node until it is fetched, and is lost with that.
        raise WorkerLost(f"{name}: {error}".splitlines()[0]) from error
    except TimeoutError as error:
        raise WorkerLost(f"{name} did not answer within {limit_s:.0f} s") from error


class RayPool:
    """A `Pool` of actors that hold one `browser` resource each.

    The actors are detached and named: a dispatcher that is restarted finds them, with what they run, by their names.
    """

    def __init__(self, config: WorkerConfig, shard: str = "main") -> None:
        self._config = config
        self._name = f"{PREFIX}{shard}-"  # each dispatcher has workers of its own
        self._class: Any = ray.remote(BrowserWorkerActor)  # Ray's types know of no actor methods
        self._actors: dict[str, ActorHandle[Any]] = {}
        self._expected: int | None = None

    async def adopt(self) -> list[WorkerHandle]:
        """Those that answer; the others are ended, such as one whose dispatcher died before it was opened."""
        names = [name for name in list_named_actors() if re.fullmatch(re.escape(self._name) + "[0-9a-f]{8}", name)]
        adopted = await asyncio.gather(*(self._adopt(name) for name in names))
        return [worker for worker in adopted if worker is not None]

    async def _adopt(self, name: str) -> WorkerHandle | None:
        try:
            actor = ray.get_actor(name)
        except ValueError:
            return None  # it ended at this moment
        try:
            await _answer(actor.stats.remote(), name, limit_s=_ADOPT_S)
        except WorkerLost:
            _end(actor)
            return None
        self._actors[name] = actor
        return RayWorker(name, self._config.slots, actor)

    async def start(self) -> WorkerHandle:
        name = self._name + uuid4().hex[:8]
        actor = self._class.options(
            name=name,
            lifetime="detached",
            num_cpus=0,
            resources={"browser": 1},
            scheduling_strategy="SPREAD",  # the end of one node should not be the end of all browsers
            max_restarts=0,
            max_concurrency=_CALLS_AT_ONCE,
            enable_task_events=False,  # a report to Ray's task list for each pull, which is not read
        ).remote()
        self._actors[name] = actor
        try:
            await _answer(actor.open.remote(name, self._config), name, limit_s=longer_s(_START_S))
        except BaseException as error:
            del self._actors[name]
            _end(actor)  # it would keep its place on a node, or its claim to one
            if isinstance(error, RayTaskError):
                raise WorkerLost(f"{name} did not start: {error.cause}") from error
            raise
        return RayWorker(name, self._config.slots, actor)

    async def expect(self, workers: int) -> None:
        """Ray's autoscaler keeps nodes for so many workers, and may end the others once they are idle."""
        if workers != self._expected:
            # Only here: it brings all of the autoscaler, which most clusters do not have.
            request = import_module("ray.autoscaler.sdk").request_resources
            await asyncio.to_thread(request, bundles=[{"browser": 1.0}] * workers)
            self._expected = workers

    async def close(self) -> None:
        for actor in self._actors.values():
            ray.kill(actor)
        self._actors.clear()
