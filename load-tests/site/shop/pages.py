"""The shop's public pages: front page, lists, products, search, and the files that belong to products."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from shop.catalogue import CATEGORIES, PAGE_SIZE, Category, Product
from shop.faults import DroppedResponse, Fault, server_error, too_many
from shop.images import banner_jpeg, product_jpeg
from shop.pdf import make_pdf
from shop.rendering import environment, page
from shop.served import client_of
from shop.state import shop_of
from shop.writing import SCHEMA_AVAILABILITY, price_text, rating_text, stock_text

PICTURES_KEPT = {"Cache-Control": "public, max-age=3600"}

SORTINGS = {
    "featured": lambda product: product.number,
    "price": lambda product: product.price,
    "name": lambda product: product.name.lower(),
    "rating": lambda product: -(product.rating or 0),
}


@dataclass(frozen=True)
class Listing:
    """One page of a list of products."""

    products: Sequence[Product]  # those on this page
    total: int
    number: int  # of this page, from 1
    pages: int
    links: dict[int, str]  # page number -> URL
    sorts: dict[str, str]  # sorting -> URL
    sort: str

    @property
    def window(self) -> list[int]:
        """The page numbers to show, 0 standing for a gap."""
        near = {1, self.pages, self.number - 1, self.number, self.number + 1}
        shown = [number for number in sorted(near) if 1 <= number <= self.pages]
        numbers: list[int] = []
        for number in shown:
            if numbers and number - numbers[-1] > 1:
                numbers.append(0)
            numbers.append(number)
        return numbers


def list_page(request: Request, products: Sequence[Product], path: str, *, in_path: bool = False) -> Listing:
    """The page of the list that the request asks for: filtered, sorted and cut as its query says."""
    query = {key: value for key, value in request.query_params.multi_items() if key not in ("page", "offset")}
    brands = request.query_params.getlist("brand")
    found = [
        product
        for product in products
        if (not brands or product.brand in brands) and ("in_stock" not in query or product.stock.orderable)
    ]
    sort = query.get("sort", "featured")
    if sort not in SORTINGS:
        raise HTTPException(400)
    found.sort(key=SORTINGS[sort])
    pages = max(1, -(-len(found) // PAGE_SIZE))
    number = _page_number(request)
    if number > pages:
        raise HTTPException(404)
    return Listing(
        products=found[(number - 1) * PAGE_SIZE : number * PAGE_SIZE],
        total=len(found),
        number=number,
        pages=pages,
        links={n: _page_link(path, request, n, in_path) for n in range(1, pages + 1)},
        sorts={name: f"{path}?{urlencode({**query, 'sort': name})}" for name in SORTINGS},
        sort=sort,
    )


def _page_number(request: Request) -> int:
    written = request.path_params.get("page") or request.query_params.get("page", "1")
    if not str(written).isdigit() or int(written) < 1:
        raise HTTPException(404)
    return int(written)


def _page_link(path: str, request: Request, number: int, in_path: bool) -> str:
    query = [(key, value) for key, value in request.query_params.multi_items() if key not in ("page", "offset")]
    if number > 1 and in_path:
        path = f"{path}/page/{number}"
    elif number > 1:
        query.append(("page", str(number)))
    return f"{path}?{urlencode(query)}" if query else path


async def front(request: Request) -> Response:
    """The front page."""
    catalogue = shop_of(request).catalogue
    return page(
        request,
        "front.html",
        featured=catalogue.picks("featured", 10),
        reduced=[product for product in catalogue.picks("reduced", 60) if product.old_price][:6],
        viewed=catalogue.picks("front", 4),
    )


def _category_of(request: Request) -> Category:
    category = shop_of(request).catalogue.category(request.path_params["category"])
    if category is None:
        raise HTTPException(404)
    return category


async def category_list(request: Request) -> Response:
    """A category's list, page by page; or, where it scrolls, its first page only."""
    category = _category_of(request)
    catalogue = shop_of(request).catalogue
    products = catalogue.by_category[category.slug]
    listing = list_page(request, products, f"/c/{category.slug}", in_path=category.paging == "path")
    return page(
        request,
        "list.html",
        language=category.language,
        category=category,
        listing=listing,
        brands=category.words.brands,
        chosen_brands=request.query_params.getlist("brand"),
        viewed=catalogue.picks(f"{category.slug}:{listing.number}", 4),
    )


async def all_products(request: Request) -> Response:
    """Everything the shop has, 22 pages of it."""
    catalogue = shop_of(request).catalogue
    listing = list_page(request, catalogue.products, "/all")
    return page(request, "all.html", listing=listing, viewed=catalogue.picks(f"all:{listing.number}", 4))


async def more_cards(request: Request) -> Response:
    """The next cards of an endless list, as HTML, for the script that appends them."""
    category = _category_of(request)
    listing = list_page(request, shop_of(request).catalogue.by_category[category.slug], f"/c/{category.slug}")
    cards = environment.get_template("cards_more.html").render(category=category, listing=listing)
    return HTMLResponse(cards, headers={"X-More": "yes" if listing.number < listing.pages else "no"})


async def search(request: Request) -> Response:
    """Return what was searched for, page by page."""
    query = request.query_params.get("q", "").strip()
    catalogue = shop_of(request).catalogue
    listing = list_page(request, catalogue.search(query), "/search")
    return page(request, "search.html", query=query, listing=listing, viewed=catalogue.picks("search", 4))


async def suggest(request: Request) -> Response:
    """Up to six names for what is being typed into the search box."""
    found = shop_of(request).catalogue.search(request.query_params.get("q", ""))[:6]
    return JSONResponse([{"name": product.name, "path": product.path} for product in found])


