"""A loop learns by itself: a model works out the first items, and the others are replayed; parts die meanwhile."""

from __future__ import annotations

import sys

import pytest

from shoal.agent.support.json_value import Json
from tests.embedded import ROOT, Up, demo_shop, oracle, up
from tests.sites.ring import sweep

sys.path.insert(0, str(ROOT / "load-tests" / "site"))

from shop.drift import ITEMS, RECORD_SCHEMA, Drift, truth

pytestmark = [pytest.mark.timeout(800), sweep]  # a cluster has to start, and real pages take their time

SEED = 7
FIRST, SHADOW = 3, 5
SLOTS = 2


def learning(row: Json) -> Json:
    """Return what a job says of its one loop that learns."""
    (one,) = row["learning"]
    return one


def kill(cluster: Up, word: str) -> None:
    for process in cluster.named(word):
        process.kill()


def test_a_loop_is_learned_from_three_items_and_a_later_job_begins_with_what_was_learned() -> None:
    """The dispatcher dies while the first items are worked out, the worker while the version is compared."""
    with (
        oracle() as model,
        demo_shop() as site,
        up(workers="1", slots_per_worker=str(SLOTS), model_url=model, model="oracle") as cluster,
    ):
        spec: Json = {
            "url": f"{site}/drift/{SEED}/{Drift.PLAIN}/",
            "loop": {"from": {"select": "a.link"}},
            "extract": {"schema": RECORD_SCHEMA},
            "artifacts": {"screenshots": "none"},
        }
        job = cluster.submit(spec)
        cluster.until(job, lambda row: row["learning"] and row["counts"]["running"] > 0)
        kill(cluster, "ray::DispatcherActor")
        cluster.until(job, lambda row: learning(row)["phase"] == "shadow" and row["counts"]["running"] > 0)
        kill(cluster, "ray::BrowserWorkerActor")
        final = cluster.final(job)
        records_are_true(cluster, job)
        told = learning(final)
        figures = told["figures"]
        assert (told["phase"], told["holds_back"], figures["ended"]) == ("replay", False, ITEMS), told
        # What goes on from a checkpoint after the kill is not compared, and another item takes its place.
        assert FIRST + SHADOW <= figures["model"] <= FIRST + SHADOW + SLOTS
        assert figures["replays"] + figures.get("misses", 0) == ITEMS - figures["model"]
        assert figures.get("audits_wrong", 0) == figures.get("shadow_wrong", 0) == 0
        most = figures["model"] + figures.get("audits", 0) + figures.get("misses", 0)
        assert final["usage"]["model_calls"] <= most, (final["usage"], figures)

        later = cluster.submit(spec)
        again = cluster.final(later)
        records_are_true(cluster, later)
        told = learning(again)
        assert "learned by an earlier job" in told["why"] or told["figures"]["shadow"] == SHADOW
        assert told["figures"]["model"] == SHADOW
        without = cluster.submit({**spec, "learn": "off", "loop": {"values": [f"{spec['url']}i/0"]}})
        assert cluster.final(without)["learning"] == []


def records_are_true(cluster: Up, job: str) -> None:
    """Every item gave its record, once, and it is the one that its page states."""
    rows = cluster.results(job)
    said = {int(row["item"]["value"].rpartition("/")[2]): row["record"] for row in rows}
    assert len(rows) == ITEMS
    assert said == {n: truth(SEED, Drift.PLAIN, n) for n in range(ITEMS)}
