"""Notations of prices, stock and ratings, style by style. Pure functions from figures to words."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from shop.catalogue import Category, Product, Stock

NO_BREAK = "\u00a0"
NOTHING = Decimal("0.00")


def grouped(amount: Decimal, separator: str, point: str, places: int = 2) -> str:
    """The amount with thousands set apart, such as 1.299,00."""
    whole, _, fraction = f"{amount:,.{places}f}".partition(".")
    whole = whole.replace(",", separator)
    return f"{whole}{point}{fraction}" if places else whole


PRICE_STYLES: dict[str, Callable[[Decimal], str]] = {
    "dollar": lambda amount: f"${grouped(amount, ',', '.')}",
    "pound": lambda amount: f"£{grouped(amount, ',', '.')}",
    "euro_before": lambda amount: f"€{NO_BREAK}{grouped(amount, ',', '.')}",
    "euro_german": lambda amount: f"{grouped(amount, '.', ',')}{NO_BREAK}€",
    "euro_code": lambda amount: f"{grouped(amount, '.', ',')} EUR",
    "koruna": lambda amount: f"{grouped(amount, NO_BREAK, ',', places=0)}{NO_BREAK}Kč",
    "franc": lambda amount: f"CHF {grouped(amount, chr(0x2019), '.')}",
}

# What one unit of a currency is worth in euros here. The basket may hold goods of several categories.
EUROS = {
    "EUR": Decimal(1),
    "USD": Decimal("0.92"),
    "GBP": Decimal("1.17"),
    "CHF": Decimal("1.05"),
    "CZK": Decimal("0.04"),
}

STOCK_WORDS: dict[str, dict[Stock, tuple[str, ...]]] = {
    "en": {
        Stock.IN_STOCK: ("In stock", "Available now", "In stock, ready to ship", "On stock – delivered tomorrow"),
        Stock.SHIPS_LATER: ("Ships in {n} days", "Dispatched within {n} working days", "Usually ships in {n} days"),
        Stock.FEW_LEFT: ("Only {n} left", "Only {n} left in stock – order soon", "Last {n} pieces"),
        Stock.SOLD_OUT: ("Sold out", "Out of stock", "Currently unavailable"),
        Stock.BACK_ORDER: ("Back in stock in about {n} weeks", "Out of stock – expected in {n} weeks"),
    },
    "de": {
        Stock.IN_STOCK: ("Auf Lager", "Sofort lieferbar", "Verfügbar, morgen bei Ihnen"),
        Stock.SHIPS_LATER: ("Lieferbar in {n} Tagen", "Versandfertig in {n} Werktagen"),
        Stock.FEW_LEFT: ("Nur noch {n} Stück", "Nur noch {n} auf Lager"),
        Stock.SOLD_OUT: ("Ausverkauft", "Zurzeit nicht lieferbar"),
        Stock.BACK_ORDER: ("Nicht auf Lager, wieder da in {n} Wochen",),
    },
}

SCHEMA_AVAILABILITY = {
    Stock.IN_STOCK: "https://schema.org/InStock",
    Stock.SHIPS_LATER: "https://schema.org/InStock",
    Stock.FEW_LEFT: "https://schema.org/LimitedAvailability",
    Stock.SOLD_OUT: "https://schema.org/OutOfStock",
    Stock.BACK_ORDER: "https://schema.org/BackOrder",
}


def price_text(category: Category, amount: Decimal) -> str:
    """The amount as the category's pages write it."""
    return PRICE_STYLES[category.price_style](amount)


def stock_text(product: Product) -> str:
    """Return what the page says about stock, in its language; wordings vary from product to product."""
    wordings = STOCK_WORDS[product.category.language][product.stock]
    return wordings[product.number % len(wordings)].format(n=product.stock_count)


def rating_text(product: Product) -> str | None:
    """The rating in words, or None for a product without ratings."""
    if product.rating is None:
        return None
    if product.category.language == "de":
        return f"{str(product.rating).replace('.', ',')} von 5 Sternen"
    if product.category.template in ("table", "labels"):
        return f"{product.rating}/5"
    if product.category.template in ("split", "microdata"):
        return f"Rated {product.rating} out of 5 stars"
    return f"{product.rating} out of 5"


def euros_text(amount: Decimal) -> str:
    """An amount in euros, as basket and header write it whatever the category."""
    return f"€{grouped(amount, ',', '.')}"


def split_price(amount: Decimal) -> tuple[str, str]:
    """Whole part and cents, for pages that set the cents small and raised."""
    whole, _, cents = grouped(amount, ",", ".").partition(".")
    return whole, cents


def stars(rating: Decimal | int) -> str:
    """Five stars, full up to the rounded rating."""
    full = int(rating + Decimal("0.5"))
    return "★" * full + "☆" * (5 - full)
