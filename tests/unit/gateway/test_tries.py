"""Tries: a sample of a job is told in full and kept nowhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.error_info import ErrorInfo
from shoal.agent.status import Status
from shoal.agent.types import FieldCandidate, Outcome, Task
from shoal.agent.worker_messages import Work
from shoal.services.store.records import DeliveryFilter, JobFilter
from tests.gateway_world import World, api_world, completed, fan_out

SPEC = {
    "url": "https://shop.example/",
    "extract": {
        "schema": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "price": {"type": "number"}, "upc": {"type": "string"}},
        }
    },
    "loop": {"from": {"select": "a.product"}},
    "webhook": {"url": "https://hooks.example/"},
}
_WEAK = FieldCandidate("7", "label", "#x", "weak", "the place is named only similarly to the field")


@pytest.fixture
async def here() -> AsyncIterator[World]:
    async with api_world() as made:
        yield made


async def tried(here: World, answer: Any, spec: Mapping[str, Any] = SPEC, **query: Any) -> dict[str, Any]:
    """Return what a try answers while its sessions end as `answer` says."""
    asked = asyncio.create_task(here.client.post("/v1/jobs:try", json=spec, params=query))
    while not asked.done():
        await here.run(answer)
        await asyncio.sleep(0.01)
    response = await asked
    assert response.status_code == 200, response.text
    told: dict[str, Any] = response.json()
    return told


def sampled(work: Work) -> Outcome:
    """A loop of 57 items of which the sample opens two; the second item has other places."""
    if work.children is not None:
        return completed()
    if work.item is None:
        first = [{"value": f"https://shop.example/{n}", "label": f"Lamp {n}", "is_link": True} for n in range(3)]
        told = {"sample": {"found": 57, "whole": True, "first": first, "shown": 57}, "limited": True, "expected": 2}
        begun = fan_out([f"https://shop.example/{n}" for n in range(2)])
        return replace(begun, seconds=2.0, tasks=(Task("loop", "each", Status.WAITING, told, seconds=2.0),))
    one = {"name": [{"select": "h1"}], "price": [{"select": "#price"}, {"select": ".price"}]}
    other = {"name": [{"select": "h1"}], "price": [{"select": ".price"}]}
    fields = one if work.item.index == 0 else other
    read = {"records": 1, "missing": ["upc"], "complete": True, "places": {"records": None, "fields": fields}}
    done = completed({"name": f"Lamp {work.item.index}", "price": 9.5})
    (record,) = done.records
    record = replace(record, candidates={"upc": (_WEAK,)})
    return replace(done, records=(record,), tasks=(Task("extract", "read", Status.COMPLETED, read),))


async def test_a_try_tells_items_records_places_and_cost(here: World) -> None:
    told = await tried(here, sampled, items=2)
    assert (told["status"], told["finished"], told["error"]) == ("completed", True, None)
    assert told["items"]["found"] == 57
    assert [item["label"] for item in told["items"]["first"]] == ["Lamp 0", "Lamp 1", "Lamp 2"]
    assert [one["record"] for one in told["records"]] == [{"name": f"Lamp {n}", "price": 9.5} for n in range(2)]
    first = told["records"][0]
    assert first["fields"]["price"]["value"] == 9.5
    assert first["fields"]["price"]["sureness"] == "likely"
    assert first["missing"] == ["upc"]
    assert (first["candidates"]["upc"][0]["value"], first["candidates"]["upc"][0]["place"]) == ("7", None)
    assert told["missing"] == {"upc": 2}
    # Only what holds on all pages of the sample is proposed.
    assert told["fields"] == {"name": {"select": "h1"}, "price": {"select": ".price"}}
    estimate = told["estimate"]
    assert (estimate["items"], estimate["exact"]) == (57, True)
    assert estimate["seconds"] == pytest.approx(2.0 + 57 * 1.5, abs=0.2)
    assert estimate["model_calls"] >= 57


async def test_nothing_of_a_try_is_kept(here: World) -> None:
    await tried(here, sampled)
    assert await here.store.jobs(JobFilter()) == []
    assert await here.store.counts_by_status() == {}
    assert await here.store.deliveries(DeliveryFilter()) == []


async def test_the_sample_is_bounded_and_tells_nobody(here: World) -> None:
    seen: list[Work] = []

    def answer(work: Work) -> Outcome:
        seen.append(work)
        return sampled(work)

    await tried(here, answer, items=2)
    spec = seen[0].spec
    assert (spec.sample, spec.webhook, spec.artifacts.screenshots, spec.deadline_s) == (2, None, "none", 90.0)


async def test_a_try_whose_time_is_over_tells_what_there_is_and_ends_its_job(here: World) -> None:
    asked = asyncio.create_task(here.client.post("/v1/jobs:try", json=SPEC, params={"timeout_s": 5}))
    held = []
    while not asked.done():
        for work in await here.claim():
            if work.item is not None and work.item.index == 1:
                held.append(work)  # runs, and does not end until it is told to
            else:
                await here.finish([work], sampled)
        controls = await here.store.job_controls([work.job for work in held])
        for work in list(held):
            if work.job in controls and not controls[work.job].wanted:
                await here.finish([work], lambda one: Outcome(Status.CANCELED))
                held.remove(work)
        await asyncio.sleep(0.02)
    told = (await asked).json()
    assert told["finished"] is False
    assert [one["record"]["name"] for one in told["records"] if one["record"]] == ["Lamp 0"]
    assert await here.store.jobs(JobFilter()) == []


async def test_a_job_that_is_refused_is_refused_as_a_try(here: World) -> None:
    answer = await here.client.post("/v1/jobs:try", json={"url": "https://shop.example/"})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_input")


async def test_a_try_needs_to_read_and_to_submit() -> None:
    async with api_world(auth=True) as here:
        for scopes, status in ((("submit",), 403), (("read",), 403)):
            key = await here.key(*scopes)
            headers = {"Authorization": f"Bearer {key}"}
            answer = await here.client.post("/v1/jobs:try", json=SPEC, headers=headers)
            assert answer.status_code == status


async def test_a_try_counts_towards_the_quota() -> None:
    async with api_world(tenant_queued=1) as here:
        await here.submit()
        answer = await here.client.post("/v1/jobs:try", json=SPEC)
        assert (answer.status_code, answer.json()["code"]) == (429, "quota_exceeded")


async def test_a_place_that_one_page_of_the_sample_does_not_have_is_not_proposed(here: World) -> None:
    def answer(work: Work) -> Outcome:
        done = sampled(work)
        if work.item is None or work.item.index == 0:
            return done
        (task,) = done.tasks
        assert isinstance(task.result, dict)
        places = {"records": None, "fields": {"price": [{"select": ".price"}]}}  # its name stands nowhere by itself
        return replace(done, tasks=(replace(task, result={**task.result, "places": places}),))

    told = await tried(here, answer, items=2)
    assert told["fields"] == {"price": {"select": ".price"}}


async def test_a_loop_without_items_is_told_as_its_error_alone(here: World) -> None:
    error = ErrorInfo("EmptyLoop", "empty_loop", "the loop found no items", False)
    told = await tried(here, lambda work: Outcome(Status.FAILED, error=error))
    assert (told["status"], told["error"]["code"]) == ("failed", "empty_loop")
    assert (told["records"], told["missing"], told["items"]) == ([], {}, None)


async def test_candidates_are_told_with_their_places_where_a_required_field_left_no_record(here: World) -> None:
    """The record was refused, and what the page may state for its field was nowhere."""
    first = {
        "value": "Steel",
        "how": "label",
        "where": "#a",
        "sureness": "weak",
        "why": "several",
        "place": {"select": "#a"},
    }
    candidates = {"upc": [first, first | {"value": "Iron", "place": None}]}

    def refused(work: Work) -> Outcome:
        if work.item is None or work.children is not None:
            return sampled(work)
        task = Task("extract", "read", Status.FAILED, {"candidates": candidates}, "upc is not certain")
        error = ErrorInfo("FieldsMissing", "fields_missing", "upc is not certain", False)
        return Outcome(Status.FAILED, error=error, tasks=(task,))

    told = await tried(here, refused, items=2)
    assert [record["record"] for record in told["records"]] == [None, None]
    assert told["records"][0]["error"]["code"] == "fields_missing"
    assert told["records"][0]["candidates"] == candidates
