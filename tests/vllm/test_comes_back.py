"""The server is killed in the middle of a loop and comes back: no session is lost, and nothing of it is left behind."""

from __future__ import annotations

import asyncio
import os
import signal

import httpx
import psutil

from agent.models.model import Ask, Message
from agent.models.openai_compatible import OpenAICompatible
from services.inference.admission import AdmissionRules
from services.inference.watch import Admission, AdmissionConfig
from tests.vllm.server import READY_S, free_port, settings_for, start_tiny

ITEMS = 24


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
