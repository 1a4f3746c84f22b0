"""Jobs that are deleted: gone at once for their owner, their rows and files in slices behind that."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.errors import ArtifactStoreAway
from shoal.services.store import ids
from shoal.services.store.records import DropSlice
from shoal.services.web.results.retention import Retention
from tests.gateway_world import World, api_world
from tests.unit.gateway.test_retention import archived, loop_with_screenshots, screenshots


def by_twos(w: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slice is two sessions."""
    droppable = w.store.droppable

    async def short(job: int, most: int = 2) -> DropSlice:
        return await droppable(job, most)

    monkeypatch.setattr(w.store, "droppable", short)


async def test_a_deleted_job_is_gone_for_its_owner_before_all_its_files_are(monkeypatch: pytest.MonkeyPatch) -> None:
    async with api_world() as w:
        job = await loop_with_screenshots(w, 7)
        by_twos(w, monkeypatch)
        assert (await w.client.delete(f"/v1/jobs/{job}")).status_code == 204
        left = len(screenshots(w))
        assert 0 < left < 7, "one slice"
        for path in ("", "/sessions", "/results", "/events?follow=false"):
            assert (await w.client.get(f"/v1/jobs/{job}{path}")).status_code == 404
        assert (await w.client.get("/v1/jobs")).json()["jobs"] == []
        for again in (w.client.delete(f"/v1/jobs/{job}"), w.client.post(f"/v1/jobs/{job}/retry")):
            assert (await again).status_code == 404
        assert (await w.client.get("/v1/status")).json()["sessions"]["completed"] == 0

        sweeper = Retention(w.store, w.artifacts)
        assert await sweeper.run_once() == 1 and await sweeper.run_once() == 0
        assert screenshots(w) == []


async def test_a_job_that_is_deleted_while_the_artifact_store_is_away_leaves_no_file_behind() -> None:
    async with api_world() as w:
        job = await archived(w)
        shots = await loop_with_screenshots(w, 3)
        w.artifacts.away = True
        for one in (job, shots):
            assert (await w.client.delete(f"/v1/jobs/{one}")).status_code == 204
            assert (await w.client.get(f"/v1/jobs/{one}")).status_code == 404
        assert len(w.artifacts.keys) > 3
        sweeper = Retention(w.store, w.artifacts)
        with pytest.raises(ArtifactStoreAway):
            await sweeper.run_once()
        w.artifacts.away = False
        while await Retention(w.store, w.artifacts).run_once():
            pass
        assert w.artifacts.keys == []


async def test_files_go_before_the_rows_that_name_them(monkeypatch: pytest.MonkeyPatch) -> None:
    async with api_world() as w:
        job = await loop_with_screenshots(w, 5)
        by_twos(w, monkeypatch)
        drop = w.store.drop

        async def dies(*args: object) -> bool:
            raise asyncio.CancelledError

        monkeypatch.setattr(w.store, "drop", dies)
        with pytest.raises(asyncio.CancelledError):
            await w.client.delete(f"/v1/jobs/{job}")
        assert await w.store.deleted() == [ids.parse_job(job)] and screenshots(w)
        monkeypatch.setattr(w.store, "drop", drop)
        await Retention(w.store, w.artifacts).run_once()
        assert screenshots(w) == [] and await w.store.deleted() == []


async def test_the_files_of_a_slice_are_removed_by_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    async with api_world() as w:
        job = await loop_with_screenshots(w, 40)
        asked: list[int] = []

        delete_many = MemoryArtifacts.delete_many

        async def counted(artifacts: MemoryArtifacts, keys: Sequence[str]) -> None:
            asked.append(len(keys))
            await delete_many(artifacts, keys)

        monkeypatch.setattr(MemoryArtifacts, "delete_many", counted)
        assert (await w.client.delete(f"/v1/jobs/{job}")).status_code == 204
        assert asked == [40]


async def test_two_gateways_remove_what_is_left_together(monkeypatch: pytest.MonkeyPatch) -> None:
    async with api_world() as w:
        job = await loop_with_screenshots(w, 9)
        by_twos(w, monkeypatch)
        await w.client.delete(f"/v1/jobs/{job}")
        await asyncio.gather(*(Retention(w.store, w.artifacts).run_once() for _ in range(2)))
        assert screenshots(w) == [] and await w.store.deleted() == []
