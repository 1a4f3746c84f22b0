"""Fields with a given place are read there, or an error says what is there instead."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.agent.browser import Context
from shoal.agent.errors import BadSelector, PlaceAmbiguous, PlaceMissing, RecordInvalid
from shoal.agent.models.decisions.extract import check_records
from shoal.agent.policies.extraction import extract_records
from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.spec import JobSpec

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def read(page: Context, url: str, **extract: Any) -> Extraction:
    """Return what is read from `url`, valid against its schema."""
    await page.goto(url)
    job = JobSpec.model_validate({"url": url, "extract": extract})
    found = await extract_records(RulesPolicy(), SessionState(spec=job, loop=None, item=None, page=page))
    assert job.extract is not None
    await check_records(found.records, job.extract, url=url, missing=found.missing)
    return found


async def one(page: Context, url: str, **fields: Any) -> Any:
    """The record that these fields give."""
    return (await read(page, url, fields=fields)).records[0].value


def schema(*, many: bool = False, required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    record = {"type": "object", "properties": properties}
    if required is not None:
        record["required"] = required
    return {"type": "array", "items": record} if many else record


TEXT = {"type": "string"}
COLUMNS = {
    "part": {"column": "Part"},
    "net": {"column": "net", "reader": "price"},
    "gross": {"column": "Price Gross", "reader": "price"},
}


async def test_columns_are_read_with_spans_and_without_the_titles_of_sections(page: Context, site: str) -> None:
    found = await read(page, f"{site}/parts", records=".parts tbody tr", fields=COLUMNS)
    assert [tuple(record.value.values()) for record in found.records] == [
        ("M4 steel", 1, 1.19),
        ("M5", 2, 2.38),
        ("M6", 2, 2.39),
        ("N1", 3, 3.57),
    ]
    source = found.records[0].sources["gross"]
    assert (source.how, source.sureness, source.confirmed) == ("given", "certain", True)
    assert source.where.endswith("tr:nth-of-type(2) > td:nth-of-type(2)")


async def test_the_rows_of_the_only_table_with_these_columns_are_the_records(page: Context, site: str) -> None:
    shape = schema(many=True, required=["part"], part=TEXT, stock={"type": ["string", "null"]})
    found = await read(
        page, f"{site}/parts", schema=shape, fields={"part": {"column": "part"}, "stock": {"column": "Stock"}}
    )
    assert [record.value["stock"] for record in found.records] == ["In stock (3 available)", None, "7", "12"]
    with pytest.raises(PlaceAmbiguous, match=r"2 tables have these columns; give `extract\.records`"):
        await read(page, f"{site}/two-tables", schema=shape, fields={"part": {"column": "part"}})


async def test_a_grid_of_roles_keeps_its_columns_where_a_cell_is_left_out(page: Context, site: str) -> None:
    shape = schema(many=True, required=["make"], make=TEXT, model=TEXT, price={"type": "integer"})
    found = await read(
        page, f"{site}/grid", schema=shape, fields={n: {"column": n} for n in ("make", "model", "price")}
    )
    assert [record.value for record in found.records] == [
        {"make": "Ford", "price": 32000},
        {"make": "Opel", "model": "Astra", "price": 21000},
    ]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ({"label": "upc"}, "a897"),
        ({"label": "Availability"}, "In stock (3 available)"),
        ({"label": "Availability", "reader": "integer"}, 3),
        ({"label": "Availability", "reader": "boolean"}, True),
        ({"label": "Weight"}, "1.5 kg"),
        ({"label": "Mass", "reader": "number"}, 1.5),
        ({"label": "Status"}, "Open"),
        ({"label": "Author"}, "Jane Doe"),
        ({"label": "Year", "reader": "integer"}, 1990),
        ({"label": "Shelf"}, "B 12"),
        ({"label": "Description"}, "A lamp for every desk. Two bulbs."),
        ({"select": "time", "reader": "date"}, "2024-03-01"),
        ({"select": ".price", "reader": "price"}, 12.5),
        ({"select": ".price", "reader": "currency"}, "GBP"),
        ({"select": ".tags li", "all": True}, ["a", "b"]),
        ({"select": "nav li:first-child a", "attribute": "href", "reader": "text"}, "/a"),
        ({"select": ".big"}, "Quiet"),
    ],
)
async def test_a_place_gives_its_value(page: Context, site: str, place: dict[str, Any], value: Any) -> None:
    assert await one(page, f"{site}/facts", it=place) == {"it": value}


async def test_an_attribute_that_leads_somewhere_is_a_whole_address(page: Context, site: str) -> None:
    assert await one(page, f"{site}/facts", it={"select": "nav a[href='/b']", "attribute": "href"}) == {
        "it": f"{site}/b"
    }


async def test_the_terms_of_one_label_are_a_list_where_a_list_is_asked_for(page: Context, site: str) -> None:
    shape = schema(colours={"type": "array", "items": TEXT})
    found = await read(page, f"{site}/facts", schema=shape, fields={"colours": {"label": "Colours"}})
    assert found.records[0].value == {"colours": ["red", "blue"]}


async def test_an_edit_page_gives_what_its_controls_hold(page: Context, site: str) -> None:
    shape = schema(
        name=TEXT,
        role=TEXT,
        role_id={"type": "integer"},
        notes=TEXT,
        active={"type": "boolean"},
        staff={"type": "boolean"},
        plan=TEXT,
        groups={"type": "array", "items": TEXT},
        quota={"type": "integer"},
        biography=TEXT,
    )
    fields = {name: {"label": name} for name in ("name", "role", "notes", "active", "staff", "plan", "groups", "quota")}
    fields |= {"biography": {"label": "Biography"}, "role_id": {"select": "#r option:checked", "attribute": "value"}}
    found = await read(page, f"{site}/edit", schema=shape, fields=fields)
    assert found.records[0].value == {
        "name": "Ada",
        "role": "Editor",
        "role_id": 2,
        "notes": "first line\nsecond line",
        "active": True,
        "staff": False,
        "plan": "Paid",
        "groups": ["a", "c"],
        "quota": 40,
        "biography": "Born 1815",
    }


async def test_a_password_is_never_read(page: Context, site: str) -> None:
    for place in ({"select": "[name=pw]"}, {"select": "[name=pw]", "attribute": "value"}, {"label": "Password"}):
        with pytest.raises(RecordInvalid, match="never read") as refused:
            await one(page, f"{site}/edit", it=place)
        assert "hush" not in refused.value.message


async def test_json_is_read_from_every_kind_of_script(page: Context, site: str) -> None:
    shape = schema(price={"type": "number"}, in_stock={"type": "boolean"})
    fields = {"price": {"json": "$.offers.price"}, "in_stock": {"json": "$.offers.availability"}}
    found = await read(page, f"{site}/json-ld", schema=shape, fields=fields)
    assert found.records[0].value == {"price": 12.5, "in_stock": True}
    assert "offers" in found.records[0].sources["price"].where
    assert await one(page, f"{site}/state", it={"json": "$.props.item.title"}) == {"it": "Lamp, embedded"}
    assert await one(page, f"{site}/state", it={"json": "$..id", "reader": "integer"}) == {"it": 7}


async def test_a_json_document_is_a_page(page: Context, site: str) -> None:
    shape = schema(many=True, required=["id"], id={"type": "integer"}, name={"type": ["string", "null"]})
    fields = {"id": {"json": "$.id"}, "name": {"json": "$.name"}}
    found = await read(page, f"{site}/data.json", schema=shape, records="$.items[*]", fields=fields)
    assert [record.value for record in found.records] == [{"id": 1, "name": "a"}, {"id": 2, "name": None}]
    assert (await read(page, f"{site}/none.json", schema=shape, records="$.items[*]", fields=fields)).records == ()
    with pytest.raises(PlaceMissing, match=r"`extract.records`: \$.itens\[\*\] finds nothing"):
        await read(page, f"{site}/data.json", schema=shape, records="$.itens[*]", fields=fields)


async def test_what_is_not_given_is_found_beside_it(page: Context, site: str) -> None:
    shape = schema(required=["name", "shelf"], name=TEXT, shelf=TEXT)
    found = await read(page, f"{site}/facts", schema=shape, fields={"name": {"select": ".label"}})
    assert found.records[0].value == {"name": "Status:", "shelf": "B 12"}, "the given place wins, whatever it says"
    assert found.records[0].sources["name"].how == "given"
    assert found.records[0].sources["shelf"].how != "given"


async def test_what_a_record_states_beside_its_given_places_is_found_within_it(page: Context, site: str) -> None:
    shape = schema(many=True, required=["part", "gross"], part=TEXT, gross={"type": "number"}, url=TEXT)
    fields = {"part": {"column": "Part"}, "url": {"select": "a", "attribute": "href"}}
    found = await read(page, f"{site}/parts", schema=shape, records=".parts tbody tr", fields=fields)
    assert [(record.value["part"], record.value["gross"]) for record in found.records] == [
        ("M4 steel", 1.19),
        ("M5", 2.38),
        ("M6", 2.39),
        ("N1", 3.57),
    ]
    assert found.records[3].value["url"] == f"{site}/p/4"
    whole = await read(page, f"{site}/parts", schema=shape, records=".parts tbody tr")
    assert [record.value["gross"] for record in whole.records] == [1.19, 2.38, 2.39, 3.57]


# --- what is not there --------------------------------------------------------------------------------


async def test_a_selector_that_is_no_css_is_named(page: Context, site: str) -> None:
    with pytest.raises(BadSelector, match=r"`extract.fields.it`: div\[ is no CSS selector"):
        await one(page, f"{site}/facts", it={"select": "div["})
    with pytest.raises(BadSelector, match=r"`extract.wait_for`"):
        await read(page, f"{site}/facts", fields={"it": {"select": "h1"}}, wait_for="a[")


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ({"select": "p.prise"}, r"select p.prise finds nothing; nearest: p\.price"),
        ({"select": "span#upc"}, r'select span#upc finds nothing; nearest: .*"a897"'),
        ({"label": "UPC code"}, r'label UPC code labels nothing; nearest: "UPC"'),
        ({"column": "Grosss"}, r"column Grosss is no header of a table"),
        ({"json": "$.offers.price"}, "the page has no JSON"),
    ],
)
async def test_a_place_that_is_not_there_names_the_nearest(
    page: Context, site: str, place: dict[str, Any], says: str
) -> None:
    with pytest.raises(PlaceMissing, match=says) as missing:
        await one(page, f"{site}/facts", upc=place)
    assert "`extract.fields.upc`" in missing.value.message
    assert not missing.value.retryable


async def test_a_path_that_leads_nowhere_names_the_nearest(page: Context, site: str) -> None:
    with pytest.raises(PlaceMissing, match=r"nearest: .*offers.price"):
        await one(page, f"{site}/json-ld", it={"json": "$.offer.prize"})


async def test_several_different_values_are_no_answer(page: Context, site: str) -> None:
    with pytest.raises(PlaceAmbiguous, match=r"`extract.fields.it`: select td is 2 different values.*'a897'"):
        await one(page, f"{site}/facts", it={"select": "td"})
    with pytest.raises(PlaceAmbiguous, match=r"red.*blue"):
        await one(page, f"{site}/facts", it={"label": "Colours"})


async def test_a_label_that_only_stands_beside_others_has_no_value(page: Context, site: str) -> None:
    with pytest.raises(PlaceMissing, match="label See labels nothing"):
        await one(page, f"{site}/facts", it={"label": "See"})


async def test_a_value_that_cannot_be_read_says_what_stands_there(page: Context, site: str) -> None:
    with pytest.raises(RecordInvalid, match=r"says 'a897', which reads as no date"):
        await one(page, f"{site}/facts", it={"label": "UPC", "reader": "date"})


async def test_what_the_schema_does_not_require_may_be_absent(page: Context, site: str) -> None:
    shape = schema(required=["upc"], upc=TEXT, old=TEXT)
    fields = {"upc": {"label": "UPC"}, "old": {"select": ".old-price"}}
    found = await read(page, f"{site}/facts", schema=shape, fields=fields)
    assert found.records[0].value == {"upc": "a897"}
    assert found.missing == ("old",)


async def test_an_empty_list_is_none_only_where_the_page_says_so(page: Context, site: str) -> None:
    shape = schema(many=True, part=TEXT)
    found = await read(page, f"{site}/empty", schema=shape, records=".parts tr", fields={"part": {"column": "Part"}})
    assert (found.records, found.empty) == ((), True)
    with pytest.raises(PlaceMissing, match=r"`extract.records`: .part tr finds nothing; nearest"):
        await read(page, f"{site}/parts", schema=shape, records=".part tr", fields={"part": {"column": "Part"}})


async def test_a_paragraph_that_speaks_of_nothing_found_does_not_make_a_list_empty(page: Context, site: str) -> None:
    shape = schema(many=True, part=TEXT)
    with pytest.raises(
        PlaceMissing, match=r"`extract.records`: .parts > tr finds nothing; nearest: .parts tr \(\d+ el"
    ):
        await read(page, f"{site}/spoken", schema=shape, records=".parts > tr", fields={"part": {"column": "Part"}})


# --- late content and pages ---------------------------------------------------------------------------


async def test_late_content_is_waited_for(page: Context, site: str) -> None:
    fields = {"price": {"select": ".price", "reader": "price"}}
    assert (await read(page, f"{site}/late", fields=fields, wait_for=".price")).records[0].value == {"price": 12.5}
    assert (await read(page, f"{site}/late", fields=fields)).records[0].value == {"price": 12.5}


async def test_what_never_comes_is_said_and_may_be_tried_again(
    page: Context, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.agent.read.by_place.reading._AWAIT_S", 0.5)
    with pytest.raises(PlaceMissing, match=r"`extract.wait_for`: .never did not appear") as late:
        await read(page, f"{site}/facts", fields={"it": {"select": "h1"}}, wait_for=".never")
    assert late.value.retryable


ENTRIES = {"records": "li.hit", "fields": {"name": {"select": "b"}, "price": {"select": "i", "reader": "price"}}}


@pytest.mark.parametrize("onward", ["a.onward", "Older entries"])
async def test_the_given_link_leads_through_the_list(page: Context, site: str, onward: str) -> None:
    found = await read(page, f"{site}/linked", **ENTRIES, next=onward)
    assert [record.value["name"] for record in found.records] == [f"Entry {n}" for n in range(1, 10)]
    assert found.complete
    assert found.records[8].url == f"{site}/linked?page=3"


async def test_a_bound_on_pages_is_said(page: Context, site: str) -> None:
    found = await read(page, f"{site}/linked", **ENTRIES, next="a.onward", max_pages=2)
    assert (len(found.records), found.complete) == (6, False)
    assert "up to page 2" in found.why


WORDS_FOUND = schema(many=True, required=["no", "word"], no=TEXT, word=TEXT)
WORDS = {"fields": {"no": {"column": "No"}, "word": {"column": "Word"}}, "records": "#grid tbody tr"}


@pytest.mark.parametrize("onward", ["#on", "Next"])
async def test_a_button_of_a_script_leads_through_the_list(page: Context, site: str, onward: str) -> None:
    found = await read(page, f"{site}/scripted", **WORDS, next=onward)
    assert [record.value["no"] for record in found.records] == ["1", "2", "3", "4", "5"]
    assert [record.value["word"] for record in found.records] == ["yes", "no", "yes", "no", "yes"]
    assert found.complete


@pytest.mark.parametrize("path", ["/pager-late", "/pager-late-uncounted"])
@pytest.mark.parametrize("asked", [{**WORDS, "next": "#on"}, {"schema": WORDS_FOUND}], ids=["given", "found"])
async def test_a_pager_that_is_drawn_after_the_rows_is_waited_for(
    page: Context, site: str, path: str, asked: dict[str, Any]
) -> None:
    found = await read(page, f"{site}{path}", **asked)
    assert [record.value["no"] for record in found.records] == ["1", "2", "3", "4", "5"]


async def test_a_button_that_sends_a_form_is_not_pressed(page: Context, site: str) -> None:
    found = await read(page, f"{site}/scripted", **WORDS, next="#send")
    assert (len(found.records), found.complete) == (2, False)
    assert "sends a form by POST" in found.why
