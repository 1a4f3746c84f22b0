"""Every primitive, its group, and the named sets of them."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from shoal.agent.actions.primitives import code, control, coordinate, element, human, keyboard, misc, navigation, tab
from shoal.agent.errors import ActionInvalid

Limit = Literal["action", "navigation", "download", "wait", "human"]
"""Which time limit holds: of an action, a page load, a download, a wait that names its own, a person's answer."""
Sends = Literal["never", "page", "always"]
"""Conditions under which an action may make a site do something that must not be done twice: never; only where the page
does not prove that it follows a plain link or only fills a field (`Context.harmless`); always, as far as anything here
can tell.
"""
Gives = Literal["nothing", "click", "text"]
"""Input that an action gives a page, which must then be one of the job's sites (`SiteRule`): nothing, a click, or text
and files that are typed, chosen or handed over.
"""


_MAY_CHANGE_NOTHING = frozenset(
    {"hover", "focus", "check", "uncheck", "scroll_element", "scroll_at", "mouse_move", "download", "upload_file"}
)
_TYPING = frozenset({"fill", "press", "keyboard_type", "keyboard_insert_text", "keyboard_press"})


@dataclass(frozen=True, slots=True)
class Primitive:
    """One action that can be taken: a function, and what is said about it."""

    function: Callable[..., Awaitable[Any]]
    group: str
    sends: Sends
    limit: Limit = "action"
    changes: bool = True  # whether it can change the page at all, so that its effect is worth looking for
    aliases: tuple[tuple[str, str], ...] = ()  # other names that replies use for its arguments, and these
    unsafe: bool = False  # off unless the operator turns it on
    given: Gives = "text"  # what the page gets by it, where it may send something

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def gives(self) -> Gives:
        """Return what the page gets by it."""
        return "nothing" if self.sends == "never" else self.given

    def argument(self, name: str) -> str:
        """The name of an argument that a reply may call otherwise."""
        return next((own for other, own in self.aliases if other == name), name)

    @property
    def types(self) -> bool:
        """Return whether it enters text, as keys would."""
        return self.name in _TYPING

    @property
    def has_effect(self) -> bool:
        """Return whether it came to nothing when nothing on the page changed: late effects are waited for then."""
        return self.group in ("element", "coordinate", "keyboard") and self.name not in _MAY_CHANGE_NOTHING

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
        """Return what a model reads about it, without the examples."""
        return (inspect.getdoc(self.function) or "").split("\n\nExamples:")[0]

    @property
    def examples(self) -> tuple[str, ...]:
        """Calls as they may look."""
        _, _, listed = (inspect.getdoc(self.function) or "").partition("\n\nExamples:\n")
        return tuple(line.strip() for line in listed.splitlines() if line.strip())


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return what a caller gives: everything but the action context."""
    return list(inspect.signature(function).parameters.values())[1:]


PRIMITIVES: tuple[Primitive, ...] = (
    Primitive(element.click, "element", "page", given="click"),
    Primitive(element.dblclick, "element", "page", given="click"),
    Primitive(element.hover, "element", "never"),
    Primitive(element.focus, "element", "page", given="nothing"),
    Primitive(element.clear, "element", "page"),
    Primitive(element.fill, "element", "page", aliases=(("text", "value"),)),
    Primitive(element.check, "element", "page"),
    Primitive(element.uncheck, "element", "page"),
    Primitive(element.press, "element", "page", aliases=(("key", "key_comb"), ("keys", "key_comb"))),
    Primitive(element.select_option, "element", "page", aliases=(("option", "options"),)),
    Primitive(element.drag_and_drop, "element", "always"),
    Primitive(element.upload_file, "element", "page"),
    Primitive(element.scroll_element, "element", "never"),
    Primitive(element.download, "element", "page", limit="download", given="click"),
    Primitive(coordinate.mouse_move, "coordinate", "never"),
    Primitive(coordinate.mouse_down, "coordinate", "always", given="click"),
    Primitive(coordinate.mouse_up, "coordinate", "always", given="click"),
    Primitive(coordinate.mouse_click, "coordinate", "always", given="click"),
    Primitive(coordinate.mouse_dblclick, "coordinate", "always", given="click"),
    Primitive(coordinate.mouse_drag_and_drop, "coordinate", "always"),
    Primitive(coordinate.scroll_at, "coordinate", "never", aliases=(("delta_x", "dx"), ("delta_y", "dy"))),
    Primitive(coordinate.mouse_upload_file, "coordinate", "always"),
    Primitive(keyboard.keyboard_down, "keyboard", "page", aliases=(("key_comb", "key"),)),
    Primitive(keyboard.keyboard_up, "keyboard", "page", aliases=(("key_comb", "key"),)),
    Primitive(keyboard.keyboard_press, "keyboard", "page", aliases=(("key", "key_comb"),)),
    Primitive(keyboard.keyboard_type, "keyboard", "page"),
    Primitive(keyboard.keyboard_insert_text, "keyboard", "page"),
    Primitive(tab.new_tab, "tab", "never", limit="navigation"),
    Primitive(tab.tab_close, "tab", "never"),
    Primitive(tab.tab_focus, "tab", "never"),
    Primitive(navigation.goto, "navigation", "never", limit="navigation"),
    Primitive(navigation.go_back, "navigation", "always", limit="navigation", given="nothing"),
    Primitive(navigation.go_forward, "navigation", "always", limit="navigation", given="nothing"),
    Primitive(navigation.reload, "navigation", "always", limit="navigation", given="nothing"),
    Primitive(navigation.search, "navigation", "never", limit="navigation"),
    Primitive(misc.scroll, "misc", "never", aliases=(("delta_x", "dx"), ("delta_y", "dy"))),
    Primitive(misc.noop, "misc", "never", limit="wait"),
    Primitive(misc.wait_for, "misc", "never", limit="wait"),
    Primitive(misc.save_as_pdf, "misc", "never", changes=False),
    Primitive(misc.send_msg_to_user, "misc", "never", changes=False, aliases=(("message", "text"), ("msg", "text"))),
    Primitive(misc.report_infeasible, "misc", "never", changes=False),
    Primitive(misc.answer, "misc", "never", changes=False),
    Primitive(human.solve_captcha, "human", "always", limit="human", given="nothing"),
    Primitive(human.ask_user, "human", "never", limit="human", changes=False),
    Primitive(human.enter_verification_code, "human", "page", limit="human"),
    Primitive(control.complete, "control", "never", changes=False),
    Primitive(control.terminate, "control", "never", changes=False),
    Primitive(code.python, "python", "always", unsafe=True),
)

_BY_NAME: Mapping[str, Primitive] = {primitive.name: primitive for primitive in PRIMITIVES}


def _group(*groups: str) -> tuple[str, ...]:
    return tuple(primitive.name for primitive in PRIMITIVES if primitive.group in groups)


ACTION_SETS: Mapping[str, tuple[str, ...]] = {
    "element": _group("element"),
    "coord": _group("coordinate"),
    "keyboard": _group("keyboard"),
    # What an editor without fields of its own needs: a caret's typing, and chords of keys.
    "typing": ("keyboard_press", "keyboard_type"),
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

DEFAULT_SETS: tuple[str, ...] = ("element", "typing", "tab", "nav", "misc", "chat", "human", "control")


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
    return tuple(entry for entry in PRIMITIVES if entry.name in chosen)
