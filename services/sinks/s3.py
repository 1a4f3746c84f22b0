"""Files of sinks in a bucket: requests are signed by boto3, and sent as every call to a caller's address is."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from shoal.agent.spec import S3Sink
from shoal.services.sinks.fault import SinkFault
from shoal.services.webhooks.checked_http import CheckedHttp, HttpAnswer, NotReached

_CALL_S = 120.0
_SIGNED_S = 900
"""Seconds that a signature holds."""
_LATEST_BYTES = 8 << 20
_CODE = re.compile(rb"<Code>([A-Za-z0-9]{1,64})</Code>")
_REMEDIES = {
    "NoSuchBucket": "there is no such bucket",
    "AccessDenied": "its policy denies access; it must allow s3:GetObject, s3:PutObject and s3:ListBucket",
    "InvalidAccessKeyId": "the service does not know this access key",
    "SignatureDoesNotMatch": "the service refuses the signature: check `secret_key` and `region`",
    "PermanentRedirect": "the bucket lies in another region: give it as `region`",
    "AuthorizationHeaderMalformed": "the bucket lies in another region: give it as `region`",
}


class S3Place:
    """Files below the sink's prefix."""

    def __init__(self, sink: S3Sink, access_key: str, secret_key: str, http: CheckedHttp, tenant: str) -> None:
        self._sink = sink
        self._keys = (access_key, secret_key)
        self._http = http
        self._tenant = tenant
        self._signer: Any = None

    async def put(self, path: str, data: bytes, content_type: str) -> None:
        url = await self._signed("put_object", path, ContentType=content_type)
        answer = await self._call("PUT", url, data, {"Content-Type": content_type})
        if not answer.is_success:
            raise self._fault(answer)

    async def get(self, path: str) -> bytes | None:
        answer = await self._call("GET", await self._signed("get_object", path), b"", {})
        if answer.status_code == 404 and _code(answer) != "NoSuchBucket":
            return None
        if not answer.is_success:
            raise self._fault(answer)
        return answer.body

    async def close(self) -> None:
        if self._signer is not None:
            self._signer.close()

    async def _call(self, method: str, url: str, body: bytes, headers: dict[str, str]) -> HttpAnswer:
        try:
            return await self._http.call(
                method, url, tenant=self._tenant, timeout_s=_CALL_S, body=body, headers=headers, most=_LATEST_BYTES
            )
        except NotReached as error:
            raise SinkFault(str(error), final=error.refused) from error

    async def _signed(self, operation: str, path: str, **parameters: str) -> str:
        key = f"{self._sink.prefix}/{path}" if self._sink.prefix else path
        place = {"Bucket": self._sink.bucket, "Key": key, **parameters}

        def sign() -> str:
            if self._signer is None:
                self._signer = self._new_signer()
            return str(self._signer.generate_presigned_url(operation, Params=place, ExpiresIn=_SIGNED_S))

        try:
            return await asyncio.to_thread(sign)
        except (BotoCoreError, ValueError) as error:
            raise SinkFault(f"no request to {self._sink.url} can be made: {error}", final=True) from error

    def _new_signer(self) -> Any:
        own = self._sink.endpoint_url is not None
        return boto3.session.Session(*self._keys, region_name=self._sink.region).client(
            "s3",
            endpoint_url=self._sink.endpoint_url,
            config=Config(
                signature_version="s3v4",
                s3={"addressing_style": "path" if own or "." in self._sink.bucket else "virtual"},
                request_checksum_calculation="when_required",
            ),
        )

    def _fault(self, answer: HttpAnswer) -> SinkFault:
        code = _code(answer)
        reason = f"{code}: {_REMEDIES[code]}" if code in _REMEDIES else f"HTTP {answer.status_code} {code}".strip()
        return SinkFault(f"{self._sink.url} at {self._sink.address}: {reason}")


def _code(answer: HttpAnswer) -> str:
    match = _CODE.search(answer.body)
    return match[1].decode() if match else ""
