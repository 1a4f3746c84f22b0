"""The job's webhook as a helper: it answers, wants to be asked again, is away, or talks nonsense."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import httpx
import pytest

from shoal.agent.errors import HelpMissing
from shoal.agent.sessions.attended.human_help import Question
from shoal.agent.spec import JobSpec
from shoal.agent.worker_messages import Work
from shoal.services.browsers.session_parts.webhook_helper import WebhookHelper

HOOK = "https://hooks.example/answer"
QUESTION = Question("code", "Which code?", "https://shop.example/login", timeout_s=5)


async def ask(answer: Callable[[httpx.Request], httpx.Response]) -> tuple[str, list[httpx.Request]]:
    asked: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return answer(request)

    spec = JobSpec(url="https://shop.example/", goal="Log in")
    work = Work(7, 1, 3, "t", 1, 0, spec, None, None, None, None)
    async with httpx.AsyncClient(transport=httpx.MockTransport(handler)) as http:
        helper = WebhookHelper(HOOK, work, http, ask_again_s=0.001)
        async with asyncio.timeout(QUESTION.timeout_s):
            return await helper(QUESTION), asked


async def test_the_webhook_is_told_what_is_wanted_and_answers() -> None:
    said, (request,) = await ask(lambda request: httpx.Response(200, json={"answer": "123456"}))
    assert said == "123456"
    body = json.loads(request.content)
    assert {**body, "id": ""} == {
        "id": "",
        "kind": "code",
        "question": "Which code?",
        "page": "https://shop.example/login",
        "job": "j3",
        "session": "s7",
    }


async def test_it_is_asked_again_with_the_same_id_until_it_knows() -> None:
    answers = iter([httpx.Response(202), httpx.ConnectError("away"), httpx.Response(200, json={"answer": "1"})])

    def later(request: httpx.Request) -> httpx.Response:
        one = next(answers)
        if isinstance(one, Exception):
            raise one
        return one

    said, asked = await ask(later)
    assert (said, len(asked), len({request.content for request in asked})) == ("1", 3, 1)


@pytest.mark.parametrize(
    "bad",
    [
        httpx.Response(500),
        httpx.Response(302, headers={"Location": "http://10.0.0.1/"}),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=["x"]),
        httpx.Response(200, json={"answer": 7}),
        httpx.Response(200, json={"answer": "x" * 20_000}),
    ],
)
async def test_an_answer_that_is_none_is_an_error(bad: httpx.Response) -> None:
    with pytest.raises(HelpMissing):
        await ask(lambda request: bad)
