"""Products whose own names are made of the words that the rules know controls, labels and other blocks by."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from shoal.agent.browser import Context
from shoal.agent.errors import FieldsMissing
from shoal.agent.policies.policy import SessionState
from shoal.agent.policies.rules.fields.extraction import extract_page
from shoal.agent.read.word_lists.concepts import CONCEPTS
from shoal.agent.read.word_lists.labels import AROUND, QUALIFIERS
from shoal.agent.spec import JobSpec

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "load-tests" / "site"))

from shop import drift

if TYPE_CHECKING:
    from tests.unit.agent.rules.conftest import Site

pytestmark = pytest.mark.timeout(300)

TRUTH = {"price": 12.5, "sku": "HR-12AB", "weight_g": 300, "available": True}
SCHEMA: dict[str, Any] = drift.RECORD_SCHEMA
SPOKEN = (
    "Price tag",
    "Weight bench",
    "Stock pot",
    "Review kit",
    "Related works",
    "Menu holder",
    "Shipping box",
    "Number plate",
    "Loading ramp",
    "Out of stock sign",
    "Cookie jar",
    "Unit price label",
    "SKU scanner",
    "Empty bottle",
    "Old list clock",
    "Next pillow",
)
WORDS = (*AROUND, *QUALIFIERS, *(name for concept in CONCEPTS for name in concept.names[:3]))
MADE = (*(f"Oak {word}" for word in WORDS[::8]), *(f"{word.title()} holder" for word in WORDS[3::8]))
"""Every fourth known word, at the end of a name or at its beginning."""
NAMES = (*SPOKEN, *MADE)


def slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


FACTS = "<tr><th>SKU</th><td>HR-12AB</td></tr><tr><th>Weight</th><td>300 g</td></tr>"
OTHERS = """<aside class="mini-cart"><h2>Basket</h2><p class="price">€99.00</p><p class="sku">HR-99ZZ</p></aside>
<section class="related-products"><h2>Related</h2>
<div><p class="price">€77.00</p><p class="stock">Out of stock</p></div>
<div class="shipping-box"><p class="price">€4.90</p></div></section>"""


def plain(name: str) -> str:
    return f"""<main><article><h1>{name}</h1><p class="price">€12.50</p><p class="stock">In stock</p>
<table>{FACTS}</table></article>{OTHERS}</main>"""


def around(name: str) -> str:
    return plain(name).replace("<article>", f'<article id="about-{slug(name)}">')


def by_category(name: str) -> str:
    classes = " ".join(f"product_cat-{word} product_tag-{word}s" for word in slug(name).split("-"))
    return plain(name).replace("<article>", f'<article class="product type-product {classes}">')


def each(name: str) -> str:
    own = slug(name)
    return (
        plain(name)
        .replace("<h1>", f'<h1 id="{own}">')
        .replace('<p class="price">€12.50', f'<p class="price" id="{own}-price">€12.50')
        .replace('<p class="stock">In', f'<p class="stock" id="{own}-stock">In')
        .replace("<table>", f'<table id="{own}-facts">')
    )


def only_ids(name: str) -> str:
    own = slug(name)
    return f"""<main id="{own}"><h1 id="{own}-name">{name}</h1>
<p id="price-{own}">€12.50</p><p id="stock-{own}">In stock</p>
<dl id="{own}-facts"><dt>SKU</dt><dd>HR-12AB</dd><dt>Weight</dt><dd>300 g</dd></dl>{OTHERS}</main>"""


async def read(page: Context, site: Site, name: str, body: str, *, title: str = "") -> dict[str, Any]:
    """The fields that the rules give of a page of this name, or of this title."""
    head = f"<title>{title or f'{name} | Hallam'}</title>"
    site.pages["/here"] = f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>'
    url = f"{site.url}/here"
    await page.goto(url)
    job = JobSpec.model_validate({"url": url, "extract": {"schema": SCHEMA}})
    try:
        read = await extract_page(SessionState(spec=job, loop=None, item=None, page=page))
    except FieldsMissing:
        return {}
    return {name: value for record in read.records for name, value in record.value.items() if name in record.sources}


LAYOUTS = (plain, around, by_category, each, only_ids)


@pytest.mark.parametrize("layout", LAYOUTS)
async def test_a_name_of_known_words_gives_no_wrong_value(
    page: Context, site: Site, layout: Callable[[str], str]
) -> None:
    wrong, missing = [], []
    # A name that is made of a word is read in one of the layouts, its neighbours in the others.
    names = (*SPOKEN, *MADE[LAYOUTS.index(layout) :: len(LAYOUTS)])
    for name in names:
        got = await read(page, site, name, layout(name))
        for field, value in {"name": name, **TRUTH}.items():
            if field not in got:
                missing.append((name, field))
            elif got[field] != value:
                wrong.append((name, field, got[field]))
    print(layout.__name__, len(names), "names; missing:", missing)
    assert wrong == []
    assert len(missing) <= 1 + len(TRUTH), missing  # the fields of one name


OTHER_TITLES = (
    "Oak lamp | Lamps | Hallam",
    "Lamps | Oak lamp | Hallam",
    "Hallam | Lamps",
    "Lamps - Hallam",
    "Oak lamp - Pine lamp - Hallam",
    "Pine lamp | Oak lamp",
    "Pine lamp | Hallam",
    "Basket | Hallam",
)
"""Titles of the page of the oak lamp: a shop, a category, a basket or another product stands in them, too."""


@pytest.mark.parametrize("heading", ["h1", "h2"])
@pytest.mark.parametrize("title", OTHER_TITLES)
async def test_what_else_a_title_names_gives_the_record_no_value(
    page: Context, site: Site, title: str, heading: str
) -> None:
    """A block beside the record whose heading stands in the document's title is still beside the record."""
    body = f"""<main><article><{heading}>Oak lamp</{heading}><p class="price">€12.50</p></article>
<section class="related-products"><h2>Lamps</h2><dl><dt>SKU</dt><dd>HR-01LA</dd></dl>
<p>Only 2 left</p></section>
<section class="mini-cart"><h2>Basket</h2><dl><dt>Weight</dt><dd>900 g</dd></dl></section>
<section class="related-product"><h2>Pine lamp</h2><dl><dt>SKU</dt><dd>HR-99ZZ</dd></dl>
<p class="stock">Out of stock</p></section></main><footer><h2>Hallam</h2></footer>"""
    got = await read(page, site, "Oak lamp", body, title=title)
    assert {field: got[field] for field in ("sku", "weight_g", "available") if field in got} == {}
    assert got.get("name", "Oak lamp") == "Oak lamp"


