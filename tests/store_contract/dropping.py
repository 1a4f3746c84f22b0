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
    for call in (w.store.droppable(job), w.store.drop(job, ())):
        with pytest.raises(WrongState):
            await call
    w.clock.now += DAY_S + 1
    assert await w.store.archived(job, "archive/x")
    assert not await w.store.archived(job, "archive/y"), "the first one stays"
    pieces, more = [], True
    while more:
        assert await w.store.expired(None) == [job], "whoever comes next goes on"
        pieces.append(await w.store.droppable(job, 2))
        assert await w.store.droppable(job, 2) == pieces[-1], "nothing is gone before it is dropped"
        more = await w.store.drop(job, pieces[-1].sessions)
        assert await w.store.drop(job, pieces[-1].sessions) is more, "twice is no more than once"
    assert [len(piece.sessions) for piece in pieces] == [2, 2, 1]
    assert [one.key for piece in pieces for one in piece.artifacts] == [shot.key]
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


async def test_two_that_drop_a_job_at_once_remove_no_row_whose_bytes_neither_removed(w: World) -> None:
    """The second one's slice was dropped by the first meanwhile: it must not drop the next one in its stead."""
    job = await ended(w, 5)
    await w.store.archived(job, "archive/x")
    first, second = await w.store.droppable(job, 2), await w.store.droppable(job, 2)
    assert await w.store.drop(job, first.sessions)
    assert await w.store.drop(job, second.sessions)
    assert len((await w.store.droppable(job, 10)).sessions) == 4


async def test_bytes_that_others_refer_to_are_left_until_the_last_of_them_is_dropped(w: World) -> None:
    def kept(letter: str) -> ArtifactRef:
        return ArtifactRef(letter * 32, "page", "acme/shared.html", "text/html", 1)

    job, other = await w.submit(), await w.submit()
    (root,) = await w.claim(job=job)
    await w.finish((root, loop(links(2))))
    held = await w.claim(job=job)
    await w.finish(*((one, replace(DONE, artifacts=(kept(letter),))) for one, letter in zip(held, "ab", strict=True)))
    (root,) = await w.claim(job=other)
    await w.finish((root, replace(DONE, artifacts=(kept("c"),))))
    await w.run_out()
    assert await w.store.archived(job, "archive/x") and await w.store.archived(other, "archive/y")
    assert (await w.store.droppable(job, 10)).artifacts == (), "the other job has it too"
    assert not await w.store.drop(other, (root.work.session,))
    assert (await w.store.droppable(job, 2)).artifacts == (), "a session of the next slice has it too"
    assert [one.id[0] for one in (await w.store.droppable(job, 3)).artifacts] == ["a", "b"]
