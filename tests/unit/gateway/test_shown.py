"""A job in which a person shows what is to be done, and the workflow that is kept of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.types import ArtifactRef
from shoal.services.addresses import Reach
from shoal.services.web.specs.specs import SpecRules
from tests.gateway_world import World, completed, world

DRAFT = f"{0xD4AF7:032x}"
EVIL = "<script>alert(1)</script>"
WORKFLOW: dict[str, Any] = {
    "format": "shoal-workflow/1",
    "name": "by-hand-j1",
    "scope": {"site": "lamps.example"},
    "versions": [
        {
            "number": 1,
            "state": "active",
            "by": "person",
            "params": [{"name": "who", "source": "secret", "path": EVIL, "sensitive": True}],
            "nodes": [
                {"id": "n1", "kind": "action", "action": "goto", "args": {"url": {"const": "https://x.example/"}}}
            ],
        }
    ],
}


async def demonstrated_session(here: World, draft: bytes | None, submits: dict[str, str] | None = None) -> str:
    """The session of a job that a person has shown; `draft` is what was kept of it."""
    spec = {"url": "https://lamps.example/", "goal": "g"}
    answer = await here.client.post("/v1/jobs", json=spec, headers=submits or {})
    assert answer.status_code == 201, answer.text
    (work,) = await here.claim()
    key = f"default/{work.job}/{work.session}/{DRAFT}.json"
    kept = ()
    if draft is not None:
        await here.artifacts.put(key, draft, "application/json")
        kept = (ArtifactRef(DRAFT, "workflow", key, "application/json", len(draft)),)
    await here.finish([work], lambda _: replace(completed({"n": 1}), artifacts=kept))
    return f"s{work.session}"


async def test_the_workflow_that_a_person_showed_is_kept_as_a_draft_by_recording() -> None:
    async with world() as here:
        session = await demonstrated_session(here, json.dumps(WORKFLOW).encode())
        for name, number in (("orders", 1), ("orders", 1)):  # the same again is the same version
            answer = await here.client.post(f"/v1/sessions/{session}/workflow", params={"name": name})
            assert answer.status_code == 201, answer.text
            versions = answer.json()["versions"]
            assert (versions[-1]["number"], versions[-1]["state"], versions[-1]["by"]) == (number, "draft", "recording")
        answer = await here.client.post(f"/v1/sessions/{session}/workflow")
        assert answer.json()["name"] == "by-hand-j1"
        bad = await here.client.post(f"/v1/sessions/{session}/workflow", params={"name": "../x"})
        assert bad.status_code == 400

        page = await here.client.get(f"/sessions/{session}")
        assert "A person showed this" in page.text and EVIL not in page.text
        token = page.text.split('name="token" value="', 1)[1].split('"', 1)[0]
        form = {"name": "of-a-page", "token": token}
        answer = await here.client.post(f"/sessions/{session}/workflow", data=form)
        assert (answer.status_code, answer.headers["location"]) == (303, "/workflows/of-a-page?version=1")


@pytest.mark.parametrize("draft", [None, b"no json", b"{}", json.dumps(WORKFLOW | {"versions": []}).encode()])
async def test_a_session_without_a_draft_keeps_none(draft: bytes | None) -> None:
    async with world() as here:
        session = await demonstrated_session(here, draft)
        answer = await here.client.post(f"/v1/sessions/{session}/workflow")
        assert answer.status_code == (404 if draft is None else 400), answer.text
        page = await here.client.get(f"/sessions/{session}")
        assert page.status_code == 200 and "A person showed this" not in page.text
        assert ("is no workflow" in page.text) == (draft is not None)


async def test_a_draft_that_waits_at_its_worker_is_not_called_gone() -> None:
    async with world() as here:
        session = await demonstrated_session(here, json.dumps(WORKFLOW).encode())
        await here.artifacts.delete("default")
        for waiting, code in ((0, "artifact_missing"), (2, "artifact_waiting")):
            await here.store.put_state("dispatcher/main", {"workers": [{"name": "w1", "uploads_waiting": waiting}]})
            answer = await here.client.post(f"/v1/sessions/{session}/workflow")
            assert answer.json()["code"] == code


async def test_the_workflow_of_another_tenant_is_not_found_and_keeping_one_needs_control() -> None:
    async with world(auth=True) as locked:
        submits = {"Authorization": f"Bearer {await locked.key('submit', tenant='other')}"}
        session = await demonstrated_session(locked, json.dumps(WORKFLOW).encode(), submits)
        cases = (("control", "acme", 404), ("admin", "acme", 404), ("read", "other", 403), ("control", "other", 201))
        for scope, tenant, status in cases:
            key = {"Authorization": f"Bearer {await locked.key(scope, tenant=tenant)}"}
            answer = await locked.client.post(f"/v1/sessions/{session}/workflow", headers=key)
            assert answer.status_code == status, (scope, tenant, answer.text)


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        ({}, "help.person", "must be true with `policy`: person"),
        ({"help": {"person": True}, "sample": 1}, "sample", "does not go with `policy`: person"),
        ({"help": {"person": True}, "loop": {"values": ["a"]}}, "loop", "does not go with `policy`: person"),
    ],
)
async def test_a_job_that_nobody_could_show_is_refused(change: dict[str, Any], field: str, reason: str) -> None:
    async with world() as here:
        spec = {"url": "https://lamps.example/", "policy": "person", **change}
        answer = await here.client.post("/v1/jobs", json=spec)
        assert answer.status_code == 400, answer.text
        assert reason in {error["reason"] for error in answer.json()["errors"] if error["field"] == field}


async def test_a_job_without_a_goal_waits_for_a_person() -> None:
    async with world(rules=SpecRules(Reach(), people=True)) as here:
        spec = {"url": "https://lamps.example/", "policy": "person", "help": {"person": True}}
        answer = await here.client.post("/v1/jobs", json=spec)
        assert answer.status_code == 201, answer.text
