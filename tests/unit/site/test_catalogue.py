"""The catalogue: made from a seed, wide enough, and written in many ways."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import pytest
from shop.catalogue import CATEGORIES, make_catalogue, slugify
from shop.writing import PRICE_STYLES, split_price, stars


def test_the_same_seed_gives_the_same_products_and_another_seed_others() -> None:
    assert make_catalogue(7).products == make_catalogue(7).products
    assert make_catalogue(7).products != make_catalogue(8).products


@pytest.mark.parametrize("seed", [1, 7, 2026])
def test_a_catalogue_is_as_wide_as_the_tests_need_it(seed: int) -> None:
    products = make_catalogue(seed).products
    counts = Counter(product.category.slug for product in products)
    assert len(products) >= 240
    assert len(counts) == len(CATEGORIES) == 8
    assert min(counts.values()) >= 30
    assert len({product.slug for product in products}) == len(products)
    assert len({product.sku for product in products if product.sku}) == sum(p.sku is not None for p in products)
    assert {product.stock for product in products} == set(type(products[0].stock))
    for odd in ("discontinued", "slow", "versions"):
        assert 4 <= sum(bool(getattr(product, odd)) for product in products) < 100
    assert any(product.rating is None for product in products)
    assert any(product.sku is None for product in products)
    assert any(product.old_price for product in products)
    bicycles = [product.json_ld for product in products if product.category.slug == "bicycles"]
    assert any(bicycles) and not all(bicycles)


def test_an_old_price_is_higher_than_the_price() -> None:
    assert all(p.old_price > p.price for p in make_catalogue(7).products if p.old_price is not None)


@pytest.mark.parametrize(
    ("style", "written"),
    [
        ("dollar", "$1,299.00"),
        ("pound", "£1,299.00"),
        ("euro_before", "€\u00a01,299.00"),
        ("euro_german", "1.299,00\u00a0€"),
        ("euro_code", "1.299,00 EUR"),
        ("koruna", "1\u00a0299\u00a0Kč"),
        ("franc", "CHF 1’299.00"),
    ],
)
def test_a_price_is_written_as_its_category_does(style: str, written: str) -> None:
    assert PRICE_STYLES[style](Decimal("1299.00")) == written


def test_words_of_a_price_a_rating_and_an_address() -> None:
    assert split_price(Decimal("1299.5")) == ("1,299", "50")
    assert stars(Decimal("3.6")) == "★★★★☆"
    assert slugify("Größe: Chef's Äxte & Öfen") == "grosse-chefs-axte-ofen"


def test_search_wants_every_word_and_ignores_case_and_accents() -> None:
    catalogue = make_catalogue(7)
    found = catalogue.search("GEWACHSHAUS")
    assert found and all("Gewächshaus" in product.name for product in found)
    assert catalogue.search("gewächshaus drill") == []
    assert catalogue.search("  ") == []
