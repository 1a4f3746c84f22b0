"""A running dispatcher takes what an operator sets for a site within seconds."""

from __future__ import annotations

import asyncio

from shoal.agent.status import Status
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.status.site_rates import SPAN_S, SiteRates
from shoal.services.store.records import SiteChanges
from shoal.services.store.waiting_causes import WaitingCause
from tests.cluster_world import world
from tests.patience import soon
from tests.store_world import BROKEN, DONE
from tests.worker_world import EXTRACT, LOOP, shop

SITE = "shop.example"


def paused(lasts_s: float | None) -> SiteChanges:
    return SiteChanges(frozenset({"pause_s"}), pause_s=lasts_s)


async def test_a_pause_is_kept_told_and_lifted() -> None:
    async with world(shop(12)) as w:
        await w.store.sites.change(SITE, paused(None))
        job = await w.submit(loop=LOOP, extract=EXTRACT)

        async def waiting_causes() -> list[str]:
            state = await w.store.states("dispatcher/")
            return [cause for snapshot, _ in state.values() for cause in snapshot["lanes_waiting"]]

        async with soon(28):
            while WaitingCause.SITE_PAUSED not in await waiting_causes():
                await asyncio.sleep(0.1)
        assert (await w.store.job(job)).started_at is None
        await w.store.sites.change(SITE, paused(0))
        assert (await w.final(job)).status is Status.COMPLETED


async def test_a_raised_limit_is_used_by_the_dispatcher_that_runs() -> None:
    async with world(shop(24, seconds=0.3), slots=8, dispatch=DispatchConfig(per_domain=1)) as w:
        job = await w.submit(loop=LOOP, extract=EXTRACT)
        await w.running(job, 1)
        await w.store.sites.change(SITE, SiteChanges(frozenset({"most"}), most=6))
        await w.running(job, 5)
        await w.store.sites.change(SITE, SiteChanges(frozenset({"most"}), most=1))
        await w.until(job, lambda row: row.counts.running <= 1 or row.status in (Status.COMPLETED, Status.FAILED))
        assert (await w.final(job)).counts.completed == 24
        assert w.browsers[0].most_open <= 6


def test_rates_forget_what_is_long_ago() -> None:
    rates = SiteRates()
    rates.note(1, DONE, 0.0)
    rates.note(1, BROKEN, 10.0)
    rates.note(2, DONE, SPAN_S)
    assert rates.snapshot(SPAN_S) == {"1": (2, 1, 0), "2": (1, 0, 0)}
    assert rates.snapshot(2 * SPAN_S + 1) == {}
