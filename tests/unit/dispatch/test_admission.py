"""Model-bound sessions wait for places at the model server; others do not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from shoal.agent.status import Status
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.scheduling.fair_queue import FairQueue, Scarce
from shoal.services.inference.admission import AdmissionConfig, AdmissionRules
from shoal.services.store.records import Partition
from tests.cluster_world import world
from tests.worker_world import EXTRACT, LOOP, shop

METRICS = """\
vllm:num_requests_running 1.0
vllm:num_requests_waiting 0.0
vllm:kv_cache_usage_perc 0.1
"""


@dataclass
class MetricsServer:
    """A model server as far as admission sees it."""

    url: str = ""
    up: bool = True
    looks: int = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.looks += 1
        body = METRICS.encode() if self.up else b""
        status = b"200 OK" if self.up else b"503 Service Unavailable"
        head = b"HTTP/1.1 " + status + b"\r\nConnection: close\r\nContent-Length: " + str(len(body)).encode()
        writer.write(head + b"\r\n\r\n" + body)
        await writer.drain()
        writer.close()


@asynccontextmanager
async def metrics_server() -> AsyncIterator[MetricsServer]:
    server = MetricsServer()
    listening = await asyncio.start_server(server.answer, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    async with listening:
        yield server


def gated(server: MetricsServer, sessions: int) -> DispatchConfig:
    rules = AdmissionRules(start=sessions, most=sessions)
    return DispatchConfig(admission=AdmissionConfig((server.url,), rules, interval_s=0.02, silent_looks=1))


async def test_no_more_sessions_run_than_the_model_server_has_places_for() -> None:
    async with metrics_server() as server, world(shop(12, seconds=0.02), slots=6, dispatch=gated(server, 2)) as w:
        job = await w.final(await w.submit(loop=LOOP, extract=EXTRACT))
        assert job.counts.completed == 12
        assert w.browsers[0].most_open == 2


async def test_jobs_without_a_model_go_on_while_the_model_server_is_away() -> None:
    async with metrics_server() as server, world(shop(3), dispatch=gated(server, 4)) as w:
        server.up = False
        looks = server.looks
        while server.looks < looks + 3:
            await asyncio.sleep(0.01)
        waits = await w.submit(extract=EXTRACT, url="http://shop.example/1", policy="model")
        runs = await w.submit(extract=EXTRACT, url="http://shop.example/2", policy="rules")
        assert (await w.final(runs)).status is Status.COMPLETED
        assert (await w.store.job(waits)).status is Status.QUEUED
        (waiting,) = [[partition.job, partition.domain] for partition in await w.store.partitions()]
        while (await w.store.states("dispatcher/"))["dispatcher/main"][0]["lanes_held"] != {"model": [waiting]}:
            await asyncio.sleep(0.01)

        snapshot, _ = (await w.store.states("dispatcher/"))["dispatcher/main"]
        assert snapshot["lanes_waiting"] == {"model": 1}
        assert snapshot["held"] == {str(waits): {"shop.example": ["model", 0.0]}}

        server.up = True
        assert (await w.final(waits)).status is Status.COMPLETED


def partition(job: int, *, priority: int = 0, tenant: str = "t") -> Partition:
    return Partition(job, tenant, job, f"h{job}.example", priority, 0)


def test_what_is_scarce_is_shared_in_turn_and_partitions_that_wait_keep_their_place() -> None:
    partitions = FairQueue()
    partitions.add([partition(1), partition(2), partition(3)])
    got = [take.job for _ in range(6) for take in partitions.choose(5, lambda _: 9, Scarce(lambda one: True, 1))]
    assert got == [1, 2, 3, 1, 2, 3]


def test_partitions_that_need_nothing_scarce_are_served_when_it_is_used_up() -> None:
    partitions = FairQueue()
    partitions.add([partition(1, priority=9), partition(2)])
    requests = partitions.choose(3, lambda _: 9, Scarce(lambda one: one.job == 1, 0))
    assert [(take.job, take.n) for take in requests] == [(2, 3)]


def test_tenants_share_what_is_scarce() -> None:
    partitions = FairQueue()
    partitions.add([*(partition(job, tenant="big") for job in range(1, 50)), partition(99, tenant="small")])
    requests = partitions.choose(20, lambda _: 9, Scarce(lambda one: True, 4))
    assert sum(take.n for take in requests if take.job == 99) == 2
    assert sum(take.n for take in requests) == 4
