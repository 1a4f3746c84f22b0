"""The rules policy: decides by structure and by the words of the job itself. Needs no model, no GPU and no network."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from agent.errors import GoalNeedsModel
from agent.plan import Plan
from agent.policies.policy import Extraction, Scene
from agent.policies.rules.collect import Collector
from agent.policies.rules.extraction import extract_page
from agent.policies.rules.planning import next_plan
from agent.step import StepDecision
from agent.types import LoopItem, Step


class RulesPolicy:
    """Goals that are spelled out in data: a list to loop over, a schema to read, details to fill into a form.

    Holds no state: every decision is made from the scene, so that a session can go on in another process.
    """

    instant = True
    """Deciding takes no time worth a checkpoint."""

    async def plan(self, scene: Scene) -> Plan:
        """The next mini goal: open the item, loop, send the form, extract; or that all is done.

        Raises:
            GoalNeedsModel: the goal is said in words only.
        """
        return next_plan(scene)

    async def step(self, scene: Scene, goal: str, steps: Sequence[Step]) -> StepDecision:
        """The actions for one look at the page.

        Raises:
            GoalNeedsModel: the mini goal is not one that this policy plans.
        """
        raise GoalNeedsModel(f"the rules have no way to do this: {goal}")

    async def extract(self, scene: Scene) -> Extraction:
        """What the page states of the job's schema; see `extract_page`."""
        return await extract_page(scene)

    def collect(self, scene: Scene, plan: Plan) -> AsyncIterator[LoopItem]:
        """The items of the session's loop, page after page, none twice."""
        if scene.loop is None:
            raise GoalNeedsModel("this session has no loop to collect values for")
        return Collector(scene.loop, scene.page, scene.spec.goal or "").items()
