"""Runs cases through a cluster's gateway: whole jobs, with a real browser and the rules policy."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence

import httpx

from shoal.agent.support.json_value import Json
from tests.sites.registry.case import Case
from tests.sites.registry.judging import Answer, Verdict, judged

JOB_S = 120
"""After so long a job is canceled, and what it gave until then is judged."""
_AT_ONCE = 3
_LOOK_S = 0.2


async def verdicts(cluster: str, cases: Sequence[Case]) -> list[Verdict]:
    """The figures of the cases. Those that send something run last, one after the other: they change what is listed,
    and their checks count what was sent.

    Raises:
        ValueError: a case has no truth, so that anything would pass.
    """
    empty = [case.name for case in cases if not case.truth and not case.is_form]
    if empty or not cases:
        raise ValueError(f"nothing to compare with: {empty or 'there is no case'}")
    async with httpx.AsyncClient(base_url=cluster, timeout=60) as client:
        free = asyncio.Semaphore(_AT_ONCE)

        async def one(case: Case) -> Verdict:
            async with free:
                return judged(case, await answer(client, case))

        reading = await asyncio.gather(*(one(case) for case in cases if not case.is_form))
        return [*reading, *[await one(case) for case in cases if case.is_form]]


async def answer(client: httpx.AsyncClient, case: Case) -> Answer:
    """Return what the gateway gives for the case's job."""
    started = time.monotonic()
    submitted = await client.post(
        "/v1/jobs", json={"policy": "rules", "artifacts": {"screenshots": "none"}, **case.spec}
    )
    if submitted.status_code != 201:
        refused = {"status": "failed", "error": {"message": f"refused: {submitted.text[:500]}"}}
        return Answer(refused, [])
    job = submitted.json()["id"]
    row: Json = {}
    while not row.get("finished_at"):
        if time.monotonic() - started > JOB_S:
            await client.post(f"/v1/jobs/{job}/cancel")
            row = {**row, "status": row.get("status", "running"), "reason": f"not final after {JOB_S} s"}
            break
        await asyncio.sleep(_LOOK_S)
        row = (await client.get(f"/v1/jobs/{job}")).json()
    lines = (await client.get(f"/v1/jobs/{job}/results", params={"limit": 10_000})).text.splitlines()
    return Answer(row, [json.loads(line) for line in lines], time.monotonic() - started)
