"""A browser without a browser: pages from a dictionary, for tests of everything above the browser seam."""

from __future__ import annotations

import asyncio
import base64
import time
import zipfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from shoal.agent.browser import (
    BrowserHealth,
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
from shoal.agent.errors import AgentError, BrowserGone, ElementMissing, HostUnreachable, PageCrashed
from shoal.agent.observe.tree import find_element, walk_elements
from shoal.agent.page.from_browser import SCRIPT
from shoal.agent.support.json_value import Json
from shoal.agent.support.sites.prospect import Prospect, Unchosen
from shoal.agent.support.web_addresses import check_opened
from shoal.agent.types import Action, ActionResult, Box, Download, Effect, Element, Observation, PageErrors

_NO_MARKS = base64.b64encode(bytes(4)).decode()  # of one element
_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


@dataclass(frozen=True, slots=True)
class FakePage:
    """The answer of one address."""

    title: str = ""
    status: int = 200
    read: Json = None  # what every `read` gives: a value, or a function of (script, arg); None: an empty tree alone
    elements: Element = Element("", "body")  # the tree of its observation
    actions: Mapping[str, str] | None = None  # "click 12" or "press 12": where that leads; "" stays on the page
    retry_after_s: float | None = None
    seconds: float = 0.0  # how long it takes to load
    act_seconds: float = 0.0  # how long an action on it takes
    raises: AgentError | None = None  # instead of loading
    refuses: AgentError | None = None  # what every action on it fails with
    harmless: tuple[str, ...] = ()  # names of actions that provably send nothing here
    reaches: Mapping[str, Prospect] = field(default_factory=dict)  # as `actions`: what that would reach
    fetched: tuple[FetchedJson, ...] = ()  # what its scripts fetched
    unreachable: str = ""  # where its script led in vain
    settled: str = ""  # where it leads by itself until it has settled
    gives: tuple[Download, ...] = ()  # files that it gives as soon as it is opened


class FakeBrowser:
    """A `Browser` over `pages`; an address that is not among them is unreachable.

    Counts what it is asked, so that tests can see overlap: `most_open` contexts were open at once.

    Args:
        break_nth: the how-manieth call into any context raises `error` (from 1), to reach every error branch.
    """

    def __init__(
        self, pages: Mapping[str, FakePage], *, break_nth: int | None = None, error: AgentError | None = None
    ) -> None:
        self.pages = dict(pages)
        self.visits: list[str] = []
        self.rss_bytes = 0  # what its health tells
        self.trace = ""  # of every context that is to have one, as Playwright writes it: an event a line
        self.requests = ""  # its requests
        self.recorded: tuple[str, ...] = ()  # of every context that is to be recorded: batches of its tab
        self.page_errors = PageErrors()  # what the next call for the errors of a page gives
        self.restrained: list[int] = []  # what its pages were held to, each time
        self.performed: list[Action] = []
        self.proving: dict[str, Sequence[Unchosen]] = {}  # by the action that had to prove it
        self.open = 0
        self.most_open = 0
        self.opened = 0
        self.asked: list[ContextOptions] = []  # of every context
        self.calls = 0
        self.alive = True
        self._break_nth = break_nth
        self._error = error or PageCrashed()
        self._started = time.time()

    async def new_context(self, options: ContextOptions = ContextOptions()) -> FakeContext:
        self.count()
        self.open += 1
        self.opened += 1
        self.asked.append(options)
        self.most_open = max(self.most_open, self.open)
        return FakeContext(self, options)

    def count(self) -> None:
        """Notes one call; raises where the script wants a failure, or when the browser was killed."""
        self.calls += 1
        if not self.alive:
            raise BrowserGone()
        if self.calls == self._break_nth:
            raise self._error

    def kill(self) -> None:
        """The process dies: every later call raises `BrowserGone`."""
        self.alive = False

    async def navigation_accept(self) -> str:
        self.count()
        return "text/html,*/*;q=0.8"

    async def restrain(self, most_bytes: int) -> int:
        self.restrained.append(most_bytes)
        return 0

    async def health(self) -> BrowserHealth:
        return BrowserHealth(self.alive, self.open, self._started, self.opened, self.rss_bytes)

    async def close(self) -> None:
        self.alive = False


class FakeContext:
    """One context of a `FakeBrowser`."""

    def __init__(self, browser: FakeBrowser, options: ContextOptions) -> None:
        self._browser = browser
        self._url = "about:blank"
        self._closed = False
        self._traced = options.trace
        self._recorded = options.recording
        self.storage: Json = options.storage_state
        self._files: list[Download] = []
        self._told = self._taken = 0  # of the files

    @property
    def url(self) -> str:
        return self._url

    def _page(self) -> FakePage:
        self._browser.count()
        if self._closed:
            raise BrowserGone("the context is closed")
        return self._browser.pages.get(self._url, FakePage())

    async def goto(self, url: str, *, timeout_s: float | None = None) -> Landing:
        check_opened(url)
        self._page()
        page = self._browser.pages.get(url)
        self._browser.visits.append(url)
        if page is None:
            raise HostUnreachable(f"nothing answers at {url}")
        await asyncio.sleep(page.seconds)
        if page.raises is not None:
            raise page.raises
        self._url = url
        self._files += page.gives
        return Landing(url, page.status, "text/html", page.retry_after_s)

    async def read(self, script: str, arg: Json = None) -> Json:
        page = self._page()
        if callable(page.read):
            return page.read(script, arg)
        return self._tree() if page.read is None and script == SCRIPT else page.read

    def _tree(self) -> Json:
        """The answer of a document that holds nothing."""
        empty: dict[str, Json] = {key: {} for key in ("values", "roots", "slotted")}
        return {"url": self._url, "base": self._url, "xml": "<html/>", "marks": _NO_MARKS, "boxes": "", **empty}

    async def observe(self, options: ObserveOptions = ObserveOptions()) -> Observation:
        page = self._page()
        told, self._told = self._told, len(self._files)
        return Observation(
            self._url,
            page.title,
            page.elements,
            screenshot=_PIXEL if options.screenshot else None,
            downloads=tuple(self._files[told:]),
        )

    async def locate(self, selectors: Sequence[str], hosts: Sequence[str] = ()) -> Sequence[str | None]:
        self._page()
        return [None for _ in selectors]  # there is no document behind the tree

    async def selectors(self, bid: str) -> tuple[str, str] | None:
        self._page()
        return None

    async def element_path(self, bid: str) -> ElementPath | None:
        self._page()
        return None

    async def frame_document(self, frames: Sequence[str]) -> PageDocument | None:
        self._page()
        return None

    async def act(self, action: Action, *, proving: Sequence[Unchosen] = ()) -> ActionResult:
        page = self._page()
        self._browser.performed.append(action)
        self._browser.proving |= {action.name: tuple(proving)} if proving else {}
        await asyncio.sleep(page.act_seconds)
        if page.refuses is not None:
            return ActionResult(action, error=page.refuses.info())
        key = _key(action)
        target = (page.actions or {}).get(key)
        if target is None:
            return ActionResult(action, error=ElementMissing(f"nothing here takes: {key}").info())
        if target:
            self._url = target
        return ActionResult(action, effect=Effect(url=target or None, dom_changed=True))

    async def harmless(self, action: Action) -> bool:
        return action.name in self._page().harmless

    async def prospect(self, action: Action) -> Prospect:
        page, url = self._page(), str(action.args.get("url", ""))
        listed = any(element.attributes.get("href") == url for element in walk_elements(page.elements))
        return page.reaches.get(_key(action), Prospect((self._url,), listed=listed))

    async def settle(self, *, quiet_s: float = 0.3, budget_s: float = 5.0) -> bool:
        self._url = self._page().settled or self._url
        return True

    async def unreachable(self) -> str:
        return self._page().unreachable

    async def open_requests(self) -> Sequence[str]:
        return ()

    async def fetched_json(self, *, budget_s: float = 0.5) -> Sequence[FetchedJson]:
        return self._page().fetched

    async def screenshot(self, *, full_page: bool = False, bid: str | None = None, region: Box | None = None) -> Shot:
        page = self._page()
        if bid is not None and find_element(page.elements, bid) is None:
            raise ElementMissing(f"there is no element {bid} on the page now; observe again", bid=bid)
        return Shot(_PIXEL, "image/png", 1, 1)

    async def archive(self) -> str:
        text = " ".join(element.text for element in walk_elements(self._page().elements))
        return f"Content-Type: text/html\r\nContent-Transfer-Encoding: 8bit\r\n\r\n{text}"

    async def frames(self, options: FrameOptions = FrameOptions()) -> AsyncGenerator[ScreencastFrame, None]:
        while not self._closed:
            yield ScreencastFrame(_PIXEL, 1, 1)
            await asyncio.sleep(1 / options.per_s)

    async def downloads(self) -> Sequence[Download]:
        self._page()
        taken, self._taken = self._taken, len(self._files)
        return tuple(self._files[taken:])

    async def page_errors(self, *, ask: bool = False) -> PageErrors:
        if ask:
            self._page()
        taken, self._browser.page_errors = self._browser.page_errors, PageErrors()
        return taken

    async def storage_state(self) -> Json:
        self._page()
        return self.storage or {"cookies": [], "origins": []}

    async def end_trace(self, path: str) -> bool:
        self._browser.count()
        if not self._traced:
            return False
        with zipfile.ZipFile(path, "w") as trace:
            trace.writestr("trace.trace", self._browser.trace)
            trace.writestr("trace.network", self._browser.requests)
        return True

    async def end_recording(self) -> RawRecording | None:
        self._browser.count()
        return RawRecording((self._browser.recorded,)) if self._recorded else None

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._browser.open -= 1


def _key(action: Action) -> str:
    return " ".join([action.name, *(str(v) for v in list(action.args.values())[:1])])


def text(words: str) -> Element:
    """A text node for a fake page's tree."""
    return Element("", "#text", text=words)


def body(*children: Element) -> Element:
    """The root of a fake page's tree."""
    return replace(Element("", "body"), children=children)
