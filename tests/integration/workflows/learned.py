"""Learning and replaying on the drift site, as the tests of this folder do it."""

from __future__ import annotations

from collections.abc import Sequence

from shop.drift import RECORD_SCHEMA, Drift, article, truth

from shoal.agent.browser import Context
from shoal.agent.types import LoopItem
from shoal.agent.workflows.format.branch import Branch
from shoal.agent.workflows.learning.compile_fields import CompiledPages, compile_pages
from shoal.agent.workflows.learning.page_sample import sample_page
from shoal.agent.workflows.replay.pages import replay_page
from shoal.agent.workflows.verdict import PageRead


def item_of(site: str, seed: int, kind: Drift, n: int) -> LoopItem:
    return LoopItem(n, f"{site}/drift/{seed}/{kind}/i/{n}", True, article(seed, n).name)


async def learn(
    page: Context, site: str, seed: int, kind: Drift, numbers: Sequence[int] = (0, 1, 2, 3)
) -> CompiledPages:
    """Return what the pages of some items teach, with their true records."""
    samples = []
    for n in numbers:
        item = item_of(site, seed, kind, n)
        await page.goto(item.value)
        record = truth(seed, kind, n)
        assert record is not None
        samples.append(await sample_page(page, record, RECORD_SCHEMA, item))
    return compile_pages(samples, RECORD_SCHEMA)


async def replay(page: Context, branches: Sequence[Branch], item: LoopItem) -> PageRead:
    await page.goto(item.value)
    return await replay_page(page, branches, item, RECORD_SCHEMA)
