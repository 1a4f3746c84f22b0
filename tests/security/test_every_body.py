"""Every door of a gateway that takes a body, and bodies that are long to read: none holds up the event loop."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator

import httpx
import pytest
from fastapi.routing import APIRoute

from tests.gateway_world import World, completed
from tests.served_gateway import Served, served_gateway
from tests.unit.gateway.test_schedules import PRICES
from tests.unit.workflows.books import BOOKS

LONGEST = 4
"""Most processor time that the event loop may wait at one stretch: so many times that of reading a body as JSON.

A limit in seconds would ask for a machine of some speed: beside other work, a core does half as much in a second.
"""
_AGAIN = 3
"""A body that was slow is handed in again: a collection of garbage, or an import, is the fault of none."""
BYTES = 600_000
PLACES = {"job": "j1", "session": "s1", "name": "books", "number": "1", "version": "1", "tenant": "acme", "verb": "x"}
JOB = '{"url": "https://shop.example/", "goal": "look"'
NUMBERS = ",".join(["1"] * (BYTES // 2 - 1_000))
MEMBERS = ",".join(f'"{n:x}":1' for n in range(BYTES // 10))
OBJECTS = ",".join(['{"a":1}'] * (BYTES // 8 - 1_000))
DEEP = "[" * (BYTES // 4) + "]" * (BYTES // 4)


HOSTILE = {
    "numbers": f"[{NUMBERS}]",
    "members": f"{{{MEMBERS}}}",
    "objects": f"[{OBJECTS}]",
    "depth": DEEP,
    "digits": "1" * (BYTES - 1_000),
}
"""Contents of a body, as JSON."""
FORM = "application/x-www-form-urlencoded"


async def filled(w: World) -> None:
    """A gateway with a job, a workflow and a schedule."""
    await w.submit()
    await w.run(lambda work: completed({"n": 1}))
    assert (await w.client.post("/v1/workflows", json=BOOKS)).status_code in (200, 201)
    assert (await w.client.post("/v1/schedules", json=PRICES | {"name": "books"})).status_code == 201


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with served_gateway(filled) as one:
        yield one


def doors(served: Served) -> list[tuple[str, str]]:
    """Method and path of every route that takes a body; workers' own, which need a token, among them."""
    found = []
    for route in served.world.app.routes:
        if isinstance(route, APIRoute):
            names = {name: "x" for name in route.param_convertors} | PLACES
            path = re.sub(r":\w+}", "}", route.path).format_map(names)
            found += [(method, path) for method in sorted(route.methods & {"POST", "PUT", "PATCH"})]
    return found


def longest_s() -> float:
    """Return the most processor time that the event loop may wait at one stretch, at the speed of this moment."""
    began = time.thread_time()
    json.loads(HOSTILE["numbers"])
    return LONGEST * (time.thread_time() - began)


def fault_of(served: Served, http: httpx.Client, method: str, path: str, content: str, kind: str) -> str:
    """Return what is wrong with how a body was taken; "" where nothing is."""
    for _ in range(_AGAIN):
        served.pauses.reset()
        answer = http.request(method, path, content=content, headers={"Content-Type": kind})
        pause_s, limit_s = served.pauses.longest_s, longest_s()
        if answer.status_code >= 500:
            return f"{answer.status_code} {answer.text[:200]}"
        if pause_s <= limit_s:
            return ""
    return f"{answer.status_code}, the loop was held up for {pause_s:.2f} s, {limit_s:.2f} at most"


def body_of(path: str, held: str, token: str) -> tuple[str, str]:
    """Return what is handed in at a path, and its type:
    `held` in a field that takes more than a word, where there is one.
    """
    job = f'{JOB}, "labels": {held}}}'
    if path == "/v1/schedules":
        return f'{{"name": "a", "cron": "0 7 * * *", "job": {job}}}', "application/json"
    if path.startswith("/v1/jobs"):
        return job, "application/json"
    if path.startswith("/v1/"):
        return held if held.startswith("{") else f'{{"versions": {held}}}', "application/json"
    return f"token={token}&" + ("a=&" * (BYTES // 3) if held == HOSTILE["digits"] else f"%23json={job}"), FORM


@pytest.mark.parametrize("held", HOSTILE.values(), ids=HOSTILE)
def test_no_body_of_any_route_holds_up_the_loop(served: Served, held: str) -> None:
    wrong = {}
    with httpx.Client(base_url=served.url, timeout=120) as http:
        token = re.search(r'name="token" value="([^"]+)"', http.get("/new").text)
        assert token is not None
        every = doors(served)
        assert len(every) > 40 and ("POST", "/v1/jobs") in every and ("POST", "/login") in every
        for method, path in every:
            if fault := fault_of(served, http, method, path, *body_of(path, held, token[1])):
                wrong[f"{method} {path}"] = fault
    assert wrong == {}


def test_a_body_with_more_members_than_are_read_is_refused_by_their_number(served: Served) -> None:
    with httpx.Client(base_url=served.url, timeout=120) as http:
        for body in (f'{JOB}, "labels": {HOSTILE["members"]}}}', f"{JOB}, {HOSTILE['members'][1:]}"):
            (fault,) = http.post("/v1/jobs", content=body, headers={"Content-Type": "application/json"}).json()[
                "errors"
            ]
            assert fault["field"] == "body" and "at most 20,000 are read" in fault["reason"]