def _product_of(request: Request) -> Product:
    product = shop_of(request).catalogue.by_slug.get(request.path_params["slug"])
    if product is None:
        raise HTTPException(404)
    return product


async def product_page(request: Request) -> Response:
    """A product's page, with whatever fault is planned for this visit."""
    product = _product_of(request)
    shop = shop_of(request)
    language = product.category.language
    fault = shop.faults.meets(client_of(request), product.path)
    if fault is Fault.SERVER_ERROR:
        return server_error()
    if fault is Fault.TOO_MANY:
        return too_many()
    if product.slow or fault is Fault.SLOW:
        await asyncio.sleep(shop.slow_s)
    related = shop.catalogue.related(product)
    if product.discontinued:
        return page(request, "discontinued.html", status=404, language=language, product=product, related=related)
    shown = page(
        request,
        f"product_{product.category.template}.html",
        language=language,
        product=product,
        category=product.category,
        related=related,
        json_ld=json_ld(request, product) if product.json_ld else None,
    )
    return DroppedResponse(shown.body, media_type="text/html") if fault is Fault.DROP else shown


def json_ld(request: Request, product: Product) -> str:
    """The product as schema.org JSON-LD. What the shop does not know is left out."""
    data: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": product.name,
        "description": product.teaser,
        "image": [str(request.url.replace(path=f"/media/{product.slug}/{n}.jpg")) for n in range(1, 4)],
        "brand": {"@type": "Brand", "name": product.brand},
        "offers": {
            "@type": "Offer",
            "url": str(request.url),
            "priceCurrency": product.category.currency,
            "price": str(product.price),
            "availability": SCHEMA_AVAILABILITY[product.stock],
        },
    }
    if product.sku is not None:
        data["sku"] = product.sku
    if product.rating is not None:
        rating = {"@type": "AggregateRating", "ratingValue": str(product.rating), "reviewCount": product.rating_count}
        data["aggregateRating"] = rating
    # "</" would end the script element early.
    return json.dumps(data, ensure_ascii=False).replace("</", "<\\/")


async def versions(request: Request) -> Response:
    """The other versions of a product, as HTML, for the button that shows them."""
    product = _product_of(request)
    return HTMLResponse(environment.get_template("versions.html").render(product=product, category=product.category))


async def print_view(request: Request) -> Response:
    """A product on one sheet, opened in a window of its own."""
    return page(request, "print.html", product=_product_of(request))


async def size_guide(request: Request) -> Response:
    """The pop-up window with measures."""
    return page(request, "size_guide.html", category=_category_of(request))


async def data_sheet(request: Request) -> Response:
    """A product's data sheet as a PDF file."""
    product = _product_of(request)
    lines = [
        f"Category: {product.category.title}",
        f"Article number: {product.sku or '-'}",
        f"Price: {price_text(product.category, product.price)} ({product.category.currency})",
        f"Availability: {stock_text(product)}",
        f"Rating: {rating_text(product) or '-'}",
        "",
        *(f"{label}: {value}" for label, value in product.specs),
        "",
        *(sentence + "." for paragraph in product.paragraphs for sentence in paragraph.rstrip(".").split(". ")),
    ]
    return pdf_response(make_pdf(product.name, lines), f"{product.slug}.pdf")


def pdf_response(body: bytes, name: str) -> Response:
    """A PDF file to be saved under that name."""
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, media_type="application/pdf", headers=disposition)


async def picture(request: Request) -> Response:
    """A product's picture, `/media/SLUG/VIEW.jpg`, or its thumbnail, `/media/SLUG/VIEW-small.jpg`."""
    product = _product_of(request)
    view, _, size = request.path_params["view"].partition("-")
    if view not in ("1", "2", "3", "4", "5") or int(view) > product.images or size not in ("", "small"):
        raise HTTPException(404)
    # Drawing takes tens of milliseconds the first time: not on the event loop.
    body = await run_in_threadpool(product_jpeg, product, int(view), thumb=size == "small")
    return Response(body, media_type="image/jpeg", headers=PICTURES_KEPT)


async def banner(request: Request) -> Response:
    """The wide picture of a category."""
    body = await run_in_threadpool(banner_jpeg, _category_of(request))
    return Response(body, media_type="image/jpeg", headers=PICTURES_KEPT)


async def category_redirect(request: Request) -> Response:
    """`/c/SLUG/page/1` is the list itself."""
    return RedirectResponse(f"/c/{request.path_params['category']}", status_code=301)


async def sitemap(request: Request) -> Response:
    """All lists and products, for crawlers."""
    paths = ["/", "/all", *(f"/c/{c.slug}" for c in CATEGORIES), *(p.path for p in shop_of(request).catalogue.products)]
    root = str(request.base_url).rstrip("/")
    urls = "".join(f"<url><loc>{root}{path}</loc></url>" for path in paths)
    body = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
    return Response(body, media_type="application/xml")


routes = [
    Route("/", front),
    Route("/all", all_products),
    Route("/c/{category}", category_list),
    Route("/c/{category}/page/1", category_redirect),
    Route("/c/{category}/page/{page:int}", category_list),
    Route("/c/{category}/more", more_cards),
    Route("/c/{category}/size-guide", size_guide),
    Route("/search", search),
    Route("/suggest", suggest),
    Route("/p/{slug}", product_page),
    Route("/p/{slug}/versions", versions),
    Route("/p/{slug}/print", print_view),
    Route("/p/{slug}/datasheet.pdf", data_sheet),
    Route("/media/{slug}/{view}.jpg", picture),
    Route("/media/banner/{category}/wide.jpg", banner),
    Route("/sitemap.xml", sitemap),
]
