"""Reading request bodies within their limits."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import Request

from shoal.services.errors import NotJson, TooLarge

JSON_TYPES = ("application/json",)
LINES_TYPES = ("application/x-ndjson", "application/jsonl", "application/json-lines", "application/json")
FORM_FIELDS, FORM_FIELD_BYTES = 64, 1 << 17
"""Of forms whose fields are known, the login's among them. `form_inputs` reads those that may hold a whole job."""


def require_type(request: Request, accepted: tuple[str, ...]) -> None:
    """Refuses a body that does not call itself JSON.

    Not pedantry: browsers send other types across origins without asking, so this is what keeps a foreign web page
    from submitting jobs to a gateway on the visitor's own machine.

    Raises:
        NotJson: naming what is accepted.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in accepted:
        raise NotJson(f"The Content-Type must be {' or '.join(accepted)}, not {kind or 'nothing'}.")


def require_length(request: Request, limit: int) -> None:
    """Refuses a body that announces more than `limit` bytes, before any of it is read.

    Raises:
        TooLarge: saying the limit.
    """
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > limit:
        raise TooLarge(f"The body has {announced} bytes; at most {limit} are taken (the operator can allow more).")


async def read_body(request: Request, limit: int) -> bytes:
    """The whole body, of at most `limit` bytes.

    Raises:
        TooLarge: as soon as more than that has come.
    """
    require_length(request, limit)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise TooLarge(f"The body has more than the {limit} bytes that are taken (the operator can allow more).")
    return bytes(body)


async def read_lines(request: Request, line_limit: int) -> AsyncIterator[bytes | None]:
    """The lines of the body as they come, without their ends; None for one of more than `line_limit` bytes.

    Holds at most one line: the rest of one that is too long is dropped as it arrives.
    """
    pending = bytearray()
    dropping = False
    async for chunk in request.stream():
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            pending += chunk[start:end]
            yield None if dropping or len(pending) > line_limit else bytes(pending).rstrip(b"\r")
            pending.clear()
            dropping = False
            start = end + 1
        pending += chunk[start:]
        if len(pending) > line_limit:
            pending.clear()
            dropping = True
    if dropping:
        yield None
    elif pending:
        yield None if len(pending) > line_limit else bytes(pending).rstrip(b"\r")
