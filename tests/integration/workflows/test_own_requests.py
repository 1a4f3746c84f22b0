"""Pages whose facts come by a request of their own: what is learned of it is read without a browser, right or not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from shop.drift import Drift, truth
from shop.oracle import Oracle

from shoal.agent.status import Status
from shoal.agent.workflows.judging.phase import Phase
from tests.integration.workflows.test_learning_loops import learning, pages, records
from tests.sites.ring import sweep

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(400)]

SEED = 7
MANY = 48
"""Items that are enough to learn, to find that documents alone do not tell, and to compare three answers."""


@pytest.mark.parametrize("kind", [Drift.DATA, pytest.param(Drift.DATA_TOKEN, marks=sweep)])
async def test_a_request_without_a_token_is_read_in_the_pages_stead(tmp_path: Path, site: str, kind: Drift) -> None:
    async with learning(tmp_path, Oracle()) as here:
        row, learned, rows = await here.run(pages(site, SEED, kind, MANY))
        assert row.status is Status.COMPLETED
        assert records(rows) == {n: truth(SEED, kind, n) for n in range(MANY)}
        assert learned.phase is Phase.REPLAY, learned
        tiers = Counter(row.record.tier for row in rows if row.record and row.record.workflow)
        if kind is Drift.DATA:
            assert tiers["http"] >= 6, tiers
        else:
            assert tiers["http"] == 0, tiers
