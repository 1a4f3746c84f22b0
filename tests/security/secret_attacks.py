"""Attacks on stored secrets: a site that is given them at a login shows them wherever a page can, in all spellings.

Run it against a `shoal up` that may open pages of this machine:

    SHOAL_ALLOW_PRIVATE=true shoal up &
    python -m tests.security.secret_attacks http://127.0.0.1:8080

It needs a key with the scope `admin` where the gateway asks for one (`--key`). It sets the secrets `ATTACKED` and
`ATTACKED_PIN` of that key's tenant, runs a job for each attack, and looks for them in all that the gateway gives: jobs,
sessions, steps, results in every format, events, artifacts, and the pages of the dashboard. It prints a line for each
attack, and ends with 1 where one gets through, or where an attack shows nothing at all.
"""

from __future__ import annotations

import argparse
import gzip
import html
import io
import json
import re
import sys
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, quote_plus, urlsplit

import httpx
import pyarrow.parquet as pq

from shoal.agent.support.json_value import Json
from tests.loopback import served
from tests.spelled import SPELLED

PASSWORD = 'Sh0al &"hunter"/2ü+x'
PIN = "8306"
"""A weak secret: it is hidden as a word of its own, in the spellings that a word can have."""
ITEMS = 12
_JOB_S = 240.0
_WEAK = ("raw", "percent, all of it", "HTML, decimal", "hexadecimal", "base64, 0 before, 0 behind")


@dataclass
class AttackedSite:
    """A site that shows the secrets which it is given."""

    url: str = ""
    password: str = ""  # as it was received
    pin: str = ""
    opened: list[str] = field(default_factory=list)

    def page(self, path: str, query: str) -> tuple[int, str]:
        """Status and HTML of a page."""
        if path == "/login":
            return 200, (
                "<title>Log in</title><form action=/welcome method=get><label>User <input name=user></label>"
                "<label>PIN <input name=pin></label><label>Password <input name=password type=password></label>"
                "<button>Log in</button></form>"
            )
        if path == "/welcome":
            given = parse_qs(query)
            self.password, self.pin = given["password"][0], given["pin"][0]
        if not self.password:
            return 302, "/login"
        if path == "/gone":
            return 404, self.password
        if path == "/none":
            return 404, f"<title>No</title><h1>No {html.escape(self.password)} here</h1>"
        return 200, self._content(path)

    def _content(self, path: str) -> str:
        """A page that shows the secrets in its texts, attributes, links, fields, console, requests and cookies."""
        shown, query = html.escape(self.password), quote_plus(self.password)
        links = "".join(
            f'<li><a class=item href="/item/{n}?pw={query}&q={query}">{shown} {n}</a></li>' for n in range(ITEMS)
        )
        if path == "/lists":
            links = "".join(f'<li><a class=list href="/list?n={n}&q={query}">List {n}</a></li>' for n in "ab")
        script = f"console.error({json.dumps(self.password)}); fetch('/gone?x={query}'); document.cookie = 'k={query}'"
        spelled = "".join(f"<dt>{name}</dt><dd>{html.escape(text)}</dd>" for name, text in self._spelled())
        return (
            f"<title>{shown}</title><h1>Item {shown}</h1><ul>{links}</ul>"
            f'<div id=all title="{shown}" data-token="{query}"><dl>{spelled}</dl></div>'
            f"<p>PIN: <b id=pin>{self.pin}</b></p><p>Number: <b id=number>7</b></p>"
            f"<input name=note value='{shown}'><a href='/item/0?{query}'>x</a>"
            "<form action=/send><label>Comment <input name=comment></label><button>Send</button></form>"
            f"<script>{script}</script>"
        )

    def _spelled(self) -> Iterator[tuple[str, str]]:
        for name, spell in SPELLED.items():
            yield name, spell(self.password)
        for name in _WEAK:
            yield f"PIN, {name}", SPELLED[name](self.pin)


