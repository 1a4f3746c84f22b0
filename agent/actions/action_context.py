"""The context of an action: the seam between the primitives and a browser."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from shoal.agent.hooks import Hooks
from shoal.agent.types import Download

Direction = Literal["up", "down", "left", "right"]


@dataclass(frozen=True, slots=True)
class ActionTarget:
    """The properties of an element that are read before it is acted on."""

    bid: str
    tag: str  # lower case
    type: str  # of inputs and buttons
    role: str  # explicit ARIA role
    value: str | None  # value or checked state, None where there is none
    editable: bool  # contenteditable
    disabled: bool
    selected: bool  # it is chosen already, where another click would undo that
    readonly: bool
    label: bool  # it is styled away, and a label takes the clicks for it
    spot: tuple[float, float] | None  # of an area: where it lies on its picture, which takes the clicks for it
    open: bool  # it lies in the window with nothing over it
    file: bool  # it says that it gives a file
    keys: bool  # it listens for single keys
    suggests: bool  # it is a field that opens a list of what fits what is typed
    chooses: bool  # what it sends is chosen from that list
    expanded: bool | None  # what it opens is open; None: it does not say
    forced: bool  # a form around it has fields by whose names Playwright asks of it: it is acted on without asking


@dataclass(frozen=True, slots=True)
class Cover:
    """The element that lies over another one."""

    name: str  # in words: dialog "Cookies"
    bid: str  # of the control or dialog that would take the click; "" where it is neither


class ActionContext(Protocol):
    """One context on which actions are performed. Errors of the browser library come out of `faults` as ours."""

    hooks: Hooks
    messages: list[tuple[str, str]]  # chat: (role, text)

    @property
    def page(self) -> Any:
        """The active tab, with the interface of a Playwright page."""
        ...

    @property
    def url(self) -> str: ...

    @property
    def left_ms(self) -> float:
        """Milliseconds that the running action may still take."""
        ...

    def faults(self) -> AbstractContextManager[None]:
        """Translates the browser's exceptions into `ActionError`s, so that an action can act on them."""
        ...

    async def target(self, bid: str, *, again: bool = False) -> ActionTarget:
        """Return what the element is, as it was when the action began;
        with `again` as it is now.

        Raises:
            ElementMissing: there is none with this id.
        """
        ...

    async def element(self, bid: str, *, clickable: bool = False) -> Any:
        """The element, with the interface of a Playwright locator; with `clickable` what takes its clicks for it."""
        ...

    async def opens(self, bid: str) -> bool:
        """Brings the element into the window; whether nothing lies over it there."""
        ...

    async def over(self, bid: str) -> Cover | None:
        """Return what lies over the middle of the element; None when nothing does, or when its frame cannot tell."""
        ...

    async def watch_click(self, bid: str) -> None:
        """Begins to note what the next click in the element's frame hits."""
        ...

    async def click_hit(self, bid: str) -> str | None:
        """Return what the click since `watch_click` hit, in words, where that was not the element."""
        ...

    async def list_opens(self, bid: str, within_s: float) -> bool:
        """Return whether something that can be chosen came since `before_opening`; that is waited for."""
        ...

    async def options(self, bid: str) -> list[tuple[str, str, bool]]:
        """Label and value of each option of a select, or of those that an input suggests; whether it is disabled."""
        ...

    async def before_opening(self, bid: str) -> None:
        """Notes which items can be chosen near the element now: those of others, if its own list is not open yet."""
        ...

    async def before_choosing(self, bid: str) -> None:
        """Notes what the form of the field would send now, and what stands beside it."""
        ...

    async def choice(self, bid: str, option: str | int, *, exact: bool = False) -> tuple[str | None, list[str]]:
        """The item with this text or position that a list or menu shows now, and the labels of all of them.

        Args:
            exact: an item that only holds the text, and one of several with the same text, is none.
        """
        ...

    async def took(self, bid: str, choice: str, text: str) -> bool:
        """Return whether the field shows or sends what was chosen from its list since `before_choosing`."""
        ...

    async def setting_spot(self, bid: str) -> tuple[float, float] | Literal["anywhere", "nowhere"]:
        """Return where a click sets a check box, in pixels from the corner of what takes its clicks,
        past the links in it.
        """
        ...

    async def set_by_script(self, bid: str) -> None:
        """Sets a check box as a label does that is clicked: where nothing on the page takes a click for it."""
        ...

    async def network_quiet_s(self) -> float:
        """Seconds without any request of the page, as far as is known since the first call; 0 while one is open."""
        ...

    async def scroll_region(self, bid: str, direction: Direction) -> bool:
        """Scrolls the region around the element; False when it was at its end."""
        ...

    async def scroll_page(self, dx: float, dy: float) -> bool:
        """Scrolls the page, or its main region; False when it was at its end."""
        ...

    async def wait_for_text(self, text: str, timeout_s: float) -> None:
        """Returns when the text can be seen in some frame."""
        ...

    async def upload_paths(self, references: Sequence[str]) -> list[Path]:
        """Local files for paths, URLs and artifact keys; those that had to be fetched are removed with the context."""
        ...

    def downloads_begun(self) -> int:
        """Return how many downloads have begun so far."""
        ...

    async def next_download(self, after: int, *, sure: bool) -> Download:
        """The download that begins after `after` others, once it has ended.

        Unless it is `sure` to come, not much longer is waited for it than the page waits for its server.

        Raises:
            DownloadFailed.
        """
        ...

    async def print_page(self) -> Download:
        """The page as a PDF, kept with the downloads."""
        ...

    async def navigate(self, url: str) -> None:
        """Opens `url` in the active tab."""
        ...

    async def new_tab(self) -> None: ...

    async def close_tab(self) -> None: ...

    async def focus_tab(self, index: int) -> None: ...

    def search_url(self, query: str) -> str:
        """The configured search engine's address for `query`.

        Raises:
            ActionRefused: none is configured.
        """
        ...
