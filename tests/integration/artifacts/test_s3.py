"""Behaviour of S3 alone: signed addresses, and the many ways in which it can be away."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from shoal.services.artifacts.open import open_artifacts
from shoal.services.artifacts.options import ArtifactOptions, S3Options
from shoal.services.artifacts.s3 import S3Artifacts
from shoal.services.artifacts.spill import SpillingArtifacts
from shoal.services.errors import ArtifactStoreAway

pytestmark = pytest.mark.usefixtures("credentials")


def options(server: Any, **more: Any) -> S3Options:
    return S3Options(endpoint_url=server.url, attempts=2, connect_timeout_s=2, **more)


async def all_uploaded(store: SpillingArtifacts) -> None:
    """Waits until nothing is left on the disk."""
    limit = time.monotonic() + 30
    while store.waiting:
        assert time.monotonic() < limit, "the uploads never arrived"
        await asyncio.sleep(0.02)


async def test_a_signed_address_gives_the_bytes_with_type_and_name(shared_s3: Any) -> None:
    shared_s3.bucket("signed")
    store = S3Artifacts("signed", "p", options(shared_s3))
    await store.put("t/1/shot.jpg", b"\xff\xd8", "image/jpeg")
    await store.put("t/1/page.html", b"<script>alert(1)</script>", "text/html")
    async with httpx.AsyncClient() as client:
        shot = await client.get(str(await store.url("t/1/shot.jpg", "image/jpeg")))
        page = await client.get(str(await store.url("t/1/page.html", "text/html")))
    await store.close()
    assert (shot.status_code, shot.content) == (200, b"\xff\xd8")
    assert shot.headers["content-type"] == "image/jpeg"
    assert shot.headers["content-disposition"] == 'inline; filename="shot.jpg"'
    assert page.headers["content-disposition"].startswith("attachment"), "a saved page must not run"


async def test_a_signed_address_names_the_public_host_and_its_end(shared_s3: Any) -> None:
    shared_s3.bucket("public")
    store = S3Artifacts("public", "", options(shared_s3, public_url="https://files.example.com", addressing="path"))
    url = httpx.URL(str(await store.url("a.png", "image/png", expires_s=77)))
    await store.close()
    assert (url.host, url.path) == ("files.example.com", "/public/a.png")
    assert url.params["X-Amz-Expires"] == "77"
    assert url.params["X-Amz-Signature"]


async def test_encryption_is_asked_for(shared_s3: Any) -> None:
    shared_s3.bucket("encrypted")
    store = S3Artifacts("encrypted", "", options(shared_s3, encryption="AES256"))
    await store.put("a", b"x", "text/plain")
    async with httpx.AsyncClient() as client:
        answer = await client.get(str(await store.url("a", "text/plain")))
    await store.close()
    assert answer.headers["x-amz-server-side-encryption"] == "AES256"


async def test_a_missing_bucket_is_named_with_what_to_do(shared_s3: Any) -> None:
    store = S3Artifacts("not-created", "", options(shared_s3))
    with pytest.raises(ArtifactStoreAway, match="no bucket not-created; create it"):
        await store.check()
    await store.close()


async def test_missing_credentials_are_named(shared_s3: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    store = S3Artifacts("any", "", options(shared_s3))
    with pytest.raises(ArtifactStoreAway, match="AWS_ACCESS_KEY_ID"):
        await store.check()
    await store.close()


async def test_a_server_that_dies_is_away(own_s3: Any) -> None:
    own_s3.bucket("dies")
    store = S3Artifacts("dies", "", options(own_s3))
    await store.check()
    own_s3.kill()
    with pytest.raises(ArtifactStoreAway):
        await store.put("a", b"x", "text/plain")
    with pytest.raises(ArtifactStoreAway):
        await store.get("a")
    with pytest.raises(ArtifactStoreAway):
        await store.delete("a")
    await store.close()


async def test_uploads_wait_on_disk_until_the_bucket_is_there(shared_s3: Any, tmp_path: Path) -> None:
    """An outage as the caller sees it: puts are taken, read back, and arrive once the store takes them."""
    place = ArtifactOptions(options(shared_s3), spill_dir=tmp_path / "spill")
    store = open_artifacts("s3://comes-late", place)
    assert isinstance(store, SpillingArtifacts)
    await store.put("t/1", b"one", "image/png")
    await store.put("t/2", b"two", "image/png")
    assert store.waiting == 2
    assert await store.get("t/1") == b"one"

    shared_s3.bucket("comes-late")
    await all_uploaded(store)
    direct = S3Artifacts("comes-late", "", options(shared_s3))
    assert [await direct.get("t/1"), await direct.get("t/2")] == [b"one", b"two"]
    await direct.close()
    await store.close()
    assert list((tmp_path / "spill").iterdir()) == [], "nothing stays behind"


async def test_a_bucket_that_is_deleted_while_it_is_used_is_away_and_named(shared_s3: Any, tmp_path: Path) -> None:
    """No artifact is told as missing for it, and what is put meanwhile arrives in the bucket that takes its place."""
    shared_s3.bucket("deleted")
    store = open_artifacts("s3://deleted", ArtifactOptions(options(shared_s3), spill_dir=tmp_path / "spill"))
    assert isinstance(store, SpillingArtifacts)
    await store.put("t/before", b"before", "image/png")
    shared_s3.remove("deleted")

    named = "no bucket deleted; create it"
    for asked in (store.check, lambda: store.get("t/before"), lambda: store.delete("t/before")):
        with pytest.raises(ArtifactStoreAway, match=named):
            await asked()
    await store.put("t/after", b"after", "image/png")
    assert await store.get("t/after") == b"after"

    shared_s3.bucket("deleted")
    await all_uploaded(store)
    direct = S3Artifacts("deleted", "", options(shared_s3))
    assert await direct.get("t/after") == b"after"
    await direct.close()
    await store.close()
