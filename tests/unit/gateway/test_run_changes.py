"""Changes between two runs: exact, told by a plain comparison of two dicts, and never guessed."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.agent.types import FieldCandidate, Incomplete, Outcome, Record
from shoal.services.store import ids
from shoal.services.web.results.compared_runs import ComparedRuns, WhichRun
from shoal.services.web.results.record_keys import Key, likely_keys
from shoal.services.web.results.run_changes import RunChanges, differing, write_changes
from tests.gateway_world import World, api_world, completed, failed, loop_of

SHOP = "https://shop.example/p/"


@pytest.fixture
async def here() -> AsyncIterator[World]:
    async with api_world() as made:
        yield made


async def ran(here: World, prices: Mapping[str, Any], **spec: Any) -> str:
    """A job over items of which each gives a record with its price; `None` stands for one that fails."""

    def each(work: Any) -> Outcome:
        assert work.item is not None
        price = prices[work.item.value.removeprefix(SHOP)]
        if price is None:
            return failed()
        return price if isinstance(price, Outcome) else completed({"sku": work.item.value[-1], "price": price})

    values = [SHOP + name for name in prices]
    job = await here.submit(loop={"values": values}, **spec)
    await here.run(loop_of(values, each))
    return job


async def changes(here: World, job: str, query: str = "") -> tuple[dict[str, Any], list[dict[str, Any]]]:
    answer = await here.client.get(f"/v1/jobs/{job}/changes{query}")
    assert answer.status_code == 200, answer.text
    return json.loads(answer.headers["Shoal-Changes"]), [json.loads(line) for line in answer.text.splitlines()]


async def test_what_appeared_went_and_changed_since_the_run_before(here: World) -> None:
    old = await ran(here, {"a": 1, "b": 2, "c": 3})
    other = await here.submit(goal="another work")
    await here.run(lambda work: completed({"n": 1}))
    new = await ran(here, {"a": 1, "d": 4, "b": 2.5})
    told, lines = await changes(here, new)
    assert told == {
        **{"job": new, "since": old, "key": ["#item"]},
        **{"appeared": 1, "went": 1, "changed": 1, "unclear": 0, "same": 1},
    }
    assert [(line["change"], line["key"]) for line in lines] == [
        *(("appeared", SHOP + "d"), ("changed", SHOP + "b"), ("went", SHOP + "c"))
    ]
    assert lines[1]["fields"] == {"price": {"before": 2, "after": 2.5}}
    assert lines[1]["before"]["session"] != lines[1]["after"]["session"]
    assert lines[0]["before"] is None and lines[2]["after"] is None and lines[2]["record"] == {"sku": "c", "price": 3}
    assert (await changes(here, new, f"?since={old}&key=sku"))[0]["key"] == ["sku"]
    assert (await here.client.get(f"/v1/jobs/{other}/changes")).status_code == 404
    assert (await here.client.get(f"/v1/jobs/{new}/changes?since=j99")).status_code == 404


async def test_tables_hold_the_same_changes(here: World) -> None:
    await ran(here, {"a": 1, "b": 2, "c": 3})
    new = await ran(here, {"a": 1, "d": 4, "b": 2.5})
    answer = await here.client.get(f"/v1/jobs/{new}/changes?format=csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(row["change"], row["fields.price.before"], row["fields.price.after"]) for row in rows] == [
        *(("appeared", "", ""), ("changed", "2", "2.5"), ("went", "", ""))
    ]
    parquet = await here.client.get(f"/v1/jobs/{new}/changes", headers={"Accept": "application/vnd.apache.parquet"})
    table = pq.read_table(io.BytesIO(parquet.content))
    assert table.column("record.price").to_pylist() == [4.0, 2.5, 3.0]
    assert table.column("fields.price.after").to_pylist() == [None, 2.5, None]
    assert table.column("change").to_pylist() == [row["change"] for row in rows]


async def test_nothing_went_where_an_item_gave_no_record(here: World) -> None:
    await ran(here, {"a": 1, "b": 2, "c": 3, "d": None})
    new = await ran(here, {"a": 1, "b": None, "d": 4})
    _, lines = await changes(here, new)
    assert {line["key"][-1]: (line["change"], line["why"]) for line in lines} == {
        "b": ("unclear", "its item gave no record in the later run: failed"),
        "c": ("went", ""),
        "d": ("unclear", "its item gave no record in the earlier run: failed"),
    }


@pytest.mark.parametrize("cut", ["sample", "max_items"])
async def test_nothing_went_where_a_run_read_less_than_there_is(here: World, cut: str) -> None:
    old = await ran(here, {"a": 1, "b": 2})
    spec: dict[str, Any] = {"sample": 1} if cut == "sample" else {}
    job = await here.submit(loop={"values": [SHOP + "a"], **({"max_items": 1} if cut == "max_items" else {})}, **spec)
    await here.run(loop_of([SHOP + "a"], lambda work: completed({"sku": "a", "price": 1})))
    told, (line,) = await changes(here, job, f"?since={old}")
    assert (told["same"], line["change"]) == (1, "unclear") and "may not have read it" in line["why"]
    _, (line,) = await changes(here, old, f"?since={job}")
    assert line["change"] == "unclear"


async def test_nothing_went_where_a_list_is_known_to_lack_something(here: World) -> None:
    await ran(here, {"a": 1, "b": 2})
    short = replace(completed({"sku": "a", "price": 1}), incomplete=Incomplete(1, 2))
    new = await ran(here, {"a": short})
    _, (line,) = await changes(here, new)
    assert line["change"] == "unclear" and "is known to lack something" in line["why"]


async def test_a_value_that_was_not_sure_enough_is_no_change(here: World) -> None:
    candidate = {"price": (FieldCandidate(9, "text", "p", "weak", "one place"),)}
    doubted = completed({"sku": "a", "price": None})
    doubted = Outcome(doubted.status, tuple(_with(record, candidate) for record in doubted.records))
    both = Outcome(doubted.status, tuple(_with(r, candidate) for r in completed({"sku": "B", "price": None}).records))
    await ran(here, {"a": 1, "b": 2})
    new = await ran(here, {"a": doubted, "b": both})
    _, lines = await changes(here, new)
    assert [(line["change"], line["fields"], line["why"]) for line in lines] == [
        ("unclear", {}, "price was not sure enough in the later run"),
        ("changed", {"sku": {"before": "b", "after": "B"}}, "price was not sure enough in the later run"),
    ]


def _with(record: Record, candidates: Mapping[str, tuple[FieldCandidate, ...]]) -> Record:
    return replace(record, candidates=candidates)


async def test_a_schema_declares_the_key_and_a_wrong_one_is_refused(here: World) -> None:
    schema = {"type": "object", "properties": {"sku": {}, "price": {}}, "x-key": ["sku", "price"]}
    await ran(here, {"a": 1}, extract={"schema": schema})
    new = await ran(here, {"a": 2}, extract={"schema": schema})
    told, lines = await changes(here, new)
    assert told["key"] == ["sku", "price"] and [line["change"] for line in lines] == ["appeared", "went"]
    assert lines[0]["key"] == '["a", "2"]'
    answer = await here.client.get(f"/v1/jobs/{new}/changes?key=nope")
    assert answer.status_code == 400 and "'nope'" in answer.text and "sku" in answer.text
    for key, place in ((["size"], "extract.schema.x-key"), (7, "extract.schema.x-key"), ([], "extract.schema.x-key")):
        wrong = {**schema, "x-key": key}
        answer = await here.client.post("/v1/jobs", json={"url": SHOP, "extract": {"schema": wrong}})
        assert answer.status_code == 400 and answer.json()["errors"][0]["field"] == place, answer.text
    listed = {"type": "array", "items": {"type": "object", "properties": {"sku": {}}}, "x-key": "sku"}
    answer = await here.client.post("/v1/jobs", json={"url": SHOP, "extract": {"schema": listed}})
    assert answer.status_code == 400 and "extract.schema.items.x-key" in answer.text


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"extract": {"goal": "read it"}}, "the job has none"),
        ({"extract": {"goal": "read it"}, "loop": {"values": [SHOP]}}, "`artifacts.evidence`: document"),
    ],
)
async def test_what_no_run_could_skip_is_refused(here: World, spec: dict[str, Any], said: str) -> None:
    body = {"url": SHOP, "changes": {"skip_unchanged": True}, **spec}
    answer = await here.client.post("/v1/jobs", json=body)
    (fault,) = answer.json()["errors"]
    assert (answer.status_code, fault["field"]) == (400, "changes.skip_unchanged") and said in fault["reason"]
    kept = await here.client.post(
        "/v1/jobs", json={**body, "loop": {"values": [SHOP]}, "artifacts": {"evidence": "document"}}
    )
    assert kept.status_code == 201, kept.text


async def test_a_job_that_runs_has_no_changes_yet(here: World) -> None:
    old = await ran(here, {"a": 1})
    new = await here.submit(loop={"values": [SHOP + "a"]})
    answer = await here.client.get(f"/v1/jobs/{new}/changes?since={old}")
    assert answer.status_code == 409 and "has not ended" in answer.json()["detail"]


async def test_the_run_before_is_of_the_same_tenant_and_completed() -> None:
    async with api_world(auth=True) as here:
        spec = {"url": SHOP, "goal": "look"}
        jobs = []
        for tenant in ("acme", "other", "acme"):
            headers = {"Authorization": f"Bearer {await here.key('submit', 'read', tenant=tenant)}"}
            jobs.append((await here.client.post("/v1/jobs", json=spec, headers=headers)).json()["id"])
            await here.run(lambda work: completed({"n": 1}))
        assert await here.store.previous(ids.parse_job(jobs[2])) == ids.parse_job(jobs[0])
        answer = await here.client.get(f"/v1/jobs/{jobs[2]}/changes?since={jobs[1]}", headers=headers)
        assert answer.status_code == 404


# --- against a plain comparison ------------------------------------------------------------------------

RECORDS = st.lists(
    st.fixed_dictionaries(
        {"k": st.sampled_from("abcdefgh") | st.none(), "v": st.integers(0, 2) | st.booleans() | st.just(2**70)}
    ),
    max_size=10,
)


def line(record: Any, n: int = 0) -> dict[str, Any]:
    item = {"value": f"i{n}"}
    return {
        **{"record": record, "item": item, "url": "https://same.example/", "session": f"s{n}", "at": ""},
        **{"candidates": {}, "status": "completed", "answer": ""},
    }


@contextmanager
def compared(old: list[Any], new: list[Any], keys: list[Key]) -> Iterator[RunChanges]:
    runs = ComparedRuns(keys)
    runs.add(WhichRun.BEFORE, [line(record, n) for n, record in enumerate(old)])
    runs.add(WhichRun.AFTER, [line(record, n) for n, record in enumerate(new)])
    found = write_changes(runs, 1, 2, ["", ""])
    runs.close()
    try:
        yield found
    finally:
        found.close()


@given(RECORDS, RECORDS)
def test_changes_are_those_of_two_dicts(old: list[Any], new: list[Any]) -> None:
    times = [Counter(record["k"] for record in records if record["k"] is not None) for records in (old, new)]
    doubled = {key for counter in times for key, n in counter.items() if n > 1}
    before, after = ({r["k"]: r for r in records if r["k"] and r["k"] not in doubled} for records in (old, new))
    both = before.keys() & after.keys()
    changed = {key for key in both if repr(before[key]["v"]) != repr(after[key]["v"])}
    with compared(old, new, [("k",)]) as found:
        lines = list(found.lines())
    by_kind = {kind: {line["key"] for line in lines if line["change"] == kind} for kind in ("appeared", "went")}
    assert by_kind == {"appeared": after.keys() - before.keys(), "went": before.keys() - after.keys()}
    fields = {line["key"]: line["fields"]["v"] for line in lines if line["change"] == "changed"}
    assert fields.keys() == changed and found.counts.same == len(both - changed)
    assert all((told["before"], told["after"]) == (before[k]["v"], after[k]["v"]) for k, told in fields.items())
    assert found.counts.unclear == len(old) + len(new) - len(before) - len(after)
    assert sum(line["change"] == "unclear" for line in lines) == found.counts.unclear


def test_the_key_that_is_found_is_given_unique_and_stable() -> None:
    old = [{"title": "same", "price": n, "sku": f"s{n}"} for n in range(50)]
    new = [{"title": "same", "price": 100 + n, "sku": f"s{49 - n}"} for n in range(50)]
    sides = [[line(r, 100 * side + n) for n, r in enumerate(rs)] for side, rs in enumerate((old, new))]
    keys = likely_keys(*sides)
    assert keys[0] == ("sku",)
    with compared(old, new, [("price",), ("title",), ("sku",)]) as found:
        assert found.key == ("sku",) and found.counts.changed == 50


@pytest.mark.parametrize("n", [1_000_000] if os.environ.get("TEST_LARGE") else [20_000])
def test_memory_holds_some_lines_of_the_runs_however_many_there_are(n: int) -> None:
    peaks = []
    for size in (n // 10, n):
        command = [sys.executable, "-m", "tests.unit.gateway.many_changes", str(size)]
        *counts, peak = map(int, subprocess.run(command, capture_output=True, check=True, text=True).stdout.split())
        assert counts == [3 * size // 10, size // 10, size // 10, size // 10]
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 24 << 10, "KiB: the cache of the database, and not the lines"


def test_values_that_are_the_same_json_are_no_change() -> None:
    assert differing({"a": 1, "c": [1, {"x": True}]}, {"a": 1.0, "b": None, "c": [1, {"x": True}]}) == {}
    assert differing({"a": [1]}, {"a": [True]}) == {"a": ([1], [True])}
    assert differing({"a": {"b": 1}}, {"a": {"b": True}}).keys() == {"a"}
