"""A gateway on a loopback port, in a thread of its own, for commands that run in this one."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import structlog
import uvicorn
from typer.testing import CliRunner, Result

from shoal.services.cli.app import app
from tests.gateway_world import Answer, World, api_world
from tests.patience import PATIENCE_S


@dataclass
class Served:
    """A served gateway. Coroutines run in its loop by `do`."""

    url: str
    world: World
    loop: asyncio.AbstractEventLoop
    working: list[Any] = field(default_factory=list)

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Return what `work` gives."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE_S)

    def submit(self, **spec: Any) -> str:
        """The id of a new job."""
        return str(self.do(self.world.submit(**spec)))

    def work(self, answer: Answer) -> None:
        """From now on sessions are run as they come."""

        async def forever() -> None:
            seen = 0
            while True:
                await self.world.run(answer)
                seen = await self.world.store.changed(1, since=seen)

        self.working.append(asyncio.run_coroutine_threadsafe(forever(), self.loop))


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A gateway without keys; SHOAL_GATEWAY names it."""
    yield from serve(monkeypatch)


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A gateway that asks for keys."""
    yield from serve(monkeypatch, auth=True)


def serve(monkeypatch: pytest.MonkeyPatch, **options: Any) -> Iterator[Served]:
    ready = threading.Event()
    found: list[Served] = []
    end: list[Callable[[], None]] = []

    async def live() -> None:
        async with api_world(**options) as made:
            config = uvicorn.Config(made.app, host="127.0.0.1", port=0, log_config=None, timeout_graceful_shutdown=1)
            server = uvicorn.Server(config)
            socket = config.bind_socket()
            task = asyncio.create_task(server.serve([socket]))
            while not server.started:
                await asyncio.sleep(0.005)
            served = Served(f"http://127.0.0.1:{socket.getsockname()[1]}", made, asyncio.get_running_loop())
            found.append(served)
            end.append(lambda: setattr(server, "should_exit", True))
            ready.set()
            await task
            for worker in served.working:
                worker.cancel()
            await asyncio.sleep(0)
            socket.close()

    thread = threading.Thread(target=lambda: asyncio.run(live()))
    thread.start()
    try:
        assert ready.wait(60)
        monkeypatch.setenv("SHOAL_GATEWAY", found[0].url)
        yield found[0]
    finally:
        end[0]()
        thread.join(60)
        assert not thread.is_alive()


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of this machine's own Shoal gets into a test."""
    for name in [name for name in os.environ if name.startswith("SHOAL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SHOAL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture(autouse=True)
def no_logging() -> Iterator[None]:
    """Commands set up this process's logs; the next test must not write to a stream that is closed by then."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture
def shoal() -> Callable[..., Result]:
    """Runs one command in this process."""
    runner = CliRunner()

    def run(*arguments: str, stdin: str | bytes | None = None, code: int = 0) -> Result:
        result = runner.invoke(app, list(arguments), input=stdin)
        assert result.exit_code == code, (result.exit_code, result.stdout, result.stderr, result.exception)
        return result

    return run
