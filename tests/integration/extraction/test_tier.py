"""Pages that are read without a browser give what the browser gives, however their site tries to tell both apart."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
import pytest_asyncio

from shoal.agent.browser import Browser, ContextOptions
from shoal.agent.documents.context import DocumentBrowser, DocumentContext, DocumentReading
from shoal.agent.documents.trust import DocumentTrust
from shoal.agent.errors import AgentError, ServerBusy
from shoal.agent.read.by_place.reading import read_by_places
from shoal.agent.spec import JobSpec
from shoal.services.addresses import Reach
from shoal.services.browsers.network.documents import Documents
from shoal.services.browsers.network.egress import EgressProxy
from tests.loopback import served

pytestmark = pytest.mark.asyncio(loop_scope="session")

ASKED: Counter[str] = Counter()
WANTED: list[str] = []  # the header Accept of each request for a page
"""Requests by path."""


def page(price: str, more: str = "", head: str = "") -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{head}</head><body><h1>Lamp</h1>'
        f'<p>Price: <b class="price">{price}</b></p><table><tr><th>Code</th>'
        f'<td><a href="x">L-{price}</a></td></tr></table>{more}'
        f"</body></html>"
    )


SETS = "<script>document.querySelector('.price').textContent = '{0}';</script>"
LATE = "<script>setTimeout(() => {{ document.querySelector('.price').textContent = '{0}'; }}, 250);</script>"
SALE = "<script src='/sale.js'></script>"
SALE_JS = "for (const el of document.querySelectorAll('.price.sale')) el.textContent = '1.00';"
HIDES = "<style>.was {display: none}</style>"


def answer(kind: str, n: int, headers: Any) -> tuple[int, dict[str, str], str | bytes] | None:
    """Status, headers and body of a page of a site; None: the connection is cut."""
    price = f"{n}.50"
    browser = "sec-fetch-mode" in {name.lower() for name in headers}
    if kind == "styled":
        return 200, {}, page(f'{price} <i class="was">was 9.99</i>' if n == 6 else price, head=HIDES)
    if kind == "sale":
        body = page(price, SALE)
        return 200, {}, body.replace('class="price"', 'class="price sale"') if n == 6 else body
    if kind == "refresh" and n == 6:
        return 200, {}, page(price, head='<meta http-equiv="refresh" content="0; url=/plain/9">')
    if kind == "halves":  # a visitor without a cookie is put into a half
        return 200, {"Set-Cookie": "half=x"}, page(price if browser else f"{n}.75")
    if kind == "refused" and not browser:
        return 403, {}, page("0.00")
    if kind == "busy" and not browser:
        return 429, {"Retry-After": "7"}, page("0.00")
    if kind == "cut" and not browser:
        return None
    if kind == "missing" and n == 6:
        return 404, {}, page("0.00")
    if kind == "soft404" and n == 6:
        return 200, {}, '<!doctype html><meta charset="utf-8"><h1>Not found</h1><p class="none">Try another</p>'
    if kind == "wall" and n == 6:
        return 200, {}, page(price, "<form><input type=password></form>").replace("<h1>Lamp", "<h1>Please log in")
    if kind == "error" and n == 6:
        return 200, {}, page(price).replace("<h1>Lamp", "<h1>Something went wrong")
    if kind == "dialog":
        return 200, {}, page(price, "<div style='display: none'><h2>Sign in</h2><input type=password></div>")
    if kind == "moved":
        return 302, {"Location": f"/plain/{n}"}, ""
    if kind == "latin":
        return 200, {"Content-Type": "text/html; charset=iso-8859-1"}, page(f"£{price}").encode("cp1252")
    script = {"sets": SETS.format(f"{n}.99"), "late": LATE.format(f"{n}.99")}.get(kind, "")
    return 200, {}, page(price, script)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        ASKED[self.path] += 1
        if not self.path.endswith((".js", ".ico")):
            WANTED.append(self.headers["Accept"])
        _, kind, last = f"{self.path}//".split("/")[:3]
        if kind in ("sale.js", "favicon.ico"):
            said: Any = (200, {"Content-Type": "text/javascript"}, SALE_JS)
        else:
            said = answer(kind, int(last), self.headers)
        if said is None:
            self.close_connection = True
            return
        status, headers, text = said
        body = text.encode() if isinstance(text, str) else text
        self.send_response(status)
        for name, value in {"Content-Type": "text/html", **headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Silence."""


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    with served(Handler) as url:
        yield url


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def documents() -> AsyncIterator[Documents]:
    async with EgressProxy(Reach(allow_private=True)) as egress:
        found = Documents(egress)
        yield found
        await found.close()


