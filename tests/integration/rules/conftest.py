"""A small site with pages of every kind, and a real Chromium that looks at them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import pytest_asyncio

from shoal.agent.spec import JobSpec
from shoal.agent.types import LoopItem, Outcome
from shoal.agent.worker_messages import Work
from shoal.services.addresses import Reach
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.session_parts.real_parts import make_worker
from shoal.services.browsers.worker import Worker
from tests.loopback import served
from tests.patience import PATIENCE_S, PATIENT

PAGES = Path(__file__).parent / "pages"


@dataclass
class Site:
    """A running site: where it is, and what was sent to it."""

    url: str
    sent: list[dict[str, list[str]]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    pages: dict[str, str] = field(default_factory=dict)  # by path: what the test itself puts there


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.site.requests.append(self.path)
        if parts.path.startswith("/shelf"):
            return self._answer(_shelf(int(parse_qs(parts.query).get("page", ["1"])[0]), parts.path))
        if parts.path in self.site.pages:
            return self._answer(self.site.pages[parts.path])
        if parts.path == "/find":
            return self._answer(_results(parse_qs(parts.query).get("q", [""])[0]))
        file = PAGES / f"{parts.path.strip('/')}.html"
        return self._answer(file.read_text("utf-8")) if file.is_file() else self._answer("<h1>Not here</h1>", 404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        given = parse_qs(body, keep_blank_values=True)
        self.site.sent.append(given)
        if self.path == "/quote":
            return self._answer((PAGES / "quote_details.html").read_text("utf-8"))
        page = (PAGES / "quote_details.html").read_text("utf-8")
        if int(given.get("qty", ["0"])[0] or 0) > 100:
            told = '<p class="field-error">We cannot deliver more than 100 pieces</p>'
            return self._answer(page.replace("<!--qty-error-->", told), 422)
        return self._answer("<!doctype html><html lang=en><h1>Thank you!</h1><p>Your reference number is Q-77.</p>")

    def _answer(self, page: str, status: int = 200) -> None:
        body = page.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silence: what was asked is in `site.requests`."""


def _shelf(page: int, path: str) -> str:
    """Three pages of four items, with the ways to the next page that the path names."""
    items = "".join(
        f'<li class="hit"><a href="/item/{n}"><img src="/i.png" alt=""></a><h3><a href="/item/{n}">Thing {n}</a></h3>'
        f'<a href="/item/{n}#reviews">{n} reviews</a></li>'
        for n in range(4 * page - 3, 4 * page + 1)
    )
    onwards = {
        "/shelf-rel": f'<link rel="next" href="/shelf-rel?page={page + 1}">',
        "/shelf-text": f'<nav class="pager"><a href="/shelf-text?page={page + 1}">Older ›</a></nav>',
        "/shelf-numbers": '<p class="pages">' + " ".join(
            f"<b>{n}</b>" if n == page else f'<a href="/shelf-numbers?page={n}">{n}</a>' for n in (1, 2, 3)
        ) + "</p>",
    }[path]  # fmt: skip
    if page == 3 and path != "/shelf-numbers":
        onwards = f'<a href="{path}?page=1">First page</a>'
    return (
        '<!doctype html><html lang="en"><head><title>Shelf</title></head><body><nav><a href="/a">Home</a>'
        '<a href="/b">Offers</a><a href="/c">Contact</a><a href="/d">Jobs</a><a href="/e">Press</a></nav>'
        f"<main><h1>Shelf</h1><ul>{items}</ul>{onwards}</main>"
        '<footer><a href="/imprint">Imprint</a></footer></body></html>'
    )


def _results(query: str) -> str:
    known = {"blue kettle": "/lamp", "red kettle": "/stale"}
    rows = "".join(f'<li><a href="{to}">{name}</a></li>' for name, to in known.items() if query.lower() in name)
    return f"<!doctype html><html lang=en><h1>Results for {query}</h1><ul>{rows}</ul>"


@pytest.fixture
def site() -> Iterator[Site]:
    """The site, with a memory of its own for each test."""
    here = Site("")
    with served(type("Handler", (_Handler,), {"site": here})) as here.url:
        yield here


@dataclass
class Sessions:
    """Sessions of one worker, one after the other."""

    worker: Worker
    folder: Path  # what it writes, its artifacts too
    number: int = 0
    seen: int = 0  # the last report

    async def end(self, url: str, item: str = "", **spec: Any) -> Outcome:
        """Return how a session of this job ends; with `item` that of its only item."""
        job = JobSpec.model_validate({"url": url, "policy": "rules", "politeness": {"robots": False}, **spec})
        link = LoopItem(0, item, True) if item else None
        self.number += 1
        depth = 1 if item else 0
        await self.worker.submit([Work(self.number, 1, self.number, "t", 1, depth, job, link, None, None, None)])
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for report in (await self.worker.pull(self.seen, self.seen)).reports():
                    self.seen = report.serial
                    if report.outcome is not None:
                        return report.outcome
                    if report.wants_ack:
                        await self.worker.confirm(self.seen, frozenset(), {})

    def file(self, key: str) -> Path:
        """The file of an artifact."""
        return next(path for path in (self.folder / "artifacts").rglob("*") if str(path).endswith(key))


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def sessions(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sessions]:
    """A worker for the tests of a process, with files as its artifact store."""
    folder: Path = tmp_path_factory.mktemp("worker")
    config = WorkerConfig(
        slots=1,
        artifacts_url=(folder / "artifacts").as_uri(),
        reach=Reach(True, ()),
        temp_dir=str(folder),
        context=PATIENT,
    )
    made = await make_worker("w", config)
    yield Sessions(made, folder)
    await made.close()
