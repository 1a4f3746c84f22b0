"""One Chromium process."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Coroutine, Hashable
from pathlib import Path
from typing import Any, TypeVar

from playwright.async_api import Browser as PlaywrightBrowser
from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import NO_BYPASS, BrowserHealth, Context, ContextOptions
from shoal.agent.chromium.acting.acting_context import ActingContext
from shoal.agent.chromium.acting.raw_traces import RawTraces
from shoal.agent.chromium.acting.reach.form_guard import FormGuard
from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.chromium.context_pool import ContextPool, SpareContext, empty
from shoal.agent.chromium.context_reset import close_quietly
from shoal.agent.chromium.devtools.fetching_sites import FetchingSites
from shoal.agent.chromium.devtools.raw_pages import RawPages
from shoal.agent.chromium.devtools.read_page import ReadPage, open_read_page
from shoal.agent.chromium.devtools.reading_context import ReadingContext
from shoal.agent.chromium.process.driver import Driver, forget_driver
from shoal.agent.chromium.process.page_processes import PageProcesses
from shoal.agent.chromium.process.process_tree import ProcessTree
from shoal.agent.chromium.wire.shared_pipe import SharedPipe
from shoal.agent.errors import BrowserError, BrowserGone
from shoal.agent.spec import BrowserSpec, Viewport

_CONTEXT_S = 20.0
"""A browser that needs longer for a new context does not answer any more."""
_CRASH_NOTE_S = 10.0
"""A page that crashes later than that after one was ended has crashed by itself."""
_NOWHERE = "http://nowhere.invalid/"
"""An address that no request for is let out."""
_CLOSE_S = 5.0
"""A browser that needs longer to end is killed."""


_Opened = TypeVar("_Opened")


class ChromiumBrowser:
    """A `Browser` on Playwright's."""

    def __init__(
        self,
        browser: PlaywrightBrowser,
        pipe: SharedPipe,
        driver: Driver,
        processes: ProcessTree,
        *,
        temp: Path,
        window: Viewport,
    ) -> None:
        self._browser = browser
        self._pipe = pipe
        self._driver = driver
        self._processes = processes
        self._page_processes = PageProcesses(processes)
        self.folder = temp  # its own, which it may read whatever else it may
        self.traces = RawTraces(temp)
        self._window = window
        self._contexts: set[Context] = set()
        self._shelf: ContextPool[SpareContext] = ContextPool()
        self._pages = RawPages(pipe.connection)
        self.form_guard = FormGuard(self._pages)
        self._bare: ContextPool[ReadPage] = ContextPool()
        self.fetching = FetchingSites()
        self._started_at = time.time()
        self._sessions = 0
        self._accept = ""  # the header of its navigations, once it is known
        self._gone = asyncio.Event()
        self._closed = False
        browser.on("disconnected", lambda _: self._gone.set())

    @property
    def alive(self) -> bool:
        """Return whether the process is there and connected, as far as can be told without asking it."""
        # A process that ends closes its pipe. Looking for it in the process table took an eighth of a page's Python.
        return self._browser.is_connected() and not self._gone.is_set() and not self._pipe.connection.lost

    async def ended(self, *, within_s: float) -> bool:
        """Return whether the process is known to be gone, or becomes so within `within_s`."""
        if self.alive:
            try:
                async with asyncio.timeout(within_s):
                    await self._gone.wait()
            except TimeoutError:
                pass
        return not self.alive

    async def answers(self, *, within_s: float) -> bool:
        """Return whether the browser itself, whatever its pages do, says something within that time."""
        try:
            async with asyncio.timeout(within_s):
                await self._pages.version()
        except (PlaywrightError, TimeoutError):
            return False
        return True

    async def new_context(self, options: ContextOptions = ContextOptions()) -> Context:
        context = await self._in_time(self._reading(options) if self._suits_reading(options) else self._acting(options))
        self._sessions += 1
        return context

    async def _in_time(self, opening: Coroutine[Any, Any, _Opened]) -> _Opened:
        """Return what opening a context gives.

        Raises:
            BrowserGone: the process ended, or does not answer.
            BrowserError: it refuses such a context.
        """
        try:
            async with asyncio.timeout(_CONTEXT_S):
                return await opening
        except TimeoutError as error:
            raise BrowserGone("the browser did not open a new context in time") from error
        except PlaywrightError as error:
            if not self.alive or "closed" in error.message:
                raise BrowserGone() from error
            raise BrowserError(f"the browser refused this context: {error.message}") from error

    async def navigation_accept(self) -> str:
        if not self._accept:
            self._accept = await self._in_time(self._sent_accept())
        return self._accept

    async def _sent_accept(self) -> str:
        """The header Accept of a navigation that is answered before it leaves the browser."""
        context = await self._browser.new_context()
        try:
            page = await context.new_page()
            await page.route("**/*", lambda route: route.fulfill(body=""))
            async with page.expect_request("**/*") as asked:
                await page.goto(_NOWHERE)
            return (await asked.value).headers["accept"]
        finally:
            await asyncio.shield(close_quietly(context.close()))

    def _suits_reading(self, options: ContextOptions) -> bool:
        """Return whether a page past Playwright looks as wanted:
        as the browser's own window does, with nothing stored.
        """
        plain = BrowserSpec(viewport=self._window)
        return (
            options.reading
            and not options.trace
            and not options.recording
            and not options.storage_state
            # Neither changes how a page looks, and reading contexts answer dialogs, too.
            and options.browser.model_copy(update={"isolation": "reset", "dialogs": "accept"}) == plain
        )

    async def _reading(self, options: ContextOptions) -> Context:
        page = self._bare.take(self._key(options)) if options.reuse is not None else None
        context = ReadingContext(self, page or await open_read_page(self._pages, options.proxy), options)
        self._contexts.add(context)
        return context

    async def keep(self, options: ContextOptions, page: ReadPage) -> None:
        """Keeps an emptied page for the next session that gives the same key."""
        if self._closed:
            await page.end()
        else:
            self._bare.put(self._key(options), page)

    def forget(self, context: Context) -> None:
        """`context` is closed."""
        self._contexts.discard(context)

    async def _acting(self, options: ContextOptions) -> Context:
        spare = await self._spare(options) or await self._fresh(options)
        context = ActingContext(self, spare.context, spare.tab, self._driver, options)
        self._contexts.add(context)
        if options.browser.block or options.recording:
            try:
                if options.browser.block:
                    await context.block(options.browser.block)
                if options.recording:
                    await context.record()
            except BaseException:
                await asyncio.shield(context.close())
                raise
        return context

    async def _fresh(self, options: ContextOptions) -> SpareContext:
        context = await self._browser.new_context(**self._settings(options))
        try:
            if options.trace:
                await self.traces.begin(context, options)
            return SpareContext(context, Tab(await context.new_page(), self._pipe.connection))
        except BaseException:
            await asyncio.shield(self.traces.give_up(context))
            await asyncio.shield(close_quietly(context.close()))
            await asyncio.shield(self.traces.remove(context))
            raise

    async def _spare(self, options: ContextOptions) -> SpareContext | None:
        """An emptied context that looks as wanted, in the state that is wanted; None when a new one is needed."""
        state = options.storage_state or {}
        made_for_one = options.reuse is None or options.trace or options.recording
        if made_for_one or state.get("origins"):  # storage needs an open page of each origin
            return None
        spare = self._shelf.take(self._key(options))
        if spare is not None and state.get("cookies"):
            try:
                await spare.context.add_cookies(state["cookies"])
            except PlaywrightError:  # it died while it waited; cookies that are wrong are refused by a new context too
                await spare.end()
                return None
        return spare

    @staticmethod
    def _key(options: ContextOptions) -> tuple[Hashable, ...]:
        return options.reuse, options.reuse_site, options.proxy, options.browser.model_dump_json()

    async def take_back(self, context: ActingContext, not_reusable: str) -> None:
        """A session is done with `context`: it is emptied for the next one, or closed where it is `not_reusable`."""
        self._contexts.discard(context)
        spare = None if not_reusable or self._closed else await empty(context.tab)
        if spare is None or self._closed:
            await self.traces.give_up(context.playwright)
            await SpareContext(context.playwright, context.tab).end()
            await self.traces.remove(context.playwright)
            return
        context.let_go()
        self._shelf.put(self._key(context.options), spare)

    def _settings(self, options: ContextOptions) -> dict[str, Any]:
        browser = options.browser
        settings: dict[str, Any] = {"accept_downloads": True}
        if browser.viewport == self._window:
            settings["no_viewport"] = True  # the window has that size already: one emulation call less per page
        else:
            settings["viewport"] = {"width": browser.viewport.width, "height": browser.viewport.height}
        if browser.locale:
            settings["locale"] = browser.locale
        if browser.timezone:
            settings["timezone_id"] = browser.timezone
        if browser.color_scheme != "light":  # Playwright's own default
            settings["color_scheme"] = "dark"
        if browser.user_agent:
            settings["user_agent"] = browser.user_agent
        if browser.headers:
            settings["extra_http_headers"] = dict(browser.headers)
        if options.proxy:
            settings["proxy"] = {"server": options.proxy, "bypass": NO_BYPASS}
        elif browser.proxy:
            settings["proxy"] = browser.proxy.model_dump(exclude_none=True)
        if options.storage_state is not None:
            settings["storage_state"] = options.storage_state
        return {**settings, **options.playwright}

    async def health(self) -> BrowserHealth:
        pids, memory = await asyncio.to_thread(self._processes.measure)
        return BrowserHealth(
            alive=self.alive,
            contexts=len(self._contexts),
            started_at=self._started_at,
            sessions=self._sessions,
            rss_bytes=memory,
            pids=pids,
        )

    async def restrain(self, most_bytes: int) -> int:
        return await asyncio.to_thread(self._page_processes.look, most_bytes, time.monotonic())

    @property
    def crash_note(self) -> str:
        """Return what is known of why some page crashed just now, to be told behind that one did;
        "" where nothing is.
        """
        last = self._page_processes.last_ended
        if last is None or time.monotonic() - last.at > _CRASH_NOTE_S:
            return ""
        return f" (a page was ended that held more than {last.most_bytes >> 20:,} MiB of memory)"

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        seen = await asyncio.to_thread(self._processes.members)
        await asyncio.gather(
            self._shelf.clear(), self._bare.clear(), *(context.close() for context in tuple(self._contexts))
        )
        try:
            async with asyncio.timeout(_CLOSE_S):
                await self._browser.close()
        except PlaywrightError as error:
            if "Connection closed" in error.message:
                forget_driver(self._driver)
        except TimeoutError:
            pass  # it is killed below
        await asyncio.to_thread(self._processes.end, seen)
        self._pipe.close()
        await asyncio.to_thread(shutil.rmtree, self.folder, True)
        await self._driver.release()
