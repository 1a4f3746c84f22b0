"""Actions that must not be done twice: which are marked, and what a session becomes that did one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.errors import ActionInvalid, FormIncomplete, FormRefused, HelpMissing, PageCrashed
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.policies.policy import SessionState
from shoal.agent.sessions import session
from shoal.agent.sessions.once import begun_anew, in_doubt, page_of, to_do_again
from shoal.agent.sessions.session_budget import SessionLimits
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, Checkpoint, LoopItem, Step
from shoal.agent.worker_messages import Work
from tests.doubles import FakeBrowser, FakePage
from tests.unit.session.test_session import ANSWERED, ONCE, URL, Notes, Sender, deps, run, work
from tests.worker_world import PlainPolicy


class Does(PlainPolicy):
    """Takes one action, then says that it is done, or fails."""

    def __init__(self, action: Action, then: Exception | None = None) -> None:
        self.action, self.then = action, then

    async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
        if not steps:
            return StepDecision("it", (self.action,))
        if self.then is not None:
            raise self.then
        return StepDecision("done", (Action("complete"),))


SEND = {"data": {"a": 1}, "goal": "send"}
CLICK = Action("click", {"bid": "1"}, submits=True)


def marks(notes: Notes) -> list[str]:
    return [checkpoint.pending_action for checkpoint, durable in notes.checkpoints if durable]


@pytest.mark.parametrize(
    ("action", "harmless", "marked"),
    [
        (Action("click", {"bid": "1"}), (), True),
        (Action("click", {"bid": "1"}), ("click",), False),
        (Action("fill", {"bid": "1", "value": "x"}), ("fill",), False),
        (Action("fill", {"bid": "1", "value": "x"}), (), True),
        (Action("fill", {"bid": "1", "value": "x"}, submits=True), ("fill",), True),
        (Action("press", {"bid": "1", "key_comb": "Enter"}), ("press",), True),
        (Action("mouse_click", {"x": 1, "y": 1}), ("mouse_click",), True),
        (Action("scroll", {"dx": 0, "dy": 1}), (), False),
    ],
)
async def test_what_may_send_is_marked_whatever_policy_decided_it(
    action: Action, harmless: tuple[str, ...], marked: bool
) -> None:
    key = " ".join([action.name, *map(str, list(action.args.values())[:1])])
    pages = {URL: FakePage(actions={key: ""}, harmless=harmless)}
    outcome, browser, notes = await run(work(**SEND), pages, policy=Does(action))
    assert len(browser.performed) == 1
    assert marks(notes) == ([f"{action.name} on {URL}", ""] if marked else [])
    (step,) = [result.action for result in outcome.tasks[0].steps[0].results]
    assert step.submits is marked
    _, _, notes = await run(work(**SEND, repeatable=True), pages, policy=Does(action))
    assert marks(notes) == []


@pytest.mark.parametrize("error", [HelpMissing("no answer"), None], ids=["no help came", "no such argument"])
async def test_the_mark_of_an_action_that_did_nothing_is_taken_back(error: HelpMissing | None) -> None:
    pages = {URL: FakePage(actions={}, refuses=error or ActionInvalid("no"))}
    outcome, _, notes = await run(work(**SEND), pages, policy=Does(Action("enter_verification_code", {"bid": "1"})))
    assert marks(notes) == [f"enter_verification_code on {URL}", ""]
    assert notes.checkpoints[-1][0].confirmed == ()
    assert outcome.status is (Status.FAILED if error else Status.COMPLETED)


class Collects(PlainPolicy):
    """Collects one item, after a click that brings it."""

    async def plan(self, state: SessionState) -> Plan:
        return Plan(plan="each", task_type="loop", loop_values=None, is_loop_value_link=True)

    async def collect(self, state: SessionState, plan: Plan) -> AsyncIterator[LoopItem]:
        await state.turn_page(Action("click", {"bid": "1"}))
        yield LoopItem(0, f"{URL}1", is_link=True)


LIST = {"loop": {"from": {"select": "a"}}, "data": {"a": 1}}


@pytest.mark.parametrize(("repeatable", "harmless", "marked"), [(False, (), 1), (False, ("click",), 0), (None, (), 0)])
async def test_what_brings_the_next_items_of_a_list_is_marked_where_the_caller_lets_nothing_be_repeated(
    repeatable: bool | None, harmless: tuple[str, ...], marked: int
) -> None:
    pages = {URL: FakePage(actions={"click 1": ""}, harmless=harmless)}
    outcome, browser, notes = await run(work(**LIST, repeatable=repeatable), pages, policy=Collects())
    assert outcome.status is Status.WAITING
    assert len(browser.performed) == 1
    assert marks(notes) == [f"click on {URL}", ""] * marked


DONE_AT = f"{URL}thanks"
CONFIRMED = Checkpoint(url=DONE_AT, confirmed=(f"fill on {URL}",))


def resumed(checkpoint: Checkpoint = CONFIRMED, **fields: Json) -> Work:
    return replace(work(**ONCE, **fields), checkpoint=checkpoint, attempt=2)


@pytest.mark.parametrize("status", [404, 410, 403, 400])
async def test_a_form_that_was_sent_is_not_told_as_failed_when_its_page_cannot_be_opened_again(status: int) -> None:
    """The site answered the POST itself: there is nothing to be had by GET."""
    pages = {**ANSWERED, DONE_AT: FakePage(status=status)}
    outcome, browser, _ = await run(resumed(), pages, policy=Sender())
    assert outcome.status is Status.UNSURE
    assert outcome.error is not None and outcome.error.code == "unsure_action"
    assert f"fill on {URL} was done" in outcome.reason and str(status) in outcome.reason
    assert browser.performed == []
    assert outcome.checkpoint == replace(CONFIRMED, pending_action=f"fill on {URL}")


async def test_what_passes_by_itself_is_tried_again_from_what_was_confirmed() -> None:
    pages = {**ANSWERED, DONE_AT: FakePage(status=503)}
    outcome, _, _ = await run(resumed(), pages, policy=Sender())
    assert outcome.status is Status.FAILED and outcome.error is not None and outcome.error.retryable
    assert outcome.checkpoint is not None and outcome.checkpoint.confirmed == CONFIRMED.confirmed


@pytest.mark.parametrize("where", [URL, f"{URL}#part"])
async def test_a_page_that_forgot_what_was_done_on_it_is_not_acted_on_again(where: str) -> None:
    """It is the form once more, by the same address, in a browser that knows nothing of the first one."""
    known = Checkpoint(url=where, confirmed=(f"click on {URL}",))
    pages = {**ANSWERED, where: ANSWERED[URL]}
    outcome, browser, notes = await run(resumed(known), pages, policy=Does(Action("fill", {"bid": "1", "value": "x"})))
    assert outcome.status is Status.UNSURE and browser.performed == []
    assert f"an earlier attempt did click on {URL}" in outcome.reason
    assert marks(notes) == []


async def test_the_next_page_of_a_form_is_gone_on_with() -> None:
    pages = {DONE_AT: FakePage(actions={"click 1": ""}, read={"n": 1})}
    outcome, browser, notes = await run(resumed(), pages, policy=Does(CLICK))
    assert len(browser.performed) == 1
    assert outcome.status is Status.COMPLETED
    assert notes.checkpoints[-1][0].confirmed == (f"fill on {URL}", f"click on {DONE_AT}")


@pytest.mark.parametrize("error", [FormIncomplete("it may have been taken"), PageCrashed("gone")])
async def test_a_session_that_fails_after_it_sent_is_unsure_or_tried_again(error: Any) -> None:
    pages = {URL: FakePage(actions={"click 1": ""})}
    outcome, _, _ = await run(work(**SEND), pages, policy=Does(CLICK, error))
    assert outcome.status is (Status.FAILED if error.retryable else Status.UNSURE)
    assert outcome.checkpoint is not None
    assert outcome.checkpoint.confirmed == (f"click on {URL}",)
    assert outcome.checkpoint.pending_action == ("" if error.retryable else f"click on {URL}")


async def test_rules_know_which_of_their_actions_send() -> None:
    """A banner that was closed leaves no doubt about a form that was never sent; a model's clicks do."""
    pages = {URL: FakePage(actions={"click 1": ""})}
    closed = Does(Action("click", {"bid": "1"}, "close what covers the page"), FormIncomplete("a field has no detail"))
    outcome, _, notes = await run(work(**SEND), pages, policy=closed)
    assert marks(notes) == [f"click on {URL}", ""]
    assert outcome.status is Status.FAILED
    closed.instant = False
    outcome, _, _ = await run(work(**SEND), pages, policy=closed)
    assert outcome.status is Status.UNSURE


