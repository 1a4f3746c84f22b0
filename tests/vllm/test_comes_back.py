"""The server is killed in the middle of a loop and comes back: no session is lost, and nothing of it is left behind."""

from __future__ import annotations

import asyncio
import os
import signal

import httpx
import psutil

from shoal.agent.models.model import Ask, Message
from shoal.agent.models.openai_compatible import OpenAICompatible
from shoal.services.inference.admission import AdmissionConfig, AdmissionRules
from shoal.services.inference.watch import Admission
from tests.embedded import demo_shop, up
from tests.vllm.server import READY_S, free_port, settings_for, start_tiny

ITEMS = 24
JOB_ITEMS = 12
JOB_S = 300.0

# Whatever a random model says is a record of these: conclusions, which no page has to say. Each may be null, not all.
KINDS = {"type": "object", "properties": {f"kind{n}": {"enum": ["lamp", "chair"]} for n in range(12)}}


async def test_a_loop_goes_on_when_its_server_was_killed_and_is_back() -> None:
    port = free_port()
    server = await start_tiny(port)
    admission = Admission(AdmissionConfig((f"http://127.0.0.1:{port}/v1",), AdmissionRules(), silent_looks=1))
    model = OpenAICompatible(settings_for(server, patience_s=READY_S, breaker_pause_s=1.0, retry_max_s=2.0))
    done: list[int] = []

    async def session(n: int) -> None:
        for step in range(3):
            await model.ask(Ask((Message("user", f"item {n}, step {step}"),), max_tokens=64, affinity="loop"))
        done.append(n)

    try:
        await server.ready(READY_S)
        async with httpx.AsyncClient() as client:
            loop = [asyncio.create_task(session(n)) for n in range(ITEMS)]
            while len(done) < ITEMS // 4:
                await asyncio.sleep(0.01)
            family = [psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True)]
            os.killpg(server.pid, signal.SIGKILL)
            await server.end()
            assert psutil.wait_procs(family, timeout=20)[1] == []
            assert len(done) < ITEMS
            await admission.look(client)
            assert admission.room(0) == 0

            server = await start_tiny(port)
            await server.ready(READY_S)
            await asyncio.gather(*loop)
            assert sorted(done) == list(range(ITEMS))
            await admission.look(client)
            assert (admission.room(0) or 0) > 0
    finally:
        await server.end()
        await model.close()


async def test_no_session_of_a_loop_job_is_lost_when_the_model_server_is_killed_and_is_back() -> None:
    """Through gateway, store, dispatcher and workers: sessions under way wait, the rest is not begun, all end well."""
    port = free_port()
    server = await start_tiny(port)
    settings = {
        **{"workers": "1", "slots_per_worker": "4", "model_url": f"http://127.0.0.1:{port}/v1", "model": "tiny"},
        **{"model_temperature": "1", "model_patience_s": str(READY_S), "model_timeout_s": "120"},
        **{"model_image_tokens": "1000", "model_max_tokens": "1024", "session_timeout_s": "600"},
    }
    try:
        await server.ready(READY_S)
        with demo_shop() as shop, up(**settings) as cluster:
            async with httpx.AsyncClient() as client:
                products = (await client.get(f"{shop}/_truth/products.json")).json()
            values = [shop + product["path"] for product in products if not product["discontinued"]][:JOB_ITEMS]
            spec = {"url": shop, "policy": "model", "loop": {"values": values}, "extract": {"schema": KINDS}}
            job = await asyncio.to_thread(cluster.submit, {**spec, "max_attempts": 10})
            begun = await asyncio.to_thread(
                cluster.until, job, lambda row: row["counts"]["completed"] >= JOB_ITEMS // 4
            )
            os.killpg(server.pid, signal.SIGKILL)
            await server.end()
            assert begun["counts"]["completed"] < JOB_ITEMS
            assert begun["finished_at"] is None

            server = await start_tiny(port)
            await server.ready(READY_S)
            final = await asyncio.to_thread(cluster.final, job, JOB_S)
            rows = await asyncio.to_thread(cluster.results, job)
        assert final["status"] == "completed", final["error"]
        counts = {name: n for name, n in final["counts"].items() if n}
        assert counts == dict.fromkeys(("expected", "completed", "final"), JOB_ITEMS)
        print(f"{final['counts']}, {final['usage']}, {len(rows)} rows")
    finally:
        await server.end()
