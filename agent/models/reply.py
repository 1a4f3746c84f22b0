"""From a model's text to a checked value: strict parse, repairs that cannot change a meaning, one re-ask.

A repair is safe when it only undoes damage to the notation: wrapping (code fences, prose around the object, a reasoning
block before it), trailing commas, raw control characters inside strings, and an end that was cut off, where what is
incomplete is dropped and never completed: half of a typed text or of a price would be a wrong one.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from shoal.agent.errors import ReplyInvalid
from shoal.agent.models.model import Ask, Message, Model, Reply
from shoal.agent.models.refusals import refusal
from shoal.agent.support.json_value import Json
from shoal.agent.support.schemas.checking import check_reply
from shoal.agent.types import Usage
from shoal.prompts import render

T = TypeVar("T")

MAX_REPLY_CHARS = 2_000_000
"""Longer replies are not parsed: no decision needs them, and repair walks every character."""

_FED_BACK_CHARS = 4_000
"""Characters of a useless reply that the model is shown again."""

_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\r?\n(.*?)(?:\r?\n[ \t]*```|\Z)", re.DOTALL)
_CONTROL = re.compile("[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class ReplyProblem(ValueError):
    """The reply cannot be used; why is fed back to the model.

    Args:
        message: in our own words; the model takes it as an instruction.
        said: words of the page or of the reply, which may be anything: fed back as data.
    """

    def __init__(self, message: str, excerpt: str = "") -> None:
        super().__init__(f"{message}: {excerpt}" if excerpt else message)
        self.message = message
        self.excerpt = excerpt


@dataclass(frozen=True, slots=True)
class PartAgain:
    """A second request for the doubted part of a reply, without the page and without the rest of the reply."""

    words: str  # what is asked, behind what the request tells of the job
    schema_name: str
    json_schema: dict[str, Json]
    max_tokens: int
    read: Callable[[Json], Any]  # the whole value, with what the second reply gives; raises `ReplyProblem`
    otherwise: Any  # the value without what was doubted, where the second reply is of no use


class ReplyDoubt(ReplyProblem):
    """The reply can be used as `value`, but is worth asking once more; a second one is taken as it is.

    Args:
        part: how only what is doubted is asked for; None: the whole reply is.
    """

    def __init__(self, message: str, value: Any, excerpt: str = "", part: PartAgain | None = None) -> None:
        super().__init__(message, excerpt)
        self.value = value
        self.part = part


@dataclass(frozen=True, slots=True)
class Parsed:
    """A reply as a value."""

    value: Json
    cut_off: bool = False  # its end was missing; what was incomplete has been dropped


@dataclass(frozen=True, slots=True)
class ModelAnswer(Generic[T]):
    """A model's request and reply, read into a `T`."""

    value: T
    transcript: str  # JSON: messages and replies, images by their size; kept as an artifact
    cut_off: bool = False


async def ask_for(
    model: Model,
    ask: Ask,
    read: Callable[[Json], T],
    spend: Callable[[Usage], None] = lambda usage: None,
    *,
    doubt_cut: bool = True,
) -> ModelAnswer[T]:
    """The model's answer, read by `read`, which raises `ReplyProblem` for what it cannot take, `ReplyDoubt` for what
    it takes only from a second reply.

    A reply that cannot be used is asked for once more, with the problem; where the second is of no use, a first one
    that was only doubted stands.

    Args:
        spend: is told what each request cost.
        doubt_cut: False: a reply that was cut off is not asked for again because of a doubt, since a second one would
            end at the same limit; the caller asks for less.

    Raises:
        ReplyInvalid: the second reply cannot be used either; `transcript` in the details keeps both.
        ModelUnavailable, ModelRefused: the model could not be asked.
    """
    replies: list[Reply] = []
    asked = ask
    doubted: ModelAnswer[T] | None = None
    while True:
        reply = await model.ask(asked)
        spend(reply.usage)
        replies.append(reply)
        cut_off = False
        try:
            parsed = parse(reply.text)
            cut_off = parsed.cut_off
            value = _with_thought(parsed.value, ask.json_schema)
            await check(value, ask.json_schema, ask.disabled)
            # In a thread: what it looks up on a long page takes a while.
            return ModelAnswer(await asyncio.to_thread(read, value), transcript(asked, replies), cut_off)
        except ReplyDoubt as doubt:
            if doubt.part is not None:
                return await _ask_for_part(model, asked, replies, doubt.part, spend)
            problem: ReplyProblem = doubt
            doubted = ModelAnswer(doubt.value, transcript(asked, replies), cut_off)
            if len(replies) > 1 or (cut_off and not doubt_cut):
                return doubted
        except ReplyProblem as unusable:
            problem = unusable
            if doubted is not None:
                return replace(doubted, transcript=transcript(asked, replies))
            if len(replies) > 1:
                raise ReplyInvalid(
                    f"the second reply cannot be used either: {problem}", transcript=transcript(asked, replies)
                ) from problem
        asked = _again(ask, reply, problem)


