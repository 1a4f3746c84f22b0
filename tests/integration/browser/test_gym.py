"""The gym, on MiniWoB++."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shoal.agent.gym import BrowserEnv, MiniWob
from shoal.agent.observe.tree import clickable_elements, walk_elements
from tests.integration.browser.solvers import SOLVERS, Script

pytest.importorskip("miniwob")


STEPS = 12
TIMED = {"button-delay"}
"""The task itself gives less for each tenth of a second that the wait was longer than it asks for."""


@pytest.fixture(scope="module")
def env() -> Iterator[BrowserEnv]:
    """One browser for all tasks."""
    with BrowserEnv(MiniWob("click-test")) as env:
        yield env


@pytest.mark.parametrize("task", SOLVERS)
def test_scripted_solutions_are_rewarded(task: str, env: BrowserEnv) -> None:
    env.task = MiniWob(task)
    seen, info = env.reset(seed=1)
    assert info["goal"] == seen.goal != ""
    reward, terminated, truncated, told = play(env, SOLVERS[task](seen))
    assert (terminated, truncated) == (True, False), (seen.goal, told)
    assert reward > 0 if task in TIMED else reward == 1.0, (seen.goal, told)


def play(env: BrowserEnv, script: str | Script) -> tuple[float, bool, bool, Any]:
    """Plays a solution to its end: reward, whether the task is over, whether its steps are, and what was told."""
    if isinstance(script, str):
        return env.step(script)[1:]
    reply = next(script)
    for _ in range(STEPS):
        seen, reward, terminated, truncated, told = env.step(reply)
        if terminated:
            break
        reply = script.send(seen)
    return reward, terminated, truncated, told


@pytest.mark.timeout(400)  # 130 tasks
def test_every_task_loads_can_be_seen_and_acted_on_and_says_how_it_stands(env: BrowserEnv) -> None:
    by_place = []
    for name in MiniWob.names():
        env.task = MiniWob(name)
        seen, _ = env.reset(seed=3)
        assert sum(1 for _ in walk_elements(seen.elements)) > 2, name
        usable = [one for one in clickable_elements(seen.elements) if "disabled" not in one.states]
        if not usable:
            by_place.append(name)
        seen, reward, _, _, _ = env.step(f"click('{usable[-1].bid}')" if usable else "mouse_click(80, 120)")
        assert seen.last_error == "", name
        assert -1 <= reward <= 1, name
    assert by_place == ["chase-circle", "hover-shape"], "what only follows the pointer has nothing to be clicked on"


def test_an_unreadable_reply_is_told_in_the_next_observation_and_steps_run_out() -> None:
    with BrowserEnv(MiniWob("click-test"), max_steps=2) as env:
        env.reset(seed=1)
        seen, reward, terminated, truncated, _ = env.step("please click")
        assert "line 1" in seen.last_error
        assert (reward, terminated, truncated) == (0.0, False, False)
        assert env.step("noop(1)")[3]
