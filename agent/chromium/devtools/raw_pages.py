"""Pages that Playwright does not know, reached through the pipe that it holds to the browser.

Playwright prepares every page for whatever may be done with it: it follows each request, keeps two worlds per frame,
and loads its own script library into each document. A page that is only read needs none of it, and by itself costs
Chromium a quarter less (docs/archive/decisions.md). Its messages travel inside those of one session with the browser
itself (DevTools protocol, `Target.sendMessageToTarget`), so that no port has to be opened for them.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import orjson
from playwright.async_api import Browser as PlaywrightBrowser
from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import NO_BYPASS
from shoal.agent.chromium.context_reset import close_quietly

GONE = "Target page, context or browser has been closed"
ENDED = "ended"
"""The name of a session's last event, which is none of DevTools."""


class RawSession:
    """A DevTools session of one page, with the calls of Playwright's `CDPSession` that we use."""

    def __init__(self, root: CDPSession, name: str) -> None:
        self._root = root
        self.name = name  # DevTools' id
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._heard: dict[str, list[Callable[..., Any]]] = {}
        self.ended = False

    async def send(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        if self.ended:
            raise PlaywrightError(GONE)
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        message = orjson.dumps({"id": number, "method": method, "params": params or {}}).decode()
        try:
            await self._root.send("Target.sendMessageToTarget", {"sessionId": self.name, "message": message})
            response = await answer
        finally:
            self._answers.pop(number, None)
            if not answer.cancel() and not answer.cancelled():
                answer.exception()  # heard of here, where the message itself could not be sent
        if (error := response.get("error")) is not None:
            raise PlaywrightError(f"{method}: {error.get('message', error)}")
        result: dict[str, Any] = response["result"]
        return result

    def on(self, event: str, f: Callable[..., Any]) -> None:
        self._heard.setdefault(event, []).append(f)

    def hear(self, text: str) -> None:
        """One message from the page."""
        message = json.loads(text)  # which, unlike faster ones, takes halves of characters as JavaScript has them
        if "id" in message:
            answer = self._answers.get(message["id"])
            if answer is not None and not answer.done():
                answer.set_result(message)
            return
        for f in self._heard.get(message["method"], ()):
            f(message["params"])

    def end(self) -> None:
        """The page is gone: each caller that waits for an answer gets the error."""
        if self.ended:
            return
        self.ended = True
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(PlaywrightError(GONE))
        for f in self._heard.get(ENDED, ()):
            f({})


@dataclass(frozen=True, slots=True, eq=False)
class RawPage:
    """One page in a browser context of its own."""

    pages: RawPages
    root: CDPSession  # the session with the browser itself
    session: RawSession
    context: str  # DevTools' id of the browser context
    frame: str  # DevTools' id of the main frame, which is the page's as well

    async def cookies(self) -> list[dict[str, Any]]:
        """All cookies of its context, as DevTools tells them.

        Raises:
            playwright.async_api.Error: the browser is gone.
        """
        response = await self.root.send("Storage.getCookies", {"browserContextId": self.context})
        cookies: list[dict[str, Any]] = response["cookies"]
        return cookies

    async def forget_permissions(self) -> None:
        """No site has a permission in its context that it did not begin with.

        Raises:
            playwright.async_api.Error: the browser is gone.
        """
        await self.root.send("Browser.resetPermissions", {"browserContextId": self.context})

    async def again(self) -> RawPage:
        """The same page behind a new session, beside this one.

        Raises:
            playwright.async_api.Error: the browser is gone, or the page is.
        """
        return replace(self, session=await self.pages.attach(self.root, self.frame))

    async def detach(self) -> None:
        """Ends the session, and with it what was set through it: overrides, bindings, scripts, blocking.

        Raises:
            playwright.async_api.Error: the browser is gone, or the page is.
        """
        await self.root.send("Target.detachFromTarget", {"sessionId": self.session.name})

    async def end(self) -> None:
        """Ends the page and its context.

        Raises:
            playwright.async_api.Error: the browser is gone, or the context is.
        """
        await _dispose(self.root, self.context)
        self.session.end()


class RawPages:
    """Opens pages of one browser that Playwright does not know."""

    def __init__(self, browser: PlaywrightBrowser) -> None:
        self._browser = browser
        self._opening: asyncio.Task[CDPSession] | None = None
        self._sessions: dict[str, RawSession] = {}
        browser.on("disconnected", self._on_disconnected)

    async def root(self) -> CDPSession:
        """The session with the browser itself, opened once.

        Raises:
            playwright.async_api.Error: the browser is gone.
        """
        if self._opening is None or (self._opening.done() and self._opening.exception() is not None):
            self._opening = asyncio.ensure_future(self._open_root())
        return await asyncio.shield(self._opening)

    async def _open_root(self) -> CDPSession:
        root = await self._browser.new_browser_cdp_session()
        root.on("Target.receivedMessageFromTarget", self._on_message)
        root.on("Target.detachedFromTarget", self._on_detached)
        return root

    def _on_message(self, event: dict[str, Any]) -> None:
        session = self._sessions.get(event["sessionId"])
        if session is not None:
            session.hear(event["message"])

    def _on_detached(self, event: dict[str, Any]) -> None:
        session = self._sessions.pop(event["sessionId"], None)
        if session is not None:
            session.end()

    def _on_disconnected(self, _: object) -> None:
        for name in tuple(self._sessions):
            self._on_detached({"sessionId": name})

    async def version(self) -> str:
        """Return what browser it is.

        Raises:
            playwright.async_api.Error: the browser is gone.
        """
        return str((await (await self.root()).send("Browser.getVersion"))["product"])

    async def targets(self) -> list[dict[str, Any]]:
        """All pages of the browser, and frames in processes of their own, as DevTools tells them.

        Raises:
            playwright.async_api.Error: the browser is gone.
        """
        kinds = [{"type": "page"}, {"type": "iframe"}]
        response = await (await self.root()).send("Target.getTargets", {"filter": kinds})
        targets: list[dict[str, Any]] = response["targetInfos"]
        return targets

    async def frames(self, target: str) -> frozenset[str]:
        """DevTools' ids of all frames of a target; none where it is gone."""
        try:
            root = await self.root()
            session = await self.attach(root, target)
            tree = (await session.send("Page.getFrameTree"))["frameTree"]
            await root.send("Target.detachFromTarget", {"sessionId": session.name})
        except PlaywrightError:
            return frozenset()
        return frozenset(_frames(tree))

    async def open(self, proxy: str | None = None) -> RawPage:
        """An empty page in a new browser context, with a way out of its own by `proxy`; downloads are refused there.

        Raises:
            playwright.async_api.Error: the browser is gone.
        """
        root = await self.root()
        way = {"proxyServer": proxy, "proxyBypassList": NO_BYPASS} if proxy else {}
        made = await root.send("Target.createBrowserContext", {"disposeOnDetach": True, **way})
        context = made["browserContextId"]
        try:
            blank = {"url": "about:blank", "browserContextId": context}
            frame = (await root.send("Target.createTarget", blank))["targetId"]
            session = await self.attach(root, frame)
        except BaseException:
            await asyncio.shield(close_quietly(_dispose(root, context)))
            raise
        return RawPage(self, root, session, context, frame)

    async def attach(self, root: CDPSession, frame: str) -> RawSession:
        """A new session of the page with this id.

        Raises:
            playwright.async_api.Error: the browser is gone, or the page is.
        """
        name = (await root.send("Target.attachToTarget", {"targetId": frame, "flatten": False}))["sessionId"]
        session = self._sessions[name] = RawSession(root, name)
        return session


def _frames(tree: dict[str, Any]) -> Iterator[str]:
    yield tree["frame"]["id"]
    for child in tree.get("childFrames", ()):
        yield from _frames(child)


async def _dispose(root: CDPSession, context: str) -> None:
    await root.send("Target.disposeBrowserContext", {"browserContextId": context})
