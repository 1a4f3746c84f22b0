"""Which of the caller's details are secret by their names, and how they are shown."""

from __future__ import annotations

import json

import pytest

from shoal.agent.error_info import ErrorInfo
from shoal.agent.redaction.masking import (
    HIDDEN,
    masked,
    masked_row,
    masked_spec,
    names_secret,
    secrets_in,
)
from shoal.agent.redaction.redactor import Redactor, redactor_of
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import Action, ActionResult, Effect, LoopItem, Outcome, PageError, PageErrors, Record, Step, Task

SECRET = ["password", "Passwort", "user_password", "newPassword2", "PIN", "cvc", "card_number", "cardNumber", "token"]
SECRET += [
    "api-key",
    "API_KEY",
    "client secret",
    "mot_de_passe",
    "contraseña",
    "pwd",
    "otp",
    "security code",
    "passphrase",
]
PLAIN = [
    "name",
    "pinned",
    "shipping",
    "passenger",
    "spin",
    "username",
    "compass",
    "cardholder",
    "number",
    "opinion",
    "zip",
]


@pytest.mark.parametrize("name", SECRET)
def test_names_of_secrets(name: str) -> None:
    assert names_secret(name)


@pytest.mark.parametrize("name", PLAIN)
def test_other_names(name: str) -> None:
    assert not names_secret(name)


def test_secrets_are_hidden_at_any_depth_and_references_stay() -> None:
    data = {
        "user": "ann",
        "login": {"password": "hunter-22", "keep": True},
        "card": {"number": 4111, "holder": "Ann", "cvc": "123"},
        "accounts": [{"pin": 12}, {"token": "secret:BANK"}],
        "password": {"old": "a-1", "new": "b-2", "show": False},
    }
    assert masked(data) == {
        "user": "ann",
        "login": {"password": HIDDEN, "keep": True},
        "card": {"number": HIDDEN, "holder": "Ann", "cvc": HIDDEN},
        "accounts": [{"pin": HIDDEN}, {"token": "secret:BANK"}],
        "password": {"old": HIDDEN, "new": HIDDEN, "show": False},
    }
    assert set(secrets_in(data)) == {"hunter-22", "4111", "123", "12", "a-1", "b-2"}


def test_rows_of_loops_are_masked_and_other_values_are_left_alone() -> None:
    row = json.dumps({"user": "ann", "password": "hunter-22"})
    assert json.loads(masked_row(row)) == {"user": "ann", "password": HIDDEN}
    for value in ('{"user":"ann"}', "https://x.example/?a={1}", "{ no json", "chairs"):
        assert masked_row(value) == value


def test_what_a_session_stores_holds_no_password_and_its_records_stay() -> None:
    spec = JobSpec.model_validate(
        {"url": "https://x.example/", "goal": "x", "data": {"pin": 12, "password": 'tall "tree"'}}
    )
    hidden = redactor_of(spec, LoopItem(0, '{"token": "abc-def-ghi"}', is_link=False))
    done = ActionResult(
        Action("fill", {"bid": "12", "value": 'tall "tree"'}, "enter password"),
        ErrorInfo("ActionError", "action_failed", 'could not type tall "tree"', retryable=False),
        Effect(url="https://x.example/?p=tall+%22tree%22&pin=12", value="12"),
    )
    errors = PageErrors((PageError("network", "not abc-def-ghi", "https://x.example/?p=tall+%22tree%22"),))
    steps = (Step(0, "https://x.example/?t=abc-def-ghi", "", (done,), page_errors=errors),)
    outcome = Outcome(
        Status.FAILED,
        (Record({"owner": "abc-def-ghi"}),),
        ErrorInfo("FormRefused", "form_incomplete", "no abc-def-ghi here", retryable=False),
        tasks=(Task("navigate", "log in", Status.FAILED, steps=steps),),
        page_errors=errors,
    )
    shown = hidden.outcome(outcome)
    (step,) = shown.tasks[0].steps
    (result,) = step.results
    assert result.action.args == {"bid": "12", "value": HIDDEN}
    assert result.error is not None and result.error.message == f"could not type {HIDDEN}"
    assert result.effect.url == f"https://x.example/?p={HIDDEN}&pin={HIDDEN}"
    assert result.effect.value == HIDDEN
    assert step.url == f"https://x.example/?t={HIDDEN}"
    told = PageErrors((PageError("network", f"not {HIDDEN}", f"https://x.example/?p={HIDDEN}"),))
    assert step.page_errors == shown.page_errors == told
    assert shown.error is not None and shown.error.message == f"no {HIDDEN} here"
    assert shown.records == outcome.records, "what pages state is the job's result"
    prompt = hidden.redacted_text('{"data": {"pin": "12", "password": "tall \\"tree\\"", "room": "1212"}}')
    assert "tree" not in prompt and '"1212"' in prompt and '"12"' not in prompt


def test_nothing_is_hidden_where_nothing_is_secret() -> None:
    hidden = redactor_of(
        JobSpec.model_validate({"url": "https://x.example/", "goal": "x", "data": {"name": "Ann"}}), None
    )
    assert not hidden.given
    assert hidden.redacted_text("Ann") == Redactor().redacted_text("Ann") == "Ann"


def test_the_password_of_a_login_is_hidden_wherever_its_spec_or_its_steps_are_shown() -> None:
    spec = JobSpec.model_validate(
        {
            "url": "https://a.example/orders",
            "goal": "read",
            "login": {"url": "https://a.example/login", "data": {"username": "ada", "password": "lovelace-1815"}},
        }
    )
    shown = masked_spec(spec)
    assert "lovelace-1815" not in str(shown) and shown["login"]["data"]["username"] == "ada"
    assert "lovelace-1815" not in redactor_of(spec, None).redacted_text("typed lovelace-1815")
