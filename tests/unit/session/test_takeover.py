"""A person takes a session's page over: at the boundary of a step, by a lease, and what they do is marked like any
other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.browser import Context, FrameOptions
from shoal.agent.errors import ActionError, ActionRefused, PageCrashed
from shoal.agent.hooks import DialogAnswer, DialogAsked
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.policies.policy import SessionState
from shoal.agent.redaction.masking import HIDDEN
from shoal.agent.redaction.redactor import Redactor
from shoal.agent.sessions import session
from shoal.agent.sessions.attended import attendance
from shoal.agent.sessions.attended.attendance import Attendance, PageControl
from shoal.agent.sessions.attended.human_help import Question
from shoal.agent.sessions.attended.takeover import TAKEN_OVER, OrTakeover
from shoal.agent.sessions.tasks.person_task import BY_HAND
from shoal.agent.status import Status
from shoal.agent.types import Action, Outcome, Step
from tests.doubles import FakeBrowser, FakePage
from tests.patience import soon
from tests.unit.session.test_session import URL, Notes, deps, work
from tests.worker_world import EXTRACT, PlainPolicy

CLICK = Action("mouse_click", {"x": 5, "y": 6, "button": "left"})
TYPE = Action("keyboard_type", {"text": "4711-geheim"})


def says(n: int) -> Callable[[str, Any], Any]:
    """Return what a page gives on which nothing is pointed at, and whose record is `n`."""
    return lambda script, arg: None if "activeElement" in script else [] if "h1" in script else {"n": n}


PAGES = {
    URL: FakePage(
        read=says(7),
        actions={"mouse_click 5": f"{URL}open", "keyboard_type 4711-geheim": "", "click 1": ""},
    ),
    f"{URL}open": FakePage(read=says(8), actions={"keyboard_type 4711-geheim": "", "click 1": ""}),
}


async def until(met: Callable[[], bool]) -> None:
    async with soon(18):
        while not met():
            await asyncio.sleep(0.001)


class Comes(Attendance):
    """A person who asks for the page as soon as the session runs."""

    def begin(self, page: Context, hidden: Redactor, **more: Any) -> None:
        super().begin(page, hidden, **more)
        self.take("lease", "Ada")


async def led(
    do: Callable[[Attendance], Any], *, pages: dict[str, FakePage] = PAGES, policy: Any = None, **spec: Any
) -> tuple[Outcome, FakeBrowser, Notes]:
    """A session that a person takes over before its first plan, and what they do then."""
    people, browser, notes = Comes(), FakeBrowser(pages), Notes()
    more = {"policy": policy} if policy is not None else {}
    running = asyncio.create_task(
        session.run(work(**{"extract": EXTRACT, **spec}), deps(browser, notes, attendance=people, **more))
    )
    await until(lambda: people.standing.control is PageControl.PERSON)
    await do(people)
    return await running, browser, notes


async def test_what_a_person_does_are_steps_of_the_session() -> None:
    async def do(people: Attendance) -> None:
        assert (await people.act("lease", CLICK)).error is None
        assert (await people.act("lease", TYPE)).error is None
        people.hand_back("lease", "I have logged in", done=False)

    outcome, browser, notes = await led(do)
    assert (outcome.status, [record.value for record in outcome.records]) == (Status.COMPLETED, [{"n": 8}])
    by_hand = outcome.tasks[0]
    assert (by_hand.plan, by_hand.reason) == (
        BY_HAND,
        "Ada had taken the page over and handed it back: I have logged in",
    )
    clicked, typed, end = by_hand.steps
    assert clicked.results[0].effect.url == f"{URL}open"
    assert typed.results[0].action.args == {"text": HIDDEN}, "it may be a password"
    assert browser.performed[1].args == {"text": "4711-geheim"}
    assert end.thought == by_hand.reason
    assert "4711" not in repr(notes.checkpoints)


async def test_what_may_send_is_marked_though_the_job_only_reads() -> None:
    async def do(people: Attendance) -> None:
        await people.act("lease", CLICK)
        people.hand_back("lease", "", done=False)

    name = f"mouse_click on {URL}"
    _, _, notes = await led(do)
    durable = [known for known, durably in notes.checkpoints if durably]
    assert [(known.pending_action, known.confirmed) for known in durable] == [(name, ()), ("", (name,))]
    _, _, notes = await led(do, repeatable=True)
    assert not any(durably for _, durably in notes.checkpoints)


async def test_a_crash_behind_a_person_s_action_ends_unsure_and_is_not_repeated() -> None:
    async def do(people: Attendance) -> None:
        with pytest.raises(ActionRefused):
            await people.act("lease", CLICK)

    broken = {URL: FakePage(read=says(7), actions={"mouse_click 5": ""}, act_seconds=0)}
    people, notes = Comes(), Notes()
    browser = FakeBrowser(broken)
    running = asyncio.create_task(session.run(work(extract=EXTRACT), deps(browser, notes, attendance=people)))
    await until(lambda: people.standing.control is PageControl.PERSON)
    browser._break_nth, browser._error = browser.calls + 5, PageCrashed()  # after the mark, its snapshot, and two looks
    await do(people)
    outcome = await running
    assert outcome.status is Status.UNSURE
    assert outcome.error is not None and "mouse_click" in outcome.error.message
    pending = [known for known, durable in notes.checkpoints if durable][-1]
    again = FakeBrowser(broken)
    resumed = await session.run(replace(work(extract=EXTRACT), checkpoint=pending, attempt=2), deps(again, Notes()))
    assert (resumed.status, again.performed) == (Status.UNSURE, [])


async def test_a_takeover_ends_when_the_person_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attendance, "LEASE_S", 0.05)

    async def do(people: Attendance) -> None:
        """They say nothing any more."""

    outcome, _, _ = await led(do)
    assert outcome.status is Status.COMPLETED
    assert outcome.tasks[0].reason == "Ada had taken the page over and went away"


def field_in_focus(script: str, arg: Any) -> Any:
    """Return what a page gives whose only field has the focus, and whose record is 7."""
    if "arg.describe" in script:
        ways = [{"family": family, "value": "Code", "role": "textbox", "n": 1} for family in ("role_name", "css")]
        told = {"role": "textbox", "name": "Code", "ways": ways, "around": [], "box": [1, 2, 3, 4], "form": None}
        return json.dumps(told)
    if "activeElement" in script:
        field = {"kind": "field", "path": "html > input", "value": "4711-geheim", "checked": False, "many": False}
        return {**field, "long": False, "name": "code", "label": "Code"}
    return says(7)(script, arg)


@pytest.mark.parametrize("leaves", [False, True])
async def test_what_a_person_did_is_drafted_where_they_handed_the_page_back(
    leaves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if leaves:
        monkeypatch.setattr(attendance, "LEASE_S", 0.2)

    async def do(people: Attendance) -> None:
        assert (await people.act("lease", TYPE)).error is None
        if not leaves:
            people.hand_back("lease", "", done=False)

    pages = {URL: FakePage(read=field_in_focus, actions={"keyboard_type 4711-geheim": ""})}
    outcome, _, notes = await led(do, pages=pages)
    assert outcome.status is Status.COMPLETED
    assert ("workflow" in notes.kept) is not leaves


async def test_a_lease_that_has_run_out_is_good_for_nothing_by_whom_the_page_is_held_now() -> None:
    """A laptop that slept, or a proxy, brings back what a person did an hour ago."""
    people = Attendance()
    people.begin(await FakeBrowser(PAGES).new_context(), Redactor(), closed_to="", tasks=tuple)
    people.take("lease", "Ada")
    people._current_takeover("lease").heard -= 2 * attendance.LEASE_S
    for now in ("", "Eve"):
        if now == "Eve":
            people.take("other", now)
            with pytest.raises(ActionRefused, match="Eve has the page"):
                people.take("lease", "Ada")
        for late in (
            lambda: people.keep("lease"),
            lambda: people.hand_back("lease", "", done=True),
            lambda: people.answer("lease", DialogAnswer(True)),
        ):
            with pytest.raises(ActionRefused, match="is over"):
                late()
        with pytest.raises(ActionRefused, match="is over"):
            await people.act("lease", CLICK)
    people.keep("other")


async def test_one_person_leads_at_a_time_and_only_with_the_lease() -> None:
    async def do(people: Attendance) -> None:
        for refused in (
            lambda: people.take("other", "Eve"),
            lambda: people.keep("other"),
            lambda: people.hand_back("other", "", done=True),
            lambda: people.answer("other", DialogAnswer(True)),
        ):
            with pytest.raises(ActionRefused):
                refused()
        with pytest.raises(ActionRefused):
            await people.act("other", CLICK)
        with pytest.raises(ActionRefused, match="does not do"):
            await people.act("lease", Action("upload_file", {"bid": "1", "file": "/etc/passwd"}))
        people.keep("lease")
        people.hand_back("lease", "", done=False)

    _, browser, _ = await led(do)
    assert browser.performed == []


async def test_a_try_is_not_taken_over() -> None:
    people = Attendance()
    people.begin(await FakeBrowser(PAGES).new_context(), Redactor(), closed_to="a try sends nothing")
    with pytest.raises(ActionRefused, match="a try sends nothing"):
        people.take("lease", "Ada")


async def test_what_a_person_has_done_is_not_done_again() -> None:
    async def do(people: Attendance) -> None:
        people.hand_back("lease", "I have sent it", done=True)

    class Sends(PlainPolicy):
        async def plan(self, state: SessionState) -> Plan:
            plan = Plan(plan="send it", task_type="navigate")
            sent = any(task.plan == plan.plan for task in state.history)
            return Plan(thoughts="done", user_goal_achieved=True) if sent else plan

    outcome, browser, _ = await led(do, policy=Sends(), data={"a": 1}, goal="send", extract=None)
    assert outcome.status is Status.COMPLETED
    assert browser.performed == [], "the form was sent by hand"
    assert [task.reason for task in outcome.tasks if task.plan == "send it"] == [
        "Ada had taken the page over and handed it back: I have sent it"
    ]


async def test_the_agent_ends_its_step_before_a_person_leads() -> None:
    people, browser, notes = Attendance(), FakeBrowser(PAGES), Notes()
    deciding = asyncio.Event()
    seen: list[str] = []

    class Slow(PlainPolicy):
        async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
            if not steps:
                people.take("lease", "Ada")
                await deciding.wait()
            seen.append(" / ".join(step.thought for step in steps))
            return await super().step(state, goal, steps)

    job = work(data={"a": 1}, goal="send", repeatable=True)
    running = asyncio.create_task(session.run(job, deps(browser, notes, attendance=people, policy=Slow())))
    await until(lambda: people.standing.control is PageControl.ASKED)
    with pytest.raises(ActionRefused, match="ends its step"):
        await people.act("lease", CLICK)
    deciding.set()
    await until(lambda: people.standing.control is PageControl.PERSON)
    assert [action.name for action in browser.performed] == ["click"]
    await people.act("lease", TYPE)
    people.hand_back("lease", "", done=False)
    assert (await running).status is Status.COMPLETED
    assert seen == ["", "send / Ada did this by hand / Ada had taken the page over and handed it back"]


async def test_a_dialog_waits_for_the_person_who_leads() -> None:
    async def do(people: Attendance) -> None:
        asking = asyncio.create_task(people.answer_dialog(DialogAsked("confirm", "Sure?")))
        await until(lambda: people.standing.dialog == DialogAsked("confirm", "Sure?"))
        people.answer("lease", DialogAnswer(False))
        assert await asking == DialogAnswer(False)
        assert people.standing.dialog is None
        people.hand_back("lease", "", done=False)

    await led(do)
    assert await Attendance().answer_dialog(DialogAsked("alert", "x")) is None, "no person leads"


async def test_a_dialog_is_shown_without_secrets() -> None:
    async def do(people: Attendance) -> None:
        people._hidden.learn("<secret:password>", "hunter2secret")
        asked = DialogAsked("prompt", "Is hunter2secret right?", "hunter2secret")
        asking = asyncio.create_task(people.answer_dialog(asked))
        await until(lambda: people.standing.dialog is not None)
        shown = people.standing.dialog
        people.answer("lease", DialogAnswer(False))
        await asking
        people.hand_back("lease", "", done=False)
        assert shown == DialogAsked("prompt", "Is <secret:password> right?", "<secret:password>")

    await led(do)


@pytest.mark.parametrize(("kind", "error"), [("captcha", None), ("question", None), ("code", ActionError)])
async def test_a_person_who_comes_answers_what_was_asked(kind: Any, error: type[Exception] | None) -> None:
    people = Attendance()
    people.begin(await FakeBrowser(PAGES).new_context(), Redactor())

    async def silent(question: Question) -> str:
        await asyncio.sleep(60)
        return ""

    asking = asyncio.create_task(OrTakeover(silent, people)(Question(kind, "?", URL, 60)))
    await asyncio.sleep(0)
    people.take("lease", "Ada")
    if error is None:
        assert await asking == TAKEN_OVER
    else:
        with pytest.raises(error):
            await asking


async def test_no_picture_is_given_while_the_page_may_show_a_secret() -> None:
    shows = False
    page = await FakeBrowser(
        {URL: FakePage(read=lambda script, arg: ["PIN 1234" if shows else "nothing"])}
    ).new_context()
    await page.goto(URL)
    hidden = Redactor()
    people = Attendance()
    people.begin(page, hidden)
    given = 0

    async def look() -> None:
        nonlocal given
        async for _ in people.frames(FrameOptions(per_s=1000)):
            given += 1

    looking = asyncio.create_task(look())
    await until(lambda: given > 3)
    with people.filling(True):
        hidden.learn("secret:pin", "1234")
        await until(lambda: people.standing.withheld)
        shows = True
        before = given
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.05)
    assert given == before, "the page shows it still"
    shows = False
    await until(lambda: given > before and not people.standing.withheld)
    looking.cancel()
