"""Old jobs are archived and dropped; their results can still be read."""

from __future__ import annotations

import json

import pytest

from agent.status import Status
from agent.types import Outcome, Record
from services.gateway import retention
from services.gateway.retention import Retention
from services.store import ids
from tests.gateway_world import world


async def test_an_old_job_s_results_are_read_from_its_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "PART", 1)
    async with world() as w:
        job = await w.submit()
        await w.finish(
            await w.claim(), lambda work: Outcome(Status.COMPLETED, records=(Record({"n": 1}), Record({"n": 2})))
        )
        path = f"/v1/jobs/{job}/results"
        before = (await w.client.get(path)).text
        sweeper = Retention(w.store, w.artifacts, default_days=0)

        assert await sweeper.sweep() == 1
        assert await sweeper.sweep() == 0

        after = await w.client.get(path)
        assert after.text == before
        assert [json.loads(line)["record"] for line in after.text.splitlines()] == [{"n": 1}, {"n": 2}]
        assert (await w.client.get(f"/v1/jobs/{job}")).json()["counts"]["completed"] == 1
        assert (await w.client.get(f"/v1/jobs/{job}/sessions")).json()["sessions"] == []
        assert (await w.store.job(ids.parse_job(job))).archive == f"archive/{job}"
        assert (await w.client.post(f"/v1/jobs/{job}/retry")).status_code == 409
