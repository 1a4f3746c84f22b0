"""A worker that is killed at the moment at which the site has counted what was sent: it is never sent a second time."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from shoal.agent.spec import JobSpec
from shoal.agent.status import FINAL, Status
from shoal.services.store.records import NewJob
from shoal.services.store.store import open_store
from tests.security.repeats import SLOTS, WAYS, cluster, page

pytestmark = pytest.mark.timeout(600)

_ROUND_S = 120.0


class Site(ThreadingHTTPServer):
    """Counts what was sent which way, and holds its answers."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.received: Counter[str] = Counter()
        self.over = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # its visitors are killed


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        way = parse_qs(urlsplit(self.path).query).get("way", [""])[0]
        body = page(way) if way in WAYS else "<title>Plain</title>plain"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(body.encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        query = urlsplit(self.path).query or body
        self.server.received[parse_qs(query)["way"][0]] += 1
        self.server.over.wait(300)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[Site]:
    with Site() as site:
        thread = threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield site
        finally:
            site.over.set()
            site.shutdown()
            thread.join()


def kill_when_received(site: Site, store_url: str, wanted: int, log: Path) -> None:
    """Starts the cluster, and kills it once the site has received so many in all."""
    with log.open("ab") as out:
        process = subprocess.Popen([sys.executable, "-m", "tests.security.repeats", store_url], stdout=out, stderr=out)
    try:
        ends = time.monotonic() + _ROUND_S
        while site.received.total() < wanted:
            assert process.poll() is None and time.monotonic() < ends, (site.received, log.read_text()[-6000:])
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()


async def test_whatever_way_something_was_sent_a_crash_behind_it_ends_unsure(tmp_path: Path) -> None:
    store_url = f"sqlite:///{tmp_path}/shoal.db"
    with serving() as site:
        links = [f"{site.url}/?way={quote(way)}" for way in WAYS]
        spec = {"url": site.url, "goal": "send", "repeatable": False, "loop": {"values": links, "is_link": True}}
        store = await open_store(store_url)
        (made,) = await store.submit([NewJob("t", JobSpec.model_validate(spec), "127.0.0.1")])
        await store.close()
        while (before := site.received.total()) < len(WAYS):
            kill_when_received(site, store_url, min(len(WAYS), before + SLOTS), tmp_path / "worker.log")
        async with cluster(store_url) as store:
            ends = time.monotonic() + _ROUND_S
            while (row := await store.job(made.job)).status not in FINAL:
                assert time.monotonic() < ends, row
                await store.changed(0.5)
            sessions = await store.results(made.job)
    assert site.received == Counter(dict.fromkeys(WAYS, 1))
    assert [one for one in sessions if one.status is not Status.UNSURE] == []
    assert row.counts.unsure == len(WAYS)
