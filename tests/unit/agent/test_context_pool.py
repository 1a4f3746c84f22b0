"""Contexts that wait for the next session of their job on their site."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from shoal.agent.chromium.context_pool import ContextPool


@dataclass(eq=False)
class Spare:
    """A context as the pool sees it."""

    usable: bool = True
    ended: bool = False

    async def end(self) -> None:
        self.ended = True


async def test_a_job_with_items_on_many_sites_keeps_spares_of_the_last_of_them() -> None:
    pool: ContextPool[Spare] = ContextPool()
    spares = [Spare() for _ in range(20)]
    for number, spare in enumerate(spares):
        assert pool.take(("job-1", f"{number}.example")) is None
        pool.put(("job-1", f"{number}.example"), spare)
    other = Spare()
    pool.put(("job-2", "a.example"), other)
    assert pool.take(("job-1", "19.example")) is spares[-1]
    assert pool.take(("job-2", "a.example")) is other
    await pool.clear()
    assert [spare.ended for spare in spares] == [True] * 19 + [False]


async def test_a_job_that_goes_to_and_fro_between_sites_uses_each_ones_spare_again() -> None:
    pool: ContextPool[Spare] = ContextPool()
    spares = {site: Spare() for site in ("a.example", "b.example")}
    reused = 0
    for number in range(20):
        site = f"{'ab'[number % 2]}.example"
        reused += pool.take(("job-1", site)) is spares[site]
        pool.put(("job-1", site), spares[site])
    assert reused == 18
    await pool.clear()


async def test_a_job_keeps_no_more_than_a_few_spares_though_none_is_of_its_next_site() -> None:
    pool: ContextPool[Spare] = ContextPool()
    spares = [Spare() for _ in range(8)]
    for number, spare in enumerate(spares):
        pool.put(("job-1", f"{number}.example"), spare)
    await asyncio.sleep(0)
    assert [spare.ended for spare in spares] == [True] * 4 + [False] * 4
    await pool.clear()
