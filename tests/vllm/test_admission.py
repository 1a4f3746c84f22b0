"""Admission watches a real queue, of one API server or two: it closes while requests wait, and opens afterwards."""

from __future__ import annotations

import asyncio

import httpx

from shoal.agent.models.model import Ask, Message
from shoal.agent.models.openai_compatible import OpenAICompatible
from shoal.services.inference.admission import AdmissionConfig, AdmissionRules
from shoal.services.inference.process import VllmProcess
from shoal.services.inference.watch import Admission

LOOKS = 400


async def test_it_closes_before_a_queue_and_opens_after_it(server: VllmProcess, model: OpenAICompatible) -> None:
    config = AdmissionConfig((f"{server.options.url}/v1",), AdmissionRules(start=32, rest_s=0.2, weight=1.0))
    admission = Admission(config)
    asked = [
        asyncio.create_task(model.ask(Ask((Message("user", f"number {n}"),), max_tokens=120)))
        for n in range(6 * server.options.sequences)
    ]
    async with httpx.AsyncClient() as client:
        seen: list[tuple[float, float]] = []
        for _ in range(LOOKS):
            admission.room(active=32)
            await admission.look(client)
            told = admission.snapshot()["servers"][0]
            seen.append((told["running"], told["waiting"]))
            if admission.limit is not None and admission.limit < 32:
                break
            await asyncio.sleep(0.02)
        assert admission.limit is not None
        assert admission.limit < 32, seen[-5:]
        assert max(waiting for _, waiting in seen) > server.options.sequences / 2
        assert max(running for running, _ in seen) <= server.options.sequences
        closed = admission.limit

        await asyncio.gather(*asked)
        for _ in range(LOOKS):
            # A slow machine takes long to begin a reply while the queue is there: new replies say that it is over.
            await model.ask(Ask((Message("user", "is it calm?"),), max_tokens=1))
            admission.room(active=admission.limit)
            await admission.look(client)
            if admission.limit > closed:
                break
            await asyncio.sleep(0.02)
        assert admission.limit > closed
    print(f"limit 32 -> {closed} in {len(seen)} looks, longest queue {max(waiting for _, waiting in seen):.0f}")
