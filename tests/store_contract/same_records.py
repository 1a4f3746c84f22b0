"""Comparison of a loop's records: items with one and the same record, and drift over the batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shoal.agent.support.json_value import Json
from shoal.agent.types import LoopItem, Outcome
from shoal.agent.worker_messages import LearnedUse
from shoal.agent.workflows.judging.batch import MOST_EQUAL
from shoal.agent.workflows.judging.phase import LearningStep, Phase
from shoal.services.store.database import tables
from shoal.services.store.database.transaction import Tx
from shoal.services.store.records import Claimed
from tests.store_contract.learning import (
    REPLAY,
    SHADOW,
    decide,
    learning_loop,
    lent,
    provisional,
    replayed,
    sessions_of,
    shadowed,
)
from tests.store_contract.workflows import learned
from tests.store_world import DONE, World, links

STOP = LearningStep(Phase.SHADOW, "stopped for drift")
COMPARE = LearningStep(Phase.SHADOW, "0 of 5 items are compared", let_go=5)


def with_value(outcome: Outcome, value: Json) -> Outcome:
    return replace(outcome, records=(replace(outcome.records[0], value=value),))


def index(one: Claimed) -> int:
    assert one.work.item is not None
    return one.work.item.index


def book(one: Claimed, n: int | None = None, price: int = 0) -> dict[str, Json]:
    """The record of an item, or that of item `n`."""
    number = index(one) if n is None else n
    return {"title": f"Book {number}", "price": price or 10 + number}


async def taught(
    w: World, n: int = 60, same: int | None = None, items: Sequence[LoopItem] = (), **fields: object
) -> tuple[int, int]:
    """A loop of books that replays; `same`: the baseline has read book `same` for every item."""
    job, root = await learning_loop(w, n=n, items=items, **fields)
    first = await w.claim()
    await w.finish(*((one, with_value(DONE, book(one, same))) for one in first))
    await decide(w, root, SHADOW)
    await w.finish(*((one, with_value(outcome, book(one, same))) for one, outcome in shadowed(await w.claim())))
    await go_on(w, root, REPLAY)
    return job, root


async def go_on(w: World, root: int, step: LearningStep) -> None:
    await decide(w, root, step)
    while (await w.store.run_bulk_operations()).more:
        pass


async def finish(w: World, items: Sequence[Claimed], n: int | None = None) -> None:
    await w.finish(*((one, with_value(replayed(one), book(one, n))) for one in items))


async def test_two_items_with_one_record_are_read_again_by_the_baseline_and_count_as_misses(w: World) -> None:
    job, root = await taught(w)
    some = await w.claim(5)
    await finish(w, some[:2])
    assert await w.store.learning.due() == []
    await finish(w, some[2:3], n=index(some[0]))
    (told,) = await w.store.learning.of_job(job)
    assert (told.figures["miss_same_record"], told.figures["reopened"]) == (2, 2)
    assert (await w.check_sums(job)).counts.completed == 8 + 1, "the loop waits for both"
    assert await w.store.learning.due() == [root], "they are let go by a decision"
    await go_on(w, root, LearningStep(Phase.REPLAY, ""))
    again = {one.work.session: one for one in await w.claim() if one.work.session in sessions_of(some)}
    assert set(again) == {some[0].work.session, some[2].work.session}
    assert {one.work.learned for one in again.values()} == {LearnedUse.AUDIT}
    right, wrong = again[some[0].work.session], again[some[2].work.session]
    await w.finish((right, with_value(replayed(right, audit="right"), book(right))))
    (told,) = await w.store.learning.of_job(job)
    assert told.figures["same_right"] == 1 and "audits" not in told.figures, "the bound is that of the uniform share"
    await w.finish((wrong, with_value(replayed(wrong, "audit", audit="wrong"), book(wrong))))
    assert (await lent(w, root)).figures.wrong == 1


async def test_an_item_with_a_record_of_the_baseline_is_read_again_alone(w: World) -> None:
    job, root = await taught(w)
    (one,) = await w.claim(1)
    await finish(w, [one], n=0)
    await go_on(w, root, LearningStep(Phase.REPLAY, ""))
    assert one.work.session in sessions_of(await w.claim())
    (told,) = await w.store.learning.of_job(job)
    assert told.figures["miss_same_record"] == 1


async def test_an_item_is_read_again_once_and_stays_provisional_where_nothing_is_confirmed(w: World) -> None:
    job, root = await taught(w)
    (one,) = await w.claim(1)
    await finish(w, [one], n=0)
    await go_on(w, root, LearningStep(Phase.REPLAY, ""))
    (again,) = [claimed for claimed in await w.claim() if claimed.work.session == one.work.session]
    await w.finish((again, with_value(replayed(again, audit="not_done"), book(again, 0))))
    assert await provisional(w, job) == {one.work.session}
    (told,) = await w.store.learning.of_job(job)
    assert (told.figures["miss_same_record"], told.figures["same_not_done"]) == (1, 1)


async def test_records_that_the_baseline_reads_equally_are_no_doubt(w: World) -> None:
    job, _ = await taught(w, same=7)
    await finish(w, await w.claim(6), n=7)
    (told,) = await w.store.learning.of_job(job)
    assert "reopened" not in told.figures and not told.figures.get("miss_same_record")


async def test_after_some_pairs_that_the_baseline_confirms_equal_records_are_no_doubt_any_more(w: World) -> None:
    job, root = await taught(w)
    for n in range(MOST_EQUAL):
        (one,) = await w.claim(1)
        await finish(w, [one], n=n)
        await go_on(w, root, LearningStep(Phase.REPLAY, ""))
        (again,) = [claimed for claimed in await w.claim(1) if claimed.work.session == one.work.session]
        await w.finish((again, with_value(replayed(again, audit="right"), book(again, n))))
    await finish(w, await w.claim(5), n=1)
    (told,) = await w.store.learning.of_job(job)
    assert (told.figures["miss_same_record"], told.figures["same_right"]) == (MOST_EQUAL, MOST_EQUAL)


async def test_a_list_that_names_an_item_twice_and_records_of_one_number_are_no_doubt(w: World) -> None:
    twice = [*links(30), replace(links(1)[0], index=30, value=links(20)[19].value)]
    job, _ = await taught(w, items=twice)
    rest = await w.claim()
    named = [one for one in rest if index(one) in (19, 30)]
    await finish(w, named, n=19)
    numbers = [one for one in rest if index(one) in (20, 21)]
    await w.finish(*((one, with_value(replayed(one), {"n": 1})) for one in numbers))
    (told,) = await w.store.learning.of_job(job)
    assert (told.figures["replays"], told.figures.get("miss_same_record", 0)) == (4, 0)


async def test_records_of_a_version_that_acts_are_never_made_again_and_stop_it(w: World) -> None:
    acts = {
        "id": "send",
        "kind": "action",
        "action": "click",
        "target": {"locators": [{"family": "css", "value": "b"}]},
    }
    version = {"state": "active", "nodes": [{**acts, "next": "read"}, {"id": "read", "kind": "extract"}]}
    await w.store.workflows.keep("acme", learned("books", version, site="h0.example"))
    job, root = await learning_loop(w, n=60)
    await w.finish(*((one, with_value(outcome, book(one))) for one, outcome in shadowed(await w.claim())))
    await go_on(w, root, REPLAY)
    await finish(w, await w.claim(4), n=99)
    (told,) = await w.store.learning.of_job(job)
    assert (told.figures["miss_same_record"], told.figures.get("reopened", 0)) == (4, 0)
    assert (await lent(w, root)).drift == "4 items have records that other items have, too"


async def test_a_batch_that_drifts_stops_its_version_until_the_baseline_has_read_the_same(w: World) -> None:
    job, root = await taught(w)
    some = await w.claim(25)
    await w.finish(*((one, with_value(replayed(one), book(one, price=5000))) for one in some[:19]))
    assert await w.store.learning.due() == []
    other = await w.another()
    await w.finish(*((one, with_value(replayed(one), book(one, price=5000 + n))) for n, one in enumerate(some[19:])))
    assert await other.learning.due() == [root], "the counts are those of all workers"
    known = await lent(w, root)
    assert "price is about 5" in known.drift
    assert (await w.store.learning.decide(root, "d", STOP)).written
    while (await w.store.run_bulk_operations()).more:
        pass
    assert await w.claim() == [], "all others are held back"
    (told,) = await w.store.learning.of_job(job)
    assert (told.phase, told.version, told.figures["miss_drift"]) == (Phase.SHADOW, 1, 1)
    (stored,) = await w.store.workflows.some("acme")
    assert (stored.versions[0].version.state, stored.versions[0].figures["miss_drift"]) == ("canary", 1)
    w.clock.now += 21
    await decide(w, root, COMPARE)
    compared = await w.claim()
    assert [one.work.learned for one in compared] == [LearnedUse.SHADOW] * 5, "the others are held back"
    ((wrong, outcome), *_) = shadowed(compared)
    assert outcome.replay is not None
    await w.finish((wrong, replace(outcome, replay=replace(outcome.replay, audit="wrong"))))
    (told,) = await w.store.learning.of_job(job)
    assert told.figures["reopened"] == 25, "what it has read meanwhile is done anew"


async def test_the_records_that_confirm_a_stopped_version_widen_what_is_usual(w: World) -> None:
    _, root = await taught(w)
    dear = [(one, with_value(replayed(one), book(one, price=5000))) for one in await w.claim(20)]
    await w.finish(*dear)
    assert (await lent(w, root)).drift
    await w.store.learning.decide(root, "d", STOP)
    while (await w.store.run_bulk_operations()).more:
        pass
    known = await lent(w, root)
    assert (known.ended, known.figures.items) == (0, 0)
    await w.store.learning.decide(root, "d", COMPARE)
    await w.finish(*((one, with_value(outcome, book(one, price=5000))) for one, outcome in shadowed(await w.claim())))
    await go_on(w, root, LearningStep(Phase.REPLAY, "the same"))
    await w.finish(*((one, with_value(replayed(one), book(one, price=5000))) for one in await w.claim(20)))
    assert (await lent(w, root)).drift == ""


async def test_what_was_noted_of_records_goes_with_the_job(w: World) -> None:
    job, _ = await taught(w, artifacts={"retention_days": 1})
    await finish(w, await w.claim(5))
    await w.run_out()

    def noted(tx: Tx) -> int:
        return len(tx.conn.execute(tables.learned_record.select()).all())

    assert await w.store._db.read(noted) == 8 + 5
    w.clock.now += 86_401
    assert await w.store.archived(job, "archive/x")
    more = True
    while more:
        more = await w.store.drop(job, (await w.store.droppable(job, 1_000)).sessions)
    assert await w.store._db.read(noted) == 0
