"""Details into fields, and what a site's answer means, on plain records."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.agent.error_info import ErrorInfo
from shoal.agent.errors import FormIncomplete, NothingWorks
from shoal.agent.policies.rules.forms.assignment import assign, details_of, match_option
from shoal.agent.policies.rules.forms.filling import decide_filling
from shoal.agent.policies.rules.forms.form import (
    DocumentField,
    FormButton,
    FormDocument,
    FormField,
    FormNotice,
    FormPage,
    bare,
    form_page,
)
from shoal.agent.policies.rules.forms.outcome import Complaint, match_codes
from shoal.agent.policies.rules.forms.trail import refuse_standstill
from shoal.agent.read.values.phrases import phrase
from shoal.agent.types import Action, ActionResult, Effect, Element, Observation, Step


def field(bid: str, label: str, kind: Any = "text", **more: Any) -> FormField:
    return FormField(bid, kind, label, (bare(phrase(label)),), form=0, **more)


def page(*fields: FormField, send: str = "Send", **more: Any) -> FormPage:
    button = FormButton("99", send, True, 0)
    parts: dict[str, Any] = {"url": "http://example.test/form", "messages": (), "text": "", **more}
    return FormPage(fields=fields, buttons=(button,), **parts)


def decide(form: FormPage, data: dict[str, Any], *steps: Step, codes: dict[str, str] | None = None, **more: Any) -> Any:
    return decide_filling(form, data, steps, error_codes=codes or {}, criterion=more.get("criterion"))


def sent(url: str = "http://example.test/form", submits: bool = True) -> Step:
    click = Action("click", {"bid": "99"}, "send the form" if submits else "go on to the form's next page", submits)
    return Step(0, url, "", (ActionResult(click, effect=Effect(dom_changed=True)),))


def test_details_find_their_fields_in_several_languages() -> None:
    fields = [
        field("1", "Vorname"),
        field("2", "Nachname"),
        field("3", "E-Mail-Adresse"),
        field("4", "PLZ"),
        field("5", "Please enter your phone number"),
    ]
    data = {
        "person": {"first_name": "Ann", "last_name": "Lee"},
        "email": "a@b.test",
        "zip": "10115",
        "tel": "123456",
        "none": None,
    }
    placed = {one.fields[0].bid: one.value for one in assign(fields, details_of(data))}
    assert placed == {"1": "Ann", "2": "Lee", "3": "a@b.test", "4": "10115", "5": "123456"}


def test_names_are_joined_and_parted_and_addresses_repeated() -> None:
    one = assign([field("1", "Full name")], details_of({"first_name": "Ann", "last_name": "Lee"}))
    assert [(part.keys, part.value) for part in one] == [(("first_name", "last_name"), "Ann Lee")]
    two = assign([field("1", "First name"), field("2", "Last name")], details_of({"name": "Ann Lee"}))
    assert [part.value for part in two] == ["Ann", "Lee"]
    twice = assign([field("1", "Email"), field("2", "Confirm email")], details_of({"email": "a@b.test"}))
    assert [part.value for part in twice] == ["a@b.test", "a@b.test"]


def test_options_are_matched_by_text_number_and_yes_or_no() -> None:
    options = [
        ("Please choose", "", True),
        ("Up to 10 pieces", "s", False),
        ("50 pieces", "m", False),
        ("Yes, please", "y", False),
    ]
    assert match_option("m", options) == 2
    assert match_option(50, options) == 2
    assert match_option(True, options) == 3
    assert match_option("elephants", options) is None


def test_fields_that_are_right_are_left_alone_and_the_form_is_sent_once() -> None:
    form = page(field("1", "Name", value="Ann"), field("2", "Newsletter", "checkbox"))
    decision = decide(form, {"name": "Ann", "newsletter": False})
    assert [action.name for action in decision.actions] == ["click"]
    assert decision.actions[0].submits
    assert "Ann" not in decision.actions[0].reasoning


def test_leading_on_is_not_sending() -> None:
    decision = decide(page(field("1", "Name", value="Ann"), send="Next step"), {"name": "Ann"})
    assert not decision.actions[0].submits


def test_required_fields_without_details_are_named() -> None:
    form = page(
        field("1", "Name"),
        field("2", "Shoe size", required=True),
        field("3", "I accept the terms", "checkbox", required=True),
    )
    with pytest.raises(FormIncomplete) as caught:
        decide(
            form, {"name": "Ann"}, Step(0, form.url, "", (ActionResult(Action("fill", {"bid": "1"}, "enter name")),))
        )
    assert caught.value.details["fields"] == ["Shoe size", "I accept the terms"]


def test_a_select_that_depends_on_another_is_waited_for() -> None:
    country = field("1", "Country", "select", options=(("–", "", True), ("Spain", "ES", False)))
    region = field("2", "Region", "select", options=(("–", "", True),), required=True)
    data = {"country": "Spain", "region": "Navarre"}
    assert [action.args["bid"] for action in decide(page(country, region), data).actions] == ["1"]
    chosen = field("1", "Country", "select", options=(("–", "", False), ("Spain", "ES", True)))
    filled = field("2", "Region", "select", options=(("–", "", True), ("Navarre", "NA", False)), required=True)
    actions = decide(page(chosen, filled), data).actions
    assert [(action.args["bid"], action.args["options"]) for action in actions] == [("2", ["NA"])]


def test_secrets_pass_through_as_they_are() -> None:
    form = page(field("1", "User name"), field("2", "Password", type="password"))
    values = [
        action.args["value"] for action in decide(form, {"username": "secret:USER", "password": "secret:PASS"}).actions
    ]
    assert values == ["secret:USER", "secret:PASS"]


def test_a_secret_fits_a_field_of_any_type_and_is_never_part_of_a_text() -> None:
    pin = FormField("1", "text", "Your PIN code", ((*phrase("pin code"),),), type="number", form=0)
    assert [one.fields[0].bid for one in assign([pin], details_of({"pin": "secret:PIN"}))] == ["1"]
    names = {"first_name": "secret:FIRST", "last_name": "secret:LAST"}
    assert assign([field("1", "Full name")], details_of(names)) == []


def test_a_refusal_becomes_the_callers_code_and_is_never_sent_again() -> None:
    form = page(field("1", "Delivery date", value="2020-01-01", error="The date is in the past"))
    codes = {"PAST": "the wished date lies in the past", "FULL": "nothing is free any more"}
    decision = decide(form, {"delivery_date": "2020-01-01"}, sent(), codes=codes)
    assert decision.actions[0].name == "terminate"
    assert decision.actions[0].args["errors"] == ["PAST"]
    with pytest.raises(FormIncomplete, match="in the past"):
        decide(form, {"delivery_date": "2020-01-01"}, sent())


def test_codes_are_matched_by_field_and_words() -> None:
    codes = {"BAD_MAIL": "the e-mail address is not accepted", "BAD_ZIP": "the postal code is wrong"}
    assert match_codes([Complaint("is not a valid postal code", "ZIP")], codes) == ["BAD_ZIP"]
    assert match_codes([Complaint("Please check", "E-mail")], codes) == ["BAD_MAIL"]
    assert match_codes([Complaint("Something went wrong")], codes) == []


def test_thanks_end_the_task_and_silence_does_not() -> None:
    gone = FormPage("http://example.test/done", (), (), (), "Thank you! Your number is 7.", "Thank you")
    assert decide(gone, {"name": "Ann"}, sent()).actions[0].name == "complete"
    assert decide(gone, {"name": "Ann"}, sent(), criterion='the page says "your number"').actions[0].name == "complete"
    still = page(field("1", "Name", value="Ann"))
    assert decide(still, {"name": "Ann"}, sent()).actions == ()
    thanked = page(field("1", "Name", value="Ann"), messages=(FormNotice("We have received your request", "status"),))
    assert decide(thanked, {"name": "Ann"}, sent()).actions[0].name == "complete"


def test_a_page_on_which_nothing_works_is_given_up_for_another_browser_to_try() -> None:
    slow, other = (
        ErrorInfo("ActionTimeout", "action_timeout", "too slow", False),
        Action("fill", {"bid": "1"}, "enter name"),
    )
    failed = Step(0, "https://x.example/", "", (ActionResult(other, error=slow),) * 2)
    worked = Step(0, "https://x.example/", "", (ActionResult(other, error=slow), ActionResult(other)))
    looked = Step(0, "https://x.example/", "", ())
    for steps in ([], [failed] * 4, [failed] * 4 + [worked], [failed] * 4 + [looked], [worked] + [failed] * 4):
        refuse_standstill(steps)
    with pytest.raises(NothingWorks, match="too slow") as caught:
        refuse_standstill([worked] + [failed] * 5)
    assert caught.value.retryable


def test_a_choice_that_does_not_stay_is_not_made_for_ever() -> None:
    phone = field("1", "Phone", "radio", name="how", group="Contact by", value="phone")
    mail = field("2", "Email", "radio", name="how", group="Contact by", value="email")
    form = page(field("3", "Name", value="Ann"), phone, mail)
    data = {"name": "Ann", "contact_by": "email"}
    assert [action.args for action in decide(form, data).actions] == [{"bid": "2"}]
    chosen = Step(0, form.url, "", (ActionResult(Action("check", {"bid": "2"}, "enter contact_by")),))
    assert [action.name for action in decide(form, data, chosen).actions] == ["check"], "once more, as elsewhere"
    assert [action.name for action in decide(form, data, chosen, chosen).actions] == ["click"]


def test_a_field_with_a_list_is_chosen_from_whatever_it_shows() -> None:
    form = page(field("1", "City", "combobox", value="Berlin"), field("2", "Skills", "combobox"))
    data = {"city": "Berlin", "skills": ["Go", "Rust"]}
    first, second = decide(form, data).actions
    assert (first.name, first.args) == ("select_option", {"bid": "1", "options": "Berlin"})
    assert (second.name, second.args) == ("select_option", {"bid": "2", "options": ["Go", "Rust"]})
    done = Step(0, form.url, "", (ActionResult(first), ActionResult(second)))
    assert [action.name for action in decide(form, data, done).actions] == ["click"]


def test_a_choice_that_a_list_lacks_twice_ends_the_form_unsent() -> None:
    form = page(field("1", "City", "combobox"))
    (choose,) = decide(form, {"city": "Berlin"}).actions
    lacks = ErrorInfo("ElementNotUsable", "element_not_usable", "there is no option 'Berlin'; there are: Bern", False)
    failed = Step(0, form.url, "", (ActionResult(choose, error=lacks),))
    refuse_standstill([failed])
    assert decide(form, {"city": "Berlin"}, failed).actions == (choose,)
    with pytest.raises(FormIncomplete, match=r"city .the field 'City'.: there is no option 'Berlin'; there are: Bern"):
        refuse_standstill([failed, failed])


@pytest.mark.parametrize("chooses", [False, True])
def test_an_input_is_chosen_from_where_the_walker_says_so_and_it_is_no_search(chooses: bool) -> None:
    box = Element("5", "input", "combobox", "City", attributes={"type": "text", "name": "city"}, chooses=chooses)
    field = DocumentField("input", "text", "city", visible=True)
    for around, kind in (("", "combobox" if chooses else "text"), ("search", "text")):
        form = Element("", "form", role=around, children=(box,))
        seen = Observation("http://example.test/", "", Element("", "body", children=(form,)))
        (read,) = form_page(seen, FormDocument((field,))).fields
        assert read.kind == kind


@pytest.mark.parametrize("code", ["action_invalid", "action_refused"])
def test_an_upload_that_is_refused_is_not_tried_again(code: str) -> None:
    refused = ErrorInfo("ActionRefused", code, "file: /etc/plan is not in a folder", retryable=False)
    upload = Action("upload_file", {"bid": "1", "file": "/etc/plan"}, "enter attachment")
    with pytest.raises(FormIncomplete, match="attachment: file: /etc/plan") as caught:
        refuse_standstill([Step(0, "https://x.example/", "", (ActionResult(upload, error=refused),))])
    assert not caught.value.retryable
    assert caught.value.details["fields"] == ["attachment"]
