"""The contract of every artifact store: files, memory, S3, Azure."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from shoal.services.artifacts.open import open_artifacts
from shoal.services.artifacts.options import ArtifactOptions, S3Options
from shoal.services.artifacts.store import ArtifactStore, Stored
from shoal.services.errors import ArtifactMissing


@pytest.fixture(scope="session")
def bucket(shared_s3: Any) -> str:
    shared_s3.bucket("shoal-contract")
    return "shoal-contract"


@pytest.fixture(scope="session")
def container(azure_server: Any) -> str:
    azure_server.container("shoal-contract")
    return "shoal-contract"


@pytest.fixture(params=["memory", "files", "s3", "s3 with spill", "azure"])
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, credentials: None, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[ArtifactStore]:
    """An empty store: each test has a prefix of its own."""
    url, options = str(tmp_path / "artifacts"), ArtifactOptions()
    if request.param == "memory":
        url = "memory:"
    elif request.param.startswith("s3"):
        server: Any = request.getfixturevalue("shared_s3")
        url = f"s3://{request.getfixturevalue('bucket')}/{uuid4().hex}/prefix"
        spill = tmp_path / "spill" if "spill" in request.param else None
        options = ArtifactOptions(S3Options(endpoint_url=server.url), spill_dir=spill)
    elif request.param == "azure":
        azure: Any = request.getfixturevalue("azure_server")
        for name, value in azure.environment.items():
            monkeypatch.setenv(name, value)
        url = f"az://{request.getfixturevalue('container')}/{uuid4().hex}/prefix"
    opened = open_artifacts(url, options)
    yield opened
    await opened.close()
    await opened.close()


async def test_what_is_put_can_be_read(store: ArtifactStore) -> None:
    await store.check()
    for key, data in (("t/1/2/a.jpg", b"\xff\xd8\x00"), ("empty", b""), ("big.bin", bytes(range(256)) * 8192)):
        await store.put(key, data, "application/octet-stream")
        assert await store.get(key) == data


async def test_a_second_put_replaces_the_first(store: ArtifactStore) -> None:
    await store.put("a/b", b"long, long ago", "text/plain")
    await store.put("a/b", b"now", "text/plain")
    assert await store.get("a/b") == b"now"


async def test_what_was_never_put_is_missing(store: ArtifactStore) -> None:
    await store.put("a/b", b"something", "text/plain")
    assert [await exists(store, key) for key in ("nothing", "a/nothing", "a", "a/b/c")] == [False] * 4


async def test_delete_takes_the_key_and_all_below_and_nothing_else(store: ArtifactStore) -> None:
    keys = ["t/7/1/a", "t/7/1/b", "t/7/2/c", "t/77/1/a", "t/7.jpg", "u/7/1/a"]
    for key in keys:
        await store.put(key, b"x", "text/plain")
    assert await store.delete("t/7") == 3
    assert [key for key in keys if await exists(store, key)] == ["t/77/1/a", "t/7.jpg", "u/7/1/a"]
    assert await store.delete("t/7") == 0
    assert await store.delete("t/7.jpg") == 1
    assert await store.delete("u/") == 1
    assert [key for key in keys if await exists(store, key)] == ["t/77/1/a"]


async def exists(store: ArtifactStore, key: str) -> bool:
    try:
        await store.get(key)
    except ArtifactMissing:
        return False
    return True


@pytest.fixture
def short_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that list and delete ten at once, where services allow 1,000 or more."""
    for limit in ("s3._DELETED_AT_ONCE", "s3._LISTED_AT_ONCE", "azure._AT_ONCE", "azure._PAGE"):
        monkeypatch.setattr(f"shoal.services.artifacts.{limit}", 10)


@pytest.mark.usefixtures("short_requests")
async def test_more_are_deleted_than_one_request_takes(store: ArtifactStore) -> None:
    keys = [f"many/{i}" for i in range(35)]
    for named in (keys[:-1], []):
        await asyncio.gather(*(store.put(key, b"x", "text/plain") for key in keys))
        await store.delete_many(named)
        assert await store.delete("many") == len(keys) - len(named)


