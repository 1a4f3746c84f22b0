"""The login of a job."""

from __future__ import annotations

from pydantic import Field, model_validator

from shoal.agent.spec.part import HttpUrl, SpecPart
from shoal.agent.support.json_value import Json


class LoginStep(SpecPart):
    """One step of a login: exactly one of `open`, `fill`, `choose`, `click`, `press` and `wait_for`."""

    open: HttpUrl | None = Field(None, description="an address to open")
    fill: str | None = Field(None, min_length=1, description="CSS selector of the field that gets `value`")
    choose: str | None = Field(
        None, min_length=1, description="CSS selector of the select; `value` is the option's text"
    )
    value: str | None = Field(
        None, description="with `fill` and `choose`; use secret:NAME rather than a password itself"
    )
    click: str | None = Field(None, min_length=1, description="CSS selector of what is clicked")
    press: str | None = Field(None, min_length=1, description="a key, such as Enter, where the focus is")
    wait_for: str | None = Field(None, min_length=1, description="CSS selector of what must be on the page")

    @model_validator(mode="after")
    def _one_thing(self) -> LoginStep:
        given = [name for name in _STEPS if getattr(self, name) is not None]
        if len(given) != 1:
            problem = f"has {' and '.join(given)}" if given else "says nothing to do"
            raise ValueError(f"{problem}: give exactly one of {', '.join(f'`{name}`' for name in _STEPS)}")
        if (self.value is not None) != (given[0] in ("fill", "choose")):
            raise ValueError("`value` goes with `fill` and `choose`, and these need one")
        return self

    @property
    def kind(self) -> str:
        """Which of the six it is."""
        return next(name for name in _STEPS if getattr(self, name) is not None)

    @property
    def what(self) -> str:
        """The address, selector or key."""
        return str(getattr(self, self.kind))


_STEPS = ("open", "fill", "choose", "click", "press", "wait_for")


class LoginSpec(SpecPart):
    """The job's login, before anything else is done: by a form's data, or by steps."""

    url: HttpUrl = Field(description="the page with the login's form")
    data: dict[str, Json] | None = Field(
        None, min_length=1, description="what to fill into the form; use secret:NAME rather than the password itself"
    )
    steps: tuple[LoginStep, ...] | None = Field(
        None, min_length=1, max_length=50, description="what to do instead, one step after the other", fail_fast=True
    )
    goal: str = Field("log in", min_length=1, description="what the form is for, in words, where a page has several")

    @model_validator(mode="after")
    def _one_way(self) -> LoginSpec:
        if (self.data is None) == (self.steps is None):
            raise ValueError("needs exactly one of `data` and `steps`")
        return self
