"""Artifacts in an S3 bucket, by boto3 in a few threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from shoal.services.artifacts.bounded import BoundedSession
from shoal.services.artifacts.keys import checked_key, checked_prefix, content_disposition
from shoal.services.artifacts.options import S3Options
from shoal.services.artifacts.store import Stored, try_out
from shoal.services.errors import ArtifactMissing, ArtifactStoreAway

T = TypeVar("T")

_MISSING = frozenset({"NoSuchKey", "404", "NotFound"})

# S3's own limits of one DeleteObjects and one ListObjectsV2 request.
_DELETED_AT_ONCE = 1000
_LISTED_AT_ONCE = 1000

# How services that have no DeleteObjects, or want another checksum for it than boto3 sends, refuse it.
_NO_BATCH = frozenset({"NotImplemented", "MethodNotAllowed", "MissingContentMD5", "InvalidDigest", "InvalidRequest"})

_DENIED = "bucket {bucket} denies access; its policy must allow get, put, delete and list to these credentials"

_REMEDIES = {
    "NoSuchBucket": "there is no bucket {bucket}; create it, or correct SHOAL_ARTIFACTS_URL",
    "AccessDenied": _DENIED,
    "403": _DENIED,
    "InvalidAccessKeyId": "the S3 service does not know this access key; check AWS_ACCESS_KEY_ID",
    "SignatureDoesNotMatch": "the S3 service refuses the signature; check AWS_SECRET_ACCESS_KEY and SHOAL_S3_REGION",
    "PermanentRedirect": "bucket {bucket} lies in another region; set SHOAL_S3_REGION",
    "AuthorizationHeaderMalformed": "bucket {bucket} lies in another region; set SHOAL_S3_REGION",
}


class S3Artifacts:
    """An `ArtifactStore` in `bucket`, under `prefix`.

    Requests are repeated with growing pauses by boto3 (`S3Options.attempts`); what still fails, or cannot succeed, is
    an `ArtifactStoreAway` that says what to do.
    """

    def __init__(self, bucket: str, prefix: str = "", options: S3Options = S3Options()) -> None:
        self._bucket = bucket
        self._prefix = f"{prefix}/" if prefix else ""
        self._options = options
        self._threads = ThreadPoolExecutor(options.connections, thread_name_prefix="s3")
        self._client = _client(options, options.endpoint_url)
        self._signer = _client(options, options.public_url) if options.public_url else self._client

    @property
    def waiting(self) -> int:
        return 0

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        encryption: dict[str, str] = {}
        if self._options.encryption:
            encryption["ServerSideEncryption"] = self._options.encryption
        if self._options.kms_key:
            encryption["SSEKMSKeyId"] = self._options.kms_key
        await self._ask(
            lambda: self._client.put_object(
                **self._place(checked_key(key)), Body=data, ContentType=content_type, **encryption
            )
        )

    async def get(self, key: str) -> bytes:
        place = self._place(checked_key(key))

        def read() -> bytes:
            with self._client.get_object(**place)["Body"] as body:
                return bytes(body.read())

        try:
            return await self._ask(read)
        except ArtifactMissing as error:
            raise ArtifactMissing(f"there is no artifact {key}", key=key) from error

    async def has(self, key: str) -> bool:
        place = self._place(checked_key(key))
        try:
            await self._ask(lambda: self._client.head_object(**place))
        except ArtifactMissing:
            return False
        return True

    async def url(self, key: str, content_type: str, *, expires_s: int = 300, name: str = "") -> str | None:
        answer = {
            "ResponseContentType": content_type,
            "ResponseContentDisposition": content_disposition(key, content_type, name),
        }
        place = self._place(checked_key(key))
        return await self._ask(
            lambda: str(self._signer.generate_presigned_url("get_object", Params=place | answer, ExpiresIn=expires_s))
        )

    async def delete(self, prefix: str) -> int:
        start = self._prefix + checked_prefix(prefix)
        return await self._ask(lambda: sum(self._delete_some(names) for names in self._listed(start)))

    async def delete_many(self, keys: Sequence[str]) -> None:
        names = [self._prefix + checked_key(key) for key in keys]
        groups = [names[start : start + _DELETED_AT_ONCE] for start in range(0, len(names), _DELETED_AT_ONCE)]
        # All are waited for, also behind one that failed: none goes on when the caller asks again.
        done = await asyncio.gather(
            *(self._ask(partial(self._delete_some, group)) for group in groups), return_exceptions=True
        )
        for result in done:
            if isinstance(result, BaseException):
                raise result

    async def page(self, folder: str, after: str = "", limit: int = 1_000) -> list[Stored]:
        start = self._prefix + (f"{checked_prefix(folder)}/" if folder else "")
        behind = {"StartAfter": self._prefix + after} if after else {}

        def listed() -> list[Stored]:
            rows: list[dict[str, Any]] = []
            more: dict[str, str] = {}
            while len(rows) < limit:  # a page of the service may be shorter than what was asked for
                most = min(_LISTED_AT_ONCE, limit - len(rows))
                place = {"Bucket": self._bucket, "Prefix": start, **(more or behind)}
                answer = self._client.list_objects_v2(MaxKeys=most, **place)
                rows += answer.get("Contents", [])
                if not answer.get("IsTruncated"):
                    break
                more = {"ContinuationToken": answer["NextContinuationToken"]}
            return [Stored(row["Key"][len(self._prefix) :], row["LastModified"].timestamp()) for row in rows]

        return await self._ask(listed)

    async def check(self) -> None:
        await try_out(self, f"bucket {self._bucket}")

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._client.close()
        self._signer.close()

    # --- in a thread ----------------------------------------------------------------------------------

    def _place(self, key: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": self._prefix + key}

    async def _ask(self, call: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, call)
        except ClientError as error:
            raise _translated(error, self._bucket) from error
        except NoCredentialsError as error:
            raise ArtifactStoreAway(
                "no S3 credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this pod or machine a role"
            ) from error
        except BotoCoreError as error:
            raise ArtifactStoreAway(f"the S3 service does not answer: {error}") from error

    def _listed(self, start: str) -> Iterator[list[str]]:
        """Names of the object `start` and of all below it, in groups."""
        # Of all names that begin with `start`, `start` itself sorts first.
        first = self._client.list_objects_v2(Bucket=self._bucket, Prefix=start, MaxKeys=1).get("Contents", [])
        if first and first[0]["Key"] == start:
            yield [start]
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=f"{start}/", PaginationConfig={"PageSize": _DELETED_AT_ONCE}
        )
        for page in pages:
            names = [row["Key"] for row in page.get("Contents", [])]
            if names:
                yield names

    def _delete_some(self, names: list[str]) -> int:
        try:
            answer = self._client.delete_objects(
                Bucket=self._bucket, Delete={"Objects": [{"Key": name} for name in names], "Quiet": True}
            )
        except ClientError as error:
            if error.response["Error"]["Code"] not in _NO_BATCH:
                raise
            for name in names:
                self._client.delete_object(Bucket=self._bucket, Key=name)
            return len(names)
        if answer.get("Errors"):
            raise ClientError({"Error": answer["Errors"][0]}, "DeleteObjects")
        return len(names)


def _client(options: S3Options, endpoint_url: str) -> Any:
    """A client; boto3's are safe for threads, its default session is not."""
    session = boto3.session.Session()
    client: Any = session.client(
        "s3",
        endpoint_url=endpoint_url or None,
        region_name=options.region or session.region_name or "us-east-1",
        config=Config(
            signature_version="s3v4",
            s3={"addressing_style": options.addressing},
            connect_timeout=options.connect_timeout_s,
            read_timeout=options.read_timeout_s,
            max_pool_connections=options.connections,
            retries={"total_max_attempts": options.attempts, "mode": "standard"},
            # Services other than AWS know only the checksums that the protocol demands.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        ),
    )
    # botocore has no setting for it: what is read whole has a bound there.
    client._endpoint.http_session = BoundedSession(client._endpoint.http_session, 2 * options.read_timeout_s)
    return client


def _translated(error: ClientError, bucket: str) -> ArtifactMissing | ArtifactStoreAway:
    code = str(error.response.get("Error", {}).get("Code", ""))
    if code in _MISSING:
        return ArtifactMissing()
    remedy = _REMEDIES.get(code, "the S3 service answers {error}")
    return ArtifactStoreAway(remedy.format(bucket=bucket, error=error), code=code)
