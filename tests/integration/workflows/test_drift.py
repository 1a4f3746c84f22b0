"""What was learned is right or a miss on every page of the drift site, and misses nothing where nothing drifts."""

from __future__ import annotations

import pytest
from shop.drift import START, Drift, truth

from shoal.agent.browser import Context
from tests.integration.workflows.learned import item_of, learn, replay

pytestmark = pytest.mark.asyncio(loop_scope="session")
SEEDS = (1, 2)


@pytest.mark.parametrize("kind", list(Drift))
async def test_a_drift_never_gives_a_wrong_record(page: Context, site: str, kind: Drift) -> None:
    for seed in SEEDS:
        learned = await learn(page, site, seed, kind)
        assert learned.branches, learned.open
        for n in (4, 5, START, START + 1, START + 2):
            got = await replay(page, learned.branches, item_of(site, seed, kind, n))
            if got.record is not None:
                assert got.record.value == truth(seed, kind, n)
            if n < START:
                assert got.record is not None, got.misses
            print(kind, seed, n, got.record is not None, [(m.reason.value, m.where, m.told) for m in got.misses][:2])
