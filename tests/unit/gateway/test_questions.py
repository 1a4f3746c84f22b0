"""Questions of running sessions: asked by workers, listed and answered by people, each tenant its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from shoal.agent.sessions.attended.human_help import Question
from shoal.agent.spec import JobSpec
from shoal.agent.worker_messages import Work
from shoal.services.browsers.session_parts.webhook_helper import WebhookHelper
from shoal.services.web.api.questions import open_questions
from shoal.services.web.http.api_keys import EVERYBODY
from shoal.services.web.specs.specs import SpecRules
from tests.gateway_world import World, api_world

TOKEN = "installation-token"
ID = "0123456789abcdef" * 2


@pytest.fixture
async def here() -> AsyncIterator[World]:
    async with api_world(help_token=TOKEN, rules=SpecRules(people=True)) as made:
        yield made


def question_body(**more: Any) -> dict[str, Any]:
    plain = {"id": ID, "tenant": "default", "kind": "code", "question": "Which code?", "page": "https://x.example/"}
    return {**plain, "job": "j1", "session": "s1", **more}


async def ask(here: World, token: str = TOKEN, **more: Any) -> httpx.Response:
    return await here.client.post(
        "/v1/questions", json=question_body(**more), headers={"Authorization": f"Bearer {token}"}
    )


async def test_a_person_answers_what_a_worker_asks(here: World) -> None:
    first = await ask(here)
    assert (first.status_code, first.headers["retry-after"]) == (202, "2")
    await ask(here)
    (question,) = (await here.client.get("/v1/questions")).json()["questions"]
    assert question == {name: value for name, value in question_body().items() if name != "tenant"}
    assert (await here.client.get("/v1/questions", params={"job": "j2"})).json() == {"questions": []}

    assert (await here.client.post(f"/v1/questions/{ID}", json={"answer": "123456"})).status_code == 204
    answered = await ask(here)
    assert (answered.status_code, answered.json()) == (200, {"answer": "123456"})
    assert (await here.client.get("/v1/questions")).json() == {"questions": []}


async def test_the_helper_of_a_session_waits_for_the_answer(here: World) -> None:
    work = Work(7, 1, 3, "t", 1, 0, JobSpec(url="https://x.example/", goal="x"), None, None, None, None)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    transport = httpx.ASGITransport(here.app)
    async with httpx.AsyncClient(transport=transport, headers=headers) as http:
        helper = WebhookHelper("http://127.0.0.1:8700/v1/questions", work, http, tenant="default", ask_again_s=0.01)
        waiting = asyncio.create_task(helper(Question("question", "Which address?", "https://x.example/", 5)))
        while not (found := (await here.client.get("/v1/questions")).json()["questions"]):
            await asyncio.sleep(0.01)
        assert (found[0]["session"], found[0]["question"]) == ("s7", "Which address?")
        await here.client.post(f"/v1/questions/{found[0]['id']}", json={"answer": "The first."})
        async with asyncio.timeout(60):
            assert await waiting == "The first."


@pytest.mark.parametrize("token", ["", "wrong"])
async def test_only_workers_ask(here: World, token: str) -> None:
    assert (await ask(here, token)).status_code == 401
    async with api_world() as without:  # no token is set: nobody asks
        assert (await ask(without, "")).status_code == 401


async def test_what_nobody_waits_for_cannot_be_answered(here: World) -> None:
    assert (await here.client.post(f"/v1/questions/{ID}", json={"answer": "x"})).status_code == 404
    assert (await ask(here, id="../x")).status_code == 400
    around = await ask(here, id=f"<img src=x>{ID}<b>")
    assert around.status_code == 400 and "id" in around.text
    assert (await ask(here, id=f"{ID}\n")).status_code == 400
    assert (await ask(here, kind="order")).status_code == 400
    assert (await ask(here, job="j1; drop")).status_code == 400
    assert (await ask(here, session="7")).status_code == 400


async def test_a_question_is_told_to_the_job_s_webhook_once(here: World) -> None:
    hook = {"url": "https://hook.example/in", "events": ["session.waiting"]}
    spec = {"url": "https://x.example/", "goal": "log in", "help": {"person": True}, "webhook": hook}
    job = (await here.client.post("/v1/jobs", json=spec)).json()["id"]
    for _ in range(3):
        assert (await ask(here, job=job)).status_code == 202
    (delivery,) = (await here.client.get("/v1/webhooks")).json()["deliveries"]
    assert (delivery["event"], delivery["job"]) == ("session.waiting", job)
    refused = await here.client.post("/v1/jobs", json={**spec, "webhook": {**hook, "events": ["session.waits"]}})
    assert refused.status_code == 400 and "webhook.events" in refused.text


async def test_each_tenant_sees_and_answers_its_own() -> None:
    async with api_world(auth=True, help_token=TOKEN) as locked:
        ours, theirs = [
            {"Authorization": f"Bearer {await locked.key('read', 'control', tenant=name)}"} for name in ("a", "b")
        ]
        await ask(locked, tenant="a")
        assert len((await locked.client.get("/v1/questions", headers=ours)).json()["questions"]) == 1
        assert (await locked.client.get("/v1/questions", headers=theirs)).json() == {"questions": []}
        refused = await locked.client.post(f"/v1/questions/{ID}", json={"answer": "x"}, headers=theirs)
        assert refused.status_code == 404
        taken = await locked.client.post(f"/v1/questions/{ID}", json={"answer": "x"}, headers=ours)
        assert taken.status_code == 204


async def test_a_job_may_ask_people_where_workers_reach_them(here: World) -> None:
    job = {"url": "https://shop.example/", "goal": "log in", "help": {"person": True}}
    assert (await here.client.post("/v1/jobs", json=job)).status_code == 201


async def test_old_rows_are_dropped(here: World) -> None:
    await here.store.put_state("question:old", {"id": "old", "tenant": "default"})
    await here.store.drop_states("question:", older_than_s=3600)
    assert list(await here.store.states("question:")) == ["question:old"]
    await here.store.drop_states("question:", older_than_s=-1)
    assert await here.store.states("question:") == {}


async def test_a_session_s_page_lists_the_questions_of_that_session_alone(here: World) -> None:
    for number, session in enumerate(("s1", "s2")):
        await ask(here, id=f"{number}" * 32, session=session, question=f"Of {session}?")
    store = here.store
    assert [row["question"] for row in await open_questions(store, EVERYBODY, session="s2")] == ["Of s2?"]
    assert len(await open_questions(store, EVERYBODY)) == 2
