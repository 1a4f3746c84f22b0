"""Records as files of a bucket, at a real S3 server: by date and job, with a pointer, and to no private address."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import pyarrow.parquet as pq
import pytest

from shoal.services.addresses import Reach
from shoal.services.sinks.files import FilesTarget
from shoal.services.sinks.s3 import S3Place
from shoal.services.sinks.writer import LEASE_S
from shoal.services.store.jobs.sink_records import SinkState
from tests.s3_server import ANY, S3Server
from tests.sink_world import SinkWorld, json_lines, product, sink_world


@pytest.fixture
def bucket(s3_server: S3Server) -> str:
    name = f"b{uuid4().hex}"
    s3_server.bucket(name)
    return name


def objects(server: S3Server, bucket: str) -> dict[str, bytes]:
    there = boto3.resource("s3", endpoint_url=server.url, region_name="us-east-1", **ANY).Bucket(bucket)
    return {found.key: found.get()["Body"].read() for found in there.objects.all()}


def of(
    w: SinkWorld, server: S3Server, bucket: str, form: str = "jsonl", site: str = "", host: str = "127.0.0.1"
) -> dict[str, Any]:
    endpoint = server.url.replace("127.0.0.1", host)  # moto reads the bucket from a name with dots
    keys = {name: w.secret(name.upper(), f"{name}-value", site or endpoint) for name in ("access_key", "secret_key")}
    return {"s3": {"url": f"s3://{bucket}/shop/daily", "format": form, "endpoint_url": endpoint, **keys}}


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
async def test_records_lie_under_their_date_and_job_and_the_pointer_names_them(
    tmp_path: Path, s3_server: S3Server, bucket: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FilesTarget, "batch_records", 3)
    async with sink_world(tmp_path) as w:
        products = [product(n) for n in range(5)]
        job = await w.job([of(w, s3_server, bucket, form)], products)
        await w.until(job, SinkState.DONE)
        there = await asyncio.to_thread(objects, s3_server, bucket)
        day = (await w.gateway.store.job(job)).created_at.date().isoformat()
        parts = [f"date={day}/job=j{job}/part-0000{n}.{form}" for n in range(2)]
        assert sorted(there) == [*(f"shop/daily/{part}" for part in parts), "shop/daily/latest.json"]
        told = json.loads(there["shop/daily/latest.json"])
        assert (told["job"], told["records"], told["files"]) == (f"j{job}", 5, parts)
        read = [there[f"shop/daily/{part}"] for part in parts]
        if form == "jsonl":
            assert [record for text in read for record in json_lines(text.decode())] == products
        else:
            rows = [row for data in read for row in pq.read_table(io.BytesIO(data)).to_pylist()]
            assert [(row["sku"], row["price"], row["stock"]) for row in rows] == [
                (one["sku"], one["price"], one["stock"]) for one in products
            ]


async def test_a_writer_that_dies_in_the_middle_leaves_each_record_once(
    tmp_path: Path, s3_server: S3Server, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FilesTarget, "batch_records", 10)
    put, writes, dead = S3Place.put, list[str](), asyncio.Event()

    async def dies_once(self: S3Place, path: str, data: bytes, content_type: str) -> None:
        writes.append(path)
        await put(self, path, data, content_type)
        if len(writes) == 4:
            dead.set()
            await asyncio.Event().wait()

    monkeypatch.setattr(S3Place, "put", dies_once)
    async with sink_world(tmp_path, writing=False) as w:
        first = w.start()
        products = [product(n) for n in range(60)]
        job = await w.job([of(w, s3_server, bucket)], products)
        await dead.wait()
        await w.stop(first)
        w.skip(LEASE_S + 1)
        w.start()
        await w.until(job, SinkState.DONE)
        there = await asyncio.to_thread(objects, s3_server, bucket)
        parts = [there[key].decode() for key in sorted(there) if key.endswith("jsonl")]
        assert [record for part in parts for record in json_lines(part)] == products
        assert len(writes) == 8  # six parts, of which one was written again, and the pointer


async def test_what_the_service_refuses_is_told_in_words(tmp_path: Path, s3_server: S3Server) -> None:
    async with sink_world(tmp_path) as w:
        job = await w.job([of(w, s3_server, "no-such-bucket")], [product(1)])
        row = await w.failing(job)
        assert row.state is SinkState.WAITING and "NoSuchBucket: there is no such bucket" in row.error
        assert "value" not in row.error


async def test_no_request_goes_to_a_private_address_or_without_the_keepers_leave(
    tmp_path: Path, s3_server: S3Server, bucket: str
) -> None:
    async with sink_world(tmp_path, reach=Reach()) as w:
        sink = of(w, s3_server, bucket, host="s3.example")
        refused = await w.gateway.client.post(
            "/v1/jobs", json={"url": "https://shop.example/", "goal": "look", "sinks": [sink]}
        )
        assert refused.status_code == 400 and refused.json()["errors"][0]["field"] == "sinks[0].s3"
        w.gateway.names.table["s3.example"] = ["93.184.216.34"]
        row = await w.until(await w.job([sink], [product(1)]), SinkState.FAILED)
        assert "s3.example is not allowed" in row.error
    async with sink_world(tmp_path / "other") as w:
        row = await w.failing(await w.job([of(w, s3_server, bucket, site="other.example")], [product(1)]))
        assert "is bound to https://other.example" in row.error
    assert await asyncio.to_thread(objects, s3_server, bucket) == {}
