"""The learner: decides what comes next in loops that learn.

One dispatcher decides on a loop at a time: the store lends the loop to it. What a learner computes is lost with its
process. The loan ends, and another learner, or the same after a restart, computes it again from what the store has.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from importlib import import_module

import structlog

from shoal.agent.workflows.judging.phase import LearningStep, Phase
from shoal.services.artifacts.store import ArtifactStore
from shoal.services.dispatch.dispatch_state import DispatchState
from shoal.services.errors import ArtifactMissing, ArtifactStoreAway, WrongState
from shoal.services.events import LogEvent
from shoal.services.store.learning.records import LearningDue
from shoal.services.store.store import Store

log = structlog.get_logger()

_LEASE_S = 20.0
"""Seconds that one decision may take: a hundred times longer than it does."""


class Learner:
    """Woken when items of a loop that learns have ended.

    Args:
        artifacts: where the evidence of sessions lies; None: loops do not learn here, and go on by the model.
        owner: name of the dispatcher.
    """

    def __init__(self, store: Store, state: DispatchState, artifacts: ArtifactStore | None, owner: str) -> None:
        self._store = store
        self._state = state
        self._artifacts = artifacts
        self._owner = owner

    async def run(self) -> None:
        """Decides until the dispatcher stops."""
        while True:
            await self._state.signals.wait_for_learning()
            for loop in await self._store.learning.due():
                await self._decide(loop)

    async def _decide(self, loop: int) -> None:
        known = await self._store.learning.lend(loop, self._owner, lasts_s=_LEASE_S)
        if known is None:
            return
        try:
            step = await self._next(known)
        except ArtifactStoreAway as away:  # the loan ends, and the housekeeper has it looked at again
            log.warning(LogEvent.EVIDENCE_UNREAD, loop=loop, error=away.message)
            return
        except Exception as error:  # held-back items must not wait for what cannot be computed
            log.exception(LogEvent.LOOP_FAILED, loop="learner")
            step = LearningStep(Phase.OFF, f"learning failed: {type(error).__name__}: {error}")
        try:
            decided = await self._store.learning.decide(loop, self._owner, step)
        except WrongState as refused:  # the version cannot be stored: the model does the items
            step = LearningStep(Phase.OFF, f"what was learned cannot be kept: {refused.message}")
            decided = await self._store.learning.decide(loop, self._owner, step)
        if not decided.written:
            return
        self._state.metrics.learned(step.phase, decided.repair)
        log.info(LogEvent.LOOP_LEARNED, loop=loop, phase=str(step.phase), why=step.why)
        self._state.ready(decided.ready)
        self._state.signals.bulk_operation_left()
        if step.phase.holds_back and not step.let_go:
            self._state.signals.loop_learns()

    async def _next(self, known: LearningDue) -> LearningStep:
        if self._artifacts is None:
            return LearningStep(Phase.OFF, "this dispatcher has no artifact store to read evidence from")
        evidence = await _evidence(self._artifacts, known)
        step = await asyncio.to_thread(_computed, known, evidence)
        old, new = known.version, step.version
        if known.phase is not Phase.ITEMS or old is None or new is None or new.by != "repair" or new.acts:
            return step
        taught = {page for version in (old, new) for branch in version.branches for page in branch.learned_from}
        pages = await self._load_kept_pages(self._artifacts, known.loop, taught)
        return await asyncio.to_thread(_tested, known, step, pages)

    async def _load_kept_pages(
        self, artifacts: ArtifactStore, loop: int, ids: Collection[str]
    ) -> list[tuple[str, bytes, bytes]]:
        """Pages with the evidence of their sessions. Those that are gone, or too many, test nothing."""
        kept = []
        for keys in await self._store.learning.kept_page_keys(loop, ids):
            try:
                kept.append((keys.id, await artifacts.get(keys.page), await artifacts.get(keys.evidence)))
            except ArtifactMissing as error:
                log.warning(LogEvent.EVIDENCE_UNREAD, loop=loop, key=keys.page, error=str(error))
        return kept


async def _evidence(artifacts: ArtifactStore, known: LearningDue) -> list[bytes]:
    """The evidence of a loop's last items. Evidence that is gone teaches nothing."""
    kept = []
    for key in known.evidence_keys:
        try:
            kept.append(await artifacts.get(key))
        except ArtifactMissing as error:
            log.warning(LogEvent.EVIDENCE_UNREAD, loop=known.loop, key=key, error=str(error))
    return kept


def _computed(known: LearningDue, evidence: Sequence[bytes]) -> LearningStep:
    # It imports what reads pages: a dispatcher waits for that only once a loop learns.
    step: LearningStep = import_module("shoal.services.dispatch.learned_step").learned_step(known, evidence)
    return step


def _tested(known: LearningDue, step: LearningStep, kept: Sequence[tuple[str, bytes, bytes]]) -> LearningStep:
    tested: LearningStep = import_module("shoal.services.dispatch.learned_step").checked_step(known, step, kept)
    return tested
