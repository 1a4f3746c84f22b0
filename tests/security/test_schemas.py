"""A job's schema holds up neither the gateway nor a worker, and never counts as checked when it was not."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Iterator

import httpx
import pytest

from shoal.agent.models.decisions.extract import validate_records
from shoal.agent.models.decoding import nullable
from shoal.agent.spec import ExtractSpec
from shoal.agent.support.json_value import Json
from shoal.agent.support.schemas import checking
from shoal.agent.support.schemas.bounds import schema_fault
from shoal.agent.support.schemas.checking import check
from shoal.agent.support.schemas.patterns import fitting
from tests.gateway_world import record
from tests.served_gateway import ANSWER_S, PAUSE_S, Served, served_gateway

EVIL = "^(a+)+$"
LETTERS = "a" * 34 + "!"


def doubling(levels: int, word: str = "allOf") -> Json:
    """Each schema names the next one twice: 4 KB that are walked 2 ** levels times."""
    parts: Json = {f"a{n}": {word: [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(levels)}
    parts[f"a{levels}"] = {"type": "object"}
    return {"$defs": parts, "type": "object", "allOf": [{"$ref": "#/$defs/a0"}]}


def nested(levels: int) -> Json:
    schema: Json = {}
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return schema


def unevaluated(levels: int) -> Json:
    """Each level asks all below it three times."""
    schema: Json = {"properties": {"a": True}}
    for _ in range(levels):
        schema = {"allOf": [schema], "unevaluatedProperties": {"type": "string"}}
    return schema


REFUSED = [
    pytest.param({"allOf": [{}] * 37_000}, "has ", id="146 KiB of parts"),
    pytest.param({"description": "x" * 140_000}, "has 1400", id="too long"),
    pytest.param({"enum": [[] for _ in range(6_000)]}, "objects and arrays", id="too many parts"),
    pytest.param(nested(40), "is nested too deeply", id="too deep"),
    pytest.param(doubling(26), "references multiply", id="doubling allOf"),
    pytest.param(doubling(26, "anyOf"), "references multiply", id="doubling anyOf"),
    pytest.param(unevaluated(15), "references multiply", id="unevaluated in each other"),
    pytest.param({"$ref": "#"}, "without end", id="itself"),
    pytest.param({"$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}, "without end", id="a circle"),
    pytest.param(
        {"$defs": {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(2400)} | {"d2400": {}}, "$ref": "#/$defs/d0"},
        "refers",
        id="a chain",
    ),
    pytest.param({"properties": {"n": {"pattern": "(?=a)b"}}}, "properties/n/pattern", id="look-ahead"),
    pytest.param({"properties": {"n": {"pattern": r"(a)\1"}}}, r"(a)\\1", id="back reference"),
    pytest.param({"properties": {"n": {"pattern": "a{1000000}"}}}, "a{1000000}", id="long repetition"),
    pytest.param({"patternProperties": {"(?<=x)y": {}}}, "(?<=x)y", id="look-behind in a name"),
    pytest.param({"allOf": [{"pattern": f"a{n}"} for n in range(100)]}, "patterns", id="too many patterns"),
    pytest.param(
        {"$id": "http://a/", "allOf": [{"$id": f"http://a/{n}", "$ref": "http://a/"} for n in range(200)]},
        "names of its own",
        id="many names",
    ),
    pytest.param({"$dynamicRef": "#a", "$dynamicAnchor": "a"}, "$dynamicRef", id="dynamic reference"),
    pytest.param({"$ref": "file:///etc/passwd"}, "nothing is fetched", id="a file"),
    pytest.param({"$ref": "http://127.0.0.1:1/s.json"}, "nothing is fetched", id="an address"),
]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with served_gateway() as made:
        httpx.post(f"{made.url}/v1/jobs", json={"url": "http://127.0.0.1/", "extract": {"schema": {}}})
        yield made


@pytest.mark.parametrize(("schema", "reason"), REFUSED)
def test_the_gate_refuses_it_by_name_at_once(served: Served, schema: Json, reason: str) -> None:
    body = {"url": "http://127.0.0.1/", "extract": {"schema": schema}}
    answer = served.harmless_answer(lambda: httpx.post(f"{served.url}/v1/jobs", json=body, timeout=30))
    assert answer.status_code == 400, answer.text
    (fault,) = answer.json()["errors"]
    assert fault["field"] == "extract.schema"
    assert reason in fault["reason"]


def test_a_batch_of_large_schemas_leaves_the_loop_free(served: Served) -> None:
    served.pauses.reset()
    properties = {f"p{n}": {"type": "string", "description": "x" * 20} for n in range(900)}
    spec = {"url": "http://shop.example/", "extract": {"schema": {"properties": properties}}}
    lines = [json.dumps({**spec, "goal": f"goal {n}"}).encode() for n in range(60)]
    answer = httpx.post(
        f"{served.url}/v1/jobs:batch",
        content=b"\n".join(lines),
        headers={"Content-Type": "application/x-ndjson"},
        timeout=60,
    )
    assert answer.headers["Shoal-Accepted"] == "60", answer.text[:500]
    assert served.pauses.longest_s < PAUSE_S


def test_unknown_fields_cost_as_much_as_are_told(served: Served) -> None:
    fields = {f"an_unknown_field_of_this_job_{n}": n for n in range(19_990)}
    body = {"url": "http://shop.example/", "goal": "look", **fields}
    answer = served.harmless_answer(lambda: httpx.post(f"{served.url}/v1/jobs", json=body, timeout=30))
    assert answer.status_code == 400
    assert len(answer.json()["errors"]) == 100
    assert "and 19989 more" in answer.json()["detail"]


def test_values_that_cannot_be_opened_cost_as_much_as_are_told(served: Served) -> None:
    served.pauses.reset()
    loop = {"values": ["http://a..b/"] * 60_000}
    body = {"url": "http://shop.example/", "goal": "look", "loop": loop}
    answer = httpx.post(f"{served.url}/v1/jobs", json=body, timeout=30)
    assert answer.status_code == 400
    assert len(answer.json()["errors"]) == 100
    assert served.pauses.longest_s < PAUSE_S


def test_fifty_thousand_links_leave_the_loop_free(served: Served) -> None:
    served.pauses.reset()
    loop = {"values": [f"http://1.2.3.4/{n}" for n in range(40_000)]}
    body = {"url": "http://shop.example/", "goal": "look", "loop": loop}
    answer = httpx.post(f"{served.url}/v1/jobs", json=body, timeout=30)
    assert answer.status_code == 201, answer.text[:500]
    assert served.pauses.longest_s < PAUSE_S


# --- the check of records -----------------------------------------------------------------------------


async def test_a_pattern_that_would_hang_is_answered_at_once() -> None:
    extract = ExtractSpec(json_schema={"properties": {"n": {"type": "string", "pattern": EVIL}}})
    began = time.thread_time()
    problems = await validate_records([record({"n": LETTERS})], extract)
    assert time.thread_time() - began < PAUSE_S
    assert [problem.path for problem in problems] == ["n"]
    assert await validate_records([record({"n": "aaaa"})], extract) == []


@pytest.mark.parametrize(("schema", "reason"), REFUSED)
async def test_a_stored_job_with_such_a_schema_gives_no_valid_record(schema: Json, reason: str) -> None:
    began = time.thread_time()
    faults = await check(schema, {"n": LETTERS})
    assert time.thread_time() - began < ANSWER_S
    assert [reason in fault.message for fault in faults] == [True]


async def test_many_faults_are_told_by_their_first(monkeypatch: pytest.MonkeyPatch) -> None:
    extract = ExtractSpec(json_schema={"type": "array", "items": {"required": ["a"], "properties": {"a": {}}}})
    problems = await validate_records([record({"b": n}) for n in range(500)], extract)
    assert len(problems) == checking.MOST_FAULTS
    assert (problems[0].index, problems[0].path, problems[0].missing) == (0, "a", True)


async def test_a_huge_value_under_many_options_is_told_in_a_process_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine copies the value for each option: this took 25 s and 7 GB."""
    monkeypatch.setattr(checking, "ASIDE_S", 2.0)
    schema = {"anyOf": [{"type": "integer"}] * 2000}
    late = asyncio.create_task(_latest())
    began = time.monotonic()
    (fault,) = await check(schema, {"a": "x" * 1_000_000})
    assert "does not fit" in fault.message or "not valid under any" in fault.message
    assert time.monotonic() - began < 20
    late.cancel()
    assert await late < PAUSE_S


