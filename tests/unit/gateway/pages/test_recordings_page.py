"""The player of recordings: its policy, its steps, and to whom it gives what."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import Any

from shoal.agent.status import Status
from shoal.agent.types import Action, ActionResult, ArtifactRef, Outcome, Step, Task
from tests.gateway_world import World, completed, world

EVIL = "<script>alert(1)</script>\"'&"
RECORDING, SHOT = f"{0xFEED:032x}", f"{0xBEEF:032x}"
TOLD = gzip.compress(json.dumps({"format": 1, "tabs": [], "lacks": [EVIL]}).encode())


def recorded(work: Any) -> Outcome:
    base = f"default/{work.job}/{work.session}"
    kept = (
        ArtifactRef(RECORDING, "recording", f"{base}/{RECORDING}.gz", "application/gzip", len(TOLD)),
        ArtifactRef(SHOT, "screenshot", f"{base}/{SHOT}.jpg", "image/jpeg", 10),
    )
    steps = (
        Step(0, EVIL, EVIL, (ActionResult(Action("click", {"bid": "4"})),), at="2026-11-25T03:00:00.250+00:00"),
        Step(1, "https://shop.example/", "of an earlier version", ()),
    )
    task = Task("navigate", EVIL, Status.COMPLETED, steps=steps)
    return replace(completed({"n": 1}), tasks=(task,), artifacts=kept)


async def ran(here: World, submits: dict[str, str] | None = None, reads: dict[str, str] | None = None) -> str:
    spec = {"url": "https://lamps.example/", "goal": "g"}
    answer = await here.client.post("/v1/jobs", json=spec, headers=submits or {})
    assert answer.status_code == 201, answer.text
    (work,) = await here.claim()
    outcome = recorded(work)
    for ref in outcome.artifacts:
        await here.artifacts.put(ref.key, TOLD, ref.content_type)
    await here.finish([work], lambda _: outcome)
    row = (await here.client.get(f"/v1/jobs/{answer.json()['id']}", headers=reads or {})).json()
    return str(row["root_session"])


async def test_the_player_may_load_nothing_but_its_own_scripts_and_the_events() -> None:
    async with world() as here:
        session = await ran(here)
        answer = await here.client.get(f"/sessions/{session}/recordings/{RECORDING}")
        policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
        assert policy == {
            "default-src": "'none'",
            "script-src": "'self'",
            "style-src": "'unsafe-inline'",
            "img-src": "data:",
            "font-src": "data:",
            "connect-src": "'self'",
            "form-action": "'none'",
            "base-uri": "'none'",
            "frame-ancestors": "'self'",
        }
        assert EVIL not in answer.text and "&lt;script&gt;alert(1)" in answer.text
        assert 'data-at="1795575600250"' in answer.text and answer.text.count("data-at=") == 1
        page = await here.client.get(f"/sessions/{session}")
        assert f'<iframe src="/sessions/{session}/recordings/{RECORDING}"' in page.text
        assert "frame-src 'self'" in page.headers["content-security-policy"]


async def test_the_events_are_data_whatever_asks_for_them() -> None:
    async with world() as here:
        session = await ran(here)
        address = f"/sessions/{session}/recordings/{RECORDING}/events"
        for encoding in ("gzip", "identity"):
            answer = await here.client.get(address, headers={"Accept-Encoding": encoding})
            assert answer.json()["lacks"] == [EVIL]
            assert answer.headers["content-type"] == "application/json"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers.get("content-encoding", "identity") == encoding
        for path in (f"{SHOT}", f"{SHOT}/events", f"{1:032x}", "x", "..%2f..%2fkeys", f"{RECORDING}/more"):
            answer = await here.client.get(f"/sessions/{session}/recordings/{path}")
            assert answer.status_code == 404, path


async def test_a_recording_that_waits_at_its_worker_is_not_called_gone() -> None:
    async with world() as here:
        address = f"/sessions/{await ran(here)}/recordings/{RECORDING}/events"
        await here.artifacts.delete("default")
        assert (await here.client.get(address)).status_code == 410
        await here.store.put_state("dispatcher/main", {"workers": [{"name": "w1", "uploads_waiting": 2}]})
        assert (await here.client.get(address)).status_code == 503


async def test_a_recording_of_another_tenant_is_not_found() -> None:
    async with world(auth=True) as locked:
        submits = {"Authorization": f"Bearer {await locked.key('submit', tenant='other')}"}
        theirs = {"Authorization": f"Bearer {await locked.key('read', tenant='other')}"}
        session = await ran(locked, submits, theirs)
        for path in (RECORDING, f"{RECORDING}/events"):
            address = f"/sessions/{session}/recordings/{path}"
            locked.client.cookies.clear()
            assert (await locked.client.get(address)).status_code == 303
            for tenant, status in (("acme", 404), ("other", 200)):
                await locked.client.post("/login", data={"key": await locked.key("read", tenant=tenant), "next": "/"})
                assert (await locked.client.get(address)).status_code == status, tenant


async def test_a_recording_goes_with_its_job() -> None:
    async with world() as here:
        session = await ran(here)
        job = (await here.client.get(f"/v1/sessions/{session}")).json()["job"]
        assert (await here.client.delete(f"/v1/jobs/{job}")).status_code == 204
        assert (await here.client.get(f"/sessions/{session}/recordings/{RECORDING}/events")).status_code == 404
