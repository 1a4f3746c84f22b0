"""Finished jobs whose time is over."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import select

from shoal.agent.status import Status
from shoal.agent.types import ArtifactRef
from shoal.services.errors import NotFound, WrongState
from shoal.services.store.database.tables import metadata
from shoal.services.store.jobs import ending, retention
from shoal.services.store.records import JobChanges, JobFilter
from shoal.services.store.store import Store
from tests.store_world import BROKEN, DONE, World, links, loop

S = Status
DAY_S = 86_400.0


async def ended(w: World, n: int = 5, **fields: object) -> int:
    job = await w.submit(**fields)
    (root,) = await w.claim(job=job)
    await w.finish((root, loop(links(n))))
    await w.run_out()
    return job


async def drop_all(w: World, job: int, most: int = 1_000) -> int:
    """Drops what is left of a job; gives how many slices that took."""
    slices, more = 0, True
    while more:
        more = await w.store.drop(job, (await w.store.droppable(job, most)).sessions)
        slices += 1
    return slices


async def rows_left(w: World) -> set[str]:
    """The tables that have any rows."""
    found = await w.store._db.read(
        lambda tx: [table.name for table in metadata.sorted_tables if tx.conn.execute(select(table).limit(1)).first()]
    )
    return set(found)


async def test_a_deleted_job_is_gone_at_once_and_its_rows_go_in_slices(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "_ROWS", 3)
    monkeypatch.setattr(ending, "SLICE", 1)
    asked = {"webhook": {"url": "https://me.example/", "events": ["session.finished"]}, "idempotency_key": "once"}
    job = await w.submit(labels={"a": "b"}, **asked)
    await w.finish((await w.claim_one(), loop(links(4))))
    shot = ArtifactRef("a" * 32, "screenshot", "acme/shot.jpg", "image/jpeg", 10)
    for one in await w.claim():
        await w.finish((one, replace(DONE, artifacts=(shot,))))
    root = await w.claim_one()
    await w.finish((root, DONE))
    seq = (await w.store.events(job=job))[-1].seq
    await w.store.delete(job)

    for call in (
        w.store.job(job),
        w.store.sessions(job),
        w.store.results(job),
        w.store.session(root.work.session),
        w.store.artifact(shot.id),
        w.store.retry(job),
        w.store.delete(job),
    ):
        with pytest.raises(NotFound):
            await call
    assert await w.store.events(job=job) == await w.store.events(tenant="acme") == []
    assert await w.store.jobs(JobFilter(labels={"a": "b"})) == []
    assert await w.store.counts_by_status() == {}
    assert await w.store.expired(0) == [] and await w.store.deleted() == [job]

    again = await w.submit(**asked)
    assert again > job, "its key is free"
    await w.store.cancel(again)
    await w.store.delete(again)
    await drop_all(w, again)

    pieces = []
    while (piece := await w.store.droppable(job, 2)).sessions:
        assert await w.store.deleted() == [job], "the next gateway goes on"
        pieces.append(piece)
        assert await w.store.drop(job, piece.sessions)
    assert [len(piece.sessions) for piece in pieces] == [2, 2, 1]
    assert [one.key for piece in pieces for one in piece.artifacts] == [shot.key]
    assert await drop_all(w, job) > 2, "events and messages too"
    assert await w.store.deleted() == []
    for gone in (w.store.droppable(job), w.store.drop(job, ())):
        with pytest.raises(NotFound):
            await gone
    assert await rows_left(w) == {"domain", "counter", "total"}
    assert (await w.store.job(await w.submit())).id > again
    assert (await w.store.events())[-1].seq > seq


async def test_two_that_drop_a_deleted_job_at_once_remove_each_row_once(w: World) -> None:
    job = await ended(w, 9)
    other = await w.another()
    await w.store.delete(job)

    async def drop(store: Store) -> None:
        try:
            while await store.drop(job, (await store.droppable(job, 2)).sessions):
                pass
        except NotFound:  # the other one was sooner
            pass

    await asyncio.gather(drop(w.store), drop(other))
    assert await rows_left(w) == {"domain", "counter", "total"}


async def test_a_job_that_is_not_over_is_not_deleted(w: World) -> None:
    job, _ = await w.open_loop(3)
    for command in (w.store.pause, w.store.resume, w.store.cancel):
        with pytest.raises(WrongState):
            await w.store.delete(job)
        await command(job)
    await w.store.delete(job)


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
        assert await w.store.expired(None) == [job], "the next gateway goes on"
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
    assert await drop_all(w, job) == 1


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
    def shared_ref(letter: str) -> ArtifactRef:
        return ArtifactRef(letter * 32, "page", "acme/shared.html", "text/html", 1)

    job, other = await w.submit(), await w.submit()
    (root,) = await w.claim(job=job)
    await w.finish((root, loop(links(2))))
    held = await w.claim(job=job)
    await w.finish(
        *((one, replace(DONE, artifacts=(shared_ref(letter),))) for one, letter in zip(held, "ab", strict=True))
    )
    (root,) = await w.claim(job=other)
    await w.finish((root, replace(DONE, artifacts=(shared_ref("c"),))))
    await w.run_out()
    assert await w.store.archived(job, "archive/x") and await w.store.archived(other, "archive/y")
    assert (await w.store.droppable(job, 10)).artifacts == (), "the other job has it too"
    assert not await w.store.drop(other, (root.work.session,))
    assert (await w.store.droppable(job, 2)).artifacts == (), "a session of the next slice has it too"
    assert [one.id[0] for one in (await w.store.droppable(job, 3)).artifacts] == ["a", "b"]


@pytest.mark.parametrize("dropped", [0, 2])
async def test_no_command_changes_an_archived_job(w: World, dropped: int) -> None:
    job, _ = await w.open_loop(3, artifacts={"retention_days": 1})
    some = await w.claim()
    await w.finish((some[0], BROKEN), *((one, DONE) for one in some[1:]))
    await w.run_out()
    w.clock.now += DAY_S + 1
    assert await w.store.archived(job, "archive/x")
    if dropped:
        await w.store.drop(job, (await w.store.droppable(job, dropped)).sessions)
    before = await w.store.job(job)
    for command in (
        w.store.cancel(job),
        w.store.pause(job),
        w.store.resume(job),
        w.store.retry(job),
        w.store.set_concurrency(job, 1),
        w.store.change(job, JobChanges(frozenset({"priority", "deadline_s"}), 5, None, 9.0)),
    ):
        with pytest.raises(WrongState):
            await command
    assert await w.store.job(job) == before
    assert await w.claim() == [] and not (await w.store.run_bulk_operations()).more
