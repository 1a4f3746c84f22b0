"""A context that is only read: no Playwright page stands behind it until an action or an observation needs one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Protocol

from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import (
    Context,
    ContextOptions,
    ElementPath,
    FetchedJson,
    FrameOptions,
    Landing,
    ObserveOptions,
    PageDocument,
    RawRecording,
    ScreencastFrame,
    Shot,
)
from shoal.agent.chromium.acting.tab import document_quiet
from shoal.agent.chromium.call_deadlines import BrowserProcess, CallDeadlines
from shoal.agent.chromium.devtools.fetching_sites import FetchingOwner
from shoal.agent.chromium.devtools.page_archive import page_archive
from shoal.agent.chromium.devtools.read_page import BLANK, ReadPage
from shoal.agent.chromium.devtools.screenshots import as_shot, page_shot, region_shot, viewport_shot
from shoal.agent.chromium.faults import CRASH_S, navigation_error
from shoal.agent.chromium.refreshes import AT_ONCE_S, followed
from shoal.agent.errors import ActionError, AgentError, BrowserGone, NavigationTimeout, PageCrashed
from shoal.agent.support.json_value import Json
from shoal.agent.support.sites.prospect import Prospect, Unchosen
from shoal.agent.support.web_addresses import check_opened, forbidden_page, is_web
from shoal.agent.types import Action, ActionResult, Box, Download, Observation, PageErrors

_STORED = "() => [location.origin, Object.entries(localStorage).map(([name, value]) => ({name, value}))]"


_SHOWN_EVERY_S = 1.0


class ReadingOwner(BrowserProcess, FetchingOwner, Protocol):
    """The browser of reading contexts."""

    async def new_context(self, options: ContextOptions) -> Context: ...

    def forget(self, context: Context) -> None:
        """`context` is closed."""
        ...

    async def keep(self, options: ContextOptions, page: ReadPage) -> None:
        """Keeps an emptied page for the next session that gives the same key."""
        ...


class ReadingContext:
    """A `Context` on a page past Playwright; the first call that this cannot serve moves it into a `ChromiumContext`.

    Moving takes the cookies and the current origin's local storage along and opens the same address there once more.
    """

    def __init__(self, browser: ReadingOwner, page: ReadPage, options: ContextOptions) -> None:
        self._browser = browser
        self.page = page
        self.page.accept_dialogs = options.accept_dialogs
        self.options = options
        self._closed = False
        self._moved: Context | None = None
        self._limits = CallDeadlines(
            browser, self._end, lambda seconds: self.page.crashes(within_s=seconds), lambda: self.page.read("() => 0")
        )
        page.on_crashed = self._limits.end_calls

    # --- limits and errors ----------------------------------------------------------------------------

    def _end(self) -> AgentError | None:
        """Why this context is of no further use, None when it still is."""
        if self._closed or not self._browser.alive:
            return BrowserGone("the context is closed" if self._closed else None)
        if self.page.crashed:
            return PageCrashed(f"the page crashed: {self.page.url}{self._browser.crash_note}")
        return forbidden_page(self.page.url, self.options.schemes)

    # --- the seam -------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        return self._moved.url if self._moved is not None else self.page.url

    async def goto(self, url: str, *, timeout_s: float | None = None) -> Landing:
        if self._moved is not None:
            return await self._moved.goto(url, timeout_s=timeout_s)
        check_opened(url, self.options.schemes)
        limit = timeout_s if timeout_s is not None else self.options.navigation_timeout_s
        self._limits.check()
        try:
            async with asyncio.timeout(limit):
                self._tell_fetching()
                watched = self.options.fetched_json or self._browser.fetching.watches(url)
                landing = await self.page.goto(url, watched=watched)
        except PageCrashed as error:
            raise (self._end() or error) from error
        except TimeoutError as error:
            raise self._end() or NavigationTimeout(f"{url} did not load within {limit:g} s", url=url) from error
        except PlaywrightError as error:
            raise await self._limits.meaning(error) or navigation_error(error, url, limit) from error
        if landing is None:
            await self.page.crashes(within_s=CRASH_S)
            self._limits.check()
            return await (await self._move(reopen=False)).goto(url, timeout_s=timeout_s)
        self._limits.check()
        return landing

    async def read(self, script: str, arg: Json = None) -> Json:
        if self._moved is not None:
            return await self._moved.read(script, arg)
        async with self._limits.looking(self.options.action_timeout_s, "reading the page"):
            return await self.page.read(script, arg)

    async def settle(self, *, quiet_s: float = 0.3, budget_s: float = 5.0) -> bool:
        if self._moved is not None:
            return await self._moved.settle(quiet_s=quiet_s, budget_s=budget_s)
        try:
            async with self._limits.guard(budget_s, "settling"):
                await followed(self.page.read, within_s=AT_ONCE_S)
                traffic = await self.page.traffic()
                while True:
                    await asyncio.gather(traffic.quiet(quiet_s), document_quiet(self.page.read, quiet_s))
                    if traffic.quiet_for() >= quiet_s:
                        return True
        except ActionError:
            return False  # still busy when the budget ran out, or the document was replaced again and again

    async def unreachable(self) -> str:
        return await self._moved.unreachable() if self._moved is not None else self.page.unreachable

    async def open_requests(self) -> Sequence[str]:
        if self._moved is not None:
            return await self._moved.open_requests()
        return (await self.page.traffic()).open_data()

    async def fetched_json(self, *, budget_s: float = 0.5) -> Sequence[FetchedJson]:
        if self._moved is not None:
            return await self._moved.fetched_json(budget_s=budget_s)
        return await self.page.fetches.answers(self.page.url, budget_s) if self.page.fetches is not None else ()

    def _tell_fetching(self) -> None:
        """Notes whether the page that is left now fetched anything."""
        if self.page.fetches is not None and is_web(self.page.url):
            self._browser.fetching.record_page(self.page.url, fetched=self.page.fetches.has_fetched)

    async def screenshot(self, *, full_page: bool = False, bid: str | None = None, region: Box | None = None) -> Shot:
        if self._moved is not None or bid is not None or (full_page and region is not None):
            return await (await self._move()).screenshot(full_page=full_page, bid=bid, region=region)
        async with self._limits.looking(self.options.action_timeout_s, "the screenshot"):
            if region is not None:
                data = await region_shot(self.page, region)
            else:
                data = await (page_shot(self.page) if full_page else viewport_shot(self.page))
        return as_shot(data)

    async def archive(self) -> str:
        if self._moved is not None:
            return await self._moved.archive()
        async with self._limits.looking(self.options.action_timeout_s, "archiving the page"):
            return await page_archive(self.page)

    async def frames(self, options: FrameOptions = FrameOptions()) -> AsyncGenerator[ScreencastFrame, None]:
        # Such a page is read within a second or so: single pictures show it well enough.
        while self._moved is None:
            if self._end() is not None:
                return
            shot = await self.screenshot()
            yield ScreencastFrame(shot.data, shot.width, shot.height)
            await asyncio.sleep(_SHOWN_EVERY_S)
        async with aclosing(self._moved.frames(options)) as frames:
            async for frame in frames:
                yield frame

    async def observe(self, options: ObserveOptions = ObserveOptions()) -> Observation:
        return await (await self._move()).observe(options)

    async def locate(self, selectors: Sequence[str], hosts: Sequence[str] = ()) -> Sequence[str | None]:
        return await (await self._move()).locate(selectors, hosts)

    async def selectors(self, bid: str) -> tuple[str, str] | None:
        return await (await self._move()).selectors(bid)

    async def element_path(self, bid: str) -> ElementPath | None:
        return await (await self._move()).element_path(bid)

    async def frame_document(self, frames: Sequence[str]) -> PageDocument | None:
        return await (await self._move()).frame_document(frames)

    async def act(self, action: Action, *, proving: Sequence[Unchosen] = ()) -> ActionResult:
        return await (await self._move()).act(action, proving=proving)

    async def harmless(self, action: Action) -> bool:
        return await (await self._move()).harmless(action)

    async def prospect(self, action: Action) -> Prospect:
        return await (await self._move()).prospect(action)

    async def downloads(self) -> Sequence[Download]:
        if self._moved is not None:
            return await self._moved.downloads()
        return ()

    async def page_errors(self, *, ask: bool = False) -> PageErrors:
        if self._moved is not None:
            return await self._moved.page_errors(ask=ask)
        if not ask:
            return PageErrors()
        async with self._limits.looking(self.options.action_timeout_s, "asking for errors"):
            return await self.page.errors()

    async def end_trace(self, path: str) -> bool:
        return await self._moved.end_trace(path) if self._moved is not None else False

    async def end_recording(self) -> RawRecording | None:
        return await self._moved.end_recording() if self._moved is not None else None

    async def storage_state(self) -> Json:
        if self._moved is not None:
            return await self._moved.storage_state()
        async with self._limits.looking(self.options.action_timeout_s, "reading the storage"):
            cookies = await self.page.raw.cookies()
            origin, stored = await self._stored()
        origins = [{"origin": origin, "localStorage": stored}] if stored else []
        return {"cookies": [_cookie(cookie) for cookie in cookies], "origins": origins}

    async def _stored(self) -> tuple[str, Json]:
        """The current origin's local storage."""
        if not self.page.url.startswith("http"):
            return "", []
        try:
            origin, stored = await self.page.read(_STORED)
        except ActionError:
            return "", []  # the page may not store anything: it is sandboxed
        return origin, stored

    async def _move(self, *, reopen: bool = True) -> Context:
        """The context that Playwright knows, on the same page."""
        if self._moved is None:
            self._limits.check()
            options = replace(self.options, reading=False, reuse=None, storage_state=await self.storage_state())
            moved = await self._browser.new_context(options)
            try:
                if reopen and self.page.url != BLANK:
                    await moved.goto(self.page.url)
            except BaseException:  # the page that is open stays the page
                await asyncio.shield(moved.close())
                raise
            self._moved = moved
            await self.page.end()
        return self._moved

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._browser.forget(self)
        self._tell_fetching()
        if self._moved is not None:
            await self._moved.close()
            return
        reused = self.options.reuse is not None and not self.page.not_reusable and self.page.usable
        emptied = await self.page.emptied() if reused else None
        if emptied is not None:
            await self._browser.keep(self.options, emptied)
        else:
            await self.page.end()


def _cookie(entry: dict[str, Any]) -> Json:
    """A cookie as DevTools tells it, in Playwright's format."""
    names = ("name", "value", "domain", "path", "expires", "httpOnly", "secure")
    cookie = {name: entry[name] for name in names if name in entry}
    if (partition := entry.get("partitionKey")) is not None:  # it belongs to what was embedded in one site only
        cookie |= {
            "partitionKey": partition["topLevelSite"],
            "_crHasCrossSiteAncestor": partition["hasCrossSiteAncestor"],
        }
    return {**cookie, "sameSite": entry.get("sameSite", "Lax")}
