"""The client against a real HTTP server that behaves well, badly, or not at all."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.errors import ModelError, ModelRefused, ModelUnavailable, PromptTooLong
from shoal.agent.models.model import Ask, Image, Message, Model
from shoal.agent.models.openai_compatible import OpenAICompatible
from shoal.agent.models.settings import ModelSettings
from tests.doubles import ScriptedModel
from tests.model_server import (
    ModelServer,
    completion,
    drops,
    raw,
    refuses_schema,
    replies,
    serving,
    slow,
    status,
    until,
)

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["n"],
    "properties": {"n": {"type": "integer"}},
}
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
ASK = Ask(
    messages=(Message("system", "You count."), Message("user", "How many?")),
    schema_name="count",
    json_schema=SCHEMA,
)


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with serving(ModelServer(lambda body: {"n": 3})) as server:
        yield server


def settings_for(*urls: str, **more: Any) -> ModelSettings:
    quick = ModelSettings(base_urls=urls, model="tiny", timeout_s=60, retry_base_s=0.01, retry_max_s=0.05)
    return replace(quick, **more)


@pytest.fixture
async def client(server: ModelServer) -> AsyncIterator[OpenAICompatible]:
    client = OpenAICompatible(settings_for(server.url))
    yield client
    await client.close()


# --- the contract that every model keeps ---------------------------------------------------------------


@pytest.fixture(params=["openai_compatible", "scripted"])
async def any_model(request: pytest.FixtureRequest, server: ModelServer) -> AsyncIterator[Model]:
    model: Model = (
        ScriptedModel(lambda ask: {"n": 3})
        if request.param == "scripted"
        else OpenAICompatible(settings_for(server.url))
    )
    yield model
    await model.close()


async def test_contract_a_model_answers_and_counts(any_model: Model) -> None:
    reply = await any_model.ask(ASK)
    assert json.loads(reply.text) == {"n": 3}
    assert reply.finish_reason == "stop"
    assert reply.usage.model_calls == 1
    assert reply.usage.prompt_tokens > 0
    assert reply.usage.completion_tokens > 0


async def test_contract_a_model_answers_many_at_once(any_model: Model) -> None:
    replies = await asyncio.gather(*(any_model.ask(ASK) for _ in range(20)))
    assert [json.loads(reply.text)["n"] for reply in replies] == [3] * 20


async def test_contract_a_closed_model_is_unavailable_and_closes_twice(any_model: Model) -> None:
    await any_model.close()
    await any_model.close()
    with pytest.raises(ModelUnavailable):
        await any_model.ask(ASK)


# --- what is sent --------------------------------------------------------------------------------------


async def test_the_request_carries_schema_limits_and_messages(server: ModelServer) -> None:
    client = OpenAICompatible(settings_for(server.url, api_key="k", max_tokens=100, extra_body={"seed": 7}))
    await client.ask(ASK)
    await client.close()
    (sent,) = server.requests
    assert sent["model"] == "tiny"
    assert sent["messages"] == [{"role": "system", "content": "You count."}, {"role": "user", "content": "How many?"}]
    assert sent["response_format"]["json_schema"] == {"name": "count", "strict": True, "schema": SCHEMA}
    assert (sent["max_tokens"], sent["temperature"], sent["seed"]) == (100, 0.0, 7)
    assert server.headers[0]["authorization"] == "Bearer k"


async def test_neighbours_of_one_role_become_one_message_with_parts_in_order(
    server: ModelServer, client: OpenAICompatible
) -> None:
    picture = Image(b"\x89PNG", "image/png")
    await client.ask(replace(ASK, messages=(Message("user", "job"), Message("user", "page", (picture,)))))
    (message,) = server.requests[0]["messages"]
    assert [part["type"] for part in message["content"]] == ["text", "image_url", "text"]
    assert message["content"][1]["image_url"]["url"] == "data:image/png;base64,iVBORw=="


async def test_usage_is_the_servers_own_with_what_its_cache_gave(server: ModelServer, client: OpenAICompatible) -> None:
    usage = (await client.ask(ASK)).usage
    assert usage.prompt_tokens == len(json.dumps(server.requests[0]["messages"])) // 4
    assert usage.cached_tokens == usage.prompt_tokens // 2


async def test_what_a_server_does_not_count_is_estimated(server: ModelServer) -> None:
    client = OpenAICompatible(settings_for(server.url, image_tokens=500))
    picture = Message("user", "x" * 700, (Image(PICTURE),))
    answer: Any = {"choices": [{"message": {"role": "assistant", "content": '{"n": 3}'}, "finish_reason": "stop"}]}
    for usage in (None, {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}):
        server.behaviours = [raw(json.dumps(answer | {"usage": usage}).encode())]
        reply = await client.ask(replace(ASK, messages=(picture,)))
        assert reply.estimated
        assert reply.usage.model_calls == 1
        assert 700 <= reply.usage.prompt_tokens <= 720
        assert reply.usage.completion_tokens == 3
    assert not (await client.ask(ASK)).estimated
    await client.close()


async def test_a_model_that_reads_text_only_is_sent_no_pictures(server: ModelServer) -> None:
    client = OpenAICompatible(settings_for(server.url, images=False, temperature=1.0))
    await client.ask(replace(ASK, messages=(Message("user", "page", (Image(PICTURE),)),)))
    await client.close()
    assert server.requests[0]["messages"] == [{"role": "user", "content": "page"}]
    assert server.requests[0]["temperature"] == 1.0


async def test_a_cut_off_answer_says_so(server: ModelServer, client: OpenAICompatible) -> None:
    server.behaviours = [replies('{"n": ', finish_reason="length")]
    reply = await client.ask(ASK)
    assert (reply.text, reply.finish_reason) == ('{"n": ', "length")


# --- structured output ---------------------------------------------------------------------------------


async def test_a_server_that_refuses_the_schema_is_told_in_words_and_not_asked_again(
    server: ModelServer, client: OpenAICompatible
) -> None:
    server.always = refuses_schema
    for _ in range(2):
        assert json.loads((await client.ask(ASK)).text) == {"n": 3}
    assert ["response_format" in sent for sent in server.requests] == [True, False, False]
    told = server.requests[-1]["messages"][-1]["content"]
    assert told.startswith("How many?")  # the schema comes last: the prefix stays the same
    assert json.dumps(SCHEMA["required"]) in told


async def test_a_refused_schema_does_not_turn_off_the_others(server: ModelServer, client: OpenAICompatible) -> None:
    def refuses_one(server: ModelServer, body: dict[str, Any]) -> Any:
        return refuses_schema(server, body) if "odd" in json.dumps(body.get("response_format")) else None

    server.always = refuses_one
    await client.ask(replace(ASK, schema_name="odd"))
    await client.ask(ASK)
    assert ["response_format" in sent for sent in server.requests] == [True, False, True]


async def test_the_ids_of_another_page_are_the_same_shape(server: ModelServer, client: OpenAICompatible) -> None:
    server.always = refuses_schema
    for ids in (["1", "2"], ["3"]):
        schema = {**SCHEMA, "properties": {"n": {"type": "integer"}, "id": {"type": "string", "enum": ids}}}
        await client.ask(replace(ASK, json_schema=schema))
    assert ["response_format" in sent for sent in server.requests] == [True, False, False]


async def test_structured_off_and_forced(server: ModelServer) -> None:
    off = OpenAICompatible(settings_for(server.url, structured="off"))
    await off.ask(ASK)
    await off.close()
    forced = OpenAICompatible(settings_for(server.url, structured="json_schema"))
    server.always = refuses_schema
    with pytest.raises(ModelRefused):
        await forced.ask(ASK)
    await forced.close()
    assert ["response_format" in sent for sent in server.requests] == [False, True]


# --- what may be tried again ----------------------------------------------------------------------------


@pytest.mark.parametrize("code", [408, 429, 500, 502, 503, 504])
async def test_what_may_pass_is_tried_again(server: ModelServer, client: OpenAICompatible, code: int) -> None:
    server.behaviours = [status(code), status(code)]
    assert json.loads((await client.ask(ASK)).text) == {"n": 3}
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "broken",
    [drops, raw(b"<html>gateway</html>", "text/html"), raw(b"{}"), raw(b"not json"), raw(b'{"choices": [7]}')],
    ids=["drops", "html", "empty object", "not json", "odd choices"],
)
async def test_a_broken_answer_is_tried_again(server: ModelServer, client: OpenAICompatible, broken: Any) -> None:
    server.behaviours = [broken]
    assert json.loads((await client.ask(ASK)).text) == {"n": 3}
    assert len(server.requests) == 2


async def test_tries_are_bounded(server: ModelServer, client: OpenAICompatible) -> None:
    server.always = status(503)
    with pytest.raises(ModelUnavailable, match="after 4 tries"):
        await client.ask(ASK)
    assert len(server.requests) == 4


@pytest.mark.parametrize("code", [401, 403, 404])
async def test_what_the_server_refuses_is_not_tried_again(
    server: ModelServer, client: OpenAICompatible, code: int
) -> None:
    server.always = status(code, "go away")
    with pytest.raises(ModelRefused, match="go away") as caught:
        await client.ask(ASK)
    assert not caught.value.retryable
    assert len(server.requests) == 1


async def test_a_prompt_that_does_not_fit_is_an_error_of_its_own(server: ModelServer, client: OpenAICompatible) -> None:
    server.always = status(400, "This model's maximum context length is 4096 tokens.")
    with pytest.raises(PromptTooLong):
        await client.ask(ASK)
    assert len(server.requests) == 1


async def test_a_slow_server_is_not_waited_for_and_not_asked_twice(server: ModelServer) -> None:
    server.behaviours = [slow]
    # 4 s are long enough for the request to arrive on a busy machine.
    client = OpenAICompatible(settings_for(server.url, timeout_s=4.0))
    with pytest.raises(ModelUnavailable, match="no answer within"):
        await client.ask(ASK)
    await client.close()
    assert len(server.requests) == 1


async def test_the_pool_bounds_what_is_under_way(server: ModelServer) -> None:
    server.always = slow
    client = OpenAICompatible(settings_for(server.url, max_connections=3))
    asks = [asyncio.create_task(client.ask(ASK)) for _ in range(9)]
    await until(lambda: server.in_flight == 3)
    server.release.set()
    await asyncio.gather(*asks)
    await client.close()
    assert server.most_in_flight == 3


async def test_nonsense_is_an_answer_to_the_client(server: ModelServer, client: OpenAICompatible) -> None:
    server.behaviours = [replies("\u0000 ]]}")]
    assert (await client.ask(ASK)).text == "\u0000 ]]}"


# --- the circuit breaker and several servers ---------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


async def test_a_server_that_is_gone_is_left_alone_and_tried_again_later(server: ModelServer) -> None:
    server.always = status(500)
    client = OpenAICompatible(settings_for(server.url, retries=1, breaker_failures=2, breaker_pause_s=3.0))
    with pytest.raises(ModelUnavailable):
        await client.ask(ASK)
    with pytest.raises(ModelUnavailable, match="left alone") as caught:
        await client.ask(ASK)
    assert 0 < float(str(caught.value.details["retry_after_s"])) <= 3.0
    assert len(server.requests) == 2  # the open circuit sent nothing
    server.always = None

    reply = None
    while reply is None:
        with contextlib.suppress(ModelUnavailable):
            reply = await client.ask(ASK)
        await asyncio.sleep(0.02)
    assert len(server.requests) == 3  # the first request after the pause was the one that closed the circuit
    await client.close()


async def test_overload_does_not_open_the_circuit(server: ModelServer) -> None:
    server.behaviours = [status(429)] * 3
    client = OpenAICompatible(settings_for(server.url, breaker_failures=2))
    assert await client.ask(ASK)
    await client.close()


async def test_a_server_that_nobody_started_is_unavailable() -> None:
    client = OpenAICompatible(settings_for(f"http://127.0.0.1:{free_port()}/v1", retries=1))
    with pytest.raises(ModelUnavailable, match="after 2 tries") as caught:
        await client.ask(ASK)
    assert isinstance(caught.value, ModelError)
    assert caught.value.retryable
    await client.close()


async def test_the_same_affinity_keeps_to_one_server_and_leaves_it_when_it_fails(server: ModelServer) -> None:
    async with serving(ModelServer(lambda body: {"n": 3})) as other:
        client = OpenAICompatible(settings_for(server.url, other.url))
        for _ in range(4):
            await client.ask(replace(ASK, affinity="loop 7"))
        loads = sorted((server, other), key=lambda one: len(one.requests))
        assert [len(one.requests) for one in loads] == [0, 4]
        spare, favourite = loads
        assert favourite.headers[0]["x-shoal-affinity"] == "loop 7"  # for a router that stands before several servers
        favourite.always = status(500)
        assert await client.ask(replace(ASK, affinity="loop 7"))
        assert len(spare.requests) == 1
        for n in range(40):
            await client.ask(replace(ASK, affinity=f"loop {n}"))
        assert len(spare.requests) > 1
        await client.close()


async def test_the_environment_of_the_process_does_not_leak_into_requests(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "leaked")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    client = OpenAICompatible(settings_for(server.url))
    await client.ask(ASK)
    await client.close()
    assert "leaked" not in json.dumps(server.headers)


async def test_a_200_without_usage_counts_the_call(server: ModelServer, client: OpenAICompatible) -> None:
    def bare(server: ModelServer, body: dict[str, Any]) -> Any:
        whole = json.loads(bytes(completion("{}", body).body))
        del whole["usage"]
        return raw(json.dumps(whole).encode())(server, body)

    server.behaviours = [bare]
    reply = await client.ask(ASK)
    assert (reply.usage.model_calls, reply.estimated) == (1, True)
