"""Reports on their way to the store."""

from __future__ import annotations

import asyncio

import pytest

from agent.errors import Canceled
from agent.packed import PART, unpack_items
from agent.status import Status
from agent.types import Checkpoint, LoopItem, Outcome
from agent.work import Report
from services.browsers.journal import Outbox, SessionJournal

DONE = Outcome(Status.COMPLETED)


async def test_a_report_is_given_again_until_it_is_committed() -> None:
    outbox = Outbox()
    outbox.put(Report(1, 1, DONE))

    first = await outbox.pull(0, 1)
    again = await outbox.pull(0, 1)  # a new dispatcher, that knows nothing

    assert [r.serial for r in first] == [r.serial for r in again] == [1]
    outbox.confirm(1, frozenset())
    assert len(outbox) == 0


async def test_a_pull_gives_only_what_it_has_not_seen_and_waits_for_it() -> None:
    outbox = Outbox()
    outbox.put(Report(1, 1, DONE))
    pull = asyncio.create_task(outbox.pull(1, 5))
    await asyncio.sleep(0)
    assert not pull.done()

    outbox.put(Report(2, 1, DONE))
    assert [r.session for r in await pull] == [2]


async def test_a_pull_ends_without_news() -> None:
    assert await Outbox().pull(0, 0.01) == []


async def test_a_durable_checkpoint_returns_only_when_the_store_has_it() -> None:
    outbox = Outbox()
    journal = SessionJournal(outbox, 1, 1)
    writing = asyncio.create_task(journal.checkpoint(Checkpoint(), durable=True))
    (report,) = await outbox.pull(0, 1)
    assert report.wants_ack
    assert not writing.done()

    outbox.confirm(report.serial, frozenset())
    await writing


async def test_a_refused_checkpoint_stops_the_session() -> None:
    outbox = Outbox()
    writing = asyncio.create_task(SessionJournal(outbox, 1, 1).checkpoint(Checkpoint(), durable=True))
    (report,) = await outbox.pull(0, 1)

    outbox.confirm(report.serial, frozenset({report.serial}))
    with pytest.raises(Canceled):
        await writing


async def test_items_of_a_loop_are_packed_and_waited_for() -> None:
    outbox = Outbox()
    items = [LoopItem(i, f"https://shop.example/{i}", is_link=True, label="a \ud83d") for i in range(5, 2 * PART)]
    handing = asyncio.create_task(SessionJournal(outbox, 1, 1).items(5, items))
    (report,) = await outbox.pull(0, 1)
    assert report.items is not None and report.wants_ack and not handing.done()
    assert (report.items.at, report.items.n) == (5, len(items))
    assert [part.n for part in report.items.parts] == [PART, PART - 5]
    assert [item for part in report.items.parts for item in unpack_items(part.data)] == items

    outbox.confirm(report.serial, frozenset())
    await handing


async def test_other_checkpoints_wait_for_nobody() -> None:
    outbox = Outbox()
    await SessionJournal(outbox, 1, 1).checkpoint(Checkpoint(), durable=False)
    assert len(outbox) == 1


async def test_a_pull_waits_for_company_while_the_worker_has_work() -> None:
    outbox = Outbox()
    slow = Outcome(Status.COMPLETED, seconds=1000.0)
    outbox.put(Report(1, 1, slow))
    pull = asyncio.create_task(outbox.pull(1, 5))
    await asyncio.sleep(0)

    outbox.put(Report(2, 1, slow))
    await asyncio.sleep(0)
    outbox.put(Report(3, 1, slow))
    assert [r.session for r in await pull] == [2, 3]


async def test_a_worker_that_runs_dry_is_pulled_at_once() -> None:
    dry = False
    outbox = Outbox(lambda: dry)
    slow = Outcome(Status.COMPLETED, seconds=1000.0)
    outbox.put(Report(1, 1, slow))
    pull = asyncio.create_task(outbox.pull(1, 5))
    await asyncio.sleep(0)

    dry = True
    outbox.put(Report(2, 1, slow))
    for _ in range(5):
        await asyncio.sleep(0)
    assert pull.done()


async def test_a_newer_checkpoint_replaces_one_that_was_not_pulled_yet() -> None:
    """While nobody pulls, each session keeps one; what the store may have, or waits for, stays as it is."""
    outbox = Outbox()
    journal, other = SessionJournal(outbox, 1, 1), SessionJournal(outbox, 1, 2)
    for bid in ("a", "b", "c"):
        await journal.checkpoint(Checkpoint(url=bid), durable=False)
    await other.checkpoint(Checkpoint(url="another attempt"), durable=False)
    outbox.put(Report(2, 1, DONE))

    first = await outbox.pull(0, 1)
    assert [report.checkpoint.url for report in first if report.checkpoint] == ["c", "another attempt"]
    await journal.checkpoint(Checkpoint(url="d"), durable=False)
    durable = asyncio.create_task(journal.checkpoint(Checkpoint(url="e"), durable=True))
    await asyncio.sleep(0)
    await journal.checkpoint(Checkpoint(url="f"), durable=False)
    again = await outbox.pull(0, 1)  # a successor, which saw nothing
    assert [report.checkpoint.url for report in again if report.checkpoint] == ["c", "another attempt", "e", "f"]
    assert [report.serial for report in again] == sorted(report.serial for report in again)

    outbox.confirm(first[-1].serial, frozenset())
    assert [report.checkpoint and report.checkpoint.url for report in await outbox.pull(0, 1)] == ["e", "f"]
    outbox.confirm(again[-1].serial, frozenset())
    await durable
    assert len(outbox) == 0
