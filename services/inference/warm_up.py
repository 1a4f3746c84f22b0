"""One small step at a new server: a picture and a reply held to a schema.

The first such request takes seconds longer than the later ones, since kernels and grammars are prepared for it. The
file needs nothing but Python, because the chart runs it in vLLM's own image as the startup probe.

    python warm_up.py URL MODEL [--images]      exit code 0: the server answered
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import struct
import sys
import urllib.error
import urllib.request
import zlib

_TIME_LIMIT_S = 300
_WIDTH, _HEIGHT = 1280, 800
_MOST_BYTES = 1 << 20


class WarmUpFailed(Exception):
    """The server did not answer a first step."""


def warm_up(url: str, model: str, *, images: bool, api_key: str = "") -> None:
    """Ask for one step, and wait for the reply.

    Args:
        url: the server's address, without the version part.
        model: its name in requests.
        images: whether it takes pictures.
        api_key: "" where it wants none.

    Raises:
        WarmUpFailed: it did not answer, or refused.
    """
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_picture()}"}}
    text = {"type": "text", "text": "Is this page empty?"}
    schema = {"type": "object", "properties": {"empty": {"type": "boolean"}}, "required": ["empty"]}
    body = {
        "model": model,
        "messages": [{"role": "user", "content": [picture, text] if images else [text]}],
        "max_tokens": 16,
        "response_format": {"type": "json_schema", "json_schema": {"name": "step", "schema": schema}},
    }
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {api_key}"} if api_key else {})
    request = urllib.request.Request(f"{url}/v1/chat/completions", json.dumps(body).encode(), headers)
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(request, timeout=_TIME_LIMIT_S) as answer:
            answer.read(_MOST_BYTES)
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        raise WarmUpFailed(f"the model server did not answer its first step: {error}") from error


def _picture() -> str:
    """A white PNG of a screenshot's size, in base64."""
    rows = zlib.compress((b"\0" + b"\xff" * _WIDTH) * _HEIGHT)
    header = struct.pack(">IIBBBBB", _WIDTH, _HEIGHT, 8, 0, 0, 0, 0)
    parts = b"".join(_chunk(name, content) for name, content in ((b"IHDR", header), (b"IDAT", rows), (b"IEND", b"")))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + parts).decode()


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


if __name__ == "__main__":
    try:
        warm_up(sys.argv[1], sys.argv[2], images="--images" in sys.argv, api_key=os.environ.get("VLLM_API_KEY", ""))
    except WarmUpFailed as failed:
        raise SystemExit(str(failed)) from failed
