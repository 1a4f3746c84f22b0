"""Loops learn by themselves on sites that were not written here; every record is compared with truth of other means.

The model is an oracle that knows the truth, so each wrong record would be the workflow's. `make test-sites`
(REGISTRY_SITES=all) runs them.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from shoal.agent.support.json_value import Json
from tests.acceptance.test_known_loops import folder, manual, pages  # noqa: F401
from tests.embedded import ROOT, oracle, up
from tests.sites.registry import cache, datasette
from tests.sites.registry.case import record
from tests.sites.registry.database import rows
from tests.sites.ring import sweep

sys.path.insert(0, str(ROOT / "load-tests" / "site"))

from shop.oracle import Oracle

from tests.integration.workflows.test_learning_loops import learning, records

pytestmark = [
    pytest.mark.timeout(800),
    sweep,
]

SIGHTINGS = 160
LEAST_REPLAYED = 0.8
"""Of a loop's items. The first eight are the model's, and pages that were not like the first ones."""


def learned(tmp_path: Path, truths: Mapping[str, Json], schema: Json) -> Json:
    """Runs a loop over the pages of `truths`, holds every record to them, and gives what the loop says of learning."""
    file = tmp_path / "truths.json"
    file.write_text(json.dumps(truths))
    spec: Json = {
        "url": next(iter(truths)),
        "loop": {"values": list(truths), "is_link": True},
        "extract": {"schema": schema},
        "artifacts": {"screenshots": "none"},
    }
    with (
        oracle("--truths", str(file)) as model,
        up(workers="1", slots_per_worker="2", model_url=model, model="oracle") as cluster,
    ):
        job = cluster.submit(spec)
        final = cluster.final(job, 600)
        results = cluster.results(job)
    given = {row["item"]["value"]: row["record"] for row in results}
    assert len(results) == len(given) == len(truths)
    wrong = {url: (row, truths[url]) for url, row in given.items() if row is not None and stated(row) != truths[url]}
    assert wrong == {}
    assert final["counts"]["completed"] == len(truths), final["counts"]
    (told,) = final["learning"]
    print(json.dumps({"calls": final["usage"]["model_calls"], **told}))
    return told


async def taught_by_rules(place: Path, truths: Mapping[str, Json], schema: Json) -> Mapping[str, int]:
    """Runs a loop without a model, with learning and without: the records are the same. Gives the loop's figures."""
    spec: Json = {
        "url": next(iter(truths)),
        "loop": {"values": list(truths), "is_link": True},
        "extract": {"schema": schema},
        "artifacts": {"screenshots": "none"},
        "politeness": {"robots": False},
    }
    async with learning(place, Oracle(), has_model=False) as here:
        began = time.monotonic()
        ruled = await here.without(spec)
        turned = time.monotonic()
        _, told, rows = await here.run(spec, 300)
        ended = time.monotonic()
    assert records(rows) == ruled
    rates = [round(len(truths) / seconds, 1) for seconds in (turned - began, ended - turned)]
    tiers = Counter(row.record.tier for row in rows if row.record)
    print(json.dumps({"pages per second without and with": rates, "tiers": tiers, "why": told.why, **told.figures}))
    return told.figures


def stated(row: Mapping[str, Json]) -> Json:
    return {name: value for name, value in row.items() if value is not None}


@contextmanager
def birds() -> Iterator[Mapping[str, Json]]:
    try:
        with datasette.birds(SIGHTINGS) as (url, database):
            found = rows(database, "SELECT id, name, weight, seen FROM sighting ORDER BY id")
            yield {f"{url}/birds/sighting/{row['id']}": dict(row) for row in found}
    except cache.Unreachable as error:
        pytest.skip(str(error))


def test_rows_of_a_database(tmp_path: Path) -> None:
    fields = {"id": "integer", "name": "string", "weight": "number", "seen": "string"}
    with birds() as truths:
        told = learned(tmp_path, truths, record(fields, required=["name"]))
    assert told["phase"] == "replay", told
    assert told["figures"]["replays"] >= LEAST_REPLAYED * SIGHTINGS, told


def test_pages_of_a_manual(tmp_path: Path, folder: Path, manual: str) -> None:  # noqa: F811
    truths = {
        f"{manual}/{path}": {"title": row["title"], "source": row["source"]} for path, row in pages(folder).items()
    }
    assert len(truths) >= 150
    told = learned(tmp_path, truths, record({"title": "string", "source": "string"}, required=["title"]))
    assert told["phase"] == "replay", told
    assert told["figures"]["replays"] >= LEAST_REPLAYED * len(truths), told


@pytest.mark.asyncio(loop_scope="session")
async def test_rows_of_a_database_that_rules_read(tmp_path: Path) -> None:
    fields = {"id": "integer", "name": "string", "weight": "number", "seen": "string"}
    with birds() as truths:
        figures = await taught_by_rules(tmp_path, truths, record(fields, required=["name"]))
    assert figures.get("audits_wrong", 0) == 0, figures


@pytest.mark.asyncio(loop_scope="session")
async def test_pages_of_a_manual_that_rules_read(tmp_path: Path, folder: Path, manual: str) -> None:  # noqa: F811
    truths: dict[str, Json] = dict.fromkeys(f"{manual}/{path}" for path in pages(folder))
    schema = record({"title": "string", "source": "string"}, required=["title"])
    figures = await taught_by_rules(tmp_path, truths, schema)
    assert figures.get("audits_wrong", 0) == 0, figures
