"""The DevTools pipe that Playwright's driver and our own client share."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Error as PlaywrightError

from shoal.agent.chromium.process import fence
from shoal.agent.chromium.process.pipe_handover import PipeHandover
from shoal.agent.chromium.process.starter import plain_starter
from shoal.agent.chromium.wire.connection import ENDED, FIRST_CALL, Session
from shoal.agent.chromium.wire.shared_pipe import SharedPipe
from tests.patience import soon


class Ends:
    """The driver's and the browser's ends of a pipe that is shared."""

    def __init__(self) -> None:
        calls_in, self.driver_calls = os.pipe()
        self.driver_answers, answers_out = os.pipe()
        self.browser_calls, calls_out = os.pipe()
        answers_in, self.browser_answers = os.pipe()
        self.given = (calls_in, answers_out), (answers_in, calls_out)

    @staticmethod
    async def read(end: int, n: int = 1) -> list[dict[str, Any]]:
        """The next messages at an end."""
        data = b""
        async with soon(20):
            while data.count(b"\0") < n:
                data += await asyncio.to_thread(os.read, end, 65536)
        return [json.loads(message) for message in data.split(b"\0")[:-1]]

    def say(self, *messages: object) -> None:
        """Says something as the browser does."""
        os.write(
            self.browser_answers, b"".join(json.dumps(m, separators=(",", ":")).encode() + b"\0" for m in messages)
        )


@asynccontextmanager
async def sharing() -> AsyncIterator[tuple[SharedPipe, Ends]]:
    pipe, ends = SharedPipe(), Ends()
    await pipe.open(*ends.given)
    try:
        yield pipe, ends
    finally:
        pipe.close()
        for end in (ends.driver_calls, ends.driver_answers, ends.browser_calls, ends.browser_answers):
            try:
                os.close(end)
            except OSError:
                continue  # the test has closed it


async def opened(pipe: SharedPipe, ends: Ends) -> Session:
    """A session with a page, its call answered as a browser answers it."""
    attaching = asyncio.ensure_future(pipe.connection.attach("PAGE"))
    (call,) = await ends.read(ends.browser_calls)
    assert call["method"] == "Target.attachToBrowserTarget" and "sessionId" not in call
    ends.say({"id": call["id"], "result": {"sessionId": "ROOT"}})
    (call,) = await ends.read(ends.browser_calls)
    assert (call["method"], call["params"]["flatten"], call["sessionId"]) == ("Target.attachToTarget", True, "ROOT")
    heard = {"method": "Page.first", "params": {"n": 1}, "sessionId": "MINE"}
    ends.say({"id": call["id"], "result": {"sessionId": "MINE"}, "sessionId": "ROOT"}, heard)
    return await attaching


async def test_each_client_hears_its_own_answers_and_events_and_no_others() -> None:
    async with sharing() as (pipe, ends):
        session = await opened(pipe, ends)
        events: list[dict[str, Any]] = []
        session.on("Page.moved", events.append)
        asked = asyncio.ensure_future(session.send("Page.enable", {"a": 1}))
        (call,) = await ends.read(ends.browser_calls)
        assert call["id"] >= FIRST_CALL and call["sessionId"] == "MINE"
        os.write(ends.driver_calls, b'{"id":7,"method":"Browser.get')
        os.write(ends.driver_calls, b'Version"}\0')
        assert await ends.read(ends.browser_calls) == [{"id": 7, "method": "Browser.getVersion"}]
        tricky = {"id": 7, "result": {"text": ',"sessionId":"MINE"}'}}
        nested = {"method": "Target.attachedToTarget", "params": {"sessionId": "MINE"}}
        theirs = {"method": "Page.moved", "params": {}, "sessionId": "THEIRS"}
        mine = {"method": "Page.moved", "params": {"half": "\ud83d"}, "sessionId": "MINE"}
        ends.say(tricky, {"id": call["id"], "result": {"b": 2}, "sessionId": "MINE"}, nested, mine, theirs)
        assert await asked == {"b": 2}
        assert await ends.read(ends.driver_answers, 3) == [tricky, nested, theirs]
        assert events == [{"half": "\ud83d"}]


async def test_what_is_said_right_behind_the_answer_that_opens_a_session_is_not_lost() -> None:
    async with sharing() as (pipe, ends):
        await opened(pipe, ends)  # an event of the session came in the same piece as its answer
        ends.say({"id": 1, "result": {}})
        assert await ends.read(ends.driver_answers) == [{"id": 1, "result": {}}], "the event went to the driver"


async def test_halves_of_characters_pass_as_javascript_has_them() -> None:
    async with sharing() as (pipe, ends):
        session = await opened(pipe, ends)
        asked = asyncio.ensure_future(session.send("Page.half", {"text": "\ud83d"}))
        (call,) = await ends.read(ends.browser_calls)
        assert call["params"] == {"text": "\ud83d"}
        ends.say({"id": call["id"], "result": call["params"], "sessionId": "MINE"})
        assert await asked == {"text": "\ud83d"}
        assert not pipe.connection._answers, "a call that is answered is remembered"


async def test_a_session_that_ends_at_once_is_told_as_ended() -> None:
    async with sharing() as (pipe, ends):
        await opened(pipe, ends)
        attaching = asyncio.ensure_future(pipe.connection.attach("CLOSING"))
        (call,) = await ends.read(ends.browser_calls)
        detached = {"method": "Target.detachedFromTarget", "params": {"sessionId": "SHORT"}, "sessionId": "ROOT"}
        ends.say({"id": call["id"], "result": {"sessionId": "SHORT"}, "sessionId": "ROOT"}, detached)
        assert (await attaching).ended


async def test_the_browser_is_asked_again_where_its_session_did_not_open_and_a_canceled_caller_ends_no_other() -> None:
    async with sharing() as (pipe, ends):
        first = asyncio.ensure_future(pipe.connection.browser())
        (call,) = await ends.read(ends.browser_calls)
        ends.say({"id": call["id"], "error": {"message": "not yet"}})
        with pytest.raises(PlaywrightError, match="not yet"):
            await first
        canceled, kept = (asyncio.ensure_future(pipe.connection.browser()) for _ in range(2))
        (call,) = await ends.read(ends.browser_calls)
        canceled.cancel()
        await asyncio.wait([canceled])
        ends.say({"id": call["id"], "result": {"sessionId": "ROOT"}})
        assert (await kept).name == "ROOT"


async def test_a_long_message_passes_whole_in_both_directions() -> None:
    async with sharing() as (pipe, ends):
        session = await opened(pipe, ends)
        text = "x" * 3_000_000
        asked = asyncio.ensure_future(session.send("Page.long", {"text": text}))
        (call,) = await ends.read(ends.browser_calls)
        assert call["params"]["text"] == text
        answer = {"id": call["id"], "result": {"text": text}, "sessionId": "MINE"}
        await asyncio.to_thread(ends.say, answer)
        assert (await asked)["text"] == text


async def test_a_listener_that_fails_stops_no_other_one_and_is_told_of() -> None:
    failed: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, told: failed.append(told["exception"]))
    async with sharing() as (pipe, ends):
        session, events = await opened(pipe, ends), list[object]()
        session.on("Page.moved", lambda event: event["missing"])
        session.on("Page.moved", events.append)
        ends.say({"method": "Page.moved", "params": {}, "sessionId": "MINE"}, {"id": 1, "result": {}})
        assert await ends.read(ends.driver_answers) == [{"id": 1, "result": {}}]
        assert events == [{}] and isinstance(failed[0], KeyError)


async def test_callers_hear_that_their_page_is_gone_or_that_the_browser_is() -> None:
    async with sharing() as (pipe, ends):
        session, ended = await opened(pipe, ends), list[object]()
        session.on(ENDED, ended.append)
        asked = asyncio.ensure_future(session.send("Page.enable"))
        await ends.read(ends.browser_calls)
        detached = {"method": "Target.detachedFromTarget", "params": {"sessionId": "MINE"}, "sessionId": "ROOT"}
        ends.say(detached)
        await _gone(asked)
        await _gone(session.send("Page.enable"))
        assert ended == [{}] and not pipe.connection.lost
        root = await pipe.connection.browser()
        asked = asyncio.ensure_future(pipe.connection.call("Browser.getVersion"))
        await ends.read(ends.browser_calls)
        os.close(ends.browser_answers)
        await _gone(asked)
        assert pipe.connection.lost and root.ended
        await _gone(pipe.connection.call("Browser.getVersion"))
        assert await asyncio.to_thread(os.read, ends.driver_answers, 1) == b"", "the driver hears it, too"


async def _gone(asked: Awaitable[object]) -> None:
    async with soon(20):
        with pytest.raises(PlaywrightError, match="has been closed"):
            await asked


async def test_a_driver_that_ends_ends_its_browser() -> None:
    async with sharing() as (_, ends):
        os.close(ends.driver_calls)
        async with soon(20):
            assert await asyncio.to_thread(os.read, ends.browser_calls, 1) == b""


@pytest.mark.parametrize("depth", [1, 12])
async def test_a_starter_hands_the_pipe_of_its_program_over_however_long_the_path_is(
    depth: int, tmp_path: Path
) -> None:
    folder = tmp_path.joinpath(*["0123456789"] * depth)
    folder.mkdir(parents=True)
    handover = PipeHandover(folder)
    waiting = asyncio.create_task(handover.shared())
    program = plain_starter(Path(sys.executable), folder).with_pipe(handover.path)
    calls_in, calls = os.pipe()
    answers, answers_out = os.pipe()
    echo = "import os; data = os.read(3, 99); os.write(4, data.replace(b'ask', b'answer'))"
    high = f"os.dup2({calls_in}, 90), os.dup2({answers_out}, 91), os.dup2(90, 3), os.dup2(91, 4)"
    began = f"import os, sys; {high}; os.execv(sys.argv[1], sys.argv[1:])"
    child = await asyncio.to_thread(
        subprocess.Popen,
        [sys.executable, "-c", began, str(program.program), "-I", "-S", "-c", echo],
        pass_fds=(calls_in, answers_out),
        env={"PATH": os.environ["PATH"], **program.environment},
    )
    try:
        async with soon(20):
            pipe = await waiting
            assert not handover.path.exists()
            os.write(calls, b'{"id":1,"method":"ask"}\0')
            assert await asyncio.to_thread(os.read, answers, 99) == b'{"id":1,"method":"answer"}\0'
        pipe.close()
    finally:
        child.kill()
        await asyncio.to_thread(child.wait)
        for end in (calls_in, calls, answers, answers_out):
            os.close(end)


async def test_a_starter_that_says_nothing_is_an_error(tmp_path: Path) -> None:
    handover = PipeHandover(tmp_path)
    waiting = asyncio.create_task(handover.shared())
    with socket.socket(socket.AF_UNIX) as starter, fence.socket_address(str(handover.path)) as address:
        starter.connect(address)
    async with soon(20):
        with pytest.raises(ConnectionError, match="went away"):
            await waiting
