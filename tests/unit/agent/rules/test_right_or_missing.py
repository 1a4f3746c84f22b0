"""A value is the page's own or it is missing: no label, no heading of a section, no placeholder, no other's value."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from shoal.agent.browser import Context
from shoal.agent.errors import FieldsMissing
from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.policies.rules.fields.extraction import extract_page
from shoal.agent.spec import JobSpec

if TYPE_CHECKING:
    from tests.unit.agent.rules.conftest import Site


TEXT = {"type": "string"}
NUMBER = {"type": "number"}
FLAG = {"type": "boolean"}
TEXTS = {"type": "array", "items": TEXT}


async def read(
    page: Context,
    site: Site,
    body: str,
    *,
    many: bool = False,
    accept: str = "likely",
    headline: str = "T",
    fragment: str = "",
    **wanted: Any,
) -> Extraction:
    """Return what the policy reads of a page with this body, by a schema of the fields `wanted`."""
    site.pages[f"/here{fragment}"] = (
        f'<!doctype html><html lang="en"><head><title>{headline}</title></head><body>{body}</body></html>'
    )
    record = {"type": "object", "properties": wanted}
    schema = {"type": "array", "items": record} if many else record
    url = f"{site.url}/here{fragment}"
    await page.goto(url)
    job = JobSpec.model_validate({"url": url, "extract": {"schema": schema, "accept": accept}})
    return await extract_page(SessionState(spec=job, loop=None, item=None, page=page))


async def value(page: Context, site: Site, body: str, **wanted: Any) -> dict[str, Any]:
    """The one record of such a page."""
    (record,) = (await read(page, site, body, **wanted)).records
    return dict(record.value)


async def values(page: Context, site: Site, body: str, **wanted: Any) -> list[Any]:
    """The records of such a page."""
    return [record.value for record in (await read(page, site, body, many=True, **wanted)).records]


PARAMETERS = """<section id="enum"><h1>enum: choices</h1><p>Support for choices of one kind.</p>
<section><h2>Data types</h2><p>Makes a class.</p>
<dl><dt>value</dt><dd>What the class is called.</dd><dt>names</dt><dd>The names of its members.</dd>
<dt>module</dt><dd>Where the class is made.</dd></dl></section></section>"""


@pytest.mark.parametrize("fragment", ["", "#enum"])
async def test_the_parameters_of_something_on_a_page_do_not_name_the_page(
    page: Context, site: Site, fragment: str
) -> None:
    found = await read(page, site, PARAMETERS, fragment=fragment, headline="enum: choices", title=TEXT, module=TEXT)
    assert found.records[0].value["title"] == "enum: choices"


async def test_a_text_that_begins_with_the_field_s_name_states_it(page: Context, site: Site) -> None:
    body = '<h1>A lamp</h1><p class="number">Article number SON-6722-S193</p>'
    assert await value(page, site, body, sku=TEXT) == {"sku": "SON-6722-S193"}


async def test_a_weak_place_does_not_hide_what_the_page_s_lines_say(page: Context, site: Site) -> None:
    body = """<h1>A lamp</h1><p>3,909.50 EUR <small>incl. VAT</small></p><h2>Delivery</h2>
