"""A catalogue whose pages change while somebody reads them: seeded, with the truth of each item.

`/drift/SEED/KIND/` lists the items, `/drift/SEED/KIND/i/N` is one of them. From item `START` on (or on the items that
the kind says) the pages have drifted; before, they are as they were learned. What a page states is a pure function of
seed, kind and number, so a test computes it without asking the site. Pages of even seeds have no structured data.

`/drift/SEED/form` is a form, and `/drift/SEED/received/N` thanks for the N-th one that was sent; `/drift/SEED/forms`
tells all that came. With `?relabelled=1` the form's button and its first label have other words; with
`?redesign_after=N` it is redesigned once N forms have come.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from random import Random
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

START = 10
"""The first item whose page has drifted, unless the kind says otherwise."""
ITEMS = 40
REDESIGN_AT = 500
"""Number of the item of a long loop at which the redesign comes in (`long_redesign`)."""
HYDRATION_MS = 350
RECORD_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "price", "sku", "weight_g", "available"],
    "properties": {
        "name": {"type": "string"},
        "price": {"type": "number"},
        "sku": {"type": "string"},
        "weight_g": {"type": "integer"},
        "available": {"type": "boolean"},
    },
}
"""JSON Schema of the record that a job asks of each item, and that `truth` gives."""


class Drift(StrEnum):
    """Changes of the pages. Each has its own address, so that one test can look at one of them."""

    NONE = "none"
    PLAIN = "plain"  # nothing drifts, and the page has no structured data
    CLASS_HASHES = "class_hashes"  # other class names with each request
    WRAPPER = "wrapper"  # one more element around the facts
    MOVED = "moved"  # blocks in another order
    HALVES = "halves"  # every second item has another template
    HEADING = "heading"  # h1 becomes h2
    LABEL = "label"  # a label has another wording
    COLUMNS = "columns"  # the columns of the table are swapped
    DECOYS = "decoys"  # "was", per unit, and a copy of another item's price in the footer
    DOLLARS = "dollars"  # € becomes $, with another amount
    SEPARATORS = "separators"  # 1,299.00 becomes 1.299,00
    MISSING = "missing"  # the price is not there
    SOFT_404 = "soft_404"  # "not found", with status 200 and another item's facts as a suggestion
    LOGIN_WALL = "login_wall"  # the page asks for a login, and shows a teaser
    HYDRATION = "hydration"  # scripts put the facts in place after a moment; before, they are placeholders
    CONTRADICTION = "contradiction"  # JSON-LD says another price than the page
    XHR = "xhr"  # the facts come by a request of their own
    XHR_TOKEN = "xhr_token"  # the same, with a token of the page
    DATA = "data"  # nothing drifts; the facts of every page come by a request of its own
    DATA_TOKEN = "data_token"  # the same, with a token of the page
    SCRIPTED = "scripted"  # a twin that scripts draw at once
    REDIRECT = "redirect"  # the address leads to another item
    NEIGHBOUR = "neighbour"  # a related item stands before the item, with the same markup
    REDESIGN = "redesign"  # everything is other markup
    LONG_REDESIGN = "long_redesign"  # the same, in the middle of a long loop
    OWN_IDS = "own_ids"  # nothing drifts; the element around each item's facts has an id by the item's name


_BY_DATA = (Drift.DATA, Drift.DATA_TOKEN)
_BY_TOKEN = (Drift.XHR_TOKEN, Drift.DATA_TOKEN)


@dataclass(frozen=True)
class Article:
    """The data that one item's page states."""

    number: int
    name: str
    price: float
    sku: str
    weight_g: int
    available: bool
    currency: str = "EUR"


_FIRST = ("Amber", "Birch", "Copper", "Dune", "Ember", "Fjord", "Granite", "Harbour", "Indigo", "Juniper", "Kelp")
_SECOND = ("lamp", "kettle", "bench", "clock", "shelf", "basket", "mirror", "stool", "vase", "tray", "blanket")


def article(seed: int, n: int) -> Article:
    """Item `n` as it is stored, whatever its page does."""
    random = Random(f"{seed}/{n}")
    name = f"{random.choice(_FIRST)} {random.choice(_SECOND)} {chr(65 + n % 26)}{n}"
    price = random.randint(1_000, 249_999) / 100
    code = hashlib.sha256(f"{seed}/{n}/sku".encode()).hexdigest()[:6].upper()
    available = (n + seed) % 5 not in (1, 3)  # four items one after the other are never all the same
    return Article(n, name, price, f"HR-{code}", random.randint(120, 9_800), available)


def drifted(kind: Drift, n: int) -> bool:
    """Return whether the page of item `n` is another than those that were learned from."""
    if kind in (Drift.NONE, Drift.PLAIN, Drift.OWN_IDS, *_BY_DATA):
        return False
    if kind is Drift.HALVES:
        return n >= START and n % 2 == 1
    return n >= (REDESIGN_AT if kind is Drift.LONG_REDESIGN else START)


