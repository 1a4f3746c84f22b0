"""Tests against real vLLM: `make test-vllm`. Not collected otherwise: it is 2.4 GB, and a start takes a minute."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from shoal.agent.models.openai_compatible import OpenAICompatible
from shoal.services.inference.process import VllmProcess
from tests.vllm.server import is_set_up, settings_for, tiny_vllm

WANTED = bool(os.environ.get("TEST_VLLM"))

collect_ignore_glob = [] if WANTED else ["test_*.py"]

if WANTED:
    # A signal that ends these tests ends their servers too: each has a process group of its own.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One event loop for all: the server's process belongs to the loop that started it."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
            item.add_marker(pytest.mark.timeout(900))


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=["xgrammar", "guidance"])
async def server(request: pytest.FixtureRequest) -> AsyncIterator[VllmProcess]:
    """A server with each back end for structured output; the second one has two API servers."""
    assert is_set_up(), "run scripts/setup-vllm first"
    async with tiny_vllm(structured=request.param, api_servers=1 + (request.param == "guidance")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def model(server: VllmProcess) -> AsyncIterator[OpenAICompatible]:
    client = OpenAICompatible(settings_for(server))
    yield client
    await client.close()


xgrammar_only = pytest.mark.parametrize("server", ["xgrammar"], indirect=True)
"""For what has nothing to do with the back end."""
