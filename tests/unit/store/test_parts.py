"""The store's small parts: ids, JSON columns, queries, grouping, hosts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from shoal.agent.error_info import ErrorInfo
from shoal.agent.spec import JobSpec
from shoal.agent.status import FINAL, Status
from shoal.agent.types import (
    Action,
    ActionResult,
    Checkpoint,
    FanOut,
    FieldCandidate,
    FieldSource,
    LoopItem,
    Outcome,
    PageError,
    PageErrors,
    Reason,
    Record,
    Step,
    Task,
    Usage,
)
from shoal.services.errors import NotFound
from shoal.services.store import ids
from shoal.services.store.database import codec, queries
from shoal.services.store.database.batching import Batcher
from shoal.services.store.database.cache import Recent
from shoal.services.store.database.states import FINAL_STATES, State, state_of, states_of
from shoal.services.store.loops.fanout import host_of
from tests.store_world import world


def test_ids_are_printed_and_read_back() -> None:
    assert (ids.job_id(12), ids.session_id(345)) == ("j12", "s345")
    assert (ids.parse_job("j12"), ids.parse_session("s345")) == (12, 345)


@pytest.mark.parametrize("text", ["", "j", "12", "s12", "j-1", "j1x", "J1", "j٣", "j 1", f"j{2**63}", "j" + "9" * 40])
def test_what_is_no_job_id_names_no_job(text: str) -> None:
    with pytest.raises(NotFound):
        ids.parse_job(text)


ERRORS = PageErrors((PageError("network", "404", "https://x/a.js", 2),), left_out=1)


def test_outcomes_tasks_and_checkpoints_survive_their_columns() -> None:
    error = ErrorInfo("Timeout", "navigation_timeout", "too slow", retryable=True)
    action = ActionResult(Action("click", {"bid": "12"}, submits=True), error=error, value=[1, None])
    task = Task(
        "navigate",
        "go",
        Status.COMPLETED,
        result={"a": 1},
        steps=(Step(0, "https://x/", "t", (action,), page_errors=ERRORS),),
    )
    source = FieldSource("json-ld", "script", confirmed=True, sureness="certain", why=Reason.BORNE_OUT)
    other = FieldCandidate("red", "selector", ".color", "weak", Reason.AMBIGUOUS)
    record = Record({"price": 1.5}, {"price": source}, "https://x/", "now", {"color": (other,)})
    checkpoint = Checkpoint((task,), "https://x/", {"cookies": []}, (record,), Usage(pages=1), "click('12')")
    fan_out = FanOut((LoopItem(0, "a", is_link=False),), checkpoint)
    whole = Outcome(
        Status.WAITING, (record,), error, "why", ("C1",), tasks=(task,), usage=Usage(1, 2, 3, 4, 5), fan_out=fan_out
    )
    whole = replace(whole, page_errors=ERRORS)
    bare = replace(whole, tasks=(), fan_out=None)
    assert codec.load_outcome(codec.dump_outcome(whole)) == bare
    assert codec.load_tasks(codec.dump_tasks((task,))) == (task,)
    assert codec.load_checkpoint(codec.dump_checkpoint(checkpoint)) == checkpoint
    assert codec.load_error(codec.dump_error(error)) == error and codec.dump_error(None) is None
    assert '"class":"Timeout"' in (codec.dump_error(error) or "")
    spec = JobSpec.model_validate({"url": "https://x/", "extract": {"schema": {"type": "object"}}})
    assert codec.load_spec(codec.dump_spec(spec)) == spec


def test_steps_stored_before_they_carried_errors_of_pages_are_still_read() -> None:
    step = '{"index":0,"url":"u","thought":"t","results":[]}'
    stored = f'[{{"type":"navigate","plan":"go","status":"completed","steps":[{step}]}}]'
    (task,) = codec.load_tasks(stored)
    assert task.steps == (Step(0, "u", "t", ()),)
    assert codec.dump_tasks((task,)) == stored, "and a step without errors takes no more room"


def test_an_outcome_stored_before_values_said_how_sure_they_are_is_still_read() -> None:
    source = '{"how":"label","where":"p","confirmed":true}'
    stored = f'{{"status":"completed","records":[{{"value":{{"a":1}},"sources":{{"a":{source}}}}}]}}'
    (record,) = codec.load_outcome(stored).records
    assert record == Record({"a": 1}, {"a": FieldSource("label", "p", True, sureness="likely", why="")})
    assert record.candidates == {}


def test_half_a_surrogate_pair_is_replaced_and_a_split_pair_is_joined() -> None:
    text = codec.dump_json({"a\ud83d": ["\ud83d\ude00", "x\udfff", 10**30]})
    assert codec.load_json(text) == {"a\ufffd": ["😀", "x\ufffd", 10**30]}
    text.encode()


def test_both_databases_know_the_same_queries() -> None:
    common, sqlite, postgresql = (queries.read(name) for name in ("common", "sqlite", "postgresql"))
    assert not common.keys() & (sqlite.keys() | postgresql.keys())
    assert sqlite.keys() - postgresql.keys() == {"partition_head", "partition_heads"}
    assert postgresql.keys() - sqlite.keys() == {"now", "count_alone"}
    for said, statement in (*common.values(), *sqlite.values(), *postgresql.values()):
        assert said.endswith(".") and statement


def test_every_status_has_its_states() -> None:
    assert {state.status for state in FINAL_STATES} == FINAL
    assert all(state_of(status).status is status for status in Status)
    assert states_of(Status.QUEUED) == (State.QUEUED, State.DELAYED, State.HELD)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://shop.example/a?b#c", "shop.example"),
        ("http://Shop.Example:8080/", "shop.example"),
        ("https://u:p@shop.example", "shop.example"),
        ("https://münchen.example/", "münchen.example"),
        ("http://[::1]:80/", "::1"),
        ("http://[broken/", ""),
        ("shop.example/a", ""),
        ("mailto:a@b", ""),
        ("", ""),
    ],
)
def test_the_host_of_a_link(url: str, host: str) -> None:
    assert host_of(url) == host


def test_a_cache_forgets_what_was_not_used_for_longest() -> None:
    cache: Recent[str, int] = Recent(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)
    cache.put("d", 4)
    assert cache.get("d") == 4 and cache.get("a") is None


def test_a_cache_holds_no_more_than_its_entries_may_weigh_together() -> None:
    cache: Recent[str, int] = Recent(10, weight=100)
    cache.put("a", 1, weight=40)
    cache.put("b", 2, weight=40)
    cache.put("a", 3, weight=50)
    assert (cache.get("a"), cache.get("b")) == (3, 2)
    cache.put("c", 4, weight=30)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (None, 2, 4)
    cache.put("d", 5, weight=101)
    assert (cache.get("b"), cache.get("c"), cache.get("d")) == (2, 4, None), "what is too heavy drives nothing out"
    cache.put("e", 6, weight=100)
    assert (cache.get("b"), cache.get("c"), cache.get("e")) == (None, None, 6)


async def test_a_store_remembers_specs_by_the_length_of_their_text() -> None:
    async with world("sqlite://") as w:
        w.store._db.caches.specs = Recent(10, weight=50_000)
        jobs = [await w.submit(goal="read " + "x" * 20_000) for _ in range(3)]
        await w.claim()
        assert [job for job in jobs if w.store._db.caches.specs.get(job)] == jobs[1:]


async def test_calls_gather_while_a_group_is_written() -> None:
    groups: list[list[int]] = []
    gate = asyncio.Event()

    async def write(calls: Sequence[int]) -> list[int]:
        groups.append(list(calls))
        await gate.wait()
        if 3 in calls:
            raise ValueError("broken group")
        return [call * 10 for call in calls]

    grouped = Batcher(write)
    first = asyncio.create_task(grouped.add(0))
    while not groups:
        await asyncio.sleep(0)
    second = [asyncio.create_task(grouped.add(n)) for n in (1, 2)]
    await asyncio.sleep(0)
    second[0].cancel()  # who gave up is not missed by the others
    gate.set()
    assert await first == 0 and await second[1] == 20
    assert groups == [[0], [1, 2]]
    for result in await asyncio.gather(*(grouped.add(n) for n in (3, 4)), return_exceptions=True):
        assert isinstance(result, ValueError)
    assert await grouped.add(5) == 50
