"""The policy seam: who decides. Implementations: rules, model, workflow."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from agent.browser import Context, ObserveOptions
from agent.plan import Plan
from agent.spec import JobSpec, LoopSpec
from agent.step import StepDecision
from agent.types import ChildrenSummary, LoopItem, Observation, Record, Step, Task, Usage


@dataclass(slots=True)
class Scene:
    """All that a policy may look at: the job, what was done so far, and the page.

    One per session, owned by `agent.session`; a policy reads it and changes nothing but `usage`.
    """

    spec: JobSpec
    loop: LoopSpec | None  # the loop that this session has to do; None for a leaf
    item: LoopItem | None  # the value this session works for; None for the root
    page: Context
    history: tuple[Task, ...] = ()
    records: tuple[Record, ...] = ()  # extracted so far
    children: ChildrenSummary | None = None  # set once the session's loop is done
    usage: Usage = field(default_factory=Usage)  # policies add what they spend
    elapsed_s: float = 0.0

    async def observe(self, options: ObserveOptions = ObserveOptions()) -> Observation:
        """The page now, with the goal filled in."""
        seen = await self.page.observe(options)
        return replace(seen, goal=self.spec.goal or "", elapsed_s=self.elapsed_s)


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was read from one page, checked against the schema by the session, not by the policy."""

    records: tuple[Record, ...]
    complete: bool = True  # False: the page shows more than was read
    missing: tuple[str, ...] = ()  # fields of the schema that the page does not show
    prompt: str | None = None  # prompt and reply as text, kept as an artifact when a model was asked


class Policy(Protocol):
    """Decides; never acts on the page itself except by reading (and scrolling or paging while it collects)."""

    @property
    def instant(self) -> bool:
        """True when `plan` asks nobody and takes no time: then no checkpoint is written before it."""
        ...

    async def plan(self, scene: Scene) -> Plan:
        """The next mini goal.

        Raises:
            GoalNeedsModel: the goal is beyond this policy.
            ModelError: the model server could not be asked.
        """
        ...

    async def step(self, scene: Scene, goal: str, steps: Sequence[Step]) -> StepDecision:
        """The actions to take now for the mini goal `goal`, after `steps` of it."""
        ...

    async def extract(self, scene: Scene) -> Extraction:
        """What the page shows of the job's `extract`.

        Raises:
            FieldsMissing: the page does not show what the schema requires.
        """
        ...

    def collect(self, scene: Scene, plan: Plan) -> AsyncIterator[LoopItem]:
        """The values of the session's loop, in order, page after page, without doubles."""
        ...
