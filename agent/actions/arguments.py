"""The kinds of arguments that primitives take; their descriptions end up in the schemas that models see."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field

Bid = Annotated[str, Field(pattern=r"^[A-Za-z]*[0-9]+$", description="id of an element in the observation")]
X = Annotated[float, Field(description="CSS pixels from the left edge of the viewport")]
Y = Annotated[float, Field(description="CSS pixels from the top edge of the viewport")]
Keys = Annotated[str, Field(min_length=1, description="a key, or several joined by +: Enter, Control+a, Shift+Tab")]
Times = Annotated[int, Field(ge=1, le=100, description="how often")]
Place = Literal["on", "before", "after"]
Option = str | int
Options = Annotated[
    Option | list[Option], Field(description="label or value of an option, its index as a number, or a list of these")
]
Files = Annotated[str | list[str], Field(description="path, URL or artifact key of a file, or a list of these")]

_KEYS = {
    "ctrl": "Control",
    "control": "Control",
    "cmd": "Meta",
    "command": "Meta",
    "win": "Meta",
    "meta": "Meta",
    "alt": "Alt",
    "option": "Alt",
    "shift": "Shift",
    "enter": "Enter",
    "return": "Enter",
    "esc": "Escape",
    "escape": "Escape",
    "tab": "Tab",
    "del": "Delete",
    "delete": "Delete",
    "backspace": "Backspace",
    "space": "Space",
    "spacebar": "Space",
    "up": "ArrowUp",
    "arrowup": "ArrowUp",
    "down": "ArrowDown",
    "arrowdown": "ArrowDown",
    "left": "ArrowLeft",
    "arrowleft": "ArrowLeft",
    "right": "ArrowRight",
    "arrowright": "ArrowRight",
    "pageup": "PageUp",
    "page_up": "PageUp",
    "pagedown": "PageDown",
    "page_down": "PageDown",
    "home": "Home",
    "end": "End",
    "insert": "Insert",
}


def keys(combination: str) -> str:
    """A key combination with the names that browsers use, whatever the usual spelling."""
    if combination in ("+", " "):
        return combination
    parts = re.split(r"(?<=.)\+(?=.)", combination.strip())
    named = [_KEYS.get(part.strip().lower(), part.strip()) for part in parts]
    # "Control+A" would press Shift as well; who writes it means the letter.
    if len(named) > 1 and len(named[-1]) == 1 and "Shift" not in named:
        named[-1] = named[-1].lower()
    return "+".join(named)
