"""No route and no command shows a password of a job's details: all of them are asked, and the answers searched."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from shoal.agent.error_info import ErrorInfo
from shoal.agent.status import Status
from shoal.agent.types import (
    Action,
    ActionResult,
    BeforeSending,
    Checkpoint,
    Effect,
    FanOut,
    LoopItem,
    Outcome,
    Step,
    Task,
)
from shoal.agent.worker_messages import Work
from tests.gateway_world import AT, World, completed, world

PASSWORD, CARD, HEADER, ROW = "hunter-of-22-geese", "4000123412341234", "Bearer-abcdefgh", "row-pass-77"
ALL = (PASSWORD, CARD, HEADER, ROW)
ROWS = [json.dumps({"user": name, "password": ROW}) for name in ("ann", "bob", "cay")]
SPEC: dict[str, Any] = {
    "data": {"user": "ann", "password": PASSWORD, "pay": [{"card": {"number": CARD, "cvc": "737"}}]},
    "browser": {"headers": {"X-Key": HEADER}},
    "loop": {"values": ROWS},
    "webhook": {"url": "https://hook.example/", "events": ["job.finished", "session.finished"]},
}
DASHBOARD = (
    *("/", "/status", "/attention", "/jobs/{job}", "/jobs/{job}/events", "/jobs/{job}/results"),
    *("/jobs/{job}/results?format=csv", "/sessions/{session}", "/login"),
)


def acted(value: str) -> tuple[Task, ...]:
    """A task whose step filled in `value`, as an earlier version stored it."""
    action = Action("fill", {"bid": "12", "value": value}, "enter password")
    result = ActionResult(
        action, effect=Effect(url=f"https://shop.example/?p={value}", value=value, fields=(("Again", value),))
    )
    step = Step(0, f"https://shop.example/?p={value}", "", (result,), before=BeforeSending(placed=("password",)))
    return (Task("navigate", "log in", Status.COMPLETED, reason=f"typed {value}", steps=(step,)),)


def ends(work: Work) -> Outcome:
    """The root fans out; one item completes, one fails, and one is unsure."""
    if work.item is None:
        items = tuple(LoopItem(index, value, False) for index, value in enumerate(ROWS))
        if work.children is None:
            return Outcome(Status.WAITING, fan_out=FanOut(items, Checkpoint()), at=AT, tasks=acted(PASSWORD))
        return completed()
    if work.item.index == 0:
        return replace(completed({"name": "chair"}), tasks=acted(ROW))
    if work.item.index == 1:
        error = ErrorInfo("FormRefused", "form_incomplete", "the form was not accepted", retryable=False)
        return Outcome(Status.FAILED, error=error, at=AT, tasks=acted(ROW))
    known = Checkpoint(
        acted(ROW), f"https://shop.example/?p={ROW}", pending_action=f"click on https://s.example/?p={ROW}"
    )
    return Outcome(Status.UNSURE, at=AT, tasks=acted(ROW), checkpoint=known)


async def done(here: World) -> tuple[str, list[str]]:
    """The job and its sessions, after each has ended."""
    job = await here.submit(**SPEC)
    await here.run(ends)
    listed = (await here.client.get(f"/v1/jobs/{job}/sessions")).json()["sessions"]
    return job, [one["id"] for one in listed]


def secrets_in(text: str) -> list[str]:
    """The secret values that a text holds."""
    return [value for value in (*ALL, '"737"') if value in text]


async def test_no_route_of_the_gateway_shows_a_password() -> None:
    async with world(names={"hook.example": ["93.184.216.34"]}) as here:
        job, sessions = await done(here)
        documented = (await here.client.get("/openapi.json")).json()["paths"]
        paths = [path for path, methods in documented.items() if "get" in methods]
        assert len(paths) > 8
        paths += [f"{path}?format=csv" for path in paths if path.endswith("/results")]
        asked = 0
        for path in (*paths, *DASHBOARD):
            for session in sessions if "{session}" in path else sessions[:1]:
                url = path.replace("{job}", job).replace("{session}", session).replace("{artifact}", "a" * 32)
                query = {"follow": "false"} if url.endswith("/events") else None
                answer = await here.client.get(url, params=query)
                assert not secrets_in(answer.text), (url, secrets_in(answer.text))
                asked += answer.status_code == 200
        assert asked >= len(paths) - 3, "the routes are there"
        looked = (await here.client.get(f"/v1/jobs/{job}")).json()["spec"]
        assert looked["data"]["user"] == "ann"
        assert looked["data"]["password"] == "(hidden)"
        assert looked["browser"]["headers"] == {"X-Key": "(hidden)"}
        items = [
            one["item"]["value"] for one in (await here.client.get(f"/v1/jobs/{job}/sessions")).json()["sessions"][1:]
        ]
        assert [json.loads(value)["user"] for value in items] == ["ann", "bob", "cay"]
        bodies = "".join(map(str, await here.store.claim_deliveries(50, lease_s=60, each=50)))
        assert not secrets_in(bodies)


async def test_workers_get_the_details_as_they_were_given() -> None:
    async with world(names={"hook.example": ["93.184.216.34"]}) as here:
        await here.submit(**SPEC)
        (root,) = await here.claim()
        assert root.spec.data == SPEC["data"]
        assert root.spec.browser.headers == {"X-Key": HEADER}
        await here.finish([root], ends)
        assert [one.item.value for one in await here.claim() if one.item] == ROWS


async def test_a_refused_spec_is_not_quoted_with_its_password() -> None:
    async with world() as here:
        for wrong in (
            {"max_steps": "x"},
            {"url": "nowhere"},
            {"data": {"password": PASSWORD, "n": 2**70}},
            {"goall": 1},
        ):
            answer = await here.client.post(
                "/v1/jobs", json={"url": "https://shop.example/", "goal": "x", **SPEC, **wrong}
            )
            assert answer.status_code in (400, 422)
            assert not secrets_in(answer.text), answer.text
