"""Fields that hold what was typed though what they send is chosen: their forms are not sent, and the job says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from shoal.agent.actions.primitives.options import _listed, _option_text
from shoal.agent.errors import FormIncomplete
from shoal.agent.redaction.redactor import Redactor
from shoal.agent.status import Status
from shoal.agent.support.sites.prospect import Prospect, Unchosen
from shoal.agent.types import Action
from tests.doubles import FakePage
from tests.doubles.browser_double import body
from tests.unit.session.test_off_site import AWAY, LINK, Does
from tests.unit.session.test_once import marks
from tests.unit.session.test_session import URL, run, work

TYPE = Action("fill", {"bid": "1", "value": "Zug"})
OTHER = Action("fill", {"bid": "3", "value": "Ann"})
OPEN = (Unchosen('combobox "Town"', "Zug", ("Bern", "Basel")),)
LONG = "k" + "".join(chr(97 + number * 7 % 26) for number in range(79))
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


async def test_a_script_s_button_is_refused_though_actions_may_be_repeated() -> None:
    send = SENDS["a script's button"]
    shown = page(send, unchosen=OPEN)
    outcome, browser, _ = await run(
        work(goal="move", data={"a": 1}, repeatable=True), {URL: shown}, policy=Does(TYPE, send)
    )
    assert [action.name for action in browser.performed] == ["fill"]
    assert outcome.error is not None and outcome.error.code == "form_incomplete"


@pytest.mark.parametrize(
    "quiet",
    [
        Action("mouse_click", {"x": 1, "y": 2}),
        Action("drag_and_drop", {"from_bid": "1", "to_bid": "2"}),
        Action("press", {"bid": "1", "key_comb": "a"}),
        Action("click", {"bid": "9"}),
    ],
    ids=lambda action: action.name,
)
async def test_what_presses_no_button_and_no_enter_is_not_refused(quiet: Action) -> None:
    key = f"{quiet.name} {next(iter(quiet.args.values()))}"
    reaches = {key: Prospect((URL,), field=True, forms=(URL,), unchosen=OPEN)}
    shown = FakePage(actions={"fill 1": "", key: ""}, reaches=reaches)
    outcome, browser, _ = await run(work(goal="move", data={"a": 1}), {URL: shown}, policy=Does(TYPE, quiet))
    assert [action.name for action in browser.performed] == ["fill", quiet.name]
    assert outcome.status is Status.COMPLETED


async def test_a_form_that_was_left_behind_does_not_fail_what_was_done_since() -> None:
    send, leave = SENDS["a form's button"], Action("goto", {"url": AWAY})
    shown = page(send, unchosen=OPEN)
    shown = replace(shown, actions={**shown.actions, f"goto {AWAY}": AWAY}, elements=body(LINK))
    outcome, browser, _ = await run(
        work(goal="move", data={"a": 1}), {URL: shown, AWAY: FakePage()}, policy=Does(TYPE, send, leave)
    )
    assert [action.name for action in browser.performed] == ["fill", "goto"]
    assert outcome.status is Status.COMPLETED, outcome.error


HELD = Prospect((URL,), field=True, sends=True, forms=(URL,), unchosen=OPEN, guarded=("1 of a", "2 of a"))


@pytest.mark.parametrize(
    ("reached", "status"),
    [
        (Prospect((URL,), presses=True), Status.FAILED),
        (Prospect((URL,), sends=True, forms=(URL,), guarded=("3 of a",)), Status.FAILED),
        (Prospect((URL,), sends=True, forms=(URL,), guarded=("1 of a",)), Status.FAILED),
        (Prospect((URL,), sends=True, forms=(URL,), guarded=("1 of a", "2 of a")), Status.COMPLETED),
    ],
    ids=["another button", "another form", "one of two", "the same form"],
)
async def test_a_form_is_sent_by_its_own_button_alone(reached: Prospect, status: Status) -> None:
    shown = FakePage(
        actions={"fill 1": "", "click 2": "", "click 7": ""}, reaches={"click 2": HELD, "click 7": reached}
    )
    other = Action("click", {"bid": "7"})
    outcome, browser, _ = await run(
        work(goal="move", data={"a": 1}), {URL: shown}, policy=Does(TYPE, SENDS["a form's button"], other)
    )
    assert outcome.status is status
    assert [action.args["bid"] for action in browser.performed] == ["1", "7"], (
        "it is done, and tells nothing of the form"
    )


@pytest.mark.parametrize(
    ("action", "to"),
    [(Action("click", {"bid": "9"}), f"{URL}#help"), (Action("tab_focus", {"index": 1}), AWAY)],
    ids=["a place of the same page", "another tab"],
)
async def test_a_form_is_not_left_behind_by_what_leaves_its_document_open(action: Action, to: str) -> None:
    key = f"{action.name} {next(iter(action.args.values()))}"
    shown = FakePage(actions={"fill 1": "", "click 2": "", key: to}, reaches={"click 2": HELD})
    further = Action("click", {"bid": "8"})
    there = FakePage(actions={"click 8": f"{AWAY}/next"})
    outcome, browser, _ = await run(
        work(goal="move", data={"a": 1}),
        {URL: shown, to: there, f"{AWAY}/next": FakePage()},
        policy=Does(TYPE, SENDS["a form's button"], action, *([further] if to == AWAY else [])),
    )
    assert [done.name for done in browser.performed][1] == action.name
    assert outcome.error is not None and outcome.error.code == "form_incomplete"


async def test_what_is_told_of_a_form_hides_secrets_and_is_bounded() -> None:
    send = SENDS["a form's button"]
    many = tuple(Unchosen(f'combobox "Town {number}"', "tops3cret-9", ("Bern",)) for number in range(50))
    outcome, *_ = await run(
        work(goal="move", data={"password": "tops3cret-9"}),
        {URL: page(send, unchosen=many)},
        policy=Does(TYPE, send),
    )
    assert outcome.error is not None and "tops3cret" not in outcome.error.message
    assert "45 more fields" in outcome.error.message and len(outcome.error.message) < 1000


async def test_a_secret_that_is_longer_than_what_is_told_of_a_field_is_hidden_whole() -> None:
    send = SENDS["a form's button"]
    held = (Unchosen(f'combobox "{LONG}"', LONG, (LONG, f"Add {LONG}")),)
    outcome, *_ = await run(
        work(goal="move", data={"password": LONG}), {URL: page(send, unchosen=held)}, policy=Does(TYPE, send)
    )
    assert outcome.error is not None and LONG[:8] not in outcome.error.message, outcome.error.message
    assert "which is none of its options" in outcome.error.message


@pytest.mark.parametrize(
    "of_what", [_option_text, lambda item: _listed([item])], ids=["what was asked for", "what there is"]
)
def test_no_part_of_an_option_is_told_that_could_be_a_part_of_a_secret(of_what: Callable[[str], str]) -> None:
    redactor = Redactor()
    redactor.learn("secret:key", LONG)
    assert "secret:key" in redactor.sentence(of_what(LONG))
    assert len(of_what(LONG * 5)) < 40 and LONG[:8] not in of_what(LONG * 5)


@pytest.mark.parametrize("way", SENDS)
async def test_a_form_whose_options_were_chosen_is_sent(way: str) -> None:
    send = SENDS[way]
    outcome, browser, _ = await run(
        work(goal="move", data={"a": 1}), {URL: page(send, unchosen=())}, policy=Does(TYPE, send)
    )
    assert outcome.status is Status.COMPLETED
    assert [action.name for action in browser.performed] == ["fill", send.name]


KEPT = (replace(OPEN[0], kept=True),)


async def test_a_form_whose_fields_kept_their_texts_is_sent_as_far_as_what_goes_out_holds_them() -> None:
    send = SENDS["a form's button"]
    shown = page(send, unchosen=KEPT)
    outcome, browser, _ = await run(work(goal="move", data={"a": 1}), {URL: shown}, policy=Does(TYPE, send))
    assert outcome.status is Status.COMPLETED
    assert browser.proving == {"click": KEPT}, "nothing has to be proven of what sends nothing"
    shown = replace(shown, refuses=FormIncomplete("what was about to be sent did not hold it"))
    outcome, *_ = await run(work(goal="move", data={"a": 1}), {URL: shown}, policy=Does(TYPE, send))
    assert outcome.error is not None and "did not hold it" in outcome.error.message


async def test_a_field_that_let_go_of_its_text_is_told_with_what_it_holds() -> None:
    send = SENDS["a form's button"]
    shown = page(send, unchosen=(*KEPT, replace(OPEN[0], holds="Bern")))
    outcome, browser, _ = await run(work(goal="move", data={"a": 1}), {URL: shown}, policy=Does(TYPE, send))
    assert [action.name for action in browser.performed] == ["fill"]
    assert outcome.error is not None and "let go of 'Zug' and holds 'Bern'" in outcome.error.message