async def test_a_form_that_the_site_refuses_is_failed_and_may_be_sent_anew() -> None:
    pages = {URL: FakePage(actions={"click 1": ""})}
    refused = FormRefused("the form was not accepted: no such street")
    outcome, _, _ = await run(work(**SEND), pages, policy=Does(CLICK, refused))
    assert outcome.status is Status.FAILED
    assert outcome.checkpoint is not None
    assert (outcome.checkpoint.confirmed, outcome.checkpoint.steps, outcome.checkpoint.url) == ((), (), "")
    # A later attempt sees another page: what that says is no word on what was sent.
    later, _, _ = await run(
        replace(work(**SEND), checkpoint=CONFIRMED), {DONE_AT: pages[URL]}, policy=Does(CLICK, refused)
    )
    assert later.status is Status.UNSURE


async def test_a_session_whose_time_is_over_after_it_sent_is_unsure() -> None:
    pages = {URL: FakePage(actions={"click 1": DONE_AT}), DONE_AT: FakePage(seconds=0)}

    class Waits(Does):
        async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
            if steps:
                await asyncio.sleep(300)
            return await super().step(state, goal, steps)

    outcome, _, _ = await run(work(**SEND), pages, policy=Waits(CLICK), limits=SessionLimits(session_s=1.5))
    assert outcome.status is Status.UNSURE
    assert f"click on {URL} was done, and then: the session ran" in outcome.reason


