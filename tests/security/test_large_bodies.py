"""Bodies of callers: what takes long to read is read beside the event loop, and has bounds of depth and number."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import httpx
import pytest
from pydantic import BaseModel, FailFast

from shoal.agent import spec
from tests.gateway_world import World, world

MIB = 1 << 20
JOB = '{"url": "https://shop.example/", "goal": "look"'
DEEP = "[" * 5_000 + "]" * 5_000
FEWEST_BEATS = 10
"""A body that is read on the loop lets one or two pass: when it arrives, and when the answer goes."""


@dataclass(frozen=True)
class Handed:
    """The answer to a request, and how often others had a turn meanwhile."""

    answer: httpx.Response
    beats: int


async def beside(request: Awaitable[httpx.Response]) -> Handed:
    """Counts turns of the event loop while a request is answered."""
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.001)
            beats += 1

    heart = asyncio.create_task(beat())
    try:
        return Handed(await request, beats)
    finally:
        heart.cancel()


class Doors:
    """The ways to hand something in: by the API, and by forms of the dashboard."""

    def __init__(self, here: World, token: str) -> None:
        self._here = here
        self._token = token

    async def api(self, path: str, body: str | bytes, method: str = "POST") -> Handed:
        headers = {"Content-Type": "application/json"}
        return await beside(self._here.client.request(method, path, content=body, headers=headers))

    async def file(self, body: bytes, query: str = "") -> Handed:
        headers = {"X-Shoal-Form": self._token}
        return await beside(self._here.client.post(f"/new/values{query}", content=body, headers=headers))

    async def alive(self) -> httpx.Response:
        return await self._here.client.get("/healthz")

    async def form(self, path: str, fields: str) -> Handed:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return await beside(
            self._here.client.post(path, content=f"token={self._token}&{fields}", headers=headers, timeout=60)
        )


@pytest.fixture
async def doors() -> AsyncIterator[Doors]:
    async with world() as here:
        token = re.search(r'name="token" value="([^"]+)"', (await here.client.get("/new")).text)
        assert token is not None
        yield Doors(here, token[1])


async def test_a_file_of_values_holds_up_nobody_and_is_shown_by_its_first_rows(doors: Doors) -> None:
    row = "x" * 78
    done = await doors.file(b"a\n" + f"{row}\n".encode() * 99_999)
    told = done.answer.json()
    assert (told["columns"], told["rows"], told["sample"], told["values"]) == (["a"], 99_999, [[row]] * 5, "")
    assert done.beats >= FEWEST_BEATS
    cells = await doors.file(f"a\n{'x' * 100_000}\n".encode())
    assert len(cells.answer.json()["sample"][0][0]) < 300


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (lambda: b"a\n" + b"x\n" * (4 * MIB - 10), "more than 100,000 rows"),
        (lambda: b"1\n" * (4 * MIB), "more than 100,000 rows"),
        (lambda: b'"x"\n' * (2 * MIB), "more than 100,000 rows"),
        (lambda: b",".join(b"%d" % n for n in range(MIB)) + b"\n", "columns; at most 500"),
        (lambda: b"\n".join(b'{"k%d": 1}' % n for n in range(1_000)), "more than 500 columns"),
        (lambda: b",".join(b"c%d" % n for n in range(400)) + b"\n" + (b"1," * 399 + b"1\n") * 9_000, "1,000,000 cells"),
        (lambda: b"[" + b"[]," * (2 * MIB) + b"1]", "line 1 has more than"),
        (lambda: f'{{"a": {DEEP}}}'.encode(), "line 1 is no JSON"),
    ],
    ids=["rows", "one-column", "texts", "headers", "columns", "cells", "line", "depth"],
)
async def test_a_file_of_values_is_bounded(doors: Doors, body: Callable[[], bytes], fault: str) -> None:
    told = (await doors.file(body())).answer
    assert told.status_code == 200
    assert fault.lower() in told.json()["fault"].lower()


async def test_a_job_of_many_values_and_a_form_with_it_hold_up_nobody(doors: Doors) -> None:
    links = ",".join(f'"https://shop.example/{n}"' for n in range(30_000))
    job = f'{JOB}, "loop": {{"values": [{links}]}}}}'
    done = await doors.api("/v1/jobs", job)
    assert done.answer.status_code == 201 and done.beats >= FEWEST_BEATS
    for path in ("/new/check", "/new"):
        formed = await doors.form(path, httpx.QueryParams({"#json": job}).__str__())
        assert formed.answer.status_code in (200, 303), formed.answer.text
        assert formed.beats >= FEWEST_BEATS, path


async def test_half_a_million_wrong_values_are_refused_at_the_first(doors: Doors) -> None:
    """Making all of them took a second and more, in which no other thread ran."""
    wrong = ",".join(["1"] * 400_000)
    late = ",".join(['"a"'] * 100 + ["1"] * 300_000)
    login = '"login": {"url": "https://shop.example/"'
    for job, field in {
        f'{JOB}, "loop": {{"values": [{wrong}]}}}}': "loop.values[0]",
        f'{JOB}, "loop": {{"values": [{late}]}}}}': "loop.values[100]",
        f'{JOB}, {login}, "steps": [{wrong}]}}}}': "login.steps[0]",
        f'{JOB}, "sites": [{wrong}]}}': "sites[0]",
    }.items():
        told = (await doors.api("/v1/jobs", job)).answer
        assert told.status_code == 400
        told_of = [fault["field"] for fault in told.json()["errors"]]
        assert told_of[0] == field and len(told_of) <= 2


def test_every_list_of_a_job_is_read_up_to_its_first_fault() -> None:
    parts = [part for part in vars(spec).values() if isinstance(part, type) and issubclass(part, BaseModel)]
    lists = {
        f"{part.__name__}.{name}": any(isinstance(told, FailFast) for told in field.metadata)
        for part in parts
        for name, field in part.model_fields.items()
        if "tuple[" in str(field.annotation)
    }
    assert len(lists) > 10
    assert [name for name, stops in lists.items() if not stops] == []


async def test_a_mass_of_wrong_fields_is_told_by_the_first(doors: Doors) -> None:
    fields = ",".join(f'"k{n}": 1' for n in range(19_000))
    for job, field in {f'{JOB}, "labels": {{{fields}}}}}': "labels", f"{JOB}, {fields}}}": "k"}.items():
        done = (await doors.api("/v1/jobs", job)).answer
        assert done.status_code == 400 and len(done.json()["errors"]) <= 100
        assert done.json()["errors"][0]["field"].startswith(field)


async def test_a_gateway_says_that_it_lives_while_wrong_bodies_are_read(doors: Doors) -> None:
    body = f'{JOB}, "loop": {{"values": [{",".join(["1"] * 500_000)}]}}}}'
    refused = asyncio.gather(*(doors.api("/v1/jobs", body) for _ in range(4)))
    alive = 0
    while not refused.done():
        assert (await doors.alive()).status_code == 200
        alive += 1
        await asyncio.sleep(0)  # the gateway is in this process
    assert {each.answer.status_code for each in await refused} == {400}
    assert alive >= FEWEST_BEATS


DEEP_DOORS = [
    *(("POST", path) for path in ("/v1/jobs", "/v1/jobs:try", "/v1/workflows", "/v1/workflows/shop/versions:try")),
    *(("POST", path) for path in ("/v1/workflows?format=recorder&name=a", "/v1/workflows?format=automa&name=a")),
    *(("PUT", "/v1/workflows/shop/versions"), ("PATCH", "/v1/jobs/j1"), ("POST", "/v1/sessions/s1/settle")),
    *(("POST", "/v1/sessions/s1/live"), ("PATCH", "/v1/tenants/acme"), ("PATCH", "/v1/sites/shop.example")),
]


async def test_what_is_nested_deeply_is_a_fault_of_its_caller_at_every_door(doors: Doors) -> None:
    for method, path in DEEP_DOORS:
        for body in (DEEP, f'{{"goal": {DEEP}}}', '{"a":' * 3_000 + "1" + "}" * 3_000):
            answer = (await doors.api(path, body, method)).answer
            assert 400 <= answer.status_code < 500, (path, answer.status_code, answer.text[:200])
    batch = (await doors.api("/v1/jobs:batch", f"{DEEP}\n{JOB}}}")).answer
    assert (batch.headers["shoal-accepted"], batch.headers["shoal-refused"]) == ("1", "1")


async def test_forms_are_bounded_and_nested_text_in_them_is_told(doors: Doors) -> None:
    for path in ("/new", "/new/check", "/new/try", "/workflows/import", "/workflows/shop/versions/1/try"):
        many = await doors.form(path, "a=&" * 1_000_000)
        assert many.answer.status_code in (400, 413), (path, many.answer.status_code)
        long = (await doors.form(path, "[1]" * 100_000)).answer
        assert 400 <= long.status_code < 500, path
    for path in ("/new/check", "/new/presets"):
        deep = (await doors.form(path, f"%23json={DEEP}")).answer
        assert (deep.status_code in (200, 400) and "recursion limit" in deep.text) or "valid job" in deep.text, (
            deep.text
        )
    deep = (await doors.form("/workflows/import", f"format=shoal&file={DEEP}")).answer
    assert deep.status_code == 400
    mapped = await doors.file(b"a\nb\n", f"?mapping={DEEP}")
    assert "mapping must be" in mapped.answer.json()["fault"]


async def test_a_form_of_known_fields_takes_no_file_and_no_mass_of_fields(doors: Doors) -> None:
    """Anybody may send them to the login, before it is known who asks."""
    for path in ("/login", "/logout", "/filters"):
        assert (await doors.form(path, "a=&" * 1_000)).answer.status_code == 400, path
        assert (await doors.form(path, f"key={'a' * 200_000}")).answer.status_code == 400, path
    head = 'Content-Disposition: form-data; name="key"; filename="a"'
    body = f"--b\r\n{head}\r\n\r\n{'a' * 1_000}\r\n--b--\r\n".encode()
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    assert (await doors._here.client.post("/login", content=body, headers=headers)).status_code == 400


async def test_a_workflow_with_half_a_million_faults_is_refused_at_once(doors: Doors) -> None:
    """Each fault was compared with each."""
    nodes = ",".join(["1"] * 400_000)
    file = f'{{"name": "a", "scope": {{"site": "shop.example"}}, "versions": [{{"nodes": [{nodes}]}}]}}'
    answer = (await doors.api("/v1/workflows", file)).answer
    assert answer.status_code == 400 and "entries; at most 50,000 are read" in answer.json()["detail"]
