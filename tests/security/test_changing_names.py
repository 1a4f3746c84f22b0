"""Names whose servers answer otherwise at each question: what was looked at is what is connected to."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from shoal.agent.documents.fetching import FetchFailed
from shoal.services.addresses import Reach
from shoal.services.browsers.network.documents import Documents
from shoal.services.browsers.network.egress import EgressProxy
from shoal.services.webhooks.checked_http import CheckedHttp, NotReached
from tests.unit.egress.test_egress import FixedNames

PUBLIC, PRIVATE = "127.0.0.2", "127.0.0.1"
"""Loopback has both: the first stands for an address that may be reached."""
NAME = "changing.example"
ANSWERS = [[PUBLIC, PRIVATE], [PUBLIC, PUBLIC, PRIVATE], [PRIVATE, PUBLIC]]


class Hits:
    """Two servers at one port; notes which of them was asked."""

    def __init__(self, port: int, asked: list[str]) -> None:
        self.port, self.asked = port, asked


@pytest.fixture
def hits() -> Iterator[Hits]:
    asked: list[str] = []

    def handler(address: str) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(address)
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            do_POST = do_GET

            def log_message(self, format: str, *args: object) -> None:
                """No log."""

        return Handler

    first = ThreadingHTTPServer((PUBLIC, 0), handler(PUBLIC))
    second = ThreadingHTTPServer((PRIVATE, first.server_port), handler(PRIVATE))
    threads = [Thread(target=server.serve_forever, args=(0.05,)) for server in (first, second)]
    for thread in threads:
        thread.start()
    yield Hits(first.server_port, asked)
    for server, thread in zip((first, second), threads, strict=True):
        server.shutdown()
        thread.join()
        server.server_close()


def reach(*, is_open: bool) -> Reach:
    return Reach(exceptions=(f"{PUBLIC}/32", *((f"{PRIVATE}/32",) if is_open else ())))


def names(answers: list[str]) -> FixedNames:
    return FixedNames(changing_example=[(address,) for address in answers])


@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "open door"])
@pytest.mark.parametrize("answers", ANSWERS, ids=" then ".join)
async def test_pages_that_are_read_without_a_browser(hits: Hits, answers: list[str], is_open: bool) -> None:
    async with EgressProxy(reach(is_open=is_open), names=names(answers)) as egress:
        documents = Documents(egress)
        for _ in answers:
            try:
                await documents.of("mallory").get(f"http://{NAME}:{hits.port}/", {"Connection": "close"}, 10)
            except FetchFailed:
                assert not is_open
        await documents.close()
    assert (PRIVATE in hits.asked) is is_open
    assert PUBLIC in hits.asked


@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "open door"])
@pytest.mark.parametrize("answers", ANSWERS, ids=" then ".join)
async def test_receivers_of_webhooks_notices_and_sinks(hits: Hits, answers: list[str], is_open: bool) -> None:
    http = CheckedHttp(reach(is_open=is_open), names(answers))
    for _ in answers:
        try:
            await http.call("POST", f"http://{NAME}:{hits.port}/", tenant="mallory", timeout_s=10)
        except NotReached as refused:
            assert refused.refused and not is_open
    await http.close()
    assert (PRIVATE in hits.asked) is is_open
    assert PUBLIC in hits.asked


async def test_servers_of_databases_and_mail_are_given_as_the_address_that_was_checked(hits: Hits) -> None:
    http = CheckedHttp(reach(is_open=False), names([PUBLIC, PRIVATE]))
    address = await http.place(NAME, hits.port, "mallory")
    assert (address, socket.getaddrinfo(address, hits.port)[0][4][0]) == (PUBLIC, PUBLIC), "no name is left in it"
    with pytest.raises(NotReached):
        await http.place(NAME, hits.port, "mallory")
    await http.close()
