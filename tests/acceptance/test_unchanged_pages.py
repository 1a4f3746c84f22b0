"""A loop that runs twice on a shop: what has not changed is not opened again, and every record is true each day."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.embedded import Up
from tests.priced_shop import FIELDS, PricedShop, priced_shop

pytestmark = pytest.mark.timeout(280)

PLAIN = frozenset({3, 13})
"""Products whose pages tell neither ETag nor Last-Modified."""


@pytest.fixture
def shop() -> Iterator[tuple[PricedShop, str]]:
    with priced_shop(PLAIN) as made:
        yield made


def test_pages_that_have_not_changed_keep_their_records_and_are_not_opened(
    cluster: Up, shop: tuple[PricedShop, str]
) -> None:
    here, url = shop
    here.prices = {n: n + 0.5 for n in range(1, 21)}
    spec = {
        **{"url": url, "goal": "Read every product", "loop": {"from": {"select": "a.product"}, "concurrency": 2}},
        **{"extract": {"fields": FIELDS}, "artifacts": {"evidence": "document"}, "politeness": {"robots": False}},
        **{"changes": {"skip_unchanged": True}, "policy": "rules"},
    }

    def run() -> tuple[str, dict[str, Any], list[dict[str, Any]]]:
        here.asked.clear()
        job = cluster.submit(spec)
        final = cluster.final(job, 120)
        assert final["status"] == "completed", final
        rows = cluster.results(job)
        read = {int(row["record"]["name"].split()[1]): row["record"]["price"] for row in rows}
        assert read == here.prices
        return job, final, rows

    first, final, rows = run()
    assert final["usage"]["carried_over"] == 0 and all(row["carried_over"] is None for row in rows)
    del here.prices[20]
    here.prices |= {5: 99.0, 6: 98.0, 21: 21.5}
    second, final, rows = run()
    same = here.prices.keys() - {5, 6, 21}
    asked = {n: here.asked[n] for n in same}
    assert asked == {n: ["document" if n in PLAIN else "unchanged"] for n in same}, "once each, and by no browser"
    assert all("browser" in here.asked[n] or "document" in here.asked[n] for n in (5, 6, 21))
    carried = {row["record"]["name"]: row["carried_over"] for row in rows if row["carried_over"]}
    assert final["usage"]["carried_over"] == len(carried) == len(same)
    assert Counter(told["by"] for told in carried.values()) == {
        "not_modified": len(same - PLAIN),
        "same_content": len(PLAIN),
    }
    sessions = {row["session"]: row["at"] for row in cluster.results(first)}
    for row in rows:
        if row["carried_over"]:
            assert row["at"] == sessions[row["carried_over"]["session"]], "when and by which session it was read"
    third, final, rows = run()
    assert final["usage"]["carried_over"] >= len(same), "a record is carried over again, from the session that read it"
    assert {row["carried_over"]["session"] for row in rows if row["record"]["name"] in carried} <= sessions.keys()
    answer = httpx.get(f"{cluster.url}/v1/jobs/{second}/changes?since={first}")
    told = Counter(json.loads(line)["change"] for line in answer.text.splitlines())
    assert told == {"appeared": 1, "went": 1, "changed": 2}, answer.text
    assert httpx.get(f"{cluster.url}/v1/jobs/{third}/changes").text == ""