async def _ask_for_part(
    model: Model, ask: Ask, replies: list[Reply], part: PartAgain, spend: Callable[[Usage], None]
) -> ModelAnswer[Any]:
    """The answer with its doubted part asked for by itself: of the request only what it tells of the job is sent."""
    narrow = replace(
        ask,
        messages=(*ask.messages[:2], Message("user", part.words)),
        schema_name=part.schema_name,
        json_schema=part.json_schema,
        max_tokens=part.max_tokens,
    )
    reply = await model.ask(narrow)
    spend(reply.usage)
    transcripts = f"{transcript(ask, replies)},\n{transcript(narrow, [reply])}"
    try:
        parsed = parse(reply.text)
        await check(parsed.value, part.json_schema)
        return ModelAnswer(part.read(parsed.value), transcripts, parsed.cut_off)
    except ReplyProblem:
        return ModelAnswer(part.otherwise, transcripts)


def _again(ask: Ask, reply: Reply, problem: ReplyProblem) -> Ask:
    assistant_turn = Message("assistant", reply.text[:_FED_BACK_CHARS] or "(nothing)")
    user_turn = Message("user", render("again", problem=problem.message, said=problem.excerpt))
    return replace(ask, messages=(*ask.messages, assistant_turn, user_turn))


def transcript(ask: Ask, replies: list[Reply]) -> str:
    """Return what was sent and what came back, as JSON for people who look into a step."""
    sent = [
        {"role": message.role, "text": message.text, "images": [len(image.data) for image in message.images]}
        for message in ask.messages
    ]
    came = [
        {
            "text": _clean_text(reply.text),
            "finish_reason": reply.finish_reason,
            "seconds": round(reply.seconds, 3),
            "prompt_tokens": reply.usage.prompt_tokens,
            "completion_tokens": reply.usage.completion_tokens,
            **({"tokens": "estimated: the server does not count them"} if reply.estimated else {}),
        }
        for reply in replies
    ]
    return json.dumps({"messages": sent, "replies": came}, ensure_ascii=False, indent=1)


# --- parsing -----------------------------------------------------------------------------------------


def parse(text: str) -> Parsed:
    """The JSON object in `text`, repaired where that is safe.

    Raises:
        ReplyProblem: there is no JSON object, or more than one, or it is damaged beyond safe repair.
    """
    if len(text) > MAX_REPLY_CHARS:
        raise ReplyProblem(f"it is longer than {MAX_REPLY_CHARS} characters")
    body = _unwrapped(text)
    start = body.find("{")
    if start < 0:
        raise ReplyProblem("it holds no JSON object" if body.strip() else "it is empty")
    outline = _Outline(body, start)
    if outline.end is None:
        return Parsed(_decode(outline.cut()), cut_off=True)
    if "{" in body[outline.end :]:
        raise ReplyProblem("it holds more than one JSON object; answer with exactly one")
    return Parsed(_decode(outline.whole()))


async def check(value: Json, schema: dict[str, Json] | None, disabled: Container[str] = ()) -> None:
    """Holds `value` to `schema`; an id among `disabled` is told apart from one that the page does not have.

    Raises:
        ReplyProblem: naming the place that fits worst.
    """
    if schema is None:
        return
    fault = min(await check_reply(schema, value), key=lambda problem: len(problem.path), default=None)
    if fault is not None:
        if (problem := refusal(value, schema, disabled)) is not None:
            raise ReplyProblem(*problem)
        # The place and the message hold names and values of the reply, and the page's words where ids are words.
        place = "/".join(map(str, fault.path))
        raise ReplyProblem(
            f"it does not fit the schema ({fault.keyword})", f"{place}: {fault.message}" if place else fault.message
        )


def _with_thought(value: Json, schema: dict[str, Json] | None) -> Json:
    """The reply with an empty `thought` where the schema wants one that is lacking.

    A server that does not hold replies to the schema may leave it out. Nothing is decided by it, so the rest of the
    reply is not lost for it.
    """
    wants = schema is not None and "thought" in schema.get("required", ())
    return {"thought": "", **value} if wants and isinstance(value, dict) else value


