"""Serves MiniWoB++ tasks to browsers anywhere in the cluster, and hears how each episode ended.

A task's page is served under an address of its own for each episode. A script at its end begins the episode as the gym
does, so that a seed is the same instance, and tells the verdict of the page's own code. Nothing of it is on the page
before the episode is over.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from urllib.parse import quote

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from shoal.agent.gym.miniwob import BEGIN, MOST_MS, page_seed, pages

_BEGIN = """<script>
window.addEventListener('load', () => {
  const tell = (what, said) => fetch('%(tell)s' + what, {method: 'POST', body: JSON.stringify(said), keepalive: true});
  (%(begin)s)([%(seed)s, %(most_ms)s, true]);
  tell('goal', core.getUtterance());
  const watch = setInterval(() => {
    if (!WOB_DONE_GLOBAL) return;
    clearInterval(watch);
    tell('verdict', [WOB_RAW_REWARD_GLOBAL, WOB_REWARD_REASON]).finally(() => {
      document.body.textContent = 'The episode is over.';
    });
  }, 20);
});
</script>"""


@dataclass(slots=True)
class Match:
    """One episode at the arena."""

    task: str
    seed: int
    goal: str = ""
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    right: bool | None = None  # None until it is over
    reason: str = ""


class Arena:
    """Episodes by name; the first verdict of each counts."""

    def __init__(self) -> None:
        self._root = pages().parent.resolve()
        self._matches: dict[str, Match] = {}
        self.url = ""

    def open(self, name: str, task: str, seed: int) -> str:
        """The address at which the episode `name` is played."""
        self._matches[name] = Match(task, seed)
        return f"{self.url}/{quote(name, safe='')}/miniwob/{task}.html"

    def match(self, name: str) -> Match:
        """Return how the episode stands."""
        return self._matches[name]

    def app(self) -> Starlette:
        """The pages, and where they tell what happened."""
        app = Starlette(
            routes=[
                Route("/{name}/goal", self._goal, methods=["POST"]),
                Route("/{name}/verdict", self._verdict, methods=["POST"]),
                Route("/{name}/{path:path}", self._file),
            ]
        )
        app.router.redirect_slashes = False
        return app

    async def _file(self, request: Request) -> Response:
        match = self._matches.get(request.path_params["name"])
        path = (self._root / request.path_params["path"]).resolve()
        if match is None or not path.is_relative_to(self._root) or not path.is_file():
            return Response(status_code=404)
        if path.name != f"{match.task}.html":
            return FileResponse(path)
        tell = f"/{quote(request.path_params['name'], safe='')}/"
        script = _BEGIN % {"tell": tell, "begin": BEGIN, "seed": page_seed(match.seed), "most_ms": MOST_MS}
        return HTMLResponse(path.read_text(encoding="utf-8", errors="replace") + script)

    async def _goal(self, request: Request) -> Response:
        match = self._matches.get(request.path_params["name"])
        body = await request.json()
        if match is not None:
            match.goal = str(body["utterance"] if isinstance(body, dict) and "utterance" in body else body)
            match.begun.set()
        return Response(status_code=204)

    async def _verdict(self, request: Request) -> Response:
        match = self._matches.get(request.path_params["name"])
        reward, reason = await request.json()
        if match is not None and match.right is None:
            match.right = reward > 0
            match.reason = str(reason or "")
            match.over.set()
        return Response(status_code=204)


@asynccontextmanager
async def arena(host: str = "127.0.0.1") -> AsyncIterator[Arena]:
    """An arena on a free port of `host`, which the cluster's browsers must be able to reach."""
    ground = Arena()
    with socket.socket() as listener:
        listener.bind((host, 0))
        ground.url = f"http://{host}:{listener.getsockname()[1]}"
        server = _ArenaServer(
            uvicorn.Config(ground.app(), log_config=None, lifespan="off", timeout_graceful_shutdown=1)
        )
        task = asyncio.create_task(server.serve(sockets=[listener]), name="arena")
        try:
            while not server.started and not task.done():
                await asyncio.wait([task], timeout=0.01)
            yield ground
        finally:
            server.should_exit = True
            await asyncio.wait([task])


class _ArenaServer(uvicorn.Server):
    """Uvicorn without its signal handlers: the command decides when it ends."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
