"""Random edits of a page never make a learned branch give what the page does not state for that item."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shop.drift import RECORD_SCHEMA, Drift, truth

from shoal.agent.browser import Context
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.branch import Branch
from shoal.agent.workflows.replay.pages import replay_page
from tests.integration.workflows.learned import item_of, learn
from tests.sites.ring import EVERYTHING

pytestmark = pytest.mark.asyncio(loop_scope="session")

EDIT_JS = (Path(__file__).parent / "edits.js").read_text()
KINDS = ("rename", "alike", "wrap", "move", "duplicate", "copy", "delete", "swap", "number", "data")
EDITS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 60), st.integers(0, 60), st.integers(0, 8)), min_size=1, max_size=6
)


def states(texts: list[str], name: str, value: Json) -> bool:
    """Return whether one of the places of a field says `value`."""
    digits = {"price": f"{value:.2f}" if name == "price" else "", "weight_g": str(value)}
    for text in texts:
        if name in ("price", "weight_g") and digits[name] in text.replace(",", ""):
            return True
        if name == "available" and ("Out" not in text) == value and "stock" in text:
            return True
        if name in ("name", "sku") and str(value) == " ".join(text.split()):
            return True
    return False


@pytest.mark.parametrize(("seed", "structured"), [(3, True), (4, False)])
async def test_a_record_is_what_the_edited_page_states(page: Context, site: str, seed: int, structured: bool) -> None:
    kind = Drift.NONE
    learned = await learn(page, site, seed, kind)
    families = {channel.family for field in learned.branches[0].fields for channel in field.channels}
    assert ("json_ld" in families) is structured
    found: list[tuple[Json, Json]] = []
    records = 0

    async def tried(branch: Branch, edits: Json) -> None:
        nonlocal records
        item = item_of(site, seed, kind, 6)
        await page.goto(item.value)
        told = json.loads(str(await page.read(EDIT_JS, edits)))
        got = await replay_page(page, (branch,), item, RECORD_SCHEMA)
        if got.record is None:
            return
        records += 1
        wrong = {name: value for name, value in got.record.value.items() if not states(told[name], name, value)}
        if wrong:
            found.append((edits, {"wrong": wrong, "told": told}))

    examples: list[Json] = []

    @settings(
        max_examples=60 if EVERYTHING else 25, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(EDITS)
    def collect(edits: list[tuple[str, int, int, int]]) -> None:
        examples.append([list(edit) for edit in edits])

    collect()
    for edits in examples:
        await tried(learned.branches[0], edits)
    assert found == []
    assert records >= 5, "edits beside the facts must leave some records"
    assert truth(seed, kind, 6) is not None