async def test_a_check_that_takes_too_long_is_ended_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "ASIDE_S", 1.5)
    # Linear in the text, but with two thousand states for each of its letters.
    schema = {"properties": {"n": {"pattern": "^(?:[ab]*a[ab]{2000}[cd]*)*$"}}}
    assert schema_fault(json.dumps(schema)) is None
    value = {"n": "".join(random.Random(1).choices("ab", k=1_500_000)) + "!"}
    late = asyncio.create_task(_latest())
    began = time.monotonic()
    (fault,) = await check(schema, value)
    assert "cannot be checked within" in fault.message
    assert 1.5 <= time.monotonic() - began < 20
    late.cancel()
    assert await late < PAUSE_S


async def test_a_recursive_schema_that_doubles_with_each_level_of_the_value_holds_up_nothing() -> None:
    schema = {"allOf": [{"properties": {"a": {"$ref": "#"}}}] * 2}
    assert schema_fault(json.dumps(schema)) is None  # a tree is a schema, too
    value: Json = {}
    for _ in range(60):
        value = {"a": value}
    late = asyncio.create_task(_latest())
    assert await check(schema, value) == []
    late.cancel()
    assert await late < PAUSE_S


async def test_a_value_deeper_than_the_engines_stack_is_no_valid_record() -> None:
    value: Json = 1
    for _ in range(300):
        value = {"a": value}
    (fault,) = await check({"additionalProperties": {"$ref": "#"}}, value)
    assert "nested too deeply" in fault.message


