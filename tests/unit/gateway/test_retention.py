"""Old jobs are archived and dropped; their results can still be read."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import tracemalloc
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pyarrow.parquet as pq
import pytest
import structlog

from shoal.agent.status import Status
from shoal.agent.types import ArtifactRef, Outcome, Record
from shoal.agent.worker_messages import Work
from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.errors import ArtifactStoreAway
from shoal.services.events import LogEvent
from shoal.services.store import ids
from shoal.services.store.records import DropSlice, ResultRow
from shoal.services.web.results import archive
from shoal.services.web.results.archive import Archive, ArchivePart, part_key
from shoal.services.web.results.retention import Retention
from tests.gateway_world import World, completed, failed, loop_of, world


async def ended(w: World, n: int = 2) -> str:
    """A final job with `n` records."""
    job = await w.submit(extract={"schema": {"type": "object", "properties": {"n": {"type": "integer"}}}})
    records = tuple(Record({"n": number}) for number in range(1, n + 1))
    await w.finish(await w.claim(), lambda work: Outcome(Status.COMPLETED, records=records))
    return job


async def test_an_old_job_s_results_are_read_from_its_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "PART_LINES", 1)
    async with world() as w:
        job = await ended(w)
        path = f"/v1/jobs/{job}/results"
        before = (await w.client.get(path)).text
        sweeper = Retention(w.store, w.artifacts, default_days=0)

        assert await sweeper.run_once() == 1
        assert await sweeper.run_once() == 0

        after = await w.client.get(path)
        assert after.text == before
        assert [json.loads(line)["record"] for line in after.text.splitlines()] == [{"n": 1}, {"n": 2}]
        assert (await w.client.get(f"/v1/jobs/{job}")).json()["counts"]["completed"] == 1
        assert (await w.client.get(f"/v1/jobs/{job}/sessions")).json()["sessions"] == []
        assert str((await w.store.job(ids.parse_job(job))).archive).startswith(f"archive/{job}/")
        assert (await w.client.post(f"/v1/jobs/{job}/retry")).status_code == 409


async def test_two_gateways_that_sweep_at_once_lose_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the second one pages the results, the first one archives and drops the job under its feet."""
    async with world() as w:
        job = await w.submit()
        values = [f"https://shop.example/{number}" for number in range(12)]
        await w.run(loop_of(values, lambda work: completed({"n": 1})))
        path = f"/v1/jobs/{job}/results"
        before = (await w.client.get(path)).text
        first, second = (Retention(w.store, w.artifacts, default_days=0) for _ in range(2))
        read = w.store.stream_results

        async def results(of: int) -> AsyncIterator[ResultRow]:
            monkeypatch.setattr(w.store, "stream_results", read)
            seen = 0
            async for row in read(of):
                yield row
                seen += 1
                if seen == 1:
                    await first.run_once()
            assert seen < 12, "the rest went before it was read"

        monkeypatch.setattr(w.store, "stream_results", results)
        await second.run_once()

        assert (await w.client.get(path)).text == before
        assert len(before.splitlines()) == 12
        assert len(w.artifacts.keys) == 1, "the second gateway keeps nothing"


async def test_a_job_that_was_deleted_meanwhile_leaves_no_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world() as w:
        job = await ended(w)
        read = w.store.stream_results

        async def results(of: int) -> AsyncIterator[ResultRow]:
            async for row in read(of):
                yield row
            assert (await w.client.delete(f"/v1/jobs/{job}")).status_code == 204

        monkeypatch.setattr(w.store, "stream_results", results)
        assert await Retention(w.store, w.artifacts, default_days=0).run_once() == 1
        assert w.artifacts.keys == []


async def test_a_job_that_is_retried_and_ends_anew_while_it_is_archived_keeps_its_new_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with world() as w:
        job = await w.submit()
        await w.run(lambda work: failed())
        read = w.store.stream_results

        async def results(of: int) -> AsyncIterator[ResultRow]:
            async for row in read(of):
                yield row
            monkeypatch.setattr(w.store, "stream_results", read)
            assert (await w.client.post(f"/v1/jobs/{job}/retry")).status_code == 200
            await w.run(lambda work: completed({"n": 7}))

        monkeypatch.setattr(w.store, "stream_results", results)
        sweeper = Retention(w.store, w.artifacts, default_days=0)
        for _ in range(2):
            await sweeper.run_once()
            (line,) = (await w.client.get(f"/v1/jobs/{job}/results")).text.splitlines()
            assert json.loads(line)["record"] == {"n": 7}
        assert len(w.artifacts.keys) == 1


async def ends_of(w: World, n: int) -> list[str]:
    """Final jobs, the one that ended first in front."""
    jobs = [await w.submit(goal=f"look {number}") for number in range(n)]
    await w.run(lambda work: completed({"n": work.job}))
    return jobs


async def is_archived(w: World, job: str) -> bool:
    return (await w.store.job(ids.parse_job(job))).archive is not None


