"""Items of one job on different sites: what one site had the browser keep, the item on another site does not get."""

from __future__ import annotations

import base64
import hashlib
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from shoal.agent.chromium.process import launch
from shoal.agent.support.json_value import Json
from shoal.agent.types import LoopItem, Outcome
from tests.certificates import private_authority
from tests.loopback import served
from tests.security.world import Visitors, hostile_site, visitors

KEPT = "public, max-age=86400, immutable"
KINDS: list[dict[str, Json]] = [{}, {"browser": {"locale": "de-DE"}}]
"""Of contexts: one that only reads, and one that Playwright knows."""
FOREIGN, OWN = "of a stranger", "of the shop"


@dataclass
class Shop:
    """A site that answers otherwise when another site's page leads to it, and lets both answers be kept."""

    url: str = ""
    asked: list[str] = field(default_factory=list)  # paths, with where they were asked from

    def answer(self, path: str, referer: str) -> tuple[int, str, str]:
        """Status, type and body."""
        strange = bool(referer) and not referer.startswith(self.url)
        told = FOREIGN if strange else OWN
        if path == "/shown.js":
            return 200, "text/javascript", f"document.write('<h1>{told}</h1>')"
        if path == "/scripted":
            return 200, "text/html", "<title>A shop</title><script src=/shown.js></script>"
        if path == "/moved" and strange:
            return 301, "/elsewhere", ""
        return 200, "text/html", f"<title>A shop</title><h1>{told}</h1>"


@contextmanager
def shop() -> Iterator[Shop]:
    """The shop as `localhost`; below /attack/ as 127.0.0.1 another site, which leads to what the path names."""
    site = Shop()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            referer = self.headers.get("Referer", "")
            site.asked.append(f"{self.path} {'from elsewhere' if referer and site.url not in referer else ''}".strip())
            if self.path.startswith("/attack/"):
                status, kind, body = 200, "text/html", attack(site.url, self.path.removeprefix("/attack"))
            else:
                status, kind, body = site.answer(self.path, referer)
            self.send_response(status)
            if status == 301:
                self.send_header("Location", kind)
            self.send_header("Content-Type", f"{kind if status == 200 else 'text/html'}; charset=utf-8")
            self.send_header("Cache-Control", KEPT)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:
            """It keeps no log."""

    with served(Handler) as url:
        site.url = url.replace("127.0.0.1", "localhost")
        yield site


def attack(shop_url: str, path: str) -> str:
    """A page that has the browser ask the shop for something, from here."""
    if path == "/scripted":
        return f"<h1>Attack</h1><script src='{shop_url}/shown.js'></script>"
    return f"<title>Attack</title><meta http-equiv=refresh content='0;url={shop_url}{path}'><h1>Attack</h1>"


async def item(guests: Visitors, url: str, more: dict[str, Json]) -> Outcome:
    """The session of one item of the job."""
    spec = {"url": url, "policy": "rules", "loop": {"values": [url], "is_link": True}, "max_attempts": 1}
    fields = {"shown": {"select": "h1"}}
    return await guests.run({**spec, "extract": {"fields": fields}, **more}, item=LoopItem(0, url, True), job=7)


@pytest.mark.parametrize("more", KINDS, ids=["reading", "acting"])
@pytest.mark.parametrize("path", ["/page", "/moved", "/scripted"])
async def test_no_site_has_another_sites_item_answered_from_what_it_left(
    tmp_path: Path, path: str, more: dict[str, Json]
) -> None:
    with shop() as site:
        async with visitors(tmp_path) as guests:
            stranger = site.url.replace("localhost", "127.0.0.1")
            await item(guests, f"{stranger}/attack{path}", more)
            first = [asked for asked in site.asked if "from elsewhere" in asked]
            assert first, "the attack reached the shop"
            outcome = await item(guests, f"{site.url}{path}", more)
        assert [record.value for record in outcome.records] == [{"shown": OWN}], (outcome, site.asked)


@pytest.mark.parametrize("more", KINDS, ids=["reading", "acting"])
async def test_items_of_one_site_share_what_it_lets_be_kept(tmp_path: Path, more: dict[str, Json]) -> None:
    """The control: where one context serves both, the second answer is the first."""
    with shop() as site:
        async with visitors(tmp_path) as guests:
            for _ in range(2):
                outcome = await item(guests, f"{site.url}/scripted", more)
                assert [record.value for record in outcome.records] == [{"shown": OWN}]
    assert site.asked.count("/shown.js") == 1


SHOP, STRANGER = "shop.test", "stranger.test"


@pytest.fixture
def https_of_shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A picture that the shop gives by TLS, with the wish to be asked by TLS alone from then on."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Strict-Transport-Security", "max-age=86400")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """It keeps no log."""

    authority = private_authority(tmp_path / "authority")
    certificate = x509.load_pem_x509_certificate((tmp_path / "authority" / "server.crt").read_bytes())
    key = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    trusted = base64.b64encode(hashlib.sha256(key).digest()).decode()
    monkeypatch.setattr(launch, "_FLAGS", (*launch._FLAGS, f"--ignore-certificate-errors-spki-list={trusted}"))
    resolve = socket.getaddrinfo

    def on_this_machine(host: Any, *more: Any, **options: Any) -> Any:
        return resolve("127.0.0.1" if host in (SHOP, STRANGER) else host, *more, **options)

    monkeypatch.setattr(socket, "getaddrinfo", on_this_machine)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = authority.server.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"https://{SHOP}:{server.server_port}/picture"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("more", KINDS, ids=["reading", "acting"])
@pytest.mark.parametrize("host", [STRANGER, SHOP], ids=["closed", "open door"])
async def test_no_site_has_the_browser_refuse_the_plain_address_of_another(
    tmp_path: Path, https_of_shop: str, host: str, more: dict[str, Json]
) -> None:
    """The shop's own page may: what it asks for holds for its own items."""
    with hostile_site() as site:
        port = site.url.rpartition(":")[2]
        site.page("/attack", f"<h1>Attack</h1><img src='{https_of_shop}'>")
        site.page("/item", f"<h1>{OWN}</h1>")
        async with visitors(tmp_path, hosts=(SHOP, STRANGER)) as guests:
            await item(guests, f"http://{host}:{port}/attack", more)
            outcome = await item(guests, f"http://{SHOP}:{port}/item", more)
    assert bool(outcome.records) is (host == STRANGER), outcome
