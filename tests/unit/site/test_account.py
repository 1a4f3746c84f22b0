"""Signing in, what only then can be seen, the basket and orders."""

from __future__ import annotations

from typing import Any

import pytest
from lxml import html
from starlette.testclient import TestClient

DANA = {"email": "dana@example.com", "password": "harbour-lantern-42"}


def sign_in(client: TestClient) -> None:
    """Sign in as Dana."""
    assert client.post("/login", data=DANA).url.path == "/account"


def orderable(client: TestClient) -> dict[str, Any]:
    """A product in euros that can be put into the basket."""
    products = client.get("/_truth/products.json").json()
    found: dict[str, Any] = next(p for p in products if p["in_stock"] and p["currency"] == "EUR")
    return found


@pytest.mark.parametrize(
    "path", ["/account", "/account/orders", "/account/orders/HR-1", "/account/orders/HR-1/invoice.pdf"]
)
def test_the_account_leads_strangers_to_the_sign_in_form(client: TestClient, path: str) -> None:
    answer = client.get(path, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/login?next={path}")


def test_a_wrong_password_is_refused_with_a_reason(client: TestClient) -> None:
    answer = client.post("/login", data={**DANA, "password": "guess"})
    assert answer.status_code == 401
    assert "do not know this combination" in answer.text
    assert client.get("/account/orders").url.path == "/login"


def test_who_is_signed_in_sees_orders_and_invoices_until_signing_out(client: TestClient) -> None:
    sign_in(client)
    page = html.fromstring(client.get("/account/orders").text)
    orders = page.xpath("//table//td[1]/a/@href")
    assert len(orders) == 7
    assert client.get(orders[0]).status_code == 200
    assert client.get(f"{orders[0]}/invoice.pdf").content.startswith(b"%PDF-")
    client.post("/logout")
    assert client.get("/account/orders").url.path == "/login"


def test_customers_do_not_see_each_others_orders(client: TestClient) -> None:
    sign_in(client)
    order = html.fromstring(client.get("/account/orders").text).xpath("//table//td[1]/a/@href")[0]
    client.post("/login", data={"email": "tomas@example.com", "password": "kolo2026"})
    assert client.get(order).status_code == 404


def test_signing_in_leads_back_to_where_one_came_from_but_never_off_the_site(client: TestClient) -> None:
    for wanted, reached in (
        ("/basket", "/basket"),
        ("//evil.example/", "/account"),
        ("https://evil.example/", "/account"),
        ("/\\evil.example", "/account"),
    ):
        answer = client.post("/login", data={**DANA, "next": wanted}, follow_redirects=False)
        assert answer.headers["location"] == reached


def test_the_session_cookie_cannot_be_read_by_scripts(client: TestClient) -> None:
    cookie = client.post("/login", data=DANA, follow_redirects=False).headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie


def test_the_basket_adds_up_and_its_total_stands_in_every_header(client: TestClient) -> None:
    product = orderable(client)
    slug = product["path"].removeprefix("/p/")
    client.post("/basket/add", data={"product": slug, "quantity": "2"})
    total = html.fromstring(client.get("/").text).xpath("//span[@class='basket-total']")[0].text_content()
    assert total == f"€{product['price'] * 2:,.2f}"
    client.post("/basket/empty")
    assert "nothing in it yet" in client.get("/basket").text


def test_what_cannot_be_ordered_does_not_get_into_the_basket(client: TestClient) -> None:
    sold_out = next(p for p in client.get("/_truth/products.json").json() if not p["in_stock"])
    client.post("/basket/add", data={"product": sold_out["path"].removeprefix("/p/"), "quantity": "1"})
    assert "nothing in it yet" in client.get("/basket").text
    assert client.post("/basket/add", data={"product": "no-such-thing", "quantity": "1"}).status_code == 400


def test_an_order_is_placed_once_and_stands_in_the_list(client: TestClient) -> None:
    slug = orderable(client)["path"].removeprefix("/p/")
    client.post("/basket/add", data={"product": slug, "quantity": "3"})
    assert client.post("/checkout").url.path == "/login"
    sign_in(client)
    placed = client.post("/checkout")
    assert "Thank you for your order" in placed.text
    assert client.post("/checkout").url.path == "/basket"  # it is empty now: nothing is ordered again
    log = client.get("/_log/forms?form=order").json()
    assert log["count"] == 1
    assert log["submissions"][0]["fields"] == {"user": DANA["email"], "product": slug, "quantity": "3"}
    assert log["submissions"][0]["reference"] in client.get("/account/orders").text


def test_vouchers_are_checked(client: TestClient) -> None:
    assert "not valid" in client.post("/basket/voucher", data={"code": "free"}).text
    slug = orderable(client)["path"].removeprefix("/p/")
    client.post("/basket/add", data={"product": slug, "quantity": "1"})
    assert "voucher WELCOME10" in client.post("/basket/voucher", data={"code": "welcome10"}).text
