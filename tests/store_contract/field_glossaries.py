"""One field glossary of each schema for all jobs: one session asks a model, the others get what it answered."""

from __future__ import annotations

import asyncio

from shoal.agent.types import FieldGlossary
from shoal.agent.worker_messages import GlossaryAnswer, GlossaryWish
from shoal.services.store.field_glossaries import AGAIN_S, ASK_S, KEEP_S, NONE_KEEP_S
from shoal.services.store.store import Store
from tests.store_world import World

KEY = "5f3a"
WORDS = FieldGlossary({"price": {"labels": ["Cost", "Prix\u2028"], "properties": ["price"], "unit": ""}}, "`foo`")
NONE = FieldGlossary({}, "the reply could not be used")
ASK, WAIT = GlossaryAnswer(ask=True), GlossaryAnswer(wait_s=AGAIN_S)


async def asked_by(w: World, session: int, *, key: str = KEY, store: Store | None = None) -> GlossaryAnswer:
    """What one session is told."""
    (answer,) = await (store or w.store).glossaries([(session, GlossaryWish(key))])
    assert answer is not None
    return answer


async def answered(w: World, session: int, glossary: FieldGlossary) -> None:
    """One session's model has answered."""
    assert await w.store.glossaries([(session, GlossaryWish(KEY, glossary))]) == [None]


async def test_one_session_of_all_dispatchers_asks_a_model_and_the_others_get_its_answer(w: World) -> None:
    stores = [w.store, await w.another()]
    told = await asyncio.gather(*(asked_by(w, n, store=stores[n % 2]) for n in range(8)))
    (first,) = (n for n, answer in enumerate(told) if answer == ASK)
    assert [answer for answer in told if answer != ASK] == [WAIT] * 7
    assert await asked_by(w, 9, key="another schema") == ASK
    await answered(w, first, WORDS)
    for store in stores:
        assert await asked_by(w, 20, store=store) == GlossaryAnswer(WORDS)


async def test_a_later_job_gets_it_until_it_runs_out(w: World) -> None:
    await answered(w, 1, WORDS)
    w.clock.now += KEEP_S - 1
    assert await asked_by(w, 2) == GlossaryAnswer(WORDS)
    w.clock.now += 1
    assert await asked_by(w, 3) == ASK


async def test_that_there_is_none_holds_for_a_while(w: World) -> None:
    await answered(w, 1, NONE)
    assert await asked_by(w, 2) == GlossaryAnswer(NONE)
    w.clock.now += NONE_KEEP_S
    assert await asked_by(w, 2) == ASK


async def test_a_session_that_never_tells_is_replaced_and_its_next_attempt_asks_again(w: World) -> None:
    assert await asked_by(w, 1) == ASK
    assert await asked_by(w, 1) == ASK
    assert await asked_by(w, 2) == WAIT
    w.clock.now += ASK_S
    assert await asked_by(w, 2) == ASK
    assert await asked_by(w, 1) == WAIT


async def gives_back(w: World, session: int) -> None:
    """One session has asked no model."""
    assert await w.store.glossaries([(session, GlossaryWish(KEY, given_back=True))]) == [None]


async def test_the_next_session_asks_where_one_gives_the_order_back(w: World) -> None:
    assert await asked_by(w, 1) == ASK
    await gives_back(w, 1)
    wishes = [(2, GlossaryWish(KEY)), (2, GlossaryWish(KEY, given_back=True)), (3, GlossaryWish(KEY))]
    assert await w.store.glossaries(wishes) == [ASK, None, WAIT]


async def test_an_order_that_another_session_has_by_now_is_not_given_back(w: World) -> None:
    assert await asked_by(w, 1) == ASK
    w.clock.now += ASK_S
    assert await asked_by(w, 2) == ASK
    await gives_back(w, 1)
    assert await asked_by(w, 3) == WAIT
    await answered(w, 2, WORDS)
    await gives_back(w, 2)
    assert await asked_by(w, 3) == GlossaryAnswer(WORDS)


async def test_a_session_that_asks_together_with_the_one_that_tells_gets_the_glossary(w: World) -> None:
    wishes = [(1, GlossaryWish(KEY)), (2, GlossaryWish(KEY, WORDS))]
    assert await w.store.glossaries(wishes) == [GlossaryAnswer(WORDS), None]