@contextmanager
def attacked_site() -> Iterator[AttackedSite]:
    """The site, on the loopback address."""
    site = AttackedSite()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            site.opened.append(parts.path)
            status, body = site.page(parts.path, parts.query)
            data = b"" if status == 302 else f"<!doctype html><meta charset=utf-8>{body}".encode()
            self.send_response(status)
            if status == 302:
                self.send_header("Location", body)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """The site keeps no log."""

    with served(Handler) as url:
        site.url = url
        yield site


def attacks(site: str) -> dict[str, Json]:
    """The jobs, by the door that each tries."""
    host = {"domains": [urlsplit(site).hostname]}
    fields = {"title": {"select": "h1"}, "all": {"select": "#all"}, "pin": {"select": "#pin"}}
    fields |= {
        "attribute": {"select": "#all", "attribute": "title"},
        "link": {"select": "li:first-child a", "attribute": "href"},
    }
    fields |= {"number": {"select": "#number", "reader": "integer"}}
    base = {
        "policy": "rules",
        "secrets": {"ATTACKED": host, "ATTACKED_PIN": host},
        "login": {
            "url": f"{site}/login",
            "data": {"user": "ann", "pin": "secret:ATTACKED_PIN", "password": "secret:ATTACKED"},
        },
        "politeness": {"robots": False},
    }
    read = base | {"extract": {"fields": fields}}
    items = {"from": {"select": "a.item"}}
    return {
        "a login by GET": read | {"url": f"{site}/welcome-again", "artifacts": {"trace": True, "har": True}},
        "pages of a loop behind the login": read
        | {"url": f"{site}/list", "loop": items | {"max_items": 3}, "artifacts": {"recording": True, "trace": True}},
        "pages of a loop within a loop": read
        | {"url": f"{site}/lists", "loop": {"from": {"select": "a.list"}, "loop": items | {"max_items": 2}}},
        "pages that are read without a browser": read
        | {"url": f"{site}/list", "loop": items, "artifacts": {"screenshots": "errors", "evidence": "document"}},
        "a page that fails": read | {"url": f"{site}/none"},
        "records found by their names": base
        | {
            "url": f"{site}/account",
            "extract": {"schema": {"type": "object", "properties": {"raw": {"type": "string"}, "pin": {}}}},
        },
    }


@dataclass
class Gateway:
    """A gateway as its callers see it."""

    http: httpx.Client

    def log_in(self, key: str) -> None:
        """Opens the dashboard's pages, which a key in a header does not."""
        self.http.post("/login", data={"key": key})

    def set_secrets(self) -> None:
        """Stores what is attacked, for sites on this machine."""
        for name, value in (("ATTACKED", PASSWORD), ("ATTACKED_PIN", PIN)):
            body = {"value": value, "domains": ["http://127.0.0.1"]}
            self.http.put(f"/v1/secrets/{name}", json=body).raise_for_status()

    def run(self, spec: Json) -> str:
        """A job that has ended; its id."""
        answer = self.http.post("/v1/jobs", json=spec)
        assert answer.status_code == 201, answer.text
        job = str(answer.json()["id"])
        ends = time.monotonic() + _JOB_S
        while self.http.get(f"/v1/jobs/{job}").json()["finished_at"] is None:
            assert time.monotonic() < ends, f"{job} did not end within {_JOB_S:g} s"
            time.sleep(0.2)
        return job

    def texts(self, job: str) -> Iterator[tuple[str, str]]:
        """All that is given of a job: where, and the text, unpacked."""
        sessions = self.http.get(f"/v1/jobs/{job}/sessions", params={"limit": 200}).json()["sessions"]
        details = [self.http.get(f"/v1/sessions/{session['id']}").json() for session in sessions]
        for path in paths_of(job, details):
            yield from texts_of(path, self._body(path))

    def _body(self, path: str) -> bytes:
        answer = self.http.get(path, follow_redirects=True)
        assert answer.status_code < 400 and answer.url.path != "/login", (path, answer.status_code)
        return answer.content


