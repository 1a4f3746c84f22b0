"""The browser seam: what a session needs of a browser. Implementations: `shoal.agent.chromium`,
`tests.doubles`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from shoal.agent.hooks import Hooks
from shoal.agent.spec import BrowserSpec
from shoal.agent.support.json_value import Json
from shoal.agent.support.sites.prospect import Prospect, Unchosen
from shoal.agent.support.sites.sites import Sites
from shoal.agent.support.web_addresses import WEB
from shoal.agent.types import Action, ActionResult, Box, Download, Observation, PageErrors

NO_BYPASS = "<-loopback>"
"""For Chromium: what leads to loopback goes through the proxy like everything else."""


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """Options of one isolated browser context."""

    browser: BrowserSpec = BrowserSpec()  # viewport, locale, headers, proxy, ...
    proxy: str | None = None  # "http://host:port" that all its requests go through; None: as the browser's own
    storage_state: Json = None  # cookies and storage to begin with, in Playwright's format
    downloads_dir: str | None = None  # where downloads land; None: a temporary folder of the context
    action_timeout_s: float = 10.0  # limit of one action
    look_timeout_s: float | None = None  # limit of one look; None: as of an action
    navigation_timeout_s: float = 30.0  # limit of one navigation
    download_timeout_s: float = 60.0  # limit of one download
    max_download_bytes: int = 100_000_000  # a larger file is not kept
    max_downloads: int = 100  # files that may be begun; later ones are refused
    max_downloaded_bytes: int = 500_000_000  # of all files together
    upload_dirs: tuple[str, ...] | None = None  # local files may be uploaded from these folders only; None: from all
    human_timeout_s: float = 600.0  # limit of an action that a person answers
    search_url: str | None = None  # address of the search engine with {query} in it; None: no searching
    allow_python: bool = False  # the unsafe action python(code)
    hooks: Hooks = Hooks()  # who answers what the browser cannot
    reuse: str | None = None  # may serve, emptied, the next session that gives the same key; None: made for this one
    reuse_site: str = ""  # with `reuse`: of the site where it begins; sessions on other sites get no such context
    reading: bool = False  # a hint: its pages are likely to be only read, neither observed nor acted on
    schemes: tuple[str, ...] = WEB  # of addresses that are opened; others only for pages that the caller wrote
    fetched_json: bool = False  # the JSON that scripts of its pages fetch is asked for, whatever the site is like
    trace: bool = False  # everything is recorded for Playwright's trace viewer, from the first page on
    trace_pictures: bool = True  # with `trace`: how the page looked, too
    recording: bool = False  # the DOM events of its pages are recorded, from the first page on
    sites: Sites | None = None  # to which its pages may send forms while actions are performed; None: to all
    accept_dialogs: bool = True  # confirm and prompt get yes and the default text; False: they are dismissed
    playwright: Mapping[str, Any] = field(default_factory=dict)  # further options of Playwright's own contexts

    @property
    def look_s(self) -> float:
        """Limit of one look, in seconds."""
        return self.action_timeout_s if self.look_timeout_s is None else self.look_timeout_s


@dataclass(frozen=True, slots=True)
class RawRecording:
    """The DOM events of a context's pages as rrweb's recorder told them, with all that pages held."""

    tabs: tuple[tuple[str, ...], ...]  # of each tab its batches: JSON, in the order in which they came
    full: bool = False  # it was ended early, since it had become too large


@dataclass(frozen=True, slots=True)
class Landing:
    """The end of a navigation: the address that it reached and the server's answer."""

    url: str
    status: int  # HTTP status of the document; 0 when there was no HTTP response (about:, data:)
    content_type: str = ""
    retry_after_s: float | None = None  # the answer's Retry-After, as seconds from now
    egress: str = ""  # what the cluster's own egress filter answered in the site's place; "" when the site answered


WANTED_HEADERS = frozenset({"accept", "content-type", "x-requested-with"})
"""Headers by which a script says what it wants. None of them says who asks."""


@dataclass(frozen=True, slots=True)
class FetchedJson:
    """JSON that a script of a page fetched while the page was open."""

    url: str  # of the answer
    text: str  # as it came; it need not parse
    # Some of `WANTED_HEADERS`, by which the same can be asked again.
    # None: another header may say who asks, or the site led elsewhere.
    headers: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ObserveOptions:
    """Contents and limits of an observation."""

    screenshot: bool = False
    marks: bool = False  # also a screenshot with set-of-marks
    max_elements: int | None = None  # budget; None: no limit
    max_chars: int | None = None  # budget of the compact text; None: no limit
    viewport_only: bool = False
    words: tuple[str, ...] = ()  # of the goal: elements with them are kept first when the budget cuts
    part: int = 0  # which part of a page that the budget cut, from 0


