"""The routes for tests: the ground truth of the catalogue and the log of what was served.

They are linked from nowhere in the shop and are not logged themselves.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shop.catalogue import Product
from shop.state import shop_of
from shop.writing import price_text, rating_text, stock_text


def truth_of(product: Product, fault: str | None) -> dict[str, Any]:
    """Return what is true of a product, whatever its page looks like. Prices are numbers in `currency`."""
    return {
        "path": product.path,
        "name": product.name,
        "brand": product.brand,
        "category": product.category.slug,
        "language": product.category.language,
        "price": float(product.price),
        "price_text": price_text(product.category, product.price),
        "currency": product.category.currency,
        "in_stock": product.stock.orderable and not product.discontinued,
        "stock_text": stock_text(product),
        "rating": None if product.rating is None else float(product.rating),
        "rating_text": rating_text(product),
        "rating_count": product.rating_count,
        "sku": product.sku,
        "specs": dict(product.specs),
        "versions": [{"label": v.label, "price": float(v.price), "sku": v.sku} for v in product.versions],
        "markup": product.category.template,
        "json_ld": product.json_ld,
        "discontinued": product.discontinued,
        "slow": product.slow,
        "fault": fault,
    }


async def products(request: Request) -> Response:
    """Every product, in catalogue order, which is also the order of its category's list."""
    shop = shop_of(request)
    faults = ((product, shop.faults.planned(product.path)) for product in shop.catalogue.products)
    return JSONResponse([truth_of(product, fault.value if fault else None) for product, fault in faults])


async def log_requests(request: Request) -> Response:
    """The requests served, oldest first; `path` (exact, or a prefix ending in *), `client` and `method` narrow it."""
    query = request.query_params
    return JSONResponse(shop_of(request).log.listed(query.get("path"), query.get("client"), query.get("method")))


async def log_summary(request: Request) -> Response:
    """Counts per path, status, host and client, and the most requests in flight at once."""
    return JSONResponse(shop_of(request).log.summary())


async def log_forms(request: Request) -> Response:
    """The forms accepted, oldest first, each as often as it was sent; `form` and `client` narrow it."""
    query = request.query_params
    found = [
        asdict(submission)
        for submission in shop_of(request).log.forms
        if submission.form == query.get("form", submission.form)
        and submission.client == query.get("client", submission.client)
    ]
    return JSONResponse({"count": len(found), "submissions": found})


async def log_reset(request: Request) -> Response:
    """Forget all requests and forms, and let the seeded faults begin anew. Sessions and baskets stay."""
    shop = shop_of(request)
    shop.log.reset()
    shop.faults.reset()
    return Response(status_code=204)


routes = [
    Route("/_truth/products.json", products),
    Route("/_log/requests", log_requests),
    Route("/_log/summary", log_summary),
    Route("/_log/forms", log_forms),
    Route("/_log/reset", log_reset, methods=["POST"]),
]
