"""Several servers: who is asked, who waits, who is let go of."""

from __future__ import annotations

import asyncio
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.errors import ModelUnavailable
from shoal.agent.models.model import Ask, Image, Message
from shoal.agent.models.openai_compatible import OpenAICompatible, _weight
from shoal.agent.models.settings import ModelSettings
from tests.model_server import ModelServer, replies, serving, slow, status, until
from tests.patience import PATIENCE_S
from tests.unit.models.test_images import picture

ASK = Ask((Message("user", "hello"),), affinity="one loop")


def settings_for(*urls: str, **more: Any) -> ModelSettings:
    quick = ModelSettings(base_urls=urls, model="tiny", timeout_s=5, retry_base_s=0.01, retry_max_s=0.05)
    return replace(quick, breaker_pause_s=0.05, **more)


async def servers(stack: AsyncExitStack, n: int) -> list[ModelServer]:
    return [await stack.enter_async_context(serving(ModelServer(lambda body: "ok"))) for _ in range(n)]


async def client_of(stack: AsyncExitStack, *urls: str, **more: Any) -> OpenAICompatible:
    client = OpenAICompatible(settings_for(*urls, **more))
    stack.push_async_callback(client.close)
    return client


async def test_a_loop_keeps_to_one_server_and_loops_spread() -> None:
    async with AsyncExitStack() as stack:
        three = await servers(stack, 3)
        client = await client_of(stack, *(server.url for server in three))
        for _ in range(5):
            await client.ask(ASK)
        assert sorted(len(server.requests) for server in three) == [0, 0, 5]
        for n in range(60):
            await client.ask(replace(ASK, affinity=f"loop {n}"))
        assert min(len(server.requests) for server in three) >= 8


async def test_a_server_that_has_its_fill_is_helped_out_by_the_next() -> None:
    async with AsyncExitStack() as stack:
        two = await servers(stack, 2)
        client = await client_of(stack, *(server.url for server in two), max_connections=4, spill_share=0.5)
        for server in two:
            server.behaviours = [slow] * 8
        asked = [asyncio.create_task(client.ask(ASK)) for _ in range(4)]
        await until(lambda: sum(client.in_flight.values()) == 4)
        await until(lambda: sum(server.in_flight for server in two) == 4)
        assert sorted(client.in_flight.values()) == [2, 2]
        for server in two:
            server.release.set()
        await asyncio.gather(*asked)
        assert set(client.in_flight.values()) == {0}


def test_sessions_of_a_long_loop_are_shared_out_over_all_servers() -> None:
    servers = [f"http://model-{n}.example:8000/v1" for n in range(4)]
    homes = [min(servers, key=lambda url: _weight(key, url)) for key in (f"a loop {n}" for n in range(10_000))]
    fullest = [max(Counter(homes[at : at + 100]).values()) for at in range(0, 10_000, 100)]
    assert max(fullest) <= 45
    assert 25 <= sum(fullest) / len(fullest) <= 33  # docs/models/models.md


async def test_adding_a_server_moves_only_its_share_of_the_loops() -> None:
    async with AsyncExitStack() as stack:
        three = await servers(stack, 3)
        client = await client_of(stack, three[0].url, three[1].url)
        before = await _homes(client, three)
        await client.use([server.url for server in three])
        after = await _homes(client, three)
        moved = {loop for loop in before if before[loop] != after[loop]}
        assert moved
        assert {after[loop] for loop in moved} == {2}


async def test_a_server_that_is_let_go_of_ends_what_it_works_at() -> None:
    async with AsyncExitStack() as stack:
        two = await servers(stack, 2)
        client = await client_of(stack, two[0].url)
        two[0].behaviours = [slow]
        last = asyncio.create_task(client.ask(ASK))
        await until(lambda: two[0].in_flight == 1)
        leaving = asyncio.create_task(client.use([two[1].url]))
        await asyncio.sleep(0)
        await client.ask(ASK)
        assert not leaving.done()
        two[0].release.set()
        assert (await last).text
        await leaving
        assert Counter(len(server.requests) for server in two) == {1: 2}


async def test_no_servers_are_no_choice() -> None:
    with pytest.raises(ValueError, match="at least one"):
        OpenAICompatible(settings_for())
    async with AsyncExitStack() as stack:
        client = await client_of(stack, "http://127.0.0.1:9/v1")
        with pytest.raises(ValueError, match="at least one"):
            await client.use([])