async def test_many_are_deleted_by_their_keys_alone(store: ArtifactStore) -> None:
    keys = ["t/7/1/a", "t/7/1/b", "t/7/2/c", "t/77/1/a", "t/7.jpg"]
    for key in keys:
        await store.put(key, b"x", "text/plain")
    for _ in range(2):  # twice is no more than once
        await store.delete_many(["t/7/1/a", "t/nothing", "nothing/at/all", "t/7", "t/7.jpg/below", "t/7.jpg"])
        assert [key for key in keys if await exists(store, key)] == ["t/7/1/b", "t/7/2/c", "t/77/1/a"]
    with pytest.raises(ValueError):
        await store.delete_many(["t/77/1/a", "t/../u"])
    await store.delete_many([])


async def test_many_at_once(store: ArtifactStore) -> None:
    await asyncio.gather(*(store.put(f"t/{i}/{i}.bin", bytes([i]) * 1000, "image/png") for i in range(60)))
    read = await asyncio.gather(*(store.get(f"t/{i}/{i}.bin") for i in range(60)))
    assert [data[0] for data in read] == list(range(60))


async def test_readers_never_see_half_a_put(store: ArtifactStore) -> None:
    versions = [bytes([version]) * 300_000 for version in range(2)]
    await store.put("k", versions[0], "image/png")

    async def write() -> None:
        for round_ in range(10):
            await store.put("k", versions[round_ % 2], "image/png")

    writing = asyncio.create_task(write())
    seen = set()
    while not writing.done():
        seen.add(await store.get("k"))
    await writing
    assert seen <= set(versions)


BAD_KEYS = (
    *("", "/etc/passwd", "..", "a/../../b", "./a", "a//b", "a/", "a\\b", "a b", "ä", "a\n"),
    *("a/" + "x" * 300, "a/" * 600 + "a"),
)


async def test_other_keys_are_refused(store: ArtifactStore) -> None:
    for key in BAD_KEYS:
        with pytest.raises(ValueError):
            await store.put(key, b"x", "text/plain")
        with pytest.raises(ValueError):
            await store.get(key)
        with pytest.raises(ValueError):
            await store.url(key, "text/plain")
        with pytest.raises(ValueError):
            await store.delete_many([key])
        if key != "a/":  # `delete` takes one slash at the end
            with pytest.raises(ValueError):
                await store.delete(key)


async def test_keys_are_listed_page_by_page_and_by_folder(store: ArtifactStore) -> None:
    before = time.time() - 2  # S3 keeps whole seconds
    keys = {"t/7/1/a", "t/7/1/b", "t/7/2/c", "t/77/1/a", "t/7.jpg", "t/7-x/1", "u/7/1/a", "plain"}
    for key in keys:
        await store.put(key, b"x", "text/plain")

    async def listed(folder: str, limit: int) -> list[str]:
        found: list[Stored] = []
        while True:
            page = await store.page(folder, found[-1].key if found else "", limit)
            found += page
            if len(page) < limit:
                assert all(before <= one.at <= time.time() + 2 for one in found)
                return [one.key for one in found]

    for limit in (1, 2, 3, 1000):
        for folder in ("", "t", "t/7", "t/7/1", "t/8", "plain"):
            under = {key for key in keys if key.startswith(f"{folder}/" if folder else "")}
            seen = await listed(folder, limit)
            assert (len(seen), set(seen)) == (len(under), under), (folder, limit)
    # What is deleted between two pages does not stop the listing.
    (first,) = await store.page("t/7", "", 1)
    await store.delete_many([first.key])
    rest = await store.page("t/7", first.key)
    assert {one.key for one in rest} == {"t/7/1/a", "t/7/1/b", "t/7/2/c"} - {first.key}
