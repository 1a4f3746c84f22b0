"""Looking at a page: one walk per frame, with what only DevTools knows (listeners, closed shadow roots)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from agent.browser import ObserveOptions
from agent.chromium.worlds import World, Worlds
from agent.errors import BrowserError
from agent.observe.tree import FrameSpot, FrameWalk, read_walk

Json = Any

_POINTER_EVENTS = frozenset(
    {"click", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend", "dblclick"}
)
_MAX_NEW_LISTENERS = 3000
_MAX_NEW_LISTENERS_IN_BUDGET = 300
"""Each new element with a listener costs one more question; on a page with thousands the budget goes first."""
_MAX_SUSPECTS = 40
_MAX_FRAME_DEPTH = 6


class Look:
    """What is remembered about a tab from one look to the next."""

    def __init__(self, worlds: Worlds) -> None:
        self._worlds = worlds
        self._listeners: dict[CDPSession, tuple[int, set[int]]] = {}  # per session: its document, the nodes told
        self.paths: dict[str, tuple[str, ...]] = {}  # frame prefix to the ids of the iframes that lead there
        self.frames: dict[str, str] = {}  # frame prefix to DevTools' frame id

    async def whole(self, main_frame: str, options: ObserveOptions) -> FrameWalk:
        """The main frame's walk with all nested ones in it."""
        await self._worlds.reach_all()
        await asyncio.gather(*(self._tell_listeners(session, options) for session in self._worlds.sessions))
        world = self._worlds.get(main_frame)
        if world is None:
            raise BrowserError("the page's document is not ready to be looked at")
        self.paths, self.frames = {"": ()}, {"": main_frame}
        return await self._walk(world, options, FrameWalk({}), 0)

    def world_of(self, prefix: str) -> World | None:
        """The world of the frame whose ids begin with `prefix`."""
        frame = self.frames.get(prefix)
        return self._worlds.get(frame) if frame else None

    # --- walking ------------------------------------------------------------------------------------

    async def _walk(
        self, world: World, options: ObserveOptions, at: FrameWalk, depth: int, clip: Json = None
    ) -> FrameWalk:
        asked = json.dumps(
            {
                "maxElements": options.max_elements,
                "maxChars": options.max_chars,
                "viewportOnly": options.viewport_only,
                "words": list(options.words),
                "part": options.part,
                "clip": clip,
            }
        )
        call = f"shoalWalker.walk({asked})"
        walk = read_walk(await world.call(call), at.prefix, at.left, at.top)
        if walk.data["suspects"] and await self._open_closed_roots(world):
            walk = read_walk(await world.call(call), at.prefix, at.left, at.top)
        if walk.frames and depth < _MAX_FRAME_DEPTH:
            inner = await asyncio.gather(*(self._nested(world, walk, spot, options, depth) for spot in walk.frames))
            walk.inner = {spot.element_id: found for spot, found in zip(walk.frames, inner, strict=True) if found}
        return walk

    async def _nested(
        self, parent: World, walk: FrameWalk, spot: FrameSpot, options: ObserveOptions, depth: int
    ) -> FrameWalk | None:
        """The walk of the frame at `spot`; None when it has nothing to show (yet)."""
        if options.viewport_only and not spot.in_view:
            return None
        world = await self._world_at(parent, spot)
        if world is None:
            return None
        prefix = walk.prefix + spot.letter
        self.frames[prefix] = world.frame
        self.paths[prefix] = (*self.paths[walk.prefix], f"{walk.prefix}{spot.element_id}")
        at = FrameWalk({}, prefix, walk.left + spot.left, walk.top + spot.top)
        width, height = walk.data["size"]
        # What of the frame lies in its parent's window, in the frame's own coordinates.
        clip = {
            "left": max(0.0, -spot.left),
            "top": max(0.0, -spot.top),
            "right": min(spot.width, width - spot.left),
            "bottom": min(spot.height, height - spot.top),
        }
        if clip["right"] <= clip["left"] or clip["bottom"] <= clip["top"]:
            clip = {"left": -1, "top": -1, "right": -1, "bottom": -1}
        try:
            return await self._walk(world, options, at, depth + 1, clip)
        except PlaywrightError:
            return None  # the frame went away while it was looked at

    async def _world_at(self, parent: World, spot: FrameSpot) -> World | None:
        node = await parent.handle(f"shoalWalker.frameOf({spot.element_id})")
        if node is None:
            return None
        frame = (await parent.session.send("DOM.describeNode", {"objectId": node}))["node"].get("frameId")
        return self._worlds.get(frame) if frame else None

    # --- what only DevTools knows -------------------------------------------------------------------

    async def _tell_listeners(self, session: CDPSession, options: ObserveOptions) -> None:
        """Tells the walkers of one process which elements have listeners, as far as they do not know."""
        document = await session.send("Runtime.evaluate", {"expression": "document", "objectGroup": "shoal"})
        # Asked of the page's own document: asked of an isolated world's, Chromium loses that world's identities.
        asked = {"objectId": document["result"]["objectId"], "depth": -1, "pierce": True}
        listeners = (await session.send("DOMDebugger.getEventListeners", asked))["listeners"]
        worlds = self._worlds.of_session(session)
        if not worlds:
            return
        known = self._known(session, min(world.context for world in worlds))
        limit = _MAX_NEW_LISTENERS if options.max_elements is None else _MAX_NEW_LISTENERS_IN_BUDGET
        told = (
            entry["backendNodeId"]
            for entry in listeners
            if entry["type"] in _POINTER_EVENTS
            if "backendNodeId" in entry
        )
        fresh = [node for node in dict.fromkeys(told) if node not in known][:limit]
        if fresh:
            await self._mark(session, worlds, fresh)
            known.update(fresh)
        await session.send("Runtime.releaseObjectGroup", {"objectGroup": "shoal"})

    def _known(self, session: CDPSession, document: int) -> set[int]:
        """Which nodes were told in this document; what was told about earlier ones is forgotten."""
        at, known = self._listeners.get(session, (0, set()))
        if at != document:
            known = set()
            self._listeners[session] = (document, known)
        return known

    async def _mark(self, session: CDPSession, worlds: list[World], nodes: list[int]) -> None:
        """Hands nodes, by DevTools' ids, to the walkers of the documents that they are in."""
        for world in worlds:
            if not nodes:
                return
            found = await asyncio.gather(*(self._resolve(session, world, node) for node in nodes))
            here = [(node, handle) for node, handle in zip(nodes, found, strict=True) if handle]
            elsewhere = [node for node, handle in zip(nodes, found, strict=True) if not handle]
            if here:
                await world.call("typeof shoalWalker.mark")
                answer = await session.send(
                    "Runtime.callFunctionOn",
                    {
                        "executionContextId": world.context,
                        "functionDeclaration": "function(...nodes) { return shoalWalker.mark(nodes); }",
                        "arguments": [{"objectId": handle} for _, handle in here],
                        "returnByValue": True,
                    },
                )
                elsewhere += [here[index][0] for index in answer["result"]["value"]]
            nodes = elsewhere

    async def _resolve(self, session: CDPSession, world: World, node: int) -> str | None:
        asked = {"backendNodeId": node, "executionContextId": world.context, "objectGroup": "shoal"}
        try:
            answer = await session.send("DOM.resolveNode", asked)
        except PlaywrightError:
            return None  # it left the document meanwhile, or is another frame's
        found = answer["object"].get("objectId")
        return str(found) if found else None

    async def _open_closed_roots(self, world: World) -> bool:
        """Asks DevTools about elements that may hide a closed shadow root; whether there was one."""
        session = world.session
        handle = await world.handle(f"shoalWalker.suspects({_MAX_SUSPECTS})")
        if handle is None:
            return False
        listed = await session.send("Runtime.getProperties", {"objectId": handle, "ownProperties": True})
        hosts = [entry["value"]["objectId"] for entry in listed["result"] if entry["name"].isdigit()]
        described = await asyncio.gather(
            *(session.send("DOM.describeNode", {"objectId": host, "depth": 0, "pierce": True}) for host in hosts)
        )
        roots = [
            root["backendNodeId"]
            for answer in described
            for root in answer["node"].get("shadowRoots", ())
            if root.get("shadowRootType") == "closed"
        ]
        if roots:
            await self._mark(session, [world], roots)
        return bool(roots)
