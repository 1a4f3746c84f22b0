"""The way to a model server: whatever it answers, a bounded number of bytes is taken in."""

from __future__ import annotations

from shoal.agent.models.http_library import http
from shoal.agent.support.bounded_answers import PLAIN, AnswerUnreadable, whole

MODEL_BYTES = 4 << 20
"""Longest answer that is read: some million tokens, where replies have thousands."""

_GONE = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})
"""Headers that do not hold any more once a body was read."""


class BoundedModelTransport(http.AsyncBaseTransport):
    """Reads each answer to its end, up to `most_bytes`; what is longer is a `DecodingError`. Nothing is streamed."""

    def __init__(self, transport: http.AsyncBaseTransport, most_bytes: int = MODEL_BYTES) -> None:
        self._transport = transport
        self._most_bytes = most_bytes

    async def handle_async_request(self, request: http.Request) -> http.Response:
        request.headers["Accept-Encoding"] = PLAIN
        answer = await self._transport.handle_async_request(request)
        assert isinstance(answer.stream, http.AsyncByteStream)
        try:
            body = await whole(answer.stream, answer.headers.get("content-encoding", ""), self._most_bytes)
        except AnswerUnreadable as error:
            raise http.DecodingError(str(error), request=request) from error
        finally:
            await answer.stream.aclose()
        headers = [(name, value) for name, value in answer.headers.raw if name.lower() not in _GONE]
        return http.Response(answer.status_code, headers=headers, content=body, extensions=answer.extensions)

    async def aclose(self) -> None:
        await self._transport.aclose()
