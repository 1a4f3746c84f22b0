"""Contexts that wait for the next session of their job on their site."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.agent.chromium.context_pool import ContextPool


@dataclass(eq=False)
class Spare:
    """A context as the pool sees it."""

    usable: bool = True
    ended: bool = False

    async def end(self) -> None:
        self.ended = True


async def test_a_job_with_items_on_many_sites_keeps_one_spare_for_each_session() -> None:
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
