"""A real Chromium, and a small server for the local pages in tests/sites and for pages that misbehave."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import pytest_asyncio

from shoal.agent.browser import Browser, Context
from shoal.agent.support.web_addresses import WEB
from tests.patience import PATIENT
from tests.unit.agent.observe.test_documents import small_pdf

WRITTEN = (*WEB, "data")
SITES = Path(__file__).resolve().parents[2] / "sites"


class Site:
    """The addresses of the pages, under two hosts, so that one can be a stranger to the other."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.other = f"http://localhost:{port}"  # another site: its frames get a process of their own
        self.requests: list[str] = []
        self.stop = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.site.requests.append(self.path)
        special: dict[str, Callable[[], None]] = {
            "/hang": self._hang,
            "/redirect": lambda: self._answer(302, b"", Location="/redirect"),
            "/endless": self._endless,
            "/cut": self._cut,
            "/nothing": lambda: self._answer(204, b""),
            "/empty500": lambda: self._answer(500, b""),
            "/busy": lambda: self._answer(503, b"<h1>Come back later</h1>", **{"Retry-After": "7"}),
            "/onward": lambda: self._answer(200, b"<script>location.replace('/missing')</script>"),
            "/sandboxed": lambda: self._answer(200, b"<h1>Quiet</h1>", **{"Content-Security-Policy": "sandbox"}),
            "/missing": lambda: self._answer(404, b"<h1>No such page</h1>"),
            "/spin": lambda: self._answer(200, b"<title>Spin</title><button onclick='for(;;){}'>Spin</button>"),
            "/alerts": lambda: self._answer(200, b"<script>for(;;) alert('again')</script>"),
            "/alertbutton": lambda: self._answer(200, b"<button onclick=\"for(;;) alert('again')\">Start</button>"),
            "/again": lambda: self._answer(
                200, b"<title>Again</title><a href=/second>x</a><script>location.reload()</script>"
            ),
            "/huge": self._huge,
            "/opener": lambda: self._answer(200, b"<a href=/pictures target=_blank>Open pictures</a>"),
            "/leave": lambda: self._answer(200, _LEAVE),
            "/file/notes.txt": lambda: self._file("text/plain", b"some notes"),
            "/file/invoice.pdf": lambda: self._file("application/pdf", small_pdf("Invoice 7")),
            "/file/late.txt": self._late_file,
            "/chunked": self._chunked,
            "/wrap": self._wrap,
            "/slow.json": self._slow,
            "/busypage": lambda: self._answer(200, _BUSY_PAGE),
            "/picture.png": lambda: self._answer(200, PICTURE, **{"Content-Type": "image/gif"}),
            "/picture": lambda: self._answer(200, PICTURE, **{"Content-Type": "image/gif"}),
            "/pictures": lambda: self._answer(200, b"<title>P</title><img src=/picture.png?1><img src=/picture>"),
        }
        if parts.path in special:
            special[parts.path]()
            return
        file = SITES / f"{parts.path.strip('/')}.html"
        self._answer(200, file.read_bytes()) if file.is_file() else self._answer(404, b"")

    def _answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "text/html; charset=utf-8", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _file(self, kind: str, body: bytes) -> None:
        name = self.path.rpartition("/")[2]
        self._answer(200, body, **{"Content-Type": kind, "Content-Disposition": f'attachment; filename="{name}"'})

    def _cut(self) -> None:
        """Half a page, then the connection is reset."""
        body = b"<title>Half</title><h1>Half</h1>" + b"<p>many words</p>" * 2000
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(2 * len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.site.stop.wait(0.2)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def _hang(self) -> None:
        self.site.stop.wait(60)

    def _slow(self) -> None:
        self.site.stop.wait(0.6)
        self._answer(200, b"{}")

    def _late_file(self) -> None:
        self.site.stop.wait(1.5)
        self._file("text/plain", b"late notes")

    def _chunked(self) -> None:
        """More than is said beforehand."""
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for _ in range(400):
            self.wfile.write(b"2710\r\n" + b"x" * 10_000 + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def _endless(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Disposition", 'attachment; filename="endless.bin"')
        self.end_headers()
        while not self.site.stop.is_set():
            self.wfile.write(b"x" * 1000)
            self.wfile.flush()
            time.sleep(0.02)  # a trickle, as the fault wants it

    def _huge(self) -> None:
        """Two hundred megabytes of page."""
        line = b"<p>" + b"many words " * 90 + b"</p>\n"
        block = line * (1_000_000 // len(line))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(block) * 200))
        self.end_headers()
        for _ in range(200):
            if self.site.stop.is_set():
                return
            self.wfile.write(block)

    def _wrap(self) -> None:
        """The acts page inside frames or a shadow root."""
        how = parse_qs(urlsplit(self.path).query)["how"][0]
        other = self.site.other
        frames = {"iframe": "/acts", "nested": "/wrap?how=iframe", "cross": f"{other}/acts", "framed": "/wrap?how=open"}
        frames["deep"] = f"{other}/wrap?how=closed"
        inner = frames.get(how)
        if inner is not None:
            body = (
                f"<title>Wrap</title><p>outside</p><iframe src='{inner}' width=1000 height=3500 title=inside></iframe>"
            )
        else:
            acts = (SITES / "acts.html").read_text()
            script = f"""<script>
              const host = document.createElement('div'), root = host.attachShadow({{ mode: '{how}' }});
              while (document.body.firstChild) root.append(document.body.firstChild);
              root.append(...document.querySelectorAll('style'));
              document.body.append(host);
            </script>"""
            body = acts + script
        self._answer(200, body.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


_LEAVE = (
    b"<title>Leave</title><button onclick=\"document.title='touched'\">Touch</button>"
    b"<script>addEventListener('beforeunload', e => { e.preventDefault(); e.returnValue = 'stay' })</script>"
)
_BUSY_PAGE = b"""<title>Busy</title><p id=p></p><script>
  fetch('/slow.json').then(() => { p.textContent = 'loaded'; });
</script>"""
PICTURE = bytes.fromhex("47494638396101000100800000000000ffffff21f90401000000002c000000000100010000020144003b")


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # browsers hang up on answers that they no longer want


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """The running server."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        site = Site(server.server_port)
        _Handler.site = site
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield site
        site.stop.set()
        server.shutdown()
        thread.join()


@pytest_asyncio.fixture(loop_scope="session")
async def context(browser: Browser) -> AsyncIterator[Context]:
    """A context of the test's own, emptied after the test before, which also opens what a test writes as data: URLs."""
    context = await browser.new_context(replace(PATIENT, schemes=WRITTEN, reuse="tests"))
    yield context
    await context.close()