<table class="costs"><tr><th>To</th><th>Parcel</th></tr><tr><td>Austria</td><td>5.90 EUR</td></tr>
<tr><td>Poland</td><td>7.90 EUR</td></tr></table>"""
    assert await value(page, site, body, currency=TEXT) == {"currency": "EUR"}


# --- labels and headings ---------------------------------------------------------------------------------


async def test_an_element_that_is_classed_like_a_field_and_holds_its_label_gives_no_value(
    page: Context, site: Site
) -> None:
    body = """<main><h1>Ticket 12</h1>
      <p><span class="status">Status:</span> <b>open</b></p><p class="category-label">Category</p>
      <div class="category">Category:</div><h2 class="description">DESCRIPTION</h2></main>"""
    found = await value(page, site, body, title=TEXT, status=TEXT, category=TEXT, description=TEXT)
    assert found == {"title": "Ticket 12", "status": "open"}


async def test_the_name_is_the_pages_heading_and_no_line_of_a_list_inside_the_text(page: Context, site: Site) -> None:
    body = """<main><h1>json.dumps</h1><p>Writes text.</p><h2>Parameters</h2>
      <dl><dt>name</dt><dd>what the file is called</dd><dt>indent</dt><dd>how deep</dd></dl></main>"""
    assert await value(page, site, body, name=TEXT) == {"name": "json.dumps"}


async def test_a_line_of_the_records_own_facts_names_it_though_the_heading_says_something_else(
    page: Context, site: Site
) -> None:
    body = """<main><h1>Contact details</h1>
      <table><tr><th>Name</th><td>Ann Lee</td></tr><tr><th>Phone</th><td>123 456</td></tr></table></main>"""
    assert await value(page, site, body, name=TEXT, phone=TEXT) == {"name": "Ann Lee", "phone": "123 456"}


async def test_the_head_of_a_list_of_plain_boxes_gives_no_values(page: Context, site: Site) -> None:
    body = """<main><h1>Builds</h1><div class="r"><div>Status</div><div>Owner</div></div>
      <p>There is nothing here yet.</p></main>"""
    found = await read(page, site, body, name=TEXT, status=TEXT, owner=TEXT)
    assert found.records[0].value == {"name": "Builds"}
    assert set(found.missing) == {"status", "owner"}


async def test_placeholders_are_no_values(page: Context, site: Site) -> None:
    body = """<main><h1>Part 7</h1><dl><dt>Color</dt><dd>-</dd><dt>Weight</dt><dd>n/a</dd><dt>Size</dt><dd>—</dd>
      <dt>Material</dt><dd>Steel</dd></dl></main>"""
    assert await value(page, site, body, color=TEXT, weight=TEXT, size=TEXT, material=TEXT) == {"material": "Steel"}


async def test_cards_that_all_stand_under_one_heading_are_not_all_called_by_it(page: Context, site: Site) -> None:
    cards = "".join(
        f'<div class="card"><h3>Our products</h3><span class="sku">K-{n}</span><span class="price">€{n}.00</span></div>'
        for n in (1, 2, 3, 4)
    )
    found = await values(page, site, f"<main><h1>Our products</h1>{cards}</main>", name=TEXT, sku=TEXT, price=NUMBER)
    assert found == [{"sku": f"K-{n}", "price": n} for n in (1, 2, 3, 4)]


# --- controls --------------------------------------------------------------------------------------------


EDIT = """<main><h1>Edit book</h1><form method="post">
  <div class="field title"><label for="t">Title:</label> <input id="t" name="title" value="Dune"></div>
  <p><label>Status <select name="status"><option value="">Choose…</option><option value="3">Draft</option>
    <option value="4" selected>Published</option></select></label></p>
  <table><tr><th><label for="d">Description</label></th><td><textarea id="d" name="d">A desert.
