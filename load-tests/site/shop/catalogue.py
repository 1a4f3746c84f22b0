"""The catalogue: every category and product of the shop, made from a seed.

The same seed gives the same catalogue, byte for byte, on every machine: only `random.Random` seeded with strings
is used, and no clock.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from random import Random

from shop import vocabulary
from shop.vocabulary import Kind, Vocabulary

PAGE_SIZE = 12  # products on a list page

MODEL_NUMBERS = (12, 18, 20, 40, 45, 60, 75, 90, 100, 250, 300, 500)

SHARE_UNRATED = 0.09
SHARE_WITHOUT_SKU = 0.07
SHARE_REDUCED = 0.3
SHARE_WITH_VERSIONS = 0.2
DISCONTINUED_PER_CATEGORY = 1
SLOW_PER_CATEGORY = 1


class Stock(Enum):
    """States of a product's stock; `writing.py` knows the words for each."""

    IN_STOCK = "in_stock"  # on the shelf
    SHIPS_LATER = "ships_later"  # can be ordered, leaves in some days
    FEW_LEFT = "few_left"  # on the shelf, the number is shown
    SOLD_OUT = "sold_out"  # cannot be ordered
    BACK_ORDER = "back_order"  # cannot be ordered now, is expected again

    @property
    def orderable(self) -> bool:
        """True if it can be ordered now: what the ground truth calls `in_stock`."""
        return self not in (Stock.SOLD_OUT, Stock.BACK_ORDER)


@dataclass(frozen=True)
class Category:
    """One department of the shop, with its own page template and ways of writing."""

    slug: str
    title: str
    blurb: str  # the sentence below its title
    template: str  # product page: the file product_<template>.html
    language: str  # of its pages: en or de
    currency: str  # ISO 4217
    price_style: str  # a key of writing.PRICE_STYLES
    card_style: str  # list markup: a macro in _cards.html
    paging: str  # rel, text, path or scroll: how its lists lead to the next page
    hue: int  # 0-359, base colour of its pictures
    words: Vocabulary = field(repr=False)


@dataclass(frozen=True)
class Version:
    """A further version of a product, shown only after a click."""

    label: str
    price: Decimal
    sku: str


@dataclass(frozen=True)
class Review:
    """A customer's review."""

    author: str
    title: str
    text: str
    stars: int
    days_ago: int


@dataclass(frozen=True)
class Product:
    """One product as the shop knows it: the truth that extraction is measured against."""

    number: int  # unique in the catalogue, from 1
    slug: str
    name: str
    brand: str
    kind: str
    category: Category = field(repr=False)
    sku: str | None
    price: Decimal
    old_price: Decimal | None  # struck through on the page
    stock: Stock
    stock_count: int  # pieces left, or days until it ships, by `stock`
    rating: Decimal | None  # out of 5
    rating_count: int
    teaser: str
    paragraphs: tuple[str, ...]
    specs: tuple[tuple[str, str], ...]
    versions: tuple[Version, ...]
    reviews: tuple[Review, ...]
    images: int
    json_ld: bool  # carries JSON-LD, where the category's template knows it
    discontinued: bool
    slow: bool

    @property
    def path(self) -> str:
        """Its page's URL path."""
        return f"/p/{self.slug}"


CATEGORIES: tuple[Category, ...] = (
    Category("power-tools", "Power tools", "Made for the site, kind to the wrist.",
             "jsonld", "en", "USD", "dollar", "tiles", "rel", 28, vocabulary.POWER_TOOLS),
    Category("kitchen", "Kitchen & cooking", "Pots, knives and machines that outlive their recipes.",
             "microdata", "en", "GBP", "pound", "articles", "text", 4, vocabulary.KITCHEN),
    Category("lighting", "Lighting", "Light for tables, corridors and late hours.",
             "table", "en", "EUR", "euro_before", "tiles", "path", 46, vocabulary.LIGHTING),
    Category("outdoor", "Camping & outdoor", "For one night out or forty.",
             "definitions", "en", "CZK", "koruna", "articles", "rel", 150, vocabulary.OUTDOOR),
    Category("garten", "Garten", "Geräte und Möbel für draußen, aus unserem Lager in Fulda.",
             "german", "de", "EUR", "euro_german", "rows", "text", 96, vocabulary.GARDEN),
    Category("audio", "Audio & hi-fi", "Things that sound right, chosen by people who listen.",
             "split", "en", "USD", "dollar", "tiles", "text", 262, vocabulary.AUDIO),
    Category("office", "Office furniture", "Sit, stand, store: for one desk or four hundred.",
             "labels", "en", "CHF", "franc", "rows", "path", 205, vocabulary.OFFICE),
    Category("bicycles", "Bicycles", "Ready to ride, with lights on.",
             "mixed", "en", "EUR", "euro_code", "tiles", "scroll", 340, vocabulary.BICYCLES),
)  # fmt: skip


