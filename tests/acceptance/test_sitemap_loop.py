"""A loop over a sitemap, twice: pages that it calls unchanged are not asked for."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from tests.acceptance.test_morning import FIRST, SCHEMA, mornings
from tests.priced_shop import FIELDS, priced_shop

pytestmark = pytest.mark.timeout(280)


async def test_pages_that_a_sitemap_calls_unchanged_are_not_asked_for(tmp_path: Path) -> None:
    n, changed = 24, {3: 99.5, 17: 98.5}
    with priced_shop() as (shop, url):
        async with mornings(tmp_path) as (w, _):
            job = {
                "url": url,
                "loop": {"sitemap": {"url": f"{url}/sitemap.xml", "contains": "/p/"}, "concurrency": 8},
                "extract": {"schema": SCHEMA, "fields": FIELDS},
                "artifacts": {"evidence": "document"},
                "politeness": {"robots": False},
                "changes": {"skip_unchanged": True},
                "policy": "rules",
            }
            spec = {"name": "prices", "cron": "0 7 * * *", "time_zone": "Europe/Berlin", "job": job}
            answer = await w.http.post("/v1/schedules", json=spec)
            assert answer.status_code == 201, answer.text
            shop.prices = {product: product + 0.5 for product in range(1, n + 1)}
            for day in range(2):
                shop.asked.clear()
                run = await w.run_of(FIRST + timedelta(days=day))
                lines = await w.lines(f"/v1/jobs/{run['job']}/results")
                assert {line["record"]["name"]: line["record"]["price"] for line in lines} == {
                    f"Product {product}": price for product, price in shop.prices.items()
                }
                if not day:
                    assert shop.asked.keys() == shop.prices.keys()
                    shop.prices |= changed
                    shop.changed = dict.fromkeys(changed, "2099-01-01")
            assert shop.asked.keys() == changed.keys(), "those alone whose sitemap says that they changed"
            by = Counter(line["carried_over"] and line["carried_over"]["by"] for line in lines)
            assert by == {None: len(changed), "sitemap": n - len(changed)}
