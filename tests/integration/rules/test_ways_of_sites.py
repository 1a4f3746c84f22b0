# ruff: noqa: E501
"""Ways of sites that rules have to know: labels that are links, typed dates, pages that lead on, routes, dead ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from shoal.agent.browser import Browser, Context
from shoal.agent.errors import FormIncomplete
from shoal.agent.policies.rules.planning import SEND
from shoal.agent.status import Status
from shoal.agent.types import LoopItem
from tests.integration.rules.conftest import Sessions
from tests.integration.rules.test_collect import collect
from tests.integration.rules.test_forms import navigate, state
from tests.loopback import served
from tests.patience import PATIENT

pytestmark = pytest.mark.asyncio(loop_scope="session")

DEAD = "http://127.0.0.1:1/gone"
ORDER = """<!doctype html><html LANG><title>Order</title><style>.hidden { position: absolute; opacity: 0; width: 1px; height: 1px }
 label.styled { display: block; width: 30em } .box { display: inline-block; width: 12px; height: 12px; border: 1px solid }</style>
<h1>Order</h1><form method=post action=/order>
 <label>Needed by <input type=date name=needed_by></label> <label>Length <input type=number step=any name=length></label>
 <label>Name <input name=name></label> TERMS <button>Order now</button></form>"""
BOX = "<input type=checkbox class=hidden id=t name=terms value=yes>"
TERMS = {
    "mostly a link": f"{BOX}<label class=styled for=t><span class=box></span> <a href=/terms>I accept the terms and conditions of this shop</a></label>",
    "a link alone": f'{BOX}<label class=styled for=t aria-label="Accept terms"><a href=/terms style="display: block">I accept the terms</a></label>',
    "a box in its label": "<label>I accept the <a href=/terms>terms and conditions of this shop</a> <input type=checkbox name=terms value=yes></label>",
}
ITEMS = range(1, 6)
LISTS = {
    "/routes": "".join(f'<li><a href="#/item/{n}">Lamp {n}</a></li>' for n in ITEMS),
    "/boxless": "".join(
        f'<li style="display: contents"><a style="display: contents" href="/item/{n}"><span>Lamp {n}</span></a></li>'
        for n in ITEMS
    ),
    "/again": "".join(
        f'<li><a href="/item/{n}">Lamp {n}</a></li><li><a href="/item/{n}?utm_source=list">Lamp {n}, our tip</a></li>'
        f'<li><a href="/item/{n};jsessionid=0A1B{n}">Lamp {n}</a></li><li><a href="/item/{n}#reviews">Reviews of lamp {n}</a></li>'
        for n in ITEMS
    ),
}


@dataclass
class Shop:
    """The site, what it was asked for and what it was sent."""

    url: str = ""
    asked: list[str] = field(default_factory=list)
    orders: list[dict[str, str]] = field(default_factory=list)
    terms: str = ""
    lang: str = ""


class _Handler(BaseHTTPRequestHandler):
    site: Shop

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.site.asked.append(self.path)
        later = {
            "/moved": "0;url=/moved-again",
            "/moved-again": "1; URL='/here'",
            "/slowly": "3600;url=/here",
            "/own": "1",
        }
        pages = {
            "/": ORDER.replace("LANG", self.site.lang).replace("TERMS", self.site.terms),
            "/here": "<!doctype html><title>Here</title><h1>Here</h1>",
            "/thanks": "<!doctype html><title>Thanks</title><h1>Thank you for your order</h1>",
            "/terms": "<!doctype html><title>Terms</title><h1>Terms</h1>",
            "/dead": f"<!doctype html><title>On</title><h1 class=name>Lamp</h1><script>location.replace('{DEAD}')</script>",
            **{
                at: f'<!doctype html><title>On</title><meta http-equiv=Refresh content="{to}"><h1>One moment</h1>'
                for at, to in later.items()
            },
            **{
                at: f"<!doctype html><html lang=en><title>Lamps</title><nav><a href=/a>Home</a><a href=/b>Help</a></nav><main><h1>Lamps</h1><ul>{rows}</ul></main>"
                for at, rows in LISTS.items()
            },
        }
        self._answer(pages.get(path, ""), 200 if path in pages else 404)

    def do_POST(self) -> None:
        self.site.orders.append(dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode())))
        self._answer(
            '<!doctype html><title>Wait</title><meta http-equiv=refresh content="0; url=/thanks"><p>One moment</p>', 200
        )

    def _answer(self, text: str, status: int) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Silence: what was asked is in `site.asked`."""


@pytest.fixture
def shop() -> Iterator[Shop]:
    here = Shop()
    with served(type("Handler", (_Handler,), {"site": here})) as here.url:
        yield here


async def orders(page: Context, shop: Shop, **data: Any) -> None:
    await page.goto(f"{shop.url}/")
    end, _ = await navigate(state(page, shop.url, goal="order", data={"name": "Ann", **data}), SEND)
    assert end.name == "complete"


@pytest.mark.parametrize("terms", TERMS)
async def test_a_box_is_ticked_past_the_link_in_its_label(page: Context, shop: Shop, terms: str) -> None:
    shop.terms = TERMS[terms]
    await orders(page, shop, accept_terms=True)
    assert [order.get("terms") for order in shop.orders] == ["yes"]
    assert "/terms" not in shop.asked
    assert page.url == f"{shop.url}/thanks", "the answer led on"


async def test_what_a_person_writes_is_typed_as_the_field_takes_it(page: Context, shop: Shop) -> None:
    shop.lang = "lang=de"
    await orders(page, shop, needed_by="07.03.2027", length="1,5")
    (order,) = shop.orders
    assert (order["needed_by"], order["length"]) == ("2027-03-07", "1.5")


async def test_a_day_that_could_be_another_is_not_sent(page: Context, shop: Shop) -> None:
    with pytest.raises(FormIncomplete, match=r"needed_by .*'03/07/2027' cannot be read"):
        await orders(page, shop, needed_by="03/07/2027")
    assert shop.orders == []


@pytest.mark.parametrize("reading", [False, True])
async def test_a_page_that_leads_on_after_a_moment_is_followed(browser: Browser, shop: Shop, reading: bool) -> None:
    context = await browser.new_context(replace(PATIENT, reading=reading))
    try:
        landing = await context.goto(f"{shop.url}/moved")
        assert (landing.url, landing.status, context.url) == (f"{shop.url}/here", 200, f"{shop.url}/here")
        for stays in ("/slowly", "/own", "/here"):
            assert (await context.goto(f"{shop.url}{stays}")).url == f"{shop.url}{stays}"
    finally:
        await context.close()


@pytest.mark.parametrize("path", ["/routes", "/boxless", "/again"])
@pytest.mark.parametrize("select", ["lamps", "main li"])
async def test_items_are_pages_however_their_addresses_are_written(
    page: Context, shop: Shop, path: str, select: str
) -> None:
    base = f"{shop.url}/routes#/item/" if path == "/routes" else f"{shop.url}/item/"
    found = await collect(page, f"{shop.url}{path}", {"select": select})
    assert found == [LoopItem(n - 1, f"{base}{n}", True, f"Lamp {n}") for n in ITEMS]


async def test_a_page_that_leads_to_a_dead_address_is_a_navigation_that_failed(sessions: Sessions, shop: Shop) -> None:
    outcome = await sessions.end(f"{shop.url}/dead", extract={"fields": {"name": {"select": "h1.name"}}})
    assert outcome.status is Status.FAILED
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.retryable) == ("navigation_failed", True)
    assert f"{shop.url}/dead led to {DEAD}" in outcome.error.message
