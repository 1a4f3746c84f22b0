"""A context as actions see it: the `ActionContext` on Playwright."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import shutil
import tempfile
import time
import urllib.parse
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol, cast

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, FrameLocator, Locator, Page

from shoal.agent.actions.action_context import ActionTarget, Cover, Direction
from shoal.agent.browser import ContextOptions, Landing
from shoal.agent.chromium.acting.downloads import Downloads, safe_name
from shoal.agent.chromium.acting.fetching import fetched
from shoal.agent.chromium.acting.open_tabs import OpenTabs
from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.chromium.call_deadlines import CallDeadlines, uncounted
from shoal.agent.chromium.devtools.worlds import World
from shoal.agent.chromium.faults import action_error
from shoal.agent.chromium.process.driver import ENGINE, Driver
from shoal.agent.errors import (
    ActionError,
    ActionInvalid,
    ActionRefused,
    ActionTimeout,
    DownloadFailed,
    ElementMissing,
    ElementNotUsable,
)
from shoal.agent.support.json_value import Json
from shoal.agent.support.web_addresses import WEB, address_parts
from shoal.agent.types import Box, Download

_BID = re.compile(r"([A-Za-z]*)([0-9]{1,15})")
_MAX_UPLOAD_BYTES = 100_000_000
_POLL_S = 0.2
_LIST_POLL_S = 0.05
_PRINT = {"printBackground": True, "preferCSSPageSize": True}
_BEGIN_S = 5.0
"""Seconds after a click within which a download may begin where the page waits for no server."""


_ASKING = frozenset({"clear", "click", "fill", "hover", "select_option", "select_text"})
"""Calls before which Playwright asks the element and all around it."""


class _Forced:
    """A locator that does not ask first: a form whose fields are named as what is asked would answer with a field."""

    def __init__(self, located: Locator) -> None:
        self._located = located

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._located, name)
        return partial(call, force=True) if name in _ASKING else call


class TabHolder(Protocol):
    """The members of a browser context that its actions use."""

    open_tabs: OpenTabs
    files: Downloads
    limits: CallDeadlines
    options: ContextOptions

    @property
    def tab(self) -> Tab:
        """The active tab."""
        ...

    @property
    def url(self) -> str: ...

    def has_ended(self, error: PlaywrightError) -> bool:
        """Return whether `error` came because the page or the browser is gone."""
        ...

    async def add_tab(self) -> None: ...

    def page_aside(self) -> AbstractAsyncContextManager[Page]: ...

    async def goto(self, url: str, *, timeout_s: float | None = None) -> Landing: ...


class ChromiumActionContext:
    """One per context; `deadline` is set for each action."""

    def __init__(self, context: TabHolder, driver: Driver, folder: Path) -> None:
        self._context = context
        self._driver = driver
        self._options = context.options
        self._folder = folder  # that the browser can read
        self._uploads: Path | None = None
        self.hooks = context.options.hooks
        self.messages: list[tuple[str, str]] = []
        self.deadline = 0.0  # monotonic
        self.guard: asyncio.Timeout | None = None  # cuts the action off, a moment after the deadline
        self._element_states: dict[str, Json] = {}  # of this action: what was last told about each element
        self._told_last = ""  # the element whose state was asked for after everything else, "" when there is none

    @property
    def page(self) -> Page:
        return self._context.tab.page

    @property
    def url(self) -> str:
        return self._context.url

    @property
    def left_ms(self) -> float:
        # Playwright takes 0 for "no limit".
        return max(1.0, (self.deadline - time.monotonic()) * 1000)

    def begin(self, deadline: float) -> None:
        """A new action, with the moment at which its time is up."""
        self.deadline = deadline
        self._element_states.clear()
        self._told_last = ""

    def forget(self) -> None:
        """Forget what was told of elements."""
        self._told_last = ""

    async def watch_click(self, bid: str) -> None:
        world = await self._world(split_bid(bid)[0])
        if world is not None:
            await world.call("shoalChanges.watch()")

    async def over(self, bid: str) -> Cover | None:
        prefix, number = split_bid(bid)
        world = await self._world(prefix)
        cover = await world.call(f"shoalChanges.over({number})") if world else None
        return Cover(cover["name"], f"{prefix}{cover['id']}" if cover["id"] else "") if cover else None

    async def click_hit(self, bid: str) -> str | None:
        prefix, number = split_bid(bid)
        world = await self._world(prefix)
        return await world.call(f"shoalChanges.hit({number})") if world else None

    async def list_opens(self, bid: str, within_s: float) -> bool:
        world = await self._world(split_bid(bid)[0])
        ends = time.monotonic() + within_s
        while world is not None:
            if await world.call("shoalWalker.opened()"):
                return True
            if time.monotonic() >= ends:
                return False
            await asyncio.sleep(_LIST_POLL_S)
        return False

    @contextmanager
    def faults(self) -> Iterator[None]:
        self._told_last = ""  # what comes now may change everything
        try:
            yield
        except PlaywrightError as error:
            if self._context.has_ended(error):
                raise  # the context says what it means
            raise action_error(error) from error

    # --- elements -----------------------------------------------------------------------------------

    async def target(self, bid: str, *, again: bool = False) -> ActionTarget:
        state = None if again else self._element_states.get(bid)
        if state is None:
            state = await self.element_state(bid)
            self._told_last = bid if again else ""
        if state is None or not state["found"]:
            raise ElementMissing(f"there is no element {bid} on the page now; observe again", bid=bid)
        return ActionTarget(
            bid=bid,
            tag=state["tag"],
            type=state["type"],
            role=state["role"],
            value=state["value"],
            editable=state["editable"],
            disabled=state["disabled"],
            selected=state["selected"],
            readonly=state["readonly"],
            label=state["label"],
            spot=(state["spot"][0], state["spot"][1]) if state["spot"] else None,
            open=state["open"] and not split_bid(bid)[0],  # what lies over a frame, the frame cannot tell
            file=state["file"],
            keys=state["keys"],
            suggests=state["suggests"],
            chooses=state["chooses"],
            expanded={"true": True, "false": False}.get(state["expanded"]),
            forced=state["forced"],
        )

    async def element_state(self, bid: str) -> Json:
        """The walker's word on an element and its frame; None when there is no such frame.

        Not asked again when the action itself asked last: each question costs what a small action costs.
        """
        if self._told_last == bid:
            return self._element_states.get(bid)
        prefix, number = split_bid(bid)
        world = await self._world(prefix)
        self._element_states[bid] = await world.call(f"shoalWalker.elementState({number})") if world else None
        return self._element_states[bid]

    async def _world(self, prefix: str) -> World | None:
        look = await self._context.tab.look()
        return look.still(prefix, look.world_of(prefix) if prefix else await self._context.tab.main_world())

    async def element(self, bid: str, *, clickable: bool = False) -> Locator:
        target = await self.target(bid)
        await self._driver.register_engine()
        root = await self._root(bid)
        _, number = split_bid(bid)
        part = "/picture" if target.spot else "/label" if target.label else ""
        located = root.locator(f"{ENGINE}={number}{part if clickable else ''}")
        return cast(Locator, _Forced(located)) if target.forced else located

    async def box(self, bid: str) -> Box:
        """Return where an element lies in the window, to which it is scrolled."""
        element = await self.element(bid, clickable=True)
        with self.faults():
            await element.scroll_into_view_if_needed(timeout=self.left_ms)
            rectangle = await element.bounding_box(timeout=self.left_ms)
        if rectangle is None:
            raise ElementNotUsable(f"element {bid} is not drawn")
        return Box(rectangle["x"], rectangle["y"], rectangle["width"], rectangle["height"])

    async def opens(self, bid: str) -> bool:
        prefix, number = split_bid(bid)
        world = None if prefix else await self._world(prefix)  # what lies over a frame, the frame cannot tell
        return bool(world and await world.call(f"shoalWalker.expose({number})"))

    async def options(self, bid: str) -> list[tuple[str, str, bool]]:
        known_options = (self._element_states.pop(bid, None) or {}).get("options")
        if known_options is not None:
            return [(label, value, off) for label, value, off in known_options]
        prefix, number = split_bid(bid)
        world = await self._world(prefix)
        options = await world.call(f"shoalWalker.options({number})") if world else []
        return [(label, value, off) for label, value, off in options]

    async def before_opening(self, bid: str) -> None:
        world = await self._world(split_bid(bid)[0])
        if world is not None:
            await world.call("shoalWalker.beforeOpening()")

    async def before_choosing(self, bid: str) -> None:
        prefix, number = split_bid(bid)
        world = await self._world(prefix)
        if world is not None:
            await world.call(f"shoalWalker.beforeChoosing({number})")

    async def choice(self, bid: str, option: str | int, *, exact: bool = False) -> tuple[str | None, list[str]]:
        prefix, number = split_bid(bid)
        world = await self._world(prefix)
        if world is None:
            return None, []
        chosen = await world.call(f"shoalWalker.choice({number}, {json.dumps(option)}, {json.dumps(exact)})")
        return f"{prefix}{chosen['id']}" if chosen["id"] else None, chosen["labels"]

    async def took(self, bid: str, choice: str, text: str) -> bool:
        prefix, number = split_bid(bid)
        world = await self._world(prefix)
        asked = f"shoalWalker.took({number}, {split_bid(choice)[1]}, {json.dumps(text)})"
        return bool(world and await world.call(asked))

    async def setting_spot(self, bid: str) -> tuple[float, float] | Literal["anywhere", "nowhere"]:
        prefix, number = split_bid(bid)
        world = await self._world(prefix)
        spot = await world.call(f"shoalWalker.settingSpot({number})") if world else "anywhere"
        if isinstance(spot, list):
            return spot[0], spot[1]
        return "nowhere" if spot == "nowhere" else "anywhere"

    async def set_by_script(self, bid: str) -> None:
        prefix, number = split_bid(bid)
        world = await self._world(prefix)
        if world is not None:
            await world.call(f"shoalWalker.find({number})?.click()")

    async def network_quiet_s(self) -> float:
        return (await self._context.tab.traffic()).quiet_for()

    async def _root(self, bid: str) -> Page | FrameLocator:
        prefix, _ = split_bid(bid)
        path = (await self._context.tab.look()).paths.get(prefix, () if not prefix else None)
        if path is None:
            raise ElementMissing(f"there is no frame {prefix!r} on the page now; observe again", bid=bid)
        await self._driver.register_engine()
        root: Page | FrameLocator = self.page
        for step in path:
            root = root.locator(f"{ENGINE}={split_bid(step)[1]}").content_frame
        return root

    # --- scrolling and waiting ----------------------------------------------------------------------

    async def scroll_region(self, bid: str, direction: Direction) -> bool:
        await self.target(bid)
        prefix, number = split_bid(bid)
        world = await self._world(prefix)
        return bool(world and await world.call(f"shoalWalker.scrollRegion({number}, {direction!r})"))

    async def scroll_page(self, dx: float, dy: float) -> bool:
        world = await self._context.tab.main_world()
        return bool(await world.call(f"shoalWalker.scrollPage({dx}, {dy})"))

    async def wait_for_text(self, text: str, timeout_s: float) -> None:
        ends = time.monotonic() + timeout_s
        waits: dict[Frame | None, asyncio.Task[None]] = {
            None: asyncio.create_task(self._wait_for_text_in_closed_root(text, timeout_s))
        }
        try:
            while (left := ends - time.monotonic()) > 0:
                for frame in self.page.frames:  # those that came since, too
                    if frame not in waits:
                        waits[frame] = asyncio.create_task(_wait_for_text_in_frame(frame, text, left))
                self._context.limits.check()
                if pending := [task for task in waits.values() if not task.done()]:
                    await asyncio.wait(pending, timeout=min(left, _POLL_S), return_when=asyncio.FIRST_COMPLETED)
                else:  # the tab is gone; the site may come with another
                    await asyncio.sleep(min(left, _POLL_S))
                if any(task.done() and task.exception() is None for task in waits.values()):
                    return
        finally:
            for task in waits.values():
                task.cancel()
            await asyncio.gather(*waits.values(), return_exceptions=True)
        raise ActionTimeout(f"the text {text!r} was not there within {timeout_s:g} s")

    async def _wait_for_text_in_closed_root(self, text: str, timeout_s: float) -> None:
        """Returns when a closed shadow root, which Playwright does not look into, shows the text."""
        look = await self._context.tab.look()
        asked = f"shoalWalker.closedSays({json.dumps(text)})"
        async with asyncio.timeout(timeout_s):
            while True:
                for prefix in tuple(look.frames):
                    world = look.world_of(prefix)
                    if world is not None and await world.call(asked):
                        return
                await asyncio.sleep(_POLL_S)

    # --- files --------------------------------------------------------------------------------------

    async def upload_paths(self, references: Sequence[str]) -> list[Path]:
        return [await self._upload_path(reference) for reference in references]

    async def _upload_path(self, reference: str) -> Path:
        if address_parts(reference).scheme in WEB:
            return await self._fetched(reference)
        local = await asyncio.to_thread(self._local_file, reference)
        if local is not None:
            return await asyncio.to_thread(self._brought, local)
        if self.hooks.fetch is None:
            raise ActionInvalid(
                f"there is no file {reference!r} where the browser runs, and the hook 'fetch' for artifacts is not "
                "configured; name a file by its full path on the worker's machine, or by an http(s) address"
            )
        upload = await self.hooks.fetch(reference)
        _allow(reference, len(upload.data))
        return self._keep(upload.name, upload.data)

    def _local_file(self, reference: str) -> Path | None:
        """The file at a path, where it may be given to pages; None when there is none."""
        path = Path(reference)
        if not path.is_file():
            return None
        allowed = self._options.upload_dirs
        if allowed is not None and not any(path.resolve().is_relative_to(Path(root).resolve()) for root in allowed):
            raise ActionRefused(
                f"file: {reference} is not in a folder that files may be uploaded from; name an http(s) address, "
                "or have the operator add its folder to SHOAL_UPLOAD_DIRS"
            )
        _allow(reference, path.stat().st_size)
        return path

    def _brought(self, path: Path) -> Path:
        """A copy of a local file, under its own name, where a browser can read it that reads little else."""
        copy = Path(tempfile.mkdtemp(dir=self._place())) / path.name
        shutil.copyfile(path, copy)
        return copy

    async def _fetched(self, url: str) -> Path:
        """Fetched by the browser's own network stack, so that its proxy and its address rules hold."""
        await self._ask_guard(url)
        with self.faults():
            async with self._context.page_aside() as page:
                name, data = await fetched(self._context.tab.connection, page, url, _MAX_UPLOAD_BYTES)
        return self._keep(name, data)

    def _keep(self, name: str, data: bytes) -> Path:
        path = self._place() / safe_name(name)
        path.write_bytes(data)
        return path

    def _place(self) -> Path:
        if self._uploads is None:
            self._uploads = Path(tempfile.mkdtemp(prefix="shoal-uploads-", dir=self._folder))
        return self._uploads

    async def close(self) -> None:
        """Removes what was fetched for uploads."""
        if self._uploads is not None:
            await asyncio.to_thread(shutil.rmtree, self._uploads, True)

    def downloads_begun(self) -> int:
        return self._context.files.count

    async def next_download(self, after: int, *, sure: bool) -> Download:
        while not await self._context.files.begins(after, min(_BEGIN_S, self.left_ms / 1000)):
            tab = self._context.tab
            asked = sure or (await tab.navigation()).under_way or (await tab.traffic()).quiet_for() < _POLL_S
            if not asked or self.left_ms <= 1:  # nothing is under way that could turn out to be a file
                raise DownloadFailed("no download began")
        return await self._context.files.last()

    async def print_page(self) -> Download:
        session = await self._context.tab.session()
        with self.faults():
            printed = await session.send("Page.printToPDF", _PRINT)
        name = safe_name(f"{await self.page.title() or 'page'}.pdf")
        return await self._context.files.keep(name, self.url, base64.b64decode(printed["data"]))

    # --- tabs and pages -----------------------------------------------------------------------------

    async def navigate(self, url: str) -> None:
        await self._ask_guard(url)
        landing = await self._context.goto(url, timeout_s=self.left_ms / 1000)
        if landing.status >= 400:
            raise ActionError(f"{landing.url} answered {landing.status}")

    async def _ask_guard(self, url: str) -> None:
        """The site's own time, however long the page has to wait for its turn: none of the action's."""
        if self.hooks.navigation_guard is None:
            return
        assert self.guard is not None, "addresses are opened by actions only"
        began = time.monotonic()
        with uncounted(self.guard):
            await self.hooks.navigation_guard(url)
        self.deadline += time.monotonic() - began

    async def new_tab(self) -> None:
        with self.faults():
            await self._context.add_tab()

    async def close_tab(self) -> None:
        with self.faults():
            closing = self._context.tab
            if len(self._context.open_tabs.all) == 1:
                await self._context.add_tab()
            await closing.page.close()

    async def focus_tab(self, index: int) -> None:
        tabs = self._context.open_tabs.all
        if not 0 <= index < len(tabs):
            raise ActionInvalid(f"index: there is no tab {index}; there are 0 to {len(tabs) - 1}")
        self._context.open_tabs.active = tabs[index]
        with self.faults():
            await self.page.bring_to_front()

    def search_url(self, query: str) -> str:
        if not self._options.search_url:
            raise ActionRefused("no search engine is configured here")
        return self._options.search_url.replace("{query}", urllib.parse.quote_plus(query))


async def _wait_for_text_in_frame(frame: Frame, text: str, timeout_s: float) -> None:
    """Returns when the text can be seen in a frame; the first place that has it may be a hidden one."""
    seen = frame.get_by_text(text).filter(visible=True).first
    await seen.wait_for(state="visible", timeout=max(1.0, timeout_s * 1000))


def _allow(reference: str, size: int) -> None:
    if size > _MAX_UPLOAD_BYTES:
        raise ActionRefused(f"file: {reference} has {size} bytes; {_MAX_UPLOAD_BYTES} may be uploaded")


def split_bid(bid: str) -> tuple[str, int]:
    """An id's frame prefix and its number.

    Raises:
        ActionInvalid: it is no id.
    """
    match = _BID.fullmatch(bid)
    if match is None:
        raise ActionInvalid(f"bid: {bid!r} is no element id")
    return match.group(1), int(match.group(2))
