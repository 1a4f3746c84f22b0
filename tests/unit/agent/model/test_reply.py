"""Replies: what is repaired, what is refused, and that nothing but typed errors comes out."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.agent.errors import ReplyInvalid
from shoal.agent.models.model import Ask, Message
from shoal.agent.models.reply import ModelAnswer, ReplyDoubt, ReplyProblem, ask_for, check, parse
from shoal.agent.types import Usage
from tests.doubles import ScriptedModel

json_names = st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(json_names, inner, max_size=4),
    max_leaves=12,
)
json_objects = st.dictionaries(json_names, json_values, max_size=5)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('  \ufeff{"a": 1}\n', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('```\n{"a": 1}', {"a": 1}),
        ('Sure! Here it is:\n{"a": 1}\nAnything else?', {"a": 1}),
        ('<think>{"a": 2}?</think>{"a": 1}', {"a": 1}),
        ('the template opened the block</think>\n{"a": 1}', {"a": 1}),
        ('{"a": [1, 2,], "b": {"c": 1,},}', {"a": [1, 2], "b": {"c": 1}}),
        ('{"a": "one,]}"}', {"a": "one,]}"}),
        ('{"a": "two\nlines\tand a tab"}', {"a": "two\nlines\tand a tab"}),
        ('{"a": "bell\x07 and \\u0000 zero"}', {"a": "bell and  zero"}),
        ('{"a": "half a pair: \\ud83d"}', {"a": "half a pair: \ufffd"}),
        ('{"a": "a pair: \\ud83d\\ude00"}', {"a": "a pair: 😀"}),
        ('{"a": "```json\\n{}\\n```"}', {"a": "```json\n{}\n```"}),
        ('{"a": "</think> {"}', {"a": "</think> {"}),
    ],
)
def test_what_is_only_wrapped_or_untidy_is_repaired(text: str, value: Any) -> None:
    parsed = parse(text)
    assert parsed.value == value
    assert not parsed.cut_off


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"actions": [{"id": "1"}, {"id": "2", "te', {"actions": [{"id": "1"}]}),
        ('{"actions": [{"id": "1"}, {"id": "2"}', {"actions": [{"id": "1"}, {"id": "2"}]}),
        ('{"records": [{"tags": ["a", "b', {"records": []}),
        ('{"goal": "done", "text": "half a wo', {"goal": "done"}),
        ('{"goal": "done", "price": 12', {"goal": "done"}),
        ('{"a": {"b": 1, "c": 2', {}),
        ('{"a": {"b": 1}, "c', {"a": {"b": 1}}),
        ('{"a": "ends in a backslash\\', {}),
        ('{"a": 1, ', {"a": 1}),
        ('{"a": 1, "b": "5" screen", "c": 2}', {"a": 1}),  # a quote too many looks like an end too few
    ],
)
def test_what_was_cut_off_is_dropped_and_never_completed(text: str, value: Any) -> None:
    parsed = parse(text)
    assert parsed.value == value
    assert parsed.cut_off


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot help with that.",
        "[1, 2]",
        '{"a": 1} {"a": 2}',
        '{"a": 1, "a": 2}',
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": ' + "9" * 5000 + "}",
        '{"a": [1}',
        "{'a': True}",
        '{"a": "5" "screen"}',
        '{"a": 1, "\\u0000a": 2}',
        '{"a":' + "[" * 100_000 + "]" * 100_000 + "}",
        "{" * 3_000_000,
    ],
)
def test_what_is_ambiguous_or_damaged_is_refused(text: str) -> None:
    with pytest.raises(ReplyProblem):
        parse(text)


@given(json_objects)
def test_any_object_is_read_back(value: dict[str, Any]) -> None:
    parsed = parse(json.dumps(value))
    clean = json.loads(json.dumps(parsed.value))
    assert parsed.value == clean
    assert not parsed.cut_off


@given(st.text(max_size=200) | st.text(alphabet='{}[],:"\\n1a ', max_size=60))
def test_any_text_is_a_value_or_a_problem(text: str) -> None:
    try:
        parsed = parse(text)
    except ReplyProblem:
        return
    assert isinstance(parsed.value, dict)
    json.dumps(parsed.value, allow_nan=False).encode()


@given(json_objects, st.data())
def test_a_cut_reply_never_holds_what_the_whole_one_does_not(value: dict[str, Any], data: st.DataObject) -> None:
    whole = parse(json.dumps(value)).value
    text = json.dumps(value)
    cut = data.draw(st.integers(min_value=1, max_value=len(text)))
    parsed = parse(text[:cut])
    assert _is_part(parsed.value, whole)
    assert parsed.cut_off == (cut < len(text))


def _is_part(part: Any, whole: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(name in whole and _is_part(part[name], whole[name]) for name in part)
    if isinstance(part, list):
        return isinstance(whole, list) and all(_is_part(a, b) for a, b in zip(part, whole, strict=False))
    return bool(part == whole)


async def test_the_schema_is_held_to_and_the_place_is_named() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"enum": ["x"]}}}}
    await check({"a": ["x"]}, schema)
    with pytest.raises(ReplyProblem, match=r"a\[1\]"):
        await check({"a": ["x", "y"]}, schema)


# --- asking again -------------------------------------------------------------------------------------

ASK = Ask(messages=(Message("user", "How many?"),), json_schema={"type": "object", "required": ["n"]})


def number(value: Any) -> int:
    if not isinstance(value["n"], int):
        raise ReplyProblem("n must be a whole number")
    return int(value["n"])


async def asked(
    script: list[Any], read: Callable[[Any], int] = number
) -> tuple[ModelAnswer[int], ScriptedModel, Usage]:
    model, spent = ScriptedModel(script), []
    answer = await ask_for(model, ASK, read, spent.append)
    return answer, model, sum(spent, Usage())


async def test_a_good_reply_costs_one_request() -> None:
    answer, model, spent = await asked([{"n": 3}])
    assert (answer.value, len(model.asked), spent.model_calls) == (3, 1, 1)
    assert json.loads(answer.transcript)["replies"][0]["text"] == '{"n": 3}'


@pytest.mark.parametrize("bad", ["no JSON at all", '{"m": 1}', '{"n": "three"}', "", '{"n": 1'])
async def test_a_bad_reply_is_asked_for_once_more_with_its_error(bad: str) -> None:
    answer, model, spent = await asked([bad, {"n": 3}])
    assert (answer.value, len(model.asked), spent.model_calls) == (3, 2, 2)
    again = model.asked[1].messages
    assert again[: len(ASK.messages)] == ASK.messages  # the prefix stays, for the server's cache
    assert [message.role for message in again[-2:]] == ["assistant", "user"]
    assert "cannot be used" in again[-1].text


async def test_a_reply_without_its_thought_is_not_lost() -> None:
    parts = {"thought": {"type": "string"}, "n": {"type": "integer"}}
    schema = {"type": "object", "required": ["thought", "n"], "properties": parts, "additionalProperties": False}
    model = ScriptedModel(['{"n": 3}'])
    assert (await ask_for(model, replace(ASK, json_schema=schema), number)).value == 3
    with pytest.raises(ReplyInvalid, match="n is missing"):
        await ask_for(ScriptedModel(["{}", "{}"]), replace(ASK, json_schema=schema), number)


async def test_the_second_bad_reply_is_an_error_that_keeps_both() -> None:
    model, spent = ScriptedModel(["first nonsense", "second nonsense"]), []
    with pytest.raises(ReplyInvalid) as caught:
        await ask_for(model, ASK, number, spent.append)
    replies = json.loads(str(caught.value.details["transcript"]))["replies"]
    assert [reply["text"] for reply in replies] == ["first nonsense", "second nonsense"]
    assert len(spent) == 2  # what useless replies cost is counted too


def doubtful(value: Any) -> int:
    raise ReplyDoubt("is that so?", value["n"])


async def test_a_second_doubtful_reply_that_was_cut_off_says_so() -> None:
    answer, model, _ = await asked([{"n": 1}, '{"n": 2, "more": "'], doubtful)
    assert (answer.value, answer.cut_off, len(model.asked)) == (2, True, 2)


@pytest.mark.parametrize("second", ["garbage", '{"m": 1}', ""])
async def test_a_doubtful_reply_stands_when_the_second_is_of_no_use(second: str) -> None:
    answer, _, spent = await asked([{"n": 1}, second], doubtful)
    assert (answer.value, answer.cut_off, spent.model_calls) == (1, False, 2)
    assert [reply["text"] for reply in json.loads(answer.transcript)["replies"]] == ['{"n": 1}', second]


async def test_a_cut_reply_is_not_asked_for_again_where_the_caller_asks_for_less() -> None:
    model = ScriptedModel(['{"n": 1, "more": "'])
    answer = await ask_for(model, ASK, doubtful, doubt_cut=False)
    assert (answer.value, answer.cut_off, len(model.asked)) == (1, True, 1)


@given(st.lists(st.text(max_size=50) | json_objects, min_size=2, max_size=2))
async def test_whatever_a_model_says_only_typed_errors_come_out(script: list[Any]) -> None:
    with contextlib.suppress(ReplyInvalid):
        await ask_for(ScriptedModel(script), ASK, number)
