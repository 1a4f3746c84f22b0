"""Records read from pages of every markup, with the traps that such pages hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal.agent.browser import Context
from shoal.agent.errors import FieldsMissing
from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.spec import JobSpec
from tests.unit.agent.rules.conftest import Site

PAGES = Path(__file__).parents[3] / "integration" / "rules" / "pages"
"""Those that a real browser shows, too."""

PRODUCT = {
    "name": {"type": "string"},
    "price": {"type": "number"},
    "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
    "in_stock": {"type": "boolean"},
    "rating": {"type": ["number", "null"]},
    "sku": {"type": "string"},
}


async def extract(page: Context, site: Site, name: str, properties: dict[str, Any]) -> Extraction:
    """Return what the policy reads from a page by a schema of these properties, all of them required."""
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    url = f"{site.url}/{name}"
    site.pages[f"/{name}"] = (PAGES / f"{name}.html").read_text("utf-8")
    await page.goto(url)
    job = JobSpec.model_validate({"url": url, "extract": {"schema": schema}})
    return await RulesPolicy().extract(SessionState(spec=job, loop=None, item=None, page=page))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("lamp", ("Halvor desk lamp", 79.5, "GBP", True, 4.6, None)),
        ("kettle", ("Wasserkocher Aska", 1299, "EUR", False, 4.3, "WK-77")),
        ("chair", ("Chair No. 5", 1299, "USD", True, 4.5, "OR-5")),
    ],
)
async def test_a_product_page_gives_its_record(page: Context, site: Site, name: str, expected: tuple[Any, ...]) -> None:
    found = await extract(page, site, name, PRODUCT)
    shown = {name: value for name, value in zip(PRODUCT, expected, strict=True) if value is not None}
    assert found.missing == tuple(name for name in PRODUCT if name not in shown)
    assert {name: value for name, value in found.records[0].value.items() if value is not None} == shown
    assert set(found.records[0].sources) == set(shown)
    assert found.records[0].url == f"{site.url}/{name}"


async def test_what_is_visible_overrules_stale_structured_data_and_is_not_confirmed(page: Context, site: Site) -> None:
    wanted = {key: PRODUCT[key] for key in ("price", "in_stock", "currency")}
    record = (await extract(page, site, "stale", wanted)).records[0]
    assert record.value == {"price": 24.9, "in_stock": False, "currency": "EUR"}
    assert not record.sources["price"].confirmed
    assert not record.sources["in_stock"].confirmed
    assert record.sources["currency"].confirmed


async def test_related_products_lend_no_price_to_a_product_without_one(page: Context, site: Site) -> None:
    found = await extract(page, site, "silent", {**PRODUCT, "shipping_price": {"type": "number"}})
    assert found.records[0].value == {"name": "Vase", "shipping_price": 4, "rating": None}
    assert set(found.missing) == {"price", "currency", "in_stock", "rating", "sku"}


async def test_a_page_without_any_of_the_fields_is_an_error(page: Context, site: Site) -> None:
    with pytest.raises(FieldsMissing, match="wingspan"):
        await extract(page, site, "lamp", {"wingspan": {"type": "number"}, "plumage": {"type": "string"}})


async def test_specifications_are_found_by_the_schemas_own_names(page: Context, site: Site) -> None:
    wanted = {
        "material": {"type": "string"},
        "weight_kg": {"type": "number"},
        "seat_height": {"type": "number"},
        "made_in": {"type": "string"},
        "stackable": {"type": "boolean"},
        "guarantee": {"type": "string", "title": "Warranty"},
    }
    found = await extract(page, site, "chair", wanted)
    assert found.records[0].value == {
        "material": "Oak",
        "weight_kg": 5.4,
        "seat_height": 45,
        "made_in": "Portugal",
        "stackable": False,
        "guarantee": "2 years",
    }


async def test_an_article_gives_dates_author_and_lists(page: Context, site: Site) -> None:
    wanted = {
        "title": {"type": "string"},
        "author": {"type": "string"},
        "published": {"type": "string", "format": "date"},
        "published_at": {"type": "string", "format": "date-time"},
        "tags": {"type": "array", "items": {"type": "string"}},
    }
    found = await extract(page, site, "article", wanted)
    assert found.records[0].value == {
        "title": "How bees sleep",
        "author": "Jo Field",
        "published": "2024-03-05",
        "published_at": "2024-03-05T09:30:00Z",
        "tags": ["bees", "sleep"],
    }
