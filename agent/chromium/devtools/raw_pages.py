"""Pages that Playwright does not know, reached by our own client of the browser.

Playwright prepares every page for whatever may be done with it: it follows each request, keeps two worlds per frame,
and loads its own script library into each document. A page that is only read needs none of it, and by itself costs
Chromium a quarter less (docs/archive/decisions.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import NO_BYPASS
from shoal.agent.chromium.context_reset import close_quietly
from shoal.agent.chromium.wire.connection import Connection, Session


@dataclass(frozen=True, slots=True, eq=False)
class RawPage:
    """One page in a browser context of its own."""

    pages: RawPages
    root: Session  # the session with the browser itself
    session: Session
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
        return replace(self, session=await self.pages.attach(self.frame))

    async def end(self) -> None:
        """Ends the page and its context.

        Raises:
            playwright.async_api.Error: the browser is gone, or the context is.
        """
        await _dispose(self.root, self.context)
        self.session.end()


class RawPages:
    """Opens pages of one browser that Playwright does not know."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def root(self) -> Session:
        """The session with the browser itself.

        Raises:
            playwright.async_api.Error: the browser is gone.
        """
        return await self._connection.browser()

    async def attach(self, frame: str) -> Session:
        """A new session of the page with this id.

        Raises:
            playwright.async_api.Error: the browser is gone, or the page is.
        """
        return await self._connection.attach(frame)

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
            session = await self.attach(target)
            tree = (await session.send("Page.getFrameTree"))["frameTree"]
            await session.detach()
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
            session = await self.attach(frame)
        except BaseException:
            await asyncio.shield(close_quietly(_dispose(root, context)))
            raise
        return RawPage(self, root, session, context, frame)


def _frames(tree: dict[str, Any]) -> Iterator[str]:
    yield tree["frame"]["id"]
    for child in tree.get("childFrames", ()):
        yield from _frames(child)


async def _dispose(root: Session, context: str) -> None:
    await root.send("Target.disposeBrowserContext", {"browserContextId": context})