def _unwrapped(text: str) -> str:
    """Without a reasoning block before the answer and without a code fence around it."""
    text = text.lstrip("\ufeff")
    reasoning, tag, rest = text.partition("</think>")
    # Some chat templates open the block themselves, so that the reply holds only its end. One inside of the object
    # is part of a string in it.
    if tag and not reasoning.lstrip().startswith(("{", "```")):
        text = rest
    before_object = text.find("{")
    fence = _FENCE.search(text)
    # A fence inside the object is part of a string in it.
    if fence and (before_object < 0 or fence.start() < before_object):
        return fence.group(1)
    return text


class _Outline:
    """The positions of the parts of one JSON object in a text: strings, brackets, commas. No values are read here."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._start = start
        self._commas: list[int] = []  # positions of commas right before a closing bracket
        self._stack: list[_Open] = []  # brackets that are open at the end
        self.end: int | None = None  # position after the object; None when it is cut off
        self._walk()

    def whole(self) -> str:
        """The object's text, without trailing commas."""
        return self._without_commas(self._start, self.end or len(self._text))

    def cut(self) -> str:
        """The object's text up to the last member that is complete for sure, and closed.

        That is the last complete element of the outermost open list (an object in a list is whole or dropped), or,
        with no list open, the last complete member of the outermost object.
        """
        lists = [depth for depth, bracket in enumerate(self._stack) if bracket.kind == "["]
        depth = lists[0] if lists else 0
        kept = self._without_commas(self._start, self._stack[depth].complete_to)
        closing = "".join("]" if bracket.kind == "[" else "}" for bracket in reversed(self._stack[: depth + 1]))
        return kept + closing

    def _walk(self) -> None:
        comma: int | None = None
        for match in _MARKS.finditer(self._text, self._start):
            mark = match.group()
            if mark[0] == '"':
                if not match["closed"]:
                    return  # an open string: everything after it is part of it
                comma = None
            elif mark in "{[":
                self._stack.append(_Open(mark, match.end()))
                comma = None
            elif mark in "}]":
                if not self._stack or _PAIRS[self._stack[-1].kind] != mark:
                    raise ReplyProblem("its brackets do not match", _near(self._text, match.start()))
                if comma is not None:
                    self._commas.append(comma)
                self._stack.pop()
                comma = None
                if not self._stack:
                    self.end = match.end()
                    return
                self._stack[-1].complete_to = match.end()
            elif mark == ",":
                self._stack[-1].complete_to = match.start()
                comma = match.start()
            else:
                comma = None  # a number, a word, a colon

    def _without_commas(self, start: int, end: int) -> str:
        pieces, at = [], start
        for comma in self._commas:
            if start <= comma < end:
                pieces.append(self._text[at:comma])
                at = comma + 1
        return "".join([*pieces, self._text[at:end]])


@dataclass(slots=True)
class _Open:
    kind: str  # { or [
    complete_to: int  # position up to which its members are complete


_PAIRS = {"{": "}", "[": "]"}
_MARKS = re.compile(r'"(?:[^"\\]|\\.)*(?:(?P<closed>")|\\?\Z)|[{}\[\],]|[^\s{}\[\],"]+', re.DOTALL)


def _decode(text: str) -> Json:
    """Strict JSON but for raw control characters in strings; no NaN, no infinity, no doubled name, no odd character."""
    try:
        value = _DECODER.decode(text)
        return _cleaned(value)
    except json.JSONDecodeError as err:
        raise ReplyProblem(f"it is not valid JSON ({err.msg})", _near(err.doc, err.pos)) from err
    except RecursionError as err:
        raise ReplyProblem("it is nested too deeply") from err
    except ReplyProblem:
        raise
    except ValueError as err:  # an integer of thousands of digits
        raise ReplyProblem(f"it holds a number that cannot be read: {err}") from err


def _pairs(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    names = [_clean_text(name) for name, _ in pairs]
    value = dict(zip(names, (part for _, part in pairs), strict=True))
    if len(value) != len(pairs):
        doubled = next(name for name in names if names.count(name) > 1)
        raise ReplyProblem("it gives a name twice in one object", doubled[:80])
    return value


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ReplyProblem(f"the number {text[:40]} is too large")
    return value


def _constant(name: str) -> Json:
    raise ReplyProblem(f"{name} is not JSON")


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_pairs, parse_float=_float, parse_constant=_constant)


def _cleaned(value: Json) -> Json:
    """`value` without characters that no page shows, no keyboard types and no database takes."""
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, list):
        return [_cleaned(part) for part in value]
    if isinstance(value, dict):
        return {name: _cleaned(part) for name, part in value.items()}
    return value


def _clean_text(text: str) -> str:
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("", text))


def _near(text: str, position: int) -> str:
    return f"at character {position}: {text[max(0, position - 20) : position + 20]!r}"