async def test_a_job_that_cannot_be_archived_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """More of them than one sweep takes: those behind them have their turn all the same."""
    async with world() as w:
        broken, whole = await ends_of(w, 12), await ends_of(w, 2)
        put, tried = w.artifacts.put, 0

        async def breaks(key: str, data: bytes, content_type: str) -> None:
            nonlocal tried
            if key.split("/")[1] in broken:
                tried += 1
                raise RuntimeError("no rule foresaw this")
            await put(key, data, content_type)

        monkeypatch.setattr(w.artifacts, "put", breaks)
        now = 0.0
        sweeper = Retention(w.store, w.artifacts, default_days=0, clock=lambda: now)
        with structlog.testing.capture_logs() as logs:
            while await sweeper.run_once():
                assert tried <= len(broken), "none is tried again at once"
        assert [await is_archived(w, job) for job in (*broken, *whole)] == [False] * 12 + [True] * 2
        told = [entry for entry in logs if entry["event"] == LogEvent.LOOP_FAILED]
        assert sorted(entry["job"] for entry in told) == sorted(broken)
        assert all(entry["exc_info"] for entry in told)

        monkeypatch.setattr(w.artifacts, "put", put)
        now += 3601
        while await sweeper.run_once():
            pass
        assert all([await is_archived(w, job) for job in broken])


async def test_objects_of_one_job_that_cannot_be_written_hold_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world() as w:
        broken, whole = await ends_of(w, 2)
        put = w.artifacts.put

        async def denies(key: str, data: bytes, content_type: str) -> None:
            if key.split("/")[1] == broken:
                raise ArtifactStoreAway("not this one")
            await put(key, data, content_type)

        monkeypatch.setattr(w.artifacts, "put", denies)
        sweeper = Retention(w.store, w.artifacts, default_days=0)
        with pytest.raises(ArtifactStoreAway):
            await sweeper.run_once()
        assert await sweeper.run_once() == 1
        assert await is_archived(w, whole) and not await is_archived(w, broken)


async def loop_with_screenshots(w: World, n: int) -> str:
    """A final loop of `n` items, each with a screenshot in the artifact store."""
    values = [f"https://shop.example/{number}" for number in range(n)]
    job = await w.submit(loop={"values": values})

    def ends(work: Work) -> Outcome:
        shot = ArtifactRef(f"{work.session:032x}", "screenshot", f"acme/{work.session}.jpg", "image/jpeg", 1)
        return completed({"n": 1}, artifacts=(shot,))

    while held := await w.claim():
        for work in held:
            if work.item is not None:
                await w.artifacts.put(f"acme/{work.session}.jpg", b"x", "image/jpeg")
        await w.finish(held, loop_of(values, ends))
    assert len(screenshots(w)) == n
    return job


def screenshots(w: World) -> list[str]:
    return [key for key in w.artifacts.keys if key.startswith("acme/")]


async def test_no_evidence_is_left_behind_when_the_artifact_store_is_away_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with world() as w:
        job = await loop_with_screenshots(w, 5)
        drop, slices = w.store.droppable, 0

        async def goes_away(*args: Any) -> DropSlice:
            nonlocal slices
            slices += 1
            w.artifacts.away = slices == 2
            return await drop(args[0], 2)

        monkeypatch.setattr(w.store, "droppable", goes_away)
        with pytest.raises(ArtifactStoreAway):
            await Retention(w.store, w.artifacts, default_days=0).run_once()
        assert await is_archived(w, job) and screenshots(w)
        await Retention(w.store, w.artifacts, default_days=0).run_once()
        assert screenshots(w) == []
        assert await w.store.expired(0) == []


async def test_the_evidence_of_a_slice_is_removed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world() as w:
        await loop_with_screenshots(w, 30)
        asked: list[int] = []

        async def counted(keys: Sequence[str]) -> None:
            asked.append(len(keys))

        monkeypatch.setattr(w.artifacts, "delete_many", counted)
        await Retention(w.store, w.artifacts, default_days=0).run_once()
        assert asked == [30]


async def test_no_evidence_is_left_behind_by_a_death_between_bytes_and_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world() as w:
        await loop_with_screenshots(w, 5)
        drop = w.store.drop

        async def dies(*args: Any) -> bool:
            raise asyncio.CancelledError

        monkeypatch.setattr(w.store, "drop", dies)
        with pytest.raises(asyncio.CancelledError):
            await Retention(w.store, w.artifacts, default_days=0).run_once()
        monkeypatch.setattr(w.store, "drop", drop)
        await Retention(w.store, w.artifacts, default_days=0).run_once()
        assert screenshots(w) == []
        assert await w.store.expired(0) == []


async def archived(w: World, n: int = 5) -> str:
    job = await ended(w, n)
    await Retention(w.store, w.artifacts, default_days=0).run_once()
    return job


