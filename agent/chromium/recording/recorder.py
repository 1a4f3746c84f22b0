"""Records the DOM events of a context's tabs, from the first document on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from shoal.agent.browser import RawRecording
from shoal.agent.chromium.wire.connection import Connection, Session, session_with
from shoal.agent.redaction.masking import HIDDEN
from shoal.agent.support.page_names import script_by_names, symbol

MOST_CHARS = 16_000_000
"""Of one session's raw events, all tabs together: they stay in the worker's memory until the session ends."""
DOCUMENT_CHARS = 6_000_000
"""Of one document's. Its recorder stops there, so that a page which changes without end costs no more."""
MOST_ELEMENTS = 50_000
"""Of a document: writing a larger one down would hold its page up for a second or more."""
MOST_BATCHES = 50_000
_END_S = 2.0
"""Seconds that a tab may take to hand over what it still holds."""

_WORLD = "shoal-recorder"
_BINDING = "shoalRecorded"
_HERE = Path(__file__).parent
_TESTED = '"shadowRoot","querySelector","querySelectorAll"'
"""rrweb looks whether a page has changed what it uses, and takes these two methods for accessors: it would find them
changed on any page, and put a frame into the page to have others. In an isolated world nothing is changed."""

_KIND = ".nodeType"
"""The one question that rrweb asks of forms themselves: it left out one with a field of that name."""


@dataclass(slots=True)
class _RecordedTab:
    session: Session
    frame: str  # DevTools' id of its main frame
    script: str = ""  # DevTools' id of what runs in each new document
    batches: list[str] = field(default_factory=list)


class Recorder:
    """A recording of the tabs of one context."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tabs: list[_RecordedTab] = []
        self._chars = 0
        self._batches = 0
        self._full = False
        self._stopping: asyncio.Task[None] | None = None

    async def follow(self, page: Page) -> None:
        """Records this tab from now on, in whatever documents it opens.

        Raises:
            playwright.async_api.Error: the tab is gone.
        """
        if self._full:
            return
        session = await session_with(self._connection, page)  # one that enables Runtime tells each context once
        frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        tab = _RecordedTab(session, frame)
        self._tabs.append(tab)
        session.on("Runtime.bindingCalled", self._listener(tab))
        await session.send("Page.enable")
        await session.send("Runtime.enable")  # bindings are silent without it
        await session.send("Runtime.addBinding", {"name": _BINDING, "executionContextName": _WORLD})
        asked = {"source": source(), "worldName": _WORLD, "runImmediately": True}
        tab.script = (await session.send("Page.addScriptToEvaluateOnNewDocument", asked))["identifier"]

    def _listener(self, tab: _RecordedTab) -> Callable[[dict[str, Any]], None]:
        def add_batch(event: dict[str, Any]) -> None:
            if event["name"] != _BINDING or self._full:
                return
            batch = str(event["payload"])
            self._chars += len(batch)
            self._batches += 1
            if self._chars > MOST_CHARS or self._batches > MOST_BATCHES:
                self._full = True
                self._stopping = asyncio.ensure_future(self._stop_all())
                return
            tab.batches.append(batch)

        return add_batch

    async def _stop_all(self) -> None:
        for tab in self._tabs:
            with contextlib.suppress(PlaywrightError):
                await tab.session.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": tab.script})
            await self._ask(tab, "stop")

    async def _ask(self, tab: _RecordedTab, what: str) -> None:
        """Calls a function of the document's recorder. One that hangs, or is gone, has told what it could."""
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_END_S):
                asked = {"frameId": tab.frame, "worldName": _WORLD}
                world = (await tab.session.send("Page.createIsolatedWorld", asked))["executionContextId"]
                call = {"expression": f"globalThis.shoalRecording?.{what}()", "contextId": world}
                await tab.session.send("Runtime.evaluate", call)

    async def end(self) -> RawRecording:
        """Return what was recorded, as the pages told it; may be called once."""
        if self._stopping is not None:
            await self._stopping
        else:
            await asyncio.gather(*(self._ask(tab, "flush") for tab in self._tabs))
        return RawRecording(tuple(tuple(tab.batches) for tab in self._tabs), full=self._full)


@cache
def source() -> str:
    """The script of the isolated world.

    Raises:
        ValueError: rrweb's recorder is another one than the one that this was written for.
    """
    rrweb = (_HERE / "rrweb-record.min.js").read_text()
    if rrweb.count(_TESTED) != 1:
        raise ValueError("rrweb's recorder has changed: see _TESTED")
    settings = {
        "HIDDEN": HIDDEN,
        "DOCUMENT_BYTES": DOCUMENT_CHARS,
        "MOST_ELEMENTS": MOST_ELEMENTS,
        "NO_CLASS": f"none-{secrets.token_hex(8)}",  # a page that knew it could hide what it shows
    }
    constants = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in settings.items())
    world, recorder = ((_HERE / name).read_text() for name in ("world.js", "recorder.js"))
    recorder = script_by_names(recorder)
    rrweb = rrweb.replace(_TESTED, '"shadowRoot"').replace(_KIND, f"[{symbol(_KIND[1:])}]")
    return f"{world}\n{rrweb};\n{{\n{constants}{recorder}\n}}\n"
