"""The primitives as data: sets, schemas, the check of arguments, and performing on a stage that only notes down."""

from __future__ import annotations

import inspect
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given

from shoal.agent.actions import (
    ACTION_SETS,
    DEFAULT_SETS,
    PRIMITIVES,
    action_schema,
    actions_schema,
    arguments,
    catalogue,
    check,
    describe,
    perform,
    primitives_of,
)
from shoal.agent.actions.arguments import keys
from shoal.agent.actions.dialects.expressible import table
from shoal.agent.actions.primitives.navigation import web_address
from shoal.agent.errors import ActionError, ActionInvalid, ActionRefused, HelpMissing
from shoal.agent.hooks import Hooks
from shoal.agent.types import Action
from tests.unit.agent.actions.strategies import calls

ROOT = Path(__file__).resolve().parents[4]
SPECIFIED = """
click dblclick hover focus clear fill check uncheck press select_option drag_and_drop upload_file scroll_element
download
mouse_move mouse_down mouse_up mouse_click mouse_dblclick mouse_drag_and_drop scroll_at mouse_upload_file
keyboard_down keyboard_up keyboard_press keyboard_type keyboard_insert_text new_tab tab_close tab_focus
goto go_back go_forward reload search scroll noop wait_for save_as_pdf send_msg_to_user report_infeasible answer
solve_captcha ask_user enter_verification_code complete terminate python
"""


def test_every_specified_primitive_is_there_and_no_other() -> None:
    assert [one.name for one in PRIMITIVES] == SPECIFIED.split()


@pytest.mark.parametrize("one", PRIMITIVES, ids=lambda one: one.name)
def test_each_is_an_async_function_that_says_what_it_does_and_gives_examples(one: Any) -> None:
    assert inspect.iscoroutinefunction(one.function)
    assert one.text
    assert one.examples
    assert all(example.startswith(f"{one.name}(") for example in one.examples)


@pytest.mark.parametrize("one", PRIMITIVES, ids=lambda one: one.name)
def test_its_examples_are_calls_that_parse(one: Any) -> None:
    from shoal.agent.actions.dialects import browsergym

    for example in one.examples:
        assert [action.name for action in browsergym.parse(example)] == [one.name]


# Made once: checking the schema itself costs far more than checking a call by it.
ALL = jsonschema.Draft202012Validator(actions_schema(("all", "python")))
EACH = {one.name: jsonschema.Draft202012Validator(action_schema(one)) for one in PRIMITIVES}


@given(calls())
def test_valid_arguments_fit_the_schema_that_the_model_is_held_to(action: Action) -> None:
    arguments(action)
    said = {"name": action.name, "args": dict(action.args)}
    EACH[action.name].validate(said["args"])
    ALL.validate(said)


def test_the_schemas_are_schemas() -> None:
    for one in (ALL, *EACH.values()):
        jsonschema.Draft202012Validator.check_schema(one.schema)


def test_ids_of_this_page_are_an_enum() -> None:
    schema = actions_schema(("element",), bids=["1", "a2"])
    jsonschema.validate({"name": "click", "args": {"bid": "a2"}}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"name": "click", "args": {"bid": "3"}}, schema)


def test_on_a_page_without_elements_no_action_needs_one() -> None:
    names = {
        call["properties"]["name"]["const"] for call in actions_schema(("element", "nav", "misc"), bids=[])["anyOf"]
    }
    assert "click" not in names
    assert {"goto", "wait_for"} <= names


@pytest.mark.parametrize(
    ("action", "argument"),
    [
        (Action("click", {}), "bid"),
        (Action("click", {"bid": "#x"}), "bid"),
        (Action("click", {"bid": "1", "button": "side"}), "button"),
        (Action("click", {"bid": "1", "force": True}), "force"),
        (Action("noop", {"wait_ms": -1}), "wait_ms"),
        (Action("scroll", {"dx": "far", "dy": 1}), "dx"),
    ],
)
def test_a_wrong_argument_is_named(action: Action, argument: str) -> None:
    with pytest.raises(ActionInvalid, match=f"{action.name}.*'{argument}'") as caught:
        arguments(action)
    assert caught.value.details["argument"] == argument


def test_defaults_are_filled_in_and_numbers_are_taken_for_ids() -> None:
    assert arguments(Action("click", {"bid": 12})) == {"bid": "12", "button": "left", "modifiers": ()}


def test_python_is_refused_by_name_unless_it_is_turned_on() -> None:
    with pytest.raises(ActionRefused, match="'python'"):
        check(Action("python", {"code": "1"}))
    one, args = check(Action("python", {"code": "1"}), allow_unsafe=True)
    assert (one.name, args) == ("python", {"code": "1"})


def test_sets_hold_known_primitives_and_unsafe_ones_are_in_none_but_their_own() -> None:
    names = {one.name for one in PRIMITIVES}
    for members in ACTION_SETS.values():
        assert set(members) <= names
    assert all("python" not in members for name, members in ACTION_SETS.items() if name != "python")
    assert "click" in {one.name for one in primitives_of(DEFAULT_SETS)}
    with pytest.raises(ActionInvalid, match="'nosuch'"):
        primitives_of(("nosuch",))


def test_catalogue_and_description_come_from_the_functions() -> None:
    click = next(one for one in catalogue() if one["name"] == "click")
    assert click["signature"] == "click(bid, button='left', modifiers=[])"
    assert "element" in click["sets"] and "workflow" in click["sets"]
    assert click["text"] in describe(("element",))
    assert "python(" not in describe()


