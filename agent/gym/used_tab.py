"""The tab that a script or a person uses beside the agent becomes the active one."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from shoal.agent.chromium.acting.acting_context import ActingContext
from shoal.agent.chromium.wire.connection import session_with
from shoal.agent.errors import ActionError

_WORLD, _BINDING = "shoal-use", "shoalUsed"
_SCRIPT = (
    "for (const name of ['mousedown', 'mouseover', 'keydown', 'wheel', 'touchstart']) addEventListener(name, "
    "event => { if (event.isTrusted) shoalUsed('') }, { capture: true, passive: true })"
)
"""Runs beside the page's own scripts, which see nothing of it."""


class UsedTab:
    """Follows every tab of one context. What the agent's own actions turn to is known without it."""

    def __init__(self, context: ActingContext) -> None:
        self._context = context
        self._beginning: set[asyncio.Task[None]] = set()

    async def follow_all(self) -> None:
        """Follows the tab that is open, and those that come."""
        self._context.playwright.on("page", self._on_page)
        await self._follow(self._context.tab.page)

    def _on_page(self, page: Any) -> None:
        task = asyncio.ensure_future(self._follow(page))
        self._beginning.add(task)
        task.add_done_callback(self._beginning.discard)

    async def _follow(self, page: Any) -> None:
        with contextlib.suppress(ActionError):  # it may be gone again before it is asked
            async with self._context.limits.guard(self._context.options.look_s, "following a tab"):
                session = await session_with(self._context.tab.connection, page)
                session.on("Runtime.bindingCalled", lambda event: self._on_use(page, event))
                await session.send("Page.enable")
                await session.send("Runtime.enable")  # bindings are silent without it
                await session.send("Runtime.addBinding", {"name": _BINDING, "executionContextName": _WORLD})
                asked = {"source": _SCRIPT, "worldName": _WORLD, "runImmediately": True}
                await session.send("Page.addScriptToEvaluateOnNewDocument", asked)

    def _on_use(self, page: Any, event: dict[str, Any]) -> None:
        tabs = self._context.open_tabs
        tab = tabs.of(page)
        if event["name"] == _BINDING and tab is not None and not tabs.acted:
            tabs.active = tab
