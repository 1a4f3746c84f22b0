"""A learned version reads documents without a browser as it reads pages: right, or not at all."""

from __future__ import annotations

import copy
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
import pytest_asyncio
from shop.drift import RECORD_SCHEMA, START, Drift, truth

from shoal.agent.browser import Browser, Context, ContextOptions
from shoal.agent.documents.context import DocumentBrowser, DocumentContext, DocumentReading
from shoal.agent.documents.trust import SAMPLES, DocumentTrust
from shoal.agent.spec import JobSpec
from shoal.agent.workflows.format.branch import Branch
from shoal.agent.workflows.verdict import PageRead
from shoal.services.addresses import Reach
from shoal.services.browsers.network.documents import Documents
from shoal.services.browsers.network.egress import EgressProxy
from tests.integration.workflows.learned import item_of, learn, replay

pytestmark = pytest.mark.asyncio(loop_scope="session")
SEEDS = (1, 2)  # with structured data, and without
SPEC = JobSpec.model_validate({"url": "http://127.0.0.1/", "extract": {"schema": RECORD_SCHEMA}})


class NoAudits(random.Random):
    """Chance by which no document is compared with its page again: nothing but the guards finds a drift."""

    def random(self) -> float:
        return 1.0


@dataclass
class Known:
    """The branch that the pages of one seed teach before any drift, and the trust in their documents."""

    branch: Branch
    trust: DocumentTrust = field(default_factory=lambda: DocumentTrust(NoAudits()))

    def at(self, kind: Drift) -> tuple[Branch, ...]:
        """Return what was learned, for the addresses of one kind."""
        signature = self.branch.signature
        url = signature.url.replace("/none/", f"/{kind}/")
        return (self.branch.model_copy(update={"signature": signature.model_copy(update={"url": url})}),)


@dataclass
class Reader:
    """Reads items by what was learned; no browser opens a page whose document is enough."""

    browser: Browser
    documents: Documents
    site: str
    known: dict[int, Known] = field(default_factory=dict)

    async def knows(self, page: Context, seed: int) -> Known:
        """Return what is learned of a seed; its documents are sampled."""
        if seed not in self.known:
            learned = await learn(page, self.site, seed, Drift.NONE)
            self.known[seed] = known = Known(learned.branches[0])
            for n in range(4, 4 + SAMPLES):
                got, alone = await self.read(known, known.trust, seed, Drift.NONE, n)
                assert got.record is not None and not alone, got
        return self.known[seed]

    async def read(self, known: Known, trust: DocumentTrust, seed: int, kind: Drift, n: int) -> tuple[PageRead, bool]:
        """Return what one item gives, and whether no browser was asked."""

        async def guard(_: str) -> None:
            """Lets all pass."""

        reading = DocumentReading(SPEC, self.documents.of("t"), trust, guard)
        context = await DocumentBrowser(self.browser, reading).new_context(ContextOptions(reading=True, reuse="job"))
        assert isinstance(context, DocumentContext)
        try:
            got = await replay(context, known.at(kind), item_of(self.site, seed, kind, n))
            return got, context.document is not None
        finally:
            await context.close()


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def reader(browser: Browser, site: str) -> AsyncIterator[Reader]:
    async with EgressProxy(Reach(allow_private=True)) as egress:
        documents = Documents(egress)
        yield Reader(browser, documents, site)
        await documents.close()


async def test_documents_are_enough_where_nothing_drifts(page: Context, reader: Reader) -> None:
    for seed in SEEDS:
        known = await reader.knows(page, seed)
        for n in range(8, 24):
            got, alone = await reader.read(known, known.trust, seed, Drift.NONE, n)
            assert got.record is not None, got.misses
            assert (got.record.value, alone) == (truth(seed, Drift.NONE, n), True)


@pytest.mark.parametrize("kind", [kind for kind in Drift if kind is not Drift.PLAIN])
async def test_a_drift_that_no_sample_has_seen_never_gives_a_wrong_record(
    page: Context, reader: Reader, kind: Drift
) -> None:
    for seed in SEEDS:
        known = await reader.knows(page, seed)
        trust = copy.deepcopy(known.trust)
        for n in (START, START + 1):
            got, _ = await reader.read(known, trust, seed, kind, n)
            assert (got.record is None) == bool(got.misses)
            if got.record is not None:
                assert got.record.value == truth(seed, kind, n), got
