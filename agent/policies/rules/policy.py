"""The rules policy: decides by structure and by the words of the job itself. Needs no model, no GPU and no network."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial

from shoal.agent.errors import GoalNeedsModel
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.policies.policy import LOG_IN, Extraction, SessionState
from shoal.agent.policies.rules.fields.extraction import extract_page
from shoal.agent.policies.rules.forms.document_forms import read_form_page, read_opening_page
from shoal.agent.policies.rules.forms.filling import decide_filling
from shoal.agent.policies.rules.forms.form import FormPage
from shoal.agent.policies.rules.forms.trail import refuse_standstill
from shoal.agent.policies.rules.lists.collect import Collector
from shoal.agent.policies.rules.lists.embedded import read_embedded_list
from shoal.agent.policies.rules.lists.following import read_whole_list
from shoal.agent.policies.rules.lists.opening import decide_opening
from shoal.agent.policies.rules.lists.rows import decide_row, extract_row, wait_for_turn
from shoal.agent.policies.rules.page_changes import wait_for_change
from shoal.agent.policies.rules.planning import OPEN, SEND, details_of, next_plan, to_open
from shoal.agent.redaction.masking import is_reference
from shoal.agent.types import LoopItem, Step

_QUIET_S = 0.2
_CHANGE_S = 2.0
_SETTLE_S = 5.0
"""Seconds that a page may take to answer an action."""


class RulesPolicy:
    """Goals that are spelled out in data: a list to loop over, a schema to read, details to fill into a form.

    Holds no state: every decision is made from the session state, so that a session can go on in another process.
    """

    instant = True
    """Deciding takes no time worth a checkpoint."""

    async def plan(self, state: SessionState) -> Plan:
        """The next mini goal: open the item, loop, send the form, extract; or that all is done.

        Raises:
            GoalNeedsModel: the goal is said in words only.
        """
        return next_plan(state)

    async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
        """The actions for one look at the page.

        Raises:
            GoalNeedsModel: the mini goal is not one that this policy plans.
            ItemNotFound: the page shows nothing that the item's words name.
            FormIncomplete: the data does not fill the form, or the site did not take it.
            NothingWorks: the page takes no action.
        """
        refuse_standstill(steps)
        if goal not in (SEND, LOG_IN) and not goal.startswith(OPEN):
            raise GoalNeedsModel(f"the rules have no way to do this: {goal}")
        if steps:
            if not steps[-1].results:  # looked at and nothing done: something has to come first
                await wait_for_change(state.page, limit_s=_CHANGE_S)
            await wait_for_turn(state, steps)
            await state.page.settle(quiet_s=_QUIET_S, budget_s=_SETTLE_S)
        seen = await state.observe()
        if goal.startswith(OPEN) and (row := await decide_row(state, seen, steps)) is not None:
            return row
        if goal.startswith(OPEN):
            return decide_opening(seen, await read_opening_page(state.page, seen), to_open(state.item), steps)
        page = await read_form_page(state.page, seen)
        locale = state.spec.browser.locale
        decision = decide_filling(
            replace(page, lang=locale) if locale else page,  # who wrote the job wrote its details
            details_of(state) if goal == SEND else state.spec.data,
            steps,
            goal=state.spec.goal or "",
            error_codes=state.spec.error_codes,
            criterion=state.spec.complete_criterion,
            may_terminate=state.spec.allow_terminate,
        )
        state.hidden.hide(_passwords(page, decision))
        return decision

    async def extract(self, state: SessionState) -> Extraction:
        """Return what the page states of the job's schema; of a list, what the pages that go on with it state too.

        A page that shows no list may embed one.
        """
        if state.spec.extract is not None and state.spec.extract.many:
            read = partial(read_whole_list, state, extract_page)
            whole = await read()
            return whole if whole.records or whole.empty else await read_embedded_list(state, whole, read)
        return await extract_row(state) or await extract_page(state)

    async def collect(self, state: SessionState, plan: Plan) -> AsyncIterator[LoopItem]:
        """The items of the session's loop, page after page, none twice."""
        if state.loop is None:
            raise GoalNeedsModel("this session has no loop to collect values for")
        async for item in Collector(state, state.loop).items():
            yield item


def _passwords(page: FormPage, decision: StepDecision) -> list[str]:
    """Return what goes into password fields, whatever the caller calls it."""
    fields = {field.bid for field in page.fields if field.type == "password"}
    typed = [action.args.get("value") for action in decision.actions if action.args.get("bid") in fields]
    return [text for text in typed if isinstance(text, str) and text and not is_reference(text)]