@dataclass(frozen=True)
class Catalogue:
    """All products, with the look-ups that pages need."""

    seed: int
    products: tuple[Product, ...]
    by_slug: dict[str, Product] = field(repr=False)
    by_category: dict[str, tuple[Product, ...]] = field(repr=False)

    def category(self, slug: str) -> Category | None:
        """The category of that slug, or None."""
        return next((category for category in CATEGORIES if category.slug == slug), None)

    def search(self, query: str) -> list[Product]:
        """The products in whose name, brand, category or SKU every word of the query occurs."""
        wanted = _plain(query).split()
        return [product for product in self.products if wanted and _matches(product, wanted)]

    def related(self, product: Product, count: int = 5) -> list[Product]:
        """Other products of its category, always the same ones."""
        others = [p for p in self.by_category[product.category.slug] if p is not product and not p.discontinued]
        return Random(f"{self.seed}:related:{product.slug}").sample(others, min(count, len(others)))

    def picks(self, occasion: str, count: int) -> list[Product]:
        """Products from all over the shop for a promotional block; the occasion decides which."""
        offered = [product for product in self.products if not product.discontinued]
        return Random(f"{self.seed}:picks:{occasion}").sample(offered, count)


def make_catalogue(seed: int) -> Catalogue:
    """The catalogue of that seed: eight categories, 264 products."""
    products: list[Product] = []
    for category in CATEGORIES:
        products.extend(_make_category(category, seed, first_number=len(products) + 1))
    by_category = {category.slug: tuple(p for p in products if p.category is category) for category in CATEGORIES}
    return Catalogue(seed, tuple(products), {product.slug: product for product in products}, by_category)


def _make_category(category: Category, seed: int, first_number: int) -> list[Product]:
    rng = Random(f"{seed}:{category.slug}")
    kinds = [kind for kind in category.words.kinds for _ in range(3)]
    rng.shuffle(kinds)
    special = rng.sample(range(len(kinds)), DISCONTINUED_PER_CATEGORY + SLOW_PER_CATEGORY)
    discontinued, slow = special[:DISCONTINUED_PER_CATEGORY], special[DISCONTINUED_PER_CATEGORY:]
    taken: set[str] = set()
    return [
        _make_product(
            category, kind, rng, taken, first_number + place, discontinued=place in discontinued, slow=place in slow
        )
        for place, kind in enumerate(kinds)
    ]


def _make_product(
    category: Category, kind: Kind, rng: Random, taken: set[str], number: int, *, discontinued: bool, slow: bool
) -> Product:
    brand = rng.choice(category.words.brands)
    name = _name(category, kind, brand, rng, taken)
    price = _price(category, kind, rng)
    rated = rng.random() >= SHARE_UNRATED
    sku = f"{_plain(brand)[:3].upper()}-{rng.randrange(1000, 9999)}-{rng.choice('ABCDEFGHKLMNPRSTX')}{number:03d}"
    stock = rng.choices(list(Stock), weights=(50, 18, 14, 12, 6))[0]
    return Product(
        number=number,
        slug=slugify(name),
        name=name,
        brand=brand,
        kind=kind.noun,
        category=category,
        sku=sku if rng.random() >= SHARE_WITHOUT_SKU else None,
        price=price,
        old_price=_old_price(category, price, rng) if rng.random() < SHARE_REDUCED else None,
        stock=stock,
        stock_count=rng.randint(2, 9),
        rating=Decimal(rng.randint(31, 50)) / 10 if rated else None,
        rating_count=rng.randint(3, 412) if rated else 0,
        teaser=_sentence(category, kind, brand, rng.choice(category.words.praise)),
        paragraphs=_paragraphs(category, kind, brand, rng),
        specs=_specs(category, rng),
        versions=_versions(category, price, sku, rng) if rng.random() < SHARE_WITH_VERSIONS else (),
        reviews=_reviews(category, rng) if rated else (),
        images=rng.choice((4, 5, 5)),
        json_ld=category.template == "jsonld" or (category.template == "mixed" and rng.random() < 0.5),
        discontinued=discontinued,
        slow=slow,
    )


