"""A login's steps, one after the other, on a page that answers as a test says."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.agent.errors import ElementNotUsable, LoginFailed
from shoal.agent.sessions import login_steps
from shoal.agent.sessions.login_steps import take_steps
from shoal.agent.spec import LoginStep
from shoal.agent.types import Action, ActionResult


class Page:
    """Elements by selector; one may come only at the n-th look."""

    url = "https://shop.example/login"

    def __init__(self, *, late: int = 0) -> None:
        self.looks = 0
        self.opened: list[str] = []
        self._late = late

    async def observe(self, options: object = None) -> None:
        self.looks += 1

    async def locate(self, selectors: list[str]) -> list[str | None]:
        known = {"#user": "12", "#kind": "13", "button": "14"}
        return [known.get(one) if self.looks > self._late else None for one in selectors]

    async def goto(self, url: str, *, timeout_s: float | None = None) -> None:
        self.opened.append(url)

    async def settle(self, *, quiet_s: float = 0.3, budget_s: float = 5.0) -> bool:
        return True


async def taken(page: Page, *steps: dict[str, Any], error: ElementNotUsable | None = None) -> list[Action]:
    """The actions that these steps become."""
    done: list[Action] = []

    async def act(action: Action) -> ActionResult:
        done.append(action)
        return ActionResult(action, error=error and error.info())

    await take_steps(page, [LoginStep.model_validate(one) for one in steps], act)  # type: ignore[arg-type]
    return done


async def test_steps_become_actions_on_the_elements_that_they_name() -> None:
    page = Page(late=2)
    done = await taken(
        page,
        {"open": "https://shop.example/door"},
        {"fill": "#user", "value": "secret:NAME"},
        {"choose": "#kind", "value": "Customer"},
        {"press": "Tab"},
        {"click": "button"},
    )
    assert page.opened == ["https://shop.example/door"]
    assert [(one.name, dict(one.args)) for one in done] == [
        ("fill", {"bid": "12", "value": "secret:NAME"}),
        ("select_option", {"bid": "13", "options": "Customer"}),
        ("keyboard_press", {"key_comb": "Tab"}),
        ("click", {"bid": "14"}),
    ]


async def test_a_step_without_its_element_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login_steps, "_FIND_S", 0.0)
    with pytest.raises(LoginFailed, match=r"step 2 of the login, click a\.door: the selector finds no element"):
        await taken(Page(), {"click": "button"}, {"click": "a.door"})


async def test_a_step_that_fails_ends_the_login() -> None:
    with pytest.raises(LoginFailed, match="step 1 of the login, click button: it is covered"):
        await taken(Page(), {"click": "button"}, error=ElementNotUsable("it is covered"))
