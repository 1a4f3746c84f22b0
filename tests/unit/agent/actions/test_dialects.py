"""Every notation: what it reads, what it refuses, and that a round trip loses nothing."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.agent.actions.dialects import automa, browsergym, seeact, stepjson, webaction, webvoyager
from shoal.agent.actions.dialects.notations import DIALECTS, read_reply
from shoal.agent.actions.dialects.ui_element import UiElement, describer, resolver
from shoal.agent.errors import ActionInvalid, ReplyUnparsable
from shoal.agent.types import Action, Element
from tests.unit.agent.actions.strategies import bids, calls, texts

BUTTON = Element("12", "button", role="button", name="Send", clickable=True)
FIELD = Element("a3", "input", role="textbox", name="City", attributes={"placeholder": "where to"}, clickable=True)
PAGE = Element("", "body", children=(BUTTON, FIELD))
CHOICES = {"A": "12", "B": "a3"}


class TestBrowserGym:
    @given(st.lists(calls(), min_size=1, max_size=4))
    def test_round_trip(self, actions: list[Action]) -> None:
        assert browsergym.parse(browsergym.format(actions)) == actions

    def test_several_calls_by_position_and_name_in_a_fence(self) -> None:
        reply = "I will fill the form.\n```python\nfill('a2164', 'Asset tag')\n  click('a46', button=\"right\")\n```"
        assert browsergym.parse(reply) == [
            Action("fill", {"bid": "a2164", "value": "Asset tag"}),
            Action("click", {"bid": "a46", "button": "right"}),
        ]

    @pytest.mark.parametrize(
        ("reply", "said"),
        [
            ("", "no action"),
            ("click('12", "line 1"),
            ("click(12 + 1)", "argument 'bid'"),
            ("click('x')", "argument 'bid'"),
            ("click('1')\nfrobnicate('2')", "line 2: there is no action 'frobnicate'"),
            ("__import__('os').system('ls')", "plain name"),
            ("x = click('1')", "only calls"),
            ("click('1', 'left', [], 4)", "at most 3"),
            ("click(*['1'])", "argument 'bid'"),
            ("click(**{'bid': '1'})", "unpacking"),
            ("click('1', bid='2')", "not expected"),
            ("fill('1', {'a': 1})", "must not be a dict"),
            ("fill('1', f'{2}')", "argument 'value'"),
        ],
    )
    def test_anything_else_is_refused_with_its_place(self, reply: str, said: str) -> None:
        with pytest.raises(ReplyUnparsable, match=said) as caught:
            browsergym.parse(reply)
        assert "place" in caught.value.details

    def test_calls_on_one_line_and_in_several_blocks_are_all_read(self) -> None:
        both = [Action("fill", {"bid": "1", "value": "a) b(c) '"}), Action("click", {"bid": "2"})]
        assert browsergym.parse("fill('1', 'a) b(c) \\'') click('2')") == both
        assert browsergym.parse("fill('1', 'a) b(c) \\''); click('2')  # then click('3')") == both
        assert browsergym.parse("  fill ('1', 'a) b(c) \\'') click  ('2')\n   # then click('3')\n") == both
        assert browsergym.parse("First:\n```\nfill('1', 'a) b(c) \\'')\n```\nthen\n```python\nclick('2')\n```") == both
        with pytest.raises(ReplyUnparsable, match="block 1: holds html"):
            browsergym.parse("```html\n<p>\n```\n```\nclick('2')\n```")
        with pytest.raises(ReplyUnparsable, match="one is allowed"):
            browsergym.parse("```\nclick('1')\n```\n```\nclick('2')\n```", multiaction=False)

    @pytest.mark.parametrize(
        ("reply", "args"),
        [
            ("scroll(delta_x=0, delta_y=200)", {"dx": 0, "dy": 200}),
            ("keyboard_press(key='Enter')", {"key_comb": "Enter"}),
            ("fill('1', text='x')", {"bid": "1", "value": "x"}),
            ("send_msg_to_user(message='x')", {"text": "x"}),
        ],
    )
    def test_other_names_for_arguments_are_understood(self, reply: str, args: dict[str, object]) -> None:
        assert browsergym.parse(reply)[0].args == args

    def test_only_actions_of_the_chosen_sets_are_read(self) -> None:
        assert browsergym.parse("click('1')", sets=["element"])
        with pytest.raises(ReplyUnparsable, match="line 2: the action 'goto' is not among"):
            browsergym.parse("click('1')\ngoto('https://a.example')", sets=["element"])
        call = '{"action_type": "CALL", "call": {"name": "scroll", "args": {"delta_x": 0, "delta_y": 5}}}'
        assert read_reply("stepjson", call, PAGE, sets=["misc"])[0].args == {"dx": 0, "dy": 5}
        with pytest.raises(ReplyUnparsable, match="action 1: the action 'scroll' is not among"):
            read_reply("stepjson", call, PAGE, sets=["element"])

    def test_one_action_where_one_is_allowed(self) -> None:
        with pytest.raises(ReplyUnparsable, match="one is allowed"):
            browsergym.parse("noop()\nnoop()", multiaction=False)


class TestWebVoyager:
    @pytest.mark.parametrize(
        ("reply", "expected"),
        [
            ("Thought: a\nAction: Click [12]", [Action("click", {"bid": "12"}, "a")]),
            (
                "Thought: Search.\nAction: Type [4]; opening hours",
                [
                    Action("fill", {"bid": "4", "value": "opening hours"}, "Search."),
                    Action("press", {"bid": "4", "key_comb": "Enter"}),
                ],
            ),
            ("Action: Scroll [WINDOW]; [down]", [Action("scroll", {"dx": 0, "dy": 600})]),
            ("action: scroll 7; UP", [Action("scroll_element", {"bid": "7", "direction": "up"})]),
            ("**Action**: Wait", [Action("noop", {"wait_ms": 5000})]),
            ("Action: GoBack", [Action("go_back")]),
            ("Action: Google", [Action("goto", {"url": webvoyager.SEARCH_HOME})]),
            ("Action: ANSWER; 42, about", [Action("answer", {"text": "42, about"})]),
        ],
    )
    def test_reads(self, reply: str, expected: list[Action]) -> None:
        assert webvoyager.parse(reply) == expected

    @given(
        bids, st.text("abc XYZ ;,.[]ü'\"", max_size=30), st.sampled_from(["up", "down"]), st.sampled_from([600, -600])
    )
    def test_round_trip(self, bid: str, text: str, direction: str, dy: int) -> None:
        actions = [
            Action("click", {"bid": bid}, "first"),
            Action("fill", {"bid": bid, "value": text}),
            Action("press", {"bid": bid, "key_comb": "Enter"}),
            Action("scroll_element", {"bid": bid, "direction": direction}),
            Action("scroll", {"dx": 0, "dy": dy}),
            Action("noop", {"wait_ms": webvoyager.WAIT_MS}),
            Action("go_back"),
            Action("goto", {"url": webvoyager.SEARCH_HOME}),
            Action("answer", {"text": text}),
        ]
        assert webvoyager.parse(webvoyager.format(actions)) == actions

    @given(texts)
    def test_text_comes_back_as_it_was_or_is_refused(self, text: str) -> None:
        try:
            written = webvoyager.format([Action("answer", {"text": text})])
        except ActionInvalid:
            return
        assert webvoyager.parse(written) == [Action("answer", {"text": text})]

    @pytest.mark.parametrize(
        "reply", ["Click [12]", "Action: Jump [1]", "Action: Click", "Action:", "Action: Type [3]"]
    )
    def test_refuses(self, reply: str) -> None:
        with pytest.raises(ReplyUnparsable):
            webvoyager.parse(reply)

    def test_what_it_cannot_express_is_refused(self) -> None:
        with pytest.raises(ActionInvalid, match="drag_and_drop"):
            webvoyager.format([Action("drag_and_drop", {"from_bid": "1", "to_bid": "2"})])


class TestSeeAct:
    def test_reads_the_last_of_each_line(self) -> None:
        reply = "The format is\nELEMENT: A\nACTION: CLICK\nso:\nELEMENT: B. the field\nACTION: TYPE\nVALUE: Berlin"
        assert seeact.parse(reply, CHOICES) == [Action("fill", {"bid": "a3", "value": "Berlin"}, "The format is")]

    @given(st.text("abc XYZ:,.ü", max_size=30))
    def test_round_trip(self, text: str) -> None:
        every = [
            Action("click", {"bid": "12"}, "because"),
            Action("fill", {"bid": "a3", "value": text}),
            Action("hover", {"bid": "12"}),
            Action("press", {"bid": "a3", "key_comb": "Enter"}),
            Action("keyboard_press", {"key_comb": "Enter"}),
            Action("complete"),
            Action("noop"),
        ]
        if text.strip():
            every += [Action("select_option", {"bid": "a3", "options": text}), Action("terminate", {"reason": text})]
        for action in every:
            assert seeact.parse(seeact.format([action], CHOICES), CHOICES) == [action]

    @pytest.mark.parametrize(
        ("reply", "place"),
        [
            ("CLICK A", "ACTION"),
            ("ELEMENT: Z\nACTION: CLICK\nVALUE: None", "ELEMENT"),
            ("ELEMENT: A\nACTION: DANCE", "ACTION"),
            ("ELEMENT: A\nACTION: SELECT\nVALUE: None", "VALUE"),
        ],
    )
    def test_refuses_with_the_place(self, reply: str, place: str) -> None:
        with pytest.raises(ReplyUnparsable) as caught:
            seeact.parse(reply, CHOICES)
        assert caught.value.details["place"] == place


class TestStepJson:
    @given(st.lists(calls(), max_size=4))
    def test_round_trip(self, actions: list[Action]) -> None:
        assert stepjson.parse(stepjson.format(actions)) == actions

    def test_types_of_their_own(self) -> None:
        actions = [
            Action("click", {"bid": "1"}, "r"),
            Action("download", {"bid": "1"}),
            Action("fill", {"bid": "1", "value": "x"}),
            Action("upload_file", {"bid": "1", "file": "f"}),
            Action("select_option", {"bid": "1", "options": "Red"}),
            Action("select_option", {"bid": "1", "options": 3}),
            Action("solve_captcha"),
            Action("complete"),
            Action("terminate", {"reason": "gone", "errors": ["a"]}, "gone"),
        ]
        written = stepjson.format(actions)
        assert "CALL" not in written
        assert stepjson.parse(written) == actions

    def test_numbers_for_ids_and_fences_are_understood(self) -> None:
        assert stepjson.parse('```json\n{"action_type": "CLICK", "id": 12}\n```') == [Action("click", {"bid": "12"})]

    @pytest.mark.parametrize(
        ("reply", "place"),
        [
            ("{", "line 1 column 2"),
            ("3", "actions"),
            ('[{"action_type": "JUMP"}]', "actions[0].action_type"),
            ('[{"action_type": "CLICK", "id": "1"}, {"action_type": "INPUT_TEXT", "id": "1"}]', "actions[1].text"),
            ('[{"action_type": "SELECT_OPTION", "id": "1", "option": {}}]', "actions[0].option"),
            ('[{"action_type": "CALL", "call": {"name": "nope", "args": {}}}]', "actions[0]"),
            ('[{"action_type": "TERMINATE", "errors": ["x"]}]', "actions[0].errors"),
        ],
    )
    def test_refuses_with_the_place(self, reply: str, place: str) -> None:
        with pytest.raises(ReplyUnparsable) as caught:
            stepjson.parse(reply)
        assert caught.value.details["place"] == place


class TestWebAction:
    @given(texts)
    def test_round_trip(self, text: str) -> None:
        actions = [
            Action("click", {"bid": "12"}, text),
            Action("fill", {"bid": "a3", "value": text}),
            Action("scroll", {"dx": 0, "dy": -600}),
            Action("noop", {"wait_ms": webaction.WAIT_MS}),
            Action("go_back"),
            Action("search", {"query": text}),
            Action("answer", {"text": text}),
        ]
        assert webaction.parse(webaction.format(actions, describer(PAGE)), resolver(PAGE)) == actions

    def test_an_element_that_is_not_there_is_named(self) -> None:
        reply = json.dumps({"action": "Click", "ui_element": {"label": "Buy"}})
        with pytest.raises(ReplyUnparsable, match="'Buy'") as caught:
            webaction.parse(reply, resolver(PAGE))
        assert caught.value.details["place"] == "[0].ui_element"

    def test_two_of_a_kind_are_not_guessed_at(self) -> None:
        twice = Element(
            "", "body", children=(BUTTON, Element("13", "button", role="button", name="Send", clickable=True))
        )
        assert resolver(twice)(UiElement(label="Send")) is None

    def test_selectors_find_what_words_do_not_tell_apart(self) -> None:
        twice = Element(
            "", "body", children=(BUTTON, Element("13", "button", role="button", name="Send", clickable=True))
        )
        resolve = resolver(twice, {"#second": "13", "//form[2]/button": "13"})
        assert resolve(UiElement(label="Send", css_selector="#second")) == "13"
        assert resolve(UiElement(xpath="//form[2]/button")) == "13"
        assert resolve(UiElement(css_selector="#third")) is None
        assert resolver(PAGE, {"#second": "13"})(UiElement(label="Send", css_selector="#second")) == "12"

    def test_selectors_that_the_page_tells_are_written(self) -> None:
        describe = describer(PAGE, {"12": ("#send", "//button[1]")})
        (said,) = json.loads(webaction.format([Action("click", {"bid": "12"})], describe))
        assert (said["ui_element"]["cssSelector"], said["ui_element"]["xpath"]) == ("#send", "//button[1]")


class TestAutoma:
    def test_round_trip_of_a_line(self) -> None:
        actions = [
            Action("new_tab"),
            Action("goto", {"url": "https://example.com"}),
            Action("goto", {"url": "https://example.com/2"}),
            Action("fill", {"bid": "a3", "value": "Berlin"}),
            Action("select_option", {"bid": "a3", "options": "x"}),
            Action("check", {"bid": "12"}),
            Action("click", {"bid": "12"}),
            Action("hover", {"bid": "12"}),
            Action("upload_file", {"bid": "a3", "file": ["a", "b"]}),
            Action("keyboard_press", {"key_comb": "Enter"}),
            Action("noop", {"wait_ms": 500}),
            Action("scroll", {"dx": 0, "dy": 300}),
            Action("tab_focus", {"index": 1}),
            Action("go_back"),
            Action("go_forward"),
            Action("reload"),
            Action("tab_close"),
        ]
        assert automa.parse(automa.format(actions, describer(PAGE)), resolver(PAGE)) == actions

    @given(st.lists(st.tuples(st.sampled_from(["trigger", "loop-data", "get-text", "whatever"]), texts), max_size=5))
    def test_import_and_export_keep_every_block(self, kinds: list[tuple[str, str]]) -> None:
        blocks = tuple(automa.Block(f"b{i}", kind, {"note": note}, x=i) for i, (kind, note) in enumerate(kinds))
        edges = tuple(automa.Edge(f"b{i}", f"b{i + 1}", "output-fallback") for i in range(len(blocks) - 1))
        workflow = automa.AutomaWorkflow("name", blocks, edges, "why")
        assert automa.read(automa.write(workflow)) == workflow

    def test_loops_are_no_list_of_actions(self) -> None:
        blocks = (automa.Block("t", "trigger"), automa.Block("l", "loop-elements"))
        with pytest.raises(ReplyUnparsable, match="steers"):
            automa.parse(automa.write(automa.AutomaWorkflow("", blocks, (automa.Edge("t", "l"),))), resolver(PAGE))


_FIELDS = [
    *(
        "action_type",
        "id",
        "actions",
        "option",
        "call",
        "name",
        "args",
        "errors",
        "action",
        "description",
        "ui_element",
    ),
    *("input_field", "label", "drawflow", "nodes", "edges", "data", "source", "target", "position"),
]
_JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        texts,
        st.sampled_from(["CLICK", "CALL", "Click", "Input", "12", "²", "9" * 5000]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(_FIELDS),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)
_PIECES = [
    "²",
    "9" * 5000,
    "0x" + "f" * 5000,
    "\ud83d",
    "click(",
    "'12'",
    ")",
    "\n",
    "Action:",
    "Click [1]",
    "ELEMENT: A",
    "ACTION: TYPE",
    "VALUE:",
    "{",
    "}",
    "[",
]
_SCRAPS = st.lists(st.sampled_from([*_PIECES, "\\", '"""', "\x00", "é"]), max_size=12).map(" ".join)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(reply=st.one_of(st.text(max_size=80), _SCRAPS, _JSON.map(json.dumps)))
def test_whatever_a_model_says_nothing_but_the_parse_error_comes_out(dialect: str, reply: str) -> None:
    try:
        actions = read_reply(dialect, reply, PAGE)  # type: ignore[arg-type]
    except ReplyUnparsable as error:
        assert error.message and "place" in error.details
    else:
        assert all(isinstance(action, Action) for action in actions)


@pytest.mark.parametrize("index", ["²", "9" * 5000])
def test_a_block_s_number_that_is_none_is_refused_with_its_block(index: str) -> None:
    blocks = (automa.Block("t", "trigger"), automa.Block("s", "switch-tab", {"tabIndex": index}))
    with pytest.raises(ReplyUnparsable, match="block s"):
        automa.parse(automa.write(automa.AutomaWorkflow("", blocks, (automa.Edge("t", "s"),))), resolver(PAGE))


def test_deep_nesting_is_refused() -> None:
    readers: list[Callable[[str], object]] = [
        browsergym.parse,
        stepjson.parse,
        lambda t: webaction.parse(t, resolver(PAGE)),
    ]
    for reader in readers:
        with pytest.raises(ReplyUnparsable):
            reader("[" * 90_000)