@dataclass
class Tier:
    """The items of one site, read one after the other by the places of one job."""

    browser: Browser
    documents: Documents
    site: str
    told: Counter[str] = field(default_factory=Counter)
    gated: list[str] = field(default_factory=list)
    trust: DocumentTrust = field(default_factory=lambda: DocumentTrust(random.Random(1)))

    def __post_init__(self) -> None:
        fields = {"price": {"select": ".price", "reader": "text"}, "code": {"label": "Code"}}
        self.spec = JobSpec.model_validate(
            {"url": self.site, "extract": {"fields": fields}, "artifacts": {"evidence": "document"}}
        )

    async def guard(self, url: str) -> None:
        self.gated.append(url)

    async def read(self, kind: str, n: int) -> tuple[str, bool]:
        """The price of one item, and whether no browser was asked for it."""
        told = self.told
        reading = DocumentReading(
            self.spec, self.documents.of("t"), self.trust, self.guard, lambda what: told.update([what])
        )
        context = await DocumentBrowser(self.browser, reading).new_context(ContextOptions(reading=True, reuse="job"))
        assert isinstance(context, DocumentContext)
        try:
            landing = await context.goto(f"{self.site}/{kind}/{n}")
            if landing.status != 200:
                return str(landing.status), False
            assert self.spec.extract is not None
            found = await read_by_places(context, self.spec.extract)
            return str(found.records[0].value["price"]), context.document is not None
        except AgentError as error:
            return type(error).__name__, False
        finally:
            await context.close()

    async def all(self, kind: str, upto: int = 9) -> dict[int, tuple[str, bool]]:
        """The items from 1 on."""
        return {n: await self.read(kind, n) for n in range(1, upto)}


@pytest.fixture
def tier(browser: Browser, documents: Documents, shop: str) -> Tier:
    return Tier(browser, documents, shop)


def prices(read: dict[int, tuple[str, bool]]) -> list[str]:
    return [price for price, _ in read.values()]


def truth(last: str = "50", *, of: dict[int, str] = {}) -> list[str]:  # noqa: B006  # never changed
    return [of.get(n, f"{n}.{last}") for n in range(1, 9)]


async def test_plain_pages_are_read_without_a_browser_once_three_of_them_agreed(tier: Tier) -> None:
    read = await tier.all("plain", 60)
    assert prices(read) == [f"{n}.50" for n in range(1, 60)]
    assert [alone for _, alone in read.values()][:3] == [False] * 3
    assert tier.told["different"] == 0
    assert tier.told["used"] > 40
    assert tier.told["agreed"] == 59 - tier.told["used"]  # each other one was a sample
    assert len(tier.gated) == tier.told["agreed"]  # the document beside the page asks the guard of its own


async def test_a_document_is_asked_for_as_the_installed_browser_asks_for_a_page(tier: Tier) -> None:
    WANTED.clear()
    await tier.all("plain", 12)
    assert tier.told["used"] > 0
    assert len(WANTED) > 11, "browser and document are both asked for"
    assert len(set(WANTED)) == 1
    assert "text/html" in WANTED[0]


async def test_an_encoding_other_than_utf_8(tier: Tier) -> None:
    read = await tier.all("latin", 30)
    assert prices(read) == [f"£{n}.50" for n in range(1, 30)]
    assert tier.told["used"] > 10


