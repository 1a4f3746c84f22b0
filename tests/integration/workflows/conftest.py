"""The drift site in a thread, and a real Chromium that learns from it and replays on it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from shoal.agent.documents import reader_process

SITE = Path(__file__).resolve().parents[3] / "load-tests" / "site"
sys.path.insert(0, str(SITE))

from shop.app import create_app  # noqa: E402


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that is busy, too, the process that reads documents answers before a browser reads them."""
    monkeypatch.setattr(reader_process, "ANSWER_S", 60.0)
    monkeypatch.setattr(reader_process, "READ_S", 10.0)


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """The address of the demo site, without a slash at its end."""
    server = uvicorn.Server(uvicorn.Config(create_app(), port=0, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
