"""MiniWoB++ as a whole: each scripted solution with three seeds, and one look at each task. `make test-gym` runs it.

`test_gym.py` runs some of it with every change.
"""

from __future__ import annotations

import pytest

from shoal.agent.gym.episode import EpisodeRunner
from shoal.agent.gym.miniwob import MiniWob
from tests.integration.browser.solvers_of_all import ALL
from tests.integration.browser.test_gym import episode, look_and_act, solve

pytest.importorskip("miniwob")

__all__ = ["episode"]


@pytest.mark.parametrize("seed", [1, 2, 3], ids=["first", "second", "third"])
@pytest.mark.parametrize("task", sorted(ALL))
def test_scripted_solutions_are_rewarded(task: str, seed: int, episode: EpisodeRunner) -> None:
    solve(episode, task, seed)


@pytest.mark.parametrize("task", MiniWob.names())
def test_every_task_loads_can_be_seen_and_acted_on_and_says_how_it_stands(task: str, episode: EpisodeRunner) -> None:
    look_and_act(episode, task)
