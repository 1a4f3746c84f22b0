"""Batches: every line has its own outcome."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest

from shoal.services.store.records import JobFilter
from shoal.services.web.api import batch
from shoal.services.web.http import quota
from tests.gateway_world import World, api_world, completed

SPEC = {"url": "https://shop.example/", "goal": "read"}
TYPE = {"Content-Type": "application/x-ndjson"}


@pytest.fixture
async def here() -> AsyncIterator[World]:
    async with api_world(body_limit=500) as made:
        yield made


async def send(here: World, body: Any, **headers: str) -> list[dict[str, Any]]:
    got = await here.client.post("/v1/jobs:batch", content=body, headers={**TYPE, **headers})
    assert got.status_code == 200, got.text
    outcomes = [json.loads(line) for line in got.text.splitlines()]
    accepted = sum("job" in outcome for outcome in outcomes)
    assert got.headers["shoal-accepted"] == str(accepted)
    assert got.headers["shoal-refused"] == str(len(outcomes) - accepted)
    return outcomes


class Overlap:
    """The most calls of a function that were under way at once."""

    def __init__(self) -> None:
        self.most = 0
        self._now = 0

    def counted(self, function: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def call(*args: Any) -> Any:
            self._now += 1
            self.most = max(self.most, self._now)
            try:
                await asyncio.sleep(0)  # others may begin
                return await function(*args)
            finally:
                self._now -= 1

        return call


def line(**change: Any) -> bytes:
    return json.dumps({**SPEC, **change}).encode() + b"\n"


async def test_bad_lines_do_not_keep_the_others_back(here: World) -> None:
    body = line() + b"\n" + b"{broken\n" + line(foo=1) + line(data="x" * 600) + line(goal="last").rstrip(b"\n")
    outcomes = await send(here, body)
    assert [outcome["line"] for outcome in outcomes] == [1, 3, 4, 5, 6], "an empty line is nothing"
    assert [outcome.get("created") for outcome in outcomes] == [True, None, None, None, True]
    broken, unknown, long = (outcome["error"] for outcome in outcomes[1:4])
    assert (broken["status"], broken["code"]) == (400, "bad_input")
    assert broken["errors"][0]["field"] == "body"
    assert unknown["errors"] == [{"field": "foo", "reason": "is not a field of a job"}]
    assert (long["status"], long["code"]) == (413, "too_large")
    assert len(await here.store.jobs(JobFilter())) == 2


async def test_a_reused_key_spoils_its_own_line_only(here: World) -> None:
    await send(here, line(idempotency_key="a"))
    body = line(goal="one") + line(goal="other", idempotency_key="a") + line(idempotency_key="a") + line(goal="three")
    outcomes = await send(here, body)
    assert [outcome.get("created") for outcome in outcomes] == [True, None, False, True]
    assert outcomes[1]["error"]["code"] == "idempotency_key_reused"
    assert len(await here.store.jobs(JobFilter())) == 3


async def test_the_lines_beside_a_reused_key_are_stored_together(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await send(here, line(idempotency_key="a"))
    at_once = Overlap()
    monkeypatch.setattr(here.store, "submit", at_once.counted(here.store.submit))
    outcomes = await send(here, line(goal="other", idempotency_key="a") + line() * 20)
    assert ["job" in outcome for outcome in outcomes] == [False] + [True] * 20
    assert [outcome["line"] for outcome in outcomes] == list(range(1, 22))
    assert at_once.most == 21


async def test_the_names_of_a_group_are_looked_up_together(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = Overlap()
    monkeypatch.setattr(here.names, "addresses", at_once.counted(here.names.addresses))
    here.names.table["inner.example"] = ["10.0.0.9"]
    hosts = ["a.example", "inner.example", "b.example", "inner.example", "c.example"]
    outcomes = await send(here, b"".join(line(url=f"https://{host}/") for host in hosts) + b"{broken\n")
    assert at_once.most == 5
    assert ["job" in outcome for outcome in outcomes] == [True, False, True, False, True, False]
    refused = [outcomes[n]["error"]["errors"][0] for n in (1, 3, 5)]
    assert [one["field"] for one in refused] == ["url", "url", "body"]
    assert "inner.example is not allowed: the address is private (10.0.0.9)" in refused[1]["reason"]


async def test_a_batch_that_is_sent_again_stores_nothing_twice(here: World) -> None:
    body = line(goal="one") + line(goal="two") + line(goal="three", idempotency_key="mine")
    first = await send(here, body, **{"Idempotency-Key": "batch-1"})
    again = await send(here, body, **{"Idempotency-Key": "batch-1"})
    assert [outcome["job"] for outcome in first] == [outcome["job"] for outcome in again]
    assert [outcome["created"] for outcome in again] == [False, False, False]


async def test_lines_may_come_in_any_pieces(here: World) -> None:
    body = b"".join(line(goal=f"number {number}") for number in range(20)).replace(b"\n", b"\r\n")

    async def pieces(size: int) -> AsyncIterator[bytes]:
        for start in range(0, len(body), size):
            yield body[start : start + size]

    for size in (1, 7, 100, 10_000):
        outcomes = await send(here, pieces(size), **{"Idempotency-Key": "same"})
        assert len(outcomes) == 20
        assert all("job" in outcome for outcome in outcomes)
    assert len(await here.store.jobs(JobFilter(limit=100))) == 20


async def test_groups_are_stored_as_they_fill(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "GROUP_JOBS", 3)
    sizes = []
    submit = here.store.submit

    async def noted(jobs: Any) -> Any:
        sizes.append(len(jobs))
        return await submit(jobs)

    monkeypatch.setattr(here.store, "submit", noted)
    outcomes = await send(here, line() * 8)
    assert len(outcomes) == 8
    assert sizes == [3, 3, 2]


async def test_a_batch_over_the_limit_ends_where_the_limit_is() -> None:
    async with api_world(batch_limit=300) as small:
        got = await small.client.post("/v1/jobs:batch", content=line() * 30, headers=TYPE)
        assert got.status_code == 413, "announced: refused before anything is read"

        async def unannounced() -> AsyncIterator[bytes]:
            for _ in range(30):
                yield line()

        outcomes = await send(small, unannounced())
        assert outcomes[-1]["error"]["code"] == "too_large"
        assert all("job" in outcome for outcome in outcomes[:-1])
        assert len(outcomes) == 300 // len(line()) + 1


async def test_a_batch_must_call_itself_json(here: World) -> None:
    got: httpx.Response = await here.client.post("/v1/jobs:batch", content=line(), headers={"Content-Type": "a/b"})
    assert got.status_code == 415


@pytest.mark.parametrize("group", [2, 500])
async def test_a_batch_is_taken_in_as_far_as_the_quota_goes(monkeypatch: pytest.MonkeyPatch, group: int) -> None:
    monkeypatch.setattr(batch, "GROUP_JOBS", group)
    async with api_world(tenant_queued=5) as busy:
        await busy.submit()
        outcomes = await send(busy, b"".join(line(goal=f"g{n}") for n in range(9)))
        assert ["job" in outcome for outcome in outcomes] == [True] * 4 + [False] * 5
        refused = outcomes[-1]["error"]
        assert (refused["status"], refused["code"]) == (429, "quota_exceeded")
        assert refused["detail"] == "5 sessions of this tenant are waiting already; at most 5 may."
        assert len(await busy.store.jobs(JobFilter())) == 5


async def test_a_batch_that_is_sent_again_goes_on_behind_the_lines_that_are_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(quota, "COUNTED_FOR_S", -1.0)
    lines = b"".join(line(goal=f"g{n}") for n in range(9))
    async with api_world(tenant_queued=5) as busy:
        first = await send(busy, lines, **{"Idempotency-Key": "k"})
        assert ["job" in outcome for outcome in first] == [True] * 5 + [False] * 4
        await busy.run(lambda work: completed())
        again = await send(busy, lines, **{"Idempotency-Key": "k"})
        assert [outcome.get("created") for outcome in again] == [False] * 5 + [True] * 4
        assert [outcome["job"] for outcome in again[:5]] == [outcome["job"] for outcome in first[:5]]


async def test_at_its_quota_a_batch_has_the_jobs_that_were_stored_before_and_room_for_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(quota, "COUNTED_FOR_S", -1.0)
    async with api_world(tenant_queued=5) as busy:
        first = await send(busy, b"".join(line(goal=f"g{n}") for n in range(9)), **{"Idempotency-Key": "k"})
        assert ["job" in outcome for outcome in first] == [True] * 5 + [False] * 4
        again = await send(busy, b"".join(line(goal=f"g{n}") for n in range(9)), **{"Idempotency-Key": "k"})
        assert [outcome.get("job") for outcome in again] == [outcome.get("job") for outcome in first]
        assert {outcome["error"]["code"] for outcome in again[5:]} == {"quota_exceeded"}
        alone = await send(busy, line(goal="g3", idempotency_key="k:4") + line())
        assert [outcome.get("job") for outcome in alone] == [first[3]["job"], None]


async def test_lines_with_one_new_key_take_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    async with api_world(tenant_queued=2) as busy:
        outcomes = await send(busy, line(idempotency_key="a") * 3 + line() + line())
        assert [outcome.get("created") for outcome in outcomes] == [True, False, False, True, None]
