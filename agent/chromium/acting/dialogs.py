"""JavaScript dialogs: answered at once by policy, and remembered for the next observation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager

from playwright.async_api import Dialog
from playwright.async_api import Error as PlaywrightError

from shoal.agent.hooks import DialogAnswer, DialogAsked
from shoal.agent.support.printable import readable
from shoal.agent.types import DialogSeen

_KEPT = 20
"""A page that opens dialogs in a loop must not fill the memory, nor the next observation."""


class Dialogs:
    """Answers dialogs. An unanswered dialog would block the page, and every call into it, for ever.

    Args:
        accept: the answer of this context's own rule.
        asks: is asked first; gives None where no person can answer. It bounds its own time.
        waits: the time in which it is asked counts for no call into the page.
    """

    def __init__(
        self,
        *,
        accept: bool,
        asks: Callable[[DialogAsked], Awaitable[DialogAnswer | None]] | None = None,
        waits: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._accept = accept
        self._asks = asks
        self._waits = waits
        self._seen: list[DialogSeen] = []
        self._answering: set[asyncio.Task[None]] = set()
        self.count = 0  # so far

    def on_dialog(self, dialog: Dialog) -> None:
        """Playwright's event."""
        self.count += 1
        task = asyncio.ensure_future(self._answer(dialog))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer(self, dialog: Dialog) -> None:
        reply = await self._ask(dialog)
        # An alert has but one answer; leaving a page was the agent's own wish.
        accept = reply.accept if reply is not None else self._accept or dialog.type in ("alert", "beforeunload")
        words = (
            (reply.text if reply is not None else dialog.default_value) if dialog.type == "prompt" and accept else None
        )
        answer = words or ("accepted" if accept else "dismissed")
        if len(self._seen) < _KEPT:
            self._seen.append(DialogSeen(dialog.type, readable(dialog.message), readable(answer)))
        try:
            await (dialog.accept(words) if accept else dialog.dismiss())
        except PlaywrightError:
            return  # the page went away with its dialog

    async def _ask(self, dialog: Dialog) -> DialogAnswer | None:
        if self._asks is None:
            return None
        with self._waits():
            return await self._asks(
                DialogAsked(dialog.type, readable(dialog.message), readable(dialog.default_value or ""))
            )

    def take(self) -> tuple[DialogSeen, ...]:
        """Those since the last call."""
        seen, self._seen = tuple(self._seen), []
        return seen
