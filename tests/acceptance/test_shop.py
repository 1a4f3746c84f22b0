"""The main job and the form job on the demo shop, through gateway, store, dispatcher, Ray and Chromium."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, timedelta

import httpx
import jsonschema
import pytest

from shoal.agent.support.json_value import Json
from tests.embedded import ROOT, Up, wait_until
from tests.sites.ring import EVERYTHING

pytestmark = pytest.mark.timeout(600)  # a cluster has to start, and real pages take their time

SCHEMA: Json = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "price": {"type": "number"},
        "currency": {"type": "string", "description": "ISO 4217 code"},
        "in_stock": {"type": "boolean"},
        "rating": {"type": ["number", "null"]},
        "sku": {"type": ["string", "null"]},
    },
    "required": ["name", "price", "currency", "in_stock"],
}
DEPARTMENTS = {"Garten": "garten", "Bicycles": "bicycles"}
if EVERYTHING:
    DEPARTMENTS |= {"Power tools": "power-tools", "Audio & hi-fi": "audio"}


def test_every_product_of_some_departments_is_read_truly(cluster: Up, shop: str) -> None:
    """Front page, department by its name, all pages of its list (one scrolls without end), each product."""
    job = cluster.submit(
        {
            "url": f"{shop}/",
            "loop": {"values": list(DEPARTMENTS), "loop": {"from": {"select": "products"}}},
            "extract": {"schema": SCHEMA},
        }
    )
    final = cluster.final(job, 240)
    rows = {row["item"]["value"].removeprefix(shop): row for row in cluster.results(job)}
    truth = httpx.get(f"{shop}/_truth/products.json", timeout=60).json()
    wanted = {p["path"]: p for p in truth if p["category"] in DEPARTMENTS.values()}

    assert set(rows) == set(wanted)
    assert final["counts"]["expected"] == len(wanted)
    wait_until(
        lambda: f"{job} completed in part: {len(wanted)} items" in cluster.log.read_text(), 10, "shoal up tells its end"
    )
    assert re.search(r"^\d+ jobs? open: \d+ of \d+ items: ", cluster.log.read_text(), re.M), "and how it went meanwhile"
    gone = {path for path, p in wanted.items() if p["discontinued"]}
    assert {path for path, row in rows.items() if row["status"] != "completed"} == gone
    assert all(rows[path]["error"]["code"] == "page_missing" for path in gone)
    wrong = []
    for path in set(wanted) - gone:
        row, true = rows[path], wanted[path]
        jsonschema.validate(row["record"], SCHEMA)
        assert row["url"] == shop + path
        assert row["screenshot"]
        assert abs(datetime.fromisoformat(row["at"]) - datetime.now(UTC)) < timedelta(hours=1)
        wrong += [
            (path, field, row["record"].get(field), true[field], true["price_text"], row["sources"].get(field))
            for field in SCHEMA["properties"]
            if row["record"].get(field) != true[field]
        ]
    assert wrong == []


def test_its_screenshots_are_pictures(cluster: Up, shop: str) -> None:
    product = httpx.get(f"{shop}/_truth/products.json", timeout=60).json()[0]
    job = cluster.submit({"url": shop + product["path"], "extract": {"schema": SCHEMA}})
    assert cluster.final(job)["status"] == "completed"
    (row,) = cluster.results(job)
    picture = httpx.get(f"{cluster.url}/v1/artifacts/{row['screenshot']}", follow_redirects=True, timeout=60)
    assert picture.headers["content-type"] == "image/jpeg"
    assert picture.content.startswith(b"\xff\xd8")


@pytest.fixture
def quote(tmp_path_factory: pytest.TempPathFactory) -> Json:
    plan = tmp_path_factory.getbasetemp() / "default" / "plan.txt"  # the folder of the jobs' tenant
    plan.parent.mkdir(exist_ok=True)
    plan.write_text("two benches, one lamp")
    return json.loads((ROOT / "load-tests" / "quote.json").read_text()) | {
        "email": "ada@quimby.example",
        "delivery_date": (date.today() + timedelta(days=30)).isoformat(),
        "attachment": str(plan),
    }


def forms(shop: str) -> list[Json]:
    return list(httpx.get(f"{shop}/_log/forms?form=quote", timeout=60).json()["submissions"])


def test_the_quote_form_is_filled_and_sent_once(cluster: Up, shop: str, quote: Json) -> None:
    before = len(forms(shop))
    job = cluster.submit(
        {
            "url": f"{shop}/quote",
            "data": quote,
            "complete_criterion": "your request was received",
            "goal": "Send the request for a quote.",
            "extract": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "pieces": {"type": "integer"},
                        "delivery_date": {"type": "string", "format": "date"},
                    },
                    "required": ["pieces", "delivery_date"],
                }
            },
            "error_codes": {"bad_date": "the delivery date is refused"},
        }
    )
    final = cluster.final(job)
    assert final["status"] == "completed", final["error"]
    (row,) = cluster.results(job)
    assert row["record"] == {"pieces": 12, "delivery_date": quote["delivery_date"]}
    (sent,) = forms(shop)[before:]
    fields = sent["fields"]
    assert quote["email"] in fields.values()
    assert quote["delivery_date"] in fields.values()
    assert "12" in fields.values()
    assert sent["file"]["name"] == "plan.txt"


def test_a_wrong_date_ends_with_the_caller_s_code(cluster: Up, shop: str, quote: Json) -> None:
    before = len(forms(shop))
    quote["delivery_date"] = (date.today() - timedelta(days=3)).isoformat()
    job = cluster.submit(
        {
            "url": f"{shop}/quote",
            "goal": "Send the request for a quote.",
            "data": quote,
            "error_codes": {"bad_date": "the delivery date is not accepted"},
        }
    )
    final = cluster.final(job)
    (row,) = cluster.results(job)
    assert (final["status"], row["status"]) == ("terminated", "terminated")
    session = httpx.get(f"{cluster.url}/v1/sessions/{row['session']}", timeout=60).json()
    assert "bad_date" in str(session)
    assert forms(shop)[before:] == []
