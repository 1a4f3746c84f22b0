"""Every schema that is sent, under a real grammar, answered by a model that says anything the grammar allows."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from itertools import cycle, islice
from typing import Any

import pytest

from shoal.agent.errors import AgentError, ModelError, PromptTooLong
from shoal.agent.evaluate import Trial, evaluate
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.models.model import Ask, Image, Message
from shoal.agent.models.openai_compatible import OpenAICompatible
from shoal.agent.models.reply import parse
from shoal.agent.policies.model import ModelPolicy
from shoal.agent.policies.model.requests.asker import ModelPolicyOptions
from shoal.agent.policies.policy import SessionState
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import Task
from shoal.services.inference.process import VllmProcess
from tests.unit.agent.model.pages import URL, page, scene_of, text
from tests.vllm.pages import PAGES, picture, with_screenshot
from tests.vllm.recording import Recording
from tests.vllm.server import settings_for

STEPS = 100  # with each of the two back ends
AT_ONCE = 8

SPECS: tuple[dict[str, Any], ...] = (
    {},
    {"error_codes": {"SOLD_OUT": "nothing is left", "NO_LOGIN": "it wants a login"}, "complete_criterion": "thanks"},
    {"grounding": "choice", "data": {"name": "Ada", "street": "12 Main St"}},
    {"grounding": "attributes", "allow_terminate": False},
    {"grounding": "coordinates"},
    {"grounding": "mark", "sight": {"marks": True}},
    {"totp": "SHOP_TOTP", "extract": {"goal": "the price"}},
    {"action_sets": ["element", "nav", "tab"]},
)

RECORD = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 80},
        "price": {"type": "number", "minimum": 0, "multipleOf": 0.01},
        "currency": {"enum": ["EUR", "USD"]},
        "in_stock": {"type": ["boolean", "null"]},
        "day": {"type": "string", "format": "date"},
        "code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "maxItems": 3},
        "maker": {"$ref": "#/$defs/maker"},
    },
    "$defs": {"maker": {"type": "object", "properties": {"name": {"type": "string"}, "url": {"format": "uri"}}}},
}


def policy_of(model: Recording, **options: Any) -> ModelPolicy:
    shape = {"page_chars": 2_500, "step_tokens": 768, "plan_tokens": 768, "extract_tokens": 768, **options}
    return ModelPolicy(model, None, options=ModelPolicyOptions(**shape))  # type: ignore[arg-type]


def scene_for(name: str, **fields: Any) -> SessionState:
    return scene_of(with_screenshot(name), JobSpec.model_validate({"url": URL, "goal": "Order a lamp"} | fields))


async def beside(calls: list[Any], at_once: int = AT_ONCE) -> list[Any]:
    """Results or typed errors, some calls at a time; anything but an `AgentError` is raised."""
    places = asyncio.Semaphore(at_once)

    async def one(call: Any) -> Any:
        async with places:
            try:
                return await call
            except AgentError as error:
                return error

    return await asyncio.gather(*(one(call) for call in calls))


async def test_text_and_pictures_are_answered(server: VllmProcess, model: OpenAICompatible) -> None:
    plain = await model.ask(Ask((Message("user", "Hello"),), max_tokens=8))
    assert plain.text
    assert plain.usage.completion_tokens == 8
    small, screen, large = [await _cost(model, *size) for size in ((320, 320), (1280, 800), (3840, 2160))]
    # Whole tokens of 32 by 32 pixels, and never more than the budget.
    assert screen - small == 40 * 25 - 10 * 10
    assert large - small <= 1_000 - 10 * 10
    # The server's own limit holds too, for clients that send what they have.
    careless = OpenAICompatible(settings_for(server, image_tokens=None))
    assert await _cost(careless, 3840, 2160) - small <= 1_000 - 10 * 10
    await careless.close()


async def _cost(model: OpenAICompatible, width: int, height: int) -> int:
    """Prompt tokens of a request with one image of this size."""
    seen = Message("user", "What is this?", (Image(picture(width, height, 1)),))
    return (await model.ask(Ask((seen,), max_tokens=4))).usage.prompt_tokens


async def test_every_step_reply_validates_and_is_read(model: OpenAICompatible) -> None:
    recording = Recording(model)
    policy = policy_of(recording)
    scenes = [scene_for(name, **spec) for name, spec in islice(zip(cycle(PAGES), cycle(SPECS), strict=False), STEPS)]
    results = await beside([policy.step(state, "Go on", ()) for state in scenes])

    assert recording.invalid == []
    assert recording.replies["step"] >= STEPS
    # What no grammar can promise: that it ends. Even so nearly all must.
    assert recording.ended["stop"] >= 0.9 * recording.replies.total(), recording.ended
    errors = [result for result in results if isinstance(result, AgentError)]
    assert all(isinstance(error, ModelError) for error in errors), Counter(map(repr, errors))
    decisions = [result for result in results if isinstance(result, StepDecision)]
    print(f"{len(decisions)} decisions, {Counter(type(e).__name__ for e in errors)}, replies ended {recording.ended}")
    print(f"cut off: {recording.cut}; not read: {Counter(error.message for error in errors).most_common(5)}")
    assert len(decisions) >= STEPS // 4


async def test_plans_records_items_and_verdicts_validate(model: OpenAICompatible) -> None:
    recording = Recording(model)
    policy = policy_of(recording)
    item = {name: part for name, part in RECORD.items() if name != "$defs"}
    many = {"type": "array", "items": item, "$defs": RECORD["$defs"]}
    calls = [policy.plan(scene_for(name)) for name in ("form", "list", "hostile text", "empty")]
    calls += [policy.plan(scene_for(name, error_codes={"NO": "no"})) for name in ("form", "japanese")]
    calls += [
        policy.extract(scene_for(name, extract={"schema": RECORD})) for name in ("form", "arabic", "hostile names")
    ]
    calls += [policy.extract(scene_for(name, extract={"schema": many})) for name in ("list", "table")]
    calls += [policy.extract(scene_for("table", extract={"goal": "the prices"}))]
    # A job that spells itself out, and whose criterion is all that is left to ask.
    proven = scene_for("form", goal=None, extract={"schema": RECORD}, complete_criterion="thanks")
    calls += [policy.plan(replace(proven, history=(Task("extract", "read", Status.COMPLETED),)))]
    calls += [_collected(policy, scene_for(name, loop={"from": {"select": "each lamp"}})) for name in ("list", "form")]
    trial = Trial(spec=JobSpec(url=URL, goal="Order a lamp"), text="Thanks", screenshots=(Image(picture(640, 480, 3)),))
    calls += [evaluate(recording, trial) for _ in range(3)]
    results = await beside(calls)

    assert recording.invalid == []
    assert {"plan", "criterion", "propose", "extract", "collect", "evaluation"} <= set(recording.replies)
    errors = [result for result in results if isinstance(result, Exception)]
    assert all(isinstance(error, AgentError) for error in errors)
    print(f"{recording.replies}, {Counter(type(error).__name__ for error in errors)}, cut off: {recording.cut}")


async def _collected(policy: ModelPolicy, state: SessionState) -> list[Any]:
    return [item async for item in policy.collect(state, Plan(plan="the same for each", task_type="loop"))]


async def test_a_page_that_does_not_fit_is_shown_in_part(model: OpenAICompatible) -> None:
    """The server's own refusal is understood, and answered by a smaller page, never by a cut prompt."""
    book = page(*[text(f"line {n} of a very long page with many different words") for n in range(4_000)])
    # The schema is given: a random model's own proposal of one may be unusable, and then nothing long is asked.
    lines = {"type": "array", "items": {"type": "string", "maxLength": 80}, "maxItems": 5}
    schema = {"type": "object", "properties": {"lines": lines}}
    state = scene_of(book, JobSpec(url=URL, extract={"goal": "the lines", "schema": schema}))  # type: ignore[arg-type]
    recording = Recording(model)
    # A part of 120,000 characters is over the context, one of 30,000 is not.
    policy = policy_of(recording, page_chars=120_000, parts=1, extract_tokens=256)
    try:
        await policy.extract(state)
    except PromptTooLong:
        pytest.fail("it gave up instead of showing less")
    except AgentError:
        pass  # what a random model says about it
    assert recording.too_long >= 1
    assert recording.replies["extract"] >= 1


async def test_free_text_is_never_taken_for_a_decision(model: OpenAICompatible) -> None:
    reply = await model.ask(Ask((Message("user", "Say something"),), max_tokens=64))
    try:
        parse(reply.text)
    except ValueError as problem:
        assert str(problem)
