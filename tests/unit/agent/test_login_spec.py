"""The login in a job spec."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from shoal.agent.redaction.masking import masked_spec
from shoal.agent.redaction.redactor import redactor_of
from shoal.agent.spec import JobSpec

LOGIN = "https://shop.example/login"


def job(**login: Any) -> JobSpec:
    return JobSpec.model_validate({"url": "https://shop.example/", "goal": "look", "login": {"url": LOGIN, **login}})


@pytest.mark.parametrize(
    ("login", "said"),
    [
        ({}, "exactly one of `data` and `steps`"),
        ({"data": {"user": "ann"}, "steps": [{"click": "a"}]}, "exactly one of `data` and `steps`"),
        ({"steps": []}, "at least 1"),
        ({"steps": [{}]}, "says nothing to do"),
        ({"steps": [{"click": "a", "fill": "b", "value": "c"}]}, "has fill and click"),
        ({"steps": [{"fill": "#user"}]}, "`value` goes with"),
        ({"steps": [{"click": "a", "value": "c"}]}, "`value` goes with"),
        ({"steps": [{"open": "ftp://shop.example/"}]}, "must start with http"),
    ],
)
def test_a_login_that_cannot_be_done_is_refused(login: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        job(**login)


def test_what_steps_fill_in_is_not_shown_whatever_the_field_is_called() -> None:
    spec = job(
        steps=[{"fill": "#f2", "value": "correct horse"}, {"fill": "#f3", "value": "secret:PIN"}, {"click": "a"}]
    )
    steps = masked_spec(spec)["login"]["steps"]
    assert [step.get("value") for step in steps] == ["(hidden)", "secret:PIN", None]
    assert redactor_of(spec, None).redacted_text("typed correct horse") == "typed (hidden)"
