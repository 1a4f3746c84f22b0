"""Learned fields, written as `extract.fields`, read the same in a job of their own."""

from __future__ import annotations

import pytest
from shop.drift import RECORD_SCHEMA, Drift, truth

from shoal.agent.browser import Context
from shoal.agent.read.by_place.reading import values_at_places
from shoal.agent.spec import JobSpec
from shoal.agent.workflows.exchange.job_fields import job_fields
from shoal.agent.workflows.format.node import ExtractNode
from shoal.agent.workflows.format.version import Version
from tests.integration.workflows.learned import item_of, learn

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("seed", [1, 2])  # with structured data, and without
async def test_the_fields_of_a_version_read_the_same_in_a_job(page: Context, site: str, seed: int) -> None:
    learned = await learn(page, site, seed, Drift.NONE)
    version = Version(nodes=(ExtractNode(id="read"),), branches=learned.branches, record_schema=dict(RECORD_SCHEMA))
    written = job_fields(version)
    assert set(written.fields) == set(RECORD_SCHEMA["properties"])
    given = {"fields": written.fields, "schema": written.record_schema}
    extract = JobSpec.model_validate({"url": site, "extract": given}).extract
    assert extract is not None
    for n in range(4, 8):
        await page.goto(item_of(site, seed, Drift.NONE, n).value)
        assert await values_at_places(page, extract, extract.fields) == [truth(seed, Drift.NONE, n)]
