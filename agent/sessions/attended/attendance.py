"""A person beside a running session: looks at its page, and may take the page over for a while.

The session asks at the boundaries of its steps whether a person wants the page (`is_person_waiting`), and then lets
them lead (`lead`). The relay of the person's browser calls the other methods. A takeover is a lease: it ends when the
person says nothing for `LEASE_S`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum

from shoal.agent.browser import Context, FrameOptions, ScreencastFrame
from shoal.agent.errors import ActionRefused, AgentError
from shoal.agent.hooks import DialogAnswer, DialogAsked
from shoal.agent.redaction.redactor import Redactor
from shoal.agent.types import Action, ActionResult, Task

LEASE_S = 20.0
"""A person who says nothing for so long has gone away; their page says every few seconds that it is there."""
TAKEOVER_S = 1800.0
"""Seconds that a takeover lasts at most."""
DIALOG_S = 120.0
"""Seconds that a dialog of the page waits for the person's answer; then the context's own rule answers."""

ALLOWED = frozenset(
    {"mouse_click", "mouse_dblclick", "keyboard_type", "keyboard_press", "scroll_at", "goto", "go_back"}
)
"""Actions that a person may do on a page."""

_SHOWN = """
(inFrames) => {
  const texts = [];
  const roots = [document];
  while (roots.length) {
    const root = roots.pop();
    for (const node of root.querySelectorAll('*')) {
      if (node.shadowRoot) roots.push(node.shadowRoot);
      if (node.tagName === 'IFRAME' || node.tagName === 'FRAME') {
        if (node.contentDocument) roots.push(node.contentDocument);
        else if (inFrames) return null;
      }
      const field = node.tagName === 'TEXTAREA' || (node.tagName === 'INPUT' && node.type !== 'password');
      if (field && node.value) texts.push(node.value);
    }
    texts.push((root.body || root).innerText || (root.body || root).textContent || '');
  }
  return texts;
}
"""
"""The texts that the page shows people; null where there are some that cannot be read, and a secret may be among them.
A password field hides what it holds."""


class PageControl(StrEnum):
    """Who acts on the page."""

    AGENT = "agent"
    ASKED = "asked"
    """A person wants it; the agent ends its step first."""
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a session as its watchers see it."""

    url: str  # of its page, without secrets
    control: PageControl
    holder: str = ""  # the name of the person who has asked or acts
    withheld: bool = False  # its page shows a secret that was filled in: no picture is given
    dialog: DialogAsked | None = None  # waits for the person's answer


@dataclass(frozen=True, slots=True)
class HandedBack:
    """The end of a takeover."""

    by: str  # the person's name
    message: str = ""  # a sentence for the agent
    done: bool = False  # what the agent was about to do is done
    away: bool = False  # the person said nothing any more


@dataclass(slots=True, eq=False)
class _Order:
    action: Action
    done: asyncio.Future[ActionResult]


@dataclass(slots=True, eq=False)
class _Takeover:
    lease: str
    name: str
    began: float = field(default_factory=time.monotonic)
    heard: float = field(default_factory=time.monotonic)
    leads: bool = False
    orders: asyncio.Queue[_Order | HandedBack] = field(default_factory=asyncio.Queue)

    @property
    def left_s(self) -> float:
        """Until the lease ends, unless the person is heard again."""
        return min(self.heard + LEASE_S, self.began + TAKEOVER_S) - time.monotonic()


