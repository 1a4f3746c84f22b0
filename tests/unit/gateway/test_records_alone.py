"""Results handed out as their records alone: columns of the schema, lists as asked for, texts that stay texts."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import AsyncIterator
from typing import Any

import pyarrow as pa
import pytest
from lxml import etree

from tests.gateway_world import World, api_world, completed, failed, loop_of

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "price": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "seller": {"type": "object", "properties": {"city": {"type": "string"}}},
        "note": {"type": "string"},
    },
}
RECORDS = [
    {"name": "=1+1", "price": 1.5, "tags": ["a", "b"], "seller": {"city": "Bonn"}},
    {"name": "-x", "price": 2, "tags": [], "seller": {"city": None}},
]


@pytest.fixture
async def w() -> AsyncIterator[World]:
    async with api_world() as made:
        yield made


async def finished(w: World) -> str:
    job = await w.submit(goal=None, extract={"schema": SCHEMA}, loop={"values": ["0", "1", "2"]})

    def each(work: Any) -> Any:
        return failed() if work.item.value == "2" else completed(RECORDS[int(work.item.value)])

    await w.run(loop_of(["0", "1", "2"], each))
    return job


async def read(w: World, job: str, **query: Any) -> bytes:
    answer = await w.client.get(f"/v1/jobs/{job}/results", params={"columns": "record", **query})
    assert answer.status_code == 200, answer.text
    return answer.content


def cells(workbook: bytes) -> list[list[Any]]:
    """Return what the cells of the one sheet hold, texts in quotes."""
    with zipfile.ZipFile(io.BytesIO(workbook)) as archive:
        root = etree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    assert not root.findall(".//{*}f"), "a formula"
    return [[(re.sub(r"\d", "", cell.get("r")), value_of(cell)) for cell in row] for row in root.iter("{*}row")]


def value_of(cell: Any) -> Any:
    if cell.get("t") == "inlineStr":
        return cell.findtext(".//{*}t")
    return float(cell.findtext("{*}v"))


async def test_csv_has_the_schema_s_columns_in_its_order(w: World) -> None:
    job = await finished(w)
    head, *lines = (await read(w, job, format="csv", formulas=False)).decode().split("\r\n")
    assert head == "name,price,tags,seller.city,note"
    assert lines == ['\'=1+1,1.5,"[""a"",""b""]",Bonn,', "'-x,2,[],,", ""]


@pytest.mark.parametrize(
    ("lists", "rows"),
    [("joined", ["=1+1,1.5,a; b,Bonn,", '-x,2,"",,']), ("rows", ["=1+1,1.5,a,Bonn,", "=1+1,1.5,b,Bonn,", "-x,2,,,"])],
)
async def test_lists_are_joined_or_make_rows_as_asked(w: World, lists: str, rows: list[str]) -> None:
    job = await finished(w)
    _, *lines = (await read(w, job, format="csv", lists=lists)).decode().split("\r\n")
    assert lines == [*rows, ""]


async def test_a_workbook_holds_texts_as_texts_and_numbers_as_numbers(w: World) -> None:
    job = await finished(w)
    head, first, second = cells(await read(w, job, format="xlsx", lists="joined"))
    assert [name for _, name in head] == ["name", "price", "tags", "seller.city", "note"]
    assert first == [("A", "=1+1"), ("B", 1.5), ("C", "a; b"), ("D", "Bonn")]
    assert second[:2] == [("A", "-x"), ("B", 2.0)]


async def test_arrow_is_a_stream_with_types_and_lines_are_the_records(w: World) -> None:
    job = await finished(w)
    table = pa.ipc.open_stream(await read(w, job, format="arrow")).read_all()
    assert table.column_names == ["name", "price", "tags", "seller.city", "note"]
    assert table.schema.field("price").type == pa.float64() and table["price"].to_pylist() == [1.5, 2.0]
    whole = (await w.client.get(f"/v1/jobs/{job}/results", params={"format": "arrow"})).content
    assert pa.ipc.open_stream(whole).read_all().num_rows == 3
    lines = (await read(w, job)).decode().splitlines()
    assert lines[0] == '{"name":"=1+1","price":1.5,"tags":["a","b"],"seller":{"city":"Bonn"}}' and len(lines) == 2


async def test_a_table_that_no_sheet_can_hold_is_refused_before_it_begins(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.services.web.results.table._SHEET_LINES", 2)
    answer = await w.client.get(f"/v1/jobs/{await finished(w)}/results", params={"format": "xlsx"})
    assert answer.status_code == 400 and answer.json()["errors"][0]["field"] == "format"
