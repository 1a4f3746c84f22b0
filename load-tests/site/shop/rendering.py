"""Turns templates into pages: what every page of the shop needs, added to what one page shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, select_autoescape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from shop import vocabulary, writing
from shop.catalogue import CATEGORIES
from shop.state import shop_of

CONSENT_COOKIE = "hr_consent"
FOLDER = Path(__file__).parent

WORDS: dict[str, dict[str, str]] = {
    "en": {
        "home": "Home",
        "search": "Search",
        "search_for": "Search 264 products",
        "account": "Account",
        "login": "Sign in",
        "basket": "Basket",
        "next": "Next",
        "previous": "Previous",
        "sort": "Sort by",
        "details": "Product details",
        "specs": "Specifications",
        "reviews": "Customer reviews",
        "related": "Customers also looked at",
        "add": "Add to basket",
        "questions": "Questions and answers",
        "viewed": "Recently viewed by other customers",
        "results": "products",
        "filter": "Filter",
        "brand": "Brand",
        "price": "Price",
        "availability": "Availability",
        "only_stock": "Only what can be ordered",
        "apply": "Apply",
        "versions": "Show other versions",
        "was": "Was",
        "sheet": "Data sheet (PDF)",
        "quantity": "Quantity",
        "no_rating": "Not rated yet",
    },
    "de": {
        "home": "Startseite",
        "search": "Suchen",
        "search_for": "264 Produkte durchsuchen",
        "account": "Konto",
        "login": "Anmelden",
        "basket": "Warenkorb",
        "next": "Weiter",
        "previous": "Zurück",
        "sort": "Sortieren nach",
        "details": "Produktbeschreibung",
        "specs": "Technische Daten",
        "reviews": "Kundenmeinungen",
        "related": "Kunden sahen sich auch an",
        "add": "In den Warenkorb",
        "questions": "Fragen und Antworten",
        "viewed": "Zuletzt von anderen angesehen",
        "results": "Produkte",
        "filter": "Filter",
        "brand": "Marke",
        "price": "Preis",
        "availability": "Verfügbarkeit",
        "only_stock": "Nur Lieferbares",
        "apply": "Anwenden",
        "versions": "Weitere Ausführungen zeigen",
        "was": "Statt",
        "sheet": "Datenblatt (PDF)",
        "quantity": "Menge",
        "no_rating": "Noch keine Bewertung",
    },
}

environment = Environment(
    loader=FileSystemLoader(FOLDER / "templates"),
    autoescape=select_autoescape(["html"]),
    auto_reload=False,
    trim_blocks=True,
    lstrip_blocks=True,
)
environment.globals.update(
    categories=CATEGORIES,
    price_text=writing.price_text,
    stock_text=writing.stock_text,
    rating_text=writing.rating_text,
    split_price=writing.split_price,
    stars=writing.stars,
    euros_text=writing.euros_text,
    questions=vocabulary.QUESTIONS,
    delivery_costs=vocabulary.DELIVERY_COSTS,
    availability=writing.SCHEMA_AVAILABILITY,
)


def page(
    request: Request,
    template: str,
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
    language: str = "en",
    **shown: Any,
) -> HTMLResponse:
    """The page, with header, basket, account and cookie banner as this visitor sees them."""
    shop = shop_of(request)
    session = shop.session(request)
    lines = shop.basket(session)
    body = environment.get_template(template).render(
        request=request,
        language=language,
        words=WORDS[language],
        user=session.user,
        basket_count=sum(line.quantity for line in lines),
        basket_total=writing.euros_text(sum((line.euros for line in lines), start=writing.NOTHING)),
        consent=request.cookies.get(CONSENT_COOKIE),
        today=shop.today(),
        **shown,
    )
    return HTMLResponse(body, status_code=status, headers=headers)
