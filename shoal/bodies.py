"""Bodies of requests to a gateway, and of its answers as they come: bounded, however they are packed.

A program may talk to a gateway that it does not run itself, or to something that only stands at its address.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING

import httpx
from pydantic import BaseModel

from shoal.agent.support.json_value import Json
from shoal.errors import AnswerUnreadable

if TYPE_CHECKING:
    from shoal.agent.spec import JobSpec

MOST_BYTES = 256 << 20
"""Of one answer that is read whole."""
MOST_LINE_BYTES = 64 << 20
"""Of one line of a stream, and of one event."""
_PIECE = 1 << 20
_PLAIN = frozenset({"", "identity"})
_GZIP = frozenset({"gzip", "x-gzip"})


async def pieces(answer: httpx.Response) -> AsyncIterator[bytes]:
    """The unpacked body, in pieces of at most a mebibyte.

    Raises:
        AnswerUnreadable: it is packed in another way than was asked for, or broken.
        httpx.TransportError: the connection broke.
    """
    if answer.is_stream_consumed:  # by a transport that reads whole answers itself
        yield answer.content
        return
    encoding = answer.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in _PLAIN | _GZIP:
        raise AnswerUnreadable(f"the gateway's answer is encoded as {encoding[:100]!r}, which was not asked for")
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS) if encoding in _GZIP else None
    async for packed in answer.aiter_raw():  # as it comes: with a size, httpx waits until so much is there
        if unpacker is None:
            for start in range(0, len(packed), _PIECE):
                yield packed[start : start + _PIECE]
            continue
        while packed:
            try:
                piece = unpacker.decompress(packed, _PIECE)
            except zlib.error as error:
                raise AnswerUnreadable(f"the gateway's answer is no gzip, though it says so: {error}") from error
            packed = unpacker.unconsumed_tail
            if piece:
                yield piece


async def whole(answer: httpx.Response, most_bytes: int = MOST_BYTES) -> bytes:
    """The body to its end.

    Raises:
        AnswerUnreadable: it has more than `most_bytes`, or as `pieces`.
    """
    body = bytearray()
    async for piece in pieces(answer):
        body += piece
        if len(body) > most_bytes:
            raise AnswerUnreadable(f"the gateway's answer has more than {most_bytes:,} bytes")
    return bytes(body)


def lines(answer: httpx.Response, most_bytes: int = MOST_LINE_BYTES) -> AsyncIterator[bytes]:
    """The lines of the body; see `lines_of`."""
    return lines_of(pieces(answer), most_bytes)


async def lines_of(body: AsyncIterator[bytes], most_bytes: int = MOST_LINE_BYTES) -> AsyncIterator[bytes]:
    """The lines of what comes in pieces, each as soon as it is whole, without its end.

    Raises:
        AnswerUnreadable: one has more than `most_bytes`, or as `pieces`.
    """
    open_line = bytearray()
    async for piece in body:
        *ended, rest = piece.split(b"\n")
        for line in ended:
            yield bytes(open_line + line).removesuffix(b"\r")
            open_line.clear()
        open_line += rest
        if len(open_line) > most_bytes:
            raise AnswerUnreadable(f"a line of the gateway's answer has more than {most_bytes:,} bytes")
    if open_line:
        yield bytes(open_line).removesuffix(b"\r")


def spec_fields(spec: JobSpec | Mapping[str, Json]) -> dict[str, Json]:
    """The fields of a job spec as JSON has them, without those that were not set."""
    if isinstance(spec, BaseModel):
        return spec.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return dict(spec)


def spec_json(spec: JobSpec | Mapping[str, Json]) -> bytes:
    """A job spec as the body of a request."""
    return json.dumps(spec_fields(spec)).encode()


async def each(lines: Sequence[bytes]) -> AsyncIterator[bytes]:
    """Lines as they are sent, one at a time."""
    for line in lines:
        yield line
