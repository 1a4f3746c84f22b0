"""One tab: its page, its DevTools session, and the world beside the page's in which scripts read."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from shoal.agent.browser import ObserveOptions
from shoal.agent.chromium.acting.downloads import Downloads
from shoal.agent.chromium.devtools.fetched_json import FetchWatch
from shoal.agent.chromium.devtools.fetching_sites import FetchingSites
from shoal.agent.chromium.devtools.isolated_reader import LOST, IsolatedReader
from shoal.agent.chromium.devtools.page_errors import PageErrorLog
from shoal.agent.chromium.devtools.page_walk import PageWalk
from shoal.agent.chromium.devtools.traffic import NetworkTraffic
from shoal.agent.chromium.devtools.worlds import World, Worlds
from shoal.agent.chromium.navigation_state import NavigationState
from shoal.agent.chromium.wire.connection import Connection, Session, session_with
from shoal.agent.errors import BrowserError
from shoal.agent.observe.tree import FrameWalk
from shoal.agent.support.json_value import Json
from shoal.agent.support.web_addresses import is_web

_TRIES = 5
_READY_S = 2.0
"""Seconds after its document within which a world may come."""

# Milliseconds until the document can have been quiet for so many, 0 once it has. Lives in the isolated world, so that a
# page cannot see that it is watched. Waits for nothing itself: where a document may run no scripts, no timer ever ends.
_DOM_QUIET = """
(quietMs) => {
  const watch = globalThis.shoalWatch ??= (() => {
    const state = { last: performance.now(), loaded: false };
    new MutationObserver(() => { state.last = performance.now(); }).observe(
      document, { subtree: true, childList: true, attributes: true, characterData: true });
    return state;
  })();
  if (document.readyState !== 'complete') return Math.min(quietMs, 50) || 1;
  if (!watch.loaded) { watch.loaded = true; watch.last = performance.now(); }
  return Math.max(0, watch.last + quietMs - performance.now());
}
"""


async def document_quiet(read: Callable[[str, Json], Awaitable[Json]], quiet_s: float) -> None:
    """Returns once the document that `read` runs functions in has loaded and not changed for `quiet_s`."""
    while True:
        left_ms = float(await read(_DOM_QUIET, quiet_s * 1000))
        if left_ms <= 0:
            return
        await asyncio.sleep(left_ms / 1000)


class Tab:
    """A page and what is attached to it. Attaches nothing before it is needed: most sessions only open and read."""

    def __init__(self, page: Page, connection: Connection) -> None:
        self.page = page
        self.connection = connection
        self.files: Downloads | None = None  # told how this tab's downloads go
        self.errors = PageErrorLog()  # told what its console and network tell
        self.on_called: Callable[[], None] = lambda: None  # a page, this one or another, sent the tab somewhere
        self.on_crashed: Callable[[], None] = lambda: None  # its renderer ended
        self._crash = asyncio.Event()
        self._session: asyncio.Task[Session] | None = None
        self._frame_id = ""
        self._reader: IsolatedReader | None = None
        self._traffic: NetworkTraffic | None = None
        self.fetches: FetchWatch | None = None  # what its scripts fetch, where that is watched
        self._navigation_state: NavigationState | None = None
        self._navigation_begins = asyncio.Lock()
        self._worlds: Worlds | None = None
        self._look: PageWalk | None = None
        self._acted_at = 0.0  # monotonic: when the last action on it ended
        page.on("crash", self._on_crash)

    async def renewed(self) -> Tab:
        """The same page for another session, with nothing remembered, nothing followed and nothing set."""
        self.page.remove_listener("crash", self._on_crash)
        tab = Tab(self.page, self.connection)
        tab._frame_id = self._frame_id
        if self._session is not None:  # with it goes what was set through it: overrides, bindings, scripts, blocking
            await (await self._session).detach()
        return tab

    def _on_crash(self, _: Page) -> None:
        self._crash.set()
        self.on_crashed()

    def _on_download_begin(self, event: dict[str, Any]) -> None:
        if self.files is not None:
            self.files.on_begin(event)

    def _on_download_progress(self, event: dict[str, Any]) -> None:
        if self.files is not None:
            self.files.on_progress(event)

    @property
    def crashed(self) -> bool:
        """Return whether the page's renderer ended."""
        return self._crash.is_set()

    async def crashes(self, *, within_s: float) -> None:
        """Returns once the crash of the page is known, or after `within_s`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._crash.wait()

    async def session(self) -> Session:
        """The DevTools session of this tab, opened once."""
        if self._session is None or (self._session.done() and self._session.exception() is not None):
            self._session = asyncio.ensure_future(session_with(self.connection, self.page))
        return await asyncio.shield(self._session)

    async def frame_id(self) -> str:
        """DevTools' id of the main frame; it stays the same through all navigations."""
        if not self._frame_id:
            tree = await (await self.session()).send("Page.getFrameTree")
            self._frame_id = tree["frameTree"]["frame"]["id"]
        return self._frame_id

    async def unreachable(self) -> str:
        """The address whose failed load the tab shows; "" where it shows a document."""
        tree = await (await self.session()).send("Page.getFrameTree")
        return str(tree["frameTree"]["frame"].get("unreachableUrl", ""))

    async def traffic(self) -> NetworkTraffic:
        """The watch over this tab's requests, which sees those that start from now on."""
        if self._traffic is None:
            self._traffic = NetworkTraffic(await self.frame_id())
            await self._traffic.follow(await self.session(), enabled=self.fetches is not None)
        return self._traffic

    def open_data(self) -> tuple[str, ...]:
        """Addresses from which data or scripts are under way, as far as requests are watched."""
        return self._traffic.open_data() if self._traffic is not None else ()

    async def leave_for(self, url: str, fetching: FetchingSites, *, always_watched: bool) -> None:
        """Has to come before the page at `url` is opened: its scripts are followed where they may fetch something."""
        self.tell_fetching(fetching)
        if self.fetches is None and (always_watched or fetching.watches(url)):
            fetches = FetchWatch(await self.frame_id())
            await fetches.follow(await self.session())
            self.fetches = fetches

    def tell_fetching(self, fetching: FetchingSites) -> None:
        """Notes whether the page that is left now fetched anything."""
        if self.fetches is not None and not self.page.is_closed() and is_web(self.page.url):
            fetching.record_page(self.page.url, fetched=self.fetches.has_fetched)

    async def worlds(self) -> Worlds:
        """The worlds of this tab's frames, followed from the first call on."""
        if self._worlds is None:
            worlds = Worlds(self.page, self.connection, await self.session(), self.errors)
            await worlds.open()
            self._worlds = worlds
        return self._worlds

    async def look(self) -> PageWalk:
        """Return what this tab remembers about its elements."""
        if self._look is None:
            self._look = PageWalk(await self.worlds())
        return self._look

    async def navigation(self) -> NavigationState:
        """The watch over this tab's navigations, which sees those that begin from now on."""
        async with self._navigation_begins:
            if self._navigation_state is None:
                navigation = NavigationState(await self.frame_id(), lambda: self.on_called())
                session = await self.session()
                session.on("Page.downloadWillBegin", self._on_download_begin)
                session.on("Page.downloadProgress", self._on_download_progress)
                await navigation.follow(session)
                self._navigation_state = navigation
        return self._navigation_state

    async def walk(self, options: ObserveOptions) -> FrameWalk:
        """All frames as they are now; tried again when the page navigates meanwhile."""
        look = await self.look()
        for attempt in range(_TRIES):
            try:
                return await look.whole(await self.frame_id(), options)
            except (PlaywrightError, BrowserError) as error:
                lost = isinstance(error, BrowserError) or any(saying in error.message for saying in LOST)
                if attempt + 1 == _TRIES or not lost:
                    raise
                await self.page.wait_for_load_state("domcontentloaded")
        raise AssertionError("unreachable: the last try returns or raises")

    async def main_world(self) -> World:
        """The world of the main frame, waited for where its document has only just come."""
        worlds, frame = await self.worlds(), await self.frame_id()
        world = worlds.get(frame) or await worlds.comes(frame, within_s=_READY_S)
        if world is None:
            raise BrowserError("the page's document is not ready")
        return world

    async def read(self, script: str, arg: Json = None) -> Json:
        """Return what the function `script` returns for `arg`,
        run beside the page's own scripts.

        Raises:
            ActionError: the script threw, or gave what JSON cannot express.
        """
        if self._reader is None:
            self._reader = IsolatedReader(await self.session(), await self.frame_id())
        return await self._reader.read(script, arg)

    def acted(self) -> None:
        """Says that an action on this page ended just now; what it began may show later."""
        self._acted_at = time.monotonic()

    async def settled(self, quiet_s: float) -> None:
        """Returns once neither requests nor changes in any frame were seen for `quiet_s`, nor an action."""
        traffic = await self.traffic()
        if self._worlds is not None:
            await self._worlds.reach_all()
            for session in self._worlds.sessions:  # frames of other sites ask their servers by themselves
                await traffic.follow(session)
            traffic.keep_to(self._worlds.sessions)
        while True:
            await asyncio.gather(traffic.quiet(quiet_s), self._documents_quiet(quiet_s))
            left = self._acted_at + quiet_s - time.monotonic()
            if left > 0:  # a page that was quiet before the action is no proof of quiet after it
                await asyncio.sleep(left)
            elif traffic.quiet_for() >= quiet_s:
                return

    async def _documents_quiet(self, quiet_s: float) -> None:
        """Returns once the main document, and those of frames that were looked at, have not changed for `quiet_s`."""
        inner = self._worlds.inner(await self.frame_id()) if self._worlds is not None else []
        await asyncio.gather(document_quiet(self.read, quiet_s), *(_frame_quiet(world, quiet_s) for world in inner))


async def _frame_quiet(world: World, quiet_s: float) -> None:
    """The same of a frame, which may go away meanwhile."""
    with contextlib.suppress(PlaywrightError):
        await document_quiet(world.run, quiet_s)
