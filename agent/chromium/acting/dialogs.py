"""JavaScript dialogs: answered at once by policy, and remembered for the next observation."""

from __future__ import annotations

import asyncio

from playwright.async_api import Dialog
from playwright.async_api import Error as PlaywrightError

from shoal.agent.support.printable import readable
from shoal.agent.types import DialogSeen

_KEPT = 20
"""A page that opens dialogs in a loop must not fill the memory, nor the next observation."""


class Dialogs:
    """Answers dialogs. An unanswered dialog would block the page, and every call into it, for ever."""

    def __init__(self, *, accept: bool) -> None:
        self._accept = accept
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
        # An alert has but one answer; leaving a page was the agent's own wish.
        accept = self._accept or dialog.type in ("alert", "beforeunload")
        words = dialog.default_value if dialog.type == "prompt" and accept else None
        answer = words or ("accepted" if accept else "dismissed")
        if len(self._seen) < _KEPT:
            self._seen.append(DialogSeen(dialog.type, readable(dialog.message), readable(answer)))
        try:
            await (dialog.accept(words) if accept else dialog.dismiss())
        except PlaywrightError:
            return  # the page went away with its dialog

    def take(self) -> tuple[DialogSeen, ...]:
        """Those since the last call."""
        seen, self._seen = tuple(self._seen), []
        return seen
