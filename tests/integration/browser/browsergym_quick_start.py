"""BrowserGym's quick start: its statements with `shoal` in place of `browsergym`, and an agent.

`browsergym.core` and `browsergym.miniwob` are `shoal.agent.gym`; names of MiniWoB++'s tasks end with "-v0", which
Gymnasium adds with a warning. The user writes to standard input, where BrowserGym opens a window for the chat.

    python -m tests.integration.browser.browsergym_quick_start START_URL
"""

from __future__ import annotations

import re
import sys
from typing import Any

import gymnasium as gym

import shoal.agent.gym  # noqa: F401  # registers the environments


def agent(obs: dict[str, Any]) -> str:
    """Clicks the link that the user named, then says that it did; chooses from the list what a goal names."""
    said = obs["chat_messages"][-1]["message"]
    nodes = [node for node in obs["axtree_object"]["nodes"] if "browsergym_id" in node]
    if "Select " in obs["goal"]:
        wanted = re.findall(r"Select (.+) from the list", obs["goal"])[0]
        roles = {node["role"]["value"]: node["browsergym_id"] for node in nodes}
        return f"select_option('{roles['combobox']}', {wanted!r})\nclick('{roles['button']}')"
    link = next((node["browsergym_id"] for node in nodes if node["name"]["value"] == said), None)
    return f"click('{link}')" if link else "send_msg_to_user('It is open.')"


# --- an open task ---------------------------------------------------------------------------------------

env = gym.make(
    "shoal/openended",
    task_kwargs={"start_url": sys.argv[1]},
    wait_for_user_message=True,
)
obs, info = env.reset()
while True:
    action = agent(obs)
    obs, reward, terminated, truncated, info = env.step(action)
    if terminated or truncated:
        break
print("open task:", obs["url"])
env.close()

# --- MiniWoB++ ------------------------------------------------------------------------------------------

env = gym.make("shoal/miniwob.choose-list")
obs, info = env.reset(seed=1)
obs, reward, terminated, truncated, info = env.step(agent(obs))
print("miniwob:", reward, terminated)
env.close()

env_ids = [id for id in gym.envs.registry.keys() if id.startswith("shoal/miniwob")]  # noqa: SIM118
print("tasks:", len(env_ids))
