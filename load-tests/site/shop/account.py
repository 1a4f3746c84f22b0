"""Signing in, the account area, the basket and placing orders."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from shop.catalogue import Product
from shop.pages import pdf_response
from shop.pdf import make_pdf
from shop.rendering import page
from shop.state import SESSION_COOKIE, shop_of
from shop.writing import price_text

# The shop's customers; their passwords stand in README.md. Nothing is protected by them but made-up orders.
CUSTOMERS = {
    "dana@example.com": ("Dana Whitlock", "harbour-lantern-42"),
    "tomas@example.com": ("Tomáš Bílek", "kolo2026"),
}

PAST_ORDERS = 7
VOUCHERS = ("WELCOME10", "AUTUMN")
MOST_PIECES = 99


@dataclass(frozen=True)
class Order:
    """A past order of a customer."""

    reference: str
    placed: date
    product: Product
    quantity: int
    status: str

    @property
    def total_text(self) -> str:
        """Its sum, as the product's category writes prices."""
        return price_text(self.product.category, self.product.price * self.quantity)


def past_orders(request: Request, user: str) -> list[Order]:
    """The customer's orders, newest first: those placed now, then some from before, the same for every run."""
    shop = shop_of(request)
    placed = [
        Order(
            reference=form.reference,
            placed=date.fromisoformat(form.at[:10]),
            product=shop.catalogue.by_slug[form.fields["product"]],
            quantity=int(form.fields["quantity"]),
            status="Received",
        )
        for form in reversed(shop.log.forms)
        if form.form == "order" and form.fields["user"] == user
    ]
    rng = Random(f"{shop.catalogue.seed}:orders:{user}")
    before = [
        Order(
            reference=f"HR-{rng.randrange(200_000, 999_999)}",
            placed=shop.today() - timedelta(days=9 + 31 * n + rng.randrange(20)),
            product=rng.choice(shop.catalogue.products),
            quantity=rng.randint(1, 4),
            status="On its way" if n == 0 else rng.choice(("Delivered", "Delivered", "Returned")),
        )
        for n in range(PAST_ORDERS)
    ]
    return placed + before


def _local(path: str) -> str:
    """The path if it stays on this site, else the account page: nobody is sent elsewhere by a link."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) else "/account"


def _with_session(response: Response, token: str) -> Response:
    response.set_cookie(SESSION_COOKIE, token, httponly=True, samesite="lax")
    return response


async def login(request: Request) -> Response:
    """The form to sign in."""
    return page(request, "login.html", to=_local(request.query_params.get("next", "/account")), email="", error="")


async def send_login(request: Request) -> Response:
    """Sign in, or show the form again with the reason."""
    async with request.form() as form:
        email, password = str(form.get("email", "")).strip().lower(), str(form.get("password", ""))
        to = _local(str(form.get("next", "/account")))
    if CUSTOMERS.get(email, ("", None))[1] != password:
        error = "We do not know this combination of e-mail address and password."
        return page(request, "login.html", status=401, to=to, email=email, error=error)
    token, session = shop_of(request).open_session(request)
    session.user = email
    return _with_session(RedirectResponse(to, status_code=303), token)


async def logout(request: Request) -> Response:
    """Forget the session."""
    shop_of(request).sessions.pop(request.cookies.get(SESSION_COOKIE, ""), None)
    response = RedirectResponse("/", status_code=303)
    response.delete_cookie(SESSION_COOKIE)
    return response


def _sign_in_first(request: Request) -> Response:
    return RedirectResponse(f"/login?next={request.url.path}", status_code=303)


async def account(request: Request) -> Response:
    """The account's overview, for those signed in."""
    user = shop_of(request).session(request).user
    if user is None:
        return _sign_in_first(request)
    orders = past_orders(request, user)
    return page(request, "account.html", name=CUSTOMERS[user][0], orders=orders[:3], count=len(orders))


