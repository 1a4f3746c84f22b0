"""Loops that learn from the rules: no model is there, and every record is the one that the rules read in a browser."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from shop.drift import ITEMS, Drift
from shop.oracle import Oracle

from shoal.agent.status import Status
from shoal.agent.workflows.judging.phase import FIRST_ITEMS, Phase
from shoal.agent.workflows.judging.promotion import SHADOW_ITEMS
from tests.integration.workflows.test_learning_loops import SHORT, learning, pages, records
from tests.sites.ring import EVERYTHING

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(800)]

TAUGHT = FIRST_ITEMS + SHADOW_ITEMS
KINDS = list(Drift) if EVERYTHING else [Drift.CONTRADICTION]
"""By which a page says something else at a place that was learned; `make test-sites` runs all of them."""
SEEDS = (1, 2) if EVERYTHING else (1,)
"""With structured data, which the contradiction needs, and without."""


async def test_documents_are_read_as_the_rules_read_the_first_pages(tmp_path: Path, site: str) -> None:
    spec = pages(site, 7, Drift.PLAIN, SHORT)
    async with learning(tmp_path, Oracle(), has_model=False) as here:
        ruled = await here.without(spec)
        row, learned, rows = await here.run(spec)
        assert row.status is Status.COMPLETED and records(rows) == ruled
        figures = learned.figures
        assert (learned.phase, figures["model"], figures.get("misses", 0)) == (Phase.REPLAY, TAUGHT, 0), learned
        assert (row.usage.model_calls, len(here.model.requests)) == (0, 0)
        tiers = Counter((row.record.tier, bool(row.record.workflow)) for row in rows if row.record)
        assert tiers["http", True] >= (SHORT - TAUGHT) / 3, tiers  # the first documents are held to their pages
        assert figures["audits_right"] == figures["audits"] > 0, figures
        said = {row.record.audit for row in rows if row.record and row.record.workflow and row.record.tier == "page"}
        assert said == {"right"}, "a page that a browser has opened is read by the rules, unless it is an audit"

        hits = await here.counted("shoal_replay_hits")
        assert hits and {of for of, _ in hits} == {"field"}, hits

        _, later, rows = await here.run(spec)
        assert (later.workflow, later.figures["model"]) == (learned.workflow, SHADOW_ITEMS)
        assert records(rows) == ruled


@pytest.mark.parametrize("kind", KINDS)
async def test_no_drift_gives_a_record_that_the_rules_do_not_give(tmp_path: Path, site: str, kind: Drift) -> None:
    for seed in SEEDS:
        folder = tmp_path / str(seed)  # neither begins with what the other has learned
        folder.mkdir()
        async with learning(folder, Oracle(), has_model=False) as here:
            spec = pages(site, seed, kind, ITEMS if EVERYTHING else SHORT)
            ruled = await here.without(spec)
            _, learned, rows = await here.run(spec)
            print(kind, seed, learned.phase, learned.why, learned.figures)
            assert records(rows) == ruled
            by_document = [row for row in rows if row.record and row.record.tier == "http"]
            assert all(row.record and row.record.workflow for row in by_document)
