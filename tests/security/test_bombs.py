"""Small files that become large ones, and large exports: bounded in memory and time."""

from __future__ import annotations

import csv
import io
import time
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.document import HtmlDocument, RawDocument
from shoal.agent.observe import documents
from shoal.agent.observe.documents import file_text
from shoal.agent.sessions.traces.drawing import redacted_drawing
from shoal.services.web.results.table import ExportTable
from tests.unit.agent.observe.test_documents import small_pdf

LAUGHS = (
    b'<?xml version="1.0"?>\n<!DOCTYPE lolz [<!ENTITY l0 "lol">'
    + b"".join(b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 10))
    + b"]>\n<html><body><h1>&l9;</h1></body></html>"
)
"""A billion laughs: 3 GB once its entities are put in."""


def pdf_bomb(gigabytes: int) -> bytes:
    """A PDF whose page is text that unpacks to so much, packed twice."""
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(b"(x) Tj " * 150_000) for _ in range(gigabytes * 1000)) + packer.flush()
    twice = zlib.compress(packed, 9)
    head = b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n%s\nendstream" % (len(twice), twice)
    plain = small_pdf("y")
    begin, end = plain.index(b"4 0 obj\n") + 8, plain.index(b"\nendobj\nxref")
    return plain[:begin] + head + plain[end:]


async def test_a_pdf_that_unpacks_to_gigabytes_costs_no_more_than_its_own_process_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "bomb.pdf"
    file.write_bytes(pdf_bomb(1))
    assert file.stat().st_size < 200_000
    began = time.monotonic()
    text = await file_text(file, 2000)
    assert len(text) <= 2000
    assert time.monotonic() - began < documents.PDF_S + 30


def test_entities_of_an_xml_document_are_not_put_in() -> None:
    """A document with entities of its own is left to Chromium, which bounds them; and no entity but HTML's is known."""
    headers = {"content-type": "text/html; charset=utf-8"}
    with pytest.raises(BeyondDocument):
        HtmlDocument(RawDocument("https://shop.example/", 200, headers, LAUGHS))
    today = b"<!doctype html>" + LAUGHS.partition(b"?>\n")[2]
    assert len(HtmlDocument(RawDocument("https://shop.example/", 200, headers, today)).text) < 2 * len(LAUGHS)


SVG = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/>%s</svg>'
ENTITIES = LAUGHS.partition(b"?>\n")[2].partition(b"\n")[0].decode()
OUTSIDE = '<!DOCTYPE svg [<!ENTITY out SYSTEM "%s"><!ENTITY %% more SYSTEM "%s"> %%more;]>'


@pytest.mark.parametrize("held", ["<text>&l9;</text>", '<text x="&l9;">y</text>', '<text x="&l5;">&l6;</text>'])
def test_entities_of_a_drawing_are_not_put_in(held: str) -> None:
    """A drawing of a page is kept in traces."""
    began = time.monotonic()
    drawing = redacted_drawing((ENTITIES.replace("lolz", "svg") + SVG % held).encode())
    assert len(drawing or b"") < 1_000_000
    assert time.monotonic() - began < 10


def test_a_drawing_loads_nothing_from_this_machine_or_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("installation-token")
    files = (tmp_path / "key").as_uri()
    drawing = redacted_drawing((OUTSIDE % (files, files) + SVG % "<text>&out;</text>").encode())
    assert b"installation-token" not in (drawing or b"")
    parser = etree.XMLParser(resolve_entities=True, load_dtd=True, no_network=False)
    control = etree.fromstring((OUTSIDE.partition("<!ENTITY %")[0] % files + "]>" + SVG % "<text>&out;</text>"), parser)
    assert b"installation-token" in etree.tostring(control), "a reader that is not careful loads it"


ROWS, LONG = 20_000, "x" * 2000


def line(n: int) -> dict[str, Any]:
    """One result line, as exports hold it."""
    return {
        "job": "j1",
        "session": f"s{n}",
        "status": "completed",
        "record": {"name": f"lamp {n}", "price": n / 100, "text": LONG},
    }


async def test_a_large_export_is_not_held_in_memory() -> None:
    async def lines() -> AsyncIterator[dict[str, Any]]:
        for n in range(ROWS):
            yield line(n)

    table = ExportTable(None)
    tracemalloc.start()
    try:
        await table.fill(lines())
        size = sum(map(len, table.csv()))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        table.close()
    assert size > ROWS * len(LONG)
    assert most < ROWS * len(LONG) / 2, f"{most:,} bytes of {ROWS * len(LONG):,}"


async def test_the_lines_of_a_large_export_are_those_that_were_given() -> None:
    async def lines() -> AsyncIterator[dict[str, Any]]:
        for n in range(3_000):
            yield line(n)

    table = ExportTable(None)
    await table.fill(lines())
    rows = csv.DictReader(io.StringIO(b"".join(table.csv()).decode(), newline=""))
    assert [row["record.name"] for row in rows] == [f"lamp {n}" for n in range(3_000)]
    table.close()
