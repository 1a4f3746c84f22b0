"""Forms of the dashboard: change limits, settle, answer questions, send webhooks again."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from shoal.agent.types import Checkpoint
from shoal.services.store import ids
from shoal.services.store.records import Delivered, DeliveryFilter, DeliveryState
from tests.gateway_world import World, completed, failed, fan_out, world

EVIL = "<script>alert(1)</script>"
QUESTION = {
    "id": "a" * 32,
    "tenant": "default",
    "kind": "code",
    "question": f"Code? {EVIL}",
    "page": "https://x.example/",
}


@pytest_asyncio.fixture
async def here() -> AsyncIterator[World]:
    async with world() as made:
        yield made


async def token(here: World, path: str) -> str:
    """The token that the forms of a page carry."""
    found = re.search(r'name="token" value="([^"]+)"', (await here.client.get(path)).text)
    assert found is not None
    return found[1]


async def test_limits_are_changed_by_a_form_where_empty_means_unchanged(here: World) -> None:
    job = await here.submit(loop={"values": ["a", "b", "c"]}, priority=3)
    await here.finish(await here.claim(), lambda work: fan_out(["a", "b", "c"]))
    form = {
        "token": await token(here, f"/jobs/{job}"),
        "concurrency": "2",
        "deadline_s": " 90.5 ",
        "job_tokens": "none",
    }
    answer = await here.client.post(f"/jobs/{job}/change", data=form)
    assert answer.status_code == 303, answer.text
    row = await here.store.job(ids.parse_job(job))
    assert (row.concurrency, row.token_limit, row.priority) == (2, None, 3) and row.deadline_at is not None
    page = (await here.client.get(f"/jobs/{job}")).text
    assert 'placeholder="2"' in page and "a dispatcher: none is running" in page


@pytest.mark.parametrize("text", ["many", "0", "1e3"])
async def test_a_limit_that_is_no_number_is_explained(here: World, text: str) -> None:
    job = await here.submit()
    form = {"token": await token(here, f"/jobs/{job}"), "concurrency": text}
    answer = await here.client.post(f"/jobs/{job}/change", data=form)
    assert answer.status_code == 400 and "concurrency" in answer.text


async def test_a_limit_out_of_bounds_is_explained_in_our_words(here: World) -> None:
    job = await here.submit()
    form = {"token": await token(here, f"/jobs/{job}"), "deadline_s": "1e300"}
    answer = await here.client.post(f"/jobs/{job}/change", data=form)
    assert answer.status_code == 400
    assert "deadline_s: must be at most 1000000000" in answer.text


@pytest.mark.parametrize(
    "path",
    [
        *("/jobs/j1/change", "/sessions/s1/settle", "/sessions/s1/retry"),
        *("/questions/x", "/webhooks/resend", "/webhooks/w1/resend"),
    ],
)
async def test_a_forged_form_changes_nothing(here: World, path: str) -> None:
    await here.submit()
    answer = await here.client.post(path, data={"token": "forged", "how": "done", "answer": "1"})
    assert answer.status_code == 403


async def test_an_unsure_session_is_settled_where_its_evidence_stands(here: World) -> None:
    await here.submit()
    (work,) = await here.claim()
    marked = Checkpoint(url="https://shop.example/pay", pending_action=f"click('{EVIL}')")
    assert await here.store.checkpoint(work.session, work.fence, marked)
    await here.store.expire_leases(owner="w1")
    path = f"/sessions/{ids.session_id(work.session)}"
    page = (await here.client.get(path)).text
    assert "was this done?" in page and "https://shop.example/pay" in page and EVIL not in page
    answer = await here.client.post(f"{path}/settle", data={"token": await token(here, path), "how": "done"})
    assert answer.status_code == 303
    assert "was this done?" not in (await here.client.get(path)).text


async def test_a_failed_session_is_tried_again_on_its_page(here: World) -> None:
    job = await here.submit()
    await here.run(lambda work: failed())
    path = f"/sessions/{(await here.client.get(f'/v1/jobs/{job}')).json()['root_session']}"
    page = (await here.client.get(path)).text
    assert f'action="{path}/retry"' in page
    answer = await here.client.post(f"{path}/retry", data={"token": await token(here, path)})
    assert (answer.status_code, answer.headers["location"]) == (303, path), answer.text
    page = (await here.client.get(path)).text
    assert f'action="{path}/retry"' not in page
    await here.run(lambda work: completed())
    assert f'action="{path}/retry"' not in (await here.client.get(path)).text
    refused = await here.client.post(f"{path}/retry", data={"token": await token(here, "/?q=x")})
    assert refused.status_code == 409 and "is completed and cannot be retried" in refused.text


async def test_a_question_is_answered_on_the_page_of_what_needs_you(here: World) -> None:
    assert "No session asks anything." in (await here.client.get("/attention")).text
    await here.store.put_state(f"question:{QUESTION['id']}", {**QUESTION, "job": "j1", "session": "s1"})
    page = (await here.client.get("/attention")).text
    assert "Code?" in page and EVIL not in page
    form = {"token": await token(here, "/attention"), "answer": "123456"}
    assert (await here.client.post(f"/questions/{QUESTION['id']}", data=form)).status_code == 303
    ((answer, _),) = (await here.store.states("answer:")).values()
    assert answer == {"answer": "123456"}
    assert "No session asks anything." in (await here.client.get("/attention")).text


async def test_dead_webhooks_are_shown_and_sent_again(here: World) -> None:
    for _ in range(2):
        await here.submit(webhook={"url": "https://hooks.example/in"})
    await here.run(lambda work: completed())
    one, two = await here.store.claim_deliveries(10, lease_s=60, each=10)
    dead = [Delivered(row.id, 1, DeliveryState.DEAD, error=f"HTTP 500: {EVIL}") for row in (one, two)]
    await here.store.record_deliveries(dead)
    page = (await here.client.get("/attention")).text
    assert "hooks.example/in" in page and "HTTP 500" in page and EVIL not in page
    form = {"token": await token(here, "/attention")}
    assert (await here.client.post(f"/webhooks/{ids.delivery_id(one.id)}/resend", data=form)).status_code == 303
    assert [row.id for row in await here.store.deliveries(DeliveryFilter(states=(DeliveryState.DEAD,)))] == [two.id]
    assert (await here.client.post("/webhooks/resend", data=form)).status_code == 303
    assert await here.store.count_deliveries() == {DeliveryState.WAITING: 2}