async def test_half_of_a_surrogate_pair_is_checked_like_any_text() -> None:
    assert await check({"properties": {"n": {"maxLength": 3}}}, {"n": "a\ud800b"}) == []
    assert [one.path for one in await check({"properties": {"n": {"maxLength": 2}}}, {"n": "a\ud800b"})] == [("n",)]


# --- patterns elsewhere -------------------------------------------------------------------------------


def test_rules_search_texts_by_the_same_engine() -> None:
    began = time.thread_time()
    assert fitting(EVIL, LETTERS) == "a" * 34
    assert fitting(EVIL, LETTERS * 3000) == ""
    assert time.thread_time() - began < PAUSE_S
    assert fitting(r"^\d{4}$", "Made in 2020, in Bern") == "2020"
    assert fitting(r"^\d{4}$", "Number 123456") == "", "four digits of a longer number are none"
    assert fitting("^[A-Z]{3}$", "PRICE EUR 5") == "EUR"
    assert fitting("(?=a)b", "ab") == ""


def test_a_decoder_is_not_made_to_count_to_a_billion() -> None:
    sent = nullable({"type": "array", "items": {}, "minItems": 10**9, "maxItems": 10**9})
    assert sent == {"type": "array", "items": {}}


async def _latest() -> float:
    """The processor time of the longest turn of the event loop, until it is canceled."""
    longest_s = 0.0
    while True:
        used = time.thread_time()
        try:
            await asyncio.sleep(0.005)
        except asyncio.CancelledError:
            return longest_s
        longest_s = max(longest_s, time.thread_time() - used)
