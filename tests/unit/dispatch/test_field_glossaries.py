"""A model is asked once what pages may call a schema's fields, and all sessions of all jobs read by its answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import pytest

from shoal.agent.errors import ModelRefused, ModelUnavailable
from shoal.agent.policies.model import ModelPolicy
from shoal.agent.policies.policy import Extraction, Policy, SessionState
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.sessions.dependencies import Glossaries
from shoal.agent.spec import X_GLOSSARY, JobSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import FieldGlossary, Record
from shoal.agent.worker_messages import GlossaryAnswer, Work
from shoal.services.browsers.session_parts import field_glossaries
from shoal.services.browsers.session_parts.field_glossaries import FieldGlossaries, SharedGlossaries
from shoal.services.store.records import JobRow
from tests.cluster_world import World, world
from tests.doubles import FakePage, ScriptedModel
from tests.worker_world import COMPLETED, LOOP, FakeParts, PlainPolicy, shop

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}, "cost": {"type": "number"}}, "required": ["n"]}
COST = {"field": "cost", "labels": ["Price", "Prix"], "properties": ["price", "cheapness"], "unit": ""}
ANSWER = {"thought": "a lamp", "fields": [COST]}
ENTRIES = {"cost": {"labels": ["Price", "Prix"], "properties": ["price"], "unit": ""}}

PAGE = {"http://shop.example/": FakePage(read={"n": 0})}


class Reading(PlainPolicy):
    """Extracts what the page reads, with the glossary that it was given."""

    async def extract(self, state: SessionState) -> Extraction:
        assert state.spec.extract is not None
        said = (state.spec.extract.record_schema or {}).get(X_GLOSSARY)
        return Extraction((Record({**await state.page.read("facts"), "read by": json.dumps(said)}),))


class AskingParts(FakeParts):
    """Workers with a model; `answers` is its script."""

    answers: Any = ()
    model: ScriptedModel

    def policy(self, spec: JobSpec, *, leaf: bool = True) -> Policy:
        return Reading()

    def glossaries(self, work: Work, shared: SharedGlossaries) -> Glossaries | None:
        return FieldGlossaries(ModelPolicy(self.model, RulesPolicy()), "m", shared)


def parts_of(script: Any, seconds: float = 0.0) -> type[AskingParts]:
    """Workers that share one model."""
    return type("Parts", (AskingParts,), {"model": ScriptedModel(script, seconds=seconds)})


async def done(w: World, schema: Json = SCHEMA, **fields: Json) -> JobRow:
    """A job that is over."""
    row = await w.final(await w.submit(extract={"schema": schema}, **fields))
    assert row.status is COMPLETED
    return row


async def read_by(w: World, row: JobRow) -> list[Json]:
    """The glossaries by which a job's records were read."""
    records = [line.record for line in await w.store.results(row.id) if line.record is not None]
    return [json.loads(record.value["read by"]) for record in records]


async def test_all_items_of_a_loop_and_later_jobs_read_by_one_answer() -> None:
    parts = parts_of([ANSWER])
    async with world(shop(6), parts=parts) as w:
        first = await done(w, loop=LOOP)
        again = await done(w, loop=LOOP)
        assert [await read_by(w, row) for row in (first, again)] == [[ENTRIES] * 6] * 2
    (ask,) = parts.model.asked
    assert ask.schema_name == "glossary"
    assert "http" not in "".join(message.text for message in ask.messages), "no page is shown, nor its address"
    assert first.usage.completion_tokens > 0
    assert again.usage.completion_tokens == 0


async def test_of_jobs_at_the_same_time_one_asks_and_the_others_wait_for_its_answer() -> None:
    parts = parts_of([ANSWER], seconds=0.3)
    async with world(PAGE, parts=parts, slots=4) as w:
        jobs = [await w.submit(extract={"schema": SCHEMA}) for _ in range(4)]
        rows = [await w.final(job) for job in jobs]
        assert [await read_by(w, row) for row in rows] == [[ENTRIES]] * 4
    assert len(parts.model.asked) == 1


async def test_what_is_unknown_in_an_answer_is_left_out_and_told() -> None:
    async with world(shop(2), parts=parts_of([ANSWER])) as w:
        for _ in range(2):
            row = await done(w, loop=LOOP)
            outcome = (await w.store.session(row.root_session)).row.outcome
            assert outcome is not None
            assert "of the field glossary was left out, as unknown: cheapness" in outcome.reason


async def reason_of(w: World, row: JobRow) -> str:
    """Return what a job's outcome says."""
    outcome = (await w.store.session(row.root_session)).row.outcome
    assert outcome is not None
    return outcome.reason


@pytest.mark.parametrize(
    "script",
    [
        ["none", "none again"],
        [{"thought": "", "fields": [{**COST, "field": "price"}]}] * 2,
        [{"thought": "", "fields": [COST, COST]}] * 2,
        [{"thought": "", "fields": [{**COST, "labels": ["?"], "properties": []}]}] * 2,
    ],
)
async def test_a_bad_answer_is_dropped_and_told_and_not_asked_for_again_at_once(script: list[Any]) -> None:
    parts = parts_of(script)
    async with world(shop(2), parts=parts) as w:
        row = await done(w, loop=LOOP)
        assert await read_by(w, row) == [None, None]
        told = await reason_of(w, row)
        assert "read without a field glossary" in told
        assert "second reply cannot be used" in told
        told = await reason_of(w, await done(w, loop=LOOP))
        assert "read without a field glossary: an earlier session asked the model, whose reply" in told
        assert "second" not in told, "the words of another job's model"
    assert len(parts.model.asked) == len(script)


