"""One isolated context with its tabs."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager

from playwright.async_api import BrowserContext, Locator, Page
from playwright.async_api import Error as PlaywrightError

from shoal.agent.actions.dialects.browsergym import format_call
from shoal.agent.actions.perform import check, perform
from shoal.agent.actions.sending import sends
from shoal.agent.browser import (
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
from shoal.agent.chromium.acting.acting_owner import ActingOwner
from shoal.agent.chromium.acting.blocking import block
from shoal.agent.chromium.acting.dialogs import Dialogs
from shoal.agent.chromium.acting.downloads import Downloads
from shoal.agent.chromium.acting.effect_watch import LOOK_S, EffectWatch
from shoal.agent.chromium.acting.effects import Moment, named_bid
from shoal.agent.chromium.acting.looks import Looks
from shoal.agent.chromium.acting.open_document import open_document
from shoal.agent.chromium.acting.open_tabs import OpenTabs
from shoal.agent.chromium.acting.playwright_actions import ChromiumActionContext, split_bid
from shoal.agent.chromium.acting.reach.form_guard import SentForms
from shoal.agent.chromium.acting.reach.harmless import harmless
from shoal.agent.chromium.acting.reach.prospects import prospect
from shoal.agent.chromium.acting.reach.sent_texts import SentTexts
from shoal.agent.chromium.acting.screencast import screencast
from shoal.agent.chromium.acting.settling.readiness import Readiness
from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.chromium.call_deadlines import CallDeadlines, limit_of, uncounted
from shoal.agent.chromium.devtools.frame_document import FrameDocument, selectors_of
from shoal.agent.chromium.devtools.page_archive import page_archive
from shoal.agent.chromium.devtools.page_errors import PageErrorLog
from shoal.agent.chromium.devtools.screenshots import as_shot, page_shot, region_shot, viewport_shot
from shoal.agent.chromium.faults import navigation_error, net_error
from shoal.agent.chromium.landing import landing_here, landing_of, sign_in
from shoal.agent.chromium.process.driver import Driver
from shoal.agent.chromium.recording.recorder import Recorder
from shoal.agent.chromium.refreshes import AFTER_OPENING_S, AT_ONCE_S, followed
from shoal.agent.error_info import ErrorInfo
from shoal.agent.errors import (
    ActionError,
    ActionInvalid,
    AgentError,
    BrowserError,
    BrowserGone,
    ElementMissing,
    PageCrashed,
)
from shoal.agent.observe.marks import mark_page
from shoal.agent.observe.tree import element_tree, focused_bid, is_beyond, is_cut, is_drawn, omitted
from shoal.agent.support.json_value import Json
from shoal.agent.support.sites.prospect import Prospect, Unchosen
from shoal.agent.support.web_addresses import check_opened, forbidden_page
from shoal.agent.types import Action, ActionResult, Box, Download, Effect, Observation, PageErrors

_GRACE_S = 2.0
"""Playwright keeps its own time limits; ours comes so much later and catches a driver that does not answer."""


class ActingContext:
    """A `Context` on Playwright's. Nothing is attached to a page before a call needs it."""

    def __init__(
        self, browser: ActingOwner, context: BrowserContext, tab: Tab, driver: Driver, options: ContextOptions
    ) -> None:
        self._browser = browser
        self._driver = driver
        self.playwright = context
        self.options = options
        self._tainted = ""
        self._blocked: Sequence[str] = ()
        self._closed = False
        self.open_tabs = OpenTabs(tab)
        self._looks = Looks(self.open_tabs)
        self._readiness = Readiness()
        self.last_action: Action | None = None
        self.last_error = ""
        self.files = Downloads(options)
        self._errors = PageErrorLog()
        self.limits = CallDeadlines(
            browser, self._end, lambda seconds: self.tab.crashes(within_s=seconds), lambda: self.tab.read("() => 0")
        )
        self.dialogs = Dialogs(
            accept=options.accept_dialogs, asks=options.hooks.answer_dialog, waits=self.limits.uncounted
        )
        self._action_context = ChromiumActionContext(self, driver, browser.folder)
        self._effects = EffectWatch(self, self._action_context)
        self._forms = SentForms(options.sites)
        self._texts = SentTexts()
        self._blocking: asyncio.Task[None] | None = None  # in the tab that came last
        self._recorder: Recorder | None = None
        self._follow_tab(tab)
        context.on("page", self._on_page)
        context.on("dialog", self.dialogs.on_dialog)

    # --- what pages do ------------------------------------------------------------------------------

    @property
    def tab(self) -> Tab:
        """The active tab."""
        return self.open_tabs.active

    @tab.setter
    def tab(self, tab: Tab) -> None:
        self.open_tabs.active = tab

    def _on_page(self, page: Page) -> None:
        """A page that the site opened becomes a tab and gets the focus."""
        if self.open_tabs.of(page) is not None:
            return
        tab = self.open_tabs.add(page)
        self._follow_tab(tab)
        if self._blocked:
            self._blocking = self.open_tabs.begin(self._block_in(tab))
        if self._recorder is not None:
            self.open_tabs.begin(self._record_in(tab))

    def _follow_tab(self, tab: Tab) -> None:
        tab.files = self.files
        tab.errors = self._errors
        tab.on_crashed = self.limits.end_calls
        tab.page.on("download", self.files.on_download)
        tab.page.on("download", lambda _: self.open_tabs.on_download(tab.page))
        tab.page.on("close", self.open_tabs.on_closed)

    async def _block_in(self, tab: Tab) -> None:
        """In a tab that the site opened; it may be gone again before it is asked."""
        with contextlib.suppress(PlaywrightError):
            await block(await tab.session(), self._blocked)

    async def _record_in(self, tab: Tab) -> None:
        """In a tab that was opened later; it may be gone again before it is asked."""
        assert self._recorder is not None
        with contextlib.suppress(PlaywrightError):
            await self._recorder.follow(tab.page)

    async def add_tab(self) -> None:
        """Opens an empty tab and turns to it."""
        before = self.open_tabs.opened
        await self.playwright.new_page()
        self.open_tabs.forget_closed()
        self.open_tabs.opened = before  # its page event came by now, but no site opened it
        if self._blocking is not None:
            await self._blocking

    @asynccontextmanager
    async def page_aside(self) -> AsyncIterator[Page]:
        """An empty page of this context that is no tab."""
        opened = self.open_tabs.opened
        page = await self.playwright.new_page()
        try:
            own = self.open_tabs.of(page)
            if own is not None:  # its page event took it for a window of the site
                self.open_tabs.remove(own)
                self.open_tabs.opened = opened
            yield page
        finally:
            await page.close()

    async def _have_tab(self) -> None:
        """Open an empty tab where the site closed its last one: a session needs somewhere to go on."""
        if self.tab.page.is_closed() and self._end() is None:
            await self.add_tab()
        self.open_tabs.forget_closed()

    # --- limits and errors --------------------------------------------------------------------------

    def has_ended(self, error: PlaywrightError) -> bool:
        """Return whether `error` tells of the end of a tab or of the browser, rather than of a failed action."""
        return self._end() is not None or "closed" in error.message.lower() or "crashed" in error.message.lower()

    def _end(self) -> AgentError | None:
        """Why this context is of no further use, None when it still is."""
        if self.tab.crashed:
            return PageCrashed(f"the page crashed: {self.tab.page.url}{self._browser.crash_note}")
        if self._closed or not self._browser.alive:
            return BrowserGone("the context is closed" if self._closed else None)
        return forbidden_page(self.tab.page.url, self.options.schemes)

    # --- the seam -----------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        return self.tab.page.url or "about:blank"

    async def goto(self, url: str, *, timeout_s: float | None = None) -> Landing:
        check_opened(url, self.options.schemes)
        limit = timeout_s if timeout_s is not None else self.options.navigation_timeout_s
        self.limits.check()
        self._tainted = self._tainted or sign_in(url)  # whatever comes of it
        landing = await self._land(url, limit)
        self._readiness.landed = True
        if landing.status < 400 and await followed(self.tab.read, within_s=AFTER_OPENING_S, limit_s=limit):
            async with self.limits.looking(limit, "reading where the page led"):
                landing = await landing_here(lambda: self.tab.page.url, self.tab.read)
        self._tainted = self._tainted or sign_in(url, landing.status)
        self.limits.check()
        return landing

    async def _land(self, url: str, limit: float) -> Landing:
        began = self.files.count
        try:
            async with asyncio.timeout(limit + _GRACE_S):
                await self._have_tab()
                await self.tab.leave_for(url, self._browser.fetching, always_watched=self.options.fetched_json)
                await self.tab.traffic()  # what the page asks for while it loads is waited for
                response = await open_document(self.tab, url, limit)
        except TimeoutError as error:
            raise self._end() or PageCrashed(f"the page hangs: {self.tab.page.url}") from error
        except PlaywrightError as error:
            if "Download is starting" in error.message:
                await self.files.begins(began, _GRACE_S)
                return Landing(url, 200, "application/octet-stream")
            if net_error(error.message) == "ERR_HTTP_RESPONSE_CODE_FAILURE":
                return await self._empty_answer(url)
            raise await self.limits.meaning(error) or navigation_error(error, url, limit) from error
        return landing_of(self.tab.page.url, response)

    async def _empty_answer(self, url: str) -> Landing:
        """The landing of an error status without a body, which Chromium reports as a failed navigation."""
        async with self.limits.looking(self.options.look_s, "reading the answer"):
            for request in reversed(await self.tab.page.requests()):
                if request.is_navigation_request() and (response := await request.response()) is not None:
                    return landing_of(response.url, response)
        raise ActionError(f"{url} answered with an error and no content")

    async def read(self, script: str, arg: Json = None) -> Json:
        async with self.limits.looking(self.options.look_s, "reading the page"):
            return await self.tab.read(script, arg)

    async def observe(self, options: ObserveOptions = ObserveOptions()) -> Observation:
        looked_at = self.tab
        try:
            return await self._observe(options)
        except ActionError:
            if not looked_at.page.is_closed():
                raise
        return await self._observe(options)  # the site closed its tab meanwhile: where it left us

    async def _observe(self, options: ObserveOptions) -> Observation:
        async with self.limits.looking(self.options.look_s, "observing the page") as deadline:
            await self._have_tab()
            look = await self._looks.take(options, lambda: self._ready(deadline))
        walk, image = look.walk, look.picture
        viewport = (int(walk.data["size"][0]), int(walk.data["size"][1]))
        elements, marked = element_tree(walk), None
        if options.marks and image is not None:
            elements, marked = await asyncio.to_thread(mark_page, elements, image, viewport)
        return Observation(
            url=look.url,
            title=walk.data["title"],
            elements=elements,
            tabs=look.tabs,
            active_tab=look.active,
            screenshot=image if options.screenshot else None,
            marked_screenshot=marked,
            focused=focused_bid(walk),
            scroll=(walk.data["scroll"][0], walk.data["scroll"][1]),
            viewport=viewport,
            page_size=(walk.data["page"][0], walk.data["page"][1]),
            dialogs=self.dialogs.take(),
            downloads=self.files.new(),
            console_errors=(*look.worlds.take_console(), *self.files.take_failures()),
            omitted=omitted(walk),
            cut=is_cut(walk),
            beyond=is_beyond(walk),
            drawn=is_drawn(walk),
            in_progress=look.in_progress,
            messages=tuple(self._action_context.messages),
            last_action=format_call(self.last_action) if self.last_action else "",
            last_error=self.last_error,
        )

    async def _ready(self, look: asyncio.Timeout) -> str:
        """Waits until the active tab is ready, in none of the look's time; in words, what was still in progress."""
        with uncounted(look), contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.options.action_timeout_s + _GRACE_S):
                return await self._readiness.come(lambda: self.tab, self.options.action_timeout_s)
        return "scripts without a pause"

    async def locate(self, selectors: Sequence[str], hosts: Sequence[str] = ()) -> Sequence[str | None]:
        async with self.limits.looking(self.options.look_s, "looking for elements"):
            return await (await self.tab.look()).locate(await self.tab.main_world(), selectors, hosts)

    async def selectors(self, bid: str) -> tuple[str, str] | None:
        async with self.limits.looking(self.options.look_s, "describing an element"):
            return await selectors_of(await self.tab.main_world(), *split_bid(bid))

    async def element_path(self, bid: str) -> ElementPath | None:
        async with self.limits.looking(self.options.look_s, "describing an element"):
            return await (await self.tab.look()).element_path(await self.tab.main_world(), *split_bid(bid))

    async def frame_document(self, frames: Sequence[str]) -> PageDocument | None:
        async with self.limits.looking(self.options.look_s, "looking for a frame"):
            entered = await (await self.tab.look()).enter(await self.tab.main_world(), frames)
        return FrameDocument(*entered, self.limits, self.options.action_timeout_s) if entered is not None else None

    async def harmless(self, action: Action) -> bool:
        try:
            async with self.limits.guard(self.options.action_timeout_s, "asking what an action may send"):
                await self._have_tab()
                return await harmless(self.tab, action)
        except ElementMissing:
            raise
        except (ActionError, BrowserError):  # it hangs, or goes elsewhere: nothing is proven
            self.limits.check()
            return False

    async def prospect(self, action: Action) -> Prospect:
        async with self.limits.looking(self.options.look_s, "asking what an action reaches"):
            await self._have_tab()
            return await prospect(self.tab, action)

    async def act(self, action: Action, *, proving: Sequence[Unchosen] = ()) -> ActionResult:
        self.limits.check()
        started = time.monotonic()
        self.open_tabs.acted = True
        self._tainted = "actions were performed"
        value: Json = None
        failed: ErrorInfo | None = None
        changes = Effect()
        try:
            primitive, _ = check(action, allow_unsafe=self.options.allow_python)
            limit = limit_of(action, primitive.limit, self.options)
            self._action_context.begin(started + limit)
            self._forms.check()  # for one that an earlier action sent late
            bid = named_bid(action)
            if primitive.unsafe:
                await self.allow_scripts()
            if primitive.changes:
                async with self.limits.guard(LOOK_S, "reaching the page"):
                    await self._have_tab()
                    await self.tab.navigation()
                    await self.tab.traffic()  # what the action asks servers for is told by open requests
                    may_send = primitive.sends != "never" and (not primitive.types or sends(action) == "always")
                    await self._readiness.before(self.tab, types=primitive.types, sends=may_send)
                    if primitive.sends != "never":
                        await self._browser.form_guard.watch(self._forms, self.tab)
                    await self._texts.begin(proving, self.tab)
            # Of an action that opens a page it is known beforehand that nothing stays as it was.
            inside = primitive.limit != "navigation"
            before = await self._effects.moment(bid, inside, first=True) if primitive.changes else None
            after: Moment | None = None
            try:
                async with self.limits.guard(limit + _GRACE_S, f"{action.name}") as self._action_context.guard:
                    value = await perform(action, self._action_context, allow_unsafe=self.options.allow_python)
                    if inside and before is not None:
                        after = await self._effects.follow_up(before, bid)
            finally:
                if before is not None and self._end() is None:
                    changes = await self._effects.changes(before, after, bid, inside=inside, waits=primitive.has_effect)
                    self._readiness.after(types=primitive.types)
                    if inside:
                        self.tab.acted()
            self._forms.check()
            if primitive.changes:
                value = await self._texts.proof(value)
        except (PageCrashed, BrowserGone):
            raise
        except AgentError as error:
            # A click that closes its own tab cuts off its own answer.
            failed = None if error.details.get("performed") else error.info()
        seconds = round(time.monotonic() - started, 4)
        self.last_action, self.last_error = action, failed.message if failed else ""
        return ActionResult(action, failed, changes, value, seconds)

    async def locator(self, bid: str) -> Locator:
        """Playwright's own locator of an element, for a script beside our actions."""
        return await self._action_context.element(bid)

    async def allow_scripts(self) -> None:
        """Has to come before a script uses the page beside our actions: Playwright learns no engine later."""
        await self._driver.register_engine()

    async def settle(self, *, quiet_s: float = 0.3, budget_s: float = 5.0) -> bool:
        self.limits.check()
        try:
            async with self.limits.guard(budget_s, "settling"):
                await followed(self.tab.read, within_s=AT_ONCE_S)
                await self.tab.settled(quiet_s)
                self._readiness.acted = False
        except ActionError:
            return False  # still busy when the budget ran out, or the document was replaced again and again
        return True

    async def unreachable(self) -> str:
        async with self.limits.looking(self.options.look_s, "asking for the page's address"):
            return await self.tab.unreachable()

    async def open_requests(self) -> Sequence[str]:
        async with self.limits.looking(self.options.look_s, "asking what is under way"):
            return (await self.tab.traffic()).open_data()

    async def fetched_json(self, *, budget_s: float = 0.5) -> Sequence[FetchedJson]:
        return await self.tab.fetches.answers(self.url, budget_s) if self.tab.fetches is not None else ()

    async def screenshot(self, *, full_page: bool = False, bid: str | None = None, region: Box | None = None) -> Shot:
        if full_page + (bid is not None) + (region is not None) > 1:
            raise ActionInvalid("a screenshot shows the whole page, or an element, or a region")
        async with self.limits.looking(self.options.look_s, "the screenshot"):
            if bid is not None:
                self._action_context.begin(time.monotonic() + self.options.action_timeout_s)
                region = await self._action_context.box(bid)
            shot = page_shot if full_page else viewport_shot
            data = await (region_shot(self.tab, region) if region is not None else shot(self.tab))
        return as_shot(data)

    async def archive(self) -> str:
        async with self.limits.looking(self.options.look_s, "archiving the page"):
            return await page_archive(self.tab)

    async def frames(self, options: FrameOptions = FrameOptions()) -> AsyncGenerator[ScreencastFrame, None]:
        while self._end() is None:
            tab = self.tab
            try:
                async with aclosing(screencast(tab, options)) as frames:
                    async for frame in frames:
                        if self.tab is not tab or tab.page.is_closed():
                            break
                        if frame is not None:
                            yield frame
            except PlaywrightError:  # the tab closed or crashed; another may take its place
                await asyncio.sleep(LOOK_S)

    async def downloads(self) -> Sequence[Download]:
        return await self.files.take(self.options.action_timeout_s)

    async def page_errors(self, *, ask: bool = False) -> PageErrors:
        if ask:
            async with self.limits.looking(self.options.look_s, "asking for errors"):
                await self.tab.worlds()
        return self._errors.take()

    async def storage_state(self) -> Json:
        async with self.limits.looking(self.options.look_s, "reading the storage"):
            return await self.playwright.storage_state()

    async def end_trace(self, path: str) -> bool:
        return await self._browser.traces.end(self.playwright, path)

    async def record(self) -> None:
        """Records the DOM events of every tab from now on."""
        self._recorder = Recorder(self.tab.connection)
        await self._recorder.follow(self.tab.page)

    async def end_recording(self) -> RawRecording | None:
        recorder, self._recorder = self._recorder, None
        return await recorder.end() if recorder is not None else None

    async def close(self) -> None:
        if self._closed:
            return
        not_reusable = self.not_reusable
        self.tab.tell_fetching(self._browser.fetching)
        self._closed = True
        await self._browser.take_back(self, not_reusable)
        self._browser.form_guard.leave(self._forms)
        await self.files.close()
        await self._action_context.close()

    @property
    def not_reusable(self) -> str:
        """Why this context cannot serve another session, "" when it can be emptied for one."""
        if self.options.reuse is None or self.options.trace or self.options.recording:
            return "it was made for one session"
        if self._end() is not None:
            return "it is broken"
        if self.open_tabs.opened or len(self.open_tabs.all) > 1:
            return "a site opened windows"
        return self._tainted or ("files were downloaded" if self.files.count else "")

    def let_go(self) -> None:
        """Hears no more of what its pages do."""
        self.tab.page.remove_listener("download", self.files.on_download)
        self.tab.page.remove_listener("close", self.open_tabs.on_closed)
        self.playwright.remove_listener("page", self._on_page)
        self.playwright.remove_listener("dialog", self.dialogs.on_dialog)

    async def block(self, kinds: Sequence[str]) -> None:
        """Keeps every tab from fetching resources of these `kinds`."""
        self._blocked = kinds
        async with self.limits.looking(self.options.look_s, "blocking resources"):
            await block(await self.tab.session(), kinds)
