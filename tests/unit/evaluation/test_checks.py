"""Checks: what counts as the expected records, and as the expected page."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from shoal.services.evaluation.checks import page_fault, records_fault, words_fault
from shoal.services.evaluation.episode import Check, PageCheck

A, B = {"n": 1, "name": "a"}, {"n": 2, "name": "b"}


@pytest.mark.parametrize(
    ("found", "check", "fault"),
    [
        ([A, B], {"records": [{"n": 2}, {"n": 1}]}, ""),
        ([A, B], {"records": [{"n": 2}, {"n": 1}], "ordered": True}, "record 0"),
        ([A, B], {"records": [{"n": 1}, {"n": 2}], "ordered": True}, ""),
        ([A], {"records": [{"n": 1}], "match": "equal"}, "record 0"),
        ([A], {"records": [A], "match": "equal"}, ""),
        ([A], {"records": [A, B]}, "1 records instead of 2"),
        ([A, A], {"records": [A, B]}, "record 1"),
        ([{"n": 1.0000000000001}], {"records": [{"n": 1.0}]}, ""),
        ([{"n": True}], {"records": [{"n": 1}]}, "record 0"),
        ([{"n": [1, {"x": 2, "y": 3}]}], {"records": [{"n": [1, {"x": 2}]}]}, ""),
        ([A], {}, ""),
    ],
)
def test_records(found: list[Any], check: dict[str, Any], fault: str) -> None:
    told = records_fault(found, Check.model_validate(check))
    assert told.startswith(fault) if fault else told == ""


def test_words() -> None:
    assert words_fault(None, "anything", "the answer") == ""
    assert words_fault(r"\b42\b", "it is 42", "the answer") == ""
    assert "does not hold" in words_fault(r"\b42\b", "it is 421", "the answer")


@pytest.mark.parametrize(
    ("check", "fault"),
    [
        ({"contains": ["Order 7"], "lacks": ["Order 8"]}, ""),
        ({"contains": ["Order 9"]}, "does not say"),
        ({"lacks": ["Order 7"]}, "says 'Order 7'"),
        ({"status": 404}, "answered 200"),
        ({"json": {"orders.0.id": 7}}, ""),
        ({"json": {"orders.0.id": 8}}, "orders.0.id is 7 instead of 8"),
        ({"json": {"orders.3.id": 8}}, "is None"),
    ],
)
async def test_a_page_that_must_say_something(check: dict[str, Any], fault: str) -> None:
    body = b'{"orders": [{"id": 7, "title": "Order 7"}]}'
    transport = httpx.MockTransport(lambda request: httpx.Response(200, stream=httpx.ByteStream(body)))
    async with httpx.AsyncClient(transport=transport) as http:
        told = await page_fault(http, PageCheck.model_validate({"url": "https://shop.example/admin", **check}), {})
    assert fault in told if fault else told == ""


async def test_a_page_can_be_sent_what_the_run_gave() -> None:
    """An application's own check needs the answer: no page of the application shows it."""

    def judge(request: httpx.Request) -> httpx.Response:
        assert request.method == "POST"
        right = json.loads(request.content) == {
            "answer": "55 minutes",
            "records": [A],
            "url": "https://x.example/bread",
        }
        return httpx.Response(200, stream=httpx.ByteStream(json.dumps({"right": right}).encode()))

    check = PageCheck.model_validate({"url": "https://checks.example/bread", "send": True, "json": {"right": True}})
    async with httpx.AsyncClient(transport=httpx.MockTransport(judge)) as http:
        gave = {"answer": "55 minutes", "records": [A], "url": "https://x.example/bread"}
        assert await page_fault(http, check, gave) == ""
        assert "right is False" in await page_fault(http, check, {**gave, "answer": "an hour"})
