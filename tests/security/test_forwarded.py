"""Headers by which a proxy names its caller: who is believed, and what a caller from outside can set by them."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from shoal.services.cluster.serving import listening, served

FORGED = {
    "X-Forwarded-For": "10.9.0.1",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Port": "444",
    "X-Forwarded-Prefix": "/evil",
    "Forwarded": "for=10.9.0.1;proto=https;host=evil.example",
    "X-Real-IP": "10.9.0.1",
}
OUTSIDE, INSIDE = "127.0.0.2", "127.0.0.1"
"""Addresses that a caller calls from; a proxy beside the gateway calls from the second."""


async def answer_caller(scope: Any, receive: Any, send: Any) -> None:
    """Answers with what the app takes for its caller."""
    seen = {"client": scope["client"][0], "scheme": scope["scheme"], "root": scope["root_path"]}
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": json.dumps(seen).encode()})


@pytest.mark.parametrize(
    ("caller", "believes", "client", "scheme"),
    [
        (OUTSIDE, True, OUTSIDE, "http"),
        (OUTSIDE, False, OUTSIDE, "http"),
        (INSIDE, False, INSIDE, "http"),
        (INSIDE, True, "10.9.0.1", "https"),  # the open door: what the forged headers would do
    ],
)
async def test_a_caller_from_outside_sets_neither_its_address_nor_the_scheme(
    caller: str, believes: bool, client: str, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")  # a variable of the server's library, which is no setting of ours
    with listening("127.0.0.1", 0) as listener:
        async with served(answer_caller, listener, "gateway", believes_proxies=believes) as url:
            transport = httpx.AsyncHTTPTransport(local_address=caller)
            async with httpx.AsyncClient(transport=transport) as http:
                seen = (await http.get(url, headers=FORGED)).json()
    assert seen == {"client": client, "scheme": scheme, "root": ""}
