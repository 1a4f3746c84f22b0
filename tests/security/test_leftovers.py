"""Nothing of a deleted job stays in the artifact store, whichever part put it there and whenever."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from shoal.agent.types import ArtifactRef
from shoal.agent.worker_messages import Work
from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.artifacts.open import open_artifacts
from shoal.services.artifacts.options import ArtifactOptions, S3Options
from shoal.services.artifacts.s3 import S3Artifacts
from shoal.services.artifacts.store import ArtifactStore
from shoal.services.browsers.reports.artifact_sink import StoredArtifactSink
from shoal.services.store import ids
from shoal.services.store.records import DropSlice
from shoal.services.web.app import create_app
from shoal.services.web.deps import GatewayDeps, GatewayOptions
from shoal.services.web.results.leftovers import MARK, Leftovers
from shoal.services.web.results.retention import Retention
from tests.gateway_world import World, completed, world
from tests.integration.artifacts.conftest import S3Server

DAY_S = 86_400.0


async def keys(artifacts: ArtifactStore) -> list[str]:
    return sorted(one.key for one in await artifacts.page("") if one.key != MARK)


@pytest.fixture(params=["files", "s3"])
async def artifacts(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[ArtifactStore]:
    """A real artifact store."""
    if request.param == "files":
        yield open_artifacts(str(tmp_path / "artifacts"))
        return
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    server = S3Server(tmp_path / "s3.log")
    try:
        bucket = f"shoal-{uuid4().hex}"
        server.bucket(bucket)
        opened = open_artifacts(f"s3://{bucket}/here", ArtifactOptions(S3Options(endpoint_url=server.url)))
        yield opened
        await opened.close()
    finally:
        server.kill()


async def attempted(w: World, artifacts: ArtifactStore) -> tuple[Work, ArtifactRef]:
    """A job whose only session has a screenshot, and one more of an attempt that died."""
    await w.submit()
    (one,) = await w.claim()
    artifact_sink = StoredArtifactSink(artifacts, one)
    await artifact_sink.keep("screenshot", b"of the attempt that died", "image/jpeg")
    shot = await artifact_sink.keep("screenshot", b"of the attempt that ended", "image/jpeg")
    await w.finish([one], lambda work: completed({"a": 1}, artifacts=(shot,), screenshot=shot.id))
    return one, shot


async def test_a_deleted_job_leaves_nothing_in_the_artifact_store(artifacts: ArtifactStore) -> None:
    async with world() as w:
        app = create_app(GatewayDeps(w.store, artifacts, GatewayOptions(auth=False), w.names))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8700") as client:
            (first, _), (other, kept) = await attempted(w, artifacts), await attempted(w, artifacts)
            dead = [key for key in await keys(artifacts) if key.startswith(f"default/{other.job}/") and key != kept.key]
            assert len(await keys(artifacts)) == 4
            assert (await client.delete(f"/v1/jobs/{ids.job_id(first.job)}")).status_code == 204
            assert await keys(artifacts) == sorted([*dead, kept.key])
            # The archive of the other one takes the place of all its evidence.
            assert await Retention(w.store, artifacts, default_days=0).run_once() == 1
            left = await keys(artifacts)
            assert len(left) == 1 and left[0].startswith(f"archive/{ids.job_id(other.job)}/")
            assert (await client.delete(f"/v1/jobs/{ids.job_id(other.job)}")).status_code == 204
            assert await keys(artifacts) == []


async def test_names_that_are_no_keys_stop_neither_deletion_nor_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others may put into a bucket what they like."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    server = S3Server(tmp_path / "s3.log")
    try:
        server.bucket("shared")
        artifacts = S3Artifacts("shared", "here", S3Options(endpoint_url=server.url))
        async with world() as w:
            one, _ = await attempted(w, artifacts)
            odd = [f"default/{one.job}/somebody's own.txt", "a b", "default//x"]
            for name in odd:
                artifacts._client.put_object(Bucket="shared", Key=f"here/{name}", Body=b"x")
            await w.store.delete(one.job)
            monkeypatch.setattr("shoal.services.web.results.dropping._KEYS", 1)
            monkeypatch.setattr("shoal.services.web.results.leftovers._KEYS", 1)
            await Retention(w.store, artifacts).run_once()
            assert await keys(artifacts) == sorted(odd)
            assert await w.store.deleted() == []
            assert await sweeper(w, Time(), artifacts).run_once() == 0
        await artifacts.close()
    finally:
        server.kill()


async def test_what_another_job_refers_to_stays() -> None:
    async with world() as w:
        _, shot = await attempted(w, w.artifacts)
        await w.submit()
        (second,) = await w.claim()
        again = ArtifactRef(uuid4().hex, "screenshot", shot.key, "image/jpeg", 1)
        await w.finish([second], lambda work: completed({"a": 2}, artifacts=(again,)))
        first = ids.job_id(int(shot.key.split("/")[1]))
        assert (await w.client.delete(f"/v1/jobs/{first}")).status_code == 204
        assert await keys(w.artifacts) == [shot.key]
        assert (await w.client.delete(f"/v1/jobs/{ids.job_id(second.job)}")).status_code == 204


async def test_the_folder_goes_before_the_row_that_says_whose_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who dies in between leaves the job to the next sweep, with all that lies there by then."""
    async with world() as w:
        one, _ = await attempted(w, w.artifacts)
        page = w.artifacts.page

        async def dies(*args: object) -> list[object]:
            raise RuntimeError("killed")

        monkeypatch.setattr(w.artifacts, "page", dies)
        with pytest.raises(RuntimeError):
            await w.client.delete(f"/v1/jobs/{ids.job_id(one.job)}")
        assert await w.store.deleted() == [one.job]
        piece: DropSlice = await w.store.droppable(one.job)
        assert (piece.tenant, piece.last) == ("default", True)
        monkeypatch.setattr(w.artifacts, "page", page)
        await Retention(w.store, w.artifacts).run_once()
        assert await keys(w.artifacts) == [] and await w.store.deleted() == []


