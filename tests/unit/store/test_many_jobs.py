"""Thousands of small jobs at once cost no statement each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import event

from agent.status import Status
from services.store.cache import Recent
from services.store.records import Finish
from tests.store_world import DONE, World, world


@contextmanager
def counted(w: World) -> Iterator[list[str]]:
    """The statements that the store sends; one for many rows counts once."""
    said: list[str] = []

    def note(conn: object, cursor: object, statement: str, *more: object) -> None:
        said.append(statement)

    engine = w.store._db.writer
    event.listen(engine, "before_cursor_execute", note)
    yield said
    event.remove(engine, "before_cursor_execute", note)


async def statements(n: int) -> dict[str, int]:
    """How many it takes to claim, to look after and to end the sessions of `n` jobs, of which the store remembers 5."""
    async with world("sqlite://") as w:
        w.store._db.caches.specs = Recent(5)
        jobs = [await w.submit() for _ in range(n)]
        with counted(w) as claiming:
            held = await w.claim(1)
        with counted(w) as looking:
            assert (await w.store.standings(jobs)).keys() == set(jobs)
        with counted(w) as ending:
            await w.store.finish([Finish(one.work.session, one.work.fence, DONE) for one in held])
        assert [(await w.store.job(job)).status for job in jobs] == [Status.COMPLETED] * n
        return {"claim": len(claiming), "look after": len(looking), "end": len(ending)}


@pytest.mark.parametrize("what", ["claim", "look after", "end"])
async def test_more_jobs_take_no_more_statements(what: str) -> None:
    assert (await statements(40))[what] <= (await statements(10))[what]
