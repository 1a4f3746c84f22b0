"""One field glossary of each schema for all jobs: one session asks a model, the others get what it answered."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import select

from shoal.agent.types import FieldGlossary
from shoal.agent.worker_messages import GlossaryAnswer, GlossaryWish
from shoal.services.store import field_glossaries
from shoal.services.store.database.tables import field_glossary
from shoal.services.store.field_glossaries import AGAIN_S, ASK_S, KEEP_S, NONE_KEEP_S
from shoal.services.store.store import Store
from tests.store_world import World

KEY = "5f3a"
WORDS = FieldGlossary({"price": {"labels": ["Cost", "Prix\u2028"], "properties": ["price"], "unit": ""}}, "`foo`")
NONE = FieldGlossary({}, "the reply could not be used")
SILENT = FieldGlossary({}, "the model did not answer", 60.0)
ASK, WAIT = GlossaryAnswer(ask=True), GlossaryAnswer(wait_s=AGAIN_S)


async def answer_for(w: World, session: int, *, key: str = KEY, store: Store | None = None) -> GlossaryAnswer:
    """Return what one session is told."""
    (answer,) = await (store or w.store).glossaries([(session, GlossaryWish(key))])
    assert answer is not None
    return answer


async def answered(w: World, session: int, glossary: FieldGlossary) -> None:
    """One session's model has answered."""
    assert await w.store.glossaries([(session, GlossaryWish(KEY, glossary))]) == [None]


async def test_one_session_of_all_dispatchers_asks_a_model_and_the_others_get_its_answer(w: World) -> None:
    stores = [w.store, await w.another()]
    told = await asyncio.gather(*(answer_for(w, n, store=stores[n % 2]) for n in range(8)))
    (first,) = (n for n, answer in enumerate(told) if answer == ASK)
    assert [answer for answer in told if answer != ASK] == [WAIT] * 7
    assert await answer_for(w, 9, key="another schema") == ASK
    await answered(w, first, WORDS)
    for store in stores:
        assert await answer_for(w, 20, store=store) == GlossaryAnswer(WORDS)


async def test_a_later_job_gets_it_until_it_runs_out(w: World) -> None:
    await answered(w, 1, WORDS)
    w.clock.now += KEEP_S - 1
    assert await answer_for(w, 2) == GlossaryAnswer(WORDS)
    w.clock.now += 1
    assert await answer_for(w, 3) == ASK


async def test_that_there_is_none_holds_for_a_while(w: World) -> None:
    assert await answer_for(w, 1) == ASK
    await answered(w, 1, NONE)
    assert await answer_for(w, 2) == GlossaryAnswer(NONE)
    w.clock.now += NONE_KEEP_S
    assert await answer_for(w, 2) == ASK


async def test_a_model_that_stays_silent_is_asked_more_and_more_seldom(w: World) -> None:
    held = []
    for session in range(6):
        assert await answer_for(w, session) == ASK
        await answered(w, session, SILENT)
        told = (await answer_for(w, 20)).glossary
        assert told is not None
        held.append(told.silent_s)
        w.clock.now += told.silent_s - 1
        assert (await answer_for(w, 20)).glossary == told
        w.clock.now += 1
    assert held == [60, 120, 240, 480, NONE_KEEP_S, NONE_KEEP_S]
    assert await answer_for(w, 7) == ASK
    await answered(w, 7, WORDS)
    w.clock.now += KEEP_S
    assert await answer_for(w, 8) == ASK
    await answered(w, 8, SILENT)
    assert await answer_for(w, 9) == GlossaryAnswer(SILENT), "it has answered in between"


async def test_a_session_that_never_tells_is_replaced_and_its_next_attempt_asks_again(w: World) -> None:
    assert await answer_for(w, 1) == ASK
    assert await answer_for(w, 1) == ASK
    assert await answer_for(w, 2) == WAIT
    w.clock.now += ASK_S
    assert await answer_for(w, 2) == ASK
    assert await answer_for(w, 1) == WAIT


async def gives_back(w: World, session: int) -> None:
    """One session has asked no model."""
    assert await w.store.glossaries([(session, GlossaryWish(KEY, given_back=True))]) == [None]


async def test_the_next_session_asks_where_one_gives_the_order_back(w: World) -> None:
    assert await answer_for(w, 1) == ASK
    await gives_back(w, 1)
    wishes = [(2, GlossaryWish(KEY)), (2, GlossaryWish(KEY, given_back=True)), (3, GlossaryWish(KEY))]
    assert await w.store.glossaries(wishes) == [ASK, None, ASK], "a session may give up before its wish is looked at"


async def test_an_order_that_another_session_has_by_now_is_not_given_back(w: World) -> None:
    assert await answer_for(w, 1) == ASK
    w.clock.now += ASK_S
    assert await answer_for(w, 2) == ASK
    await gives_back(w, 1)
    assert await answer_for(w, 3) == WAIT
    await answered(w, 2, WORDS)
    await gives_back(w, 2)
    assert await answer_for(w, 3) == GlossaryAnswer(WORDS)


async def test_a_session_that_asks_together_with_the_one_that_tells_gets_the_glossary(w: World) -> None:
    wishes = [(1, GlossaryWish(KEY)), (2, GlossaryWish(KEY, WORDS))]
    assert await w.store.glossaries(wishes) == [GlossaryAnswer(WORDS), None]


async def test_a_late_answer_that_says_nothing_takes_nothing_from_later_ones(w: World) -> None:
    assert await answer_for(w, 1) == ASK
    w.clock.now += ASK_S
    assert await answer_for(w, 2) == ASK
    await answered(w, 1, NONE)
    assert await answer_for(w, 3) == WAIT, "another session asks by now"
    await answered(w, 2, WORDS)
    await answered(w, 1, NONE)
    assert await answer_for(w, 3) == GlossaryAnswer(WORDS)


@pytest.mark.parametrize("told", [WORDS, NONE])
async def test_an_answer_holds_no_longer_where_the_clock_is_set_back(w: World, told: FieldGlossary) -> None:
    assert await answer_for(w, 1) == ASK
    await answered(w, 1, told)
    assert await answer_for(w, 2) == GlossaryAnswer(told)
    w.clock.now -= 1
    assert await answer_for(w, 2) == ASK
    w.clock.now -= 1
    assert await answer_for(w, 3) == ASK, "nor is the one that asks waited for longer than it may take"


async def test_what_has_run_out_is_forgotten_once_something_else_is_kept(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field_glossaries, "_PRUNED", 2)

    async def keys() -> set[str]:
        return {row.key for row in await w.store._db.read(lambda tx: tx.conn.execute(select(field_glossary)).all())}

    for n in range(5):
        assert await w.store.glossaries([(1, GlossaryWish(f"old{n}", WORDS))]) == [None]
    w.clock.now += KEEP_S + 1
    assert await answer_for(w, 2, key="old4") == ASK
    kept = []
    for n in range(3):
        await w.store.glossaries([(3, GlossaryWish(f"new{n}", WORDS))])
        kept.append(len(await keys() - {"new0", "new1", "new2"}))
    assert kept == [3, 1, 1] and await keys() == {"old4", "new0", "new1", "new2"}
