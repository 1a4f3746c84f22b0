"""The demo job of an empty list: it works without a model and without a network, whatever browsers may reach."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from shoal.agent.status import FINAL
from shoal.services.addresses import Reach
from shoal.services.demo.shop import JOB, PRODUCTS
from tests.live_world import live_world
from tests.patience import PATIENCE_S


@pytest.mark.parametrize("reach", [Reach(), Reach(allow_private=True)], ids=["filtered", "unfiltered"])
async def test_the_button_runs_a_job_that_reads_every_product_without_a_model(tmp_path: Path, reach: Reach) -> None:
    async with live_world(tmp_path, {}, lambda body: "", reach=reach) as live:
        client = live.world.client
        found = re.search(
            r'action="/new/demo"><input type="hidden" name="token" value="([^"]+)"', (await client.get("/")).text
        )
        assert found is not None
        answers = [await client.post("/new/demo", data={"token": found[1]}) for _ in range(2)]
        (job,) = {answer.headers["location"].removeprefix("/jobs/") for answer in answers}
        async with asyncio.timeout(PATIENCE_S):
            while (row := (await client.get(f"/v1/jobs/{job}")).json())["status"] not in FINAL:
                await asyncio.sleep(0.1)
        lines = [json.loads(line) for line in (await client.get(f"/v1/jobs/{job}/results")).text.splitlines()]
        assert "/new/demo" not in (await client.get("/")).text
        assert (row["name"], row["status"], row["counts"]["completed"]) == (JOB["name"], "completed", len(PRODUCTS))
        assert live.model.requests == []
    assert [line["record"] for line in lines] == [
        {"name": name, "price": price, "currency": "EUR", "in_stock": in_stock} for name, price, in_stock in PRODUCTS
    ]
    assert {name: source["sureness"] for line in lines for name, source in line["sources"].items()} == {
        "name": "certain", "price": "certain", "currency": "likely", "in_stock": "likely",
    }  # fmt: skip
