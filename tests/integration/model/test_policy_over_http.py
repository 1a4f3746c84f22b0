"""The model policy and the client together, against a server that speaks the protocol."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from shoal.agent.errors import ReplyInvalid
from shoal.agent.models.openai_compatible import OpenAICompatible
from shoal.agent.models.settings import ModelSettings
from shoal.agent.policies.model import ModelPolicy
from shoal.agent.spec import JobSpec
from tests.model_server import ModelServer, refuses_schema, replies, serving
from tests.unit.agent.model.pages import URL, el, page, plain, scene_of, text
from tests.unit.agent.model.test_step import act, step_reply

SHOWN = page(text("Lamps"), el("4", "button", "Order", role="button"), screenshot=b"\x89PNG....")
GOOD = step_reply(act("CLICK", id="4"))


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with serving(ModelServer(lambda body: GOOD)) as server:
        yield server


@pytest.fixture
async def policy(server: ModelServer) -> AsyncIterator[ModelPolicy]:
    settings = ModelSettings(base_urls=(server.url,), model="tiny", timeout_s=60, retry_base_s=0.01)
    model = OpenAICompatible(settings)
    yield ModelPolicy(model, None, render=plain)  # type: ignore[arg-type]
    await model.close()


async def stepped(policy: ModelPolicy) -> list[str]:
    state = scene_of(SHOWN, JobSpec(url=URL, goal="Buy a lamp", sight={"pictures": "always"}))
    decision = await policy.step(state, "Order", ())
    return [action.name for action in decision.actions]


async def test_a_request_is_laid_out_for_the_prefix_cache(server: ModelServer, policy: ModelPolicy) -> None:
    assert await stepped(policy) == ["click"]
    (sent,) = server.requests
    system, user = sent["messages"]
    assert [part["type"] for part in user["content"]] == ["text", "image_url", "text"]
    assert user["content"][0]["text"].startswith("# The job\nThe job's goal: Buy a lamp")
    assert "\n\n# The page\n" in user["content"][0]["text"]
    assert user["content"][2]["text"].startswith("# Now: step\nMini goal: Order")
    schema = sent["response_format"]["json_schema"]
    assert (schema["name"], schema["schema"]["$defs"]["id"]["enum"]) == ("step", ["4"])
    assert system["role"] == "system"


async def test_requests_with_and_without_a_picture_begin_alike(server: ModelServer, policy: ModelPolicy) -> None:
    """A reading has no picture, a step has one: what stands before it must be the same text all the same."""
    await stepped(policy)
    server.behaviours = [replies(json.dumps({"thought": "", "shown": None, "records": [{"name": "Lamps"}]}))]
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    for _ in range(2):
        spec = JobSpec(url=URL, goal="Buy a lamp", extract={"schema": schema}, sight={"pictures": "always"})
        state = scene_of(SHOWN, spec)
        await (policy.extract(state) if len(server.requests) == 1 else policy.step(state, "Order", ()))
    reading, step = (sent["messages"] for sent in server.requests[1:])
    assert reading[0] == step[0]
    before_the_picture = step[1]["content"][0]["text"]
    assert reading[1]["content"].startswith(f"{before_the_picture}\n\n# Now: extract")


async def test_invalid_json_once_costs_one_more_request(server: ModelServer, policy: ModelPolicy) -> None:
    server.behaviours = [replies('{"actions": oops')]
    assert await stepped(policy) == ["click"]
    assert [message["role"] for message in server.requests[1]["messages"]] == ["system", "user", "assistant", "user"]


async def test_nonsense_twice_is_a_typed_error(server: ModelServer, policy: ModelPolicy) -> None:
    server.behaviours = [replies("\x00 what?"), replies("[]")]
    with pytest.raises(ReplyInvalid):
        await stepped(policy)


async def test_a_server_without_structured_output_is_told_the_schema(server: ModelServer, policy: ModelPolicy) -> None:
    server.always = refuses_schema
    assert await stepped(policy) == ["click"]
    told: Any = server.requests[-1]["messages"][-1]["content"]
    assert '"$defs": {"id"' in told[-1]["text"]
    assert json.dumps(server.requests[-1]["messages"][0]) == json.dumps(server.requests[0]["messages"][0])