@dataclass(frozen=True, slots=True)
class Shot:
    """One screenshot."""

    data: bytes
    content_type: str
    width: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True)
class FrameOptions:
    """Rate, quality and size of the pictures of a page that is shown while it is worked on."""

    per_s: float = 5.0  # pictures a second at most
    quality: int = 60  # of JPEG, 1 to 100
    most_pixels: int = 1280  # width and height of a picture; a larger viewport is scaled down


@dataclass(frozen=True, slots=True)
class ScreencastFrame:
    """One picture of a page that is shown while it is worked on."""

    jpeg: bytes
    width: float  # of the viewport, in CSS pixels
    height: float


@dataclass(frozen=True, slots=True)
class BrowserHealth:
    """The state of a browser and its processes."""

    alive: bool
    contexts: int
    started_at: float  # seconds since the epoch
    sessions: int  # contexts opened since the start
    rss_bytes: int = 0  # memory of the process tree, what its processes share counted once
    pids: tuple[int, ...] = field(default_factory=tuple)  # of the process tree


@dataclass(frozen=True, slots=True)
class ElementPath:
    """The path to an element, each part by its position in its own document or shadow root."""

    frames: tuple[str, ...]  # ids of the frames around it, outermost first
    hosts: tuple[str, ...]  # CSS selectors of the shadow hosts around it in its document, outermost first
    css: str  # of the element


class PageDocument(Protocol):
    """The document of a page's main frame, or of a frame in it."""

    async def read(self, script: str, arg: Json = None) -> Json:
        """Return what the JavaScript function `script` returns for `arg` in the document.

        It runs in an isolated world: page scripts do not see it. The value must be JSON.

        Raises:
            ReadTimeout: the script takes too long, on a page that is well.
            PageHangs, PageCrashed, BrowserGone.
        """
        ...

    async def locate(self, selectors: Sequence[str], hosts: Sequence[str] = ()) -> Sequence[str | None]:
        """For each CSS selector or XPath ("/…" or "(…") the id of the only element of the document that it finds.

        None where it finds none or several, or is no selector.

        Args:
            hosts: CSS selectors of shadow hosts, outermost first: what is looked for lies in the shadow root of the
                last one. XPath finds nothing there.
        """
        ...