async def orders(request: Request) -> Response:
    """All orders of the one who is signed in."""
    user = shop_of(request).session(request).user
    if user is None:
        return _sign_in_first(request)
    return page(request, "orders.html", name=CUSTOMERS[user][0], orders=past_orders(request, user))


def _order_of(request: Request, user: str) -> Order:
    reference = request.path_params["reference"]
    found = next((order for order in past_orders(request, user) if order.reference == reference), None)
    if found is None:
        raise HTTPException(404)
    return found


async def order(request: Request) -> Response:
    """One order."""
    user = shop_of(request).session(request).user
    if user is None:
        return _sign_in_first(request)
    return page(request, "order.html", name=CUSTOMERS[user][0], order=_order_of(request, user))


async def invoice(request: Request) -> Response:
    """An order's invoice as a PDF file."""
    user = shop_of(request).session(request).user
    if user is None:
        return _sign_in_first(request)
    found = _order_of(request, user)
    lines = [f"Order {found.reference} of {found.placed.isoformat()}", f"Customer: {CUSTOMERS[user][0]}", "",
             f"{found.quantity} x {found.product.name}", f"Total: {found.total_text}"]  # fmt: skip
    return pdf_response(make_pdf("Invoice", lines), f"invoice-{found.reference}.pdf")


async def basket(request: Request) -> Response:
    """Return what lies in the basket."""
    shop = shop_of(request)
    session = shop.session(request)
    return page(request, "basket.html", lines=shop.basket(session), voucher=session.voucher, note="")


async def add(request: Request) -> Response:
    """Put a product into the basket."""
    shop = shop_of(request)
    async with request.form() as form:
        slug, written = str(form.get("product", "")), str(form.get("quantity", "1"))
    product = shop.catalogue.by_slug.get(slug)
    if product is None or not (written.isascii() and written.isdigit() and 1 <= int(written) <= MOST_PIECES):
        raise HTTPException(400)
    token, session = shop.open_session(request)
    if product.stock.orderable and not product.discontinued:
        session.basket[slug] = min(session.basket.get(slug, 0) + int(written), MOST_PIECES)
    return _with_session(RedirectResponse("/basket", status_code=303), token)


async def empty(request: Request) -> Response:
    """Take everything out of the basket."""
    shop_of(request).session(request).basket.clear()
    return RedirectResponse("/basket", status_code=303)


async def voucher(request: Request) -> Response:
    """Redeem a voucher code."""
    shop = shop_of(request)
    async with request.form() as form:
        code = str(form.get("code", "")).strip().upper()
    token, session = shop.open_session(request)
    session.voucher = code if code in VOUCHERS else None
    note = "" if session.voucher else f"The voucher {code} is not valid."
    shown = page(request, "basket.html", lines=shop.basket(session), voucher=session.voucher, note=note)
    return _with_session(shown, token)


async def checkout(request: Request) -> Response:
    """Order what lies in the basket: one order for each product in it."""
    shop = shop_of(request)
    session = shop.session(request)
    if session.user is None:
        return RedirectResponse("/login?next=/basket", status_code=303)
    if not session.basket:
        return RedirectResponse("/basket", status_code=303)
    placed = [
        shop.accept(request, "order", "HR",
                    {"user": session.user, "product": line.product.slug, "quantity": str(line.quantity)})
        for line in shop.basket(session)
    ]  # fmt: skip
    session.basket.clear()
    return RedirectResponse(f"/account/orders/{placed[0].reference}?new={len(placed)}", status_code=303)


routes = [
    Route("/login", login),
    Route("/login", send_login, methods=["POST"]),
    Route("/logout", logout, methods=["POST"]),
    Route("/account", account),
    Route("/account/orders", orders),
    Route("/account/orders/{reference}", order),
    Route("/account/orders/{reference}/invoice.pdf", invoice),
    Route("/basket", basket),
    Route("/basket/add", add, methods=["POST"]),
    Route("/basket/empty", empty, methods=["POST"]),
    Route("/basket/voucher", voucher, methods=["POST"]),
    Route("/checkout", checkout, methods=["POST"]),
]
