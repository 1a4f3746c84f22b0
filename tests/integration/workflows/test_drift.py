"""Learned places give the right record or a miss on every page of the drift site, and no miss where nothing drifts."""

from __future__ import annotations

import pytest
from shop.drift import START, Drift, truth

from shoal.agent.browser import Context
from shoal.agent.workflows.format.branch import Branch
from tests.integration.workflows.learned import item_of, learn, replay

pytestmark = pytest.mark.asyncio(loop_scope="session")
SEEDS = (1, 2)  # with structured data, and without
_learned: dict[int, tuple[Branch, ...]] = {}


async def branches_for(page: Context, site: str, seed: int, kind: Drift) -> tuple[Branch, ...]:
    """Return what the pages before any drift teach: they are the same for all kinds but for their address."""
    if seed not in _learned:
        learned = await learn(page, site, seed, Drift.NONE)
        assert learned.branches, learned.open
        _learned[seed] = learned.branches
    [branch] = _learned[seed]
    url = branch.signature.url.replace("/none/", f"/{kind}/")
    return (branch.model_copy(update={"signature": branch.signature.model_copy(update={"url": url})}),)


@pytest.mark.parametrize("kind", [kind for kind in Drift if kind is not Drift.PLAIN])
async def test_a_drift_never_gives_a_wrong_record(page: Context, site: str, kind: Drift) -> None:
    for seed in SEEDS:
        branches = await branches_for(page, site, seed, kind)
        for n in (START, START + 1):
            got = await replay(page, branches, item_of(site, seed, kind, n))
            assert (got.record is None) == bool(got.misses)
            if got.record is not None:
                assert got.record.value == truth(seed, kind, n), got


async def test_nothing_is_missed_where_nothing_drifts(page: Context, site: str) -> None:
    for seed in SEEDS:
        branches = await branches_for(page, site, seed, Drift.NONE)
        for n in range(4, 20):
            got = await replay(page, branches, item_of(site, seed, Drift.NONE, n))
            assert got.record is not None, got.misses
            assert got.record.value == truth(seed, Drift.NONE, n)


async def test_a_place_in_an_element_with_an_id_of_its_own_is_known_from_the_root(page: Context, site: str) -> None:
    learned = await learn(page, site, 2, Drift.OWN_IDS)
    [branch] = learned.branches
    assert {field.name for field in branch.fields if "structure" not in field.families} == set()
    for n in range(4, 8):
        got = await replay(page, learned.branches, item_of(site, 2, Drift.OWN_IDS, n))
        assert got.record is not None, got.misses
        assert got.record.value == truth(2, Drift.OWN_IDS, n)
