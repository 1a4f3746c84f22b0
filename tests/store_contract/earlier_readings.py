"""Readings of items' pages by the run before, given to the next run where nothing of them is in doubt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import func, select

from shoal.agent.error_info import ErrorInfo
from shoal.agent.status import Status
from shoal.agent.support.web_addresses import page_key
from shoal.agent.types import (
    CarriedOver,
    FieldCandidate,
    FieldSource,
    Incomplete,
    Outcome,
    PageVersion,
    Record,
    Replay,
    Usage,
)
from shoal.services.store.database import tables
from shoal.services.store.ids import session_id
from shoal.services.store.records import Claimed
from tests.store_contract.schedules import pass_hours, put, runs
from tests.store_world import DONE, ERROR, World, links

SKIPPING: dict[str, Any] = {
    **{"loop": {"from": {"select": "a"}}, "extract": {"fields": {"n": {"select": "b"}}}},
    **{"changes": {"skip_unchanged": True}},
}


def read(n: int, *, carried: bool = False, **fields: Any) -> Outcome:
    """Return what item `n` gave, from a known version of its page."""
    version = PageVersion(page_key(links(n + 1)[n].value), links(n + 1)[n].value, '"v"', "", "d")
    record = Record({"n": n}, {"n": FieldSource("selector", "b", True, "certain")}, version=version, tier="http")
    if carried:
        record = replace(record, carried_over=CarriedOver("s1", "not_modified"))
    return Outcome(Status.COMPLETED, (replace(record, **fields),), usage=Usage(carried_over=int(carried)))


async def items_of(w: World, n: int, **spec: Any) -> tuple[int, list[Claimed]]:
    """A job whose loop has `n` items, all of them claimed."""
    job, _ = await w.open_loop(n, **{**SKIPPING, **spec})
    return job, await w.claim(job=job)


async def ran(w: World, *outcomes: Outcome, **spec: Any) -> tuple[int, list[Claimed]]:
    job, items = await items_of(w, len(outcomes), **spec)
    await w.finish(*zip(items, outcomes, strict=True))
    await w.run_out()
    return job, items


async def test_an_item_is_given_what_the_run_before_read_from_its_page(w: World) -> None:
    first, before = await ran(w, read(0), read(1))
    _, items = await items_of(w, 3)
    for item, earlier in zip(items[:2], before, strict=True):
        assert item.work.earlier is not None
        assert item.work.earlier.session == session_id(earlier.work.session)
        assert item.work.earlier.records == read(earlier.work.item.index if earlier.work.item else -1).records
    assert items[2].work.earlier is None, "a new item"
    assert await w.store.previous(items[0].work.job) == first


async def test_what_was_carried_over_is_counted_and_carried_over_again(w: World) -> None:
    await ran(w, read(0))
    job, items = await items_of(w, 1)
    await w.finish((items[0], read(0, carried=True)))
    await w.run_out()
    assert (await w.store.job(job)).usage.carried_over == 1
    _, (item,) = await items_of(w, 1)
    assert item.work.earlier is not None
    assert item.work.earlier.session == session_id(items[0].work.session)
    assert item.work.earlier.records[0].carried_over == CarriedOver("s1", "not_modified")


@pytest.mark.parametrize(
    "doubt",
    [
        DONE,
        Outcome(Status.FAILED, error=ERROR),
        Outcome(Status.UNSURE, read(0).records, error=ErrorInfo("UnsureAction", "unsure_action", "?", False)),
        replace(read(0), rejected=(ERROR,)),
        replace(read(0), incomplete=Incomplete(1, 2)),
        replace(read(0), answer="It is 7."),
        replace(read(0), replay=Replay("shop", 1, True, branches="b")),
        read(0, audit="unclear"),
        read(0, audit="wrong"),
        read(0, candidates={"m": (FieldCandidate(1, "text", "p", "weak", "?"),)}),
        read(0, sources={"n": FieldSource("text", "p", False, "weak")}),
        read(
            0, sources={"n": FieldSource("meta", "p", False, "likely", "structured data and the visible page differ")}
        ),
    ],
)
async def test_a_record_with_any_doubt_is_read_anew(w: World, doubt: Outcome) -> None:
    await ran(w, doubt)
    _, (item,) = await items_of(w, 1)
    assert item.work.earlier is None


@pytest.mark.parametrize(
    "other",
    [
        {"extract": {"fields": {"n": {"select": "i"}}}},
        {"goal": "read something else"},
        {"browser": {"locale": "de-DE"}},
        {"changes": {}},
    ],
)
async def test_a_run_that_reads_otherwise_reads_anew(w: World, other: dict[str, Any]) -> None:
    await ran(w, read(0))
    _, (item,) = await items_of(w, 1, **other)
    assert item.work.earlier is None


async def test_the_second_try_of_an_item_and_pages_of_a_dropped_run_are_read_anew(w: World) -> None:
    first, _ = await ran(w, read(0))
    _, (item,) = await items_of(w, 1)
    await w.finish((item, Outcome(Status.QUEUED)))
    (again,) = await w.claim()
    assert item.work.earlier is not None and again.work.attempt == 2 and again.work.earlier is None
    await w.finish((again, read(0)))
    await w.run_out()
    await w.store.delete(first)
    assert (await w.store.deleted()) == [first]
    while await w.store.drop(first, (await w.store.droppable(first)).sessions):
        pass
    rows = select(func.count()).select_from(tables.kept_page).where(tables.kept_page.c.job == first)
    assert await w.store._db.read(lambda tx: tx.conn.execute(rows).scalar()) == 0


async def test_the_run_before_a_schedules_run_is_one_of_the_same_schedule(w: World) -> None:
    await put(w)
    await pass_hours(w)
    await w.run_out()
    by_hand = await w.submit()
    await w.run_out()
    await pass_hours(w)
    await w.run_out()
    first, second = sorted(run.job for run in await runs(w) if run.job is not None)
    assert first < by_hand < second
    assert await w.store.previous(second) == first
    assert await w.store.previous(by_hand) == first, "of the same work"
    assert await w.store.previous(first) is None
