"""The shop as an ASGI application: `create_app` puts the parts together."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from shop import account, admin, callback, drift, faults, pages, quote, service
from shop.catalogue import make_catalogue
from shop.faults import FaultBox
from shop.rendering import FOLDER, page
from shop.served import ServedMiddleware
from shop.state import Shop

SLOW_S = 1.5


async def _error_page(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return page(request, "error.html", status=status, code=status)


def create_app(
    seed: int = 7, fault_share: float = 0.0, slow_s: float = SLOW_S, today: Callable[[], date] = date.today
) -> Starlette:
    """A shop of its own, with its own log and sessions.

    Args:
        seed: decides the catalogue and the faults.
        fault_share: 0-1, of the product pages, those that fail the first time a client asks for them.
        slow_s: seconds that slow products take.
        today: what the shop holds for today's date.
    """
    shop = Shop(make_catalogue(seed), FaultBox(seed, fault_share), today, slow_s)
    app = Starlette(
        routes=[
            *admin.routes,
            *pages.routes,
            *account.routes,
            *quote.routes,
            *callback.routes,
            *service.routes,
            *faults.routes,
            *drift.routes,
            Mount("/static", StaticFiles(directory=FOLDER / "static")),
        ],
        exception_handlers={404: _error_page, 400: _error_page},
        middleware=[Middleware(ServedMiddleware, log=lambda: shop.log)],
    )
    app.state.shop = shop
    return app