class Context(PageDocument, Protocol):
    """One isolated context with its tabs. As a document it is the main frame of the active tab.

    Every call has a deadline and raises a typed error; none hangs.
    """

    @property
    def url(self) -> str:
        """Address of the active tab, as last known; "about:blank" before the first navigation."""
        ...

    async def goto(self, url: str, *, timeout_s: float | None = None) -> Landing:
        """Opens `url` in the active tab, up to its parsed document: http, https or about:blank, and `options.schemes`.

        A document that sends its visitor on after a few seconds (`<meta http-equiv=refresh>`) is followed.

        An HTTP error status is an answer, not an exception (the caller decides by `Landing.status`).

        Raises:
            NavigationTimeout, HostUnreachable, NavigationError, AddressForbidden, PageCrashed, BrowserGone.
        """
        ...

    async def observe(self, options: ObserveOptions = ObserveOptions()) -> Observation:
        """The active tab as an observation, without goal, history and elapsed time.

        Raises:
            ReadTimeout: it did not come in time, though the page answers.
            PageHangs: the browser answers, the page does not.
            PageCrashed, BrowserGone: the latter of a browser that hangs, too.
        """
        ...

    async def selectors(self, bid: str) -> tuple[str, str] | None:
        """A CSS selector and an XPath by which this element of the main frame is found again; None when it is gone."""
        ...

    async def element_path(self, bid: str) -> ElementPath | None:
        """Return where an element stands, in whichever frame; None when it is gone, or lies in a closed shadow root."""
        ...

    async def frame_document(self, frames: Sequence[str]) -> PageDocument | None:
        """The document of the frame that CSS selectors of frames lead to, outermost first.

        None where one of them finds no frame, or several elements, or its document is not there yet.
        """
        ...

    async def act(self, action: Action, *, proving: Sequence[Unchosen] = ()) -> ActionResult:
        """Performs one action and says what it changed; a failed action is a result, not an exception.

        Args:
            proving: fields whose texts have to be in what is sent: what goes out without them is held back.

        Raises:
            PageCrashed, BrowserGone: only what ends the context.
        """
        ...

    async def harmless(self, action: Action) -> bool:
        """Return whether the action provably sends nothing on the page as it is.

        That is so where it only fills a field, or follows a plain link, and no script listens there.
        False where that cannot be told. Of actions that never send, or always may, it need not be asked.

        Raises:
            ElementMissing: there is no element with the id that it names.
            PageCrashed, BrowserGone.
        """
        ...

    async def prospect(self, action: Action) -> Prospect:
        """Return what the action would reach on the page as it is.

        Raises:
            ElementMissing: there is no element with an id that it names.
            ActionError: it cannot be told.
            PageCrashed, BrowserGone.
        """
        ...

    async def settle(self, *, quiet_s: float = 0.3, budget_s: float = 5.0) -> bool:
        """Waits until network and DOM have been quiet for `quiet_s`; False when the budget ran out.

        A document that sends its visitor on at once is followed first.
        """
        ...

    async def unreachable(self) -> str:
        """The address that the page itself led to and that could not be opened; "" where a document is there."""
        ...

    async def open_requests(self) -> Sequence[str]:
        """Addresses from which the active tab's data and scripts are under way.

        Requests that began before the first call, or the first `settle`, may be missing.
        """
        ...

    async def fetched_json(self, *, budget_s: float = 0.5) -> Sequence[FetchedJson]:
        """The JSON that scripts of the active tab's document fetched by GET from the page's own site.

        Nothing where the page is not watched (`ContextOptions.fetched_json`), nor while such a request is still
        under way after `budget_s`. At most 30 answers of 1 MB each are given, and 2 million characters of all.
        """
        ...

    async def screenshot(self, *, full_page: bool = False, bid: str | None = None, region: Box | None = None) -> Shot:
        """The viewport, the whole page, one element, or a region of the viewport in CSS pixels (it may reach beyond).

        An element is scrolled to where it is not in the window.

        Raises:
            ElementMissing: there is none with this `bid`.
            ActionInvalid: the region is empty or lies before the page, or more than one of the three is asked for.
        """
        ...

    async def archive(self) -> str:
        """The page as MHTML (RFC 2557): its frames, style sheets and pictures, secrets included."""
        ...

    def frames(self, options: FrameOptions = FrameOptions()) -> AsyncGenerator[ScreencastFrame, None]:
        """Pictures of the active tab's viewport, a new one after each change, until the context ends.

        Costs nothing while nothing is iterated. Pictures that the caller has no time for are left out.
        """
        ...

    async def downloads(self) -> Sequence[Download]:
        """Files that came since the last call."""
        ...

    async def page_errors(self, *, ask: bool = False) -> PageErrors:
        """Errors of the tabs' consoles and network since the last call, as pages told them, secrets included.

        Of a page that was neither observed nor acted on only with `ask`, and then those of its current document.
        What `browser.block` kept from being fetched is no error.

        Raises:
            PageCrashed, BrowserGone: only with `ask`.
        """
        ...

    async def storage_state(self) -> Json:
        """Cookies and origins' storage, in Playwright's format."""
        ...

    async def end_trace(self, path: str) -> bool:
        """Ends what `options.trace` began, and writes it to the file `path` as Playwright does, secrets included.

        False where nothing was recorded.

        Raises:
            BrowserError: it could not be written.
        """
        ...

    async def end_recording(self) -> RawRecording | None:
        """Return what `options.recording` brought, secrets included; None where nothing was recorded.
        To be called once.
        """
        ...

    async def close(self) -> None:
        """Ends the context and its tabs; never raises, may be called twice."""
        ...


class Browser(Protocol):
    """One browser process."""

    async def new_context(self, options: ContextOptions = ContextOptions()) -> Context:
        """A fresh, isolated context with one blank tab.

        Raises:
            BrowserGone: the process ended; the owner starts another.
        """
        ...

    async def navigation_accept(self) -> str:
        """The header Accept of its navigations. It is learned once, without a request to any site.

        Raises:
            BrowserGone: the process ended, or does not answer.
        """
        ...

    async def health(self) -> BrowserHealth:
        """Return how the process is doing; answers also when it is dead."""
        ...

    async def restrain(self, most_bytes: int) -> int:
        """Ends pages that hold more memory than that each, and makes others stand back that compute without a pause.

        To be called every few seconds. Gives how many pages were ended: those have crashed, the others notice nothing.
        """
        ...

    async def close(self) -> None:
        """Ends the process and removes what it left on disk; never raises, may be called twice."""
        ...
