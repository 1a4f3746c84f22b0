"""Submissions and tenants."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from shoal.agent.status import Status
from shoal.services.errors import BadInput, KeyReused, NotFound
from shoal.services.events import JobEvent
from shoal.services.store.records import JobFilter, NewJob
from tests.store_world import World, spec

S = Status


async def test_a_submitted_job_is_queued_with_its_root_session(w: World) -> None:
    job = await w.submit(labels={"team": "a"})
    row = await w.store.job(job)
    assert (row.status, row.tenant, row.counts.expected, row.counts.final) == (S.QUEUED, "acme", 1, 0)
    assert row.spec == spec(labels={"team": "a"})
    assert row.created_at.timestamp() == w.clock.now and row.started_at is None and row.finished_at is None
    root = (await w.store.session(row.root_session)).row
    assert (root.job, root.status, root.depth, root.parent, root.domain) == (job, S.QUEUED, 0, None, "shop.example")
    assert root.waiting_for
    (event,) = await w.store.events()
    assert (event.name, event.job, event.tenant, event.data["url"]) == (
        JobEvent.SUBMITTED,
        job,
        "acme",
        "https://shop.example/",
    )


async def test_the_same_key_and_spec_give_the_same_job(w: World) -> None:
    new = NewJob("acme", spec(idempotency_key="k"), "shop.example", submitted_by="Ada")
    (first,) = await w.store.submit([new])
    assert (await w.store.job(first.job)).submitted_by == "Ada"
    (second,) = await w.store.submit([new])
    assert first.created and not second.created and first.job == second.job
    (foreign,) = await w.store.submit([NewJob("other", spec(idempotency_key="k"), "shop.example")])
    assert foreign.created and (await w.store.job(foreign.job)).submitted_by is None
    one, two = await w.store.submit([NewJob("acme", spec(idempotency_key="n"), "shop.example")] * 2)
    assert one.created and not two.created and one.job == two.job
    assert len(await w.store.jobs(JobFilter())) == 3


async def test_keys_that_stand_for_a_job_are_told_from_others_and_from_other_tenants(w: World) -> None:
    await w.submit(idempotency_key="mine")
    await w.submit("other", idempotency_key="theirs")
    asked = {"mine", "theirs", *(f"k{n}" for n in range(1_200))}
    assert await w.store.used_keys("acme", asked) == {"mine"}
    assert await w.store.used_keys("acme", ()) == frozenset()


async def test_a_key_with_another_spec_is_refused_and_nothing_of_its_call_is_stored(w: World) -> None:
    job = await w.submit(idempotency_key="k")
    with pytest.raises(KeyReused) as caught:
        await w.store.submit(
            [
                NewJob("acme", spec(goal="fine"), "shop.example"),
                NewJob("acme", spec(goal="another", idempotency_key="k"), "shop.example"),
            ]
        )
    assert caught.value.details["job"] == job
    assert [row.id for row in await w.store.jobs(JobFilter())] == [job]


async def test_submissions_at_once_share_a_transaction_and_keep_their_own_results(w: World) -> None:
    await w.submit(idempotency_key="taken")
    calls: list[Any] = [
        w.store.submit([NewJob("acme", spec(goal=f"g{i}"), f"h{i % 7}.example")] * (1 + i % 3)) for i in range(50)
    ]
    calls.append(w.store.submit([NewJob("acme", spec(goal="x", idempotency_key="taken"), "shop.example")]))
    *done, refused = await asyncio.gather(*calls, return_exceptions=True)
    assert isinstance(refused, KeyReused)
    ids = [one.job for call in done for one in call]
    assert [len(call) for call in done] == [1 + i % 3 for i in range(50)]
    assert len(set(ids)) == len(ids)
    for index, call in enumerate(done):
        for one in call:
            assert (await w.store.job(one.job)).spec.goal == f"g{index}"


async def test_two_gateways_that_submit_the_same_key_at_once_get_one_job(w: World) -> None:
    other = await w.another()
    for round_ in range(5):
        new = NewJob("acme", spec(idempotency_key=f"k{round_}"), "shop.example")
        one, two = await asyncio.gather(w.store.submit([new]), other.submit([new]))
        assert one[0].job == two[0].job
        assert sorted([one[0].created, two[0].created]) == [False, True]


async def test_text_that_no_database_can_hold_is_refused_by_place(w: World) -> None:
    with pytest.raises(BadInput) as caught:
        await w.store.submit([NewJob("acme", spec(labels={"a": "x\0"}), "shop.example")])
    assert caught.value.details["errors"][0]["place"] == "labels/a"  # type: ignore[index]


async def test_another_tenants_things_do_not_exist(w: World) -> None:
    job = await w.submit()
    session = (await w.store.job(job)).root_session
    for call in (
        w.store.job(job, tenant="other"),
        w.store.session(session, tenant="other"),
        w.store.cancel(job, tenant="other"),
        w.store.pause(job, tenant="other"),
        w.store.resume(job, tenant="other"),
        w.store.retry(job, tenant="other"),
        w.store.delete(job, tenant="other"),
        w.store.artifact("0" * 32, tenant="other"),
        w.store.job(job + 1),
        w.store.session(session + 1),
        w.store.sessions(job + 1),
        w.store.results(job + 1),
    ):
        with pytest.raises(NotFound):
            await call
    assert await w.store.events(tenant="other") == []
    assert (await w.store.job(job, tenant="acme")).status is S.QUEUED
