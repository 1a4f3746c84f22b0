"""The isolated worlds in which Playwright resolves selectors, one per frame, reached over DevTools.

Only in that very world can a walk give ids that Playwright's clicks understand afterwards. Its name is Playwright's
own; that it is found at all is checked at every use.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from shoal.agent.chromium.devtools.page_errors import LONGEST, PageErrorLog, console_text, exception_text
from shoal.agent.chromium.wire.connection import Connection, Session, session_with
from shoal.agent.errors import BrowserError
from shoal.agent.observe.tree import WALKER
from shoal.agent.support.json_value import Json
from shoal.agent.support.page_names import function_by_names
from shoal.agent.support.printable import readable

_NAME = "__playwright_utility_world"
_MISSING = "shoalChanges is not defined"
# An element with that id is no property of the window itself.
_WALKER_IS_THERE = (
    f"if (!Object.getOwnPropertyDescriptor(globalThis, 'shoalChanges')?.value) throw new ReferenceError('{_MISSING}');"
)


@dataclass(frozen=True, slots=True)
class World:
    """One frame's world."""

    session: Session
    context: int  # DevTools' execution context id within the session, which may become another's
    document: str  # its unique id
    frame: str  # DevTools' frame id

    async def call(self, expression: str) -> Json:
        """Return what `expression` gives, as JSON; the walker is put there first where it is missing."""
        asked = f"{_WALKER_IS_THERE}{expression}" if "shoal" in expression else expression
        answer = await self._evaluate(asked)
        if "exceptionDetails" in answer and _MISSING in str(answer["exceptionDetails"]):
            await self._evaluate(WALKER + ";0")
            answer = await self._evaluate(asked)
        return _value(answer)

    async def _evaluate(self, expression: str) -> dict[str, Any]:
        asked = {"expression": expression, "uniqueContextId": self.document, "returnByValue": True}
        answer: dict[str, Any] = await self.session.send("Runtime.evaluate", asked)
        return answer

    async def run(self, function: str, arg: Json) -> Json:
        """Return what the function gives for `arg`."""
        asked = {
            "functionDeclaration": function_by_names(function),
            "uniqueContextId": self.document,
            "arguments": [{"value": arg}],
            "returnByValue": True,
        }
        return _value(await self.session.send("Runtime.callFunctionOn", asked))

    async def handle(self, expression: str) -> str | None:
        """DevTools' object id of what `expression` gives; None for null."""
        asked = {"expression": expression, "uniqueContextId": self.document, "objectGroup": "shoal"}
        answer = await self.session.send("Runtime.evaluate", asked)
        handle = answer["result"].get("objectId")
        return str(handle) if handle else None


def _value(answer: dict[str, Any]) -> Json:
    if "exceptionDetails" in answer:
        description = answer["exceptionDetails"].get("exception", {}).get("description", "no reason given")
        raise BrowserError(f"the walker failed: {description[:300]}")
    return answer["result"].get("value")


class Worlds:
    """All worlds of one tab, frames of other processes included."""

    def __init__(self, page: Page, connection: Connection, session: Session, errors: PageErrorLog) -> None:
        self._page = page
        self._connection = connection
        self._main = session
        self._sessions: dict[Session, dict[str, tuple[int, str]]] = {}  # per session: by frame id
        self._foreign: dict[Frame, Session] = {}  # sessions of frames that live in other processes
        self._errors = errors
        self.console: list[str] = []  # errors that the page's scripts wrote
        self._came = asyncio.Event()  # a world did

    async def open(self) -> None:
        """Begins to follow the main session."""
        await self._follow(self._main)

    async def _follow(self, session: Session) -> None:
        contexts: dict[str, tuple[int, str]] = {}
        self._sessions[session] = contexts

        def created(event: dict[str, Any]) -> None:
            context = event["context"]
            if context["name"].startswith(_NAME):
                contexts[context["auxData"]["frameId"]] = context["id"], context["uniqueId"]
                self._came.set()

        def destroyed(event: dict[str, Any]) -> None:
            for frame, (number, _) in tuple(contexts.items()):
                if number == event["executionContextId"]:
                    del contexts[frame]

        session.on("Runtime.executionContextCreated", created)
        session.on("Runtime.executionContextDestroyed", destroyed)
        session.on("Runtime.executionContextsCleared", lambda _: contexts.clear())
        session.on("Runtime.exceptionThrown", lambda event: self._note(exception_text(event)))
        session.on("Runtime.consoleAPICalled", lambda event: self._note(console_text(event)))
        await asyncio.gather(self._errors.follow(session), session.send("Runtime.enable"))

    def _note(self, line: str) -> None:
        if line and len(self.console) < 50:
            self.console.append(readable(line[:LONGEST]))

    def take_console(self) -> tuple[str, ...]:
        """Errors since the last call."""
        lines, self.console = tuple(self.console), []
        return lines

    def get(self, frame: str) -> World | None:
        """The world of the frame with DevTools' id `frame`."""
        for session, contexts in self._sessions.items():
            if frame in contexts:
                return World(session, *contexts[frame], frame)
        return None

    async def comes(self, frame: str, *, within_s: float) -> World | None:
        """The same, once it is there; None when it did not come in time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while self.get(frame) is None:
                    self._came.clear()
                    await self._came.wait()
        return self.get(frame)

    def of_session(self, session: Session) -> list[World]:
        """The worlds of one process of the page."""
        return [World(session, *context, frame) for frame, context in self._sessions.get(session, {}).items()]

    def inner(self, main_frame: str) -> list[World]:
        """The worlds of all frames but the main one."""
        return [
            World(session, *context, frame)
            for session, contexts in self._sessions.items()
            for frame, context in contexts.items()
            if frame != main_frame
        ]

    @property
    def sessions(self) -> tuple[Session, ...]:
        """One per process of the page."""
        return tuple(self._sessions)

    async def reach_all(self) -> None:
        """Opens sessions for frames that moved to processes of their own since the last call, and drops dead ones."""
        frames = self._page.frames
        for frame in [frame for frame in self._foreign if frame.is_detached()]:
            self._sessions.pop(self._foreign.pop(frame), None)
        known = sum(len(contexts) for contexts in self._sessions.values())
        if len(frames) <= max(known, 1):
            return
        await asyncio.gather(*(self._reach(frame) for frame in frames[1:]))

    async def _reach(self, frame: Frame) -> None:
        old = self._foreign.get(frame)
        if old is not None and self._sessions.get(old):
            return
        try:
            session = await session_with(self._connection, frame)
        except PlaywrightError:
            return  # it lives in its parent's process, whose session covers it
        if old is not None:
            self._sessions.pop(old, None)
        self._foreign[frame] = session
        await self._follow(session)
