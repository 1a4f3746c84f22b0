"""HTTP clients for servers that are not trusted: whatever they answer, a bounded number of bytes is taken in."""

from __future__ import annotations

import asyncio

import httpx

from shoal.agent.support.bounded_answers import PLAIN, AnswerUnreadable, whole
from shoal.agent.support.json_value import Json
from shoal.services.trust import authorities

_GONE = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})
"""Headers that do not hold any more once a body was read."""


class BoundedTransport(httpx.AsyncBaseTransport):
    """Reads each answer to its end, up to `most_bytes`, without unpacking more than that.

    What cannot be read so is an `httpx.DecodingError`, which no further try makes better. Time is the caller's: httpx
    limits each read, not the whole.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport, most_bytes: int) -> None:
        self._transport = transport
        self._most_bytes = most_bytes

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        request.headers["Accept-Encoding"] = PLAIN
        answer = await self._transport.handle_async_request(request)
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        try:
            body = await whole(answer.stream, answer.headers.get("content-encoding", ""), self._most_bytes)
        except AnswerUnreadable as error:
            raise httpx.DecodingError(str(error), request=request) from error
        finally:
            await answer.stream.aclose()
        return _as_read(answer, body)

    async def aclose(self) -> None:
        await self._transport.aclose()


async def bounded_answer(
    http: httpx.AsyncClient, url: str, most_bytes: int, *, timeout_s: float, body: Json = None
) -> httpx.Response:
    """Return what `url` answers, redirects followed, by a client of any kind.

    Args:
        body: JSON to send by POST; None: GET.

    Raises:
        httpx.HTTPError: there is no answer, or none that can be read.
        TimeoutError: it took longer than `timeout_s` in all.
    """
    asking = http.stream(
        "GET" if body is None else "POST",
        url,
        json=body,
        headers={"Accept-Encoding": PLAIN},
        timeout=timeout_s,
        follow_redirects=True,
    )
    async with asyncio.timeout(timeout_s), asking as answer:
        try:
            content = await whole(answer.aiter_raw(), answer.headers.get("content-encoding", ""), most_bytes)
        except AnswerUnreadable as error:
            raise httpx.DecodingError(str(error), request=answer.request) from error
    return _as_read(answer, content)


def _as_read(answer: httpx.Response, body: bytes) -> httpx.Response:
    headers = [(name, value) for name, value in answer.headers.raw if name.lower() not in _GONE]
    return httpx.Response(answer.status_code, headers=headers, content=body, extensions=answer.extensions)


def bounded_client(
    most_bytes: int,
    *,
    proxy: str | None = None,
    headers: dict[str, str] | None = None,
    timeout_s: float = 5.0,
    base_url: str = "",
) -> httpx.AsyncClient:
    """A client whose answers have at most `most_bytes`; it follows no redirects and no proxy of the environment."""
    inner = httpx.AsyncHTTPTransport(verify=authorities(), proxy=proxy, trust_env=False)
    transport = BoundedTransport(inner, most_bytes)
    return httpx.AsyncClient(
        transport=transport, headers=headers, timeout=timeout_s, base_url=base_url, trust_env=False
    )
