"""A person's demonstration becomes a draft: parameters in place of what they typed, and nothing that they typed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shoal.agent.browser import Context
from shoal.agent.errors import ActionRefused
from shoal.agent.types import Action, ActionResult, Effect
from shoal.agent.workflows.by_hand.drafting import drafted
from shoal.agent.workflows.by_hand.hand_book import HandBook, Pointed
from shoal.agent.workflows.format.workflow import read_workflow
from shoal.agent.workflows.learning.evidence import SessionEvidence
from shoal.agent.workflows.learning.one_run import address_of_all_runs
from tests.doubles import FakeBrowser, FakePage

URL = "https://desk.example/"


class Desk:
    """A page whose elements are told as the scripts of the book ask for them."""

    def __init__(self) -> None:
        self.element: Any = None  # under the pointer, or with the focus
        self.said: list[str] = ["The desk"]
        self.around: list[str] = []

    def __call__(self, script: str, arg: Any) -> Any:
        if "arg.describe" in script:
            ways = [
                {"family": "role_name", "value": self.element["label"], "role": "textbox", "n": 1},
                {"family": "css", "value": f"#{self.element['name']}", "role": "", "n": 1},
            ]
            told = {"role": "textbox", "name": self.element["label"], "ways": ways, "around": self.around}
            return json.dumps({**told, "box": [1, 2, 3, 4], "form": None})
        if "activeElement" in script:
            return self.element
        return self.said


def element(kind: str, name: str, label: str, value: str = "", **more: Any) -> dict[str, Any]:
    told = {"kind": kind, "path": f"html > {name}", "value": value, "checked": False, "many": False, "long": False}
    return {**told, "name": name, "label": label, **more}  # `label`: its accessible name, for `describe`


async def page_of(desk: Desk) -> Context:
    context = await FakeBrowser({URL: FakePage(read=desk, harmless=("click",))}).new_context()
    await context.goto(URL)
    return context


async def did(book: HandBook, page: Context, action: Action, **effect: Any) -> None:
    pointed = await book.before(page, action)
    await book.after(page, ActionResult(action, effect=Effect(**effect)), pointed)


async def typed(book: HandBook, page: Context, desk: Desk, field: dict[str, Any], text: str) -> None:
    desk.element = field
    await did(book, page, Action("keyboard_type", {"text": text}))


async def draft_of(book: HandBook, page: Context) -> dict[str, Any]:
    data, open_ = drafted(await book.book(page), URL, "desk")
    assert data is not None, open_
    read_workflow(data)
    made: dict[str, Any] = json.loads(data)["versions"][0]
    return made


@pytest.mark.parametrize(
    ("label", "parameter"),
    [("Größe (cm)", "grosse_cm"), ("Ваше имя", "_ваше_имя"), ("2nd name", "_2nd_name"), ("…", "value")],
)
async def test_a_parameter_is_called_like_its_field(label: str, parameter: str) -> None:
    desk, book = Desk(), HandBook()
    page = await page_of(desk)
    await typed(book, page, desk, element("field", "who", label, "Ada"), "Ada")
    (param,) = (await draft_of(book, page))["params"]
    assert (param["name"], param["path"]) == (parameter, f"$.{parameter}")


async def test_what_is_typed_becomes_parameters_and_is_written_nowhere() -> None:
    desk, book = Desk(), HandBook()
    page = await page_of(desk)
    await typed(book, page, desk, element("field", "who", "Your name", "Anna-Maria"), "Anna-")
    await typed(book, page, desk, element("field", "who", "Your name", "Anna-Maria"), "Maria")
    desk.around = ["after: Hello Anna-Maria"]
    await typed(book, page, desk, element("field", "who2", "Your name", "Bea-Petra"), "Bea-Petra")
    await typed(book, page, desk, element("secret", "pw", "Password"), "tops3cret")
    await typed(book, page, desk, element("field", "token", "Access token", "k-4711-zz"), "k-4711-zz")
    await typed(book, page, desk, element("select", "size", "2nd size", "Large"), "L")
    desk.said = ["Thank you, Anna-Maria", "Order 12345", "It is done"]
    version = await draft_of(book, page)
    text = json.dumps(version)
    for value in ("Anna", "Maria", "Petra", "tops3cret", "k-4711-zz", "Large", "12345"):
        assert value not in text, value
    assert [node["action"] for node in version["nodes"]] == ["fill", "fill", "fill", "fill", "select_option"]
    assert {param["name"]: (param["source"], param["path"]) for param in version["params"]} == {
        "your_name": ("data", "$.your_name"),
        "your_name_2": ("data", "$.your_name_2"),
        "password": ("secret", "password"),
        "access_token": ("secret", "access_token"),
        "_2nd_size": ("data", "$._2nd_size"),
    }
    assert [condition["value"] for condition in version["nodes"][-1]["post"]] == ["It is done"]
    assert (version["by"], version.get("state", "draft")) == ("recording", "draft")


async def test_a_click_that_only_led_into_a_field_is_left_out_and_keys_that_only_move_are_too() -> None:
    desk, book = Desk(), HandBook()
    page = await page_of(desk)
    desk.element = element("field", "who", "Your name")
    await did(book, page, Action("mouse_click", {"x": 1, "y": 2}))
    await typed(book, page, desk, element("field", "who", "Your name", "x"), "x")
    for key in ("Tab", "Shift+Tab", "PageDown"):
        await did(book, page, Action("keyboard_press", {"key_comb": key}))
    await did(book, page, Action("scroll_at", {"x": 1, "y": 2, "dx": 0, "dy": 300}))
    assert [node["action"] for node in (await draft_of(book, page))["nodes"]] == ["fill"]


@pytest.mark.parametrize("kind", ["field", "choice"])
@pytest.mark.parametrize("earlier", [True, False], ids=["after another action", "first of all"])
async def test_a_click_that_was_not_noted_takes_no_other_action_out(kind: str, earlier: bool) -> None:
    desk, book = Desk(), HandBook()
    page = await page_of(desk)
    if earlier:
        await did(book, page, Action("goto", {"url": URL}))
    pointed = Pointed(URL, element("field", "who", "Your name"))  # nothing finds it
    await book.after(page, ActionResult(Action("mouse_click", {"x": 1, "y": 2})), pointed)
    desk.element = element(kind, "who", "Your name", "Ann")
    name = "keyboard_type" if kind == "field" else "mouse_click"
    args = {"text": "Ann"} if kind == "field" else {"x": 1, "y": 2}
    await did(book, page, Action(name, args))
    assert [noted.action for noted in book.actions][:-1] == ["goto"] * earlier
    assert book.actions[-1].action == ("fill" if kind == "field" else "select_option")


async def test_what_failed_is_left_out() -> None:
    desk, book = Desk(), HandBook()
    page = await page_of(desk)
    desk.element = element("click", "go", "Go")
    action = Action("mouse_click", {"x": 1, "y": 2})
    pointed = await book.before(page, action)
    failed = ActionResult(action, error=ActionRefused("no").info())
    await book.after(page, failed, pointed)
    assert book.actions == []


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"kind": "lost", "why": "it is in a frame"}, "it is in a frame"),
        (None, "there is no element"),
        (element("select", "s", "Colours", many=True), "what was chosen is not known"),
    ],
)
async def test_what_cannot_be_found_again_makes_no_workflow_and_says_why(told: Any, why: str) -> None:
    desk, book = Desk(), HandBook()
    page = await page_of(desk)
    desk.element = told
    action = "keyboard_press" if told and told["kind"] == "select" else "mouse_click"
    args: dict[str, Any] = {"key_comb": "ArrowDown"} if action == "keyboard_press" else {"x": 1, "y": 2}
    await did(book, page, Action(action, args))
    data, open_ = drafted(await book.book(page), URL, "desk")
    assert data is None
    assert why in open_[0].why


async def test_what_sends_runs_once_and_needs_a_word_of_the_page() -> None:
    desk, book = Desk(), HandBook()
    page = await page_of(desk)
    desk.element = element("field", "q", "Search", "lamps")
    await did(book, page, Action("keyboard_type", {"text": "lamps"}))
    await did(book, page, Action("keyboard_press", {"key_comb": "Enter"}), url="https://desk.example/search?q=lamps")
    version = await draft_of(book, page)
    assert [(node["action"], node.get("once", False)) for node in version["nodes"]] == [
        ("fill", False),
        ("press", True),
    ]
    assert version["nodes"][1]["post"][0] == {"kind": "url", "value": "https://desk.example/search?q={}"}

    silent = HandBook()
    desk.element, desk.said = element("field", "q", "Search", "lamps"), []
    await did(silent, page, Action("keyboard_press", {"key_comb": "Enter"}))
    data, open_ = drafted(await silent.book(page), URL, "desk")
    assert data is None and "nothing on the pages after it says that it was taken" in open_[0].why


def test_nothing_that_was_done_is_no_workflow() -> None:
    data, open_ = drafted(SessionEvidence(), URL, "desk")
    assert data is None and open_[0].why == "they did nothing and read nothing"


@pytest.mark.parametrize(
    ("url", "template"),
    [
        ("", ""),
        ("https://a.example/orders/4711/done?id=5&x=", "https://a.example/orders/{}/done?id={}&x={}"),
        ("https://a.example/thanks#Anna", "https://a.example/thanks"),
    ],
)
def test_addresses_of_one_run(url: str, template: str) -> None:
    assert address_of_all_runs(url) == template
