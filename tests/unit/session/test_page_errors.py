"""Errors of pages as steps and outcomes carry them: few, short, and without secrets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shoal.agent.errors import ElementMissing
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.policies.policy import SessionState
from shoal.agent.redaction.masking import HIDDEN
from shoal.agent.sessions import session
from shoal.agent.sessions.page_errors import redacted_errors
from shoal.agent.status import Status
from shoal.agent.types import Action, Outcome, PageError, PageErrors, Step
from tests.doubles import FakeBrowser, FakePage
from tests.unit.session.test_session import URL, Notes, deps, work
from tests.worker_world import PlainPolicy

SECRET = "tops3cret-Word"
CAME = PageErrors((PageError("console", f"refused: {SECRET}", "https://shop.example/a.js:7", 2),), 3)
LATE = PageErrors((PageError("network", "net::ERR_FAILED", f"https://shop.example/?p={SECRET}"),))


class Scrolls(PlainPolicy):
    """Scrolls once and is done, or breaks off; meanwhile pages tell errors."""

    def __init__(self, browser: FakeBrowser, *, breaks: bool = False) -> None:
        self.browser, self.breaks = browser, breaks

    async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
        if not steps:
            self.browser.page_errors = CAME
            return StepDecision("look", (Action("scroll", {"dx": 0, "dy": 1}),))
        if self.breaks:
            self.browser.page_errors = LATE
            raise ElementMissing("gone")
        return StepDecision("done", (Action("complete"),))


async def ran(*, breaks: bool) -> Outcome:
    browser = FakeBrowser({URL: FakePage()})
    policy = Scrolls(browser, breaks=breaks)
    one = work(goal="look", data={"password": SECRET})
    return await session.run(one, replace(deps(browser, Notes()), policy=policy))


async def test_a_step_carries_what_came_until_it_ended_and_the_next_one_only_what_is_new() -> None:
    outcome = await ran(breaks=False)
    assert outcome.status is Status.COMPLETED
    first, second = outcome.tasks[0].steps
    assert first.page_errors == PageErrors((replace(CAME.told[0], text=f"refused: {HIDDEN}"),), 3)
    assert second.page_errors == outcome.page_errors == PageErrors()


async def test_what_came_after_the_last_step_is_the_session_s() -> None:
    outcome = await ran(breaks=True)
    assert outcome.status is Status.FAILED
    assert outcome.tasks[0].steps[0].page_errors.left_out == 3
    assert outcome.page_errors == PageErrors((replace(LATE.told[0], where=f"https://shop.example/?p={HIDDEN}"),))


def test_few_and_short_ones_are_kept_and_the_others_counted() -> None:
    many = PageErrors(tuple(PageError("console", f"{n} {'x' * 400}", times=2) for n in range(30)), 5)
    told = redacted_errors(many, str, 200)
    assert (len(told.told), told.left_out) == (20, 5 + 2 * 10)
    assert {len(one.text) for one in told.told} == {300}
    assert redacted_errors(many, str, 3).told == told.told[:3]
    assert redacted_errors(many, str, 0) == PageErrors((), 65)


def test_a_secret_is_hidden_before_a_text_is_clipped() -> None:
    came = PageErrors((PageError("console", "x" * 295 + SECRET),))
    (one,) = redacted_errors(came, lambda text: text.replace(SECRET, HIDDEN), 200).told
    assert one.text == "x" * 295 + HIDDEN[:4] + "…"