async def test_redirects_within_the_site(tier: Tier) -> None:
    read = await tier.all("moved", 30)
    assert prices(read) == [f"{n}.50" for n in range(1, 30)]
    assert tier.told["used"] > 10


@pytest.mark.parametrize("kind", ["sets", "late", "halves"])
async def test_what_scripts_or_the_site_change_ends_it_at_the_first_sample(tier: Tier, kind: str) -> None:
    read = await tier.all(kind)
    assert not any(alone for _, alone in read.values())
    assert (tier.told["different"], tier.told["used"]) == (1, 0)
    if kind == "sets":
        assert prices(read) == truth("99")


@pytest.mark.parametrize(
    ("kind", "sixth"), [("sale", "1.00"), ("styled", "6.50"), ("refresh", None), ("missing", "404")]
)
async def test_the_one_page_that_is_otherwise_is_read_in_a_browser(tier: Tier, kind: str, sixth: str | None) -> None:
    for n in range(1, 6):
        tier.trust.visitor and setattr(tier.trust, "_begun", 10_000)  # past the many early samples
        assert (await tier.read(kind, n))[0] == f"{n}.50"
    price, alone = await tier.read(kind, 6)
    assert not alone
    if sixth is not None:
        assert price == sixth
    assert tier.told["used"] > 0


async def test_a_page_that_only_says_that_it_is_gone_gives_no_record(tier: Tier) -> None:
    read = await tier.all("soft404")
    assert prices(read) == truth(of={6: "PlaceMissing"})


@pytest.mark.parametrize("kind", ["wall", "error"])
async def test_a_document_that_may_stand_in_the_page_s_place_is_looked_at_in_a_browser(tier: Tier, kind: str) -> None:
    for n in range(1, 6):
        tier.trust.visitor and setattr(tier.trust, "_begun", 10_000)
        assert (await tier.read(kind, n))[0] == f"{n}.50"
    assert (await tier.read(kind, 5))[1], "documents count by now"
    assert not (await tier.read(kind, 6))[1]


async def test_a_hidden_login_that_each_page_has_says_nothing_of_its_document(tier: Tier) -> None:
    read = await tier.all("dialog", 30)
    assert prices(read) == [f"{n}.50" for n in range(1, 30)]
    assert tier.told["used"] > 10


async def test_a_site_that_turns_such_requests_away_is_asked_no_more(tier: Tier) -> None:
    read = await tier.all("refused")
    assert prices(read) == truth()
    assert tier.told == Counter(turned_away=1)


async def test_a_sample_that_is_too_many_for_the_site_ends_it_and_the_page_counts(tier: Tier) -> None:
    read = await tier.all("busy")
    assert prices(read) == truth()
    assert tier.told == Counter(turned_away=1)


async def test_a_document_that_is_too_many_for_the_site_waits_for_another_attempt(tier: Tier) -> None:
    for n in range(1, 4):
        await tier.read("plain", n)
    tier.trust._begun = 10_000
    assert await tier.read("busy", 4) == (ServerBusy.__name__, False)
    assert tier.trust.refused


async def test_connections_that_break_say_nothing_of_the_document(tier: Tier) -> None:
    for n in range(1, 5):
        await tier.read("plain", n)
    tier.trust._begun = 10_000
    assert await tier.read("cut", 5) == ("5.50", False)
    assert tier.trust.refused == ""
    assert (await tier.read("plain", 6))[0] == "6.50"


async def test_an_address_that_browsers_may_not_reach_is_not_asked(browser: Browser, shop: str) -> None:
    async with EgressProxy(Reach()) as egress:
        documents = Documents(egress)
        tier = Tier(browser, documents, shop)
        before = ASKED["/plain/1"]
        await tier.read("plain", 1)
        await documents.close()
    assert ASKED["/plain/1"] == before + 1  # by the browser, which has no filter in this test
    assert tier.told == Counter(unknown=1)
