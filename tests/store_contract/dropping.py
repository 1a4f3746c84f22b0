"""Finished jobs whose time is over."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.status import Status
from agent.types import ArtifactRef
from services.errors import NotFound, WrongState
from tests.store_world import BROKEN, DONE, World, links, loop

S = Status
DAY_S = 86_400.0


async def ended(w: World, n: int = 5, **fields: object) -> int:
    job = await w.submit(**fields)
    (root,) = await w.claim(job=job)
    await w.finish((root, loop(links(n))))
    await w.run_out()
    return job


async def test_a_job_expires_by_its_own_days_or_else_by_the_operator_s(w: World) -> None:
    short = await ended(w, artifacts={"retention_days": 1})
    plain = await ended(w)
    assert await w.store.expired(None) == []
    w.clock.now += DAY_S + 1
    assert await w.store.expired(None) == [short]
    assert await w.store.expired(2) == [short]
    w.clock.now += 2 * DAY_S
    assert await w.store.expired(2) == [short, plain]


async def test_an_archived_job_is_dropped_in_slices_and_its_row_stays(w: World) -> None:
    job = await w.submit(artifacts={"retention_days": 1})
    await w.finish((await w.claim_one(), loop(links(4))))
    shot = ArtifactRef("a" * 32, "screenshot", "acme/shot.jpg", "image/jpeg", 10)
    held = await w.claim()
    await w.finish((held[0], replace(DONE, artifacts=(shot,))), *((one, DONE) for one in held[1:]))
    await w.run_out()
    with pytest.raises(WrongState):
        await w.store.drop(job)
    w.clock.now += DAY_S + 1
    assert await w.store.archived(job, "archive/x")
    assert not await w.store.archived(job, "archive/y"), "the first one stays"
    dropped = []
    while (piece := await w.store.drop(job, 2)).more:
        dropped.append(piece)
        assert await w.store.expired(None) == [job], "whoever comes next goes on"
    assert sum(piece.sessions for piece in dropped) == 5
    assert [one.key for piece in dropped for one in piece.artifacts] == [shot.key]
    row = await w.store.job(job)
    assert (row.archive, row.status, row.counts.completed) == ("archive/x", S.COMPLETED, 4)
    assert await w.store.expired(0) == [] and await w.store.events(job=job) == []
    with pytest.raises(NotFound):
        await w.store.session(row.root_session)
    with pytest.raises(WrongState):
        await w.store.retry(job)
    await w.store.delete(job)


async def test_a_job_that_was_retried_in_time_is_kept(w: World) -> None:
    job = await w.submit(artifacts={"retention_days": 1})
    await w.finish((await w.claim_one(), BROKEN))
    w.clock.now += DAY_S + 1
    await w.store.retry(job)
    assert await w.store.expired(0.5) == []
    with pytest.raises(WrongState):
        await w.store.archived(job, "archive/x")