def truth(seed: int, kind: Drift, n: int) -> dict[str, object] | None:
    """The record that the page of item `n` states; None where it states none of that item."""
    one, now = article(seed, n), drifted(kind, n)
    if now and kind in (Drift.SOFT_404, Drift.LOGIN_WALL, Drift.REDIRECT):
        return None
    price: float | None = one.price
    if now and kind is Drift.DOLLARS:
        price = _dollars(one)
    if now and kind is Drift.MISSING:
        price = None
    return {
        "name": one.name,
        "price": price,
        "sku": one.sku,
        "weight_g": one.weight_g,
        "available": one.available,
    }


def _dollars(one: Article) -> float:
    return round(one.price * 1.1, 2)


def _money(price: float, *, sign: str = "€", german: bool = False) -> str:
    text = f"{price:,.2f}"
    return f"{sign}{text.translate(str.maketrans(',.', '.,')) if german else text}"


# --- pages --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Look:
    """The drawing of one page."""

    one: Article
    seed: int
    price: str  # as shown; "" for none
    named: Callable[[str], str]  # class names
    kind: Drift = Drift.NONE
    now: bool = False


def page(seed: int, kind: Drift, n: int, nonce: int = 0) -> str:
    """The document of item `n`."""
    one, now = article(seed, n), drifted(kind, n)
    price = _money(one.price)
    if now and kind is Drift.DOLLARS:
        price = _money(_dollars(one), sign="$")
    if now and kind is Drift.SEPARATORS:
        price = _money(one.price, german=True)
    if now and kind is Drift.MISSING:
        price = ""
    hashed = now and kind is Drift.CLASS_HASHES

    def named(name: str) -> str:
        return f"c{hashlib.sha256(f'{name}{n}{nonce}'.encode()).hexdigest()[:7]}" if hashed else name

    look = _Look(one, seed, price, named, kind, now)
    if now and kind is Drift.SOFT_404:
        return _document("Not found", "en", "", _not_found(look))
    if now and kind is Drift.LOGIN_WALL:
        return _document(one.name, "en", "", _wall(look))
    if now and kind in (Drift.REDESIGN, Drift.LONG_REDESIGN, Drift.HALVES):
        return _document(f"{one.name} | Hallam", "en", "", _redesigned(look))
    if kind in _BY_DATA or (now and kind in (Drift.HYDRATION, Drift.XHR, Drift.XHR_TOKEN, Drift.SCRIPTED)):
        return _document(one.name, "en", "", _filled_later(look))
    return _document(one.name, "en", _linked_data(look), _body(look))


def _document(title: str, lang: str, head: str, body: str) -> str:
    return (
        f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8"><title>{escape(title)}</title>{head}</head>'
        f'<body><header><nav><a href="../">All items</a> <a href="#">In stock</a></nav></header>{body}'
        "<footer>Hallam &amp; Rook, 12 Quay Street. Delivery €4.90.</footer></body></html>"
    )


def _linked_data(look: _Look) -> str:
    if look.kind is Drift.PLAIN or not look.price or look.seed % 2 == 0:
        return ""
    one = look.one
    price = one.price
    if look.now and look.kind is Drift.CONTRADICTION:
        price = round(one.price * 0.9, 2)
    if look.now and look.kind is Drift.DOLLARS:
        price = _dollars(one)
    data = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": one.name,
        "sku": one.sku,
        "offers": {
            "@type": "Offer",
            "price": f"{price:.2f}",
            "availability": f"https://schema.org/{'InStock' if one.available else 'OutOfStock'}",
        },
    }
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


def _stock(one: Article) -> str:
    return "In stock" if one.available else "Out of stock"


def _body(look: _Look) -> str:
    one, name = look.one, look.named
    is_now = look.now
    level = "h2" if is_now and look.kind is Drift.HEADING else "h1"
    heading = f'<{level} class="{name("title")}">{escape(one.name)}</{level}>'
    price = f'<p class="{name("price")}">{look.price}</p>' if look.price else "<p>Ask us for a price</p>"
    if is_now and look.kind is Drift.DECOYS:
        was, unit = _money(one.price * 1.25), _money(one.price / 10)
        price = f'<p class="{name("price")}">{was}</p>{price}<p class="{name("price")}">{unit} / 100 g</p>'
    stock = f'<p class="{name("stock")}">{_stock(one)}</p>'
    facts = _table(look)
    blocks = [price, stock, facts]
    if is_now and look.kind is Drift.MOVED:
        blocks = [facts, stock, price]
    inner = "".join(blocks)
    if is_now and look.kind is Drift.WRAPPER:
        inner = f"<div>{inner}</div>"
    own = f' id="about-{"-".join(one.name.lower().split()[:2])}"' if look.kind is Drift.OWN_IDS else ""
    main = f'<main><article class="{name("item")}"{own}>{heading}{inner}</article>{_related(look)}</main>'
    if is_now and look.kind is Drift.NEIGHBOUR:
        other = article(look.seed, one.number + 1)
        before = (
            f'<article class="{name("item")}"><h2 class="{name("title")}">{escape(other.name)}</h2>'
            f'<p class="{name("price")}">{_money(other.price)}</p><p class="{name("stock")}">{_stock(other)}</p>'
            "</article>"
        )
        main = main.replace("<main>", f"<main>{before}", 1)
    if is_now and look.kind is Drift.DECOYS:
        other = article(look.seed, one.number + 1)
        main += f'<p class="{name("price")}">{_money(other.price)}</p>'
    return main


