"""Navigation of a page's main frame: whether it is on its way to another document."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from shoal.agent.chromium.wire.connection import Session

_CALLED = frozenset({"anchorClick", "formSubmissionGet", "formSubmissionPost", "other"})
"""Reasons of a navigation that another page can be the cause of: a link or form with this tab as its target, and
`window.open` with the tab's name ("other"). A page that navigates itself by a script has another one."""


class NavigationState:
    """Follows the main frame's navigations. Chromium tells of one before it answers any later question."""

    def __init__(self, main_frame: str, on_called: Callable[[], None]) -> None:
        self._main_frame = main_frame  # DevTools' id
        self._on_called = on_called  # for each navigation that another page may have asked for
        self.windows = 0  # that the page opened, so far
        self._there = asyncio.Event()
        self._there.set()

    async def follow(self, session: Session) -> None:
        """Begins to listen on `session`."""
        session.on("Page.frameRequestedNavigation", self._left)
        session.on("Page.frameScheduledNavigation", self._scheduled)  # of a form before it is sent
        session.on("Page.windowOpen", self._opened)
        for event in ("frameNavigated", "frameStoppedLoading", "navigatedWithinDocument", "downloadWillBegin"):
            session.on(f"Page.{event}", self._arrived)
        await session.send("Page.enable")

    @property
    def under_way(self) -> bool:
        """Return whether a navigation was asked for that has not come to a document yet."""
        return not self._there.is_set()

    async def arrival(self) -> None:
        """Returns once the page is at its document, or has given the navigation up."""
        await self._there.wait()

    def _opened(self, _: dict[str, Any]) -> None:
        self.windows += 1

    def _left(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self._main_frame and event.get("disposition", "currentTab") == "currentTab":
            self._there.clear()
            self._scheduled(event)

    def _scheduled(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self._main_frame and event["reason"] in _CALLED:
            self._on_called()

    def _arrived(self, event: dict[str, Any]) -> None:
        frame = event["frame"]["id"] if "frame" in event else event["frameId"]
        if frame == self._main_frame:
            self._there.set()
