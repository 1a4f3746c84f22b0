"""Reading the bodies of answers whose senders are not trusted: never more than was asked for, whatever they send."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterable

PLAIN = "identity"
"""The encoding to ask for: a few bytes must not become gigabytes."""

_GZIP = 16 + zlib.MAX_WBITS
_MOST_PIECES = 10_000
"""Network reads and chunks of one answer. A chunk of a single byte costs as much time as one of 64 KiB."""
_PAUSE_PIECES = 100
"""After so many the event loop is given to others: pieces that are there already come without a pause."""


class AnswerUnreadable(Exception):
    """The body of an answer is too long, in too many pieces, or in an encoding that was not asked for."""


async def beginning(chunks: AsyncIterable[bytes], encoding: str, most_bytes: int) -> tuple[bytes, bool]:
    """The first `most_bytes` of a body, and whether there was more.

    Args:
        chunks: the body as it came over the network.
        encoding: of the header Content-Encoding; "" where there is none. Some servers send gzip unasked.

    Raises:
        AnswerUnreadable: it is another one, or broken; the body comes in pieces of a few bytes.
    """
    if encoding.strip().lower() not in ("", PLAIN, "gzip", "x-gzip"):
        raise AnswerUnreadable(f"the answer is encoded as {encoding[:100]!r}, which was not asked for")
    gzip = zlib.decompressobj(_GZIP) if "gzip" in encoding.lower() else None
    body = bytearray()
    pieces = 0
    async for chunk in chunks:
        pieces += 1
        if pieces > _MOST_PIECES:
            raise AnswerUnreadable(f"the answer comes in more than {_MOST_PIECES} pieces")
        if pieces % _PAUSE_PIECES == 0:
            await asyncio.sleep(0)
        room = most_bytes + 1 - len(body)
        try:
            body += gzip.decompress(chunk, room) if gzip else chunk[:room]
        except zlib.error as error:
            raise AnswerUnreadable(f"the answer is no gzip, though it says so: {error}") from error
        if len(body) > most_bytes:
            return bytes(body[:most_bytes]), True
        if gzip and gzip.eof:  # it would keep all that comes behind
            break
    return bytes(body), False


async def whole(chunks: AsyncIterable[bytes], encoding: str, most_bytes: int) -> bytes:
    """A body to its end.

    Raises:
        AnswerUnreadable: it has more than `most_bytes`, or as `beginning`.
    """
    body, more = await beginning(chunks, encoding, most_bytes)
    if more:
        raise AnswerUnreadable(f"the answer has more than {most_bytes} bytes")
    return body
