"""Every session that waits says for what, and about how long."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families

from shoal.agent.error_info import ErrorInfo
from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.services.store.records import Finish
from tests.gateway_world import World, api_world, completed, fan_out

BUSY = {"slots": 4, "busy": 4, "rate": 2.0, "tenants": {"default": 1}, "weights": {}, "workers": []}


@pytest_asyncio.fixture
async def here() -> AsyncIterator[World]:
    async with api_world() as made:
        yield made


async def tell(here: World, **figures: Any) -> None:
    """Set what the dispatcher says about itself."""
    await here.store.put_state("dispatcher/main", {**BUSY, **figures})


async def waits(here: World, job: str, **query: Any) -> list[tuple[str, float | None, str]]:
    """Cause, estimate and words of each session of a job that waits."""
    page = (await here.client.get(f"/v1/jobs/{job}/sessions", params=query)).json()["sessions"]
    return [(s["waiting"]["cause"], s["waiting"]["for_s"], s["waiting_for"]) for s in page if s["waiting"]]


async def partition_of(here: World, nth: int) -> str:
    """The number of the job of one of the partitions, as snapshots write it."""
    return str(sorted(partition.job for partition in await here.store.partitions())[nth])


async def loop(here: World, values: list[str], **spec: Any) -> str:
    """A job whose root session has become a loop."""
    job = await here.submit(loop={"values": values, **spec})
    await here.finish(await here.claim(), lambda work: fan_out(values))
    return job


async def test_without_a_dispatcher_that_is_what_is_waited_for(here: World) -> None:
    job = await here.submit()
    assert await waits(here, job) == [("dispatcher", None, "a dispatcher: none is running")]
    await tell(here, slots=0, busy=0)
    assert await waits(here, job) == [("worker", None, "a browser worker: none is running")]


async def test_behind_busy_slots_the_estimate_grows_with_the_sessions_before(here: World) -> None:
    job = await loop(here, ["a", "b", "c"])
    await tell(here)
    root, *items = await waits(here, job)
    assert root == ("children", 1.5, "the items of its loop: 3 to go")
    assert [(cause, for_s) for cause, for_s, _ in items] == [("slot", 0.5), ("slot", 1.0), ("slot", 1.5)]
    assert items[2][2] == "a free slot: 4 are busy (2 of its job are before it)"
    await tell(here, busy=1)
    assert [cause for cause, _, _ in await waits(here, job, status="queued")] == ["turn", "turn", "turn"]


async def test_a_tenant_with_less_weight_and_more_jobs_waits_longer(here: World) -> None:
    job = await here.submit()
    await tell(here, tenants={"default": 2, "big": 1}, weights={"big": 3.0})
    ((cause, for_s, _),) = await waits(here, job)
    assert (cause, for_s) == ("slot", pytest.approx(4.0))  # a quarter of 2/s, split over two jobs


async def test_a_tenant_that_holds_its_share_is_told_so_though_slots_are_free(here: World) -> None:
    job = await here.submit()
    await tell(here, busy=2, at_share=["default"])
    ((cause, _, words),) = await waits(here, job)
    assert (cause, words) == ("share", "the tenant's share of the slots")
    await tell(here, busy=2, at_share=["other"], lanes_waiting={"share": 1, "slot": 1})
    assert [cause for cause, *_ in await waits(here, job)] == ["turn"]


@pytest.mark.parametrize(
    ("why", "cause"),
    [("the site asked for a pause", "domain_pause"), ("domain limit", "domain_limit")],
)
async def test_a_site_that_is_held_back_is_named(here: World, why: str, cause: str) -> None:
    job, other = await here.submit(), await here.submit()
    await tell(here, busy=0, held={await partition_of(here, 0): {"shop.example": [why, 30.0]}})
    assert await waits(here, job) == [(cause, pytest.approx(30.5), f"shop.example: {why}")]
    assert [cause for cause, _, _ in await waits(here, other)] == ["turn"], "another job's delay is not its own"


async def test_the_model_server_is_named_to_those_who_wait_for_it(here: World) -> None:
    job, other = await here.submit(), await here.submit()
    held = {await partition_of(here, 0): {"shop.example": ["the model server", 0]}}
    await tell(
        here,
        lanes_waiting={"the model server": 1, "a free slot": 1},
        lanes_held={"the model server": [[0, 0]]},
        held=held,
    )
    assert [(cause, words) for cause, _, words in await waits(here, job)] == [("model", "the model server")]
    assert [cause for cause, _, _ in await waits(here, other)] == ["slot"]


@pytest.mark.parametrize(("why", "cause"), [("the model server", "model"), ("domain limit", "domain_limit")])
async def test_where_not_all_are_named_nobody_is_told_that_it_is_its_turn(here: World, why: str, cause: str) -> None:
    job = await here.submit()
    await tell(here, busy=0, lanes_waiting={why: 3}, lanes_held={why: [[1_000, 1]]})
    ((told, _, words),) = await waits(here, job)
    assert (told, words) == (cause, f"{why}, probably")


async def test_retry_time_concurrency_and_pause_are_told(here: World) -> None:
    job = await loop(here, ["a", "b", "c"], concurrency=1)
    await tell(here)
    (held,) = await here.claim()
    error = ErrorInfo("Busy", "busy", "later", retryable=True)
    await here.store.finish([Finish(held.session, held.fence, Outcome(Status.QUEUED, error=error), ready_in_s=90.0)])
    _, retried, second, third = await waits(here, job)
    assert retried[0] == "retry_time" and retried[1] == pytest.approx(90, abs=5) and "number 2" in retried[2]
    assert second[0] == third[0] == "concurrency" and "1 at once" in second[2]
    await here.client.post(f"/v1/jobs/{job}/pause")
    assert {cause for cause, _, _ in await waits(here, job, status="paused")} == {"paused"}


@pytest.mark.parametrize("ahead_s", [600, -600])
async def test_a_pause_is_told_by_the_store_s_clock_and_not_by_the_gateway_s(ahead_s: float) -> None:
    async with api_world(clock=lambda: time.time() - ahead_s) as made:
        job = await made.submit()
        await tell(made)
        (held,) = await made.claim()
        error = ErrorInfo("Busy", "busy", "later", retryable=True)
        again = Finish(held.session, held.fence, Outcome(Status.QUEUED, error=error), ready_in_s=90.0)
        await made.store.finish([again])
        ((cause, for_s, _),) = await waits(made, job)
        assert (cause, for_s) == ("retry_time", pytest.approx(90, abs=5))


async def counted(here: World) -> dict[str, float]:
    """Sessions that wait, by cause, as a scrape tells them; without zeros."""
    text = (await here.client.get("/metrics")).text
    (family,) = [one for one in text_string_to_metric_families(text) if one.name == "shoal_sessions_waiting"]
    return {sample.labels["cause"]: sample.value for sample in family.samples if sample.value}


async def test_a_scrape_counts_sessions_by_what_they_wait_for(here: World) -> None:
    values = [f"http://{host}.example/{n}" for host in ("a", "b") for n in range(3)]
    await loop(here, values, is_link=True, concurrency=5)
    paused = await here.submit()
    await here.client.post(f"/v1/jobs/{paused}/pause")
    always = {"children": 1.0, "concurrency": 1.0, "paused": 1.0}
    assert await counted(here) == {**always, "dispatcher": 5}
    await tell(here, slots=0, busy=0)
    assert await counted(here) == {**always, "worker": 5}
    await tell(here)
    assert await counted(here) == {**always, "slot": 5}
    partitions = {partition.host: [partition.job, partition.domain] for partition in await here.store.partitions()}
    await tell(here, busy=1, lanes_held={"the site asked for a pause": [partitions["a.example"]]})
    assert await counted(here) == {**always, "domain_pause": 3, "turn": 2}
    await tell(
        here, lanes_held={"the model server": [partitions["a.example"]], "domain limit": [partitions["b.example"]]}
    )
    assert await counted(here) == {**always, "model": 3, "domain_limit": 2}
    held, *_ = await here.claim()
    error = ErrorInfo("Busy", "busy", "later", retryable=True)
    await here.store.finish([Finish(held.session, held.fence, Outcome(Status.QUEUED, error=error), ready_in_s=90.0)])
    assert (await counted(here))["retry_time"] == 1


async def test_a_job_that_was_measured_is_estimated_by_its_own_rate(here: World) -> None:
    values = [str(n) for n in range(12)]
    job = await loop(here, values)
    await tell(here)
    held = await here.claim()
    await here.finish(held[:6], lambda work: completed())
    await here.store.expire_leases(owner="w1")
    items = [wait for wait in await waits(here, job) if wait[0] == "slot"]
    assert len(items) == 6
    assert items[0][1] is not None and items[5][1] == pytest.approx(6 * items[0][1], rel=0.3)


async def test_one_session_and_the_whole_cluster_say_the_same(here: World) -> None:
    job = await here.submit()
    await tell(here, lanes_waiting={"a free slot": 1, "domain limit": 2})
    (session,) = (await here.client.get(f"/v1/jobs/{job}/sessions")).json()["sessions"]
    assert (await here.client.get(f"/v1/sessions/{session['id']}")).json()["waiting"]["cause"] == "slot"
    status = (await here.client.get("/v1/status")).json()
    assert status["queues"] == {"slot": 1, "domain_limit": 2}
    assert (status["rate"], status["drained_in_s"]) == (2.0, 0.5)
    await here.run(lambda work: completed())
    assert (await here.client.get(f"/v1/sessions/{session['id']}")).json()["waiting"] is None


async def test_a_loop_whose_item_is_put_off_waits_at_least_as_long(here: World) -> None:
    """The site asked for an hour; the rate of other jobs says nothing about that."""
    job = await loop(here, ["a"])
    await tell(here, busy=0)
    (root,) = [told for told in await waits(here, job) if told[0] == "children"]
    assert root[1] == 0.5, "by the rate alone"
    (item,) = await here.claim()
    error = ErrorInfo("Busy", "busy", "later", retryable=True)
    again = Finish(item.session, item.fence, Outcome(Status.QUEUED, error=error), ready_in_s=3600.0)
    await here.store.finish([again])
    root, item_waits = await waits(here, job)
    assert item_waits[:2] == ("retry_time", pytest.approx(3600, abs=5))
    assert root[:2] == ("children", pytest.approx(3600, abs=5))
