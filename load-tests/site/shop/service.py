"""Everything around the goods: downloads, delivery, pick-up points, newsletter, cookie choice, robots.txt."""

from __future__ import annotations

import csv
import io

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from shop.catalogue import CATEGORIES
from shop.pages import pdf_response
from shop.pdf import make_pdf
from shop.rendering import CONSENT_COOKIE, page
from shop.state import shop_of
from shop.writing import price_text, stock_text

ROBOTS = """\
User-agent: *
Disallow: /warehouse/
Disallow: /account/
Disallow: /basket

User-agent: CarefulBot
Crawl-delay: 2
Disallow: /warehouse/
Disallow: /search

User-agent: UnwelcomeBot
Disallow: /

Sitemap: {root}/sitemap.xml
"""

PICKUP_POINTS = ("Harbour Street 12", "Old Mill Yard", "Station Square, locker 4", "Northgate Park", "Linden Row 88")
INFO_PAGES = ("about", "careers", "press", "terms", "privacy", "imprint", "returns", "guarantee", "sustainability")
MONTH_S = 30 * 24 * 3600


async def robots(request: Request) -> Response:
    """robots.txt: a closed area for all, a crawl delay for one agent, nothing for another."""
    return PlainTextResponse(ROBOTS.format(root=str(request.base_url).rstrip("/")))


async def warehouse(request: Request) -> Response:
    """The area that robots.txt closes: stock by shelf."""
    shelf = request.path_params.get("shelf", "A")
    if shelf not in "ABCDEFGH":
        raise HTTPException(404)
    products = shop_of(request).catalogue.by_category[CATEGORIES["ABCDEFGH".index(shelf)].slug]
    return page(request, "warehouse.html", shelf=shelf, products=products)


async def downloads(request: Request) -> Response:
    """The list of files to be had."""
    return page(request, "downloads.html")


async def price_list(request: Request) -> Response:
    """All products with prices, as a CSV file."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(("sku", "name", "category", "price", "currency", "availability"))
    for product in shop_of(request).catalogue.products:
        if not product.discontinued:
            writer.writerow((product.sku or "", product.name, product.category.title, product.price,
                             product.category.currency, stock_text(product)))  # fmt: skip
    disposition = {"Content-Disposition": 'attachment; filename="price-list.csv"'}
    return Response(file.getvalue(), media_type="text/csv; charset=utf-8", headers=disposition)


async def brochure(request: Request) -> Response:
    """A category's brochure as a PDF file."""
    catalogue = shop_of(request).catalogue
    category = catalogue.category(request.path_params["category"])
    if category is None:
        raise HTTPException(404)
    lines = [category.blurb, ""]
    for product in catalogue.by_category[category.slug]:
        lines += [f"{product.name}  -  {price_text(category, product.price)}", f"    {product.teaser}", ""]
    return pdf_response(make_pdf(f"{category.title}: brochure", lines), f"brochure-{category.slug}.pdf")


def _other_origin(request: Request) -> str:
    """This very server under its other name: another origin to the browser."""
    other = "127.0.0.1" if request.url.hostname == "localhost" else "localhost"
    return (
        f"{request.url.scheme}://{other}:{request.url.port}" if request.url.port else f"{request.url.scheme}://{other}"
    )


async def pickup(request: Request) -> Response:
    """Choosing a pick-up point, in a frame that another origin serves."""
    return page(request, "pickup.html", frame_origin=_other_origin(request))


async def pickup_frame(request: Request) -> Response:
    """The frame itself. It tells the page around it which point was chosen."""
    return page(request, "pickup_frame.html", points=PICKUP_POINTS)


async def delivery(request: Request) -> Response:
    """Delivery times, with a calculator that is a web component with an open shadow root."""
    return page(request, "delivery.html")


async def info(request: Request) -> Response:
    """One of the pages that every shop has and nobody reads."""
    topic = request.path_params["topic"]
    if topic not in INFO_PAGES:
        raise HTTPException(404)
    return page(request, "info.html", topic=topic)


async def newsletter(request: Request) -> Response:
    """Subscribe to the newsletter."""
    async with request.form() as form:
        email = str(form.get("email", "")).strip()
    if "@" not in email:
        return page(request, "newsletter.html", status=422, reference="", email=email)
    submission = shop_of(request).accept(request, "newsletter", "N", {"email": email})
    return page(request, "newsletter.html", reference=submission.reference, email=email)


async def consent(request: Request) -> Response:
    """Keep what the visitor chose in the cookie banner."""
    async with request.form() as form:
        choice = "all" if form.get("choice") == "all" else "needed"
    response = Response(status_code=204)
    if "text/html" in request.headers.get("accept", ""):
        response = RedirectResponse("/", status_code=303)
    response.set_cookie(CONSENT_COOKIE, choice, max_age=MONTH_S, samesite="lax")
    return response


routes = [
    Route("/robots.txt", robots),
    Route("/warehouse/", warehouse),
    Route("/warehouse/{shelf}", warehouse),
    Route("/downloads", downloads),
    Route("/downloads/price-list.csv", price_list),
    Route("/downloads/brochure-{category}.pdf", brochure),
    Route("/service/pickup", pickup),
    Route("/service/pickup/frame", pickup_frame),
    Route("/service/delivery", delivery),
    Route("/info/{topic}", info),
    Route("/newsletter", newsletter, methods=["POST"]),
    Route("/consent", consent, methods=["POST"]),
]
