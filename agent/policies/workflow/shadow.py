"""The policy of an item that a model works out while a workflow runs in its shadow."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from shoal.agent.decisions.plan import Plan
from shoal.agent.decisions.step import StepDecision
from shoal.agent.policies.policy import Extraction, Policy, SessionState
from shoal.agent.policies.workflow.auditing import audit
from shoal.agent.types import LoopItem, Replay, Step
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.replay.pages import replay_page
from shoal.agent.workflows.verdict import MissReason


class ShadowPolicy:
    """Lets `model` decide everything. Of each page that it reads, it notes what the workflow reads.

    Actions are not run twice: `shoal.agent.workflows.learning.loop` compares what the model did with what the workflow
    would have done.

    Args:
        name: of the workflow.
        version: what is compared.
        model: who decides.
    """

    def __init__(self, name: str, version: Version, model: Policy) -> None:
        self._version = version
        self._model = model
        self._replay = Replay(name, version.number, whole=not version.branches, shadow=True)
        self._readings = 0

    @property
    def replay(self) -> Replay:
        """What became of the comparison so far."""
        return self._replay

    @property
    def instant(self) -> bool:
        """As the model's own."""
        return self._model.instant

    async def plan(self, state: SessionState) -> Plan:
        """The model's plan."""
        return await self._model.plan(state)

    async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
        """The model's step."""
        return await self._model.step(state, goal, steps)

    async def collect(self, state: SessionState, plan: Plan) -> AsyncIterator[LoopItem]:
        """The model's items."""
        async for item in self._model.collect(state, plan):
            yield item

    async def extract(self, state: SessionState) -> Extraction:
        """What the model reads. Where the workflow reads something else, the model reads once more, and twice."""
        read = await self._model.extract(state)
        self._readings += 1
        if len(read.records) != 1 or self._readings > 1 or not self._version.branches:
            self._note(whole=False, misses=(str(MissReason.UNSUPPORTED),))
            return read
        schema = state.spec.extract.record_schema if state.spec.extract is not None else self._version.record_schema
        item = state.item if not self._version.acts else None
        locale = state.spec.browser.locale or ""
        replayed = await replay_page(state.page, self._version.branches, item, schema, locale=locale)
        if replayed.record is None:
            self._note(whole=False, misses=tuple(str(miss.reason) for miss in replayed.misses))
            return read
        judged = await audit(replayed.record, read, lambda: self._model.extract(state))
        self._note(whole=True, audit=judged.said, differing=judged.differing)
        return judged.reading

    def _note(self, **more: object) -> None:
        name, number = self._replay.workflow, self._replay.version
        self._replay = Replay(name, number, shadow=True, **more)  # type: ignore[arg-type]
