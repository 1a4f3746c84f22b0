"""Evidence that what a page sends holds the texts of its fields, where a field's list has no such option.

A combo box that keeps a text when it is left may take it, or may send nothing for it: widgets of both kinds look alike.
What goes out tells them apart. So while such a form is sent, a request that is no reading and lacks a text of these
fields is held back, with all that follow it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from weakref import WeakKeyDictionary

from playwright.async_api import Error as PlaywrightError

from shoal.agent.chromium.acting.reach.form_guard import READS
from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.chromium.wire.connection import Session, session_with
from shoal.agent.errors import FormIncomplete
from shoal.agent.support.json_value import Json
from shoal.agent.support.sites.prospect import Unchosen
from shoal.agent.support.web_addresses import clipped_address

_SENT_S = 2.0
"""Seconds after the action within which the page sends the form: scripts look at the fields once more before."""
_KINDS = ("Document", "XHR", "Fetch")
_FORM = "application/x-www-form-urlencoded"


class SentTexts:
    """The requests of one context while a form is sent that holds such texts."""

    def __init__(self) -> None:
        self._fields: Sequence[Unchosen] = ()  # of the last action; none where nothing has to be proven
        self._watched: WeakKeyDictionary[Tab, Session] = WeakKeyDictionary()
        self._answering: set[asyncio.Task[None]] = set()
        self._settled = asyncio.Event()
        self._held = ""  # the address of the first request that was held back

    async def begin(self, fields: Sequence[Unchosen], tab: Tab) -> None:
        """Looks at what is sent from now on; has to come before each action."""
        self._fields, self._held = fields, ""
        self._settled.clear()
        if not self._fields or tab in self._watched:
            return
        session = await session_with(tab.connection, tab.page)
        session.on("Fetch.requestPaused", lambda event: self._paused(session, event))
        # Until the tab closes: what is asked for at the moment of `Fetch.disable` may be halted and never told of.
        await session.send("Fetch.enable", {"patterns": [{"resourceType": kind} for kind in _KINDS]})
        self._watched[tab] = session

    async def proof(self, value: Json) -> Json:
        """Return in words that the texts were sent, where that had to be proven; else `value`, as where there is one.

        Raises:
            FormIncomplete: no request was seen to hold the texts.
        """
        if not self._fields:
            return value
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SENT_S):
                await self._settled.wait()
        named = "; ".join(f"{field.name} holds {field.text!r}, which is none of its options" for field in self._fields)
        if self._held:
            raise FormIncomplete(
                f"{named}. What was about to go to {self._held} did not hold it and was held back: nothing was sent. "
                "Choose one of the options, or empty the field"
            )
        if not self._settled.is_set():
            raise FormIncomplete(
                f"{named}. It was pressed, and no request was seen to hold that: whether the page takes it is not known"
            )
        return value if value is not None else f"{named}: the field kept it, and it was sent"

    def _paused(self, session: Session, event: dict[str, Any]) -> None:
        task = asyncio.ensure_future(self._answer(session, event))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer(self, session: Session, event: dict[str, Any]) -> None:
        request, again = event["request"], "redirectedRequestId" in event
        asked: dict[str, Any] = {"requestId": event["requestId"]}
        call = "Fetch.continueRequest"
        if self._fields and not again and (self._held or not self._settled.is_set()):
            reads = request["method"] in READS
            sends = not reads or event["resourceType"] == "Document"
            if sends and not self._held and _holds(request, self._fields):
                self._settled.set()
            elif not reads:
                self._held = self._held or clipped_address(request["url"])
                self._settled.set()
                call, asked = "Fetch.failRequest", asked | {"errorReason": "Aborted"}
        elif again and request["method"] not in READS:  # see `FormGuard`
            asked["url"] = request["url"] + request.get("urlFragment", "")
        with contextlib.suppress(PlaywrightError):  # the page was closed or went elsewhere, and the request with it
            await session.send(call, asked)


def _holds(request: dict[str, Any], fields: Sequence[Unchosen]) -> bool:
    """Return whether a request holds each text as a whole value, as often as controls of the form hold it."""
    kind = next((value for name, value in request["headers"].items() if name.lower() == "content-type"), "")
    values = Counter(" ".join(text.split()) for text in _values(request, kind))
    return all(values[" ".join(field.text.split())] >= field.alike for field in fields)


def _values(request: dict[str, Any], kind: str) -> Iterator[str]:
    body = str(request.get("postData", ""))
    for _, value in parse_qsl(urlsplit(request["url"]).query):
        yield from _leaves(value)
    if kind.startswith(_FORM):
        for _, value in parse_qsl(body):
            yield from _leaves(value)
    elif (boundary := re.search(r'boundary="?([^";]+)', kind)) is not None:
        for part in body.split(f"--{boundary[1]}"):
            yield from _leaves(part.partition("\r\n\r\n")[2])
    else:
        yield from _leaves(body)


def _leaves(value: Json) -> Iterator[str]:
    """The texts and numbers in a value, which may be JSON in a text."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    elif isinstance(value, str):
        yield value
        if value.lstrip()[:1] in ("{", "[", '"'):
            with contextlib.suppress(ValueError, RecursionError):
                yield from _leaves(json.loads(value))
    elif value is not None:
        yield str(value)
