"""All scripted solutions of MiniWoB++, three seeds each: `pytest tests/integration/browser/miniwob_all.py`.

`test_gym.py` runs some of them with every change.
"""

from __future__ import annotations

import pytest

from shoal.agent.gym.episode import Episode
from tests.integration.browser.solvers_of_all import ALL
from tests.integration.browser.test_gym import episode, solve

pytest.importorskip("miniwob")

__all__ = ["episode"]


@pytest.mark.parametrize("seed", [1, 2, 3], ids=["first", "second", "third"])
@pytest.mark.parametrize("task", sorted(ALL))
def test_scripted_solutions_are_rewarded(task: str, seed: int, episode: Episode) -> None:
    solve(episode, task, seed)
