"""A session that waits for a person, who shows what is to be done; a workflow is drafted of it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from shoal.agent.sessions import session
from shoal.agent.sessions.attended.attendance import Attendance, PageControl
from shoal.agent.sessions.attended.human_help import Question
from shoal.agent.sessions.attended.shown import ASKED
from shoal.agent.status import Status
from shoal.agent.types import Action, Outcome
from tests.doubles import FakeBrowser, FakePage
from tests.unit.session.test_session import URL, Notes, deps, work
from tests.unit.session.test_takeover import until

SPEC: dict[str, Any] = {"policy": "person", "goal": None, "help": {"person": True}}


def read(script: str, arg: Any) -> Any:
    """A page whose field has the focus."""
    if "arg.describe" in script:
        ways = [{"family": family, "value": "Name", "role": "textbox", "n": 1} for family in ("role_name", "css")]
        told = {"role": "textbox", "name": "Name", "ways": ways, "around": [], "box": [1, 2, 3, 4], "form": None}
        return json.dumps(told)
    if "activeElement" in script:
        field = {"kind": "field", "path": "html > input", "value": "Ada", "checked": False, "many": False}
        return {**field, "long": False, "name": "who", "label": "Name"}
    return ["The desk"]


class People:
    """Who is asked, and takes the page over or answers in words."""

    def __init__(self, attendance: Attendance, answer: str | None = None) -> None:
        self.attendance = attendance
        self.answer = answer
        self.asked: list[str] = []

    async def __call__(self, question: Question) -> str:
        self.asked.append(question.text)
        if self.answer is not None:
            return self.answer
        await asyncio.Event().wait()
        return ""


async def ended(people: People, do: Any) -> tuple[Outcome, Notes]:
    page = FakePage(read=read, actions={"keyboard_type Ada": ""})
    notes = Notes()
    given = deps(FakeBrowser({URL: page}), notes, attendance=people.attendance, helper=people)
    running = asyncio.create_task(session.run(work(**SPEC), given))
    await do(people)
    return await running, notes


async def shows(people: People) -> None:
    await until(lambda: people.asked != [])
    people.attendance.take("lease", "Ada")
    await until(lambda: people.attendance.standing.control is PageControl.PERSON)
    await people.attendance.act("lease", Action("keyboard_type", {"text": "Ada"}))
    people.attendance.hand_back("lease", "that was it", done=False)


async def test_what_a_person_shows_is_drafted_and_they_are_asked_to_come() -> None:
    people = People(Attendance())
    outcome, notes = await ended(people, shows)
    assert people.asked == [ASKED]
    assert (outcome.status, outcome.reason) == (
        Status.COMPLETED,
        "Ada had taken the page over and handed it back: that was it",
    )
    assert notes.kept[-1] == "workflow"


async def test_an_answer_in_words_shows_nothing() -> None:
    async def nothing(people: People) -> None:
        await until(lambda: people.asked != [])

    outcome, notes = await ended(People(Attendance(), "I cannot"), nothing)
    assert outcome.status is Status.TERMINATED
    assert "workflow" not in notes.kept


async def test_a_person_who_hands_back_at_once_has_shown_nothing_and_it_is_said() -> None:
    async def leaves(people: People) -> None:
        await until(lambda: people.asked != [])
        people.attendance.take("lease", "Ada")
        await until(lambda: people.attendance.standing.control is PageControl.PERSON)
        people.attendance.hand_back("lease", "", done=False)

    outcome, notes = await ended(People(Attendance()), leaves)
    assert outcome.status is Status.COMPLETED
    assert "no workflow: the runs: they did nothing and read nothing" in outcome.reason
    assert "workflow" not in notes.kept