def test_names_and_what_a_next_attempt_begins_with() -> None:
    assert page_of("click on http://a.example/x?y=1#z") == "http://a.example/x?y=1"
    assert page_of("click") == ""
    known = replace(CONFIRMED, steps=(Step(0, URL, "", ()),), storage_state={"cookies": []})
    anew = Checkpoint(storage_state={"cookies": []})
    assert begun_anew(known) == anew
    assert in_doubt(known) == replace(known, pending_action=f"fill on {URL}")
    assert to_do_again(in_doubt(known)) == anew, "its page is of no use any more"
    inside = replace(known, pending_action=f"click on {DONE_AT}")
    assert to_do_again(inside) == replace(known, confirmed=())


@pytest.mark.parametrize("nth", range(1, 16))
async def test_whatever_breaks_when_it_is_done_once_and_not_told_as_failed(nth: int) -> None:
    """The answer's page is gone for later attempts: only the first one can see it."""
    one, performed = work(**ONCE), 0
    for attempt in range(1, 5):
        pages = ANSWERED if attempt == 1 else {**ANSWERED, DONE_AT: FakePage(status=404)}
        browser, notes = FakeBrowser(pages, break_nth=nth if attempt == 1 else None), Notes()
        outcome = await session.run(replace(one, attempt=attempt), deps(browser, notes, policy=Sender()))
        performed += len(browser.performed)
        last = notes.checkpoints[-1][0] if notes.checkpoints else one.checkpoint
        one = replace(one, checkpoint=outcome.checkpoint or last)
        if outcome.status is not Status.FAILED:
            break
    assert performed <= 1
    assert outcome.status in (Status.COMPLETED, Status.UNSURE), outcome.reason
