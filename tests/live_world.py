"""A gateway, a dispatcher and a worker with a real Chromium in one process, whose agent does as a model server says."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from shoal.agent.models.settings import ModelSettings
from shoal.services.addresses import Reach
from shoal.services.artifacts.open import open_artifacts
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.pools.local_pool import LocalPool
from shoal.services.browsers.session_parts.real_parts import make_worker
from shoal.services.browsers.worker import Worker
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatcher import Dispatcher
from shoal.services.web.specs.specs import SpecRules
from tests.gateway_world import World, world
from tests.loopback import served
from tests.model_server import ModelServer, serving
from tests.patience import PATIENCE_S, PATIENT
from tests.unit.agent.model.test_step import act, step_reply
from tests.worker_world import PLAN

TOKEN = "workers-show-this"
REACH = Reach(exceptions=("127.0.0.1", "localhost"))


class Agent:
    """Plans one mini goal, presses the button of a name until a word is on the page, and then says that it is done."""

    def __init__(self, button: str, until: str) -> None:
        self.button, self.until = button, until
        self.plans = 0

    def __call__(self, body: Mapping[str, Any]) -> str:
        asked = body["response_format"]["json_schema"]["name"]
        if asked == "plan":
            self.plans += 1
            if self.plans == 1:
                return json.dumps(PLAN | {"plan": f"Wait for {self.until}", "task_type": "navigate"})
            return json.dumps(PLAN | {"require_extraction": False, "user_goal_achieved": True})
        content = body["messages"][1]["content"]
        shown = content if isinstance(content, str) else "\n".join(p["text"] for p in content if p["type"] == "text")
        if self.until in shown.partition("# The page")[2].partition("# Now")[0]:
            return json.dumps(step_reply(act("COMPLETE"), achieved=True))
        found = re.search(rf'\[(\w+) button "{self.button}"', shown)
        assert found, shown
        return json.dumps(step_reply(act("CLICK", id=found[1])))


@dataclass
class Live:
    """All of it."""

    url: str
    world: World
    model: ModelServer
    dispatcher: Dispatcher
    site: str  # its address
    heard: list[str]  # what the site's pages sent

    async def job(self, **spec: Any) -> str:
        """The root session of a new job on the site, once it runs."""
        spec = {"url": self.site, "goal": "wait", "politeness": {"robots": False}, **spec}
        job = await self.world.submit(**spec)
        session = str((await self.world.client.get(f"/v1/jobs/{job}")).json()["root_session"])
        await self.until(session, lambda row: row["status"] == "running")
        return session

    async def until(self, session: str, met: Callable[[Any], bool], within_s: float = PATIENCE_S) -> Any:
        """The session as soon as `met` holds."""
        async with asyncio.timeout(within_s):
            while not met(row := (await self.world.client.get(f"/v1/sessions/{session}")).json()):
                await asyncio.sleep(0.05)
        return row

    async def wait_for_asks(self, n: int = 1) -> None:
        """Returns once the agent has asked its model so often, and waits for the answer."""
        async with asyncio.timeout(PATIENCE_S):
            while len(self.model.requests) < n:
                await asyncio.sleep(0.02)


@asynccontextmanager
async def live_world(
    folder: Path, pages: Mapping[str, str], agent: Callable[[Any], Any], *, reach: Reach = REACH, **options: Any
) -> AsyncIterator[Live]:
    """Everything over a site of these pages, by path; what they POST is heard."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(pages.get(self.path, ""), 200 if self.path in pages else 404)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            heard.append(f"{self.path} {body}".strip())
            self._answer("ok", 200)

        def _answer(self, text: str, status: int) -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    options = {"live_url": url, "help_token": TOKEN, "rules": SpecRules(reach, people=True), **options}
    with served(Handler) as site:
        artifacts = open_artifacts(str(folder / "artifacts"))
        async with serving(ModelServer(agent)) as model, world(artifacts=artifacts, **options) as made:
            config = uvicorn.Config(made.app, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
            server = uvicorn.Server(config)
            serving_task = asyncio.create_task(server.serve(sockets=[listener]))
            dispatcher = await _dispatcher(folder, made, model.url, url, reach)
            try:
                yield Live(url, made, model, dispatcher, site + "/", heard)
            finally:
                model.release.set()
                await dispatcher.stop()
                server.should_exit = True
                await serving_task
                listener.close()


async def _dispatcher(folder: Path, made: World, model_url: str, gateway: str, reach: Reach) -> Dispatcher:
    config = WorkerConfig(
        slots=2,
        artifacts_url=str(folder / "artifacts"),
        reach=reach,
        context=PATIENT,
        model=ModelSettings(base_urls=(model_url,), model="scripted", timeout_s=60),
        help_url=gateway,
        help_token=TOKEN,
        temp_dir=str(folder / "temp"),
        secrets_dir=str(folder / "secrets"),
    )

    async def make(name: str) -> Worker:
        return await make_worker(name, config)

    dispatcher = Dispatcher(made.store, LocalPool(make, config.slots), DispatchConfig(drain_s=1.0), seed=1)
    await dispatcher.start()
    return dispatcher


async def post_order(url: str, session: str, **order: Any) -> httpx.Response:
    """Return what the gateway says to one thing that a person does, by the API."""
    async with httpx.AsyncClient() as http:
        return await http.post(f"{url}/v1/sessions/{session}/live", json=order, timeout=30)
