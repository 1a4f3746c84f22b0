"""JSON, CSV, PDF and plain text as pages: what they state is read by the rules as from any page, and by paths."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from shoal.agent.status import Status
from tests.integration.rules.conftest import Sessions
from tests.loopback import served
from tests.unit.agent.observe.test_documents import small_pdf

pytestmark = pytest.mark.asyncio(loop_scope="session")

PARTS = [
    {"id": 1, "name": "Bolt <M4>", "price": 1.5, "stock": {"left": 3}, "sold_out": False},
    {"id": 2, "name": "Nut", "price": 0.25, "stock": {"left": 0}, "sold_out": True},
    {"id": 3, "name": "Washer, steel", "price": 12.0, "stock": {"left": 7}, "sold_out": None},
]
CSV = 'id;name;price\n1;"Bolt; large";1.50\n2;Nut;0.25\n'
FILES: dict[str, tuple[str, bytes]] = {
    "/parts.json": ("application/json", json.dumps({"total": 3, "items": PARTS}).encode()),
    "/part.json": ("application/json; charset=utf-8", json.dumps({**PARTS[0], "maker": {"name": "Arndt"}}).encode()),
    "/parts.csv": ("text/csv", CSV.encode()),
    "/shown.csv": ("text/plain; charset=utf-8", CSV.encode()),
    "/read.txt": ("text/plain; charset=utf-8", b"Release notes\n\nVersion: 2.1\nAuthor: Ines Keller\n"),
    "/bill.pdf": ("application/pdf", small_pdf("Invoice number: RE-2077")),
    "/broken.json": ("application/json", b"{no json"),
}
FIELDS = {"id": {"type": "integer"}, "name": {"type": "string"}, "price": {"type": "number"}}
LISTED = {"type": "array", "items": {"type": "object", "properties": FIELDS, "required": ["id", "name"]}}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        kind, body = FILES.get(self.path, ("text/html", b""))
        self.send_response(200 if self.path in FILES else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", "default-src 'none'; require-trusted-types-for 'script'")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Silence."""


@pytest.fixture
def files() -> Iterator[str]:
    with served(_Handler) as url:
        yield url


async def records(sessions: Sessions, url: str, schema: dict[str, Any], **extract: Any) -> list[Any]:
    """The records of a job on this document; its address is theirs."""
    outcome = await sessions.end(url, extract={"schema": schema, **extract})
    assert outcome.status is Status.COMPLETED, outcome
    assert {record.url for record in outcome.records} <= {url}
    return [record.value for record in outcome.records]


async def test_a_list_in_json_gives_its_entries(sessions: Sessions, files: str) -> None:
    wanted = [{name: part[name] for name in FIELDS} for part in PARTS]
    assert await records(sessions, f"{files}/parts.json", LISTED) == wanted
    places = {name: {"json": f"$.{name}"} for name in FIELDS}
    assert await records(sessions, f"{files}/parts.json", LISTED, records="$.items[*]", fields=places) == wanted


async def test_an_object_in_json_gives_its_own_facts_and_no_inner_ones(sessions: Sessions, files: str) -> None:
    fields = {**FIELDS, "sold_out": {"type": "boolean"}, "colour": {"type": "string"}}
    (record,) = await records(sessions, f"{files}/part.json", {"type": "object", "properties": fields})
    assert record == {"id": 1, "name": "Bolt <M4>", "price": 1.5, "sold_out": False}


@pytest.mark.parametrize("name", ["parts.csv", "shown.csv"])
async def test_csv_is_a_table_whether_it_is_saved_or_shown(sessions: Sessions, files: str, name: str) -> None:
    assert await records(sessions, f"{files}/{name}", LISTED) == [
        {"id": 1, "name": "Bolt; large", "price": 1.5},
        {"id": 2, "name": "Nut", "price": 0.25},
    ]


async def test_plain_text_states_its_labelled_lines(sessions: Sessions, files: str) -> None:
    fields = {"version": {"type": "string"}, "author": {"type": "string"}}
    schema = {"type": "object", "properties": fields, "required": ["version"]}
    assert await records(sessions, f"{files}/read.txt", schema) == [{"version": "2.1", "author": "Ines Keller"}]


async def test_a_pdf_is_read_and_kept(sessions: Sessions, files: str) -> None:
    schema = {"type": "object", "properties": {"invoice_number": {"type": "string"}}, "required": ["invoice_number"]}
    outcome = await sessions.end(f"{files}/bill.pdf", extract={"schema": schema})
    assert outcome.status is Status.COMPLETED, outcome
    (record,) = outcome.records
    assert (record.value, record.url) == ({"invoice_number": "RE-2077"}, f"{files}/bill.pdf")
    assert "download" in [one.kind for one in outcome.artifacts]


async def test_what_is_no_json_states_nothing(sessions: Sessions, files: str) -> None:
    outcome = await sessions.end(f"{files}/broken.json", extract={"schema": LISTED})
    assert (outcome.records, outcome.incomplete is not None or outcome.error is not None) == ((), True)
