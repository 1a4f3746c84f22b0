"""A worker with its real parts, Chromium among them, keeps running its other sessions beside a hostile schema."""

from __future__ import annotations

import asyncio
import time
from http.server import BaseHTTPRequestHandler

from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.agent.worker_messages import Work
from shoal.services.addresses import Reach
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.session_parts.real_parts import make_worker
from tests.loopback import served

LETTERS = "a" * 34 + "!"
PAGE = f"""<!doctype html><title>Desk lamp</title>
<script type="application/ld+json">{{"@type": "Product", "name": "Desk lamp", "sku": "{LETTERS}"}}</script>
<h1>Desk lamp</h1><dl><dt>SKU</dt><dd>{LETTERS}</dd></dl>""".encode()


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = PAGE if self.path == "/" else b""
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


async def test_an_evil_pattern_costs_its_own_session_only() -> None:
    def work(number: int, url: str, **sku: str) -> Work:
        schema = {"required": ["name"], "properties": {"name": {"type": "string"}, "sku": {"type": "string", **sku}}}
        spec = JobSpec.model_validate({"url": url, "policy": "rules", "extract": {"schema": schema}})
        return Work(number, number, 1, "t", 1, 0, spec, None, None, None, None)

    ended: dict[int, Outcome] = {}
    longest_s = 0.0

    async def watch() -> None:
        nonlocal longest_s
        while True:
            used = time.thread_time()
            await asyncio.sleep(0.005)
            longest_s = max(longest_s, time.thread_time() - used)

    with served(Page) as url:
        config = WorkerConfig(slots=2, artifacts_url="memory:", reach=Reach(allow_private=True))
        worker = await make_worker("w", config)
        watching = asyncio.create_task(watch())
        try:
            async with asyncio.timeout(90):
                await worker.submit([work(1, f"{url}/", pattern="^(a+)+$"), work(2, f"{url}/")])
                seen = 0
                while len(ended) < 2:
                    for report in (await worker.pull(seen, 0)).reports():
                        seen = report.serial
                        if report.outcome is not None:
                            ended[report.session] = report.outcome
        finally:
            watching.cancel()
            await worker.close()
    assert ended[2].status is Status.COMPLETED
    assert [one.value for one in ended[2].records] == [{"name": "Desk lamp", "sku": LETTERS}]
    assert all(one.value.get("sku") in (None, "a" * 34) for one in ended[1].records), "no wrong record"
    assert longest_s < 1.0, "the pattern alone would take hours"
