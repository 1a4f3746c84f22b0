"""Documents that are meant to hang what reads them: they are left to a browser, and nothing else has to wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import pytest_asyncio

from shoal.agent.documents import rehearsal
from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.document import MOST_BYTES, HtmlDocument, RawDocument
from shoal.agent.documents.rehearsal import Rehearsal

ASKED = {"fields": {"price": {"kind": "select", "query": ".price", "attribute": None}}, "json": True}


def document(body: str) -> RawDocument:
    text = f"<!doctype html><title>Shop</title><body>{body}"[:MOST_BYTES]
    return RawDocument("http://shop.example/1", 200, {"content-type": "text/html; charset=utf-8"}, text.encode())


HONEST = document("<ul>" + "<li><b>Lamp</b> <span class=price>12.50</span></li>" * 300 + "</ul>")
HOSTILE: Mapping[str, tuple[str, Mapping[str, Any] | None]] = {
    "nested elements": ("<div>" * 700_000, None),
    "attributes": ("<p " + " ".join(f"a{n}=1" for n in range(200_000)) + ">", None),
    "formatting": ("".join(f"<b a={n}>" for n in range(1_500)) + "<p>x</p>" * 300_000, None),
    "scripts": ("<script type=application/json>{}</script>" * 5_000, ASKED),
}


@pytest_asyncio.fixture
async def rehearse() -> AsyncIterator[Rehearsal]:
    one = Rehearsal()
    yield one
    await one.close()


@pytest.mark.parametrize("how", HOSTILE)
async def test_a_document_that_would_hang_its_reader_is_left_to_a_browser(how: str, rehearse: Rehearsal) -> None:
    body, asked = HOSTILE[how]
    await rehearse(HONEST, ASKED)
    pauses: list[float] = []

    async def watch() -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            pauses.append(time.monotonic() - before - 0.01)

    watching = asyncio.create_task(watch())
    began = time.monotonic()
    with pytest.raises(BeyondDocument, match=r"too long|has ended"):
        await rehearse(document(body), asked)
    assert time.monotonic() - began < rehearsal.ANSWER_S + 2
    watching.cancel()
    assert max(pauses) < 0.5
    await rehearse(HONEST, ASKED)  # by another process, where the first had to be ended
    assert HtmlDocument(HONEST).read(ASKED).view["records"]


async def test_one_that_gives_up_waiting_leaves_no_answer_to_the_next(rehearse: Rehearsal) -> None:
    waiting = asyncio.create_task(rehearse(document("<div>" * 700_000), None))
    await asyncio.sleep(0.5)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await rehearse(HONEST, ASKED)
