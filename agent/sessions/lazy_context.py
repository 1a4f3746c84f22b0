"""The session's page: a context that opens at first use, on the page where the session has to begin."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from shoal.agent.browser import (
    Browser,
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
from shoal.agent.documents.context import DocumentContext
from shoal.agent.documents.document import RawDocument
from shoal.agent.errors import NavigationError, NotAPage, SiteRefused
from shoal.agent.fault_table import EGRESS_FAULTS, http_fault
from shoal.agent.read.drawn.document_page import draw_saved
from shoal.agent.sessions.dependencies import NavigationGuard
from shoal.agent.support.json_value import Json
from shoal.agent.support.sites.prospect import Prospect, Unchosen
from shoal.agent.support.web_addresses import FAILED, is_web
from shoal.agent.types import Action, ActionResult, Box, Download, Observation, PageErrors, Tier

_BLANK = "about:blank"


class LazyContext:
    """A `Context` for one session.

    The browser's context is made at the first call that needs it, so that a session which only has to sum up its
    finished loop costs no browser. Pages opened by address pass the navigation guard first, and a page that answers
    with an HTTP error raises: a policy never mistakes an error page for the page that it wanted. An address that would
    carry what was typed to another site raises, too.
    """

    def __init__(
        self,
        browser: Browser,
        options: ContextOptions,
        start_url: str,
        navigation_guard: NavigationGuard,
        context: Context | None = None,
        carried: Callable[[str], SiteRefused | None] = lambda _: None,
    ) -> None:
        self._browser = browser
        self._options = options
        self._start_url = start_url
        self._navigation_guard = navigation_guard
        self.carried = carried  # why the job's sites keep an address that a page gave from being opened
        self._context = context  # one that is given is open already, and stays open
        self._lent = context is not None
        self._came = asyncio.Event()  # the context is there
        if context is not None:
            self._came.set()
        self._handled = False  # acted on, or looked at as people see it
        self.pages = 0  # navigations by address so far
        self.moves = 0  # actions so far, and navigations away from a page
        self._asked = start_url  # the address that was opened last
        self.pages_only = False  # addresses that give files are refused
        self.landings: dict[str, str] = {}  # where addresses led that were opened, by the address
        self._document = ""  # the address of a file that is drawn as a page; "" for a page
        self._saved: tuple[Download, ...] = ()  # files that were looked at here, and are not handed on yet
        self.artifacts: dict[str, str] = {}  # what became of downloaded files: path to artifact id

    @property
    def opened(self) -> bool:
        """Return whether there is a real page behind this one yet."""
        return self._context is not None

    @property
    def document(self) -> RawDocument | None:
        """The document that was read instead of a page; None where a browser has the page."""
        return self._context.document if isinstance(self._context, DocumentContext) else None

    @property
    def stated_by(self) -> RawDocument | None:
        """The page's own document, where all that was read is known to stand in it; None otherwise."""
        return self._context.stated_by if isinstance(self._context, DocumentContext) and not self._handled else None

    @property
    def tier(self) -> Tier:
        """Return what was read is from."""
        if self.document is not None:
            return "http"
        return "session" if self._handled or not self._options.reading else "page"

    @property
    def url(self) -> str:
        if self._document and self._context is not None and self._context.url == _BLANK:
            return self._document
        return self._context.url if self._context else self._start_url

    async def _open(self) -> Context:
        if self._context is None:
            await self._navigation_guard(self._start_url)
            await self._make()
            await self._land(self._start_url)
        assert self._context is not None
        return self._context

    async def _make(self) -> None:
        self._context = await self._browser.new_context(self._options)
        self._came.set()

    async def goto(self, url: str, *, timeout_s: float | None = None) -> Landing:
        if (refused := self.carried(url)) is not None:
            raise refused
        if self._context is None:
            await self._make()
        else:
            self.moves += 1
        await self._navigation_guard(url)
        return await self._land(url, timeout_s=timeout_s)

    async def _land(self, url: str, *, timeout_s: float | None = None) -> Landing:
        assert self._context is not None
        self.pages += 1
        self._asked = url
        landing = await self._context.goto(url, timeout_s=timeout_s)
        self.landings[url] = landing.url
        self._document = ""
        if self.pages_only and landing.status == 200 and self._context.url == _BLANK and is_web(url):
            await self._draw(url)
        if landing.status >= 400:
            raise await self._refusal(landing)
        return landing

    async def _draw(self, url: str) -> None:
        """Draws the file that came instead of a page, where it is a document that can be read as one.

        Raises:
            NotAPage: it is none.
        """
        assert self._context is not None
        came = tuple(await self._context.downloads())
        self._saved = (*self._saved, *came)
        for file in reversed(came):
            if await draw_saved(self._context, Path(file.path), url):
                self._document = url
                return
        raise NotAPage(
            f"{url} gives a file, not a page: it is kept among the session's artifacts. Rules read pages, PDF, CSV, "
            "JSON and plain text as far as they hold text; a model is given the text of some other files "
            "(`policy: model`), or start on the page that states the same"
        )

    async def _refusal(self, landing: Landing) -> NavigationError:
        """The error that an HTTP status means, with what the page itself says about it."""
        assert self._context is not None
        if landing.egress:
            explanation = await self._evaluate_text("document.body?.innerText")
            return EGRESS_FAULTS[landing.egress].error(
                f"{landing.url} could not be opened: {explanation}", url=landing.url
            )
        explanation = await self._evaluate_text("document.querySelector('h1')?.innerText || document.title")
        fault = http_fault(landing.status)
        message = f"{landing.url} answered {landing.status}" + (f": {explanation}" if explanation else "")
        message += f"; {fault.hint}" if fault.hint else ""
        pause = {"retry_after_s": landing.retry_after_s} if fault.site_pause else {}
        return fault.error(message, status=landing.status, **pause)

    async def _evaluate_text(self, expression: str) -> str:
        """Return what the page itself says, on one line."""
        assert self._context is not None
        return " ".join(str(await self._context.read(f"() => ({expression} || '')")).split())[:200]

    async def read(self, script: str, arg: Json = None) -> Json:
        await self.check_loaded()
        return await (await self._open()).read(script, arg)

    async def check_loaded(self) -> None:
        """Lets a page pass that is a document.

        Raises:
            NavigationError: the page led to an address that could not be opened.
        """
        context = await self._open()
        if context.url.startswith(FAILED) and (address := await context.unreachable()):
            raise NavigationError(f"{self._asked} led to {address}, which could not be opened", url=address)

    async def unreachable(self) -> str:
        return await (await self._open()).unreachable()

    async def observe(self, options: ObserveOptions = ObserveOptions()) -> Observation:
        self._handled = True
        seen = await (await self._open()).observe(options)
        if not self.artifacts:
            return seen
        stored = tuple(replace(file, artifact=self.artifacts.get(file.path)) for file in seen.downloads)
        return replace(seen, downloads=stored)

    async def locate(self, selectors: Sequence[str], hosts: Sequence[str] = ()) -> Sequence[str | None]:
        return await (await self._open()).locate(selectors, hosts)

    async def selectors(self, bid: str) -> tuple[str, str] | None:
        return await (await self._open()).selectors(bid)

    async def element_path(self, bid: str) -> ElementPath | None:
        return await (await self._open()).element_path(bid)

    async def frame_document(self, frames: Sequence[str]) -> PageDocument | None:
        return await (await self._open()).frame_document(frames)

    async def act(self, action: Action, *, proving: Sequence[Unchosen] = ()) -> ActionResult:
        self._handled = True
        self.moves += 1
        return await (await self._open()).act(action, proving=proving)

    async def harmless(self, action: Action) -> bool:
        return await (await self._open()).harmless(action)

    async def prospect(self, action: Action) -> Prospect:
        return await (await self._open()).prospect(action)

    async def settle(self, *, quiet_s: float = 0.3, budget_s: float = 5.0) -> bool:
        return await (await self._open()).settle(quiet_s=quiet_s, budget_s=budget_s)

    async def open_requests(self) -> Sequence[str]:
        return await (await self._open()).open_requests()

    async def fetched_json(self, *, budget_s: float = 0.5) -> Sequence[FetchedJson]:
        return await (await self._open()).fetched_json(budget_s=budget_s)

    async def screenshot(self, *, full_page: bool = False, bid: str | None = None, region: Box | None = None) -> Shot:
        return await (await self._open()).screenshot(full_page=full_page, bid=bid, region=region)

    async def archive(self) -> str:
        return await (await self._open()).archive()

    async def open(self) -> None:
        """Opens the page where the session begins, unless a page is open."""
        await self._open()

    async def frames(self, options: FrameOptions = FrameOptions()) -> AsyncGenerator[ScreencastFrame, None]:
        await self._came.wait()  # who looks on opens nothing
        assert self._context is not None
        async with aclosing(self._context.frames(options)) as frames:
            async for frame in frames:
                yield frame

    async def downloads(self) -> Sequence[Download]:
        saved, self._saved = self._saved, ()
        return (*saved, *await self._context.downloads()) if self._context else saved

    async def page_errors(self, *, ask: bool = False) -> PageErrors:
        return await self._context.page_errors(ask=ask) if self._context is not None else PageErrors()

    async def storage_state(self) -> Json:
        """Cookies and storage; what the session was given when it opened no page."""
        return await self._context.storage_state() if self._context else self._options.storage_state

    async def end_trace(self, path: str) -> bool:
        return await self._context.end_trace(path) if self._context is not None and not self._lent else False

    async def end_recording(self) -> RawRecording | None:
        return await self._context.end_recording() if self._context is not None and not self._lent else None

    async def close(self) -> None:
        if self._context is not None and not self._lent:
            await self._context.close()
