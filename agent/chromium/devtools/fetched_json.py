"""The JSON that the scripts of a page fetch while it is open."""

from __future__ import annotations

import asyncio
import base64
import time
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import WANTED_HEADERS, FetchedJson
from shoal.agent.chromium.wire.connection import Session
from shoal.agent.support.web_addresses import same_site

_MOST = 100
"""Requests of one document that are remembered."""
_LARGEST = 1_000_000
"""Bytes of one answer."""
_MOST_CHARS = 2_000_000
"""Of all answers together."""
_BODIES_S = 2.0
"""Seconds that the browser may take to hand over all answers."""
_OF_BROWSERS = frozenset({"accept-language", "cache-control", "dnt", "origin", "pragma", "priority", "referer"})
"""Headers that a browser adds, beside its name and `sec-…`. With any other one a script may say who asks."""
_LONGEST_HEADER = 200
_BUFFERS = {"maxTotalBufferSize": 8_000_000, "maxResourceBufferSize": _LARGEST}


@dataclass(slots=True)
class _ScriptRequest:
    """One request of a script, and what became of it."""

    url: str  # of the answer, where one came
    headers: dict[str, str] | None  # as `FetchedJson` has them
    is_json: bool = False
    ended: bool = False
    too_large: bool = False
    body: str | None = None  # once it was asked for


class FetchWatch:
    """Follows what the scripts of the main frame's document fetch by GET. It sees what begins after `follow`."""

    def __init__(self, main_frame: str) -> None:
        self._main_frame = main_frame  # DevTools' id
        self._session: Session | None = None
        self._loader = ""  # the document whose scripts are followed
        self._requests: dict[str, _ScriptRequest] = {}  # by DevTools' id, the oldest first
        self._forgot = False  # a request of the document, since there were too many
        self._ended = asyncio.Event()

    async def follow(self, session: Session) -> None:
        """Begins to listen on `session`."""
        self._session = session
        session.on("Network.requestWillBeSent", self._on_request)
        session.on("Network.responseReceived", self._on_response)
        session.on("Network.loadingFinished", self._on_finished)
        session.on("Network.loadingFailed", self._on_failed)
        await session.send("Network.enable", _BUFFERS)

    @property
    def has_fetched(self) -> bool:
        """Return whether scripts of the document fetched anything that is not known to be something else than JSON."""
        return bool(self._requests)

    def _on_request(self, event: dict[str, Any]) -> None:
        if event.get("frameId") != self._main_frame:
            return
        if event.get("type") == "Document":
            self._loader = event["loaderId"]
            self._requests.clear()
            self._forgot = False
            return
        of_script = event.get("type") in ("XHR", "Fetch") and event["loaderId"] == self._loader
        if of_script and event["request"]["method"] == "GET":
            headers = None if "redirectResponse" in event else _repeated(event["request"]["headers"])
            self._requests[event["requestId"]] = _ScriptRequest(event["request"]["url"], headers)
            if len(self._requests) > _MOST:
                del self._requests[next(iter(self._requests))]
                self._forgot = True

    def _on_response(self, event: dict[str, Any]) -> None:
        request, response = self._requests.get(event["requestId"]), event["response"]
        if request is not None:
            if request.url != response["url"]:
                request.url, request.headers = response["url"], None
            request.is_json = response["status"] == 200 and response["mimeType"].endswith("json")

    def _on_finished(self, event: dict[str, Any]) -> None:
        request = self._requests.get(event["requestId"])
        if request is not None:
            request.ended = True
            request.too_large = event["encodedDataLength"] > _LARGEST
            if not request.is_json:
                del self._requests[event["requestId"]]
            self._ended.set()

    def _on_failed(self, event: dict[str, Any]) -> None:
        if self._requests.pop(event["requestId"], None) is not None:
            self._ended.set()

    async def answers(self, page_url: str, budget_s: float) -> list[FetchedJson]:
        """The JSON that came from the site of the page at `page_url`.

        It is all or nothing: an answer that is missing may be the one that is about the page. Requests that are under
        way are waited for. Nothing is given where one still is after `budget_s`, or where an answer cannot be had.
        """
        if self._forgot or not await self._all_ended(page_url, budget_s):
            return []
        left, fetched = _MOST_CHARS, []
        try:
            async with asyncio.timeout(_BODIES_S):
                for number, request in list(self._requests.items()):
                    if not (request.ended and same_site(page_url, request.url)):
                        continue
                    if request.body is None and not request.too_large:
                        request.body = await self._body(number)
                    if request.body is None or len(request.body) > left:
                        return []
                    left -= len(request.body)
                    fetched.append(FetchedJson(request.url, request.body, request.headers))
        except TimeoutError:
            return []
        return fetched

    async def _all_ended(self, page_url: str, budget_s: float) -> bool:
        ends = time.monotonic() + budget_s
        while any(not request.ended and same_site(page_url, request.url) for request in self._requests.values()):
            self._ended.clear()
            try:
                async with asyncio.timeout(ends - time.monotonic()):
                    await self._ended.wait()
            except TimeoutError:
                return False
        return True

    async def _body(self, number: str) -> str | None:
        """The body of an answer; None where the browser has it no longer, or where it is no text."""
        assert self._session is not None
        try:
            response = await self._session.send("Network.getResponseBody", {"requestId": number})
            return base64.b64decode(response["body"]).decode() if response["base64Encoded"] else str(response["body"])
        except (PlaywrightError, UnicodeDecodeError):
            return None


def _repeated(sent: dict[str, str]) -> dict[str, str] | None:
    """The headers that ask for the same again; None where one of those that were sent may say who asks."""
    headers = {name.lower(): value for name, value in sent.items()}
    kept = {name: value for name, value in headers.items() if name in WANTED_HEADERS}
    others = (name for name in headers if name not in kept and name not in _OF_BROWSERS and name != "user-agent")
    if any(not name.startswith("sec-") for name in others) or any(len(v) > _LONGEST_HEADER for v in kept.values()):
        return None
    return kept