STYLED = " ".join(f"md:grid-cols-{n} px-{n} py-{n} rounded-{n} shadow-{n} heading-{n}" for n in range(40))
BESIDE = {
    "styled by classes": f"""<section class="related-products {STYLED}"><div class="{STYLED}"><div class="{STYLED}">
<dl><dt>SKU</dt><dd>HR-99ZZ</dd><dt>Weight</dt><dd>900 g</dd></dl><p class="stock">Out of stock</p>
</div></div></section>""",
    "a name of several words": """<div class="productRelatedItems"><p>Sold out</p><dl><dt>SKU</dt><dd>HR-99ZZ</dd>
</dl></div><div id="shop_accessories"><p>Weight: 900 g</p></div>""",
    "a table": """<table class="related-products"><tr><td>SKU</td><td>HR-99ZZ</td></tr>
<tr><td>Weight</td><td>900 g</td></tr><tr><td>Availability</td><td>Out of stock</td></tr></table>""",
    "a list": """<dl class="recommended"><dt>SKU</dt><dd>HR-99ZZ</dd><dt>Weight</dt><dd>900 g</dd></dl>
<ul class="recommended"><li>Sold out</li></ul>""",
    "lines": """<div class="similar"><p>SKU: HR-99ZZ</p><p>Weight: 900 g</p><p>Out of stock</p></div>""",
}


@pytest.mark.parametrize("beside", BESIDE.values(), ids=BESIDE)
async def test_what_is_said_to_be_about_other_things_gives_the_record_no_value(
    page: Context, site: Site, beside: str
) -> None:
    body = f"""<main><article><h1>Oak lamp</h1><p class="price">€12.50</p></article>{beside}</main>"""
    assert await read(page, site, "Oak lamp", body) == {"name": "Oak lamp", "price": 12.5}


@pytest.mark.parametrize("seed", [1, 2])
async def test_items_of_the_drift_site_whose_ids_have_their_names_are_whole(
    page: Context, site: Site, seed: int
) -> None:
    for n in range(15):
        one = drift.article(seed, n)
        site.pages["/here"] = drift.page(seed, drift.Drift.OWN_IDS, n)
        await page.goto(f"{site.url}/here")
        job = JobSpec.model_validate({"url": f"{site.url}/here", "extract": {"schema": SCHEMA}})
        (record,) = (await extract_page(SessionState(spec=job, loop=None, item=None, page=page))).records
        assert record.value == drift.truth(seed, drift.Drift.OWN_IDS, n), one


ROW = (
    '<li class="product product_cat-{word}" id="{own}"><h3><a href="/p/{n}">{name}</a></h3><p class="price">€{n}.50</p>'
)
AD = '<li class="product sponsored-ad"><h3><a href="/ad">Buy our lamps</a></h3><p class="price">€1.00</p>'


async def test_rows_of_a_list_whose_ids_have_their_names_are_whole(page: Context, site: Site) -> None:
    rows = [
        ROW.format(n=n + 10, name=name, own=slug(name), word=slug(name).split("-")[-1]) for n, name in enumerate(NAMES)
    ]
    site.pages["/here"] = f"<!doctype html><html lang=en><title>All</title><main><h1>All</h1><ul>{''.join(rows)}</ul>"
    await page.goto(f"{site.url}/here")
    row = {"type": "object", "required": ["name", "price"], "properties": {"name": {"type": "string"}}}
    row["properties"]["price"] = {"type": "number"}
    job = JobSpec.model_validate({"url": f"{site.url}/here", "extract": {"schema": {"type": "array", "items": row}}})
    read = await extract_page(SessionState(spec=job, loop=None, item=None, page=page))
    truth = {name: n + 10.5 for n, name in enumerate(NAMES)}
    got = {record.value.get("name"): record.value.get("price") for record in read.records}
    lacking = [name for name, price in truth.items() if got.get(name) is None]
    print(len(read.records), "of", len(NAMES), "; lacking:", lacking)
    assert {name: price for name, price in got.items() if price is not None and truth.get(name) != price} == {}
    assert lacking in ([], ["Shipping box"]), "an id of such words alone is no name"