# --- the sweep -----------------------------------------------------------------------------------------------------


class Time:
    """The clock of the artifact store and its clean-up."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


def sweeper(w: World, clock: Time, artifacts: ArtifactStore | None = None) -> Leftovers:
    return Leftovers(w.store, artifacts or w.artifacts, clock=clock, pause_s=0)


async def test_what_came_late_for_a_deleted_job_is_swept_and_nothing_else(artifacts: ArtifactStore) -> None:
    async with world() as w:
        clock = Time()
        clock.now -= 3600  # what this test puts counts as newer than the mark
        assert await sweeper(w, clock, artifacts).run_once() == 0
        app = create_app(GatewayDeps(w.store, artifacts, GatewayOptions(auth=False), w.names))
        (gone, _), (_, kept) = await attempted(w, artifacts), await attempted(w, artifacts)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
            assert (await client.delete(f"/v1/jobs/{ids.job_id(gone.job)}")).status_code == 204
        late = await StoredArtifactSink(artifacts, gone).keep("screenshot", b"late", "image/jpeg")
        foreign = ["notes.txt", f"archive/{ids.job_id(gone.job)}/x/0.gz", f"default/{gone.job}/report.pdf"]
        for key in foreign:
            await artifacts.put(key, b"somebody else's", "text/plain")
        (dead,) = set(await keys(artifacts)) - {late.key, kept.key, *foreign}

        clock.now = time.time()
        assert await sweeper(w, clock, artifacts).run_once() == 0  # it might be of an attempt that runs
        clock.now += 2 * DAY_S
        assert await sweeper(w, clock, artifacts).run_once() == 1
        assert await keys(artifacts) == sorted([dead, kept.key, *foreign])
        clock.now += 6 * DAY_S  # no attempt of a job that is still there is as old as that
        assert await sweeper(w, clock, artifacts).run_once() == 1
        assert await keys(artifacts) == sorted([kept.key, *foreign])


async def test_the_artifacts_of_another_database_are_left_alone() -> None:
    """A wrong SHOAL_STORE_URL, or a new database beside an old folder, costs no evidence."""
    shared, clock = MemoryArtifacts(), Time()
    shared.clock = clock
    async with world() as first:
        await sweeper(first, clock, shared).run_once()
        clock.now += 1
        await attempted(first, shared)
        before = await keys(shared)
        clock.now += 30 * DAY_S
        async with world() as second:
            assert await sweeper(second, clock, shared).run_once() == 0
            assert await keys(shared) == before
        assert await sweeper(first, clock, shared).run_once() == 1


async def test_what_was_there_before_the_artifact_store_was_marked_stays() -> None:
    async with world() as w:
        clock = Time()
        w.artifacts.clock = clock
        await w.artifacts.put(f"default/999/1/1-{uuid4().hex}.jpg", b"x", "image/jpeg")
        clock.now += 30 * DAY_S
        assert await sweeper(w, clock).run_once() == 0
        clock.now += 30 * DAY_S
        assert await sweeper(w, clock).run_once() == 0
        assert len(await keys(w.artifacts)) == 1


async def test_one_of_several_gateways_sweeps_each_day() -> None:
    clock = Time()
    async with world(clock=clock) as w:
        first, second = sweeper(w, clock), sweeper(w, clock)
        assert [await first._is_due(), await second._is_due(), await first._is_due()] == [True, False, False]
        clock.now += DAY_S
        assert [await second._is_due(), await first._is_due()] == [True, False]
