"""Workers whose sessions do nothing, and loops of items for them: what is left is the store, the dispatcher and Ray."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import ray

from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import LoopItem, Outcome
from shoal.agent.worker_messages import Answer, JobLimits, Report, Work
from shoal.services.browsers.pools.pool import WorkerHandle, WorkerStats
from shoal.services.browsers.pools.ray_pool import RayWorker
from shoal.services.browsers.reports.outbox import Outbox
from shoal.services.browsers.reports.report_batch import ReportBatch, unpack
from shoal.services.cluster.local_ray import on_loopback
from shoal.services.store.records import ClaimRequest, NewJob
from shoal.services.store.store import Store, open_store

DOMAINS = 250
PER_DOMAIN = 64
"""Politeness is on, and counted in the store, but has places for the thousands of sessions that end each second."""


class EmptyWorker:
    """Ends every session at once."""

    def __init__(self, name: str, slots: int) -> None:
        self._name = name
        self._slots = slots
        self._outbox = Outbox()

    async def submit(self, works: bytes) -> None:
        for work in unpack(works):
            self._outbox.put(Report(work.session, work.fence, outcome=Outcome(Status.COMPLETED)))

    async def pull(self, seen: int, committed: int, most_bytes: int) -> ReportBatch:
        self._outbox.confirm(committed, frozenset())
        return await self._outbox.pull(seen, 5.0, most_bytes)

    async def confirm(self, committed: int, refused: frozenset[int], answers: Mapping[int, Answer]) -> None:
        self._outbox.confirm(committed, refused, answers)

    async def cancel(self, sessions: Sequence[int]) -> None:
        """Nothing runs long enough to be stopped."""

    async def limit(self, limits: Mapping[int, JobLimits]) -> None:
        """Nothing runs long enough to be told of a change."""

    async def stats(self) -> WorkerStats:
        return WorkerStats(self._name, self._slots, 0, 0, 0, 0, {})

    async def drain(self, drain_s: float) -> None:
        """Everything has ended already."""

    async def close(self) -> None:
        """Holds nothing."""

    async def nothing(self) -> None:
        """For the floor: what a call costs."""


class EmptyPool:
    """A `Pool` of empty workers, each in an actor of its own."""

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._actors: list[Any] = []

    async def adopt(self) -> list[WorkerHandle]:
        return []

    async def start(self) -> WorkerHandle:
        name = f"empty-{uuid4().hex[:8]}"
        actor: Any = ray.remote(EmptyWorker)
        started = actor.options(num_cpus=0, max_concurrency=1000, enable_task_events=False).remote(name, self._slots)
        self._actors.append(started)
        return RayWorker(name, self._slots, started)

    async def expect(self, workers: int) -> None:
        """The machine is as large as it is."""

    async def close(self) -> None:
        for actor in self._actors:
            ray.kill(actor)


@contextmanager
def databases(kind: str) -> Iterator[Any]:
    """A function that gives the URL of a new, empty database of this kind; everything is removed afterwards."""
    with TemporaryDirectory(prefix="shoal-bench-") as folder:
        if kind == "sqlite":
            yield lambda: f"sqlite:///{folder}/{uuid4().hex}.db"
            return
        sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
        from tests import postgres  # noqa: PLC0415  the server is in the test group only

        with postgres.own_server() as server:
            yield lambda: _new_database(server.url)


def _new_database(server: str) -> str:
    import psycopg  # noqa: PLC0415

    name = f"b{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f'create database "{name}"')
    return server.replace("/postgres?", f"/{name}?")


@asynccontextmanager
async def store_at(url: str) -> AsyncIterator[Store]:
    store = await open_store(url)
    try:
        yield store
    finally:
        await store.close()


def items(n: int) -> Iterator[LoopItem]:
    """`n` links over all domains."""
    return (LoopItem(i, f"https://h{i % DOMAINS}.example/{i}", is_link=True) for i in range(n))


async def root_of(store: Store, tenant: str) -> tuple[int, Work]:
    """A new job whose root session is running."""
    spec = JobSpec.model_validate({"url": "https://start.example/", "goal": "nothing"})
    (done,) = await store.submit([NewJob(tenant, spec, f"start-{tenant}.example")])
    (partition,) = [partition for partition in await store.partitions() if partition.job == done.job]
    claims = await store.claim("bench", [ClaimRequest(done.job, partition.domain, 0, 1)], lease_s=600)
    return done.job, claims.sessions[0].work


async def unfold_all(store: Store) -> None:
    """Stores everything that long loops have left for later."""
    while (await store.materialize()).more:
        pass


@contextmanager
def quiet_ray() -> Iterator[None]:
    """Ray on this machine, for as long as the benchmark runs."""
    here = str(Path(__file__).resolve().parent)
    with on_loopback():
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            logging_level="ERROR",
            log_to_driver=False,
            object_store_memory=150_000_000,
            runtime_env={"env_vars": {"PYTHONPATH": here}},
        )
    try:
        yield
    finally:
        ray.shutdown()
