"""Proof that an action sends nothing: it follows a plain link, or only fills a field, and no script hears of it.

What cannot be proven counts as unproven: a mark too many costs two writes to the store, one too few a second order.
"""

from __future__ import annotations

import asyncio

from shoal.agent.chromium.acting.playwright_actions import split_bid
from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.chromium.devtools.worlds import World
from shoal.agent.errors import ElementMissing
from shoal.agent.types import Action

_HEARS = frozenset(
    {"click", "dblclick", "auxclick", "contextmenu", "mousedown", "mouseup", "pointerdown", "pointerup"}
    | {"pointercancel", "touchstart", "touchend", "keydown", "keyup", "keypress", "beforeinput", "input", "change"}
    | {"textInput", "compositionend", "select", "selectionchange", "selectstart", "paste", "cut", "copy", "focus"}
    | {"blur", "focusin", "focusout", "search", "toggle", "beforetoggle"}
    | {"close", "cancel", "command", "DOMActivate", "dragstart", "drop", "navigate"}
)
"""The events that browsers dispatch for a click, for typing, and for a focus that moves. Those of a form that is sent
or reset are not among them: what is proven here does neither, and a script that does it hears of one of these first."""

_FITTING: dict[str, frozenset[str]] = {
    "click": frozenset({"link", "field", "select", "list"}),
    "dblclick": frozenset({"link", "field", "select", "list"}),
    "download": frozenset({"link"}),
    "select_option": frozenset({"select", "list"}),
    "keyboard_type": frozenset({"field", "select", "list", "none"}),
    "keyboard_insert_text": frozenset({"field", "select", "list", "none"}),
}
"""Kinds of elements, by the walker's word, that each action does no more than fill or follow."""
_FIELDS = frozenset({"field", "select", "list"})
_ON_ANYTHING = frozenset({"focus", "press", "keyboard_press", "keyboard_down", "keyboard_up"})
"""Actions that are here with quiet keys only: whatever the element is, only its listeners count."""

# A picture called defaultView would stand in for `document.defaultView`; no name stands in for this.
_WINDOW = "function() { return (function() { return this; })(); }"
_NAVIGATION = "function() { return this.navigation; }"


async def harmless(tab: Tab, action: Action) -> bool:
    """Return whether the action provably sends nothing.

    Raises:
        ElementMissing: there is no element with the id that it names.
    """
    bid = str(action.args.get("bid", ""))
    prefix, number = split_bid(bid) if bid else ("", 0)
    look = await tab.look()
    world = look.world_of(prefix) if prefix else await tab.main_world()
    world = look.still(prefix, world) if bid else world
    if world is None:
        raise ElementMissing(f"element {bid} is not on the page now; observe again", bid=bid)
    if not await _quiet(world, number, action.name):
        return False
    # A field in the main document that loses the focus to a frame hears of it.
    return not prefix or await _quiet(await tab.main_world(), 0, "focus")


async def _quiet(world: World, number: int, name: str) -> bool:
    """Return whether no script hears of the action, on an element that does nothing else by itself."""
    session = world.session
    handle = await world.handle(f"shoalWalker.around({number})")
    if handle is None:
        raise ElementMissing(f"there is no element {number} on the page now; observe again", bid=str(number))
    listed = (await session.send("Runtime.getProperties", {"objectId": handle, "ownProperties": True}))["result"]
    kind = next((entry["value"]["value"] for entry in listed if entry["name"] == "kind"), "")
    if not kind or (name not in _ON_ANYTHING and kind not in _FITTING.get(name, _FIELDS)):
        return False
    nodes = [entry["value"]["objectId"] for entry in listed if entry["name"].isdigit()]
    if not nodes:
        return True
    described = await asyncio.gather(*(session.send("DOM.describeNode", {"objectId": node}) for node in nodes))
    around = {answer["node"]["backendNodeId"] for answer in described}
    return not await _heard(world, around, described[0]["node"]["backendNodeId"])


async def _heard(world: World, around: set[int], node: int) -> bool:
    """Return whether one of the nodes,
    the window of `node` or its navigation has a listener for what the action does.
    """
    session = world.session
    # Asked of the page's own objects: asked of an isolated world's, Chromium loses that world's identities.
    own = (await session.send("DOM.resolveNode", {"backendNodeId": node, "objectGroup": "shoal"}))["object"]
    document = await session.send("Runtime.evaluate", {"expression": "document", "objectGroup": "shoal"})
    asked = {"objectId": document["result"]["objectId"], "depth": -1, "pierce": True}
    listeners = (await session.send("DOMDebugger.getEventListeners", asked))["listeners"]
    window = await _called(world, own["objectId"], _WINDOW)
    further = [window, await _called(world, window, _NAVIGATION)]
    for target in further:
        answer = await session.send("DOMDebugger.getEventListeners", {"objectId": target})
        if any(entry["type"] in _HEARS for entry in answer["listeners"]):
            return True
    await session.send("Runtime.releaseObjectGroup", {"objectGroup": "shoal"})
    return any(entry["type"] in _HEARS and entry.get("backendNodeId") in around for entry in listeners)


async def _called(world: World, target: str, function: str) -> str:
    asked = {"objectId": target, "functionDeclaration": function, "objectGroup": "shoal"}
    return str((await world.session.send("Runtime.callFunctionOn", asked))["result"]["objectId"])
