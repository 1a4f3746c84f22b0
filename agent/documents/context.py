"""A context that reads documents without a browser, and moves into one for whatever a document does not tell."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Protocol

from shoal.agent.browser import (
    Browser,
    BrowserHealth,
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
from shoal.agent.documents.addresses import normal
from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.document import HtmlDocument, RawDocument, ReadDocument, readable
from shoal.agent.documents.fetching import DocumentClient, FetchFailed, Visitor, fetched
from shoal.agent.documents.outcome import DocumentOutcome
from shoal.agent.documents.own_request import OwnReading
from shoal.agent.documents.question import DocumentQuestion
from shoal.agent.documents.trust import DocumentTrust, Mode
from shoal.agent.errors import AgentError, ServerBusy
from shoal.agent.spec import JobSpec
from shoal.agent.support.json_paths import JsonPathFault
from shoal.agent.support.json_value import Json
from shoal.agent.support.retry_after import retry_after_seconds
from shoal.agent.support.sites.prospect import Prospect, Unchosen
from shoal.agent.support.web_addresses import check_opened, is_web, without_fragment
from shoal.agent.types import Action, ActionResult, Box, Download, Observation, PageErrors
from shoal.agent.workflows.judging.audit import differences

_BUSY = frozenset({429, 503})
_TURNED_AWAY = frozenset({401, 403, 407, 451})
_CHALLENGES = ("cf-mitigated", "x-amzn-waf-action", "x-datadome")
"""Headers of answers that want the visitor to prove something first."""
_OF_SCRIPTS = {"accept": "*/*"}
"""Headers of a browser's request for a script that sets none itself."""
_MORE_LOOKS, _LATE_QUIET_S = 3, 0.5
VISITOR = "() => [navigator.userAgent, ...navigator.languages]"

NavigationCheck = Callable[[str], Awaitable[None]]
"""Asked before each request for a page, as a browser's navigations are."""


class DocumentReader(Protocol):
    """Reads documents."""

    async def __call__(self, raw: RawDocument, arg: Mapping[str, Any]) -> ReadDocument:
        """Return what the places of `arg` say in `raw`;
        raises `BeyondDocument` where only a browser can tell in time.
        """
        ...


async def read_here(raw: RawDocument, arg: Mapping[str, Any]) -> ReadDocument:
    """A `DocumentReader` for documents that are trusted to be quick: nothing else runs in this process meanwhile."""
    return HtmlDocument(raw).read(arg)


@dataclass(frozen=True, slots=True)
class DocumentReading:
    """The parts that one session needs to read documents."""

    spec: JobSpec
    client: DocumentClient
    trust: DocumentTrust
    navigation_guard: NavigationCheck
    on_outcome: Callable[[DocumentOutcome], None] = lambda _: None  # gets what became of each document
    reader: DocumentReader = read_here
    own: OwnReading | None = None  # of pages whose documents do not count: what they request themselves is read
    sampled: bool = False  # a browser reads the page in any case, and both are compared
    audited: bool = False  # the policy holds what the document says to the page
    document: RawDocument | None = None  # the page's, where it came already


def turned_away(reading: DocumentReading, raw: RawDocument) -> bool:
    """Return whether the site does not want to be asked without a browser, which is noted."""
    refused = raw.status in _BUSY | _TURNED_AWAY or any(name in raw.headers for name in _CHALLENGES)
    if refused:
        reading.trust.refuse(f"the site answered {raw.status} to a request for a document alone", turned_away=True)
        reading.on_outcome(DocumentOutcome.TURNED_AWAY)
    return refused


class DocumentBrowser:
    """A `Browser` whose contexts for pages that are only read begin without a page."""

    def __init__(self, browser: Browser, reading: DocumentReading) -> None:
        self._browser = browser
        self._reading = reading

    async def new_context(self, options: ContextOptions = ContextOptions()) -> Context:
        if not options.reading:
            return await self._browser.new_context(options)
        return DocumentContext(self._browser, options, self._reading)

    async def navigation_accept(self) -> str:
        return await self._browser.navigation_accept()

    async def health(self) -> BrowserHealth:
        return await self._browser.health()

    async def restrain(self, most_bytes: int) -> int:
        return await self._browser.restrain(most_bytes)

    async def close(self) -> None:
        await self._browser.close()


