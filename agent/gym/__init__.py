"""Tasks in a browser for people who evaluate or train agents.

    import gymnasium as gym
    import shoal.agent.gym  # registers the environments

    env = gym.make("shoal/miniwob.click-test-v0")
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step("click('1')")
    env.close()

Gymnasium comes with the extra `gym`. Without it `episode.EpisodeRunner` runs the same tasks.
"""

from __future__ import annotations

import importlib.util

if importlib.util.find_spec("gymnasium") is not None:
    from shoal.agent.gym.registration import register_all

    register_all()
