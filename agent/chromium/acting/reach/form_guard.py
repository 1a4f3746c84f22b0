"""Keeps forms from sites that a job may not act on, where a script or a redirect would send them there.

What the page says before an action is looked at by `prospects`. Beyond that a page's script may send a form elsewhere,
and a site may answer a form with a redirect (307, 308) that sends it on.
"""

from __future__ import annotations

import asyncio
from typing import Any

from playwright.async_api import Error as PlaywrightError

from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.chromium.devtools.raw_pages import RawPages
from shoal.agent.chromium.wire.connection import Session
from shoal.agent.errors import SiteNotSentTo
from shoal.agent.support.sites.sites import Sites, site_of
from shoal.agent.support.web_addresses import clipped_address

READS = frozenset({"GET", "HEAD"})


class SentForms:
    """Forms that the pages of one context send.

    Args:
        sites: to which forms may go; None: to all.
    """

    def __init__(self, sites: Sites | None) -> None:
        self.sites = sites
        self._held = ""  # where the last form would have gone that was held back

    def hold(self, url: str) -> None:
        """Notes that a form was held back that would have gone to `url`."""
        self._held = url

    def check(self) -> None:
        """Raises SiteNotSentTo where a form was held back since the last call."""
        url, self._held = self._held, ""
        if url:
            site = str(site_of(url) or clipped_address(url))
            raise SiteNotSentTo(
                f"a form was about to go to {site}, which is not among the sites that this job may act on "
                f"({self.sites}), and was held back. Where it is wanted, name it in `sites` of the job",
                site=site,
            )


class FormGuard:
    """Of one browser: looks at each document that its pages ask for, and holds back forms of watched contexts.

    It asks the browser itself, which tells of a window that a site opens from the window's first request on. A session
    with the window's page would begin behind that request.
    """

    def __init__(self, pages: RawPages) -> None:
        self._pages = pages
        self._watched: dict[SentForms, str] = {}  # with DevTools' id of the browser context
        self._root: Session | None = None  # once it tells of documents
        self._enabling = asyncio.Lock()
        self._answering: set[asyncio.Task[None]] = set()

    async def watch(self, forms: SentForms, tab: Tab) -> None:
        """Looks at all documents of the context of `tab` from now on; has to come before what may send something."""
        if forms.sites is None or forms in self._watched:
            return
        target = await (await tab.session()).send("Target.getTargetInfo")
        async with self._enabling:
            root = await self._pages.root()
            if self._root is not root:
                root.on("Fetch.requestPaused", lambda event: self._paused(root, event))
                # Until the browser ends: a document that is asked for at the moment of `Fetch.disable` is halted and
                # never told of (Chromium 150 and 156).
                await root.send("Fetch.enable", {"patterns": [{"resourceType": "Document"}]})
                self._root = root
            self._watched[forms] = target["targetInfo"]["browserContextId"]

    def leave(self, forms: SentForms) -> None:
        """The context is closed."""
        self._watched.pop(forms, None)

    def _paused(self, root: Session, event: dict[str, Any]) -> None:
        task = asyncio.ensure_future(self._answer(root, event))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer(self, root: Session, event: dict[str, Any]) -> None:
        method, url = event["request"]["method"], event["request"]["url"]
        asked: dict[str, Any] = {"requestId": event["requestId"]}
        call = "Fetch.continueRequest"
        if "redirectedRequestId" in event and method not in READS:
            # Without its address again, Chromium (150) ends a form that is sent on to another host by
            # ERR_INVALID_ARGUMENT.
            asked["url"] = url + event["request"].get("urlFragment", "")
        try:
            if method not in READS and (sender := await self._closed_to(url, event["frameId"])) is not None:
                sender.hold(url)
                call = "Fetch.failRequest"
                # The page stays; another reason would put an error page in its place.
                asked = {"requestId": event["requestId"], "errorReason": "Aborted"}
            await root.send(call, asked)
        except PlaywrightError:
            return  # the page was closed or went elsewhere: the request is gone as well

    async def _closed_to(self, url: str, frame: str) -> SentForms | None:
        """The forms of the context that has the frame, where they may not go to `url`."""
        closed = {
            context: forms
            for forms, context in self._watched.items()
            if forms.sites is not None and not forms.sites.cover(url)
        }
        if not closed:
            return None
        targets = await self._pages.targets()
        for target in targets:
            if target["targetId"] == frame:
                return closed.get(target["browserContextId"])
        for target in targets:
            if target["browserContextId"] in closed and frame in await self._pages.frames(target["targetId"]):
                return closed[target["browserContextId"]]
        return None
