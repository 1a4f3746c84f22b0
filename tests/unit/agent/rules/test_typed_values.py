"""Details in a person's spelling, as HTML's typed inputs take them."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.agent.errors import FormIncomplete
from shoal.agent.policies.rules.forms.entering import actions_for
from shoal.agent.policies.rules.forms.form import Entry, FormField
from shoal.agent.read.values.typed_values import SPELLINGS, typed_value


@pytest.mark.parametrize(
    ("type_", "text", "lang", "typed"),
    [
        ("date", "07.03.2027", "", "2027-03-07"),
        ("date", "2027-03-07", "", "2027-03-07"),
        ("date", "7. März 2027", "de", "2027-03-07"),
        ("date", "March 7, 2027", "en", "2027-03-07"),
        ("date", "03/07/2027", "en-US", "2027-03-07"),
        ("date", "7/3/2027", "fr", "2027-03-07"),
        ("date", "03/07/2027", "", None),
        ("date", "2027-13-45", "", None),
        ("date", "soon", "", None),
        ("month", "03/2027", "", "2027-03"),
        ("month", "März 2027", "de", "2027-03"),
        ("month", "07.03.2027", "", "2027-03"),
        ("month", "13/2027", "", None),
        ("week", "KW 10/2027", "de", "2027-W10"),
        ("week", "10.03.2027", "", "2027-W10"),
        ("week", "week 60 2027", "", None),
        ("time", "14.30 Uhr", "de", "14:30"),
        ("time", "2:30 pm", "en", "14:30"),
        ("time", "12:05 a.m.", "en", "00:05"),
        ("time", "25:00", "", None),
        ("time", "9", "", None),
        ("datetime-local", "07.03.2027 14:30", "", "2027-03-07T14:30"),
        ("datetime-local", "7 March 2027, 2:30 pm", "en", "2027-03-07T14:30"),
        ("datetime-local", "07.03.2027", "", None),
        ("number", "1.234,5", "de", "1234.5"),
        ("number", "3,5", "de", "3.5"),
        ("number", "12", "", "12"),
        ("number", "many", "", None),
        ("text", "07.03.2027", "", "07.03.2027"),
        *((type_, spelling, "", spelling) for type_, spelling in SPELLINGS.items()),
    ],
)
def test_a_value_is_typed_as_its_input_takes_it(type_: str, text: str, lang: str, typed: str | None) -> None:
    assert typed_value(type_, text, lang) == typed


def place(value: Any, type_: str = "date") -> Entry:
    return Entry(("needed_by",), value, (FormField("1", "date", "Needed by", (("needed", "by"),), type=type_),), 1.0)


def test_what_could_mean_two_days_is_told_and_not_typed() -> None:
    (fill,) = actions_for(place("07.03.2027"), {})
    assert fill.args == {"bid": "1", "value": "2027-03-07"}
    (fill,) = actions_for(place("03/07/2027"), {}, "en-US")
    assert fill.args["value"] == "2027-03-07"
    with pytest.raises(
        FormIncomplete, match=r"needed_by .the field 'Needed by'.*write it as 2027-03-07.*browser.locale"
    ):
        actions_for(place("03/07/2027"), {})


def test_a_secret_is_typed_as_it_is_stored() -> None:
    (fill,) = actions_for(place("secret:BIRTHDAY"), {})
    assert fill.args["value"] == "secret:BIRTHDAY"