def _table(look: _Look) -> str:
    one = look.one
    label = "Gross weight" if look.now and look.kind is Drift.LABEL else "Weight"
    number = "Article" if look.now and look.kind is Drift.LABEL else "SKU"
    rows = [(number, one.sku), (label, f"{one.weight_g:,} g")]
    if look.now and look.kind is Drift.COLUMNS:
        cells = "".join(f"<tr><td>{value}</td><th>{name}</th></tr>" for name, value in reversed(rows))
    else:
        cells = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows)
    return f'<table class="{look.named("facts")}"><tbody>{cells}</tbody></table>'


def _related(look: _Look) -> str:
    others = [article(look.seed, look.one.number + step) for step in (2, 3)]
    listed = "".join(f'<li><a href="{o.number}">{escape(o.name)}</a> <b>{_money(o.price)}</b></li>' for o in others)
    return f"<section><h2>Related</h2><ul>{listed}</ul></section>"


def _not_found(look: _Look) -> str:
    other = article(look.seed, look.one.number + 1)
    inner = _body(_Look(other, look.seed, _money(other.price), look.named))
    return f"<p>This item is gone. You may like this one.</p>{inner}"


def _wall(look: _Look) -> str:
    teaser = article(look.seed, 0)
    return (
        f'<main><article class="item"><h1 class="title">{escape(look.one.name)}</h1>'
        f'<p class="price">{_money(teaser.price)}</p><p class="stock">{_stock(teaser)}</p>'
        '<form><label>Password <input type="password" name="p"></label><button>Log in to see your price</button>'
        f"</form>{_table(_Look(teaser, look.seed, '', look.named))}</article></main>"
    )


def _redesigned(look: _Look) -> str:
    one = look.one
    return (
        f'<div id="app"><section class="hero"><div class="name">{escape(one.name)}</div>'
        f"<dl><dt>Our price</dt><dd>{look.price}</dd><dt>Item no.</dt><dd>{one.sku}</dd>"
        f"<dt>Shipping weight</dt><dd>{one.weight_g:,} g</dd><dt>Availability</dt><dd>{_stock(one)}</dd></dl>"
        "</section></div>"
    )


def _filled_later(look: _Look) -> str:
    """The page's facts put in place by a script; before, placeholders that look like facts."""
    one = look.one
    empty = _Look(Article(one.number, "Loading", 0.0, "HR-000000", 0, False), look.seed, "€0.00", look.named)
    full = _body(_Look(one, look.seed, look.price, look.named))
    put = "document.querySelector('#root').innerHTML = html"
    if look.kind is Drift.SCRIPTED:
        script = f"const html = {_script_text(full)}; {put};"
    elif look.kind is Drift.HYDRATION:
        script = f"const html = {_script_text(full)}; setTimeout(() => {{ {put}; }}, {HYDRATION_MS});"
    else:
        token = f"?token={_token(look.seed, one.number)}" if look.kind in _BY_TOKEN else ""
        script = f"fetch(location.pathname + '/data{token}').then((r) => r.json()).then(({{html}}) => {{ {put}; }});"
    return f'<div id="root">{_body(empty)}</div><script>{script}</script>'


def _script_text(html: str) -> str:
    return json.dumps(html).replace("</", "<\\/")


def _token(seed: int, n: int) -> str:
    return hashlib.sha256(f"{seed}/{n}/token".encode()).hexdigest()[:16]


# --- a form -------------------------------------------------------------------------------------------

COLOURS = ("red", "green", "blue")
_OLD_NAMES = {"q1": "name", "q2": "email", "q3": "colour"}
"""Of the controls of the redesigned form, as the form had them before."""


