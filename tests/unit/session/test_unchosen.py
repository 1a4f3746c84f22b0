"""Fields that hold what was typed though what they send is chosen: their forms are not sent, and the job says so."""

from __future__ import annotations

import pytest

from shoal.agent.status import Status
from shoal.agent.support.sites.prospect import Prospect, Unchosen
from shoal.agent.types import Action
from tests.doubles import FakePage
from tests.unit.session.test_off_site import Does
from tests.unit.session.test_once import marks
from tests.unit.session.test_session import URL, run, work

TYPE = Action("fill", {"bid": "1", "value": "Zug"})
OTHER = Action("fill", {"bid": "3", "value": "Ann"})
OPEN = (Unchosen('combobox "Town"', "Zug", ("Bern", "Basel")),)
SENDS = {
    "a form's button": Action("click", {"bid": "2"}),
    "a script's button": Action("click", {"bid": "4"}),
    "Enter": Action("press", {"bid": "1", "key_comb": "Enter"}),
}


def page(send: Action, *, unchosen: tuple[Unchosen, ...]) -> FakePage:
    key = f"{send.name} {send.args['bid']}"
    sends, presses = key == "click 2", key == "click 4"
    reaches = {key: Prospect((URL,), field=True, sends=sends, presses=presses, forms=(URL,), unchosen=unchosen)}
    typing = Prospect((URL,), field=True, forms=(URL,), unchosen=unchosen)
    return FakePage(actions={"fill 1": "", "fill 3": "", key: ""}, reaches=reaches | {"fill 3": typing})


@pytest.mark.parametrize("way", SENDS)
async def test_a_form_whose_text_is_no_option_is_not_sent_and_the_job_says_which(way: str) -> None:
    send = SENDS[way]
    policy = Does(TYPE, OTHER, send)
    outcome, browser, notes = await run(
        work(goal="move", data={"a": 1}), {URL: page(send, unchosen=OPEN)}, policy=policy
    )
    assert [action.name for action in browser.performed] == ["fill", "fill"]
    assert outcome.status is Status.FAILED and outcome.error is not None
    assert outcome.error.code == "form_incomplete", "though the policy called it done"
    assert "combobox \"Town\" holds 'Zug'" in outcome.error.message
    assert "there are: Bern, Basel" in outcome.error.message
    assert not any(mark.startswith(send.name) for mark in marks(notes)), "what is not done needs no mark"


@pytest.mark.parametrize("way", SENDS)
async def test_a_form_whose_options_were_chosen_is_sent(way: str) -> None:
    send = SENDS[way]
    outcome, browser, _ = await run(
        work(goal="move", data={"a": 1}), {URL: page(send, unchosen=())}, policy=Does(TYPE, send)
    )
    assert outcome.status is Status.COMPLETED
    assert [action.name for action in browser.performed] == ["fill", send.name]