class Attendance:
    """The people beside one session. At most one of them leads."""

    def __init__(self) -> None:
        self._page: Context | None = None
        self._hidden = Redactor()
        self._tasks: Callable[[], tuple[Task, ...]] = tuple
        self._closed_to = ""  # why people may not take this session over; "": they may
        self._takeover: _Takeover | None = None
        self._dialog: tuple[DialogAsked, asyncio.Future[DialogAnswer]] | None = None
        self._withheld = False
        self._filling = 0  # actions under way that fill in a secret
        self._fills = 0  # such actions so far
        self._in_frames = False  # one of them filled a frame
        self._ended = False
        self._change = asyncio.Event()  # set by the next change
        self.last_frame: ScreencastFrame | None = None  # that was given, as the person saw it

    # --- the session's side --------------------------------------------------------------------------

    def begin(
        self,
        page: Context,
        hidden: Redactor,
        *,
        closed_to: str = "",
        tasks: Callable[[], tuple[Task, ...]] = tuple,
    ) -> None:
        """The session runs, on this page; `hidden` knows its secrets, and `tasks` gives what it has done so far."""
        self._page, self._hidden, self._closed_to, self._tasks = page, hidden, closed_to, tasks

    def end(self) -> None:
        """The session is over."""
        self._ended = True
        self._page = None
        if self._takeover is not None:
            self._close(self._takeover)
        self._notify()

    @contextmanager
    def filling(self, secret: bool, *, in_frame: bool = False) -> Iterator[None]:
        """While an action runs that fills in a secret: pictures taken meanwhile are not given."""
        if not secret:
            yield
            return
        self._filling += 1
        self._fills += 1
        self._in_frames = self._in_frames or in_frame
        try:
            yield
        finally:
            self._filling -= 1
            self._fills += 1

    @property
    def is_person_waiting(self) -> bool:
        """Return whether a person waits for the page."""
        takeover = self._takeover
        if takeover is None:
            return False
        if takeover.left_s <= 0:
            self._close(takeover)
            return False
        return True

    async def lead(self, act: Callable[[Action, str], Awaitable[ActionResult]]) -> HandedBack:
        """Lets the person who waits act until they hand back or go away.

        Args:
            act: runs one action of theirs, and is told their name.

        Raises:
            AgentError: what `act` raises; the person is told it too.
        """
        takeover = self._takeover
        assert takeover is not None, "no takeover of the session runs"
        takeover.leads = True
        self._notify()
        try:
            while (left_s := takeover.left_s) > 0:
                try:
                    async with asyncio.timeout(left_s):
                        order = await takeover.orders.get()
                except TimeoutError:
                    continue  # the lease may have been renewed meanwhile
                if isinstance(order, HandedBack):
                    return order
                if order.done.cancelled():
                    continue
                await self._run(order, takeover, act)
            return HandedBack(takeover.name, away=True)
        finally:
            self._close(takeover)

    async def _run(
        self, order: _Order, takeover: _Takeover, act: Callable[[Action, str], Awaitable[ActionResult]]
    ) -> None:
        try:
            result = await act(order.action, takeover.name)
        except AgentError as error:
            if not order.done.done():
                order.done.set_exception(ActionRefused(error.message))
            raise
        takeover.heard = max(takeover.heard, time.monotonic())  # while it ran, the person waited
        if not order.done.done():
            order.done.set_result(result)

    def _close(self, takeover: _Takeover) -> None:
        if self._takeover is takeover:
            self._takeover = None
        while not takeover.orders.empty():
            order = takeover.orders.get_nowait()
            if isinstance(order, _Order) and not order.done.done():
                order.done.set_exception(ActionRefused("the agent has the page again"))
        if self._dialog is not None:
            self._dialog[1].cancel()
        self._notify()

    async def answer_dialog(self, asked: DialogAsked) -> DialogAnswer | None:
        """Return what the person who leads says to a dialog of the page;
        None where no person leads, or no answer comes.
        """
        takeover = self._takeover
        if takeover is None or not takeover.leads or self._dialog is not None:
            return None
        answer: asyncio.Future[DialogAnswer] = asyncio.get_running_loop().create_future()
        self._dialog = asked, answer
        self._notify()
        ends = time.monotonic() + DIALOG_S
        try:
            while (left_s := min(ends - time.monotonic(), takeover.left_s)) > 0:
                done, _ = await asyncio.wait([answer], timeout=left_s)
                if done:
                    return None if answer.cancelled() else answer.result()
            return None
        finally:
            answer.cancel()
            self._dialog = None
            self._notify()

    # --- the people's side ---------------------------------------------------------------------------

    @property
    def standing(self) -> Standing:
        """Return how it stands now."""
        takeover = self._takeover
        control = PageControl.AGENT if takeover is None else PageControl.PERSON if takeover.leads else PageControl.ASKED
        return Standing(
            url=self._hidden.address(self._page.url) if self._page is not None else "",
            control=control,
            holder=takeover.name if takeover is not None else "",
            withheld=self._withheld,
            dialog=self._redacted_dialog(),
        )

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Return what the session has done so far, without secrets; the task that is under way is the last one."""
        return self._hidden.tasks(self._tasks())

    def _redacted_dialog(self) -> DialogAsked | None:
        """The dialog of the page, without secrets."""
        if self._dialog is None:
            return None
        asked = self._dialog[0]
        hide = self._hidden.redacted_text
        return replace(asked, message=hide(asked.message), default=hide(asked.default))

    @property
    def ended(self) -> bool:
        """Return whether the session is over."""
        return self._ended

    async def changed(self, timeout_s: float) -> None:
        """Returns once something about the standing has changed, or after `timeout_s`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._change.wait()

    async def comes(self) -> None:
        """Returns once a person waits for the page."""
        while not self.is_person_waiting:
            await self.changed(LEASE_S)

    def _notify(self) -> None:
        change, self._change = self._change, asyncio.Event()
        change.set()

    async def frames(self, options: FrameOptions = FrameOptions()) -> AsyncGenerator[ScreencastFrame, None]:
        """Pictures of the page, but for those that may show a secret which was filled in."""
        if self._page is None:
            return
        async with aclosing(self._page.frames(options)) as frames:
            fills = self._fills
            async for frame in frames:
                shows = self._filling > 0 or self._fills != fills or await self.shows_secret()
                # Of a picture that came before the fill was over it is not known what it shows.
                shows = shows or self._filling > 0 or self._fills != fills
                fills = self._fills
                if shows != self._withheld:
                    self._withheld = shows
                    self._notify()
                if not shows:
                    self.last_frame = frame
                    yield frame

    async def shows_secret(self) -> bool:
        """Return whether the page shows a secret now. Where that cannot be told, it counts as shown."""
        if not self._hidden.values or self._page is None:
            return False
        try:
            texts = await self._page.read(_SHOWN, self._in_frames)
        except AgentError:
            return True
        if not isinstance(texts, list):
            return True
        shown = "\0".join(map(str, texts))
        return self._hidden.text(shown) != shown

    def take(self, lease: str, name: str) -> None:
        """A person asks for the page. The agent ends its step first.

        Raises:
            ActionRefused: somebody else has it, or this session cannot be taken over.
        """
        if self._page is None:
            raise ActionRefused("the session is not running")
        if self._closed_to:
            raise ActionRefused(self._closed_to)
        if self.is_person_waiting and self._takeover is not None and self._takeover.lease != lease:
            raise ActionRefused(f"{self._takeover.name or 'another person'} has the page")
        if self._takeover is None:
            self._takeover = _Takeover(lease, name)
        self._notify()

    def keep(self, lease: str) -> None:
        """The person is still there.

        Raises:
            ActionRefused: the takeover is over.
        """
        self._current_takeover(lease).heard = time.monotonic()

    def _current_takeover(self, lease: str) -> _Takeover:
        takeover = self._takeover
        if takeover is None or takeover.lease != lease or takeover.left_s <= 0:
            raise ActionRefused("this takeover is over: the agent has the page")
        return takeover

    async def act(self, lease: str, action: Action) -> ActionResult:
        """Return what came of one action of the person who leads.

        Raises:
            ActionRefused: they do not lead, or may not do this.
        """
        takeover = self._current_takeover(lease)
        if action.name not in ALLOWED:
            raise ActionRefused(f"a person does not do {action.name!r} here")
        if not takeover.leads:
            raise ActionRefused("the agent still ends its step")
        takeover.heard = time.monotonic()
        order = _Order(action, asyncio.get_running_loop().create_future())
        takeover.orders.put_nowait(order)
        return await order.done

    def answer(self, lease: str, answer: DialogAnswer) -> None:
        """The person answers the dialog that the page shows.

        Raises:
            ActionRefused: they do not lead, or there is no dialog.
        """
        self._current_takeover(lease).heard = time.monotonic()
        if self._dialog is None or self._dialog[1].done():
            raise ActionRefused("the page shows no dialog")
        self._dialog[1].set_result(answer)

    def hand_back(self, lease: str, message: str, *, done: bool) -> None:
        """The person is done; the agent goes on, and reads what they say.

        Raises:
            ActionRefused: the takeover is over.
        """
        takeover = self._current_takeover(lease)
        if takeover.leads:
            takeover.orders.put_nowait(HandedBack(takeover.name, message, done))
        else:
            self._close(takeover)
