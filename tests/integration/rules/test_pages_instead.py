"""Pages that answer with success and stand in the place of a loop's item: none of them is a record."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.cluster_world import world
from tests.integration.rules.test_rows import RealParts
from tests.loopback import served

PROSE = "<p>" + "A manual explains at length what such an answer means, and what to do about it. " * 30
FORM = "<form><input name=user><input type=password><button>Log in</button></form>"
BADGE = "<div class=grecaptcha-badge style='position: fixed; right: 0; bottom: 0; height: 60px'>Checked</div>"
ITEMS = {  # the link's words, the page, and what comes of it
    "/1": ("Desk lamp", "<title>Desk lamp</title><h1>Desk lamp</h1><p>Bright.", "Desk lamp"),
    "/2": ("Wall lamp", f"<title>Shop</title><h1>Please log in</h1>{FORM}", "access_denied"),
    "/3": ("Floor lamp", "<title>Shop</title><h1>Verify you are human</h1><p>One moment.", "access_denied"),
    "/4": ("Night lamp", "<title>Oops</title><h1>Page not found</h1><p>Sorry.", "page_missing"),
    "/5": ("Red lamp", "<title>Lamps | Shop</title><h1>Something went wrong</h1>", "server_failed"),
    "/6": ("404 Not Found", f"<title>Manual</title><h1>404 Not Found</h1>{PROSE}", "404 Not Found"),
    "/7": ("Your account", f"<title>Sign in</title><h1>Your account</h1><p>Since 2011.{FORM}", "access_denied"),
    "/8": ("Sign in", f"<title>Sign in</title><h1>Sign in</h1>{FORM}", "Sign in"),
    "/9": ("Access control", f"<title>Manual</title><h1>Access denied</h1>{PROSE}", "Access denied"),
    "/10": ("No. 10", f"<title>Shop</title><h1>Oak lamp</h1><p>Bright.{BADGE}", "Oak lamp"),
    "/11": ("No. 11", "<title>Shop</title><h1>Shop</h1><div id=captcha>Pick all lamps</div>", "access_denied"),
    "/12": ("Ash lamp", "<title>Shop</title><h1>Ash lamp</h1><div class=captcha-help>Ask us</div>", "Ash lamp"),
}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        links = "".join(f'<li><a href="{to}">{words}</a>' for to, (words, _, _) in ITEMS.items())
        listed = f"<title>Lamps</title><h1>Lamps</h1><ul>{links}</ul>"
        page = ITEMS[path][1] if path in ITEMS else PAGES[path][0] if path in PAGES else listed
        body = f"<!doctype html><html lang=en>{page}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


@pytest.mark.timeout(180)
async def test_a_page_in_the_place_of_an_item_is_no_record() -> None:
    name = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    with served(_Handler) as url:
        async with world({}, parts=RealParts, slots=2) as here:
            loop = {"from": {"select": "li a"}}
            job = await here.submit(url=url + "/", extract={"schema": name}, loop=loop, max_attempts=1)
            await here.until(job, lambda row: row.finished_at is not None)
            lines = await here.store.results(job)
    told = [line.record.value["name"] if line.record else line.error and line.error.code for line in lines]
    assert told == [outcome for _, _, outcome in ITEMS.values()]


CARDS = "".join(
    f"<div class=card><h3>{wood} lamp</h3><p class=price>£{n}9.00</p></div>" for n, wood in enumerate(("Ash", "Elm"), 1)
)
PAGES = {  # the page that a job names, and what comes of it
    "/a": ("<title>Page not found - Shop</title><h1>404 - Page not found</h1><h2>Popular</h2>" + CARDS, "page_missing"),
    "/b": ("<title>Shop</title><h1>Access denied</h1><p>Reference 18" + CARDS, "access_denied"),
    "/access-denied": (f"<title>Manual</title><h1>Access denied</h1><p>Short. {CARDS}", ""),
    "/lamps": (f"<title>Lamps</title><h1>Lamps</h1>{CARDS}", ""),
}
NAMED = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@pytest.mark.timeout(180)
@pytest.mark.parametrize("schema", [NAMED, {"type": "array", "items": NAMED}], ids=["record", "list"])
async def test_an_error_s_text_in_the_place_of_a_job_s_page_is_no_record(schema: dict[str, Any]) -> None:
    with served(_Handler) as url:
        async with world({}, parts=RealParts, slots=2) as here:
            codes = {}
            for path in PAGES:
                job = await here.submit(url=url + path, extract={"schema": schema}, max_attempts=1)
                await here.until(job, lambda row: row.finished_at is not None)
                (line,) = [line for line in await here.store.results(job)][:1]
                codes[path] = line.error.code if line.error else ""
    assert codes == {path: code for path, (_, code) in PAGES.items()}
