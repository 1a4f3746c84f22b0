"""Looking at a page: one walk per frame, with what only DevTools knows (listeners, closed shadow roots)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import ElementPath, ObserveOptions
from shoal.agent.chromium.devtools.closed_roots import hand_over_closed_roots
from shoal.agent.chromium.devtools.frame_document import located
from shoal.agent.chromium.devtools.worlds import World, Worlds
from shoal.agent.chromium.wire.connection import Session
from shoal.agent.errors import BrowserError
from shoal.agent.observe.tree import FrameSpot, FrameWalk, is_cut, read_walk, size
from shoal.agent.support.json_value import Json

_POINTER_EVENTS = frozenset(
    {"click", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend", "dblclick"}
)
_OTHER_EVENTS = ("dragstart", "drop", "dragover", "dragenter", "contextmenu", "mouseenter", "mouseover",
                 "pointerenter", "pointerover", "keydown", "keyup", "keypress")  # fmt: skip
"""Further events that an element may react to, the most telling first."""
_MAX_NEW_LISTENERS = 3000
_MAX_NEW_LISTENERS_IN_BUDGET = 300
"""Each new element with a listener costs one more question; on a page with thousands the budget goes first."""
_TELLINGS, _QUICK_S = 3, 0.3
"""A page may go on being built while its listeners are told, which takes seconds on a busy machine."""
_MAX_SUSPECTS = 40
_MAX_FRAME_DEPTH = 6
_OWN_PART = 0.7
"""Of a budget that a page would use up: the rest is for its frames."""
_LEAST_ELEMENTS, _LEAST_CHARS = 5, 200
"""With less a frame is not looked at."""


class PageWalk:
    """State of a tab that is kept from one look to the next."""

    def __init__(self, worlds: Worlds) -> None:
        self._worlds = worlds
        # Per session: its document, and which nodes were told to listen, for which events ("": clicks and the like).
        self._listeners: dict[Session, tuple[str, set[tuple[str, int]]]] = {}
        self._untold = False  # whether elements that take clicks were left for the next look
        self.paths: dict[str, tuple[str, ...]] = {}  # frame prefix to the ids of the iframes that lead there
        self.frames: dict[str, str] = {}  # frame prefix to DevTools' frame id
        self._numbered: dict[str, World] = {}  # frame prefix to the document whose elements were given ids last

    async def whole(self, main_frame: str, options: ObserveOptions) -> FrameWalk:
        """The main frame's walk with all nested ones in it."""
        await self._worlds.reach_all()
        await self._tell_all_listeners(options)
        world = self._worlds.get(main_frame)
        if world is None:
            raise BrowserError("the page's document is not ready to be looked at")
        self.paths, self.frames, self._numbered = {"": ()}, {"": main_frame}, {"": world}
        walk = await self._walk(world, options, FrameWalk({}), 0)
        walk.data["less"] = walk.data["less"] or self._untold
        return walk

    def world_of(self, prefix: str) -> World | None:
        """The world of the frame whose ids begin with `prefix`."""
        frame = self.frames.get(prefix)
        return self._worlds.get(frame) if frame else None

    def still(self, prefix: str, world: World | None) -> World | None:
        """`world` where ids that begin with `prefix` are of its document; None after the frame went elsewhere.

        Each document counts its ids from 1, so that an id of the one before, or of another tab, may be another
        element's there.
        """
        return world if world is not None and self._numbered.get(prefix) == world else None

    async def locate(self, main: World, selectors: Sequence[str], hosts: Sequence[str]) -> Sequence[str | None]:
        """The ids of elements of the main frame, whose world is `main`, as `PageDocument.locate` gives them."""
        self._numbered[""] = main
        return await located(main, selectors, hosts)

    async def element_path(self, main: World, prefix: str, number: int) -> ElementPath | None:
        """Return where the element with an id, in its two parts, stands; `main` is the main frame's world."""
        world = self.still(prefix, self.world_of(prefix) if prefix else main)
        path = await world.call(f"shoalWalker.pathOf({number})") if world is not None else None
        return ElementPath(self.paths.get(prefix, ()), tuple(path[:-1]), path[-1]) if path else None

    async def enter(self, main: World, frames: Sequence[str]) -> tuple[World, str] | None:
        """The world of the frame that CSS selectors of frames lead to, and what the ids in it begin with.

        None where one of them finds no frame, or several, or its document is not there yet.
        """
        await self._worlds.reach_all()
        world, prefix = main, ""
        for selector in frames:
            frame = await world.call(f"shoalWalker.frameAt({json.dumps(selector)})")
            inner = await self.world_at(world, int(frame[0])) if frame else None
            if inner is None:
                return None
            around = (*self.paths.get(prefix, ()), f"{prefix}{frame[0]}")
            world, prefix = inner, f"{prefix}{frame[1]}"
            self.frames[prefix], self.paths[prefix] = inner.frame, around
            self._numbered[prefix] = inner
        return world, prefix

    # --- walking ------------------------------------------------------------------------------------

    async def _walk(
        self, world: World, options: ObserveOptions, at: FrameWalk, depth: int, clip: Json = None
    ) -> FrameWalk:
        walk = await self._alone(world, options, at, clip)
        if depth >= _MAX_FRAME_DEPTH:
            walk.unread = len(walk.frames)
            return walk
        if not walk.frames:
            return walk
        if any(spot.in_view for spot in walk.frames) and _is_tight(_left_of(options, [walk]), options):
            # What is left is too little for frames that can be seen.
            walk = await self._alone(world, _share(options, _OWN_PART), at, clip)
        await self._fill(world, walk, options, depth)
        return walk

    async def _fill(self, world: World, walk: FrameWalk, options: ObserveOptions, depth: int) -> None:
        """Walks the frames in `walk` with what it left of the budget.

        First in equal shares, then what was cut with what the others did not need.
        """
        spots = sorted(walk.frames, key=lambda spot: (not spot.in_view, -spot.width * spot.height))
        left = _left_of(options, [walk])
        if left.max_elements is not None:
            spots = spots[: left.max_elements // _LEAST_ELEMENTS]
        if left.max_chars is not None:
            spots = spots[: left.max_chars // _LEAST_CHARS]
        walk.unread, walk.inner = len(walk.frames) - len(spots), {}
        for again in (False, True):
            if not spots:
                return
            # What an earlier round's walk of the same frame took is free again.
            asked = {spot.element_id for spot in spots}
            kept = [inner_walk for number, inner_walk in walk.inner.items() if number not in asked]
            share = _share(_left_of(options, [replace(walk, inner=None), *kept]), 1 / len(spots))
            nested = await asyncio.gather(*(self._nested(world, walk, spot, share, depth) for spot in spots))
            walk.inner |= {
                spot.element_id: inner_walk for spot, inner_walk in zip(spots, nested, strict=True) if inner_walk
            }
            bounded = options.max_elements is not None or options.max_chars is not None
            if again or not bounded or _is_tight(_left_of(options, [walk]), options):
                return
            spots = [spot for spot in spots if spot.element_id in walk.inner and is_cut(walk.inner[spot.element_id])]

    async def _alone(self, world: World, options: ObserveOptions, at: FrameWalk, clip: Json) -> FrameWalk:
        """The walk of one frame, without those in it."""
        asked = json.dumps(
            {
                "maxElements": options.max_elements,
                "maxChars": options.max_chars,
                "viewportOnly": options.viewport_only,
                "words": list(options.words),
                "part": options.part,
                "top": not at.prefix,
                "clip": clip,
            }
        )
        call = f"shoalWalker.walk({asked})"
        walk = read_walk(await world.call(call), at.prefix, at.left, at.top, at.scale)
        if walk.data["suspects"] and await self._open_closed_roots(world):
            walk = read_walk(await world.call(call), at.prefix, at.left, at.top, at.scale)
        return walk

    async def _nested(
        self, parent: World, walk: FrameWalk, spot: FrameSpot, options: ObserveOptions, depth: int
    ) -> FrameWalk | None:
        """The walk of the frame at `spot`; None when it has nothing to show (yet)."""
        if options.viewport_only and not spot.in_view:
            return None
        world = await self.world_at(parent, spot.element_id)
        if world is None:
            return None
        prefix = walk.prefix + spot.letter
        self.frames[prefix] = world.frame
        self._numbered[prefix] = world
        self.paths[prefix] = (*self.paths[walk.prefix], f"{walk.prefix}{spot.element_id}")
        left, top = walk.left + spot.left * walk.scale, walk.top + spot.top * walk.scale
        at = FrameWalk({}, prefix, left, top, walk.scale * spot.scale)
        width, height = walk.data["size"]
        # What of the frame lies in its parent's window, in the frame's own coordinates.
        scale = spot.scale or 1.0
        clip = {
            "left": max(0.0, -spot.left) / scale,
            "top": max(0.0, -spot.top) / scale,
            "right": min(spot.width, width - spot.left) / scale,
            "bottom": min(spot.height, height - spot.top) / scale,
        }
        if clip["right"] <= clip["left"] or clip["bottom"] <= clip["top"]:
            clip = {"left": -1, "top": -1, "right": -1, "bottom": -1}
        try:
            return await self._walk(world, options, at, depth + 1, clip)
        except PlaywrightError:
            return None  # the frame went away while it was looked at
        except BrowserError:  # the walker failed there, as on what an advertisement draws
            walk.unread += 1
            return None

    async def world_at(self, parent: World, element_id: int) -> World | None:
        """The world of the frame that an element of `parent` holds; None where there is none, or none yet."""
        node = await parent.handle(f"shoalWalker.frameOf({element_id})")
        if node is None:
            return None
        frame = (await parent.session.send("DOM.describeNode", {"objectId": node}))["node"].get("frameId")
        return self._worlds.get(frame) if frame else None

    # --- what only DevTools knows -------------------------------------------------------------------

    async def _tell_all_listeners(self, options: ObserveOptions) -> None:
        """Tells all walkers which elements have listeners; again for what came while that took long."""
        for _ in range(_TELLINGS):
            began, self._untold = time.monotonic(), False
            fresh = await asyncio.gather(*(self._tell_listeners(session, options) for session in self._worlds.sessions))
            if not any(fresh) or time.monotonic() - began < _QUICK_S:
                return

    async def _tell_listeners(self, session: Session, options: ObserveOptions) -> bool:
        """Tells the walkers of one process which elements have listeners; False where they know of all."""
        document = await session.send("Runtime.evaluate", {"expression": "document", "objectGroup": "shoal"})
        # Asked of the page's own document: asked of an isolated world's, Chromium loses that world's identities.
        asked = {"objectId": document["result"]["objectId"], "depth": -1, "pierce": True}
        listeners = (await session.send("DOMDebugger.getEventListeners", asked))["listeners"]
        worlds = self._worlds.of_session(session)
        if not worlds:
            return False
        known = self._reported_nodes(session, min(world.document for world in worlds))
        most = limit = _MAX_NEW_LISTENERS if options.max_elements is None else _MAX_NEW_LISTENERS_IN_BUDGET
        heard: dict[int, set[str]] = {}
        for entry in listeners:
            if "backendNodeId" in entry:
                heard.setdefault(entry["backendNodeId"], set()).add(entry["type"])
        nodes_by_event: dict[str, list[int]] = {"": []}
        for node, types in heard.items():
            for event in {"" if event in _POINTER_EVENTS else event for event in types}:
                nodes_by_event.setdefault(event, []).append(node)
        for event in ("", *_OTHER_EVENTS):
            fresh = [node for node in nodes_by_event.get(event, ()) if (event, node) not in known]
            # In a budget they may well be buttons and links, which are listed without being told.
            self._untold = self._untold or (not event and options.max_elements is None and len(fresh) > limit)
            if fresh := fresh[:limit]:
                await self._mark(session, worlds, fresh, event)
                known.update((event, node) for node in fresh)
                limit -= len(fresh)
        await session.send("Runtime.releaseObjectGroup", {"objectGroup": "shoal"})
        return limit < most

    def _reported_nodes(self, session: Session, document: str) -> set[tuple[str, int]]:
        """Which nodes were told in this document; what was told about earlier ones is forgotten."""
        at, known = self._listeners.get(session, ("", set()))
        if at != document:
            known = set()
            self._listeners[session] = (document, known)
        return known

    async def _mark(self, session: Session, worlds: list[World], nodes: list[int], event: str) -> None:
        """Hands nodes, by DevTools' ids, to the walkers of the documents that they are in.

        Elements that take clicks, or those that listen for `event`.
        """
        for world in worlds:
            if not nodes:
                return
            handles = await asyncio.gather(*(self._resolve(session, world, node) for node in nodes))
            here = [(node, handle) for node, handle in zip(nodes, handles, strict=True) if handle]
            elsewhere = [node for node, handle in zip(nodes, handles, strict=True) if not handle]
            if here:
                await world.call("typeof shoalWalker.mark")
                answer = await session.send(
                    "Runtime.callFunctionOn",
                    {
                        "uniqueContextId": world.document,
                        "functionDeclaration": f"function(...nodes) {{ return shoalWalker.mark(nodes, {event!r}); }}",
                        "arguments": [{"objectId": handle} for _, handle in here],
                        "returnByValue": True,
                    },
                )
                elsewhere += [here[index][0] for index in answer["result"]["value"]]
            nodes = elsewhere

    async def _resolve(self, session: Session, world: World, node: int) -> str | None:
        asked = {"backendNodeId": node, "executionContextId": world.context, "objectGroup": "shoal"}
        try:
            answer = await session.send("DOM.resolveNode", asked)
        except PlaywrightError:
            return None  # it left the document meanwhile, or is another frame's
        handle = answer["object"].get("objectId")
        return str(handle) if handle else None

    async def _open_closed_roots(self, world: World) -> bool:
        """Asks DevTools about elements that may hide a closed shadow root; whether there was one."""
        suspects = await world.handle(f"shoalWalker.suspects({_MAX_SUSPECTS})")
        if suspects is None:
            return False
        take = "function (...roots) { shoalWalker.mark(roots, ''); }"
        return await hand_over_closed_roots(world.session, suspects, world.context, "shoal", take)


def _left_of(options: ObserveOptions, walks: Iterable[FrameWalk]) -> ObserveOptions:
    """`options` with what these walks left of their budget."""
    taken = [size(walk) for walk in walks]
    elements, chars = sum(spent[0] for spent in taken), sum(spent[1] for spent in taken)
    return replace(
        options,
        max_elements=None if options.max_elements is None else max(0, options.max_elements - elements),
        max_chars=None if options.max_chars is None else max(0, options.max_chars - chars),
    )


def _share(options: ObserveOptions, part: float) -> ObserveOptions:
    return replace(
        options,
        max_elements=None if options.max_elements is None else int(options.max_elements * part),
        max_chars=None if options.max_chars is None else int(options.max_chars * part),
    )


def _is_tight(left: ObserveOptions, budget: ObserveOptions) -> bool:
    """Return whether so little of `budget` is left that it is not worth another walk."""
    pairs = ((left.max_elements, budget.max_elements), (left.max_chars, budget.max_chars))
    return any(rest is not None and total is not None and rest < total * (1 - _OWN_PART) for rest, total in pairs)
