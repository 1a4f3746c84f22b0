"""Queries of a dispatcher to the store for the partitions that need the model server."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NoReturn

import pytest

from shoal.agent.spec import JobSpec
from shoal.services.dispatch.scheduling import model_bound as module
from shoal.services.dispatch.scheduling.fair_queue import FairQueue
from shoal.services.dispatch.scheduling.model_bound import ModelBound
from shoal.services.inference.admission import AdmissionConfig, AdmissionRules
from shoal.services.inference.watch import Admission
from shoal.services.store.records import NewJob
from shoal.services.store.store import open_store
from tests.store_contract.learning import learning_loop, replaying
from tests.store_world import world


async def test_many_jobs_policies_are_learned_by_one_query_and_not_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_REMEMBERED_JOBS", 10)
    store = await open_store("sqlite://")
    its_own, asked = store.policies, list[int]()

    async def policies(jobs: Collection[int]) -> Mapping[int, str]:
        asked.append(len(jobs))
        return await its_own(jobs)

    async def job(number: int) -> NoReturn:
        raise AssertionError("one job is asked for")

    spec = {"url": "http://shop.example/", "extract": {"schema": {"type": "object"}}}
    news = [
        NewJob("t", JobSpec.model_validate(spec | {"policy": "model" if n % 2 else "rules"}), "shop.example")
        for n in range(200)
    ]
    jobs = [one.job for one in await store.submit(news)]
    monkeypatch.setattr(store, "policies", policies)
    monkeypatch.setattr(store, "job", job)
    partitions = FairQueue()
    partitions.add(await store.partitions())
    bound = ModelBound(Admission(AdmissionConfig(("http://model.example/v1",), AdmissionRules(start=5, most=5))), store)

    scarce = await bound.scarce(partitions.jobs, 2)
    assert scarce is not None and scarce.left == 3
    assert {partition.job for partition in partitions if scarce.needs(partition)} == set(jobs[1::2])
    for partition in list(partitions)[20:]:
        partitions.drop(partition.job, partition.domain)
    for _ in range(3):
        await bound.scarce(partitions.jobs, 2)
    assert asked == [200]
    assert len(bound) == 20, "those whose sessions are all claimed are forgotten"
    await store.close()


async def test_items_that_are_replayed_wait_for_no_model_and_those_of_a_loop_that_still_learns_do() -> None:
    rules = AdmissionConfig(("http://model.example/v1",), AdmissionRules(start=5, most=5))
    async with world("sqlite://") as w:
        replayed, _ = await replaying(w, tenant="other")
        learning, _ = await learning_loop(w)
        scarce = await ModelBound(Admission(rules), w.store).scarce({learning, replayed}, 2)
        assert scarce is not None
        needs = {partition.job: scarce.needs(partition) for partition in await w.store.partitions()}
    assert needs == {learning: True, replayed: False}
