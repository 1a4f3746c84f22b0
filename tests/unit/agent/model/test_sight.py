"""Pictures and earlier pages that a model is shown beside the page as it is: the last k pages, several pictures."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import Any

import pytest
from PIL import Image as Pictures

from shoal.agent.browser import Shot
from shoal.agent.error_info import ErrorInfo
from shoal.agent.errors import PromptTooLong
from shoal.agent.policies.model import ModelPolicyOptions
from shoal.agent.policies.model.requests.pictures import cut
from shoal.agent.spec import JobSpec
from shoal.agent.types import Action, ActionResult, Box, Effect, Step
from tests.doubles import ScriptedModel
from tests.unit.agent.model.pages import URL, FakePage, el, page, scene_of, text
from tests.unit.agent.model.test_plan import plan_reply
from tests.unit.agent.model.test_step import act, policy_of, step_reply


def jpeg(width: int, height: int) -> bytes:
    out = io.BytesIO()
    Pictures.new("RGB", (width, height)).save(out, "JPEG")
    return out.getvalue()


WINDOW, MARKED = b"\x89PNG window", b"RIFF....WEBP"
CLICK = step_reply(act("CLICK", id="1"))


@dataclass
class Tall(FakePage):
    """A page of 2,500 pixels."""

    async def screenshot(self, *, full_page: bool = False, bid: str | None = None, region: Box | None = None) -> Shot:
        assert full_page
        return Shot(jpeg(100, 2500), "image/jpeg", 100, 2500)


def shown(words: str) -> Any:
    button = el("1", "button", "Go", marked=True)
    return page(text(words), button, screenshot=WINDOW, marked_screenshot=MARKED, drawn=True, viewport=(100, 1000))


def step(index: int) -> Step:
    return Step(index, URL, "t", (ActionResult(Action("click", {"bid": "1"}), effect=Effect()),))


async def walk(pages: list[str], sight: dict[str, Any], *script: Any, **options: Any) -> ScriptedModel:
    model = ScriptedModel(script or [CLICK] * len(pages))
    context = Tall({URL: shown(pages[0])})
    state = scene_of(context, JobSpec(url=URL, goal="x", sight=sight))
    policy = policy_of(model, options=ModelPolicyOptions(**options))
    for n, words in enumerate(pages):
        context.pages[URL] = shown(words)
        await policy.step(state, "x", tuple(step(i) for i in range(n)))
    return model


async def test_the_last_k_pages_stand_in_the_context_with_their_pictures() -> None:
    model = await walk(["first", "second", "third", "fourth"], {"observations": 3})
    last = model.asked[-1].messages
    assert [message.role for message in last] == ["system", *["user"] * 6]
    assert ["fourth" in last[2].text, "second" in last[4].text, "third" in last[5].text] == [True] * 3
    assert [len(message.images) for message in last] == [0, 0, 0, 1, 1, 1, 0]
    assert "first" not in "".join(message.text for message in last[1:]), "only action and result are kept of it"
    assert "The page before step 2" in last[4].text
    assert last[:2] == model.asked[0].messages[:2], "what is fixed stays above what moves on"


async def test_one_page_is_the_default() -> None:
    model = await walk(["first", "second"], {})
    assert len(model.asked[-1].messages) == 5
    assert "first" not in str(model.asked[-1].messages[1:])


async def test_where_the_prompt_is_too_long_the_oldest_pages_go_whole() -> None:
    words = "word " * 100
    script = [CLICK, CLICK, PromptTooLong(), PromptTooLong(), CLICK]
    pages = [f"{name} {words}" for name in ("first", "second", "third")]
    model = await walk(pages, {"observations": 3}, *script, page_chars=1200, least_page_chars=100)
    counts = [len(ask.messages) - 5 for ask in model.asked[2:]]
    assert counts == [2, 2, 1]
    assert "second" in model.asked[-1].messages[4].text


async def test_marks_and_page_parts_are_shown_when_the_job_says_so() -> None:
    model = await walk(["tall"], {"marks": True, "page_parts": 2})
    now = model.asked[0].messages[-2]
    assert [image.data for image in now.images[:2]] == [WINDOW, MARKED]
    sizes = [Pictures.open(io.BytesIO(image.data)).size for image in now.images[2:]]
    assert sizes == [(100, 1000), (100, 1000)]
    assert "3. the whole page, screen 1 from its top" in now.text


async def test_a_text_model_gets_none_of_them() -> None:
    model = await walk(["tall"], {"marks": True, "page_parts": 3}, images=False)
    assert not any(message.images for message in model.asked[0].messages)


def test_a_picture_is_cut_to_its_end_and_no_further() -> None:
    parts = [Pictures.open(io.BytesIO(part)).size for part in cut(jpeg(10, 250), 100, 9)]
    assert parts == [(10, 100), (10, 100), (10, 50)]


@pytest.mark.parametrize(
    ("more", "button", "last", "sent"),
    [
        ({}, {}, Effect(url=URL), False),
        ({"drawn": True}, {}, Effect(url=URL), True),  # a canvas, a chart, a picture without words
        ({}, {"name": ""}, Effect(url=URL), True),
        ({}, {"name": "", "role": "textbox", "attributes": {"value": "The hall is booked."}}, Effect(url=URL), False),
        ({}, {"name": "icon of 2 paths"}, Effect(url=URL), True),
        ({}, {"name": "dark red"}, Effect(url=URL), True),
        ({}, {"name": "Redo"}, Effect(url=URL), False),
        ({}, {"states": frozenset({"greyed"})}, Effect(url=URL), False),  # the text says so
        ({}, {}, Effect(unchanged=True), True),
        ({"last_error": "it was covered"}, {}, Effect(), True),
    ],
)
async def test_a_picture_is_sent_where_it_says_more_than_the_text(
    more: dict[str, Any], button: dict[str, Any], last: Effect, *, sent: bool
) -> None:
    said = {"name": "Go", "in_viewport": True, **button}
    name = said.pop("name")
    seen = page(el("1", "button", name, **said), screenshot=WINDOW, viewport=(100, 1000), **more)
    steps = (Step(0, URL, "t", (ActionResult(Action("click", {"bid": "1"}), effect=last),)),)
    for sight, expected in (({}, sent), ({"pictures": "always"}, True)):
        model = ScriptedModel([CLICK])
        state = scene_of(seen, JobSpec(url=URL, goal="x", sight=sight))
        await policy_of(model).step(state, "x", steps)
        assert any(message.images for message in model.asked[0].messages) == expected


async def test_what_a_control_looks_like_is_shown_once_in_a_mini_goal() -> None:
    """Later steps know it by the thoughts of the step before; one that failed is shown it once more."""
    shown, other = (
        page(el(bid, "button", "icon of path", in_viewport=True), screenshot=WINDOW, viewport=(100, 1000))
        for bid in ("1", "2")
    )
    model = ScriptedModel([plan_reply(), *[CLICK] * 4, step_reply(act("CLICK", id="2"))])
    context = FakePage({URL: shown})
    state, policy = scene_of(context, JobSpec(url=URL, goal="x")), policy_of(model)
    covered = ErrorInfo(cls="ElementNotUsable", code="element_not_usable", message="covered", retryable=False)
    failed = replace(step(1), results=(ActionResult(Action("click", {"bid": "1"}), covered),))
    await policy.plan(state)
    for steps in ((), (step(0),), (step(0), step(1)), (step(0), failed)):
        await policy.step(state, "x", steps)
    context.pages[URL] = other
    await policy.step(state, "x", (step(0),))
    sent = [any(message.images for message in ask.messages) for ask in model.asked]
    assert sent == [True, True, False, False, True, True]
