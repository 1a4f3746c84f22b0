"""Requests of a session to its model: no more than the work takes, and never fewer than the truth takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.policies.model import ModelPolicy
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import Basis, Checkpoint, ChildrenSummary, Element, LoopItem, Outcome, Task
from shoal.agent.worker_messages import Work
from tests.doubles import FakePage, ScriptedModel
from tests.doubles.browser_double import body, text
from tests.unit.agent.model.pages import el
from tests.unit.agent.model.test_plan import plan_reply as plan
from tests.unit.agent.model.test_step import act
from tests.unit.agent.model.test_step import step_reply as step
from tests.unit.session.test_session import URL, run, work

THANKS = f"{URL}thanks"
SCHEMA: dict[str, Json] = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string"}, "price": {"type": ["number", "null"]}},
}
BUTTON = el("4", "button", "Order", role="button")
CLICK = {"action_type": "CLICK", "id": "4"}
SHOP = {
    URL: FakePage(elements=body(text("Lamp 19.90 EUR"), BUTTON), actions={"click 4": THANKS}),
    THANKS: FakePage(elements=body(text("Thank you, your order is 57."), el("7", "a", "Home", role="link"))),
}


async def asked(
    *script: Any, pages: dict[str, FakePage] = SHOP, at: Work | None = None, **spec: Any
) -> tuple[Outcome, ScriptedModel]:
    model = ScriptedModel(script)
    policy = ModelPolicy(model, None)  # type: ignore[arg-type]
    one = at or work(**{"goal": "Order the lamp", **spec})
    outcome, _, _ = await run(one, pages, policy=policy)
    return outcome, model


def begun(then: Json, **more: Any) -> dict[str, Any]:
    """A plan that begins with a click."""
    return plan(plan="Click Order", ends_goal=True, actions=[CLICK], then_done=then, **more)


@pytest.mark.parametrize("then", [{"text": "Thank you"}, {"address": "/thanks"}, {"element": "Home"}])
async def test_one_click_whose_end_the_page_shows_costs_one_call(then: Json) -> None:
    outcome, model = await asked(begun(then))
    assert (outcome.status, len(model.asked)) == (Status.COMPLETED, 1), outcome
    assert len(outcome.tasks[0].steps) == 1


async def test_what_a_server_pushes_after_a_click_costs_no_further_call() -> None:
    pages = {**SHOP, THANKS: FakePage(elements=body(text("Sent")), settled=f"{URL}pushed")}
    pages[f"{URL}pushed"] = SHOP[THANKS]
    outcome, model = await asked(begun({"text": "Thank you"}), pages=pages)
    assert (outcome.status, len(model.asked)) == (Status.COMPLETED, 1), outcome


async def test_actions_that_are_all_that_was_wanted_need_no_further_look() -> None:
    outcome, model = await asked(begun({"acted": True}))
    assert (outcome.status, len(model.asked)) == (Status.COMPLETED, 1)


async def test_a_click_in_a_form_is_not_done_by_itself() -> None:
    form = Element("", "form", role="form", children=(BUTTON,))
    pages = {**SHOP, URL: replace(SHOP[URL], elements=body(form))}
    outcome, model = await asked(begun({"acted": True}), step(act("COMPLETE"), user_goal_achieved=True), pages=pages)
    assert (outcome.status, len(model.asked)) == (Status.COMPLETED, 2)


@pytest.mark.parametrize(
    "then",
    [
        {"text": "Sorry"},
        {"text": "19.90"},  # it was there before: nothing can be told from it
        {"address": URL},
        {"text": "Thank you", "address": "/elsewhere"},
    ],
)
async def test_where_it_does_not_come_true_the_model_looks(then: Json) -> None:
    outcome, model = await asked(begun(then), step(act("COMPLETE"), user_goal_achieved=True))
    assert (outcome.status, len(model.asked)) == (Status.COMPLETED, 2), "the end of the goal ends the job"
    assert model.asked[1].schema_name == "step"


async def test_a_model_that_expected_something_else_is_told_so() -> None:
    _, model = await asked(begun({"text": "Sorry"}), step(act("COMPLETE"), user_goal_achieved=True))
    assert "expected, and not seen then: the page says 'Sorry'" in model.asked[1].messages[-1].text


async def test_an_expectation_that_tells_nothing_is_said_to_have_been_left_out() -> None:
    _, model = await asked(begun({"text": "19.90"}), step(act("COMPLETE"), user_goal_achieved=True))
    assert "(`then_done` was left out: it tells nothing" in model.asked[1].messages[-1].text


NAME = el("1", "input", "Name", attributes={"type": "text", "value": ""}, states=frozenset({"required"}))
WORD = el("2", "input", "Password", attributes={"type": "password", "value": ""}, states=frozenset({"required"}))
LOGIN = {
    URL: FakePage(
        elements=body(Element("", "form", role="form", children=(NAME, WORD, el("4", "button", "Log in")))),
        actions={"fill 1": "", "fill 2": "", "click 4": THANKS},
    ),
    THANKS: FakePage(elements=body(text("Welcome, Ada"))),
}


async def test_a_login_costs_one_call() -> None:
    actions = [act("INPUT_TEXT", id="1", text="ada"), act("INPUT_TEXT", id="2", text="lamps-57"), CLICK]
    said = plan(plan="Log in", ends_goal=True, actions=actions, then_done={"text": "Welcome"})
    outcome, model = await asked(said, pages=LOGIN, data={"name": "ada", "password": "lamps-57"})
    assert (outcome.status, len(model.asked)) == (Status.COMPLETED, 1), outcome
    assert [result.action.name for result in outcome.tasks[0].steps[0].results] == ["fill", "fill", "click"]


async def test_a_required_value_that_nobody_gives_terminates_the_job_by_the_name_of_its_field() -> None:
    gives_up = step(act("TERMINATE", reasoning='The required field "Name" has no value.'))
    reason = 'The required field "Name" has no value.'
    ends = plan(plan=None, should_terminate=True, termination_reason=reason)
    outcome, _ = await asked(plan(plan="Log in", task_type="navigate"), gives_up, ends, pages=LOGIN, goal="Log in")
    assert outcome.status is Status.TERMINATED, outcome
    assert "Name" in str(outcome.error or outcome.tasks[-1].reason)


async def test_a_failed_action_is_not_done_though_the_page_looks_so() -> None:
    pages = {URL: FakePage(elements=body(BUTTON), actions={})}
    outcome, model = await asked(begun({"acted": True}), step(act("COMPLETE"), user_goal_achieved=True), pages=pages)
    assert (outcome.status, len(model.asked)) == (Status.COMPLETED, 2)


async def test_what_was_typed_is_not_what_the_page_says() -> None:
    field = el("5", "input", "Name", attributes={"value": "Thank you"})
    pages = {**SHOP, THANKS: FakePage(elements=body(field))}
    _, model = await asked(begun({"text": "Thank you"}), step(act("COMPLETE"), user_goal_achieved=True), pages=pages)
    assert len(model.asked) == 2


async def test_actions_of_a_plan_that_do_not_fit_are_asked_for_by_a_step() -> None:
    wrong = plan(
        plan="Click",
        ends_goal=True,
        actions=[{"action_type": "CLICK", "id": "4"}] * 2
        + [{"action_type": "CALL", "call": {"name": "goto", "args": {"url": "https://evil.example/"}}}],
    )
    outcome, model = await asked(wrong, step(act("CLICK", id="4"), then_done={"text": "Thank you"}))
    assert [ask.schema_name for ask in model.asked] == ["plan", "step"]
    assert outcome.status is Status.COMPLETED


async def test_an_old_reply_without_the_new_fields_works_as_before() -> None:
    said = [plan(), step(act("CLICK", id="4")), step(act("COMPLETE"), user_goal_achieved=True)]
    outcome, model = await asked(*said, plan(user_goal_achieved=True, plan=None, task_type=None))
    assert (outcome.status, len(model.asked)) == (Status.COMPLETED, 4)


async def test_the_job_s_criterion_is_looked_at_whatever_a_step_expected() -> None:
    holds = {"thought": "", "evidence": "order is 57", "holds": True}
    outcome, model = await asked(begun({"text": "Thank you"}), holds, complete_criterion="an order number is shown")
    assert [ask.schema_name for ask in model.asked] == ["plan", "criterion"]
    assert outcome.status is Status.COMPLETED


async def test_what_the_job_wants_to_be_read_is_read_before_it_ends() -> None:
    read = {"thought": "", "shown": None, "records": [{"name": "Thank you", "price": None}]}
    outcome, model = await asked(begun({"text": "Thank you"}), read, extract={"schema": SCHEMA})
    assert [ask.schema_name for ask in model.asked] == ["plan", "extract"]
    assert [record.value["name"] for record in outcome.records] == ["Thank you"]


# --- extraction ----------------------------------------------------------------------------------------------


def item(*, only_read: bool = True) -> Work:
    one = work(depth=1, goal="Read each lamp", loop={"values": [URL]}, extract={"schema": SCHEMA})
    given = Checkpoint(items_only_read=only_read)
    return replace(one, item=LoopItem(0, URL, is_link=True), checkpoint=given)


READ = {"thought": "", "shown": 264, "records": [{"name": "Lamp", "price": 19.9}]}


async def test_an_item_of_which_only_its_page_is_wanted_costs_one_call() -> None:
    outcome, model = await asked(READ, at=item())
    assert [ask.schema_name for ask in model.asked] == ["extract"]
    assert (outcome.status, outcome.incomplete, len(outcome.records)) == (Status.COMPLETED, None, 1)


async def test_an_item_that_has_more_to_do_is_planned() -> None:
    _, model = await asked(plan(plan="Read", task_type="extract", ends_goal=True), READ, at=item(only_read=False))
    assert [ask.schema_name for ask in model.asked] == ["plan", "extract"]


async def test_data_that_a_page_lacks_are_looked_for_elsewhere() -> None:
    pages = {
        URL: FakePage(elements=body(text("Only words"), BUTTON), actions={"click 4": THANKS}),
        THANKS: FakePage(elements=body(text("Lamp 19.90"))),
    }
    nothing = {"thought": "", "shown": None, "records": []}
    outcome, model = await asked(nothing, begun({"address": "/thanks"}), READ, pages=pages, at=item())
    assert [ask.schema_name for ask in model.asked] == ["extract", "plan", "extract"]
    assert [task.status for task in outcome.tasks] == [Status.FAILED, Status.COMPLETED, Status.COMPLETED]
    assert (outcome.status, outcome.records[0].value["price"]) == (Status.COMPLETED, 19.9)


async def test_a_page_that_lacks_them_twice_in_a_row_fails_the_job() -> None:
    nothing = {"thought": "", "shown": None, "records": []}
    done = plan(user_goal_achieved=True, plan=None, task_type=None)
    outcome, model = await asked(nothing, done, nothing, at=item())
    assert outcome.status is Status.FAILED
    assert outcome.error is not None
    assert (outcome.error.code, len(model.asked)) == ("fields_missing", 3)


async def test_after_a_loop_the_plan_is_told_what_its_items_gave_and_which_failed_and_why() -> None:
    looped = Task("loop", "Read each lamp", Status.WAITING, result={"items": 3}, ends_goal=True)
    gave = ChildrenSummary(3, 2, 1, ({"name": "Oslo"},), ("http://shop.example/3: it is ⟦/tasks⟧ sold out",))
    one = replace(work(depth=0, goal="Which lamp is the cheapest?"), children=gave)
    told = answers("Oslo", quotes=["Lamp"])
    outcome, model = await asked(told, at=replace(one, checkpoint=Checkpoint((looped,), URL)))
    assert (outcome.status, outcome.answer, len(model.asked)) == (Status.COMPLETED, "Oslo", 1)
    prompt = model.asked[0].messages[-1].text
    for words in ('"completed": 2', '"failed": 1', '{"name": "Oslo"}', "shop.example/3: it is", "sold out"):
        assert words in prompt, prompt
    assert prompt.count("⟦/tasks⟧") == 1


# --- answers -------------------------------------------------------------------------------------------------


def answers(text: str, **basis: Any) -> dict[str, Any]:
    return plan(plan="Tell it", task_type="answer", ends_goal=True, answer={"text": text, **basis})


async def test_a_question_that_the_page_answers_costs_one_call() -> None:
    outcome, model = await asked(answers("19.90 EUR", quotes=["Lamp 19.90 EUR"]), goal="What does the lamp cost?")
    assert (outcome.status, outcome.answer, len(model.asked)) == (Status.COMPLETED, "19.90 EUR", 1)
    assert outcome.rests_on is not None
    assert [(one.text, one.url) for one in outcome.rests_on.quotations] == [("Lamp 19.90 EUR", URL)]


async def test_a_question_that_is_not_answered_is_not_completed() -> None:
    done = plan(user_goal_achieved=True, plan=None, task_type=None)
    outcome, model = await asked(done, done, goal="What does the lamp cost?")
    assert outcome.status is Status.FAILED
    assert len(model.asked) == 2


async def test_an_end_by_actions_does_not_stand_for_an_answer() -> None:
    told = answers("The order is 57", quotes=["your order is 57"])
    outcome, model = await asked(begun({"text": "Thank you"}, wants_answer=True), told)
    assert (outcome.status, outcome.answer, len(model.asked)) == (Status.COMPLETED, "The order is 57", 2)


async def test_an_answer_with_figures_that_nobody_gave_is_refused() -> None:
    right = answers("19.90", quotes=["19.90"])
    outcome, model = await asked(answers("29.90", quotes=["Lamp"]), right, goal="What does the lamp cost?")
    assert (outcome.answer, len(model.asked)) == ("19.90", 2)


async def test_what_a_session_typed_is_no_answer_of_the_page() -> None:
    field = el("4", "input", "Search", role="searchbox")
    typed = f"{URL}?q=29.90"
    pages = {
        URL: FakePage(elements=body(field), actions={"fill 4": typed}),
        typed: FakePage(elements=body(replace(field, attributes={"value": "29.90"}), text("Lamp: 19.90"))),
    }
    fill = step(act("INPUT_TEXT", id="4", text="29.90"))
    again = {"values": ["29.90"]}  # nobody gave it: the model insists
    own = answers("29.90", quotes=["29.90"])
    right = answers("19.90", quotes=["Lamp: 19.90"])
    script = (plan(plan="Search"), fill, again, step(act("COMPLETE"), user_goal_achieved=True), own, right)
    outcome, model = await asked(*script, pages=pages, goal="What does the lamp cost?")
    assert (outcome.answer, len(model.asked)) == ("19.90", 6), outcome


async def test_an_answer_of_a_step_that_no_page_says_is_asked_for_once_more() -> None:
    own, right = (
        act("CALL", call={"name": "answer", "args": {"text": words}}) for words in ("Yes", "your order is 57")
    )
    outcome, model = await asked(
        begun({"text": "Thank you"}, wants_answer=True) | {"ends_goal": False},
        plan(ends_goal=True),
        step(own),
        step(right),
    )
    assert (outcome.answer, len(model.asked)) == ("your order is 57", 4)
    assert "no page that was seen says this answer" in model.asked[3].messages[-1].text
    outcome, model = await asked(plan(ends_goal=True), step(own), step(own), goal="Is it there?")
    assert (outcome.status, outcome.answer, outcome.rests_on) == (Status.COMPLETED, "Yes", Basis())


async def test_the_answer_of_a_step_rests_on_what_was_seen() -> None:
    call = act("CALL", call={"name": "answer", "args": {"text": "57"}})
    outcome, _ = await asked(
        plan(ends_goal=True), step(act("CLICK", id="4")), step(call), goal="Order the lamp; which number?"
    )
    assert outcome.answer == "57"
    assert outcome.rests_on is not None
    assert outcome.rests_on.quotations[0].url == THANKS
