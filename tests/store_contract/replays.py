"""Replays in the figures of their version, and versions that may not begin to replay."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shoal.agent.sureness import Audited
from shoal.agent.types import Replay
from shoal.agent.workflows.format.node import ModelNode
from shoal.agent.workflows.format.version import State
from shoal.services.errors import WrongState
from tests.store_contract.workflows import learned
from tests.store_world import DONE, World


async def figures_after(w: World, *replays: Replay) -> dict[str, float]:
    """The figures of version 1 of `books` once sessions with these replays have ended."""
    await w.store.workflows.keep("acme", learned("books", {"number": 1, "state": "active"}))
    await w.open_loop(len(replays))
    await w.finish(*((one, replace(DONE, replay=by)) for one, by in zip(await w.claim(), replays, strict=True)))
    kept = await w.store.workflows.get("acme", "books")
    return dict(kept.versions[0].figures)


def of_books(audit: Audited = "", *, whole: bool = True, shadow: bool = False) -> Replay:
    return Replay("books", 1, whole, () if whole else ("absent",), shadow=shadow, audit=audit)


async def test_an_audit_of_each_outcome_is_counted_once_under_its_outcome(w: World) -> None:
    figures = await figures_after(
        w, of_books(), of_books("right"), of_books("right"), of_books("wrong"), of_books("unclear")
    )
    assert figures == {"replays": 5, "audits": 4, "audits_right": 2, "audits_wrong": 1, "audits_unclear": 1}


async def test_what_ran_beside_a_baseline_counts_as_shadow_and_in_no_figure_of_replays(w: World) -> None:
    compared = [of_books(audit, shadow=True) for audit in ("right", "right", "wrong")]
    figures = await figures_after(w, *compared, of_books(whole=False, shadow=True))
    assert figures == {"shadow": 4, "shadow_misses": 1, "shadow_wrong": 1}


@pytest.mark.parametrize("state", ["shadow", "canary", "active"])
async def test_a_stored_version_with_a_node_that_no_replay_runs_does_not_begin_to_replay(
    w: World, state: State
) -> None:
    given = learned("books")
    older = given.versions[0].model_copy(update={"nodes": (ModelNode(id="ask", kind="model", goal="look"),)})
    await w.store.workflows.keep("t", given.model_copy(update={"versions": (older,)}))
    with pytest.raises(WrongState, match=r"version 1 of 'books' cannot be replayed: nodes\[0\]: 'ask' is a model node"):
        await w.store.workflows.move("t", "books", 1, state)
    row = await w.store.workflows.get("t", "books")
    assert row.versions[0].version.state == "draft"
    assert (await w.store.workflows.move("t", "books", 1, "retired")).versions[0].version.state == "retired"
