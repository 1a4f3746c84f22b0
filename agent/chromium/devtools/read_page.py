"""One page past Playwright: its navigations, what is read from it, and what makes it of no further use."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import Landing
from shoal.agent.chromium.context_reset import EMPTY_S, clear_traces, close_quietly
from shoal.agent.chromium.devtools.fetched_json import FetchWatch
from shoal.agent.chromium.devtools.isolated_reader import IsolatedReader
from shoal.agent.chromium.devtools.page_errors import PageErrorLog
from shoal.agent.chromium.devtools.raw_pages import RawPage, RawPages
from shoal.agent.chromium.devtools.traffic import NetworkTraffic
from shoal.agent.chromium.landing import landing_from, landing_here, sign_in
from shoal.agent.chromium.refreshes import AFTER_OPENING_S, followed
from shoal.agent.chromium.wire.connection import ENDED, GONE, Session
from shoal.agent.errors import ConnectionLost, PageCrashed
from shoal.agent.support.json_value import Json
from shoal.agent.types import PageErrors

BLANK = "about:blank"
_ABORTED = "net::ERR_ABORTED"
_NO_CONTENT = "net::ERR_HTTP_RESPONSE_CODE_FAILURE"
_DOCUMENTS = {"patterns": [{"resourceType": "Document", "requestStage": "Response"}]}


@dataclass(frozen=True, slots=True)
class _Answer:
    """A server's answer to a request for the main document."""

    status: int
    headers: dict[str, str]


async def open_read_page(pages: RawPages, proxy: str | None) -> ReadPage:
    """A new page in a context of its own, whose requests go through `proxy`; None: as the browser's own.

    Raises:
        playwright.async_api.Error: the browser is gone.
    """
    page = ReadPage(await pages.open(proxy))
    try:
        await page.open()
    except BaseException:
        await asyncio.shield(page.end())
        raise
    return page


