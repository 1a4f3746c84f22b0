"""Bounded reading of an S3 service's answers beside the objects themselves: refusals and listings."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from botocore.awsrequest import AWSResponse
from botocore.exceptions import HTTPClientError
from urllib3.exceptions import HTTPError

MOST_BYTES = 8 << 20
"""A listing of 1000 names, each of the longest, has some 2 MiB."""
_MOST_PIECES = 100_000
_PIECE_BYTES = 64 * 1024


class BoundedSession:
    """botocore's HTTP session, which by itself reads whatever a service sends, for as long as it sends.

    Objects that are fetched are left to their readers.
    """

    def __init__(self, session: Any, longest_s: float) -> None:
        self._session = session
        self._longest_s = longest_s  # of one answer; the session's own limit is of each read

    def send(self, request: Any) -> AWSResponse:
        """The answer to `request`.

        Raises:
            HTTPClientError: it has no end, or as the session raises.
        """
        streamed, request.stream_output = request.stream_output, True  # not read yet
        try:
            answer = self._session.send(request)
        finally:
            request.stream_output = streamed
        if streamed and answer.status_code < 300:
            return answer
        return AWSResponse(answer.url, answer.status_code, answer.headers, _Body(self._read(answer.raw)))

    def _read(self, raw: Any) -> bytes:
        until, pieces, body = time.monotonic() + self._longest_s, 0, bytearray()
        try:
            for piece in raw.stream(_PIECE_BYTES):
                body += piece
                pieces += 1
                if len(body) > MOST_BYTES or pieces > _MOST_PIECES or time.monotonic() > until:
                    raise HTTPClientError(error="its answer has no end")
        except HTTPError as error:
            raise HTTPClientError(error=error) from error
        except HTTPClientError:
            raw.close()
            raise
        raw.release_conn()
        return bytes(body)

    def close(self) -> None:
        self._session.close()


class _Body:
    """A body that was read, as botocore reads one."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self) -> Iterator[bytes]:
        yield self._body
