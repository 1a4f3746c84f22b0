"""A DevTools client: sessions with a browser and its pages over one connection, which another client may share.

The protocol numbers calls and names sessions. Numbers from `FIRST_CALL` on and the sessions that are attached here are
this client's; all other messages are the other one's.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any

import orjson
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

GONE = "Target page, context or browser has been closed"
ENDED = "ended"
"""The name of a session's last event, which is none of DevTools."""
FIRST_CALL = 1 << 30
"""The least number of a call; Playwright counts its own from 1."""
_ANSWER = b'{"id":'
_SESSION = b',"sessionId":"'
_END = b'"}'


class Session:
    """A DevTools session with a page, or with the browser itself."""

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection = connection
        self.name = name  # DevTools' id
        self._heard: dict[str, list[Callable[..., Any]]] = {}
        self.ended = False

    async def send(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The answer to one command.

        Raises:
            playwright.async_api.Error: Chromium refused it, or the page is gone.
        """
        if self.ended:
            raise PlaywrightError(GONE)
        return await self._connection.call(method, params, self.name)

    async def detach(self) -> None:
        """Ends the session, and with it what was set through it: overrides, bindings, scripts, blocking.

        Raises:
            playwright.async_api.Error: the browser is gone, or the page is.
        """
        await self._connection.detach(self.name)

    def on(self, event: str, f: Callable[..., Any]) -> None:
        """Calls `f` with the parameters of each such event."""
        self._heard.setdefault(event, []).append(f)

    def hear(self, event: str, params: dict[str, Any]) -> None:
        """Tell those who wait for it of an event."""
        for f in self._heard.get(event, ()):
            try:
                f(params)
            except Exception as error:  # noqa: BLE001  of one listener: the pipe and the others go on
                failure = {"message": f"a listener to {event} failed", "exception": error}
                asyncio.get_running_loop().call_exception_handler(failure)

    def end(self) -> None:
        """The page is gone."""
        if not self.ended:
            self.ended = True
            self.hear(ENDED, {})


async def session_with(connection: Connection, page: Page | Frame) -> Session:
    """A session of our own with a page that Playwright knows, or with a frame in a process of its own.

    Raises:
        playwright.async_api.Error: it is gone, or the frame is in its page's process.
    """
    context = page.context if isinstance(page, Page) else page.page.context
    asking = await context.new_cdp_session(page)  # Playwright tells DevTools' id in no other way
    try:
        target = (await asking.send("Target.getTargetInfo"))["targetInfo"]["targetId"]
        return await connection.attach(target)
    finally:
        await asking.detach()


class Connection:
    """The calls and sessions of this client.

    Args:
        write: sends one message.
    """

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._numbers = itertools.count(FIRST_CALL)
        self._answers: dict[int, tuple[str, asyncio.Future[dict[str, Any]]]] = {}  # by number, with the session
        self._sessions: dict[str, Session] = {}
        self._browser: asyncio.Task[Session] | None = None
        self.lost = False  # the browser is gone

    async def browser(self) -> Session:
        """The session with the browser itself, opened once.

        Raises:
            playwright.async_api.Error: the browser is gone.
        """
        if self._browser is None or (self._browser.done() and self._browser.exception() is not None):
            self._browser = asyncio.ensure_future(self._opened_browser())
        return await asyncio.shield(self._browser)

    async def _opened_browser(self) -> Session:
        session = self._sessions[(await self.call("Target.attachToBrowserTarget"))["sessionId"]]
        session.on("Target.detachedFromTarget", lambda event: self._end(event["sessionId"]))
        return session

    async def attach(self, target: str) -> Session:
        """A new session with the page of this id.

        Raises:
            playwright.async_api.Error: the browser is gone, or the page is.
        """
        asked = {"targetId": target, "flatten": True}
        name = (await (await self.browser()).send("Target.attachToTarget", asked))["sessionId"]
        return self._sessions.get(name) or self._ended(name)

    async def detach(self, name: str) -> None:
        """Ends a session, as `Session.detach` does."""
        await (await self.browser()).send("Target.detachFromTarget", {"sessionId": name})

    def _ended(self, name: str) -> Session:
        """A session that ended before anybody heard of it."""
        session = Session(self, name)
        session.end()
        return session

    async def call(self, method: str, params: dict[str, Any] | None = None, session: str = "") -> dict[str, Any]:
        """The answer to one command, to a session or to the connection.

        Raises:
            playwright.async_api.Error: Chromium refused it, or its page or the browser is gone.
        """
        if self.lost:
            raise PlaywrightError(GONE)
        number = next(self._numbers)
        message = {
            "id": number,
            "method": method,
            "params": params or {},
            **({"sessionId": session} if session else {}),
        }
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[number] = session, answer
        try:
            self._write(_encoded(message))
            response = await answer
        finally:
            self._answers.pop(number, None)
        if (error := response.get("error")) is not None:
            raise PlaywrightError(f"{method}: {error.get('message', error)}")
        result: dict[str, Any] = response["result"]
        return result

    # --- what the browser says ------------------------------------------------------------------------

    def takes(self, message: bytes) -> bool:
        """Return whether a message of the browser is for this client."""
        if message.startswith(_ANSWER):
            return int(message[len(_ANSWER) : message.index(b",")]) >= FIRST_CALL
        at = message.rfind(_SESSION) if message.endswith(_END) else -1  # the protocol's own fields come last
        return at >= 0 and message[at + len(_SESSION) : -len(_END)].decode() in self._sessions

    def hear(self, message: bytes) -> None:
        """Handle one message of the browser for this client."""
        decoded = _decoded(message)
        if "id" not in decoded:
            session = self._sessions.get(decoded["sessionId"])
            if session is not None:
                session.hear(decoded["method"], decoded["params"])
            return
        opened = decoded.get("result", {}).get("sessionId")
        if opened is not None:  # at once: its first event may stand behind the answer
            self._sessions[opened] = Session(self, opened)
        _, answer = self._answers.get(decoded["id"], ("", None))
        if answer is not None and not answer.done():
            answer.set_result(decoded)

    def _end(self, name: str) -> None:
        """A session is over: each caller that waits for an answer of it gets the error."""
        session = self._sessions.pop(name, None)
        for of, answer in list(self._answers.values()):
            if of == name and not answer.done():
                answer.set_exception(PlaywrightError(GONE))
        if session is not None:
            session.end()

    def lose(self) -> None:
        """The browser is gone."""
        self.lost = True
        for _, answer in list(self._answers.values()):
            if not answer.done():
                answer.set_exception(PlaywrightError(GONE))
        for name in tuple(self._sessions):
            self._end(name)


def _encoded(message: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(message)
    except TypeError:  # halves of characters, as JavaScript has them
        return json.dumps(message).encode()


def _decoded(message: bytes) -> dict[str, Any]:
    decoded: dict[str, Any]
    try:
        decoded = orjson.loads(message)
    except orjson.JSONDecodeError:  # likewise
        decoded = json.loads(message)
    return decoded
