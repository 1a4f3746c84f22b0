"""The page of a step: pictures before and after, what the model was asked and said, what was done and came of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest

from shoal.agent.error_info import ErrorInfo
from shoal.agent.status import Status
from shoal.agent.types import Action, ActionResult, ArtifactRef, Box, Effect, Step, Task
from tests.gateway_world import World, completed, world

EVIL = "<script>alert(1)</script>\"'&"
SHOTS = tuple(f"{n:032x}" for n in range(1, 4))
PROMPT = f"{9:032x}"
BILL, BILL_TEXT = f"{10:032x}", f"{11:032x}"
TRANSCRIPT = {
    "messages": [
        {"role": "system", "text": "You act on pages.", "images": []},
        {"role": "user", "text": f"[12] button {EVIL}", "images": [24_000]},
    ],
    "replies": [
        {
            "text": json.dumps({"thought": EVIL}),
            "finish_reason": "stop",
            "seconds": 1.25,
            "prompt_tokens": 1200,
            "completion_tokens": 31,
        }
    ],
}


@pytest.fixture
async def here() -> AsyncIterator[World]:
    async with world() as made:
        yield made


def acted(work, prompt: bytes = json.dumps(TRANSCRIPT).encode()):
    refused = ErrorInfo("ElementNotUsable", "element_not_usable", EVIL, False)
    steps = (
        Step(
            0,
            f"javascript:{EVIL}",
            EVIL,
            (
                ActionResult(Action("click", {"bid": EVIL}, submits=True), refused, seconds=0.2),
                ActionResult(Action("fill", {"bid": "7", "value": EVIL}), effect=Effect(value=EVIL, new_tab=True)),
            ),
            screenshot=SHOTS[0],
            prompt=PROMPT,
            seconds=2.0,
        ),
        Step(1, "https://shop.example/", "", (), screenshot=SHOTS[1], seconds=0.5),
    )
    base = f"default/{work.job}/{work.session}"
    kept = [ArtifactRef(shot, "screenshot", f"{base}/{shot}.jpg", "image/jpeg", 10) for shot in SHOTS]
    kept.append(ArtifactRef(PROMPT, "prompt", f"{base}/{PROMPT}.json", "application/json", len(prompt)))
    for ref, kind, media, name in (
        (BILL, "download", "application/pdf", "bill <b>.pdf"),
        (BILL_TEXT, "download_text", "text/plain", "bill <b>.pdf.txt"),
    ):
        kept.append(ArtifactRef(ref, kind, f"{base}/{ref}.bin", media, 10, name=name))
    task = Task("navigate", EVIL, Status.COMPLETED, steps=steps)
    return replace(completed(screenshot=SHOTS[2]), tasks=(task,), artifacts=tuple(kept))


async def ran(here: World, prompt: bytes = json.dumps(TRANSCRIPT).encode(), steps: Sequence[Step] = ()) -> str:
    job = await here.submit()
    (work,) = await here.claim()
    outcome = acted(work, prompt)
    if steps:
        outcome = replace(outcome, tasks=(replace(outcome.tasks[0], steps=tuple(steps)),))
    for ref in outcome.artifacts:
        await here.artifacts.put(ref.key, prompt if ref.id == PROMPT else b"jpeg", ref.content_type)
    await here.finish([work], lambda _: outcome)
    return str((await here.client.get(f"/v1/jobs/{job}")).json()["root_session"])


async def test_a_step_shows_all_that_is_known_of_it_as_text(here: World) -> None:
    session = await ran(here)
    assert f"/sessions/{session}/steps/1/2" in (await here.client.get(f"/sessions/{session}")).text
    text = (await here.client.get(f"/sessions/{session}/steps/1/1")).text
    assert "<script>alert" not in text and 'href="javascript:' not in text
    for shown in ("1,200 prompt and 31 reply tokens", "element_not_usable", "new tab", "[12] button", "sends"):
        assert shown in text, shown
    assert text.index(f'src="/artifacts/{SHOTS[0]}"') < text.index(f'src="/artifacts/{SHOTS[1]}"')
    assert f'<link rel="next" href="/sessions/{session}/steps/1/2">' in text
    assert f'<a href="/artifacts/{BILL}" download>bill &lt;b&gt;.pdf</a>' in text
    assert f'<a href="/artifacts/{BILL_TEXT}">bill &lt;b&gt;.pdf.txt</a>' in text
    last = (await here.client.get(f"/sessions/{session}/steps/1/2")).text
    assert f'src="/artifacts/{SHOTS[1]}"' in last and f'src="/artifacts/{SHOTS[2]}"' in last
    assert "No model was asked" in last and "No action was taken" in last
    for path in ("1/3", "2/1", "0/1", "1/x"):
        status = (await here.client.get(f"/sessions/{session}/steps/{path}")).status_code
        assert status in (400, 404), path


async def test_what_was_acted_on_is_marked_on_the_picture_where_it_is_known(here: World) -> None:
    done = (
        ActionResult(Action("fill", {"bid": "7", "value": EVIL}), box=Box(60.0, 940.0, 120.0, 24.0)),
        ActionResult(Action("mouse_click", {"x": 300, "y": 200})),
        ActionResult(Action("click", {"bid": "a9"})),
    )
    step = Step(0, "https://shop.example/", "", done, screenshot=SHOTS[0], shows=Box(0.0, 900.0, 1280.0, 800.0))
    session = await ran(here, steps=(step,))
    text = (await here.client.get(f"/sessions/{session}/steps/1/1")).text
    assert '<rect x="60.0" y="40.0" width="120.0" height="24.0"' in text and '<circle cx="300" cy="200"' in text
    assert text.count("<rect") == 1 and "<script>alert" not in text
    assert 'viewBox="0 0 1280.0 800.0"' in text


@pytest.mark.parametrize("prompt", [b"no json", b'"text"', b"[]", b'[{"messages": null, "replies": [{}]}]'])
async def test_a_transcript_of_another_shape_is_no_error(here: World, prompt: bytes) -> None:
    page = await here.client.get(f"/sessions/{await ran(here, prompt)}/steps/1/1")
    assert page.status_code == 200, page.text


async def test_a_prompt_that_is_gone_is_said_to_be_gone(here: World) -> None:
    session = await ran(here)
    await here.artifacts.delete(f"default/1/{session[1:]}/{PROMPT}.json")
    text = (await here.client.get(f"/sessions/{session}/steps/1/1")).text
    assert "The prompt is not kept any more." in text
    await here.store.put_state("dispatcher/main", {"workers": [{"name": "w1", "uploads_waiting": 2}]})
    text = (await here.client.get(f"/sessions/{session}/steps/1/1")).text
    assert "The prompt waits at its worker" in text and "not kept any more" not in text


async def test_steps_of_another_tenant_are_not_found() -> None:
    async with world(auth=True) as locked:
        theirs = {"Authorization": f"Bearer {await locked.key('submit', tenant='other')}"}
        spec = {"url": "https://lamps.example/", "goal": "theirs"}
        await locked.client.post("/v1/jobs", json=spec, headers=theirs)
        await locked.run(acted)
        path = "/sessions/s1/steps/1/1"
        assert (await locked.client.get(path)).status_code == 303
        await locked.client.post("/login", data={"key": await locked.key("read", tenant="acme"), "next": "/"})
        assert (await locked.client.get(path)).status_code == 404
        await locked.client.post("/login", data={"key": await locked.key("read", tenant="other"), "next": "/"})
        assert (await locked.client.get(path)).status_code == 200
