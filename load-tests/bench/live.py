"""The cost of a live view, and the delay of a person's click on the page.

A gateway, a dispatcher and a worker with a real Chromium run in this process. The page is drawn anew with every frame
of the browser, which is the worst case for a view. Its cost is the processor time of this process and all below it,
once with a viewer and once without, in turns. A click's time is from the request to the gateway until the page's own
listener has told the site; the job says nothing of repeating, so each click is marked in the store first.

    python load-tests/bench/live.py [--seconds 10] [--rounds 3] [--clicks 20] [--quick] [--json]
"""

from __future__ import annotations

import asyncio
import socket
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import uvicorn
from _report import Report, Target, arguments
from fastapi import FastAPI, Response

from shoal.agent.models.decisions.plan import Plan
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.policies.policy import Policy, SessionState
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.spec import JobSpec
from shoal.agent.types import Action, Step
from shoal.services.addresses import Reach
from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.pools.local_pool import LocalPool
from shoal.services.browsers.session_parts.real_parts import RealParts
from shoal.services.browsers.worker import Worker
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatcher import Dispatcher
from shoal.services.store.store import open_store
from shoal.services.web.app import create_app
from shoal.services.web.deps import GatewayDeps, GatewayOptions
from shoal.services.web.specs.specs import SpecRules

TOKEN = "bench"
REACH = Reach(exceptions=("127.0.0.1",))
PAGE = """<!doctype html><body style="margin:0"><h1>Moves</h1><div id="box" style="width:200px;height:200px;
background:teal;position:absolute"></div><button style="position:absolute;left:600px;top:300px;width:200px;height:80px"
onclick="fetch('/clicked', {method: 'POST'})">Press</button><script>
const move = (now) => { box.style.left = (now / 5) % 1000 + 'px'; requestAnimationFrame(move); };
requestAnimationFrame(move);</script>"""


class Waits(RulesPolicy):
    """An agent that waits in short steps, for a person to come."""

    @property
    def instant(self) -> bool:
        return False

    async def plan(self, state: SessionState) -> Plan:
        return Plan(plan="wait", task_type="navigate")

    async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
        return StepDecision("wait", (Action("noop", {"wait_ms": 200}),))


class WaitingParts(RealParts):
    """A worker's own parts, but for the agent."""

    def policy(self, spec: JobSpec, *, leaf: bool = True) -> Policy:
        return Waits()


@dataclass
class Served:
    """The served session that is measured."""

    url: str
    session: str
    clicked: asyncio.Queue[float]


@asynccontextmanager
async def listening(app: FastAPI, listener: socket.socket) -> AsyncIterator[None]:
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=1))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield
    finally:
        server.should_exit = True
        await task
        listener.close()


def bound() -> tuple[socket.socket, str]:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    return listener, f"http://127.0.0.1:{listener.getsockname()[1]}"


def site_of(clicked: asyncio.Queue[float]) -> FastAPI:
    site = FastAPI()

    @site.get("/")
    async def page() -> Response:
        return Response(PAGE, media_type="text/html")

    @site.post("/clicked")
    async def click() -> Response:
        clicked.put_nowait(time.perf_counter())
        return Response(status_code=204)

    return site


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Served]:
    """One session that waits for a person on a page that moves."""
    clicked: asyncio.Queue[float] = asyncio.Queue()
    (gate, url), (ground, site) = bound(), bound()
    store = await open_store(f"sqlite:///{folder}/shoal.db")
    options = GatewayOptions(auth=False, live_url=url, help_token=TOKEN, rules=SpecRules(REACH))
    config = WorkerConfig(
        slots=1,
        artifacts_url=str(folder / "artifacts"),
        reach=REACH,
        help_url=url,
        help_token=TOKEN,
        temp_dir=str(folder / "temp"),
    )

    async def make(name: str) -> Worker:
        parts = WaitingParts(name, config)
        await parts.open()
        return Worker(name, config, parts, parts.metrics_delta)

    app = create_app(GatewayDeps(store, MemoryArtifacts(), options))
    async with listening(app, gate), listening(site_of(clicked), ground), httpx.AsyncClient(base_url=url) as http:
        dispatcher = Dispatcher(store, LocalPool(make, 1), DispatchConfig(drain_s=0.1))
        await dispatcher.start()
        try:
            spec = {"url": f"{site}/", "goal": "wait", "max_steps": 1000, "politeness": {"robots": False}}
            spec |= {"artifacts": {"screenshots": "none"}}
            job = (await http.post("/v1/jobs", json=spec)).json()["id"]
            session = (await http.get(f"/v1/jobs/{job}")).json()["root_session"]
            while True:
                await asyncio.sleep(0.1)
                if (await http.get(f"/v1/sessions/{session}")).json()["status"] == "running":
                    break
            await asyncio.sleep(3)
            yield Served(url, session, clicked)
        finally:
            await dispatcher.stop()
            await store.close()


