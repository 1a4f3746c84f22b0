"""Quotations that stand on the page, values that somebody gave, the field for a code."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.agent.policies.model.checks.codes import code_field
from shoal.agent.policies.model.checks.evidence import allowed_values, quotes
from shoal.agent.read.grounding.page_text import PageText
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import LoopItem, Task
from tests.unit.agent.model.pages import URL, el, page, scene_of, text

SHOP = PageText([page(text("We sell no lamps any more."), text("Don't ask for lamps"), text("灯はもう売りません"))])


@pytest.mark.parametrize(
    "reason",
    [
        'The page says "We sell no lamps".',
        'The shop\'s page says "We sell no lamps any more."',
        "The shop’s page says “We sell no lamps”, so it's over.",
        'The 27" screen is there, but: "We sell no lamps"',
        "The page says 'We sell no lamps'.",
        "It says ‘Don’t ask for lamps’ to everybody's face.",
        "It says 'Don't ask for lamps'.",
        "Da steht: „We sell no lamps“.",
        "Il dit « We sell no lamps ».",
        "ページは「灯はもう売りません」と言う",
        '页面写着"灯はもう売りません"。',
        'Neither "chairs" nor "We sell no lamps" helps.',
    ],
)
def test_a_quotation_is_found_whatever_stands_before_it(reason: str) -> None:
    assert quotes(reason, SHOP)


@pytest.mark.parametrize(
    "reason",
    [
        "We sell no lamps",
        'The page says "We sell no chairs".',
        "The shop's page doesn't say that: We sell no lamps any more, it's clear.",
        'It says "no".',
        "",
    ],
)
def test_what_is_no_quotation_of_the_page_is_no_evidence(reason: str) -> None:
    assert not quotes(reason, SHOP)


# --- values ----------------------------------------------------------------------------------------------

DATA = {"name": "Ada Byron", "born": "1815-12-10", "phone": "+44 20 7946 0018", "age": 36, "mail": "ada@x.example"}


def gives(value: str, **state: Any) -> bool:
    job = JobSpec(url=URL, goal="Find the cheapest lamps in brass", data=DATA)
    seen = PageText([page(text("Enter the word: quxbar"))])
    return allowed_values(scene_of(page(), job, **state), seen).gives(value)


@pytest.mark.parametrize(
    "value",
    [
        "Ada",
        "BYRON, Ada",
        "10.12.1815",
        "+442079460018",
        "0018",
        "36",
        "lamp",
        "brass lamp",
        "quxbar",
        "ada@x.example",
        "2",
        "",
        "Dear shop, I would like to order one of your brass lamps, please.",
    ],
)
def test_what_is_given_may_be_typed_in_another_form(value: str) -> None:
    assert gives(value)


@pytest.mark.parametrize(
    "value",
    [
        "John",
        "john.doe@mail.example",
        "555-1234",
        "1999-01-01",
        "12 Main Street",
        "Dear shop, please call me at 0171 555 1234 to talk about lamps, thank you",
    ],
)
def test_what_nobody_gave_is_seen(value: str) -> None:
    assert not gives(value)


def test_what_was_read_and_what_the_session_is_for_are_given() -> None:
    assert not gives("Zweibrücken")
    assert gives("Zweibrücken", item=LoopItem(0, "Zweibrücken", is_link=False))
    assert gives("Zweibrücken", history=(Task("navigate", "x", Status.COMPLETED, result="it is Zweibrücken"),))


# --- the field for a code ------------------------------------------------------------------------------------


def field(bid: str, label: str = "", /, **attributes: str) -> Any:
    return el(bid, "input", label, attributes={"type": "text", **attributes})


@pytest.mark.parametrize(
    "fields",
    [
        [field("1", "Postcode"), field("2", "Enter it here", autocomplete="one-time-code")],
        [field("1", "Promo code"), field("2", "Code")],
        [field("1", "Zip code"), field("2", "Country code"), field("2", "Security code", id="otpCode")],
        [field("1", "Code", name="code"), field("2", "Verification", name="x")],
        [field("1", "Discount", name="couponCode"), field("2", "", name="sms_code")],
        [field("1", "Encoded", name="decoder"), field("2", "2FA")],
        [field("1", "Name", value="Ada"), field("2", "Number")],
        [field("1", "Search"), field("2", "One-time password")],
    ],
)
def test_the_field_for_a_one_time_code(fields: list[Any]) -> None:
    found = code_field(fields)
    assert found is not None
    assert found.bid == "2"


@pytest.mark.parametrize("fields", [[field("1", "Postcode"), field("2", "Promo code")], []])
def test_no_other_code_is_taken_for_one(fields: list[Any]) -> None:
    assert code_field(fields) is None
