"""The policy of an item that the baseline, a model or the rules, works out while a workflow reads in parallel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from functools import partial

from shoal.agent.models.decisions.plan import Plan
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.policies.policy import Extraction, Policy, SessionState
from shoal.agent.policies.workflow.auditing import audit
from shoal.agent.types import LoopItem, Replay, Step
from shoal.agent.workflows.divergences import DivergenceReason
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.replay.pages import replay_page


class ParallelRunPolicy:
    """Lets `baseline` decide everything, and notes what the workflow reads of the same pages: the phase `shadow`.

    Actions are not run twice: `shoal.agent.workflows.learning.loop` compares what the baseline did with what the
    workflow would have done.

    Args:
        name: of the workflow.
        version: what is compared.
        baseline: who decides.
    """

    def __init__(self, name: str, version: Version, baseline: Policy) -> None:
        self._version = version
        self._baseline = baseline
        self._replay = Replay(name, version.number, whole=not version.branches, shadow=True)
        self._readings = 0

    @property
    def replay(self) -> Replay:
        """Return what became of the comparison so far."""
        return self._replay

    @property
    def instant(self) -> bool:
        """As the baseline's own."""
        return self._baseline.instant

    async def plan(self, state: SessionState) -> Plan:
        """The baseline's plan."""
        return await self._baseline.plan(state)

    async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
        """The baseline's step."""
        return await self._baseline.step(state, goal, steps)

    async def collect(self, state: SessionState, plan: Plan) -> AsyncIterator[LoopItem]:
        """The baseline's items."""
        async for item in self._baseline.collect(state, plan):
            yield item

    async def extract(self, state: SessionState) -> Extraction:
        """Return what the baseline reads. Where the workflow reads something else, the baseline reads once more,
        and twice.
        """
        read = await self._baseline.extract(state)
        self._readings += 1
        if len(read.records) != 1 or self._readings > 1 or not self._version.branches:
            self._note(whole=False, misses=(str(DivergenceReason.UNSUPPORTED),))
            return read
        schema = state.spec.extract.record_schema if state.spec.extract is not None else self._version.record_schema
        item = state.item if not self._version.acts else None
        locale = state.spec.browser.locale or ""
        replayed = await replay_page(state.page, self._version.branches, item, schema, locale=locale)
        if replayed.record is None:
            self._note(whole=False, misses=tuple(str(miss.reason) for miss in replayed.misses))
            return read
        again = partial(self._baseline.extract, state)
        judged = await audit(replayed.record, read, again, exact=self._baseline.instant)
        self._note(whole=True, audit=judged.verdict, differing=judged.differing)
        return judged.reading

    def _note(self, **more: object) -> None:
        name, number = self._replay.workflow, self._replay.version
        self._replay = Replay(name, number, shadow=True, **more)  # type: ignore[arg-type]
