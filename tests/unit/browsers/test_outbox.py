"""Reports on their way to the store."""

from __future__ import annotations

import asyncio

import pytest

from shoal.agent.compressed_items import PART, decompress_items
from shoal.agent.errors import Canceled
from shoal.agent.status import Status
from shoal.agent.types import Checkpoint, LoopItem, Outcome, Record
from shoal.agent.worker_messages import Report
from shoal.services.browsers.reports.outbox import Outbox, SessionJournal
from shoal.services.browsers.reports.report_batch import ReportBatch

DONE = Outcome(Status.COMPLETED)


async def test_a_report_is_given_again_until_it_is_committed() -> None:
    outbox = Outbox()
    outbox.put(Report(1, 1, DONE))

    first = (await outbox.pull(0, 1)).reports()
    again = (await outbox.pull(0, 1)).reports()  # a new dispatcher, that knows nothing

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
    assert [r.session for r in (await pull).reports()] == [2]


async def test_a_pull_ends_without_news() -> None:
    assert (await Outbox().pull(0, 0.01)).reports() == []


async def test_a_durable_checkpoint_returns_only_when_the_store_has_it() -> None:
    outbox = Outbox()
    journal = SessionJournal(outbox, 1, 1, 7)
    writing = asyncio.create_task(journal.checkpoint(Checkpoint(), durable=True))
    (report,) = (await outbox.pull(0, 1)).reports()
    assert report.wants_ack
    assert not writing.done()

    outbox.confirm(report.serial, frozenset())
    await writing


async def test_a_refused_checkpoint_stops_the_session() -> None:
    outbox = Outbox()
    writing = asyncio.create_task(SessionJournal(outbox, 1, 1, 7).checkpoint(Checkpoint(), durable=True))
    (report,) = (await outbox.pull(0, 1)).reports()

    outbox.confirm(report.serial, frozenset({report.serial}))
    with pytest.raises(Canceled):
        await writing


async def test_items_of_a_loop_are_packed_and_waited_for() -> None:
    outbox = Outbox()
    items = [LoopItem(i, f"https://shop.example/{i}", is_link=True, label="a \ud83d") for i in range(5, 2 * PART)]
    handing = asyncio.create_task(SessionJournal(outbox, 1, 1, 7).items(5, items))
    (report,) = (await outbox.pull(0, 1)).reports()
    assert report.items is not None and report.wants_ack and not handing.done()
    assert (report.items.at, report.items.n) == (5, len(items))
    assert [part.n for part in report.items.parts] == [PART, PART - 5]
    assert [item for part in report.items.parts for item in decompress_items(part.data)] == items

    outbox.confirm(report.serial, frozenset())
    await handing


async def test_other_checkpoints_wait_for_nobody() -> None:
    outbox = Outbox()
    await SessionJournal(outbox, 1, 1, 7).checkpoint(Checkpoint(), durable=False)
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
    assert [r.session for r in (await pull).reports()] == [2, 3]


async def test_reports_that_came_while_a_pull_was_under_way_wait_for_company_too() -> None:
    outbox = Outbox()
    slow = Outcome(Status.COMPLETED, seconds=1000.0)
    outbox.put(Report(1, 1, slow))
    assert len((await outbox.pull(0, 5)).sizes) == 1
    outbox.put(Report(2, 1, slow))
    pull = asyncio.create_task(outbox.pull(1, 5))
    await asyncio.sleep(0)
    outbox.put(Report(3, 1, slow))
    assert [r.session for r in (await pull).reports()] == [2, 3]


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
    journal, other = SessionJournal(outbox, 1, 1, 7), SessionJournal(outbox, 1, 2, 7)
    for bid in ("a", "b", "c"):
        await journal.checkpoint(Checkpoint(url=bid), durable=False)
    await other.checkpoint(Checkpoint(url="another attempt"), durable=False)
    outbox.put(Report(2, 1, DONE))

    first = (await outbox.pull(0, 1)).reports()
    assert [report.checkpoint.url for report in first if report.checkpoint] == ["c", "another attempt"]
    await journal.checkpoint(Checkpoint(url="d"), durable=False)
    durable = asyncio.create_task(journal.checkpoint(Checkpoint(url="e"), durable=True))
    await asyncio.sleep(0)
    await journal.checkpoint(Checkpoint(url="f"), durable=False)
    again = (await outbox.pull(0, 1)).reports()  # a successor, which saw nothing
    assert [report.checkpoint.url for report in again if report.checkpoint] == ["c", "another attempt", "e", "f"]
    assert [report.serial for report in again] == sorted(report.serial for report in again)

    outbox.confirm(first[-1].serial, frozenset())
    assert [report.checkpoint and report.checkpoint.url for report in (await outbox.pull(0, 1)).reports()] == ["e", "f"]
    outbox.confirm(again[-1].serial, frozenset())
    await durable
    assert len(outbox) == 0


def texts(parcel: ReportBatch) -> list[str]:
    """Return what the records of a pull begin with."""
    return [report.outcome.records[0].value[:1] for report in parcel.reports() if report.outcome]


def large(n: int, size: int = 10_000) -> Report:
    """A report with a record of so many bytes that begins with a digit."""
    return Report(n, 1, Outcome(Status.COMPLETED, records=(Record(str(n).ljust(size, ".")),)))


async def test_a_pull_brings_no_more_bytes_than_are_asked_for_and_the_next_one_the_rest() -> None:
    outbox = Outbox()
    for n in range(5):
        outbox.put(large(n))

    first = await outbox.pull(0, 1, 25_000)
    assert texts(first) == ["0", "1"] and sum(first.sizes) == len(first.packed) <= 25_000
    outbox.confirm(2, frozenset())
    assert texts(await outbox.pull(2, 1, 25_000)) == ["2", "3"]
    assert texts(await outbox.pull(2, 1)) == ["2", "3", "4"], "a successor, which allows more"
    assert texts(await outbox.pull(4, 1, 25_000)) == ["4"]


async def test_a_report_that_is_larger_than_a_pull_comes_alone() -> None:
    outbox = Outbox()
    for n, size in enumerate((10, 50_000, 10)):
        outbox.put(large(n, size))
    assert [texts(await outbox.pull(seen, 1, 25_000)) for seen in range(3)] == [["0"], ["1"], ["2"]]


async def test_a_checkpoint_that_a_pull_had_no_room_for_is_still_replaced_by_a_newer_one() -> None:
    outbox = Outbox()
    journal, other = SessionJournal(outbox, 1, 1, 7), SessionJournal(outbox, 2, 1, 7)
    await other.checkpoint(Checkpoint(url="given"), durable=False)
    outbox.put(large(3))
    await journal.checkpoint(Checkpoint(url="old"), durable=False)

    assert len((await outbox.pull(0, 1, 5_000)).sizes) == 1
    await journal.checkpoint(Checkpoint(url="new"), durable=False)
    await other.checkpoint(Checkpoint(url="another"), durable=False)
    left = [report.checkpoint.url for report in (await outbox.pull(0, 1)).reports() if report.checkpoint]
    assert left == ["given", "new", "another"]
