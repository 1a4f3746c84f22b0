"""The effect of an action, from two looks at the page, one before and one after it."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, replace
from typing import Protocol

from playwright.async_api import Error as PlaywrightError

from shoal.agent.chromium.acting.appearances import Appearances
from shoal.agent.chromium.acting.dialogs import Dialogs
from shoal.agent.chromium.acting.downloads import Downloads
from shoal.agent.chromium.acting.open_tabs import OpenTabs
from shoal.agent.chromium.acting.playwright_actions import ChromiumActionContext, split_bid
from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.chromium.devtools.page_walk import PageWalk
from shoal.agent.chromium.devtools.worlds import World
from shoal.agent.errors import ActionError, BrowserError
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, Effect

_FIELDS = frozenset({"input", "textarea", "select"})
_PUSHED = frozenset({"button", "submit", "reset", "image"})


@dataclass(frozen=True, slots=True)
class Moment:
    """The page at one moment, as far as effects are concerned."""

    tab: Tab
    url: str
    opened: int  # tabs that the site opened so far
    windows: int  # that this tab's page opened so far
    dialogs: int  # so far
    downloads: int  # so far
    document: str  # id of the main document's world; another one after a navigation
    main: Json  # the walker's word of the main frame; None when it cannot be asked
    frame: Json  # the same of the frame that holds the element or the focus, and of the element
    prefix: str = ""  # of that frame's ids
    mutations: int = 0  # in all nested frames that were looked at, where the action is about no element


class Watched(Protocol):
    """The parts of a browser context in which effects are counted."""

    @property
    def tab(self) -> Tab: ...

    open_tabs: OpenTabs
    dialogs: Dialogs
    files: Downloads

    @property
    def url(self) -> str: ...


async def moment(
    context: Watched, action_context: ChromiumActionContext, bid: str | None, *, inside: bool = True
) -> Moment:
    """The page now; `bid` is the element that the action is about, of which the action context learns as well.

    Without `inside` the page itself is not asked, which after a navigation would wait for all that it has to do.
    """
    tab = context.tab
    document, main, frame, prefix, mutations = "", None, None, "", 0
    try:
        world = await tab.main_world() if inside else None
        if world is None:
            return _outside(context, tab, (await tab.navigation()).windows)
        document = world.document
        prefix = split_bid(bid)[0] if bid else ""
        if bid and not prefix:
            main = frame = await action_context.element_state(bid)
        else:
            main = await world.call("shoalWalker.elementState(0)")
            frame = await action_context.element_state(bid) if bid else main
        if not bid:
            prefix, frame, mutations = await _inside_frames(await tab.look(), main)
    except (PlaywrightError, ActionError, BrowserError):
        # Between two documents there is nothing to ask. That it is so is itself told by `document`.
        pass
    windows = 0
    with contextlib.suppress(PlaywrightError):  # a window that the site opened may be closed again
        windows = (await tab.navigation()).windows
    return Moment(
        tab=tab,
        url=context.url,
        opened=context.open_tabs.opened,
        windows=windows,
        dialogs=context.dialogs.count,
        downloads=context.files.count,
        document=document,
        main=main,
        frame=frame,
        prefix=prefix,
        mutations=mutations,
    )


async def _inside_frames(look: PageWalk, main: Json) -> tuple[str, Json, int]:
    """The frame that has the focus, its state, and how often nested frames changed: keys and points reach them all."""
    worlds = {prefix: world for prefix in look.frames if prefix and (world := look.world_of(prefix)) is not None}
    frame_states = await asyncio.gather(*map(_focused_state, worlds.values()))
    states = {"": main} | {prefix: state for prefix, state in zip(worlds, frame_states, strict=True) if state}
    focused = ""
    while states[focused]["focus"]:
        path = (*look.paths.get(focused, ()), f"{focused}{states[focused]['focus']}")
        inner = next((prefix for prefix in states if look.paths.get(prefix) == path), None)
        if inner is None:
            break
        focused = inner
    changes = sum(state["mutations"] for prefix, state in states.items() if prefix)
    return focused, states[focused], changes


async def _focused_state(world: World) -> Json:
    try:
        return await world.call("shoalWalker.elementState(0)")
    except (PlaywrightError, BrowserError):
        return None  # the frame went away


def _outside(context: Watched, tab: Tab, windows: int) -> Moment:
    return Moment(
        tab, context.url, context.open_tabs.opened, windows, context.dialogs.count, context.files.count, "", None, None
    )


def effect(before: Moment, after: Moment, bid: str | None, seen: Appearances = Appearances()) -> Effect:
    """Return what changed between two moments, and what came into sight meanwhile."""
    changed = Effect(
        url=after.url if after.url != before.url else None,
        new_tab=after.opened > before.opened,
        dialog=after.dialogs > before.dialogs,
        download=after.downloads > before.downloads,
        dom_changed=_document_changed(before, after) or _mutated(before, after),
        focus=_focus(before, after),
        value=_value(before, after, bid),
        appeared=seen.appeared,
        appeared_count=seen.appeared_count,
        went=seen.went,
        went_count=seen.went_count,
        fields=seen.fields,
        fields_count=seen.fields_count,
        invalid=seen.invalid,
    )
    quiet = replace(changed, focus=None, value=None) == Effect() and not seen.scrolled
    return replace(changed, unchanged=quiet and not _moved_on(before, after, bid))


def _moved_on(before: Moment, after: Moment, bid: str | None) -> bool:
    """Return whether a value, the scroll position or the focus changed;
    that a button has the focus is no effect of it.

    What a canvas shows no look at the document tells, so beside one nothing is said to have stayed as it was.
    """
    if not before.frame or not after.frame or not before.main or not after.main:
        return True
    if after.main["drawn"] or after.frame["drawn"]:
        return True
    if before.prefix != after.prefix or before.main["scroll"] != after.main["scroll"]:
        return True
    value = before.frame["value"] != after.frame["value"]
    field = (after.frame["tag"] in _FIELDS and after.frame["type"] not in _PUSHED) or after.frame["editable"]
    return value or (before.frame["focus"] != after.frame["focus"] and (field or bid is None))


def _document_changed(before: Moment, after: Moment) -> bool:
    return before.tab is not after.tab or before.document != after.document or after.main is None


def _mutated(before: Moment, after: Moment) -> bool:
    pairs = [(before.main, after.main)]
    if before.prefix == after.prefix:
        pairs.append((before.frame, after.frame))
    return before.mutations != after.mutations or any(a and b and a["mutations"] != b["mutations"] for a, b in pairs)


def _focus(before: Moment, after: Moment) -> str | None:
    """The id that has the focus now, "" when none has; None when that did not change."""
    if _document_changed(before, after) or not before.frame or not after.frame:
        return None
    if (before.prefix, before.frame["focus"]) == (after.prefix, after.frame["focus"]):
        return None
    return f"{after.prefix}{after.frame['focus']}" if after.frame["focus"] else ""


def _value(before: Moment, after: Moment, bid: str | None) -> str | None:
    if _document_changed(before, after) or not after.frame:
        return None
    value = after.frame["value"]
    if bid is None:  # of the focused field, where a key changed it
        changed = before.frame and (before.prefix != after.prefix or before.frame["value"] != value)
        return value if changed else None
    return str(value) if value is not None and after.frame["found"] else None


def named_bid(action: Action) -> str | None:
    """The element whose value tells what the action did: the last that it names."""
    for name in ("to_bid", "bid"):
        bid = action.args.get(name)
        if bid is not None:
            return str(bid)
    return None
