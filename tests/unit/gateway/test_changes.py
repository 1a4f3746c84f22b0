"""Changing a running job, settling unsure sessions, trying one session again, over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from shoal.agent.types import Checkpoint
from shoal.services.store import ids
from shoal.services.store.records import AuditFilter
from tests.gateway_world import World, api_world, completed, failed, fan_out, loop_of

PAYING = Checkpoint(url="https://shop.example/pay", pending_action="click('pay')")


@pytest_asyncio.fixture
async def here() -> AsyncIterator[World]:
    async with api_world() as made:
        yield made


async def unsure(here: World, **spec: Any) -> tuple[str, str]:
    """A job whose one session died inside an action that must not be repeated."""
    job = await here.submit(**spec)
    (work,) = await here.claim()
    assert await here.store.checkpoint(work.session, work.fence, PAYING)
    await here.store.expire_leases(owner="w1")
    return job, ids.session_id(work.session)


async def test_limits_of_a_running_job_change_and_are_shown(here: World) -> None:
    job = await here.submit(loop={"values": ["a", "b", "c", "d"]}, deadline_s=60)
    await here.finish(await here.claim(), lambda work: fan_out(["a", "b", "c", "d"]))
    patch = {"concurrency": 2, "deadline_s": None, "job_tokens": 900, "priority": 5}
    answer = await here.client.patch(f"/v1/jobs/{job}", json=patch)
    assert answer.status_code == 200, answer.text
    shown = answer.json()
    assert (shown["concurrency"], shown["deadline_at"], shown["job_tokens"], shown["priority"]) == (2, None, 900, 5)
    assert shown["spec"]["deadline_s"] == 60  # what was asked stays readable
    assert len(await here.claim()) == 2
    opened = await here.client.patch(f"/v1/jobs/{job}", json={"concurrency": None})
    assert opened.json()["concurrency"] is None and opened.json()["job_tokens"] == 900
    assert len(await here.claim()) == 2


@pytest.mark.parametrize(
    ("patch", "field"),
    [
        ({}, "body"),
        ({"concurrency": 0}, "concurrency"),
        ({"concurrency": "2"}, "concurrency"),
        ({"deadline_s": -1}, "deadline_s"),
        ({"job_tokens": 1.5}, "job_tokens"),
        ({"priority": None}, "priority"),
        ({"goal": "another"}, "goal"),
    ],
)
async def test_a_bad_change_names_its_field_and_changes_nothing(here: World, patch: Any, field: str) -> None:
    job = await here.submit()
    answer = await here.client.patch(f"/v1/jobs/{job}", json=patch)
    assert answer.status_code == 400 and answer.json()["errors"][0]["field"] == field
    assert not any(event.name == "job.changed" for event in await here.store.events())


async def test_a_job_that_is_over_cannot_be_changed(here: World) -> None:
    job = await here.submit()
    await here.run(lambda work: completed())
    answer = await here.client.patch(f"/v1/jobs/{job}", json={"concurrency": 2})
    assert (answer.status_code, answer.json()["code"]) == (409, "wrong_state")


async def test_an_unsure_session_shows_its_evidence_and_is_settled_as_done(here: World) -> None:
    job, session = await unsure(here)
    evidence = (await here.client.get(f"/v1/sessions/{session}")).json()["evidence"]
    assert evidence == {"action": "click('pay')", "url": "https://shop.example/pay", "done": []}
    answer = await here.client.post(f"/v1/sessions/{session}/settle", json={"how": "done"})
    assert answer.status_code == 200, answer.text
    assert (answer.json()["status"], answer.json()["evidence"]) == ("completed", None)
    assert (await here.client.get(f"/v1/jobs/{job}")).json()["status"] == "completed"
    again = await here.client.post(f"/v1/sessions/{session}/settle", json={"how": "retry"})
    assert again.status_code == 409


async def test_an_unsure_session_that_is_tried_again_runs_without_its_mark(here: World) -> None:
    job, session = await unsure(here)
    answer = await here.client.post(f"/v1/sessions/{session}/settle", json={"how": "retry"})
    assert answer.json()["status"] == "queued"
    (work,) = await here.claim()
    assert work.checkpoint is not None and work.checkpoint.pending_action == ""
    await here.finish([work], lambda work: completed())
    assert (await here.client.get(f"/v1/jobs/{job}")).json()["status"] == "completed"


async def test_one_item_is_tried_again_alone_and_the_audit_log_has_it() -> None:
    async with api_world(auth=True) as here:
        headers = {"Authorization": f"Bearer {await here.key('read', 'submit', 'control', 'admin')}"}
        spec = {"url": "https://shop.example/", "loop": {"values": ["a", "b"]}}
        job = (await here.client.post("/v1/jobs", json=spec, headers=headers)).json()["id"]
        await here.run(loop_of(["a", "b"], lambda work: failed()))
        rows = (await here.client.get(f"/v1/jobs/{job}/sessions", headers=headers)).json()["sessions"]
        items = [row for row in rows if row["item"]]
        assert [row["status"] for row in items] == ["failed", "failed"]
        answer = await here.client.post(f"/v1/sessions/{items[1]['id']}/retry", headers=headers)
        assert (answer.status_code, answer.json()["status"]) == (200, "queued"), answer.text
        again = await here.client.post(f"/v1/sessions/{items[1]['id']}/retry", headers=headers)
        assert (again.status_code, again.json()["code"]) == (409, "wrong_state")
        (work,) = await here.claim()
        assert ids.session_id(work.session) == items[1]["id"]
        entries = await here.store.audit(AuditFilter())
        assert ("POST /v1/sessions/{session}/retry", items[1]["id"]) in [(e.action, e.subject) for e in entries]


async def test_an_unsure_session_is_to_be_settled_before_it_is_tried_again(here: World) -> None:
    _, session = await unsure(here)
    answer = await here.client.post(f"/v1/sessions/{session}/retry")
    assert answer.status_code == 409 and "settle it first" in answer.json()["detail"]


async def test_who_may_only_look_neither_changes_nor_settles() -> None:
    async with api_world(auth=True) as here:
        headers = {"Authorization": f"Bearer {await here.key('read', 'submit')}"}
        for method, path in (
            ("PATCH", "/v1/jobs/j1"),
            ("POST", "/v1/sessions/s1/settle"),
            ("POST", "/v1/sessions/s1/retry"),
        ):
            answer = await here.client.request(method, path, json={"how": "done"}, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed")


@pytest.mark.parametrize("body", [b"", b"{", b'{"how":"maybe"}', b"[]", b'{"how":"done","x":1}'])
async def test_a_bad_settlement_is_refused(here: World, body: bytes) -> None:
    _, session = await unsure(here)
    headers = {"Content-Type": "application/json"}
    answer = await here.client.post(f"/v1/sessions/{session}/settle", content=body, headers=headers)
    assert answer.status_code == 400, answer.text