def form_page(seed: int, *, relabelled: bool = False, redesigned: bool = False) -> str:
    """A form of three fields and a button. Redesigned, it is called as before, and nothing else of it is the same."""
    name, button = ("Contact", "Submit request") if relabelled else ("Full name", "Send request")
    options = "".join(f"<option>{colour}</option>" for colour in COLOURS)
    if redesigned:
        body = (
            f'<main><section><h1>Ask for a quote</h1></section><form method="post" action="/drift/{seed}/form"><ul>'
            f'<li><label for="f1">{name}</label><div><input id="f1" name="q1" autocomplete="off"></div></li>'
            '<li><label for="f2">E-mail</label><div><input id="f2" name="q2" autocomplete="off"></div></li>'
            f'<li><select id="f3" name="q3">{options}</select> <label for="f3">Colour</label></li>'
            f'<li><button id="f4" class="wide">{button}</button></li></ul></form></main>'
        )
        return _document("Ask for a quote", "en", "", body)
    body = (
        f'<main><h1>Ask for a quote</h1><form method="post" action="/drift/{seed}/form">'
        f'<p><label for="name">{name}</label> <input id="name" name="name" autocomplete="off"></p>'
        '<p><label for="mail">E-mail</label> <input id="mail" name="email" type="email" autocomplete="off"></p>'
        f'<p><label for="colour">Colour</label> <select id="colour" name="colour">{options}</select></p>'
        f'<p><button id="send" class="primary">{button}</button></p></form></main>'
    )
    return _document("Ask for a quote", "en", "", body)


_received: dict[int, list[dict[str, str]]] = {}


async def _form(request: Request) -> Response:
    seed = int(request.path_params["seed"])
    box = _received.setdefault(seed, [])
    if request.method == "GET":
        asked = request.query_params
        redesigned = len(box) >= int(asked["redesign_after"]) if "redesign_after" in asked else False
        return HTMLResponse(form_page(seed, relabelled="relabelled" in asked, redesigned=redesigned))
    sent = await request.form()
    box.append({_OLD_NAMES.get(name, name): str(value) for name, value in sent.items()})
    return RedirectResponse(f"/drift/{seed}/received/{len(box)}", 303)


async def _thanks(request: Request) -> Response:
    body = f"<main><h1>Thank you for your request</h1><p>Number {request.path_params['n']}</p></main>"
    return HTMLResponse(_document("Thank you", "en", "", body))


async def _forms(request: Request) -> Response:
    return JSONResponse(_received.get(int(request.path_params["seed"]), []))


# --- routes -------------------------------------------------------------------------------------------


async def _list(request: Request) -> Response:
    seed, kind = int(request.path_params["seed"]), Drift(request.path_params["kind"])
    count = min(int(request.query_params.get("items", ITEMS)), 100_000)
    links = "".join(f'<li><a class="link" href="i/{n}">{escape(article(seed, n).name)}</a></li>' for n in range(count))
    return HTMLResponse(f"<!doctype html><html lang=en><title>{kind}</title><body><ul>{links}</ul></body></html>")


async def _item(request: Request) -> Response:
    seed, kind, n = int(request.path_params["seed"]), Drift(request.path_params["kind"]), int(request.path_params["n"])
    if kind is Drift.REDIRECT and drifted(kind, n):
        return RedirectResponse(str(request.url_for("drift_item", seed=seed, kind="none", n=n + 1)), 302)
    return HTMLResponse(page(seed, kind, n, nonce=Random().randrange(1 << 30)))


async def _data(request: Request) -> Response:
    seed, kind, n = int(request.path_params["seed"]), Drift(request.path_params["kind"]), int(request.path_params["n"])
    if kind in _BY_TOKEN and request.query_params.get("token") != _token(seed, n):
        return JSONResponse({"error": "the token is not this page's"}, 403)
    one = article(seed, n)
    html = _body(_Look(one, seed, _money(one.price), lambda name: name))
    record = {name: getattr(one, name) for name in RECORD_SCHEMA["properties"]}
    return JSONResponse({"html": html, "item": {"id": n, **record}, "currency": one.currency})


async def _truth(request: Request) -> Response:
    seed, kind = int(request.path_params["seed"]), Drift(request.path_params["kind"])
    count = min(int(request.query_params.get("items", ITEMS)), 100_000)
    return JSONResponse([{"n": n, "record": truth(seed, kind, n), "drifted": drifted(kind, n)} for n in range(count)])


routes = [
    Route("/drift/{seed:int}/form", _form, methods=["GET", "POST"]),
    Route("/drift/{seed:int}/received/{n:int}", _thanks),
    Route("/drift/{seed:int}/forms", _forms),
    Route("/drift/{seed:int}/{kind:str}/", _list, name="drift_list"),
    Route("/drift/{seed:int}/{kind:str}/i/{n:int}", _item, name="drift_item"),
    Route("/drift/{seed:int}/{kind:str}/i/{n:int}/data", _data, name="drift_data"),
    Route("/drift/{seed:int}/{kind:str}/_truth", _truth, name="drift_truth"),
]
