"""Records in signed batches by POST, each taken once by a receiver that knows what it has."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from shoal.services.addresses import Reach
from shoal.services.store.jobs.sink_records import SinkState
from shoal.services.webhooks.signature import tenant_secret, verify
from tests.receiver import receiving
from tests.sink_world import MASTER, product, sink_world


def of(url: str, batch: int = 500) -> dict[str, Any]:
    return {"http": {"url": url, "batch": batch}}


async def test_batches_are_signed_numbered_and_closed(tmp_path: Path) -> None:
    async with receiving() as receiver, sink_world(tmp_path) as w:
        products = [product(n) for n in range(5)]
        job = await w.job([of(receiver.url, 2)], products)
        await w.until(job, SinkState.DONE)
        bodies = [json.loads(body) for _, body in receiver.got]
        assert [(body["type"], body.get("batch"), body.get("first")) for body in bodies] == [
            ("sink.records", 0, 0),
            ("sink.records", 1, 2),
            ("sink.records", 2, 4),
            ("sink.finished", None, None),
        ]
        assert [entry["record"] for body in bodies[:3] for entry in body["records"]] == products
        assert bodies[0]["records"][0]["url"] == "https://shop.example/p/1"
        assert (bodies[3]["records"], bodies[3]["batches"], bodies[3]["job"], bodies[3]["sink"]) == (5, 3, f"j{job}", 0)
        ids = [verify(tenant_secret(MASTER, "default"), *message, time.time()) for message in receiver.got]
        assert len(set(ids)) == 4


async def test_a_batch_that_is_sent_again_has_its_id_and_no_other_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.services.sinks.writer.PAUSES_S", (0.01,) * 5)
    async with receiving() as receiver, sink_world(tmp_path) as w:
        receiver.answers = [200, 500, 302, 200, 503, 200]
        products = [product(n) for n in range(6)]
        job = await w.job([of(receiver.url, 2)], products)
        row = await w.until(job, SinkState.DONE)
        assert row.attempts == 4
        taken = {headers["webhook-id"]: json.loads(body) for headers, body in receiver.got}
        assert len(receiver.got) == 7 and len(taken) == 4
        batches = [body["records"] for body in taken.values() if body["type"] == "sink.records"]
        assert [entry["record"] for batch in batches for entry in batch] == products


async def test_one_that_is_gone_is_given_up_and_a_private_address_is_never_called(tmp_path: Path) -> None:
    async with receiving() as receiver, sink_world(tmp_path) as w:
        receiver.answers = [410]
        row = await w.until(await w.job([of(receiver.url)], [product(1)]), SinkState.FAILED)
        assert (row.attempts, row.error) == (1, "HTTP 410: not today")
        called = len(receiver.got)
        async with sink_world(tmp_path / "strict", reach=Reach()) as strict:
            strict.gateway.names.table["hooks.example"] = ["93.184.216.34"]
            row = await strict.until(await strict.job([of(receiver.url)], [product(1)]), SinkState.FAILED)
            assert "hooks.example is not allowed: the address is loopback" in row.error
        assert len(receiver.got) == called


async def test_one_tenant_s_slow_receiver_holds_four_places_and_leaves_the_rest(tmp_path: Path) -> None:
    """Places are counted while the receiver holds its answers."""
    async with receiving() as receiver, sink_world(tmp_path, writing=False) as w:
        for _ in range(6):
            await w.job([of(receiver.url + f"/{_}")], [product(1)])
        claimed = await w.gateway.store.sinks.claim(8, lease_s=60, each=4)
        assert len(claimed) == 4
        assert await w.gateway.store.sinks.claim(8, lease_s=60, each=4, under_way={"default": 4}) == []
