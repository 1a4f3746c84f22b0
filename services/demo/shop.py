"""A small shop that browsers reach without a network: the egress filter itself answers for its host.

So a first job works on every machine, with every rule for addresses, and without a model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from http import HTTPStatus
from urllib.parse import urlsplit

from shoal.agent.support.json_value import Json

HOST = "shop.shoal.test"
"""RFC 6761 keeps `.test` from every real site."""

PRODUCTS: tuple[tuple[str, float, bool], ...] = (
    ("Kettle Uno", 29.9, True),
    ("Kettle Duo", 39.5, True),
    ("Tea strainer", 4.2, True),
    ("Copper pan", 89.0, False),
    ("Bread knife", 18.75, True),
    ("Cutting board", 22.4, True),
    ("Salt mill", 15.0, False),
    ("Pepper mill", 16.0, True),
    ("Apron", 12.9, True),
    ("Oven glove", 8.6, True),
    ("Whisk", 7.1, True),
    ("Colander", 13.3, False),
)
"""Each with its price in EUR and whether it is in stock."""

JOB: Mapping[str, Json] = {
    "name": "Demo: the products of a small shop",
    "url": f"http://{HOST}/",
    "policy": "rules",
    "loop": {"from": {"select": "products"}},
    "extract": {
        "schema": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "price": {"type": "number"},
                "currency": {"type": "string"},
                "in_stock": {"type": "boolean"},
            },
            "required": ["name", "price"],
            "x-glossary": {},
        }
    },
}
"""A job that reads all of it, by rules alone: a model that is configured is not asked, either."""


def is_demo(url: str) -> bool:
    """Return whether an address is one of the shop."""
    return urlsplit(url).hostname == HOST


def answer(path: str) -> tuple[HTTPStatus, str]:
    """Status and HTML of a page of the shop."""
    place = path.partition("?")[0].removeprefix("/")
    if not place:
        return HTTPStatus.OK, _list()
    number = place.removeprefix("products/")
    if place.startswith("products/") and number in map(str, range(1, len(PRODUCTS) + 1)):
        return HTTPStatus.OK, _product(int(number))
    return HTTPStatus.NOT_FOUND, _page("Not here", "<p>The shop has no such page.</p>")


def _list() -> str:
    links = "".join(
        f'<li class="product"><a href="/products/{number}">{escape(name)}</a></li>'
        for number, (name, _, _) in enumerate(PRODUCTS, 1)
    )
    return _page("Products", f'<ul class="products">{links}</ul>')


def _product(number: int) -> str:
    name, price, in_stock = PRODUCTS[number - 1]
    offer = {
        "@type": "Offer",
        "price": price,
        "priceCurrency": "EUR",
        "availability": f"https://schema.org/{'InStock' if in_stock else 'OutOfStock'}",
    }
    product = {"@context": "https://schema.org", "@type": "Product", "name": name, "offers": offer}
    return _page(
        name,
        f'<p class="price">{price:.2f} EUR</p><p class="stock">{"In stock" if in_stock else "Out of stock"}</p>'
        f'<p><a href="/">All products</a></p><script type="application/ld+json">{json.dumps(product)}</script>',
    )


def _page(title: str, body: str) -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<link rel="icon" href="data:,"></head>'
        f"<body><header><p>Demo shop</p></header><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )
