"""Records in files of a folder: parts by date and job, a pointer to the newest, and whatever dies on the way."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.services.sinks.fault import SinkFault
from shoal.services.sinks.files import FilesTarget
from shoal.services.sinks.folder import FolderPlace
from shoal.services.sinks.run import SinkProgress
from shoal.services.sinks.writer import LEASE_S
from shoal.services.store.jobs.sink_records import SinkRow, SinkState
from shoal.services.store.records import DeliveryFilter
from tests.gateway_world import completed, failed, loop_of
from tests.sink_world import SCHEMA, SinkWorld, json_lines, product, sink_world


def of(w: SinkWorld, form: str = "jsonl") -> dict[str, object]:
    return {"folder": {"path": str(w.folder / "shop"), "format": form}}


def latest(w: SinkWorld) -> dict[str, object]:
    told: dict[str, object] = json.loads((w.folder / "shop/latest.json").read_text())
    return told


def latest_records(w: SinkWorld) -> list[object]:
    """The records of the files that `latest.json` names, in their order."""
    files = latest(w)["files"]
    assert isinstance(files, list)
    return [record for file in files for record in json_lines((w.folder / "shop" / file).read_text())]


async def test_records_are_written_as_lines_and_the_pointer_names_them(tmp_path: Path) -> None:
    async with sink_world(tmp_path) as w:
        products = [product(n) for n in range(5)]
        job = await w.job([of(w)], products)
        done = await w.until(job, SinkState.DONE)
        assert (done.written, done.attempts, done.error) == (5, 1, "")
        assert latest_records(w) == products
        created = (await w.gateway.store.job(job)).created_at
        assert latest(w)["files"] == [f"date={created:%Y-%m-%d}/job=j{job}/part-00000.jsonl"]
        assert latest(w)["job"] == f"j{job}" and latest(w)["records"] == 5


async def test_parquet_has_the_types_of_the_schema_in_every_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FilesTarget, "batch_records", 2)
    async with sink_world(tmp_path) as w:
        products = [product(0, price=5, stock=None), product(1, price=7), product(2, extra=1.5), product(3)]
        await w.until(await w.job([of(w, "parquet")], products), SinkState.DONE)
        files = latest(w)["files"]
        assert isinstance(files, list) and len(files) == 2
        tables = [pq.read_table(w.folder / "shop" / file, partitioning=None) for file in files]
        assert tables[0].schema == tables[1].schema
        types = dict(zip(tables[0].schema.names, tables[0].schema.types, strict=True))
        assert types["price"] == pa.float64() and types["stock"] == pa.int64() and types["since"] == pa.date32()
        assert types["new"] == pa.bool_() and types["seller.score"] == pa.float64() and types["extra"] == pa.float64()
        rows = [row for table in tables for row in table.to_pylist()]
        assert [row["sku"] for row in rows] == ["A0", "A1", "A2", "A3"]
        assert rows[0]["stock"] is None and rows[0]["price"] == 5.0 and json.loads(rows[0]["tags"]) == ["a", "b"]
        assert rows[0]["seller.name"] == "=1+1"


async def test_a_writer_that_dies_between_its_write_and_its_note_loses_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FilesTarget, "batch_records", 10)
    put, writes, dead = FolderPlace.put, list[str](), asyncio.Event()

    async def dies_once(self: FolderPlace, path: str, data: bytes, content_type: str) -> None:
        await put(self, path, data, content_type)
        writes.append(path.rpartition("/")[2])
        if len(writes) == 3:
            dead.set()
            await asyncio.Event().wait()  # until it is ended: the file is there, and nothing notes it

    monkeypatch.setattr(FolderPlace, "put", dies_once)
    async with sink_world(tmp_path, writing=False) as w:
        first = w.start()
        products = [product(n) for n in range(50)]
        job = await w.job([of(w)], products)
        await dead.wait()
        await w.stop(first)
        w.skip(LEASE_S + 1)
        (row,) = await w.sinks(job)
        assert (row.state, row.written) == (SinkState.WAITING, 20)
        w.start()
        await w.until(job, SinkState.DONE)
        assert latest_records(w) == products
        # It went on behind the second part: the first two were not written again.
        assert writes == [*(f"part-0000{n}.jsonl" for n in (0, 1, 2, 2, 3, 4)), "latest.json"]


async def test_what_fails_is_tried_again_told_and_leaves_the_job_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.services.sinks.writer.PAUSES_S", (0.01, 0.01))
    async with sink_world(tmp_path) as w:
        (w.folder / "shop").write_text("a file where a folder should be")
        hook = {"url": "http://hooks.example/in", "events": ["sink.failed"]}
        job = await w.job([of(w)], [product(1)], webhook=hook)
        given_up = await w.until(job, SinkState.FAILED)
        assert given_up.attempts == 3 and "cannot be" in given_up.error
        assert (await w.gateway.store.job(job)).status == "completed"
        assert len((await w.gateway.client.get(f"/v1/jobs/j{job}/results")).text.splitlines()) == 1
        messages = [json.loads(row.body) for row in await w.gateway.store.deliveries(DeliveryFilter(job=job))]
        assert [(m["type"], m["sink"], m["given_up"]) for m in reversed(messages)] == [
            ("sink.failed", 0, False),
            ("sink.failed", 0, True),
        ]
        (w.folder / "shop").unlink()
        again = await w.gateway.client.post(f"/v1/jobs/j{job}/sinks/0/again")
        assert again.status_code == 200 and again.json()["state"] == "waiting", again.text
        await w.until(job, SinkState.DONE)
        assert latest_records(w) == [product(1)]
        shown = (await w.gateway.client.get(f"/v1/jobs/j{job}")).json()["sinks"]
        assert [(one["state"], one["written"], one["kind"]) for one in shown] == [("done", 1, "folder")]


async def test_a_job_that_is_not_completed_is_written_nowhere(tmp_path: Path) -> None:
    async with sink_world(tmp_path) as w:
        job = int((await w.gateway.submit(sinks=[of(w)]))[1:])
        await w.gateway.run(lambda work: failed())
        row = await w.until(job, SinkState.SKIPPED)
        assert row.error == "the job is failed, and only those that are completed are written"
        assert list(w.folder.iterdir()) == []


async def test_items_that_a_retry_completes_are_written_with_the_others_once(tmp_path: Path) -> None:
    async with sink_world(tmp_path) as w:
        values, bad = ["0", "1", "2"], {"1"}
        job = int((await w.gateway.submit(sinks=[of(w)], loop={"values": values}))[1:])
        answer = loop_of(
            values,
            lambda work: failed() if work.item.value in bad else completed(product(int(work.item.value))),  # type: ignore[union-attr]
        )
        await w.gateway.run(answer)
        await w.until(job, SinkState.DONE)
        assert [record["sku"] for record in latest_records(w)] == ["A0", "A2"]  # type: ignore[index]
        bad.clear()
        await w.gateway.store.retry(job)
        assert (await w.sinks(job))[0].state is SinkState.DONE
        await w.gateway.run(answer)
        await w.until(job, SinkState.DONE)
        assert [record["sku"] for record in latest_records(w)] == ["A0", "A1", "A2"]  # type: ignore[index]


async def test_nothing_is_written_of_a_job_that_was_begun_again_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with sink_world(tmp_path, writing=False) as w:
        values, bad = ["0", "1"], {"1"}
        job = int((await w.gateway.submit(sinks=[of(w)], loop={"values": values}))[1:])
        answer = loop_of(
            values,
            lambda work: failed() if work.item.value in bad else completed(product(int(work.item.value))),  # type: ignore[union-attr]
        )
        await w.gateway.run(answer)
        bad.clear()
        sinks, claimed = w.gateway.store.sinks, asyncio.Event()
        claim = sinks.claim

        async def begun_again(room: int, **how: Any) -> list[SinkRow]:
            rows = await claim(room, **how)
            if rows and not claimed.is_set():
                await w.gateway.store.retry(job)
                claimed.set()
            return rows

        monkeypatch.setattr(sinks, "claim", begun_again)
        writer = w.start()
        await asyncio.wait_for(claimed.wait(), 60)
        await w.gateway.store.changed(1.0)  # the attempt ends without a word
        assert list(w.folder.iterdir()) == []
        await w.gateway.run(answer)
        await w.until(job, SinkState.DONE)
        await w.stop(writer)
        assert [record["sku"] for record in latest_records(w)] == ["A0", "A1"]  # type: ignore[index]


async def test_an_older_job_that_is_late_does_not_take_the_pointer(tmp_path: Path) -> None:
    async with sink_world(tmp_path) as w:
        older = await w.job([of(w)], [product(1)])
        newer = await w.job([of(w)], [product(2)])
        await w.until(older, SinkState.DONE)
        await w.until(newer, SinkState.DONE)
        assert latest_records(w) == [product(2)]
        await w.gateway.store.sinks.again(older, 0)
        await w.until(older, SinkState.DONE)
        assert latest_records(w) == [product(2)]


@pytest.mark.parametrize("path", ["/etc", "shop", "{out}/other", "{out}/default/../other", "{out}/default/link"])
async def test_a_folder_that_is_not_the_tenants_is_refused(tmp_path: Path, path: str) -> None:
    async with sink_world(tmp_path) as w:
        (w.folder / "link").symlink_to("/tmp")
        sink = {"folder": {"path": path.replace("{out}", str(tmp_path / "out"))}}
        answer = await w.gateway.client.post(
            "/v1/jobs", json={"url": "https://shop.example/", "goal": "look", "sinks": [sink]}
        )
        assert answer.status_code == 400
        (fault,) = answer.json()["errors"]
        assert (
            fault["field"] == "sinks[0].folder.path" and "SHOAL_SINK_DIRS" in fault["reason"]
        ) or "absolute" in fault["reason"]


async def test_a_link_that_is_laid_later_is_not_followed(tmp_path: Path) -> None:
    async with sink_world(tmp_path, writing=False) as w:
        job = await w.job([of(w)], [product(1)])
        outside = tmp_path / "outside"
        outside.mkdir()
        (w.folder / "shop").symlink_to(outside)
        w.start()
        row = await w.until(job, SinkState.FAILED)
        assert "SHOAL_SINK_DIRS" in row.error and list(outside.iterdir()) == []


async def _claimed(w: SinkWorld, *, cursor: bool) -> SinkRow:
    """A sink that a writer has just claimed: of a job of which one item failed, with or without a cursor."""
    items = ["0", "1", "2"]
    job = await w.gateway.submit(goal=None, extract={"schema": SCHEMA}, loop={"values": items}, sinks=[of(w)])
    await w.gateway.run(loop_of(items, lambda work: failed() if work.item.index == 2 else completed(product(1))))  # type: ignore[union-attr]
    (row,) = await w.gateway.store.sinks.claim(1, lease_s=LEASE_S, each=1, under_way={})
    if cursor:
        await w.gateway.store.sinks.advance(row, SinkProgress("mark", (), 2).cursor, 0, lease_s=LEASE_S)
        (row,) = await w.gateway.store.sinks.of_job(int(job[1:]))
    return row


@pytest.mark.parametrize("cursor", [False, True])
@pytest.mark.parametrize("why", ["the lease is lost", "the job goes on"])
async def test_nothing_is_written_where_another_may_be_writing_or_the_job_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str, cursor: bool
) -> None:
    puts = list[str]()

    async def put(self: FolderPlace, path: str, data: bytes, content_type: str) -> None:
        puts.append(path)

    monkeypatch.setattr(FolderPlace, "put", put)
    async with sink_world(tmp_path, writing=False) as w:
        row = await _claimed(w, cursor=cursor)
        if why == "the lease is lost":
            w.skip(LEASE_S + 1)
            assert await w.gateway.store.sinks.claim(1, lease_s=LEASE_S, each=1, under_way={})
        else:
            await w.gateway.store.retry(row.job)
        await w.writer()._fly(row)
        assert puts == []


async def test_a_sink_that_never_comes_on_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.services.sinks.writer.PAUSES_S", (0.0,) * 3)

    async def put(self: FolderPlace, path: str, data: bytes, content_type: str) -> None:
        raise SinkFault("the disk is full")

    monkeypatch.setattr(FolderPlace, "put", put)
    async with sink_world(tmp_path) as w:
        gone = await w.until(await w.job([of(w)], [product(1)]), SinkState.FAILED)
        assert (gone.attempts, gone.error) == (4, "the disk is full")