Sand.</textarea></td></tr>
  <tr><th>Pages</th><td><input type="number" name="num" value="412"></td></tr></table>
  <p><input type="checkbox" name="active" id="a" checked><label for="a">Active</label></p>
  <p><input type="checkbox" name="sold" id="s"><label for="s">Sold out</label></p>
  <p><label>Published on <input type="date" name="on" value="1965-08-01"></label></p>
  <fieldset><legend>Binding</legend><label><input type="radio" name="b" value="h"> Hardcover</label>
    <label><input type="radio" name="b" value="p" checked> Paperback</label></fieldset>
  <div id="lbl">Notes</div><div contenteditable="true" aria-labelledby="lbl">Handle with care</div>
  <label>Password <input type="password" name="password" value="geheim"></label>
  <label>Owner <input name="owner" placeholder="Who owns it?"></label><button>Save</button></form></main>"""


async def test_an_edit_page_gives_the_values_of_its_controls_and_not_their_labels(page: Context, site: Site) -> None:
    found = await value(
        page,
        site,
        EDIT,
        title=TEXT,
        status=TEXT,
        description=TEXT,
        pages={"type": "integer"},
        active=FLAG,
        sold_out=FLAG,
        published={"type": "string", "format": "date"},
        binding=TEXT,
        notes=TEXT,
        password=TEXT,
        owner=TEXT,
    )
    assert found == {
        "title": "Dune",
        "status": "Published",
        "description": "A desert.\nSand.",
        "pages": 412,
        "active": True,
        "sold_out": False,
        "published": "1965-08-01",
        "binding": "Paperback",
        "notes": "Handle with care",
    }


async def test_a_search_form_is_no_record(page: Context, site: Site) -> None:
    body = """<main><h1>Results</h1><form><label>Status <select name="status"><option selected>open</option>
      <option>closed</option></select></label></form><p>Nothing was found.</p></main>"""
    found = await read(page, site, body, name=TEXT, status=TEXT)
    assert found.records[0].value == {"name": "Results"}
    assert [one.value for one in found.records[0].candidates["status"]] == ["open"]


async def test_a_long_list_of_options_is_a_list_of_values(page: Context, site: Site) -> None:
    countries = [f"Country {n}" for n in range(250)]
    options = "".join(f"<option value={n}>{name}</option>" for n, name in enumerate(countries))
    body = f'<main><h1>Order</h1><label>Countries <select name="c"><option value="">Choose</option>{options}</select>'
    assert await value(page, site, body, countries=TEXTS) == {"countries": countries}


# --- tables ----------------------------------------------------------------------------------------------


async def test_rows_that_span_the_columns_are_no_records(page: Context, site: Site) -> None:
    rows = "".join(
        f"<tr><td colspan=3>Group {group}</td></tr>"
        + "".join(f"<tr><td>p{group}{n}</td><td>{n}</td><td>text {n}</td></tr>" for n in (1, 2))
        for group in "AB"
    )
    body = f"<main><h1>Parts</h1><table><tr><th>Name</th><th>Count</th><th>Remarks</th></tr>{rows}</table></main>"
    found = await values(page, site, body, name=TEXT, remarks=TEXT)
    assert found == [{"name": f"p{g}{n}", "remarks": f"text {n}"} for g in "AB" for n in (1, 2)]


async def test_all_bodies_of_a_table_and_rows_of_every_class_are_one_list(page: Context, site: Site) -> None:
    body = """<main><h1>Tickets</h1><table><thead><tr><th>Id</th><th>Summary</th></tr></thead>
      <tbody><tr class="open"><td>1</td><td>One</td></tr><tr class="closed"><td>2</td><td>Two</td></tr></tbody>
      <tbody><tr class="open"><td>3</td><td>Three</td></tr></tbody><tfoot><tr><td>3</td><td>tickets</td></tr></tfoot>
      </table></main>"""
    found = await values(page, site, body, id={"type": "integer"}, summary=TEXT)
    assert [one["id"] for one in found] == [1, 2, 3]


async def test_cells_are_named_by_their_columns_whatever_spans_and_whatever_is_empty(page: Context, site: Site) -> None:
    body = """<main><h1>Stations</h1><table>
      <tr><th rowspan=2>City</th><th colspan=2>Lines</th><th rowspan=2>Operator</th></tr>
      <tr><th>Day</th><th>Night</th></tr>
      <tr><td rowspan=2>Ayton</td><td>12</td><td></td><td>ABC</td></tr>
      <tr><td>14</td><td>3</td><td></td></tr>
      <tr><td>Bexley</td><td colspan=2>5</td><td>XYZ</td></tr></table></main>"""
    found = await values(page, site, body, city=TEXT, day=NUMBER, night=NUMBER, operator=TEXT)
    assert found == [
        {"city": "Ayton", "day": 12, "operator": "ABC"},
        {"city": "Ayton", "day": 14, "night": 3},
        {"city": "Bexley", "day": 5, "night": 5, "operator": "XYZ"},
    ]


async def test_row_headers_name_the_values_beside_them(page: Context, site: Site) -> None:
    body = """<main><h1>A Light in the Attic</h1><table><tr><th>UPC</th><td>a897fe39b1053632</td></tr>
      <tr><th>Price (excl. tax)</th><td>£51.77</td></tr>
      <tr><th>Availability</th><td>In stock (3 available)</td></tr></table></main>"""
    found = await value(page, site, body, title=TEXT, upc=TEXT, availability=TEXT, price_excl_tax=NUMBER)
    assert found == {
        "title": "A Light in the Attic",
        "upc": "a897fe39b1053632",
        "availability": "In stock (3 available)",
        "price_excl_tax": 51.77,
    }


async def test_grids_of_aria_roles_are_tables(page: Context, site: Site) -> None:
    rows = "".join(
        f'<div role="row" class="x"><div role="gridcell">Ship {n}</div><div role="gridcell">{n * 10}</div></div>'
        for n in (1, 2, 3)
    )
    body = f"""<main><h1>Fleet</h1><div role="grid"><div role="rowgroup"><div role="row" class="x">
      <div role="columnheader">Vessel</div><div role="columnheader">Length</div></div></div>
      <div role="rowgroup">{rows}</div></div></main>"""
    assert await values(page, site, body, vessel=TEXT, length=NUMBER) == [
        {"vessel": f"Ship {n}", "length": n * 10} for n in (1, 2, 3)
    ]


async def test_a_table_whose_cells_are_controls_gives_what_they_hold(page: Context, site: Site) -> None:
    rows = "".join(
        f'<tr><td><input name="n{n}" value="Item {n}"></td><td><input type="number" value="{n}"></td>'
        f'<td><input type="checkbox" {"checked" if n == 2 else ""}></td></tr>'
        for n in (1, 2)
    )
    body = f"<main><h1>Edit</h1><table><tr><th>Name</th><th>Count</th><th>Active</th></tr>{rows}</table></main>"
    assert await values(page, site, body, name=TEXT, count=NUMBER, active=FLAG) == [
        {"name": "Item 1", "count": 1, "active": False},
        {"name": "Item 2", "count": 2, "active": True},
    ]


async def test_the_ids_of_a_cells_headers_name_it_too(page: Context, site: Site) -> None:
    body = """<main><h1>Ticket</h1><table><tr><th id="h_reporter">Reported by:</th><td headers="h_reporter">ann</td>
      <th id="h_owner">Owned by:</th><td headers="h_owner">bob</td></tr></table></main>"""
    assert await value(page, site, body, reporter=TEXT, owner=TEXT) == {"reporter": "ann", "owner": "bob"}


async def test_a_definition_list_is_a_list_of_what_is_explained(page: Context, site: Site) -> None:
    body = """<main><h1>Glossary</h1><dl><dt id="prompt">&gt;&gt;&gt;</dt><dd><p>The prompt.</p></dd>
      <dt>class<a href="#class">¶</a></dt><dd><p>A template.</p></dd><dt>-n</dt><dt>--dry-run</dt><dd>Show only.</dd>
      </dl></main>"""
    assert await values(page, site, body, term=TEXT, definition=TEXT) == [
        {"term": ">>>", "definition": "The prompt."},
        {"term": "class", "definition": "A template."},
        {"term": "-n, --dry-run", "definition": "Show only."},
    ]


async def test_each_of_many_definition_lists_with_one_entry_is_a_record(page: Context, site: Site) -> None:
    def entry(name: str) -> str:
        inner = "<dl><dt>x</dt><dd>one</dd><dt>y</dt><dd>two</dd></dl>" if name == "b" else ""
        return f'<dl class="py function"><dt>{name}(x)</dt><dd><p>Does {name}.</p>{inner}</dd></dl>'

    body = f"<main><h1>Functions</h1>{''.join(entry(name) for name in 'abc')}</main>"
    found = await values(page, site, body, signature=TEXT, description=TEXT)
    assert [one["signature"] for one in found] == ["a(x)", "b(x)", "c(x)"]


# --- sureness --------------------------------------------------------------------------------------------


async def test_two_places_that_differ_are_both_told_and_only_that_field_is_missing(page: Context, site: Site) -> None:
    body = """<main><h1>Pump</h1><dl><dt>Color</dt><dd>red</dd><dt>Weight</dt><dd>3 kg</dd></dl>
      <dl><dt>Color</dt><dd>blue</dd></dl></main>"""
    found = await read(page, site, body, name=TEXT, color=TEXT, weight=TEXT)
    (record,) = found.records
    assert record.value == {"name": "Pump", "weight": "3 kg"}
    assert found.missing == ("color",)
    assert [(one.value, one.sureness) for one in record.candidates["color"]] == [("red", "weak"), ("blue", "weak")]
    assert len({one.where for one in record.candidates["color"]}) == 2


async def test_a_value_under_a_name_that_is_only_similar_is_given_where_weak_ones_are_accepted(
    page: Context, site: Site
) -> None:
    body = "<main><h1>Pump</h1><table><tr><th>Ship crew</th><td>North</td></tr></table></main>"
    found = await read(page, site, body, name=TEXT, crew=TEXT)
    assert "crew" not in found.records[0].value
    assert [one.value for one in found.records[0].candidates["crew"]] == ["North"]
    (record,) = (await read(page, site, body, accept="weak", name=TEXT, crew=TEXT)).records
    assert record.value["crew"] == "North"
    assert not record.sources["crew"].confirmed


async def test_what_two_kinds_of_places_say_is_certain(page: Context, site: Site) -> None:
    body = """<main><h1>Pump</h1><p class="color">red</p></main>"""
    (record,) = (await read(page, site, body, headline="Pump | Shop", name=TEXT, color=TEXT)).records
    assert (record.sources["name"].sureness, record.sources["name"].confirmed) == ("certain", True)
    assert record.sources["color"].sureness == "likely"
    (record,) = (await read(page, site, body, accept="certain", headline="Pump | Shop", name=TEXT, color=TEXT)).records
    assert record.value == {"name": "Pump"}


async def test_what_stands_under_the_pages_own_heading_goes_before_its_sections(page: Context, site: Site) -> None:
    body = """<main><h1>json</h1><p><strong>Source:</strong> <a href="/j">Lib/json</a></p><p>Text.</p>
      <h2>json.tool</h2><p><strong>Source:</strong> <a href="/t">Lib/json/tool</a></p></main>"""
    assert await value(page, site, body, name=TEXT, source=TEXT) == {"name": "json", "source": "Lib/json"}


async def test_another_field_of_the_page_is_no_synonym_of_the_one_that_is_asked(page: Context, site: Site) -> None:
    block = '<div class="description"><h3>Description</h3><div><p>Seen on floor 1.</p></div></div>'
    body = f'<main><h1>Ticket #1</h1><h2><span class="summary">It breaks</span></h2>{block}</main>'
    assert await value(page, site, body, summary=TEXT) == {"summary": "It breaks"}
    found = await read(page, site, f"<main><h1>Ticket #1</h1>{block}</main>", title=TEXT, summary=TEXT)
    assert found.records[0].value == {"title": "Ticket #1"}


async def test_what_is_not_visible_is_no_rival_of_what_is(page: Context, site: Site) -> None:
    body = """<main><h1>Guide</h1></main><div style="display:none"><p class="title">Search</p></div>"""
    assert await value(page, site, body, title=TEXT) == {"title": "Guide"}


async def test_a_page_of_candidates_only_is_an_error_that_names_them(page: Context, site: Site) -> None:
    body = "<main><dl><dt>Color</dt><dd>red</dd></dl><dl><dt>Color</dt><dd>blue</dd></dl></main>"
    with pytest.raises(FieldsMissing, match=r"color is not certain on .*'red' \(.*\) or 'blue'"):
        await read(page, site, body, color=TEXT)


# --- what comes late -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["has-sidebar", "dt-empty-footer", "with-ads", "no-cart"])
async def test_a_class_that_says_what_a_block_has_does_not_make_it_another_s(
    page: Context, site: Site, name: str
) -> None:
    rows = "<tr><th>Finish</th><td>matt</td></tr><tr><th>Colour</th><td>red</td></tr>"
    body = f"<div class='{name}'><table>{rows}</table></div>"
    assert await value(page, site, body, finish=TEXT, colour=TEXT) == {"finish": "matt", "colour": "red"}


async def test_a_cell_with_nothing_but_a_picture_states_what_the_picture_shows(page: Context, site: Site) -> None:
    head = "<thead><tr><th>Title</th><th>Available</th><th>Country</th></tr></thead>"
    picture = "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw=' alt='%s'>"
    rows = "".join(
        f"<tr><td>{title}</td><td>{picture % said}</td><td>{picture % country}{flag}</td></tr>"
        for title, said, country, flag in (("A", "True", "Chile", ""), ("B", "False", "Peru", picture % "new"))
    )
    found = await values(
        page, site, f"<table>{head}<tbody>{rows}</tbody></table>", title=TEXT, available=FLAG, country=TEXT
    )
    assert found == [
        {"title": "A", "available": True, "country": "Chile"},
        {"title": "B", "available": False},
    ]


# --- RDFa ---------------------------------------------------------------------------------------------

RDFA = """<main vocab="https://schema.org/" typeof="Product"><h2 property="name">Alder Lantern</h2>
<p>Nine of ten like it.</p><span property="sku">AL-9</span>
<div property="offers" typeof="Offer"><b property="price">41.50</b><meta property="priceCurrency" content="EUR"></div>
</main><aside typeof="schema:Product"><b property="schema:name">Birch Kettle</b></aside>"""


async def test_rdfa_states_values_of_the_main_item_as_microdata_does(page: Context, site: Site) -> None:
    wanted = {"name": TEXT, "sku": TEXT, "price": NUMBER, "currency": TEXT}
    (record,) = (await read(page, site, RDFA, **wanted)).records
    assert record.value == {"name": "Alder Lantern", "sku": "AL-9", "price": 41.5, "currency": "EUR"}
    assert record.sources["price"].how == "rdfa"
    assert record.sources["price"].sureness == "certain"


async def test_a_table_whose_rows_have_no_cells_keeps_nothing_from_being_read(page: Context, site: Site) -> None:
    body = "<table><tr></tr><tr></tr></table><h1>Desk lamp</h1><dl><dt>Price</dt><dd>12.50</dd></dl>"
    assert await value(page, site, body, name=TEXT, price=NUMBER) == {"name": "Desk lamp", "price": 12.5}


@pytest.mark.parametrize("headline", ["JsonCpp: Json::Reader Class Reference", ""])
async def test_a_page_without_a_heading_is_named_by_its_title_element(page: Context, site: Site, headline: str) -> None:
    body = """<div class=header><div class=title>Json::Reader Class Reference</div></div>
        <table><tr><td colspan=2><h2>Public Functions</h2></td></tr><tr><td>bool</td><td>good()</td></tr></table>"""
    found = await read(page, site, body, headline=headline, name=TEXT)
    assert found.records[0].value == {"name": "Json::Reader Class Reference"}


async def test_preformatted_sections_of_a_manual_page_are_its_own_text(page: Context, site: Site) -> None:
    body = """<h1>captoinfo 1m</h1><h2>NAME</h2><pre><b>captoinfo</b> - convert a <i>termcap</i> into a <i>terminfo</i>
        description of the terminal</pre><h2>SEE ALSO</h2>
        <pre><a href="/infocmp">infocmp(1m)</a>, <a href="/tic">tic(1)</a></pre><h2>AUTHOR</h2><pre>Jane Roe</pre>"""
    assert (await value(page, site, body, see_also=TEXT))["see_also"] == "infocmp(1m), tic(1)"


async def test_a_table_is_named_by_a_table_of_headers_right_above_it(page: Context, site: Site) -> None:
    names = "<tr><th>Name</th><th>Office</th><th>Age</th></tr>"
    head = f"<div><table>{names}<tr><td></td><td></td><td></td></tr></table></div>"
    rows = "".join(f"<tr><td>Ada {n}</td><td>Oslo</td><td>{30 + n}</td></tr>" for n in range(3))
    found = await read(
        page, site, f"<h1>Staff</h1>{head}<div><table>{rows}</table></div>", many=True, name=TEXT, age=NUMBER
    )
    assert [record.value for record in found.records] == [{"name": f"Ada {n}", "age": 30 + n} for n in range(3)]


async def test_a_class_that_also_says_how_a_value_looks_names_it(page: Context, site: Site) -> None:
    body = """<h1>Desk lamp</h1><p class=price_color>£12.50</p>
        <table><tr><th>Price (excl. tax)</th><td>£12.50</td></tr><tr><th>Tax</th><td>£0.00</td></tr></table>"""
    assert await value(page, site, body, name=TEXT, price=NUMBER) == {"name": "Desk lamp", "price": 12.5}


async def test_an_index_with_a_letter_over_its_entries_is_a_table(page: Context, site: Site) -> None:
    """As makeinfo draws it: an empty column on both sides of each name, and a colon after each entry."""
    body = """<main><h1>Index</h1><table><tr><td></td><th>Index Entry</th><td>&nbsp;</td><th>Section</th></tr>
      <tr><td colspan="4"><hr></td></tr><tr><th id="a">A</th><td></td><td></td></tr>
      <tr><td></td><td><a href="#awk">awk</a>:</td><td>&nbsp;</td><td><a href="#intro">Introduction</a></td></tr>
      <tr><td></td><td><a href="#apply"><code>apply</code></a>:</td><td>&nbsp;</td><td><a href="#use">Use</a></td></tr>
      <tr><td colspan="4"><hr></td></tr><tr><th id="b">B</th><td></td><td></td></tr>
      <tr><td></td><td><a href="#bin">binary files</a>:</td><td>&nbsp;</td><td><a href="#bin">Files</a></td></tr>
      </table></main>"""
    assert await values(page, site, body, index_entry=TEXT, section=TEXT) == [
        {"index_entry": "awk:", "section": "Introduction"},
        {"index_entry": "apply:", "section": "Use"},
        {"index_entry": "binary files:", "section": "Files"},
    ]


async def test_what_stands_in_sections_alone_is_not_the_page_s_own(page: Context, site: Site) -> None:
    """The page of a type states since when each of its methods is there, and not since when the type is."""
    methods = "".join(
        f"<h4>{name}</h4><div class=body><span class=since>{since}</span><p>Does it.</p></div>"
        for name, since in (("clone", "1.0.0"), ("eq", "1.2.0"))
    )
    body = f"""<main><h1>Type never</h1><p>No value.</p><h2>Implementations</h2><section id="impl-Clone">
      <span class=since>const: unstable</span><h3>impl Clone</h3></section>{methods}</main>"""
    found = await read(page, site, body, headline="never", title=TEXT, since=TEXT)
    assert found.records[0].value == {"title": "Type never"}
    assert found.missing == ("since",)


async def test_a_cell_of_a_page_s_own_table_that_ends_with_a_colon_is_a_label(page: Context, site: Site) -> None:
    body = "<main><h1>Ticket</h1><table><tr><th>Owner</th><td>Reported by:</td></tr></table></main>"
    assert await value(page, site, body, title=TEXT, owner=TEXT) == {"title": "Ticket"}


MANUAL = """<div class=section><h3>timer_new ()</h3><pre>Timer *timer_new (void);</pre>
<p>Makes a timer and starts it, which means that <code class=function>timer_start()</code> is called.</p></div>
<div class=section><h3>timer_stop ()</h3><pre>void timer_stop (Timer *timer);</pre>
<p>Marks an end time, so that calls to <code class=function>timer_elapsed()</code> give the time until then.</p></div>
<div class=section><h3>timer_reset ()</h3><pre>void timer_reset (Timer *timer);</pre>
<p>This is seldom needed, since <code class=function>timer_start()</code> may be called on a running timer.</p></div>"""


async def test_code_that_a_sentence_mentions_is_no_value_of_the_record(page: Context, site: Site) -> None:
    assert await values(page, site, MANUAL, function=TEXT) == []
    named = "".join(
        f"<div class=section><h3>{n}</h3><p>Since <code class=version>{n}.5</code></p></div>" for n in "123"
    )
    assert [row["version"] for row in await values(page, site, named, version=TEXT)] == ["1.5", "2.5", "3.5"]


async def test_labels_of_a_definition_list_are_no_records(page: Context, site: Site) -> None:
    """Labels that end with a colon, under which a manual speaks of one method, are no list of methods."""
    notes = "<dl class=notes><dt>Parameters:</dt><dd>holder - the int data</dd><dt>Returns:</dt><dd>the bits</dd></dl>"
    found = await read(
        page, site, f"<main><h1>Class Bits</h1>{notes}{notes}</main>", many=True, method=TEXT, description=TEXT
    )
    assert not found.records


SQUARE = 24
"""Times that a paragraph eight times as long may cost. A square would be 64 times; a machine's speed does not count."""


async def test_a_paragraph_full_of_code_is_measured_once(page: Context, site: Site) -> None:
    async def cost_s(times: int) -> float:
        body = "<p>" + "The calls are <code class=function>timer_start()</code> and others. " * times + "</p>"
        began = time.process_time()
        assert await values(page, site, body, function=TEXT) == []
        return time.process_time() - began

    await cost_s(10)  # what is made once
    short_s = await cost_s(300)
    assert await cost_s(2_400) < SQUARE * short_s
