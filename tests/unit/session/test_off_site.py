"""Sessions that leave the job's sites: what is not done there, and how such a session ends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from shoal.agent.errors import AgentError, FormIncomplete, NothingWorks, ServerBusy
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.policies.policy import SessionState
from shoal.agent.policies.rules.lists.onward import open_next
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.support.sites.prospect import Prospect
from shoal.agent.types import Action, Element, LoopItem, Step
from tests.doubles import FakePage
from tests.doubles.browser_double import body
from tests.unit.session.test_once import marks
from tests.unit.session.test_session import URL, run, work
from tests.worker_world import PlainPolicy

AWAY = "https://evil.example/form"
LINK = Element("2", "a", attributes={"href": AWAY})
TYPE = Action("fill", {"bid": "1", "value": "4111 1111 1111 1111"})
GO = Action("goto", {"url": AWAY})


class Does(PlainPolicy):
    """Takes these actions, one a step, whatever became of the one before; then ends, or fails."""

    def __init__(self, *actions: Action, then: Exception | None = None) -> None:
        self.actions, self.then = actions, then

    async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
        if len(steps) < len(self.actions):
            return StepDecision("as I was told", (self.actions[len(steps)],))
        if self.then is not None:
            raise self.then
        return StepDecision("done", (Action("complete"),))


HERE = FakePage(elements=body(LINK), actions={f"goto {AWAY}": AWAY, "click 2": AWAY, "fill 1": "", "click 1": ""})
THERE = FakePage(actions={"fill 1": "", "click 1": "", "click 9": URL})
PAGES = {URL: HERE, AWAY: THERE}


async def test_a_link_is_followed_elsewhere_and_nothing_is_typed_there() -> None:
    outcome, browser, notes = await run(
        work(goal="buy", data={"a": 1}), PAGES, policy=Does(GO, TYPE, Action("click", {"bid": "1"}))
    )
    assert [action.name for action in browser.performed] == ["goto", "click"]
    assert "evil.example" in outcome.reason, "completed, and one thing was not done"
    (task,) = outcome.tasks
    told = [step.results[0].error for step in task.steps[:3]]
    assert [error and error.code for error in told] == [None, "site_refused", None]
    assert told[1] is not None and "evil.example" in told[1].message and "`sites`" in told[1].message
    assert f"fill on {AWAY}" not in marks(notes), "what is not done needs no mark"


async def test_a_job_that_names_the_site_acts_there() -> None:
    named = work(goal="buy", data={"a": 1}, sites=["shop.example", "evil.example"])
    outcome, browser, _ = await run(named, PAGES, policy=Does(GO, TYPE))
    assert [action.name for action in browser.performed] == ["goto", "fill"]
    assert outcome.status is Status.COMPLETED


async def test_a_secret_is_not_even_looked_up_for_another_site() -> None:
    asked = Action("fill", {"bid": "1", "value": "secret:unknown"})
    outcome, _, _ = await run(work(goal="buy", data={"a": 1}), PAGES, policy=Does(GO, asked))
    (step,) = outcome.tasks[0].steps[1:2]
    assert step.results[0].error is not None and step.results[0].error.code == "site_refused"


async def test_an_address_that_is_no_link_is_not_opened() -> None:
    composed = Action("goto", {"url": f"{AWAY}?card=4111"})
    _, browser, _ = await run(work(goal="buy", data={"a": 1}), PAGES, policy=Does(composed))
    assert browser.performed == []


class Collects(Does):
    """Types, then collects the links of the page and of the next one that the page names."""

    async def plan(self, state: SessionState) -> Plan:
        return Plan(plan="type", task_type="navigate") if not state.history else Plan(plan="each", task_type="loop")

    async def collect(self, state: SessionState, plan: Plan) -> AsyncIterator[LoopItem]:
        for index, link in enumerate(await state.page.read("links")):
            yield LoopItem(index, link, is_link=True)
        state.cut = state.cut or await open_next(state, await state.page.read("next"))


@pytest.mark.parametrize(("typed", "left"), [((TYPE,), 1), ((), 2)], ids=["typed before", "nothing typed"])
@pytest.mark.parametrize("at", ["links", "next"])
async def test_a_list_carries_nothing_that_was_typed_to_another_site(typed: tuple[Action], left: int, at: str) -> None:
    told = f"{AWAY}?card=4111-1111-1111-1111"
    shown = {"links": [f"{URL}1", told if at == "links" else AWAY], "next": told if at == "next" else URL}
    pages = {URL: FakePage(read=lambda name, _: shown[name], actions={"fill 1": ""}), told: FakePage()}
    loop: Json = {"from": {"select": "a"}}
    outcome, browser, _ = await run(work(goal="buy", data={"a": 1}, loop=loop), pages, policy=Collects(*typed))
    assert outcome.fan_out is not None
    assert len(outcome.fan_out.items) == (left if at == "links" else 2)
    assert (told in browser.visits) is (at == "next" and not typed), "and opened where nothing was typed"
    (*_, collected) = outcome.fan_out.checkpoint.history
    cut = collected.result.get("cut", "") if isinstance(collected.result, dict) else ""
    assert ("evil.example" in cut and "`sites`" in cut) is bool(typed), "told where it was left out"


@pytest.mark.parametrize("error", [FormIncomplete, NothingWorks])
async def test_a_session_that_fails_after_that_says_what_stopped_it(error: type[AgentError]) -> None:
    failing = Does(GO, TYPE, then=error("the card was not taken"))
    outcome, _, _ = await run(work(goal="buy", data={"a": 1}), PAGES, policy=failing)
    assert outcome.status is Status.FAILED
    assert outcome.error is not None and (outcome.error.code, outcome.error.retryable) == ("site_refused", False)
    assert "evil.example" in outcome.error.message and "the card was not taken" in outcome.reason


async def test_what_passes_by_itself_is_still_tried_again() -> None:
    outcome, _, _ = await run(work(goal="buy", data={"a": 1}), PAGES, policy=Does(GO, TYPE, then=ServerBusy("later")))
    assert outcome.error is not None and outcome.error.code == "server_busy"


@pytest.mark.parametrize("away", [True, False])
async def test_a_form_that_sends_elsewhere_is_not_sent(away: bool) -> None:
    forms = ("https://collect.evil.example/",) if away else (URL,)
    page = FakePage(actions={"click 1": ""}, reaches={"click 1": Prospect((URL,), sends=True, forms=forms)})
    click = Action("click", {"bid": "1"}, submits=True)
    outcome, browser, notes = await run(work(goal="buy", data={"a": 1}), {URL: page}, policy=Does(click))
    assert len(browser.performed) == (0 if away else 1)
    assert marks(notes) == ([] if away else [f"click on {URL}", ""])
    assert outcome.status is Status.COMPLETED


@pytest.mark.parametrize("login", [{"url": AWAY, "steps": [{"press": "Enter"}]}, None])
async def test_a_login_s_own_site_is_one_of_the_job_s(login: Json) -> None:
    """The plain policy has nothing to do after it."""
    page = FakePage(actions={"keyboard_press Enter": URL, "fill 1": ""})
    asked = {"goal": "buy", "data": {"a": 1}} | ({"login": login} if login else {})
    outcome, browser, _ = await run(work(**asked), {**PAGES, AWAY: page}, policy=Does(GO, TYPE))
    performed = [action.name for action in browser.performed]
    assert performed == (["keyboard_press"] if login else ["goto"]), outcome.error