async def test_a_patient_client_waits_for_a_server_that_comes_back() -> None:
    with socket.socket() as held:  # bound, but nobody listens: connections are refused
        held.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        async with AsyncExitStack() as stack:
            client = await client_of(stack, address, patience_s=PATIENCE_S, retries=1, breaker_failures=2)
            waiting = [asyncio.create_task(client.ask(ASK)) for _ in range(5)]
            await asyncio.wait(waiting, timeout=0.5)
            assert not any(task.done() for task in waiting)
            (server,) = await servers(stack, 1)
            await asyncio.gather(client.use([server.url]), *waiting)
            assert len(server.requests) == 5


async def test_a_server_that_takes_no_connection_is_away() -> None:
    """Its machine is gone: packets to it get no answer. Nothing was asked of it, so the next server is asked."""
    async with AsyncExitStack() as stack:
        full = stack.enter_context(_full())
        (server,) = await servers(stack, 1)
        gone = f"http://127.0.0.1:{full.getsockname()[1]}/v1"
        both = await client_of(stack, gone, server.url, connect_timeout_s=1.0, retries=1)
        for n in range(10):  # some of these loops belong to the one that is gone
            assert (await both.ask(replace(ASK, affinity=f"loop {n}"))).text
        alone = await client_of(stack, gone, connect_timeout_s=1.0, retries=0, patience_s=PATIENCE_S)
        waiting = asyncio.create_task(alone.ask(ASK))
        await asyncio.wait([waiting], timeout=2.5)
        assert not waiting.done()
        await alone.use([server.url])
        assert (await waiting).text


@contextmanager
def _full() -> Iterator[socket.socket]:
    """A listening socket that takes no further connection: those that wait to be accepted fill its queue."""
    with ExitStack() as stack:
        full = stack.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(3):
            caller = stack.enter_context(socket.socket())
            caller.setblocking(False)
            with suppress(BlockingIOError):
                caller.connect(full.getsockname())
        yield full


async def test_a_server_that_says_503_while_it_starts_is_waited_for() -> None:
    async with AsyncExitStack() as stack:
        (server,) = await servers(stack, 1)
        server.behaviours = [status(503)] * 6
        client = await client_of(stack, server.url, patience_s=PATIENCE_S, retries=1)
        assert (await client.ask(ASK)).text
        assert len(server.requests) == 7


async def test_a_reply_that_an_ending_server_broke_off_is_asked_for_again() -> None:
    """vLLM answers 200 with what it has when it is told to end: half of a list would pass for a whole one."""
    async with AsyncExitStack() as stack:
        (server,) = await servers(stack, 1)
        server.behaviours = [replies('{"records": [{"n": 1}, {"n": ', finish_reason="abort")] * 2
        client = await client_of(stack, server.url, patience_s=PATIENCE_S, retries=0)
        assert (await client.ask(ASK)).text == "ok"
        assert len(server.requests) == 3


async def test_patience_ends() -> None:
    async with AsyncExitStack() as stack:
        client = await client_of(stack, "http://127.0.0.1:9/v1", patience_s=0.3, retries=1)
        started = time.monotonic()
        with pytest.raises(ModelUnavailable):
            await client.ask(ASK)
        assert 0.3 <= time.monotonic() - started < 60


async def test_an_error_of_the_server_is_not_waited_for() -> None:
    async with AsyncExitStack() as stack:
        (server,) = await servers(stack, 1)
        server.always = status(500)
        client = await client_of(stack, server.url, patience_s=60, retries=2)
        with pytest.raises(ModelUnavailable):
            await client.ask(ASK)
        assert len(server.requests) == 3


async def test_images_are_sent_in_whole_tokens_of_the_model() -> None:
    async with AsyncExitStack() as stack:
        (server,) = await servers(stack, 1)
        client = await client_of(stack, server.url, image_tokens=100)
        images = (picture(1280, 720), Image(b"no image at all"))
        await client.ask(Ask((Message("user", "look", images),)))
        parts = server.requests[0]["messages"][0]["content"]
        assert [part["type"] for part in parts] == ["image_url", "text"]
        assert parts[0]["image_url"]["url"].startswith("data:image/jpeg;base64,")


async def _homes(client: OpenAICompatible, three: list[ModelServer]) -> dict[str, int]:
    homes = {}
    for n in range(30):
        before = [len(server.requests) for server in three]
        await client.ask(replace(ASK, affinity=f"loop {n}"))
        homes[f"loop {n}"] = next(i for i, server in enumerate(three) if len(server.requests) > before[i])
    return homes
