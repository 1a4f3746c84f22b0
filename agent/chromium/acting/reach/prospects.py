"""Targets that an action would reach on a page of Chromium: the documents around it, forms and links."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from shoal.agent.actions.primitives.navigation import web_address
from shoal.agent.chromium.acting.playwright_actions import split_bid
from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.chromium.devtools.page_walk import PageWalk
from shoal.agent.chromium.devtools.worlds import World
from shoal.agent.errors import ActionError, ElementMissing
from shoal.agent.support.json_value import Json
from shoal.agent.support.page_names import function_by_names
from shoal.agent.support.sites.prospect import Prospect, Unchosen
from shoal.agent.types import Action

_SCRIPT = function_by_names((Path(__file__).parent / "prospect.js").read_text(encoding="utf-8"))
_DOCUMENT = "/^https?:/.test(location.href) ? location.href : /^https?:/.test(self.origin) ? self.origin : ''"
_BIDS = ("bid", "from_bid", "to_bid")
_POINTS = (("x", "y"), ("from_x", "from_y"), ("to_x", "to_y"))
_CLICKS = frozenset({"click", "dblclick", "download", "check", "uncheck", "upload_file", "drag_and_drop"})
_LEFT_S, _LEFT_QUIET_S = 3.0, 0.4
"""Seconds that a page may take to look at a field that was left, and without any request or change after which it has.
"""
_MOST_FRAMES = 10
"""Frames within frames that are looked into."""


async def prospect(tab: Tab, action: Action) -> Prospect:
    """Return what the action would reach on the page as it is.

    Raises:
        ElementMissing: there is no element with an id that it names.
    """
    look, main = await tab.look(), await tab.main_world()
    url = action.args.get("url")
    if isinstance(url, str):
        return Prospect((tab.page.url,), listed=await _is_listed(look, main, url))
    reached = await _all_reached(look, main, tab, action)
    if all(field.kept for field in reached.unchosen) and reached.unchosen:
        # As the press will: a field that does not take the text lets go of it, or is marked as wrong.
        await main.call("shoalWalker.leaveTyped()")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LEFT_S):
                await tab.settled(_LEFT_QUIET_S)
        reached = await _all_reached(look, main, tab, action)
    return reached


async def _all_reached(look: PageWalk, main: World, tab: Tab, action: Action) -> Prospect:
    reached = Prospect((str(await main.call(_DOCUMENT)) or tab.page.url,))
    for asked, prefix in _spots(action):
        reached = await _reached(look, main, reached, asked, prefix)
    # What Enter does in a list is not known, nor what frames send.
    is_press = (reached.sends or reached.presses) and len(set(reached.documents)) == 1
    return replace(reached, unchosen=tuple(replace(field, kept=field.kept and is_press) for field in reached.unchosen))


def _spots(action: Action) -> Iterator[tuple[dict[str, Json], str]]:
    """The elements and points that the action names, with the prefix of their frame; what has the focus, else."""
    named = False
    for name in _BIDS:
        if name in action.args:
            named = True
            prefix, number = split_bid(str(action.args[name]))
            yield {"id": number, "within": action.name in _CLICKS}, prefix
    for across, down in _POINTS:
        if across in action.args and down in action.args:
            named = True
            yield {"point": {"x": float(action.args[across]), "y": float(action.args[down])}}, ""
    if not named:
        yield {}, ""


async def _reached(look: PageWalk, main: World, before: Prospect, asked: dict[str, Json], prefix: str) -> Prospect:
    """`before` with one element or point, and with what lies in frames below it."""
    world = look.still(prefix, look.world_of(prefix)) if prefix else main
    if world is None or (asked.get("id") and look.still(prefix, world) is None):
        raise ElementMissing("the element is not on the page now; observe again")
    reached, documents = before, list(before.documents)
    for step in look.paths.get(prefix, ()):
        around, _ = split_bid(step)
        if around and (outer := look.world_of(around)) is not None:
            documents.append(str(await outer.call(_DOCUMENT)) or documents[-1])
    worlds: list[tuple[World, dict[str, Json]]] = [(world, asked)]
    for _ in range(_MOST_FRAMES):
        if not worlds:
            return replace(reached, documents=tuple(dict.fromkeys(documents)))
        world, asked = worlds.pop()
        facts = await world.call(f"({_SCRIPT})({json.dumps(asked)})")
        if not facts["found"]:
            raise ElementMissing("the element is not on the page now; observe again")
        documents.append(facts["page"] or documents[-1])
        reached = replace(
            reached,
            field=reached.field or facts["field"],
            sends=reached.sends or facts["sends"],
            presses=reached.presses or facts["presses"],
            forms=(*reached.forms, *facts["forms"]),
            links=(*reached.links, *facts["links"]),
            unchosen=(*reached.unchosen, *(Unchosen(**field) for field in facts["unchosen"])),
            guarded=(*reached.guarded, *(f"{number} of {documents[-1]}" for number in facts["guarded"])),
        )
        for number, source in facts["frames"]:
            inner = await look.world_at(world, number)
            if inner is not None and not asked.get("id"):
                worlds.append((inner, {"point": facts["point"]} if facts.get("point") else {}))
                continue
            # What a click on a frame hits in it is not known, so it may be anything.
            documents.append((inner and await inner.call(_DOCUMENT)) or source or documents[-1])
            reached = replace(reached, field=True)
    raise ActionError("there are too many frames within frames to tell what the action would reach")


async def _is_listed(look: PageWalk, main: World, url: str) -> bool:
    """Return whether a link of the page, in whichever frame, leads to exactly this address."""
    asked = f"shoalWalker.lists({json.dumps(web_address(url))})"
    inner = [world for prefix in look.frames if prefix and (world := look.world_of(prefix)) is not None]
    for world in (main, *inner):
        if await world.call(asked):
            return True
    return False
