"""The learner: what it decides is written, and no item waits for what cannot be kept."""

from __future__ import annotations

import asyncio

import pytest

from shoal.agent.workflows.judging.phase import LearningStep, Phase
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatch_state import DispatchState
from shoal.services.dispatch.learner import Learner
from shoal.services.store.learning.records import LearningDue
from shoal.services.store.store import open_store
from shoal.services.store.workflows import keeping
from tests.patience import soon
from tests.store_contract.learning import FOR, SHADOW, VERSION, end_all, learning_loop
from tests.store_contract.workflows import learned
from tests.store_world import Clock, World


async def test_a_version_that_the_store_does_not_keep_leaves_the_items_to_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock()
    store = await open_store("sqlite://", clock=clock)
    w = World("sqlite://", store, clock)
    monkeypatch.setattr(keeping, "MOST_VERSIONS", 1)
    scope = learned().scope.model_copy(update={"site": FOR.site, "goal": FOR.goal, "record_schema": FOR.record_schema})
    await store.workflows.keep("acme", learned().model_copy(update={"scope": scope, "versions": (VERSION,)}))
    job, _ = await learning_loop(w)
    await end_all(w)
    learner = Learner(store, DispatchState.of(DispatchConfig()), None, "d")

    async def computed(known: LearningDue) -> LearningStep:
        return SHADOW

    monkeypatch.setattr(learner, "_next", computed)
    running = asyncio.create_task(learner.run())
    try:
        async with soon(28):
            while (told := (await store.learning.of_job(job))[0]).phase is not Phase.OFF:
                assert not running.done(), running
                await asyncio.sleep(0.01)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert not told.holds_back and "1 versions at most" in told.why
    await w.run_out()
    assert (await w.check_sums(job)).counts.completed == 30
    await store.close()
