"""Documents that are meant to hang what reads them: they are left to a browser, and nothing else has to wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping

import pytest
import pytest_asyncio

from shoal.agent.documents import reader_process
from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.context import read_here
from shoal.agent.documents.document import MOST_BYTES, RawDocument
from shoal.agent.documents.reader_process import ReaderProcess

ASKED = {"fields": {"price": {"kind": "select", "query": ".price", "attribute": None}}, "json": True}


def document(body: str) -> RawDocument:
    text = f"<!doctype html><title>Shop</title><body>{body}"[:MOST_BYTES]
    return RawDocument("http://shop.example/1", 200, {"content-type": "text/html; charset=utf-8"}, text.encode())


HONEST = document("<ul>" + "<li><b>Lamp</b> <span class=price>12.50</span></li>" * 300 + "</ul>")
HOSTILE: Mapping[str, str] = {
    "nested elements": "<div>" * 700_000,
    "attributes": "<p " + " ".join(f"a{n}=1" for n in range(200_000)) + ">",
    "formatting": "".join(f"<b a={n}>" for n in range(1_500)) + "<p>x</p>" * 300_000,
    "scripts": "<script type=application/json>{}</script>" * 90_000,
}


@pytest_asyncio.fixture
async def reader() -> AsyncIterator[ReaderProcess]:
    one = ReaderProcess()
    yield one
    await one.close()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that is busy, too, the process answers before it is given up."""
    monkeypatch.setattr(reader_process, "ANSWER_S", 60.0)
    monkeypatch.setattr(reader_process, "READ_S", 10.0)


@pytest.mark.usefixtures("patient")
async def test_a_document_is_read_as_in_this_process(reader: ReaderProcess) -> None:
    body = """<ul><li><s class=price>€12</s> <b class=price>9 \U0001f4a1</b></ul><p hidden class=price>8</p>
        <script type="application/ld+json">{"a": "\\ud800"}</script><script src=a.js></script><my-part onclick=x>"""
    for one in (HONEST, document(body)):
        read = await reader(one, {**ASKED, "selectors": [".price", "nav"]})
        assert read == await read_here(one, {**ASKED, "selectors": [".price", "nav"]})
        assert read.view["records"] and read.signature.active


@pytest.mark.usefixtures("patient")
async def test_why_only_a_browser_can_read_a_document_is_told(reader: ReaderProcess) -> None:
    with pytest.raises(BeyondDocument, match="leads elsewhere"):
        await reader(document('<meta http-equiv="refresh" content="0; url=/b">'), ASKED)
    with pytest.raises(BeyondDocument, match="very long"):
        await reader(document("<b class=price>" + "x" * 3_000_000), ASKED)


async def test_the_reason_is_told_also_where_finding_it_took_long(
    reader: ReaderProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_process, "READ_S", 0.0)
    with pytest.raises(BeyondDocument, match="leads elsewhere"):
        await reader(document('<meta http-equiv="refresh" content="0; url=/b">'), ASKED)


@pytest.mark.usefixtures("patient")
async def test_an_answer_that_is_very_long_is_not_taken(reader: ReaderProcess) -> None:
    fields = {str(n): {"kind": "select", "query": "b", "attribute": None} for n in range(200)}
    with pytest.raises(BeyondDocument, match="very long"):
        await reader(document("<b>" + "x" * 90_000), {"fields": fields})
    await reader(HONEST, ASKED)


@pytest.mark.parametrize("how", HOSTILE)
async def test_a_document_that_would_hang_its_reader_is_left_to_a_browser(how: str, reader: ReaderProcess) -> None:
    body = HOSTILE[how]
    await reader(HONEST, ASKED)
    pauses: list[float] = []

    async def watch() -> None:
        while True:
            before = time.thread_time()  # CPU time: what this process itself does, on a busy machine too
            await asyncio.sleep(0.01)
            pauses.append(time.thread_time() - before)

    watching = asyncio.create_task(watch())
    began = time.monotonic()
    with pytest.raises(BeyondDocument, match=r"too long|has ended"):
        await reader(document(body), ASKED)
    assert time.monotonic() - began < reader_process.ANSWER_S + 20
    watching.cancel()
    assert max(pauses) < 0.5
    await reader(HONEST, ASKED)  # by another process, where the first had to be ended


async def test_one_that_gives_up_waiting_leaves_no_answer_to_the_next(reader: ReaderProcess) -> None:
    waiting = asyncio.create_task(reader(document("<div>" * 700_000), ASKED))
    await asyncio.sleep(0.5)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await reader(HONEST, ASKED)
