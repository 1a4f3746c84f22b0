"""Every primitive, its group, and the named sets of them."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agent.actions.primitives import code, control, coordinate, element, human, keyboard, misc, navigation, tab
from agent.errors import ActionInvalid

Json = Any
Limit = Literal["action", "navigation", "download", "wait", "human"]
"""Which time limit holds: of an action, a page load, a download, a wait that names its own, a person's answer."""


@dataclass(frozen=True, slots=True)
class Primitive:
    """One action that can be taken: a function, and what is said about it."""

    function: Callable[..., Awaitable[Any]]
    group: str
    limit: Limit = "action"
    changes: bool = True  # whether it can change the page at all, so that its effect is worth looking for
    unsafe: bool = False  # off unless the operator turns it on

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def signature(self) -> str:
        """The call as a model writes it: "click(bid, button='left', modifiers=[])"."""
        shown = []
        for parameter in parameters(self.function):
            default = parameter.default
            if default is inspect.Parameter.empty:
                shown.append(parameter.name)
            else:
                shown.append(f"{parameter.name}={[] if default == () else default!r}")
        return f"{self.name}({', '.join(shown)})"

    @property
    def text(self) -> str:
        """What a model reads about it, without the examples."""
        return (inspect.getdoc(self.function) or "").split("\n\nExamples:")[0]

    @property
    def examples(self) -> tuple[str, ...]:
        """Calls as they may look."""
        _, _, listed = (inspect.getdoc(self.function) or "").partition("\n\nExamples:\n")
        return tuple(line.strip() for line in listed.splitlines() if line.strip())


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """What a caller gives: everything but the stage."""
    return list(inspect.signature(function).parameters.values())[1:]


PRIMITIVES: tuple[Primitive, ...] = (
    Primitive(element.click, "element"),
    Primitive(element.dblclick, "element"),
    Primitive(element.hover, "element"),
    Primitive(element.focus, "element"),
    Primitive(element.clear, "element"),
    Primitive(element.fill, "element"),
    Primitive(element.check, "element"),
    Primitive(element.uncheck, "element"),
    Primitive(element.press, "element"),
    Primitive(element.select_option, "element"),
    Primitive(element.drag_and_drop, "element"),
    Primitive(element.upload_file, "element"),
    Primitive(element.scroll_element, "element"),
    Primitive(element.download, "element", limit="download"),
    Primitive(coordinate.mouse_move, "coordinate"),
    Primitive(coordinate.mouse_down, "coordinate"),
    Primitive(coordinate.mouse_up, "coordinate"),
    Primitive(coordinate.mouse_click, "coordinate"),
    Primitive(coordinate.mouse_dblclick, "coordinate"),
    Primitive(coordinate.mouse_drag_and_drop, "coordinate"),
    Primitive(coordinate.scroll_at, "coordinate"),
    Primitive(coordinate.mouse_upload_file, "coordinate"),
    Primitive(keyboard.keyboard_down, "keyboard"),
    Primitive(keyboard.keyboard_up, "keyboard"),
    Primitive(keyboard.keyboard_press, "keyboard"),
    Primitive(keyboard.keyboard_type, "keyboard"),
    Primitive(keyboard.keyboard_insert_text, "keyboard"),
    Primitive(tab.new_tab, "tab", limit="navigation"),
    Primitive(tab.tab_close, "tab"),
    Primitive(tab.tab_focus, "tab"),
    Primitive(navigation.goto, "navigation", limit="navigation"),
    Primitive(navigation.go_back, "navigation", limit="navigation"),
    Primitive(navigation.go_forward, "navigation", limit="navigation"),
    Primitive(navigation.reload, "navigation", limit="navigation"),
    Primitive(navigation.search, "navigation", limit="navigation"),
    Primitive(misc.scroll, "misc"),
    Primitive(misc.noop, "misc", limit="wait"),
    Primitive(misc.wait_for, "misc", limit="wait"),
    Primitive(misc.save_as_pdf, "misc", changes=False),
    Primitive(misc.send_msg_to_user, "misc", changes=False),
    Primitive(misc.report_infeasible, "misc", changes=False),
    Primitive(misc.answer, "misc", changes=False),
    Primitive(human.solve_captcha, "human", limit="human"),
    Primitive(human.ask_user, "human", limit="human", changes=False),
    Primitive(human.enter_verification_code, "human", limit="human"),
    Primitive(control.complete, "control", changes=False),
    Primitive(control.terminate, "control", changes=False),
    Primitive(code.python, "python", unsafe=True),
)

_BY_NAME: Mapping[str, Primitive] = {primitive.name: primitive for primitive in PRIMITIVES}


def _group(*groups: str) -> tuple[str, ...]:
    return tuple(primitive.name for primitive in PRIMITIVES if primitive.group in groups)


ACTION_SETS: Mapping[str, tuple[str, ...]] = {
    "element": _group("element"),
    "coord": _group("coordinate"),
    "keyboard": _group("keyboard"),
    "tab": _group("tab"),
    "nav": _group("navigation"),
    "misc": ("scroll", "noop", "wait_for"),
    "pdf": ("save_as_pdf",),
    "chat": ("send_msg_to_user", "answer"),
    "infeasible": ("report_infeasible",),
    "human": _group("human"),
    "control": _group("control"),
    # What a learned workflow may contain.
    "workflow": (
        *("click", "hover", "fill", "clear", "check", "uncheck", "press", "select_option", "upload_file", "download"),
        *("goto", "go_back", "search", "new_tab", "tab_close", "tab_focus", "scroll", "scroll_element"),
        *("noop", "wait_for", "answer", "complete", "terminate"),
    ),
    "python": _group("python"),
    "all": tuple(primitive.name for primitive in PRIMITIVES if not primitive.unsafe),
}
"""Named subsets that can be combined."""

DEFAULT_SETS: tuple[str, ...] = ("element", "tab", "nav", "misc", "chat", "human", "control")


def primitive(name: str) -> Primitive:
    """The primitive of this name.

    Raises:
        ActionInvalid: there is none.
    """
    if name not in _BY_NAME:
        raise ActionInvalid(f"there is no action {name!r}")
    return _BY_NAME[name]


def primitives_of(sets: Iterable[str] = ()) -> tuple[Primitive, ...]:
    """The primitives of these sets, in the order of the registry; of the default sets when none is named.

    Raises:
        ActionInvalid: there is no such set.
    """
    chosen: set[str] = set()
    for name in tuple(sets) or DEFAULT_SETS:
        if name not in ACTION_SETS:
            raise ActionInvalid(f"there is no action set {name!r}; there are {', '.join(ACTION_SETS)}")
        chosen.update(ACTION_SETS[name])
    return tuple(one for one in PRIMITIVES if one.name in chosen)
