"""Which actions may send something, by what they are and by their arguments."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.agent.actions import PRIMITIVES
from shoal.agent.actions.dialects import browsergym, webvoyager
from shoal.agent.actions.dialects.expressible import expressed
from shoal.agent.actions.dialects.notations import DIALECTS
from shoal.agent.actions.sending import sends
from shoal.agent.types import Action

NEVER = """
hover scroll_element mouse_move scroll_at new_tab tab_close tab_focus goto search scroll noop wait_for save_as_pdf
send_msg_to_user report_infeasible answer ask_user complete terminate
"""
ALWAYS = """
drag_and_drop mouse_down mouse_up mouse_click mouse_dblclick mouse_drag_and_drop mouse_upload_file
go_back go_forward reload solve_captcha python
"""
PAGE = """
click dblclick focus clear fill check uncheck press select_option upload_file download
keyboard_down keyboard_up keyboard_press keyboard_type keyboard_insert_text enter_verification_code
"""


def test_every_primitive_says_whether_it_may_send() -> None:
    said = {one.name: one.sends for one in PRIMITIVES}
    words = {"never": NEVER, "always": ALWAYS, "page": PAGE}
    assert said == {name: how for how, names in words.items() for name in names.split()}


@pytest.mark.parametrize("name", ["press", "keyboard_press", "keyboard_down", "keyboard_up"])
@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        ("Enter", "always"),
        ("return", "always"),
        ("NumpadEnter", "always"),
        ("Space", "always"),
        (" ", "always"),
        ("Control+Enter", "always"),
        ("Shift+Enter", "always"),
        ("s", "always"),
        ("Control+s", "always"),
        ("F5", "always"),
        ("Control+r", "always"),
        ("Alt+ArrowLeft", "always"),
        ("Alt+p", "always"),
        ("Control", "always"),
        ("+", "always"),
        ("Tab", "page"),
        ("Shift+Tab", "page"),
        ("esc", "page"),
        ("ArrowDown", "page"),
        ("Backspace", "page"),
        ("Control+a", "page"),
    ],
)
def test_keys(name: str, key: str, wanted: str) -> None:
    argument = "key" if name in ("keyboard_down", "keyboard_up") else "key_comb"
    bid = {"bid": "1"} if name == "press" else {}
    assert sends(Action(name, {**bid, argument: key})) == wanted


@pytest.mark.parametrize(
    ("name", "args", "wanted"),
    [
        ("keyboard_type", {"text": "Ada"}, "page"),
        ("keyboard_type", {"text": "Ada\n"}, "always"),
        ("keyboard_type", {"text": "a\rb"}, "always"),
        ("keyboard_insert_text", {"text": "a\nb"}, "page"),  # as pasting: no key is pressed
        ("fill", {"bid": "1", "value": "a\n"}, "page"),
        ("fill", {"bid": "1", "value": "a\n", "enable_autocomplete_menu": True}, "always"),
        ("fill", {"bid": "1", "value": "a\nb", "enable_autocomplete_menu": True}, "page"),
        ("no_such_action", {}, "never"),
    ],
)
def test_what_is_typed(name: str, args: dict[str, Any], wanted: str) -> None:
    assert sends(Action(name, args)) == wanted


def test_what_a_dialect_says_is_judged_like_the_primitives_that_it_becomes() -> None:
    typed = webvoyager.parse("Thought: the field takes a name\nAction: Type [3]; hello")
    assert [(action.name, sends(action)) for action in typed] == [("fill", "page"), ("press", "always")]
    known = {one.name for one in PRIMITIVES}
    for dialect in DIALECTS:
        for one in PRIMITIVES:
            calls = [action for call in expressed(dialect, one).calls for action in browsergym.parse(call)]
            assert {action.name for action in calls} <= known, dialect
