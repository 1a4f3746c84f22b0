"""Every channel and reader of a learned branch, corrupted in turn: a miss or right data, and never a wrong record."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from shop.drift import RECORD_SCHEMA, START, Drift, truth

from shoal.agent.browser import Context
from shoal.agent.spec import FieldPlace
from shoal.agent.workflows.format.branch import Branch, Channel
from shoal.agent.workflows.reading.branch_reader import read_page
from shoal.agent.workflows.reading.page_view import needs_texts, places_of, selectors_of, view_of, view_parameters
from shoal.agent.workflows.replay.pages import replay_page
from tests.integration.workflows.learned import item_of, learn

pytestmark = pytest.mark.asyncio(loop_scope="session")
READERS = ("text", "number", "integer", "price", "currency", "boolean", "date", "url")
STRAY = (
    FieldPlace(select="li:nth-of-type(1) > b"),
    FieldPlace(select="nav a:nth-of-type(2)"),
    FieldPlace(select="footer"),
    FieldPlace(select="p"),
    FieldPlace(select="nothing"),
    FieldPlace(label="Related"),
    FieldPlace.model_validate({"json": "$.offers.availability"}),
)


def corrupted(branch: Branch) -> Iterator[Branch]:
    """The branch with one thing wrong, for each thing that can be."""
    places = [field.channels[0].place for field in branch.fields]
    for at, field in enumerate(branch.fields):
        for index, channel in enumerate(field.channels):
            others = [place for place in (*places, *STRAY) if place != channel.place]
            changed = [channel.model_copy(update={"place": place}) for place in others]
            changed += [
                channel.model_copy(update={"place": channel.place.model_copy(update={"reader": reader})})
                for reader in READERS
            ]
            changed += [channel.model_copy(update={"shapes": ("nothing",)}), channel.model_copy(update={"shapes": ()})]
            for one in changed:
                yield _with(branch, at, index, one)


def _with(branch: Branch, at: int, index: int, channel: Channel) -> Branch:
    field = branch.fields[at]
    channels = tuple(channel if i == index else one for i, one in enumerate(field.channels))
    fields = tuple(
        field.model_copy(update={"channels": channels}) if i == at else one for i, one in enumerate(branch.fields)
    )
    return branch.model_copy(update={"fields": fields})


@pytest.mark.parametrize("kind", [Drift.NONE, Drift.COLUMNS])
async def test_a_corrupted_branch_misses_or_is_right(page: Context, site: str, kind: Drift) -> None:
    learned = await learn(page, site, 3, kind)
    [branch] = learned.branches
    item = item_of(site, 3, kind, START)
    await page.goto(item.value)
    made = [*corrupted(branch)]
    places = places_of([branch, *made])  # the page, which has no scripts, is asked for all of them once
    view = await view_of(page, places, view_parameters(places, selectors_of(made), texts=needs_texts(made)))
    replayed = await replay_page(page, (branch,), item, RECORD_SCHEMA)
    assert not view.scripts and replayed.misses == read_page(view, (branch,), item, RECORD_SCHEMA).misses
    misses = right = 0
    for one in made:
        got = read_page(view, (one,), item, RECORD_SCHEMA)
        if got.record is None:
            misses += 1
        else:
            assert got.record.value == truth(3, kind, START), one
            right += 1
    assert misses > 50
    if kind is not Drift.COLUMNS:
        assert right > 10, "a corrupted channel beside two that agree must not always be a miss"
