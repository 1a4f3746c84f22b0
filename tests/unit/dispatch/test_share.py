"""The number of slots that one tenant may hold."""

from __future__ import annotations

import asyncio
from collections import Counter

from shoal.agent.status import Status
from shoal.services.dispatch.config import DispatchConfig
from tests.cluster_world import World, world
from tests.patience import soon
from tests.worker_world import EXTRACT, LOOP, shop

SHARED = DispatchConfig(tenant_share=0.5, drain_s=0.1)


async def most_held(w: World, job: int) -> Counter[str]:
    """The most sessions that each tenant held at once until `job` was final."""
    most = Counter[str]()
    watched = asyncio.ensure_future(w.final(job))
    while not watched.done():
        most |= w.dispatcher._state.held
        await asyncio.sleep(0.005)
    await watched
    return most


async def test_a_tenant_s_sessions_hold_no_more_than_its_share_and_all_of_them_end() -> None:
    async with world(shop(12, seconds=0.05), dispatch=SHARED) as w:
        job = await w.submit(tenant="big", loop=LOOP, extract=EXTRACT)
        most = await most_held(w, job)
        row = await w.store.job(job)
        assert (row.status, row.counts.completed) == (Status.COMPLETED, 12)
        assert most["big"] == 2
        assert not w.dispatcher._state.held


async def test_another_tenant_begins_at_once_whatever_the_first_has_taken() -> None:
    pages = shop(12, seconds=300.0) | {"http://quick.example/": shop(1)["http://shop.example/0"]}
    async with world(pages, dispatch=SHARED) as w:
        hogs = await w.submit(tenant="big", loop=LOOP, extract=EXTRACT)
        await w.running(hogs, 2)
        quick = await w.submit(tenant="small", url="http://quick.example/", extract=EXTRACT)
        async with soon(28):
            assert (await w.final(quick)).status is Status.COMPLETED
        assert (await w.store.job(hogs)).counts.running == 2


async def test_a_weight_that_an_operator_sets_reaches_the_dispatcher_that_runs() -> None:
    config = DispatchConfig(tenant_weights={"big": 2.0, "small": 3.0})
    async with world(shop(1), dispatch=config) as w:

        async def wait_for_weights(weights: dict[str, float]) -> None:
            async with soon(28):
                while [data["weights"] for data, _ in (await w.store.states("dispatcher/")).values()] != [weights]:
                    await asyncio.sleep(0.05)

        await wait_for_weights({"big": 2.0, "small": 3.0})
        await w.store.tenants.change("big", {"weight": 0.5})
        await wait_for_weights({"big": 0.5, "small": 3.0})
        await w.store.tenants.change("big", {"weight": None})
        await wait_for_weights({"big": 2.0, "small": 3.0})


async def test_the_snapshot_names_tenants_at_their_share() -> None:
    async with world(shop(12, seconds=300.0), dispatch=SHARED) as w:
        job = await w.submit(tenant="big", loop=LOOP, extract=EXTRACT)
        await w.running(job, 2)
        async with soon(28):
            while True:
                told = [data for data, _ in (await w.store.states("dispatcher/")).values() if data.get("at_share")]
                if told:
                    break
                await asyncio.sleep(0.05)
        assert told[0]["at_share"] == ["big"]
        assert told[0]["lanes_waiting"].get("share") == 1
