"""Rules for actions that may send, pay or book something, as far as the action itself can tell."""

from __future__ import annotations

from shoal.agent.actions.arguments import keys
from shoal.agent.actions.registry import Sends, primitive
from shoal.agent.errors import ActionInvalid
from shoal.agent.types import Action

_WITH_KEYS = frozenset({"press", "keyboard_press", "keyboard_down", "keyboard_up"})
_QUIET_KEYS = frozenset(
    {"Tab", "Escape", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown"}
    | {"Backspace", "Delete", "Shift"}
)
"""Keys that do nothing by themselves but move in a page or in a field. Enter and Space press buttons, letters may be
shortcuts, and with other modifiers a key may load the page again."""
_QUIET_COMBINATIONS = frozenset({"Control+a", "Meta+a", "ControlOrMeta+a"})


def sends(action: Action) -> Sends:
    """Return what the primitive's own word becomes with these arguments."""
    try:
        declared = primitive(action.name).sends
    except ActionInvalid:
        return "never"  # it is not performed
    if declared != "page":
        return declared
    if action.name in _WITH_KEYS:
        return "page" if is_quiet(action) else "always"
    return "always" if _types_enter(action) else "page"


def is_quiet(action: Action) -> bool:
    """Return whether the action presses keys that do nothing by themselves but move in a page or in a field."""
    if action.name not in _WITH_KEYS:
        return False
    named = keys(str(action.args.get("key_comb") or action.args.get("key") or ""))
    *modifiers, key = named.split("+")
    return named in _QUIET_COMBINATIONS or (key in _QUIET_KEYS and set(modifiers) <= {"Shift"})


def clicks(action: Action) -> bool:
    """Return whether the action presses what it acts on: with the mouse, or with the space bar."""
    if action.name in _WITH_KEYS:
        return _key(action) in ("Space", " ")
    try:
        return primitive(action.name).gives == "click"
    except ActionInvalid:
        return False  # it is not performed


def presses_enter(action: Action) -> bool:
    """Return whether the action presses Enter, by itself or by a text that it types."""
    if action.name in _WITH_KEYS:
        return _key(action) in ("Enter", "NumpadEnter")
    return _types_enter(action)


def _key(action: Action) -> str:
    named = keys(str(action.args.get("key_comb") or action.args.get("key") or ""))
    return named.rpartition("+")[2] or named


def _types_enter(action: Action) -> bool:
    """Return whether typing its text presses Enter."""
    if action.name == "keyboard_type":
        typed = str(action.args.get("text", ""))
    elif action.name == "fill" and action.args.get("enable_autocomplete_menu"):
        typed = str(action.args.get("value", ""))[-1:]
    else:
        return False
    return "\n" in typed or "\r" in typed
