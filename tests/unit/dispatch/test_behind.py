"""A dispatcher whose commits are behind claims no more, and waits for room without working."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from shoal.agent.status import Status
from shoal.agent.support.moments import loop_time
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.store.records import CommitResult, Finish
from tests.cluster_world import world
from tests.patience import soon
from tests.worker_world import LOOP, shop

ITEMS = 60


async def test_a_claimer_without_room_waits_whatever_pauses_are_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause of a domain that is over asks for a look each time; while nobody may claim, it stays there to be seen."""
    config = DispatchConfig(held_reports=4, per_domain=ITEMS)
    async with world(shop(ITEMS), slots=4, dispatch=config) as w:
        state, claimer, write = w.dispatcher._state, w.dispatcher._claimer, w.store.finish
        looks: list[None] = []
        goes_on = asyncio.Event()

        async def finish(group: Sequence[Finish], *, per_domain: int | None = None) -> CommitResult:
            if len(state.leases) > 1:  # a loop's items, not the session that found them
                await goes_on.wait()
            return await write(group, per_domain=per_domain)

        once = claimer.claim_once

        async def claim_once() -> bool:
            looks.append(None)
            return await once()

        monkeypatch.setattr(w.store, "finish", finish)
        monkeypatch.setattr(claimer, "claim_once", claim_once)
        job = await w.submit(loop=LOOP, extract={"schema": {"type": "object", "properties": {}}})
        async with soon(28):
            while state.signals.takes_reports:
                await asyncio.sleep(0.01)
            state.domains.started(7_777, 7_777, 0.01, loop_time())
            while state.domains.next_change(loop_time()) != 0:
                await asyncio.sleep(0.01)
        state.signals.sessions_ready()
        looks.clear()
        for _ in range(500):
            await asyncio.sleep(0)
        assert len(looks) <= 5, "it looks again and again, and keeps the commits from their work"

        state.signals._claimable.clear()
        goes_on.set()
        done = await w.final(job)
        assert (done.status, done.counts.completed) == (Status.COMPLETED, ITEMS)
