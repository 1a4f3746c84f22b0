"""Workers as Ray actors: whatever becomes of one, it does not keep a place on a node that nobody uses."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.timeout(800)  # Ray has to start, and four workers

PLACES = 2
SCRIPT = f"""
import asyncio, os, signal, time
import ray
from ray.util import list_named_actors
from shoal.services.browsers.pools import ray_pool
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.pools.pool import WorkerLost
from shoal.services.browsers.pools.ray_pool import PREFIX, BrowserWorkerActor, RayPool
from shoal.services.cluster.local_ray import local_ray
from shoal.services.cluster.run_dir import RunDir

CONFIG = WorkerConfig(slots=1, artifacts_url="memory:")

def freed():
    '''Returns once every place is free.'''
    limit = time.monotonic() + 30
    while ray.available_resources().get("browser") != {PLACES}:
        assert time.monotonic() < limit, (list_named_actors(), ray.available_resources())
        time.sleep(0.1)

async def that_cannot_be_opened():
    try:
        await RayPool(WorkerConfig(slots=1, artifacts_url="ftp://nowhere")).start()
    except WorkerLost as error:
        assert "ftp" in str(error), error
    else:
        raise AssertionError("it was opened")

async def whose_dispatcher_died_before_it_was_opened():
    name = PREFIX + "main-0123abcd"
    options = dict(name=name, lifetime="detached", num_cpus=0, resources={{"browser": 1}}, max_concurrency=10)
    ray.remote(BrowserWorkerActor).options(**options).remote()
    assert await RayPool(CONFIG).adopt() == []

async def that_is_silent():
    worker = await RayPool(CONFIG).start()
    pid = await worker._actor.open.remote(worker.name, CONFIG)
    os.kill(pid, signal.SIGSTOP)
    patience_s, ray_pool._CALL_S = ray_pool._CALL_S, 2.0
    try:
        await worker.stats()
    except WorkerLost:
        return
    finally:
        ray_pool._CALL_S = patience_s
    raise AssertionError("it answered")

async def that_is_found():
    started = await RayPool(CONFIG).start()
    pool = RayPool(CONFIG)
    found = await pool.adopt()
    assert [one.name for one in found] == [started.name]
    await found[0].end()

run_dir = RunDir.make()
try:
    with local_ray(run_dir, browsers={PLACES}, object_store_bytes=80 * 1024 * 1024, namespace="pool"):
        for case in (that_cannot_be_opened, whose_dispatcher_died_before_it_was_opened, that_is_silent, that_is_found):
            asyncio.run(case())
            freed()
            print(case.__name__, flush=True)
finally:
    run_dir.remove()
"""


def test_a_worker_keeps_no_place_that_nobody_uses() -> None:
    """One that cannot be opened, one whose dispatcher died too early, one that is silent; one that is well is found."""
    ran = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=700, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert len(ran.stdout.splitlines()) == 4
