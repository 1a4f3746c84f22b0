"""Keeps forms from sites that a job may not act on, where a script or a redirect would send them there.

What the page says before an action is looked at by `prospects`. Beyond that a page's script may send a form elsewhere,
and a site may answer a form with a redirect (307, 308) that sends it on.
"""

from __future__ import annotations

import asyncio
from typing import Any

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.errors import SiteNotSentTo
from shoal.agent.support.sites.sites import Sites, site_of

_READS = frozenset({"GET", "HEAD"})


class FormGuard:
    """Of one context: looks at each document that its pages ask for, and lets no form go elsewhere.

    Args:
        sites: to which forms may go; None: to all.
    """

    def __init__(self, sites: Sites | None) -> None:
        self._sites = sites
        self._tabs: set[Tab] = set()
        self._sessions: set[CDPSession] = set()
        self._answering: set[asyncio.Task[None]] = set()
        self._held = ""  # where the last form would have gone that was held back

    async def watch(self, tab: Tab) -> None:
        """Has to come before an action that may send something: looks at all documents of the tab from now on."""
        if self._sites is None:
            return
        if tab not in self._tabs:
            self._tabs.add(tab)
            # A session of its own: another use of `Fetch` in the tab's would answer for this one.
            await self._follow(await tab.page.context.new_cdp_session(tab.page))
        for session in (await tab.worlds()).sessions[1:]:  # of frames in other processes
            await self._follow(session)

    async def _follow(self, session: CDPSession) -> None:
        if session in self._sessions:
            return
        self._sessions.add(session)
        session.on("Fetch.requestPaused", lambda event: self._paused(session, event))
        await session.send("Fetch.enable", {"patterns": [{"resourceType": "Document"}]})

    def check(self) -> None:
        """Raises SiteNotSentTo where a form was held back since the last call."""
        url, self._held = self._held, ""
        if url:
            site = str(site_of(url) or url[:80])
            raise SiteNotSentTo(
                f"a form was about to go to {site}, which is not among the sites that this job may act on "
                f"({self._sites}), and was held back. Where it is wanted, name it in `sites` of the job",
                site=site,
            )

    def _paused(self, session: CDPSession, event: dict[str, Any]) -> None:
        task = asyncio.ensure_future(self._answer(session, event))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer(self, session: CDPSession, event: dict[str, Any]) -> None:
        method, url = event["request"]["method"], event["request"]["url"]
        asked: dict[str, Any] = {"requestId": event["requestId"]}
        call = "Fetch.continueRequest"
        if method not in _READS and self._sites is not None and not self._sites.cover(url):
            self._held, call = url, "Fetch.failRequest"
            asked["errorReason"] = "Aborted"  # the page stays; another reason would put an error page in its place
        try:
            await session.send(call, asked)
        except PlaywrightError:
            return  # the page was closed or went elsewhere: the request is gone as well
