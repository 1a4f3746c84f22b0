"""The page of a browser's tab, over DevTools: one script for each document, whose answer is the tree and its marks.

`DOMSnapshot.captureSnapshot` was measured beside it; docs/archive/decisions.md says why the script is the one source.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from lxml import html

from shoal.agent.errors import BrowserError, ElementMissing
from shoal.agent.page import marks as m
from shoal.agent.page.page import Page
from shoal.agent.page.recorded import page_of_answer
from shoal.agent.support.json_value import Json
from shoal.agent.support.page_names import function_by_names

SCRIPT = Path(__file__).with_name("page_tree.js").read_text(encoding="utf-8")
_WORLD = "shoal-page"
_DEEPEST_FRAME = 6
"""Levels of frames within frames that are read."""
_TRIES = 3
"""Of a page that goes elsewhere while it is taken."""
_TOO_DEEP = "more than 6 frames lie around it"


class Wire(Protocol):
    """A DevTools session: Playwright's `CDPSession`, and any other that sends."""

    async def send(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """The answer to one command."""
        ...


class BrowserPages:
    """Takes pages of one tab, and finds their elements in it again."""

    def __init__(self, wire: Wire, refused: type[Exception], others: Mapping[str, Wire] | None = None) -> None:
        """Reads over the session of a tab.

        Args:
            wire: The session of the tab.
            refused: What a wire raises where the browser refuses a command, or a page is gone.
            others: Sessions of frames that live in processes of their own, by DevTools' frame id. Each taking reads
                it, so that the caller may go on adding to it.
        """
        self._wire = wire
        self._refused = refused
        self._others = others if others is not None else {}
        self._documents: WeakKeyDictionary[Page, _Document] = WeakKeyDictionary()

    async def take(self, *, boxes: bool = False) -> Page:
        """The page as it is now, with its frames.

        A frame that cannot be read is told in `unread` of the page around it.

        Args:
            boxes: Where each element lies, too.

        Raises:
            BrowserError: The script failed in the main document.
            Exception: `refused`, after several tries.
        """
        for _ in range(_TRIES - 1):
            try:
                return await self._take_main({"boxes": boxes})
            except self._refused:
                continue  # the page went elsewhere in between, perhaps: its new document is asked
        return await self._take_main({"boxes": boxes})

    async def object_of(self, page: Page, el: html.HtmlElement) -> str:
        """DevTools' object id of an element of a page, or of a frame's page, that was taken here.

        Raises:
            ElementMissing: It left the document.
            KeyError: The page was not taken here, or the element is another page's.
            Exception: `refused`, where the document is gone.
        """
        return await self._documents[page].object_of(page.ids[page.number(el)])

    async def backend_id_of(self, page: Page, el: html.HtmlElement) -> int:
        """DevTools' id of the node, which each world of the document resolves; errors as of `object_of`."""
        node = await self._documents[page].describe(await self.object_of(page, el))
        return int(node["backendNodeId"])

    async def _take_main(self, options: Json) -> Page:
        tree = await self._wire.send("Page.getFrameTree")
        return await self._take(self._wire, tree["frameTree"]["frame"]["id"], options, 0, 0)

    async def _take(self, wire: Wire, frame: str, options: Json, hidden: int, depth: int) -> Page:
        document = await _Document.of(wire, frame)
        answer = await document.read_tree(options)
        taken: list[Page | str] = []
        if answer["frames"]:
            around = page_of_answer(answer, hidden=hidden)
            taken = await asyncio.gather(
                *(self._take_frame(document, around, number, options, depth) for number in answer["frames"])
            )
        by_number = dict(zip(answer["frames"], taken, strict=True))
        frames = {number: inner for number, inner in by_number.items() if isinstance(inner, Page)}
        unread = {number: reason for number, reason in by_number.items() if isinstance(reason, str)}
        page = page_of_answer(answer, frames, unread, hidden)
        self._documents[page] = document
        return page

    async def _take_frame(
        self, document: _Document, around: Page, number: int, options: Json, depth: int
    ) -> Page | str:
        """The page of a frame, or the reason why it cannot be read."""
        if depth >= _DEEPEST_FRAME:
            return _TOO_DEEP
        hidden = around.marks[number] & m.HIDDEN
        try:
            node = await document.describe(await document.object_of(around.ids[number]))
            frame = str(node["frameId"])
            return await self._take(self._others.get(frame, document.wire), frame, options, hidden, depth + 1)
        except (self._refused, BrowserError, ElementMissing) as error:
            return str(error)


@dataclass(frozen=True, slots=True)
class _Document:
    """One document of a tab, in the world where the script runs."""

    wire: Wire
    world: int  # DevTools' execution context

    @classmethod
    async def of(cls, wire: Wire, frame: str) -> _Document:
        """The document that a frame shows now."""
        asked = {"frameId": frame, "worldName": _WORLD}
        return cls(wire, int((await wire.send("Page.createIsolatedWorld", asked))["executionContextId"]))

    async def read_tree(self, options: Json) -> Mapping[str, Json]:
        """The script's answer, closed shadow trees in it."""
        answer = await self._run(options)
        if answer["suspects"] and await self._hand_over_roots(answer["suspects"]):
            answer = await self._run(options)
        return answer

    async def _run(self, options: Json) -> Mapping[str, Json]:
        asked = {
            "functionDeclaration": function_by_names(SCRIPT),
            "executionContextId": self.world,
            "arguments": [{"value": options}],
            "returnByValue": True,
        }
        response = await self.wire.send("Runtime.callFunctionOn", asked)
        if "exceptionDetails" in response:
            reason = response["exceptionDetails"].get("exception", {}).get("description", "no reason given")
            raise BrowserError(f"the page could not be taken: {reason[:300]}")
        answer: Mapping[str, Json] = response["result"]["value"]
        return answer

    async def object_of(self, element_id: int) -> str:
        """DevTools' object id of an element, by the id that the script gave it."""
        asked = {
            "expression": f"globalThis.shoalPage?.find({element_id}) ?? null",
            "contextId": self.world,
            "objectGroup": _WORLD,
        }
        handle = (await self.wire.send("Runtime.evaluate", asked))["result"]
        if "objectId" not in handle:
            raise ElementMissing("the element left the page since it was taken: take the page again")
        return str(handle["objectId"])

    async def describe(self, handle: str) -> Mapping[str, Any]:
        """DevTools' words about a node, and about the shadow trees right in it."""
        response = await self.wire.send("DOM.describeNode", {"objectId": handle, "depth": 0, "pierce": True})
        node: Mapping[str, Any] = response["node"]
        return node

    async def _hand_over_roots(self, suspects: Sequence[int]) -> bool:
        """Tells the script the closed shadow roots of elements, which only DevTools knows; True where there was one."""
        return any(await asyncio.gather(*(self._hand_over_root(element_id) for element_id in suspects)))

    async def _hand_over_root(self, element_id: int) -> bool:
        host = await self.object_of(element_id)
        for root in (await self.describe(host)).get("shadowRoots", ()):
            if root["shadowRootType"] == "closed":
                asked = {"backendNodeId": root["backendNodeId"], "executionContextId": self.world}
                resolved = await self.wire.send("DOM.resolveNode", asked)
                call = {
                    "functionDeclaration": "function (root) { shoalPage.closed.set(this, root); }",
                    "objectId": host,
                    "arguments": [{"objectId": resolved["object"]["objectId"]}],
                }
                await self.wire.send("Runtime.callFunctionOn", call)
                return True
        return False