async def test_an_archived_job_gives_every_format() -> None:
    async with world() as w:
        job = await archived(w)
        path = f"/v1/jobs/{job}/results"
        parquet = await w.client.get(path, params={"format": "parquet"})
        assert parquet.headers["content-type"] == "application/vnd.apache.parquet"
        assert pq.read_table(io.BytesIO(parquet.content)).column("record.n").to_pylist() == [1, 2, 3, 4, 5]
        text = (await w.client.get(path, headers={"Accept": "text/csv"})).text
        assert len(text.splitlines()) == 6
        assert text.splitlines()[0].startswith("job,session,")
        for form in ("jsonl", "csv", "parquet"):
            shown = await w.client.get(f"/jobs/{job}/results", params={"format": form})
            assert shown.content == (await w.client.get(path, params={"format": form})).content
        page = await w.client.get(f"/jobs/{job}")
        assert "gave no results" not in page.text
        assert "archive" in page.text


async def test_an_archive_is_read_page_by_page() -> None:
    async with world() as w:
        job = await archived(w)
        path, after, seen = f"/v1/jobs/{job}/results", {}, []
        while True:
            page = await w.client.get(path, params={"limit": 2, **after})
            seen += [json.loads(line)["record"]["n"] for line in page.text.splitlines()]
            if "shoal-next" not in page.headers:
                break
            after = {"after": page.headers["shoal-next"]}
        assert seen == [1, 2, 3, 4, 5]
        rest = await w.client.get(path, params=after)
        assert [json.loads(line)["record"]["n"] for line in rest.text.splitlines()] == [5]
        refused = await w.client.get(path, params={"after": "0.1"})
        assert refused.status_code == 400
        assert refused.json()["errors"][0]["field"] == "after"


async def test_a_page_of_an_archive_reads_no_part_that_lies_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "PART_LINES", 2)
    async with world() as w:
        job = await archived(w, 8)
        get, read, after, seen = w.artifacts.get, 0, {}, []

        async def counted(key: str) -> bytes:
            nonlocal read
            read += 1
            return await get(key)

        monkeypatch.setattr(w.artifacts, "get", counted)
        while True:
            page = await w.client.get(f"/v1/jobs/{job}/results", params={"limit": 3, **after})
            seen += [json.loads(line)["record"]["n"] for line in page.text.splitlines()]
            if "shoal-next" not in page.headers:
                break
            after = {"after": page.headers["shoal-next"]}
        assert seen == [1, 2, 3, 4, 5, 6, 7, 8]
        assert read == 2 + 2 + 2, "the last page begins where its cursor stands, and no part is looked for that is none"


async def test_a_part_of_an_archive_ends_with_its_bytes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "PART_BYTES", 10_000)
    async with world() as w:
        job = await w.submit()
        await w.run(lambda work: completed(*({"n": n, "text": "x" * 4_000} for n in range(8))))
        path = f"/v1/jobs/{job}/results"
        before = (await w.client.get(path)).text
        await Retention(w.store, w.artifacts, default_days=0).run_once()
        parts = [gzip.decompress(await w.artifacts.get(key)) for key in w.artifacts.keys]
        assert [len(part.splitlines()) for part in parts] == [3, 3, 2]
        assert (await w.client.get(path)).text == before
        page = await w.client.get(path, params={"limit": 3})
        rest = await w.client.get(path, params={"after": page.headers["shoal-next"]})
        assert page.text + rest.text == before


async def test_neither_writing_nor_reading_an_archive_holds_its_lines_in_memory() -> None:
    artifacts = MemoryArtifacts()
    line = b'{"text":"' + b"x" * 100_000 + b'"}\n'
    tracemalloc.start()
    try:
        part = ArchivePart()
        for _ in range(600):
            await part.add(line)
        await artifacts.put(part_key("a", 0), await part.packed(), "application/gzip")
        count = 0
        async for number, read in Archive("a", 1).lines(artifacts):
            assert (number, read) == (0, line)
            count += 1
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 600
    assert peak < 600 * len(line) // 4


async def test_an_archive_whose_bytes_are_gone_is_no_empty_answer() -> None:
    async with world() as w:
        job = await archived(w)
        await w.artifacts.delete(f"archive/{job}")
        assert (await w.client.get(f"/v1/jobs/{job}/results")).status_code == 410


async def test_an_archive_that_lacks_a_part_does_not_look_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "PART_LINES", 2)
    async with world() as w:
        job = await archived(w, 5)
        await w.artifacts.delete(next(key for key in w.artifacts.keys if key.endswith("00002.jsonl.gz")))
        path = f"/v1/jobs/{job}/results"
        page = await w.client.get(path, params={"limit": 4})
        assert len(page.text.splitlines()) == 4
        assert (await w.client.get(path, params={"after": page.headers["shoal-next"]})).status_code == 410
        with pytest.raises(RuntimeError, match="response already started"):  # a server breaks the answer off
            await w.client.get(path)
        refused = await w.client.get(path, params={"after": "archive-3-0"})
        assert refused.status_code == 400


async def test_deleting_an_archived_job_removes_its_archive() -> None:
    async with world() as w:
        job = await archived(w)
        assert w.artifacts.keys
        assert (await w.client.delete(f"/v1/jobs/{job}")).status_code == 204
        assert w.artifacts.keys == []