def _name(category: Category, kind: Kind, brand: str, rng: Random, taken: set[str]) -> str:
    while True:
        name = f"{brand} {rng.choice(category.words.series)} {rng.choice(MODEL_NUMBERS)} {kind.noun}"
        if name not in taken:
            taken.add(name)
            return name


def _price(category: Category, kind: Kind, rng: Random) -> Decimal:
    # Squared, so that cheap goods are common and dear ones rare, as in a shop.
    amount = kind.low + (kind.high - kind.low) * rng.random() ** 2
    if category.currency == "CZK":
        return Decimal(int(amount / 10) * 10 + 9)
    if category.currency == "CHF":
        return Decimal(int(amount)) + Decimal(rng.choice(("0.00", "0.90", "0.50")))
    return Decimal(int(amount)) + Decimal(rng.choice(("0.99", "0.00", "0.95", "0.50")))


def _old_price(category: Category, price: Decimal, rng: Random) -> Decimal:
    raised = price * (100 + rng.choice((10, 15, 20, 25, 40))) / 100
    return raised.quantize(Decimal(1)) if category.currency == "CZK" else raised.quantize(Decimal("0.1"))


def _versions(category: Category, price: Decimal, sku: str, rng: Random) -> tuple[Version, ...]:
    labels = rng.sample(category.words.variants, rng.randint(2, 3))
    unit = Decimal(1) if category.currency == "CZK" else Decimal("0.05")
    return tuple(
        Version(label, ((price * (100 + rng.randint(3, 45)) / 100) / unit).quantize(Decimal(1)) * unit, f"{sku}-V{n}")
        for n, label in enumerate(labels, start=2)
    )


def _specs(category: Category, rng: Random) -> tuple[tuple[str, str], ...]:
    rows = [(figure.label, rng.choice(figure.values)) for figure in category.words.figures]
    weight = f"{rng.uniform(0.4, 38):.1f}"
    size = " × ".join(str(rng.randint(8, 180)) for _ in range(3))
    if category.language == "de":
        rows += [("Gewicht", f"{weight.replace('.', ',')} kg"), ("Maße", f"{size} cm"),
                 ("Garantie", f"{rng.choice((2, 3, 5, 10))} Jahre"),
                 ("Herkunft", rng.choice(("Deutschland", "Österreich", "Tschechien", "Polen")))]  # fmt: skip
    else:
        rows += [("Weight", f"{weight} kg"), ("Dimensions", f"{size} cm"),
                 ("Guarantee", f"{rng.choice((2, 3, 5, 10))} years"),
                 ("Made in", rng.choice(("Germany", "Portugal", "Czechia", "Denmark", "Japan", "Taiwan")))]  # fmt: skip
    return tuple(rows)


def _paragraphs(category: Category, kind: Kind, brand: str, rng: Random) -> tuple[str, ...]:
    praise = [_sentence(category, kind, brand, text) for text in rng.sample(category.words.praise, 6)]
    use, other_use = rng.sample(category.words.uses, 2)
    if category.language == "de":
        closing = f"Bewährt hat sich das Modell für {use} und für {other_use}. Ersatzteile führen wir ab Lager."
    else:
        closing = f"Customers buy it for {use}, and more than a few for {other_use}. We stock spare parts."
    return (" ".join(praise[:3]), " ".join(praise[3:]), closing)


def _sentence(category: Category, kind: Kind, brand: str, text: str) -> str:
    noun = kind.noun if category.language == "de" else kind.noun.lower()
    return text.format(noun=noun, brand=brand)


def _reviews(category: Category, rng: Random) -> tuple[Review, ...]:
    language = category.language
    return tuple(
        Review(
            author=author,
            title=rng.choice(vocabulary.REVIEW_TITLES[language]),
            text=" ".join(rng.sample(vocabulary.REVIEW_SENTENCES[language], rng.randint(2, 4))),
            stars=rng.choice((2, 3, 4, 4, 5, 5, 5)),
            days_ago=rng.randint(3, 700),
        )
        for author in rng.sample(vocabulary.REVIEWERS, rng.randint(4, 7))
    )


def _matches(product: Product, wanted: Iterable[str]) -> bool:
    text = _plain(f"{product.name} {product.category.title} {product.sku or ''}")
    return all(word in text for word in wanted)


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
    return "".join(c for c in decomposed if not unicodedata.combining(c)).lower()


def slugify(text: str) -> str:
    """The text as it may stand in a URL: plain lower-case letters, figures and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", _plain(text).replace("'", "")).strip("-")
