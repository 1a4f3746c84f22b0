"""Pages that answer with success and stand in the place of a loop's item: none of them is a record."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
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
        body = f"<!doctype html><html lang=en>{ITEMS[path][1] if path in ITEMS else listed}".encode()
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