@pytest.mark.parametrize(
    ("given_keys", "expected"),
    [
        ("Enter", "Enter"),
        ("ctrl+a", "Control+a"),
        ("Control+A", "Control+a"),
        ("ctrl+shift+T", "Control+Shift+T"),
        ("esc", "Escape"),
        ("+", "+"),
        ("Control++", "Control++"),
        ("x", "x"),
    ],
)
def test_usual_spellings_of_keys(given_keys: str, expected: str) -> None:
    assert keys(given_keys) == expected


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ("https://example.com/a", "https://example.com/a"),
        ("example.com", "https://example.com"),
        ("example.com:8080/x?y=1", "https://example.com:8080/x?y=1"),
        ("about:blank", "about:blank"),
        ("localhost:8080/x", "http://localhost:8080/x"),
        ("127.0.0.1:80", "http://127.0.0.1:80"),
        ("localhost/x", "http://localhost/x"),
        ("localhost.example.com/x", "https://localhost.example.com/x"),
        ("example.com/login?next=https://example.com/a", "https://example.com/login?next=https://example.com/a"),
        ("www.example.com:8080?from=ftp://x", "https://www.example.com:8080?from=ftp://x"),
        ("//example.com/x", "https://example.com/x"),
    ],
)
def test_addresses(said: str, address: str) -> None:
    assert web_address(said) == address


@pytest.mark.parametrize("said", ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "chrome://crash"])
def test_only_web_pages_are_opened(said: str) -> None:
    with pytest.raises(ActionRefused):
        web_address(said)


@pytest.mark.parametrize("said", ["//[", "http://[::1", "http://a:99999", "http://\ud83d", "http://"])
def test_what_is_no_address_is_said_to_be_none(said: str) -> None:
    with pytest.raises(ActionInvalid):
        web_address(said)


@pytest.mark.parametrize(
    "code", ["import no_such_module", "open('/no/such/file')", "raise RuntimeError('x')", "exit(3)"]
)
async def test_whatever_code_raises_is_a_failed_action(code: str) -> None:
    stage: Any = NotingStage(Hooks())
    stage.page = None
    with pytest.raises(ActionError, match="the code failed"):
        await perform(Action("python", {"code": code}), stage, allow_unsafe=True)


@pytest.mark.parametrize("args", [{"index": 10**5000}, {"index": -(10**5000)}, {"index": [[{"a": 10**5000}]]}])
def test_numbers_that_python_cannot_write_are_refused(args: Any) -> None:
    with pytest.raises(ActionInvalid, match="too large"):
        arguments(Action("tab_focus", args))


@pytest.mark.parametrize("x", [float("inf"), float("nan")])
def test_points_are_finite(x: float) -> None:
    with pytest.raises(ActionInvalid, match="finite"):
        arguments(Action("mouse_move", {"x": x, "y": 1}))


class NotingStage:
    """As much of a stage as actions need that never touch the page."""

    url = "https://example.com/"

    def __init__(self, hooks: Hooks) -> None:
        self.hooks = hooks
        self.messages: list[tuple[str, str]] = []

    def faults(self) -> Any:
        return nullcontext()

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"touched {name}")


@pytest.mark.parametrize(
    ("name", "args", "hook"),
    [
        ("solve_captcha", {}, "solve_captcha"),
        ("ask_user", {"question": "who?"}, "ask_user"),
        ("enter_verification_code", {"bid": "1"}, "verification_code"),
    ],
)
async def test_without_its_hook_a_human_action_is_refused_by_the_hooks_name(name: str, args: Any, hook: str) -> None:
    with pytest.raises(HelpMissing, match=hook):
        await perform(Action(name, args), NotingStage(Hooks()))  # type: ignore[arg-type]


async def test_talking_to_the_user_goes_through_the_hooks_and_into_the_chat() -> None:
    said: list[str] = []

    async def say(text: str) -> None:
        said.append(text)

    async def ask(question: str, url: str) -> str:
        return f"answer to {question} on {url}"

    stage: Any = NotingStage(Hooks(say=say, ask_user=ask))
    stage.url = "https://a.example/"
    await perform(Action("send_msg_to_user", {"text": "hello"}), stage)
    assert await perform(Action("ask_user", {"question": "who?"}), stage) == "answer to who? on https://a.example/"
    assert await perform(Action("answer", {"text": "42"}), stage) == "42"
    assert said == ["hello"]
    assert stage.messages == [
        ("assistant", "hello"),
        ("assistant", "who?"),
        ("user", "answer to who? on https://a.example/"),
        ("assistant", "42"),
    ]


async def test_wait_for_needs_exactly_one_thing_to_wait_for() -> None:
    for args in ({}, {"text": "a", "bid": "1"}):
        with pytest.raises(ActionInvalid, match="text or bid"):
            await perform(Action("wait_for", args), NotingStage(Hooks()))  # type: ignore[arg-type]


def test_calls_and_step_replies_can_express_everything_and_the_others_what_they_have() -> None:
    found = table()
    for name, row in found.items():
        assert row["browsergym"].whole, name
        assert row["stepjson"].whole, name
    assert {name for name, row in found.items() if row["webvoyager"].calls} == {
        *("click", "fill", "scroll_element", "goto", "go_back", "scroll", "noop", "answer"),
    }
    assert not found["drag_and_drop"]["webaction"].calls
