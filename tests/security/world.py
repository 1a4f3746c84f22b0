"""A hostile site, and a worker whose sessions visit it: with Chromium, egress filter and artifact store, no Ray."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from itertools import count
from pathlib import Path

from shoal.agent.browser import ContextOptions
from shoal.agent.models.settings import ModelSettings
from shoal.agent.sessions.session_budget import SessionLimits
from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import Checkpoint, LoopItem, Outcome
from shoal.agent.worker_messages import Work
from shoal.services.addresses import Reach
from shoal.services.browsers.config import BrowserLimits, WorkerConfig
from shoal.services.browsers.session_parts.real_parts import make_worker
from shoal.services.browsers.worker import Worker
from tests.loopback import served

TENANT = "mallory"
SLOTS = 4


@dataclass(frozen=True)
class Answer:
    """The site's answer to a request."""

    body: bytes | str = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    write: Callable[[BaseHTTPRequestHandler], None] | None = None  # instead of the body, for what has no end


@dataclass
class Site:
    """A hostile site: answers by path; notes what is asked for."""

    pages: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    url: str = ""

    def page(self, path: str, html: str) -> str:
        """Puts a page at `path`; gives its address."""
        self.pages[path] = Answer(f"<!doctype html><title>A shop</title>{html}")
        return self.url + path


@contextmanager
def hostile_site() -> Iterator[Site]:
    """A site on loopback that answers with what a test gives it."""
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            answer = site.pages.get(self.path.partition("?")[0], Answer(status=404))
            self.send_response(answer.status)
            body = answer.body.encode() if isinstance(answer.body, str) else answer.body
            headers = {"Content-Type": "text/html; charset=utf-8", **answer.headers}
            if answer.write is None:
                headers.setdefault("Content-Length", str(len(body)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                answer.write(self) if answer.write is not None else self.wfile.write(body)
            except ConnectionError:
                self.close_connection = True  # the browser had enough

        def log_message(self, format: str, *args: object) -> None:
            """The site keeps no log."""

    with served(Handler) as url:
        site.url = url
        yield site


class Visitors:
    """Sessions of one tenant on a real worker."""

    def __init__(self, worker: Worker, artifacts: Path) -> None:
        self._worker = worker
        self._slots = asyncio.Semaphore(SLOTS)
        self._artifacts = artifacts
        self._numbers = count(1)
        self._seen = 0
        self._ended: dict[int, Outcome] = {}  # of sessions that `run` has not asked about yet

    async def run(
        self,
        spec: Mapping[str, Json],
        *,
        item: LoopItem | None = None,
        checkpoint: Checkpoint | None = None,
        job: int | None = None,
    ) -> Outcome:
        """Return how one session of the job `spec` ended: its root, or one of its loop's items;
        None: of a job of its own.
        """
        whole = JobSpec.model_validate({"politeness": {"robots": False}} | spec)
        number = next(self._numbers)
        depth = 0 if item is None else 1
        work = Work(number, 1, job or number, TENANT, 1, depth, whole, item, checkpoint, None, None)
        async with self._slots, asyncio.timeout(90):
            await self._worker.submit([work])
            while number not in self._ended:
                for report in (await self._worker.pull(self._seen, self._seen)).reports():
                    self._seen = max(self._seen, report.serial)
                    await self._worker.confirm(report.serial, frozenset(), {})
                    if report.outcome is not None:
                        self._ended[report.session] = report.outcome
        return self._ended.pop(number)

    async def restarts(self) -> int:
        """Return how many browsers were replaced because they died or hung."""
        return (await self._worker.stats()).browser_restarts

    def artifact_bytes(self) -> bytes:
        """Everything that the tenant may fetch, in one piece."""
        return b"\n".join(path.read_bytes() for path in sorted(self._artifacts.rglob("*")) if path.is_file())


@asynccontextmanager
async def visitors(
    folder: Path,
    context: ContextOptions | None = None,
    *,
    session_bytes: int = 1 << 30,
    page_bytes: int = 1 << 30,
    model: ModelSettings | None = None,
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost"),
) -> AsyncIterator[Visitors]:
    """A worker that keeps what it finds below `folder`, and may reach these hosts of this machine."""
    config = WorkerConfig(
        slots=SLOTS,
        artifacts_url=str(folder / "artifacts"),
        reach=Reach(exceptions=hosts),
        limits=SessionLimits(session_s=60),
        context=context or ContextOptions(action_timeout_s=10, navigation_timeout_s=20, download_timeout_s=10),
        session_bytes=session_bytes,
        browser=BrowserLimits(page_bytes=page_bytes),
        model=model,
        temp_dir=str(folder / "temp"),
    )
    worker = await make_worker("visitor", config)
    try:
        yield Visitors(worker, folder / "artifacts")
    finally:
        await worker.drain(0)
        await worker.close()
