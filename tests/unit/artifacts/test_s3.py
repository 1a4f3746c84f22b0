"""Answers of S3 services that a test server does not give."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from botocore.stub import Stubber

from shoal.services.artifacts.options import S3Options
from shoal.services.artifacts.s3 import S3Artifacts
from shoal.services.errors import ArtifactStoreAway


@pytest.fixture
async def store(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[S3Artifacts]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    opened = S3Artifacts("b", "", S3Options(endpoint_url="http://127.0.0.1:1", attempts=1, connections=1))
    yield opened
    await opened.close()


def listing(stub: Stubber, *names: str) -> None:
    """The two answers that a delete of `t` asks for: the name itself, then all below it."""
    stub.add_response("list_objects_v2", {"Contents": []})
    stub.add_response("list_objects_v2", {"Contents": [{"Key": name} for name in names], "IsTruncated": False})


@pytest.mark.parametrize("code", ["NotImplemented", "MissingContentMD5"])
async def test_a_service_without_batch_deletion_deletes_one_by_one(store: S3Artifacts, code: str) -> None:
    with Stubber(store._client) as stub:
        listing(stub, "t/1", "t/2")
        stub.add_client_error("delete_objects", code)
        stub.add_response("delete_object", {}, {"Bucket": "b", "Key": "t/1"})
        stub.add_response("delete_object", {}, {"Bucket": "b", "Key": "t/2"})
        assert await store.delete("t") == 2
        stub.assert_no_pending_responses()


async def test_objects_that_could_not_be_deleted_are_no_success(store: S3Artifacts) -> None:
    with Stubber(store._client) as stub:
        listing(stub, "t/1")
        stub.add_response("delete_objects", {"Errors": [{"Key": "t/1", "Code": "AccessDenied", "Message": "no"}]})
        with pytest.raises(ArtifactStoreAway, match="bucket b denies access"):
            await store.delete("t")


async def test_a_thousand_keys_are_deleted_by_one_request_and_none_is_listed(store: S3Artifacts) -> None:
    keys = [f"t/{number}" for number in range(1001)]
    with Stubber(store._client) as stub:
        for some in (keys[:1000], keys[1000:]):
            objects = [{"Key": key} for key in some]
            stub.add_response(
                "delete_objects", {"Deleted": objects}, {"Bucket": "b", "Delete": {"Objects": objects, "Quiet": True}}
            )
        await store.delete_many(keys)
        stub.assert_no_pending_responses()


async def test_keys_that_could_not_be_deleted_are_no_success(store: S3Artifacts) -> None:
    with Stubber(store._client) as stub:
        stub.add_response("delete_objects", {"Errors": [{"Key": "t/1", "Code": "AccessDenied", "Message": "no"}]})
        with pytest.raises(ArtifactStoreAway, match="bucket b denies access"):
            await store.delete_many(["t/1"])


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("AccessDenied", "denies access"),
        ("SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY"),
        ("PermanentRedirect", "SHOAL_S3_REGION"),
        ("SlowDown", "SlowDown"),
    ],
)
async def test_a_refusal_says_what_to_do(store: S3Artifacts, code: str, words: str) -> None:
    with Stubber(store._client) as stub:
        stub.add_client_error("put_object", code)
        with pytest.raises(ArtifactStoreAway, match=words):
            await store.put("a", b"x", "text/plain")
