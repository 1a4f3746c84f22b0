"""A file from the web by the browser's own network stack, read piece by piece."""

from __future__ import annotations

import asyncio
import base64
import urllib.parse
from collections.abc import Mapping
from typing import Any

from playwright.async_api import Page

from shoal.agent.chromium.wire.connection import Connection, Session, session_with
from shoal.agent.errors import ActionError, ActionRefused

_PIECE = 1 << 20
_ANSWERS = {"patterns": [{"urlPattern": "*", "requestStage": "Response"}]}


async def fetched(connection: Connection, page: Page, url: str, max_bytes: int) -> tuple[str, bytes]:
    """Name and content of what `url` gives; `page` is empty and used for nothing else.

    Cookies, proxy and address rules are those of the page's context.

    Raises:
        ActionRefused: it is larger than `max_bytes`; no more than that was read.
        ActionError: it cannot be had.
    """
    session = await session_with(connection, page)
    answers: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
    session.on("Fetch.requestPaused", answers.put_nowait)
    await session.send("Fetch.enable", _ANSWERS)
    opening = asyncio.ensure_future(session.send("Page.navigate", {"url": url}))
    try:
        answer = await _final(session, answers, opening, url)
        address, status = answer["request"]["url"], answer["responseStatusCode"]
        if status >= 400:
            raise ActionError(f"{address} answered {status}")
        data = await _body(session, answer, max_bytes)
    finally:
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)  # what it ended in no longer matters
    name = urllib.parse.unquote(urllib.parse.urlsplit(address).path.rpartition("/")[2])
    return name or "upload", data


async def _final(
    session: Session,
    answers: asyncio.Queue[Mapping[str, Any]],
    opening: asyncio.Future[dict[str, Any]],
    url: str,
) -> Mapping[str, Any]:
    """The first answer that is no redirect, halted before its body."""
    while True:
        coming = asyncio.ensure_future(answers.get())
        try:
            await asyncio.wait((coming, opening), return_when=asyncio.FIRST_COMPLETED)
        finally:
            coming.cancel()
        if not coming.done():
            raise ActionError(f"{url} could not be fetched: {opening.result().get('errorText', 'there is no answer')}")
        answer = coming.result()
        if "responseErrorReason" in answer:
            raise ActionError(f"{url} could not be fetched: {answer['responseErrorReason']}")
        if not 300 <= answer["responseStatusCode"] < 400:
            return answer
        await session.send("Fetch.continueRequest", {"requestId": answer["requestId"]})


async def _body(session: Session, answer: Mapping[str, Any], max_bytes: int) -> bytes:
    taken = await session.send("Fetch.takeResponseBodyAsStream", {"requestId": answer["requestId"]})
    data = bytearray()
    while True:
        piece = await session.send("IO.read", {"handle": taken["stream"], "size": _PIECE})
        data += base64.b64decode(piece["data"]) if piece.get("base64Encoded") else piece["data"].encode()
        if len(data) > max_bytes:
            raise ActionRefused(f"{answer['request']['url']} is larger than {max_bytes} bytes")
        if piece["eof"]:
            return bytes(data)
