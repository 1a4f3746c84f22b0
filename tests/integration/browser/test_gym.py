"""The gym, on MiniWoB++."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from agent.gym import BrowserEnv, MiniWob
from agent.observe.tree import clickable_elements, walk_elements
from agent.types import Observation

pytest.importorskip("miniwob")


def bid(seen: Observation, name: str) -> str:
    return next(element.bid for element in clickable_elements(seen.elements) if element.name.lower() == name.lower())


def quoted(seen: Observation) -> list[str]:
    return re.findall(r'"([^"]*)"', seen.goal)


def field(seen: Observation, nth: int = 0) -> str:
    return [e.bid for e in clickable_elements(seen.elements) if e.tag in ("input", "textarea")][nth]


SOLVERS: dict[str, Callable[[Observation], str]] = {
    "click-test": lambda seen: f"click('{bid(seen, 'Click Me!')}')",
    "click-test-2": lambda seen: f"click('{bid(seen, 'ONE')}')",
    "click-button": lambda seen: f"click('{bid(seen, quoted(seen)[0])}')",
    "click-link": lambda seen: f"click('{bid(seen, quoted(seen)[0])}')",
    "click-dialog": lambda seen: f"click('{bid(seen, 'Close')}')",
    "focus-text": lambda seen: f"focus('{field(seen)}')",
    "enter-text": lambda seen: f"fill('{field(seen)}', {quoted(seen)[0]!r})\nclick('{bid(seen, 'Submit')}')",
    "enter-password": lambda seen: "\n".join(
        [*(f"fill('{field(seen, i)}', {quoted(seen)[0]!r})" for i in range(2)), f"click('{bid(seen, 'Submit')}')"]
    ),
    "login-user": lambda seen: "\n".join(
        [*(f"fill('{field(seen, i)}', {quoted(seen)[i]!r})" for i in range(2)), f"click('{bid(seen, 'Login')}')"]
    ),
    "choose-list": lambda seen: "\n".join(
        [
            f"select_option('{next(e.bid for e in clickable_elements(seen.elements) if e.tag == 'select')}', "
            f"{seen.goal.split('Select ')[1].split(' from')[0]!r})",
            f"click('{bid(seen, 'Submit')}')",
        ]
    ),
}


@pytest.mark.parametrize("task", SOLVERS)
def test_scripted_solutions_are_rewarded(task: str) -> None:
    with BrowserEnv(MiniWob(task)) as env:
        for seed in (1, 2):
            seen, info = env.reset(seed=seed)
            assert info["goal"] == seen.goal != ""
            _, reward, terminated, truncated, told = env.step(SOLVERS[task](seen))
            assert (reward, terminated, truncated) == (1.0, True, False), (seen.goal, told)


def test_every_task_loads_can_be_seen_and_says_how_it_stands() -> None:
    task = MiniWob("click-test")
    with BrowserEnv(task) as env:
        for name in MiniWob.names():
            env.task = MiniWob(name)
            seen, _ = env.reset(seed=3)
            assert sum(1 for _ in walk_elements(seen.elements)) > 2, name
            _, reward, _, _, _ = env.step("noop(1)")
            assert -1 <= reward <= 1, name


def test_an_unreadable_reply_is_told_in_the_next_observation_and_steps_run_out() -> None:
    with BrowserEnv(MiniWob("click-test"), max_steps=2) as env:
        env.reset(seed=1)
        seen, reward, terminated, truncated, _ = env.step("please click")
        assert "line 1" in seen.last_error
        assert (reward, terminated, truncated) == (0.0, False, False)
        assert env.step("noop(1)")[3]
