"""The rules policy: decides by structure and by the words of the job itself. Needs no model, no GPU and no network."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from agent.errors import GoalNeedsModel
from agent.plan import Plan
from agent.policies.policy import Extraction, Scene
from agent.policies.rules.changes import wait_for_change
from agent.policies.rules.collect import Collector
from agent.policies.rules.extraction import extract_page
from agent.policies.rules.filling import decide_filling
from agent.policies.rules.form import read_form_page
from agent.policies.rules.opening import decide_opening
from agent.policies.rules.planning import OPEN, SEND, form_data, next_plan, to_open
from agent.policies.rules.trail import refuse_standstill
from agent.step import StepDecision
from agent.types import LoopItem, Step

_QUIET_S = 0.2
_CHANGE_S = 2.0
_SETTLE_S = 5.0
"""How long a page may take to answer what was done to it."""


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
            ItemNotFound: the page shows nothing that the item's words name.
            FormIncomplete: the data does not fill the form, or the site did not take it.
            NothingWorks: the page takes no action.
        """
        refuse_standstill(steps)
        if goal != SEND and not goal.startswith(OPEN):
            raise GoalNeedsModel(f"the rules have no way to do this: {goal}")
        if steps:
            if not steps[-1].results:  # looked at and nothing done: something has to come first
                await wait_for_change(scene.page, limit_s=_CHANGE_S)
            await scene.page.settle(quiet_s=_QUIET_S, budget_s=_SETTLE_S)
        seen = await scene.observe()
        page = await read_form_page(scene.page, seen)
        if goal != SEND:
            return decide_opening(seen, page, to_open(scene.item), steps)
        return decide_filling(
            page,
            form_data(scene),
            steps,
            error_codes=scene.spec.error_codes,
            criterion=scene.spec.complete_criterion,
            may_terminate=scene.spec.allow_terminate,
        )

    async def extract(self, scene: Scene) -> Extraction:
        """What the page states of the job's schema; see `extract_page`."""
        return await extract_page(scene)

    async def collect(self, scene: Scene, plan: Plan) -> AsyncIterator[LoopItem]:
        """The items of the session's loop, page after page, none twice."""
        if scene.loop is None:
            raise GoalNeedsModel("this session has no loop to collect values for")
        async for item in Collector(scene, scene.loop).items():
            yield item
