"""A workflow is run from its page: one row in a form, or the rows of a file whose columns are matched."""

from __future__ import annotations

import html
import json
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import pytest_asyncio

from shoal.agent.workflows.format.param import Param
from shoal.agent.workflows.format.version import Version
from shoal.services.web.pages.submit.loop_values import read_table
from shoal.services.web.pages.workflows.run_inputs import details, matched, rows_of, run_inputs
from tests.gateway_world import World, world
from tests.unit.gateway.test_workflows import URL
from tests.unit.workflows.books import BOOKS

EVIL = "<script>alert(1)</script>"
PARAMS = [
    {"name": "country", "source": "data", "path": "$.country", "description": "Country of the buyer"},
    {"name": "city", "source": "data", "path": "$.address.city"},
    {"name": "city_in_capitals", "source": "data", "path": "$.address.city", "transform": "upper"},
    {"name": "pieces", "source": "data", "path": "$.pieces", "type": "integer"},
    {"name": "express", "source": "data", "path": "$.express", "type": "boolean"},
    {"name": "password", "source": "secret", "path": "shop/password", "sensitive": True},
]
FLOW: dict[str, Any] = {
    "format": "shoal-workflow/1",
    "name": "orders",
    "scope": {"site": "shop.example:8443"},
    "versions": [
        {
            "url": "https://shop.example:8443/new",
            "params": PARAMS,
            "nodes": [{"id": "wait", "kind": "wait", "until": [{"kind": "text", "value": "{country}"}]}],
        }
    ],
}
CSV = "Express,City,Country,Number of pieces\nTRUE,Bonn,Germany,3\nfalse,Lyon,France,12\n"
RUN = "/workflows/orders/versions/1/run"
ROW = {"value.country": "Germany", "value.city": "Bonn", "value.pieces": "3", "value.express": "true"}


@pytest_asyncio.fixture
async def w() -> AsyncIterator[World]:
    async with world() as made:
        await made.client.post(URL, json=FLOW)
        yield made


async def form_of(w: World, **fields: str) -> dict[str, str]:
    """The inputs that the page's forms have beside the row, with `fields`."""
    page = (await w.client.get("/workflows/orders")).text
    token, key = (re.search(rf'name="{name}" value="([^"]*)"', page) for name in ("token", "key"))
    assert token is not None and key is not None
    begins = {"url": "https://shop.example:8443/new", "domains.shop/password": "shop.example"}
    return {"token": token[1], "key": key[1], **begins, **fields}


async def spec_of(w: World, answer: Any) -> Mapping[str, Any]:
    assert answer.status_code == 303, answer.text
    job = answer.headers["location"].rpartition("/")[2]
    spec: Mapping[str, Any] = (await w.client.get(f"/v1/jobs/{job}")).json()["spec"]
    return spec


async def test_the_page_asks_for_each_part_of_the_details_with_type_and_description(w: World) -> None:
    page = (await w.client.get("/workflows/orders")).text
    asked = re.findall(r'name="value\.(\w+)"', page)
    assert asked == ["country", "city", "pieces", "express"], "two parameters of one place are one input"
    assert "a text · Country of the buyer" in page and "a whole number" in page
    assert 'name="url" value="https://shop.example:8443/new"' in page
    assert 'name="domains.shop/password" value="shop.example"' in page


async def test_one_row_becomes_a_job_of_the_version_and_a_second_click_the_same_one(w: World) -> None:
    form = await form_of(w, step="run", **ROW)
    done = await w.client.post(RUN, data=form)
    spec = await spec_of(w, done)
    assert spec["data"] == {"country": "Germany", "address": {"city": "Bonn"}, "pieces": 3, "express": True}
    assert (spec["policy"], spec["url"]) == ("workflow:orders@1", "https://shop.example:8443/new")
    assert spec["secrets"] == {"shop/password": {"domains": ["shop.example"]}}
    assert spec.get("loop") is None
    again = await w.client.post(RUN, data=form)
    assert again.headers["location"] == done.headers["location"]


async def test_what_is_wrong_with_a_row_is_told_at_its_field_and_nothing_is_handed_in(w: World) -> None:
    form = await form_of(w, step="run", **ROW | {"value.pieces": "3.5", "value.city": " ", "value.country": EVIL})
    refused = await w.client.post(RUN, data=form)
    assert refused.status_code == 400 and "Nothing was handed in." in refused.text and EVIL not in refused.text
    assert "<code>pieces</code> is not a whole number" in refused.text
    assert "<code>city</code> is empty" in refused.text
    assert 'name="value.pieces" value="3.5"' in refused.text, "what was typed stays"
    assert (await w.client.get("/v1/jobs")).json()["jobs"] == []
    allowed = await w.client.post(RUN, data={**form, "value.pieces": "3", "empty": "city"})
    assert (await spec_of(w, allowed))["data"]["address"] == {"city": ""}
    forged = await w.client.post(RUN, data={**form, "token": "forged"})
    assert forged.status_code == 403
    nowhere = await w.client.post(RUN, data=await form_of(w, step="run", **ROW | {"url": "ftp://x"}))
    assert nowhere.status_code == 400 and "<code>url</code>" in nowhere.text