def paths_of(job: str, details: Sequence[Json]) -> Iterator[str]:
    """Yield where a gateway tells of a job whose sessions have these details."""
    yield from (f"/v1/jobs/{job}", f"/v1/jobs/{job}/sessions?limit=200", f"/jobs/{job}", f"/jobs/{job}/records", "/")
    yield from (f"/v1/jobs/{job}/events?follow=false", f"/jobs/{job}/map", "/activity", "/attention")
    yield from (f"/v1/jobs/{job}/results{query}" for query in ("", "?format=csv", "?format=parquet"))
    for detail in details:
        yield from (f"/v1/sessions/{detail['id']}", f"/sessions/{detail['id']}")
        yield from (f"/v1/artifacts/{artifact['id']}" for artifact in detail["artifacts"])


def texts_of(path: str, data: bytes) -> Iterator[tuple[str, str]]:
    """A body as text; of a packed one, what is in it."""
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    if data.startswith(b"PAR1"):
        data = json.dumps(pq.read_table(io.BytesIO(data)).to_pylist(), ensure_ascii=False, default=str).encode()
    if data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            for name in packed.namelist():
                yield f"{path}#{name}", packed.read(name).decode("utf-8", "replace")
        return
    yield path, data.decode("utf-8", "replace")


def leaks(text: str) -> list[str]:
    """The spellings of the secrets that stand in a text, also where it is HTML or JSON that is read."""
    read = [text, html.unescape(text), re.sub(r"\\u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)), text)]
    read.append(read[2].replace('\\"', '"').replace("\\/", "/").replace("\\\\", "\\"))
    # Of base64, what holds no bit of the bytes before and behind.
    told = [name for name, spell in SPELLED.items() if any(_core(name, spell(PASSWORD)) in each for each in read)]
    return told + [f"PIN, {name}" for name in _WEAK[:3] if re.search(rf"\b{re.escape(SPELLED[name](PIN))}\b", read[0])]


def _core(name: str, spelled: str) -> str:
    return spelled.rstrip("=")[4:-4] if name.startswith("base64") else spelled


@dataclass(frozen=True)
class Attacked:
    """The result of one attack."""

    name: str
    status: str  # of the job
    looked_at: int  # texts
    hidden: int  # of these, with a reference in the secret's place
    through: dict[str, list[str]]  # where the secret stands, and in which spelling


def attack(gateway: Gateway, site: AttackedSite) -> Iterator[Attacked]:
    """Runs all attacks, one after the other."""
    gateway.set_secrets()
    for name, spec in attacks(site.url).items():
        site.password = site.pin = ""
        job = gateway.run(spec)
        assert (site.password, site.pin) == (PASSWORD, PIN), f"{name}: the site was not given the secrets"
        texts = dict(gateway.texts(job))
        through = {place: told for place, text in texts.items() if (told := leaks(text))}
        hidden = sum("secret:ATTACKED" in text for place, text in texts.items() if not place.endswith(f"/jobs/{job}"))
        status = gateway.http.get(f"/v1/jobs/{job}").json()["status"]
        yield Attacked(name, status, len(texts), hidden, through)


def main() -> int:
    """Attacks a gateway; 1 where something gets through."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    asked.add_argument("gateway")
    asked.add_argument("--key", default="")
    given = asked.parse_args()
    headers = {"Authorization": f"Bearer {given.key}"} if given.key else {}
    wrong = 0
    with attacked_site() as site, httpx.Client(base_url=given.gateway, headers=headers, timeout=60) as http:
        gateway = Gateway(http)
        if given.key:
            gateway.log_in(given.key)
        for told in attack(gateway, site):
            bad = bool(told.through) or not told.hidden
            wrong += bad
            print(
                f"{'THROUGH' if bad else 'held':8} {told.name}: {told.status}, {told.looked_at} texts, {told.through}"
            )
    print(f"{wrong} attacks got through")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