def cpu_s() -> float:
    """Processor time of this process and all below it."""
    total = 0.0
    me = psutil.Process()
    for process in [me, *me.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system
    return total


async def watched(here: Served, seconds: float) -> tuple[float, int]:
    """Processor time a second while somebody looks, and the pictures that came."""
    frames, began, used = 0, 0.0, 0.0
    async with (
        httpx.AsyncClient(timeout=30) as http,
        http.stream("GET", f"{here.url}/v1/sessions/{here.session}/live") as answer,
    ):
        async for line in answer.aiter_lines():
            if line != "event: frame":
                continue
            if not began:
                began, used = time.perf_counter(), cpu_s()
            frames += 1
            if time.perf_counter() - began >= seconds:
                break
        took = time.perf_counter() - began
        return (cpu_s() - used) / took, round((frames - 1) / took, 2)


async def alone(seconds: float) -> float:
    """Processor time a second without a viewer."""
    used, began = cpu_s(), time.perf_counter()
    await asyncio.sleep(seconds)
    return (cpu_s() - used) / (time.perf_counter() - began)


async def clicks(here: Served, n: int) -> list[float]:
    """Milliseconds of each click until the site has heard of it."""
    found = []
    async with httpx.AsyncClient(timeout=30) as http:
        path = f"{here.url}/v1/sessions/{here.session}/live"
        lease = (await http.post(path, json={"do": "take"})).json()["lease"]
        press = {"do": "click", "lease": lease, "x": 700.0, "y": 340.0}
        while True:
            if (await http.post(path, json=press)).status_code == httpx.codes.OK:
                break
            await asyncio.sleep(0.1)  # the agent ends its step
        await here.clicked.get()
        for _ in range(n):
            began = time.perf_counter()
            doing = asyncio.create_task(http.post(path, json=press))
            found.append((await here.clicked.get() - began) * 1000)
            (await doing).raise_for_status()
        await http.post(path, json={"do": "hand_back", "lease": lease})
    return found


async def measure(report: Report, seconds: float, rounds: int, n: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with served(Path(folder)) as here:
            for _ in range(rounds):
                without = await alone(seconds)
                used, per_s = await watched(here, seconds)
                await asyncio.sleep(1)
                report.add("% of a core, live view", 100 * (used - without))
                report.add("% of a core, without", 100 * without)
                report.add("pictures a second", per_s)
            for took_ms in await clicks(here, n):
                report.add("ms until a click arrives", took_ms)
            worst = statistics.quantiles(report.samples["ms until a click arrives"], n=20)[-1]
            report.add("ms until a click arrives, 95 %", worst)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clicks", type=int, default=20)
    options = parser.parse_args()
    targets = {
        "% of a core, live view": Target(10, at_least=False),
        "ms until a click arrives": Target(150, at_least=False),
    }
    report = Report("live", targets)
    quick = options.quick
    asyncio.run(measure(report, 5 if quick else options.seconds, 1 if quick else options.rounds, options.clicks))
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