async def test_a_files_columns_are_matched_shown_corrected_and_become_a_loop(w: World) -> None:
    shown = await w.client.post(RUN, data=await form_of(w, step="match", file=CSV))
    assert shown.status_code == 200
    chosen = dict(
        re.findall(r'name="column\.(\w+)".*?<option selected>([^<]*)<', shown.text.replace("</select>", "\n"))
    )
    assert chosen == {"country": "Country", "city": "City", "express": "Express"}
    assert "Lyon" in shown.text and "Run 2 rows" in shown.text
    kept = re.search(r'<textarea name="file" hidden>\n(.*?)</textarea>', shown.text, re.DOTALL)
    assert kept is not None and html.unescape(kept[1]) == CSV, "a browser drops the first line break, and no other"
    columns = {f"column.{name}": column for name, column in chosen.items()}
    missing = await w.client.post(RUN, data=await form_of(w, step="run", file=CSV, **columns, **{"column.pieces": ""}))
    assert missing.status_code == 400 and "<code>pieces</code> no column is chosen" in missing.text
    columns["column.pieces"] = "Number of pieces"
    spec = await spec_of(w, await w.client.post(RUN, data=await form_of(w, step="run", file=CSV, **columns)))
    assert spec["loop"]["is_link"] is False and spec.get("data") is None
    assert [json.loads(value) for value in spec["loop"]["values"]] == [
        {"country": "Germany", "address": {"city": "Bonn"}, "pieces": 3, "express": True},
        {"country": "France", "address": {"city": "Lyon"}, "pieces": 12, "express": False},
    ]


async def test_a_wrong_cell_is_told_with_its_row_and_column(w: World) -> None:
    wrong = CSV.replace("12", "a dozen").replace("Lyon", "")
    form = await form_of(w, step="run", file=wrong, **{"column.pieces": "Number of pieces"})
    refused = await w.client.post(RUN, data=form)
    assert refused.status_code == 400
    assert "row 2, column &#39;Number of pieces&#39;</code> &#39;a dozen&#39; is not a whole number" in refused.text
    assert "row 2, column &#39;City&#39;</code> is empty" in refused.text
    assert (await w.client.get("/v1/jobs")).json()["jobs"] == []
    broken = await w.client.post(RUN, data=await form_of(w, step="match", file="a,a\n1,2\n"))
    assert broken.status_code == 400 and "each name once" in broken.text


def version(*params: Mapping[str, Any]) -> Version:
    made = tuple(Param.model_validate(param) for param in params)
    return Version.model_validate({"params": made, "nodes": [{"id": "read", "kind": "extract"}]})


def test_details_are_put_where_the_parameters_read_them() -> None:
    inputs = run_inputs(
        version(
            {"name": "second", "source": "data", "path": "$.lines[1].text"},
            {"name": "odd", "source": "data", "path": '$["a b"]', "type": "object"},
        )
    )
    faults: list[dict[str, str]] = []
    given = details(inputs, {"second": "x", "odd": '{"k": 1}'}, (), faults, "")
    assert (given, faults) == ({"lines": [None, {"text": "x"}], "a b": {"k": 1}}, [])


def test_a_value_as_a_whole_stands_alone() -> None:
    alone = run_inputs(version({"name": "isbn", "source": "loop"}))
    rows, faults = rows_of(alone, read_table(b"isbn\n12\n"), {"isbn": "isbn"}, ())
    assert (alone.of_item, rows, faults) == (True, ["12"], [])
    both = version({"name": "isbn", "source": "loop"}, {"name": "city", "source": "data", "path": "$.city"})
    assert "isbn" in run_inputs(both).unsaid


@pytest.mark.parametrize("path", ["$..city", "$.lines[*]", "$.lines[?@.a == 1]", "city"])
def test_what_is_no_single_place_is_told(path: str) -> None:
    assert path in run_inputs(version({"name": "city", "source": "data", "path": path})).unsaid


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("number", "007", None),
        ("number", "NaN", None),
        ("integer", "true", None),
        ("boolean", "True", True),
        ("boolean", "yes", None),
        ("number", "1e3", 1000.0),
        ("array", "[1]", [1]),
        ("object", "[1]", None),
        ("string", "007", "007"),
    ],
)
def test_a_text_is_read_by_its_type_and_never_guessed(kind: str, text: str, value: Any) -> None:
    (only,) = run_inputs(version({"name": "x", "source": "data", "path": "$.x", "type": kind})).fields
    if value is None:
        with pytest.raises(ValueError, match="is not"):
            only.read(text, may_be_empty=False)
    else:
        assert only.read(text, may_be_empty=False) == value


def test_a_column_is_taken_once_and_the_one_that_is_called_the_same_first() -> None:
    inputs = run_inputs(version(*({"name": n, "source": "data", "path": f"$.{n}"} for n in ("names", "name"))))
    assert matched(inputs, ["name"]) == {"names": "", "name": "name"}


async def test_one_row_of_a_workflow_that_reads_a_loops_item_is_a_loop_of_one(w: World) -> None:
    of_loop = [{**param, "source": "loop"} if param["source"] == "data" else param for param in PARAMS]
    (kept,) = FLOW["versions"]
    await w.client.post(URL, json={**FLOW, "name": "looped", "versions": [{**kept, "params": of_loop}]})
    form = await form_of(w, step="run", **ROW)
    spec = await spec_of(w, await w.client.post("/workflows/looped/versions/1/run", data=form))
    (value,) = spec["loop"]["values"]
    assert json.loads(value)["address"] == {"city": "Bonn"} and spec.get("data") is None


async def test_a_workflow_that_needs_nothing_runs_by_its_button(w: World) -> None:
    await w.client.post(URL, json=BOOKS)
    page = (await w.client.get("/workflows/books")).text
    assert "Many runs" not in page and 'action="/workflows/books/versions/1/run"' in page
    form = await form_of(w, step="run", url="https://shop.example/p/1")
    spec = await spec_of(w, await w.client.post("/workflows/books/versions/1/run", data=form))
    assert (spec["policy"], spec["url"], spec.get("data")) == ("workflow:books@1", "https://shop.example/p/1", None)
