"""Records read from real pages. tests/unit/agent/rules/test_extract.py has more of their traps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from shoal.agent.browser import Context
from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.spec import JobSpec
from shoal.agent.types import Reason

if TYPE_CHECKING:
    from tests.integration.rules.conftest import Site

pytestmark = pytest.mark.asyncio(loop_scope="session")

PRODUCT = {
    "name": {"type": "string"},
    "price": {"type": "number"},
    "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
    "in_stock": {"type": "boolean"},
    "rating": {"type": ["number", "null"]},
    "sku": {"type": "string"},
}


async def extract(page: Context, url: str, properties: dict[str, Any], *, many: bool = False) -> Extraction:
    """Return what the policy reads from `url` by a schema of these properties, all of them required."""
    record = {"type": "object", "properties": properties, "required": list(properties)}
    schema = {"type": "array", "items": record} if many else record
    await page.goto(url)
    job = JobSpec.model_validate({"url": url, "extract": {"schema": schema}})
    return await RulesPolicy().extract(SessionState(spec=job, loop=None, item=None, page=page))


async def test_a_product_page_gives_its_record(page: Context, site: Site) -> None:
    found = await extract(page, f"{site.url}/kettle", PRODUCT)
    expected = dict(zip(PRODUCT, ("Wasserkocher Aska", 1299, "EUR", False, 4.3, "WK-77"), strict=True))
    assert (found.missing, found.records[0].value) == ((), expected)
    assert set(found.records[0].sources) == set(expected)
    assert found.records[0].url == f"{site.url}/kettle"


async def test_each_field_says_where_it_was_found(page: Context, site: Site) -> None:
    record = (await extract(page, f"{site.url}/lamp", PRODUCT)).records[0]
    sources = record.sources
    assert sources["price"].how == "json-ld"
    assert sources["price"].where.endswith("offers.price")
    assert sources["price"].confirmed
    # The article number stands in the structured data alone, where it is another variant's on one page of three.
    assert [(each.value, each.why) for each in record.candidates["sku"]] == [("NL-204", Reason.UNSEEN)]
    sources = (await extract(page, f"{site.url}/chair", PRODUCT)).records[0].sources
    assert sources["price"].how == "selector"
    assert await page.read("(css) => document.querySelectorAll(css).length", sources["price"].where) == 1


async def test_a_page_that_its_script_fills_in_is_waited_for(page: Context, site: Site) -> None:
    found = await extract(page, f"{site.url}/late", {"name": {"type": "string"}, "price": {"type": "number"}})
    assert found.records[0].value == {"name": "Late lamp", "price": 5}


SEALED = """<!doctype html><html lang=en><title>Boiler</title><h1>Boiler Aska</h1><price-tag></price-tag><script>
customElements.define('price-tag', class extends HTMLElement {
  constructor() {
    super();
    this.attachShadow({mode: 'closed'}).innerHTML = '<dl><dt>Price</dt><dd>1,299.00 EUR</dd></dl>';
  }
});</script>"""


async def test_what_a_component_shows_in_a_closed_shadow_root_is_read(page: Context, site: Site) -> None:
    site.pages["/sealed"] = SEALED
    wanted = {"name": {"type": "string"}, "price": {"type": "number"}, "currency": PRODUCT["currency"]}
    record = (await extract(page, f"{site.url}/sealed", wanted)).records[0]
    assert record.value == {"name": "Boiler Aska", "price": 1299, "currency": "EUR"}


async def test_rows_of_a_table_are_records_and_the_shown_count_says_that_there_are_more(
    page: Context, site: Site
) -> None:
    wanted = {"station": {"type": "string"}, "city": {"type": "string"}, "platforms": {"type": "integer"}}
    found = await extract(page, f"{site.url}/table", wanted, many=True)
    assert [record.value for record in found.records] == [
        {"station": "Central", "city": "Ayton", "platforms": 12},
        {"station": "East", "city": "Ayton", "platforms": 4},
        {"station": "Harbour", "city": "Bexley", "platforms": 6},
        {"station": "Hill", "city": "Corby"},
    ]
    assert not found.complete
    assert found.missing == ("platforms",)


async def test_cards_are_records_each_read_by_itself(page: Context, site: Site) -> None:
    wanted = {
        "title": {"type": "string"},
        "price": {"type": ["number", "null"]},
        "in_stock": {"type": "boolean"},
        "url": {"type": "string", "format": "uri"},
    }
    found = await extract(page, f"{site.url}/cards", wanted, many=True)
    assert [record.value for record in found.records] == [
        {"title": "The Long Walk Home", "price": 12.5, "in_stock": True, "url": f"{site.url}/b/1"},
        {"title": "Salt", "price": 8, "in_stock": False, "url": f"{site.url}/b/2"},
        {"title": "Winter Bread", "price": None, "in_stock": True, "url": f"{site.url}/b/3"},
        {"title": "Maps", "price": 1020, "in_stock": True, "url": f"{site.url}/b/4"},
    ]
    assert found.complete