class DocumentContext:
    """A `Context` on a raw document. The first call that it cannot serve opens the same address in the browser."""

    def __init__(self, browser: Browser, options: ContextOptions, reading: DocumentReading) -> None:
        self._browser = browser
        self._options = options
        self._reading = reading
        self._mode: Mode | None = None  # None: no page was asked for yet
        self._page: Context | None = None
        self._came = asyncio.Event()  # the page is there
        self._raw: RawDocument | None = None  # the page's document, where one was fetched that may be read
        self._answer: RawDocument | None = None  # to the page's own request, where that is read
        self._read_raw: RawDocument | None = None
        self._beyond = ""  # why the document could not be read
        self._unanswered = False  # the page's own request, which is noted
        self._compared = self._agreed = False  # what a browser has read with the document; both said the same
        self._url = "about:blank"

    @property
    def document(self) -> RawDocument | None:
        """The document that a reading is from; None where a browser read the page, or nothing did."""
        return self._read_raw if self._page is None else None

    @property
    def stated_by(self) -> RawDocument | None:
        """The page's own document, where all that was read is known to stand in it; None otherwise."""
        return None if self._reading.own is not None else self._raw if self._agreed else self.document

    @property
    def url(self) -> str:
        return self._page.url if self._page is not None else self._url

    # --- opening --------------------------------------------------------------------------------------

    async def goto(self, url: str, *, timeout_s: float | None = None) -> Landing:
        check_opened(url, self._options.schemes)
        if self._page is not None or self._mode is not None or not is_web(url):
            self._read_raw = None
            return await (await self._opened()).goto(url, timeout_s=timeout_s)
        self._url, reading, kept = url, self._reading, self._reading.spec.changes.skip_unchanged
        self._mode = reading.trust.begin(sampled=reading.sampled, audited=reading.audited, kept=kept)
        visitor = reading.trust.visitor
        if self._mode is not Mode.DOCUMENT or visitor is None:
            return await (await self._opened()).goto(url, timeout_s=timeout_s)
        return await self._document_at(url, visitor, timeout_s) or await self._again()

    async def _document_at(self, url: str, visitor: Visitor, timeout_s: float | None) -> Landing | None:
        """Return where the document is from;
        None where a browser has to open it.

        Raises:
            ServerBusy: the site wants to be left alone for a while.
        """
        raw = await self._fetched(url, visitor, timeout_s)
        if raw is None:
            return None
        try:
            readable(raw)
        except BeyondDocument:
            self._pass_on()
            return None
        self._raw, self._url = raw, normal(raw.url)
        if self._reading.spec.is_login_page(self._url):
            self._pass_on()
            return None
        return Landing(self._url, raw.status, raw.headers.get("content-type", ""))

    async def _fetched(self, url: str, visitor: Visitor, timeout_s: float | None) -> RawDocument | None:
        """A document with status 200; None where there is none, which is noted."""
        if self._reading.document is not None:
            return self._reading.document
        try:
            raw = await self._request(url, visitor, {}, timeout_s)
        except BeyondDocument as beyond:
            if self._mode is Mode.SAMPLE:
                self._unknown(str(beyond))
            self._pass_on()
            return None
        if raw is not None and raw.status != 200:
            self._pass_on()
            return None
        return raw

    async def _request(
        self, url: str, visitor: Visitor, headers: Mapping[str, str], timeout_s: float | None
    ) -> RawDocument | None:
        """Return what the site answers; None where there was no answer, or where it turns such requests away,
        which is noted.

        Raises:
            BeyondDocument: the site leads elsewhere.
            ServerBusy: the site wants to be left alone for a while.
        """
        spec = self._reading.spec
        state = self._options.storage_state
        cookies = state.get("cookies", ()) if isinstance(state, Mapping) else ()
        limit = timeout_s if timeout_s is not None else self._options.navigation_timeout_s
        given = {name.lower() for name in spec.browser.headers}
        sent = {name: value for name, value in headers.items() if name not in given} | spec.browser.headers
        try:
            raw = await fetched(self._reading.client, url, visitor, sent, cookies, limit)
        except FetchFailed as error:
            self._unknown(str(error))
            return None
        if turned_away(self._reading, raw):
            if raw.status in _BUSY and self._mode is Mode.DOCUMENT:  # beside a page, the page counts
                again_s = retry_after_seconds(raw.headers)
                raise ServerBusy(f"{raw.url} answered {raw.status}", status=raw.status, retry_after_s=again_s)
            return None
        return raw

    def _pass_on(self) -> None:
        if self._mode is Mode.DOCUMENT:
            if self._read_raw is not None:
                self._reading.trust.took_back()
            else:
                self._reading.trust.served(by_document=False)
            self._reading.on_outcome(DocumentOutcome.PASSED_ON)

    async def _opened(self) -> Context:
        """The context in the browser."""
        if self._page is None:
            self._page = await self._browser.new_context(self._options)
            self._came.set()
        return self._page

    async def _again(self) -> Landing:
        """The same page, opened in the browser: one more request to the site, which asks the navigation guard again."""
        page = await self._opened()
        await self._reading.navigation_guard(self._url)
        return await page.goto(self._url)

    async def _in_browser(self) -> Context:
        if self._page is None:
            await self._opened()
            if self._mode is not None:
                await self._again()
        assert self._page is not None
        return self._page

    # --- reading --------------------------------------------------------------------------------------

    async def read(self, script: str, arg: Json = None) -> Json:
        extract = self._reading.spec.extract
        own = self._reading.own
        question = DocumentQuestion.of(script, arg, extract) if extract is not None else None
        if question is None or (own is not None and not question.asks_facts):
            return await (await self._in_browser()).read(script, arg)
        document = await self._read_document(question) if self._page is None else None
        if document is not None and self._reading.trust.knows(document) and not question.rendered:
            self._reading.trust.served(by_document=True)
            self._reading.on_outcome(DocumentOutcome.USED)
            self._read_raw = self._raw if own is None else self._answer
            return dict(document.view)
        if self._page is None:
            self._pass_on()
        page = await self._in_browser()
        answer = await page.read(script, arg)
        if not self._compared and self._mode is not Mode.PAGE:
            self._compared = True
            await self._compare(page, script, arg, question, answer, document)
        return answer

    async def _read_document(self, question: DocumentQuestion) -> ReadDocument | None:
        """Return what the document says; None where it does not tell all of it."""
        if self._raw is None:
            return None
        if self._reading.own is not None:
            return await self._own_answer(self._reading.own, self._raw)
        try:
            read = await self._reading.reader(self._raw, question.arg)
            if not question.paths:
                return read
            answered = question.find_places(read.view)
        except (BeyondDocument, JsonPathFault) as beyond:
            self._beyond = str(beyond)
            return None
        if any(not answered.get(name) for name in question.paths):
            return None  # scripts may fetch it
        return replace(read, lacking=frozenset(name for name, places in answered.items() if not places))

    async def _own_answer(self, own: OwnReading, raw: RawDocument) -> ReadDocument | None:
        """Return what the page requests itself says; None where it does not give the item's record."""
        trust = self._reading.trust
        if self._beyond or trust.visitor is None:
            return None
        try:
            page = await self._reading.reader(raw, own.page_parameters)
            asked = own.address(page.view["url"])
            if self._answer is None:
                headers = {**_OF_SCRIPTS, **own.request.headers, "referer": without_fragment(raw.url)}
                self._answer = await self._let_through(asked, trust.visitor, headers)
            if self._answer is None:  # it is noted, and says nothing of the page
                self._beyond, self._unanswered, self._compared = "no answer came", True, True
                await self._in_browser()
                return None
            if self._answer.status != 200:
                raise BeyondDocument(f"the page's own request is answered by {self._answer.status}")
            return own.with_answer(page, asked, self._answer)
        except BeyondDocument as beyond:
            self._beyond = str(beyond)
            return None

    async def _let_through(self, url: str, visitor: Visitor, headers: Mapping[str, str]) -> RawDocument | None:
        """Return what is answered, where the guard lets the request through; as `_request` gives it."""
        try:
            await self._reading.navigation_guard(url)
            return await self._request(url, visitor, headers, None)
        except AgentError as error:
            if isinstance(error, ServerBusy) and self._page is None:
                raise
            self._unknown(str(error))  # the page itself may be opened, or is: its session goes on
            return None

    async def _compare(
        self,
        page: Context,
        script: str,
        arg: Json,
        question: DocumentQuestion,
        answer: Json,
        document: ReadDocument | None,
    ) -> None:
        """Holds what the document says to what the browser says, once the page has come to rest."""
        trust = self._reading.trust
        if trust.visitor is None:
            user_agent, *languages = await page.read(VISITOR)
            trust.visitor = Visitor(
                str(user_agent), tuple(map(str, languages)), await self._browser.navigation_accept()
            )
        if not await page.settle():
            trust.refuse("its pages do not come to rest")
            self._reading.on_outcome(DocumentOutcome.DIFFERENT)
            return
        own = self._reading.own
        late = question.view(await page.read(script, arg))
        if document is None:
            document = await self._sampled(question)
            if document is None:
                return
        if own is not None:
            page_record = await self._late_record(own, page, script, arg, question, late)
            if page_record is None:
                self._unknown("the page gives no record")
                return
            same = not differences(page_record, own.record(document.view) or {}, exact=True)
        else:
            stated = question.stated(document.view)
            same = stated is not None and stated == question.stated(late) == question.stated(question.view(answer))
        if same:
            trust.agreed(document)
            self._agreed = True
            self._reading.on_outcome(DocumentOutcome.AGREED)
        else:
            trust.refuse("a document said something else than its page")
            self._reading.on_outcome(DocumentOutcome.DIFFERENT)

    async def _late_record(
        self,
        own: OwnReading,
        page: Context,
        script: str,
        arg: Json,
        question: DocumentQuestion,
        view: Mapping[str, Any],
    ) -> Mapping[str, Json] | None:
        """The record of the page, which a script may draw some time after its data have come; None for none."""
        for _ in range(_MORE_LOOKS):
            if own.record(view) is not None or not await page.settle(quiet_s=_LATE_QUIET_S):
                break
            view = question.view(await page.read(script, arg))
        return own.record(view)

    async def _sampled(self, question: DocumentQuestion) -> ReadDocument | None:
        """Return what the document of the page says that the browser has open; None where that is unknown."""
        trust = self._reading.trust
        assert trust.visitor is not None
        if self._raw is None:
            try:
                if self._reading.document is None:
                    await self._reading.navigation_guard(self._url)
                raw = await self._fetched(self._url, trust.visitor, None)
                if raw is not None:
                    readable(raw)
                self._raw = raw
            except (BeyondDocument, AgentError) as error:  # the page itself was read: its session goes on
                self._unknown(str(error))
        document = None if self._beyond else await self._read_document(question)
        if document is None and self._raw is not None and not self._unanswered:
            self._unknown(self._beyond or "its document does not tell what is asked")
        return document

    def _unknown(self, why: str) -> None:
        self._reading.trust.unknown(why)
        self._reading.on_outcome(DocumentOutcome.UNKNOWN)

    # --- what only a browser does ---------------------------------------------------------------------

    async def settle(self, *, quiet_s: float = 0.3, budget_s: float = 5.0) -> bool:
        return True if self._page is None else await self._page.settle(quiet_s=quiet_s, budget_s=budget_s)

    async def unreachable(self) -> str:
        return await self._page.unreachable() if self._page is not None else ""

    async def open_requests(self) -> Sequence[str]:
        return () if self._page is None else await self._page.open_requests()

    async def fetched_json(self, *, budget_s: float = 0.5) -> Sequence[FetchedJson]:
        return await (await self._in_browser()).fetched_json(budget_s=budget_s)

    async def screenshot(self, *, full_page: bool = False, bid: str | None = None, region: Box | None = None) -> Shot:
        return await (await self._in_browser()).screenshot(full_page=full_page, bid=bid, region=region)

    async def frames(self, options: FrameOptions = FrameOptions()) -> AsyncGenerator[ScreencastFrame, None]:
        await self._came.wait()  # a document shows nothing
        assert self._page is not None
        async with aclosing(self._page.frames(options)) as frames:
            async for frame in frames:
                yield frame

    async def archive(self) -> str:
        return await (await self._in_browser()).archive()

    async def observe(self, options: ObserveOptions = ObserveOptions()) -> Observation:
        return await (await self._in_browser()).observe(options)

    async def locate(self, selectors: Sequence[str], hosts: Sequence[str] = ()) -> Sequence[str | None]:
        return await (await self._in_browser()).locate(selectors, hosts)

    async def selectors(self, bid: str) -> tuple[str, str] | None:
        return await (await self._in_browser()).selectors(bid)

    async def element_path(self, bid: str) -> ElementPath | None:
        return await (await self._in_browser()).element_path(bid)

    async def frame_document(self, frames: Sequence[str]) -> PageDocument | None:
        return await (await self._in_browser()).frame_document(frames)

    async def act(self, action: Action, *, proving: Sequence[Unchosen] = ()) -> ActionResult:
        return await (await self._in_browser()).act(action, proving=proving)

    async def harmless(self, action: Action) -> bool:
        return await (await self._in_browser()).harmless(action)

    async def prospect(self, action: Action) -> Prospect:
        return await (await self._in_browser()).prospect(action)

    async def downloads(self) -> Sequence[Download]:
        return await self._page.downloads() if self._page is not None else ()

    async def page_errors(self, *, ask: bool = False) -> PageErrors:
        return await self._page.page_errors(ask=ask) if self._page is not None else PageErrors()

    async def end_trace(self, path: str) -> bool:
        return await self._page.end_trace(path) if self._page is not None else False

    async def end_recording(self) -> RawRecording | None:
        return await self._page.end_recording() if self._page is not None else None

    async def storage_state(self) -> Json:
        return await self._page.storage_state() if self._page is not None else self._options.storage_state

    async def close(self) -> None:
        if self._mode is not None:
            self._reading.trust.end(self._mode)
            self._mode = None
        if self._page is not None:
            await self._page.close()