SPENT = {"job_tokens": 1}


@pytest.mark.parametrize(
    ("script", "fields", "why"),
    [
        ([ModelRefused("no such model"), ANSWER], {}, "no such model"),
        (["none", ANSWER], {"budget": SPENT}, "the job has spent"),
    ],
)
async def test_what_is_one_jobs_matter_is_told_to_it_alone_and_the_next_one_asks(
    script: list[Any], fields: dict[str, Json], why: str
) -> None:
    async with world(shop(2), parts=parts_of(script)) as w:
        row = await done(w, loop=LOOP, **fields)
        assert await read_by(w, row) == [None, None]
        told = await reason_of(w, row)
        assert "read without a field glossary" in told
        assert why in told
        row = await done(w, loop=LOOP)
        assert await read_by(w, row) == [ENTRIES, ENTRIES]
        assert why not in await reason_of(w, row)


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (ScriptedModel([ANSWER] * 2, seconds=600.0), "the model did not answer within"),
        (ScriptedModel([ModelUnavailable("the model is away")] * 2), "the model is away"),
    ],
)
async def test_a_model_that_does_not_answer_holds_one_job_that_rules_read_and_for_a_while_no_other(
    model: ScriptedModel, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field_glossaries, "_MODEL_S", 0.05)
    parts = parts_of([])
    parts.model = model
    async with asyncio.timeout(60), world(shop(2), parts=parts) as w:
        row = await done(w, loop=LOOP)
        assert await read_by(w, row) == [None, None]
        assert why in await reason_of(w, row)
        told = await reason_of(w, await done(w, loop=LOOP))
        assert "read without a field glossary: an earlier session asked the model, which did not answer" in told
        assert len(model.asked) == 1


async def test_a_job_that_is_canceled_while_it_asks_leaves_that_to_the_next_one() -> None:
    parts = parts_of([ANSWER], seconds=600.0)
    async with asyncio.timeout(60), world(shop(2), parts=parts) as w:
        job = await w.submit(extract={"schema": SCHEMA}, loop=LOOP)
        await w.until(job, lambda _: len(parts.model.asked) == 1)
        await w.store.cancel(job)
        await w.final(job)
        parts.model = ScriptedModel([ANSWER])
        row = await done(w, loop=LOOP)
        assert await read_by(w, row) == [ENTRIES, ENTRIES]


async def test_no_model_is_asked_where_the_schema_has_a_glossary_of_its_own_or_is_too_long() -> None:
    parts = parts_of([])
    async with world(PAGE, parts=parts) as w:
        own = {**SCHEMA, X_GLOSSARY: {}}
        assert await read_by(w, await done(w, own)) == [{}]
        long = {**SCHEMA, "description": "x" * 20_000}
        assert await read_by(w, await done(w, long)) == [None]
    assert parts.model.asked == []


class Silent:
    """The cluster's glossaries for a session that waits for the dispatcher, the store or another session."""

    def __init__(self, *, answer: GlossaryAnswer | None = None, hangs: bool = False) -> None:
        self.answer = answer
        self.hangs = hangs
        self.returned: list[str] = []
        self.asked = asyncio.Event()

    async def glossary(self, key: str) -> GlossaryAnswer | None:
        self.asked.set()
        if self.hangs:
            await asyncio.Event().wait()
        return self.answer

    def share_glossary(self, key: str, answered: FieldGlossary) -> None:
        raise AssertionError("no model is asked")

    def return_glossary(self, key: str) -> None:
        self.returned.append(key)


async def test_a_session_that_is_canceled_while_it_waits_gives_back_an_order_that_may_be_on_its_way() -> None:
    shared = Silent(hangs=True)
    glossaries = FieldGlossaries(ModelPolicy(ScriptedModel([]), RulesPolicy()), "m", shared)
    waiting = asyncio.create_task(glossaries.of(cast(SessionState, None), SCHEMA))
    await asyncio.wait_for(shared.asked.wait(), 30)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert len(shared.returned) == 1


@pytest.mark.parametrize(
    ("shared", "why", "returned"),
    [
        (Silent(hangs=True), "the dispatcher did not say within 0.05 s whether it is known", 1),
        (Silent(), "the store could not say whether it is known", 1),
        (Silent(answer=GlossaryAnswer(wait_s=0.01)), "another session was still asking the model for it", 0),
    ],
)
async def test_why_no_glossary_came_is_told_as_it_was(
    shared: Silent, why: str, returned: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field_glossaries, "_ANSWER_S", 0.05)
    monkeypatch.setattr(field_glossaries, "_OTHERS_S", 0.05)
    state = cast(SessionState, None)  # it is the model's
    glossaries = FieldGlossaries(ModelPolicy(ScriptedModel([]), RulesPolicy()), "m", shared)
    glossary, prompt = await asyncio.wait_for(glossaries.of(state, SCHEMA), 30)
    assert (glossary.entries, glossary.told, prompt) == ({}, f"read without a field glossary: {why}", None)
    assert len(shared.returned) == returned, "the order may have been on its way"