class ReadPage:
    """A page that can be opened, read and photographed, and emptied for the next session of its job."""

    def __init__(self, raw: RawPage) -> None:
        self.raw = raw
        self.accept_dialogs = True  # as its session wants it
        self._talk: Session = raw.session
        self._reader = IsolatedReader(raw.session, raw.frame)
        self._traffic: NetworkTraffic | None = None
        self.fetches: FetchWatch | None = None  # what its scripts fetch, where that is watched
        self.unreachable = ""  # the address whose failed load the page shows
        self._moved = asyncio.Event()
        self._loader = ""  # of the document that is there
        self._loaders: set[str] = set()  # documents that came since the last navigation began
        self._parsed = self._stopped = False
        self._answer: _Answer | None = None
        self._under_way = False  # a navigation, or one that was given up
        self._tasks: set[asyncio.Task[None]] = set()
        self.url = BLANK
        self.on_crashed: Callable[[], None] = lambda: None  # its renderer ended
        self._crash = asyncio.Event()
        self.not_reusable = ""  # why it cannot be emptied for another session

    async def open(self) -> None:
        """Begins to follow the page."""
        heard = {
            "Page.frameNavigated": self._on_navigated,
            "Page.navigatedWithinDocument": self._on_moved_within,
            "Page.domContentEventFired": self._on_parsed,
            "Page.frameStoppedLoading": self._on_stopped,
            "Page.javascriptDialogOpening": self._on_dialog,
            "Page.windowOpen": lambda _: self._tainted("a site opened windows"),
            "Page.downloadWillBegin": lambda _: self._tainted("a site sent files"),
            "Inspector.targetCrashed": self._on_crash,
            "Fetch.requestPaused": self._on_answer,
            ENDED: lambda _: self._moved.set(),
        }
        for event, f in heard.items():
            self._talk.on(event, f)
        await self._talk.send("Page.enable")

    # --- what the page does --------------------------------------------------------------------------

    def _on_navigated(self, event: dict[str, Any]) -> None:
        frame = event["frame"]
        if "parentId" in frame:
            return
        self.url = frame["url"] + frame.get("urlFragment", "")
        self.unreachable = frame.get("unreachableUrl", "")
        self._loader = frame["loaderId"]
        self._loaders.add(self._loader)
        self._parsed = self._stopped = False
        self._reader.forget_world()
        self._moved.set()

    def _on_moved_within(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self.raw.frame:
            self.url = event["url"]

    def _on_parsed(self, _: dict[str, Any]) -> None:
        self._parsed = True
        self._moved.set()

    def _on_stopped(self, event: dict[str, Any]) -> None:
        """Chromium gives a document up that ended half-way, and never calls it parsed."""
        if event["frameId"] == self.raw.frame:
            self._stopped = True
            self._moved.set()

    def _on_crash(self, _: dict[str, Any]) -> None:
        self._crash.set()
        self._moved.set()
        self.on_crashed()

    def _on_dialog(self, event: dict[str, Any]) -> None:
        # An alert has but one answer; leaving a page was the agent's own wish.
        accept = self.accept_dialogs or event["type"] in ("alert", "beforeunload")
        answer = {"accept": accept, "promptText": event.get("defaultPrompt", "")}
        self._soon(self._talk.send("Page.handleJavaScriptDialog", answer))

    def _on_answer(self, event: dict[str, Any]) -> None:
        """A document's headers are here: what they say is noted, and the document may come."""
        status = event.get("responseStatusCode", 0)
        headers = {header["name"].lower(): header["value"] for header in event.get("responseHeaders", ())}
        redirected = "location" in headers and 300 <= status < 400
        if event["frameId"] != self.raw.frame or not status or redirected:
            self._soon(self._talk.send("Fetch.continueRequest", {"requestId": event["requestId"]}))
            return
        self._answer = _Answer(status, headers)
        # This lets the document come, too. Were it let come before, what it asks for would pass through the browser's
        # process, and Chromium would lose the page that its script goes on to meanwhile.
        self._soon(self._talk.send("Fetch.disable"))

    def _tainted(self, why: str) -> None:
        self.not_reusable = self.not_reusable or why

    def _soon(self, call: Coroutine[Any, Any, Json]) -> None:
        task = asyncio.ensure_future(_unless_gone(call))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- what is done with it ------------------------------------------------------------------------

    async def goto(self, url: str, *, watched: bool = False) -> Landing | None:
        """Return where the navigation ended, with its document parsed; None when it gave no document: a file, no
        content, another navigation of the page's own. With `watched`, what its scripts fetch is followed from then on.

        Raises:
            PageCrashed: the renderer ended.
            ConnectionLost: half of the document came.
            playwright.async_api.Error: the server could not be reached, or the page is gone.
        """
        self._tainted(sign_in(url))
        if self._under_way:  # what it still says, it says before this ends
            await self._talk.send("Page.stopLoading")
        self._answer, self._under_way = None, True
        calls: list[Coroutine[Any, Any, Any]] = [self._talk.send("Fetch.enable", _DOCUMENTS), self._navigate(url)]
        if watched and self.fetches is None:
            self.fetches = FetchWatch(self.raw.frame)
            calls.insert(0, self.fetches.follow(self._talk))
        navigation: dict[str, Any] = (await asyncio.gather(*calls))[-1]
        self._under_way = False
        failed = navigation.get("errorText", "")
        if failed == _ABORTED or navigation.get("isDownload"):
            return None
        answer: _Answer | None = self._answer
        if failed == _NO_CONTENT and answer is not None:
            return landing_from(url, answer.status, answer.headers)
        if failed:
            raise PlaywrightError(f"{failed} at {url}")
        if "loaderId" in navigation:  # else only the fragment changed
            await self._document(navigation["loaderId"], parsed=True)
        landing = await self._landing(navigation.get("loaderId"))
        if landing.status < 400 and await followed(self.read, within_s=AFTER_OPENING_S):
            return await landing_here(lambda: self.url, self.read)
        return landing

    async def _landing(self, loader: str | None) -> Landing:
        """Return where the page is; `loader`: the document that was asked for."""
        answer = self._answer
        if answer is not None and self._loader == loader:
            self._tainted(sign_in(self.url, answer.status))
            return landing_from(self.url, answer.status, answer.headers)
        return await landing_here(
            lambda: self.url, self.read
        )  # a service worker answered, or the page went on by itself

    async def _navigate(self, url: str) -> dict[str, Any]:
        self._loaders.clear()
        return await self._talk.send("Page.navigate", {"url": url})

    async def _document(self, loader: str, *, parsed: bool) -> None:
        """Returns once that document is the page's, or one that came after it; with `parsed` once it is parsed."""
        while not (loader in self._loaders and (self._parsed or not parsed)):
            if self.crashed:
                raise PageCrashed(f"the page crashed: {self.url}")
            if self._talk.ended:
                raise PlaywrightError(GONE)
            if parsed and loader == self._loader and self._stopped:
                raise ConnectionLost(f"the connection to {self.url} ended before the page was whole", url=self.url)
            self._moved.clear()
            await self._moved.wait()

    async def crashes(self, *, within_s: float) -> None:
        """Returns once the crash of the page is known, or after `within_s`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._crash.wait()

    @property
    def crashed(self) -> bool:
        """Return whether the renderer ended."""
        return self._crash.is_set()

    @property
    def usable(self) -> bool:
        """Return whether it is still there."""
        return not self.crashed and not self._talk.ended

    async def session(self) -> Session:
        """The DevTools session of this page."""
        return self._talk

    async def read(self, script: str, arg: Json = None) -> Json:
        """Return what the function `script` returns for `arg`, run beside the page's own scripts; see `Reader.read`."""
        return await self._reader.read(script, arg)

    async def traffic(self) -> NetworkTraffic:
        """The watch over this page's requests, which sees those that start from now on."""
        if self._traffic is None:
            self._traffic = NetworkTraffic(self.raw.frame)
            await self._traffic.follow(self._talk, enabled=self.fetches is not None)
        return self._traffic

    async def errors(self) -> PageErrors:
        """Return what console and network told of the current document, to be asked for once."""
        log = PageErrorLog()
        await log.follow(self._talk)
        await self._talk.send("Runtime.enable")
        return log.take()

    async def end(self) -> None:
        """Closes it with its context; never raises."""
        await close_quietly(self.raw.end())

    async def emptied(self) -> ReadPage | None:
        """The page for another session, with nothing left in its context that this one saw, stored or set; None when
        that did not work, and it is of no further use.
        """
        try:
            async with asyncio.timeout(EMPTY_S):
                # First the document and its workers end, so that nothing can be stored after the clearing.
                navigation = await self._navigate(BLANK)
                await self._document(navigation["loaderId"], parsed=False)
                fresh, *_ = await asyncio.gather(self._again(), clear_traces(self._talk), self.raw.forget_permissions())
                await self.raw.session.detach()
        except (PlaywrightError, PageCrashed, TimeoutError):
            return None
        return None if self.not_reusable else fresh  # it may have opened windows while it was torn down

    async def _again(self) -> ReadPage:
        """The same page for another session, that remembers and follows nothing."""
        page = ReadPage(await self.raw.again())
        await page.open()
        return page


async def _unless_gone(call: Coroutine[Any, Any, Json]) -> None:
    try:
        await call
    except PlaywrightError:
        return  # what it was about went away with its document
