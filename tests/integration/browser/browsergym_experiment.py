"""An experiment of BrowserGym's own loop, which AgentLab's is made after: its agent and its task on our environment.

    PYTHONPATH=FOLDER_OF_ITS_PACKAGES python -m tests.integration.browser.browsergym_experiment FOLDER

What differs from an experiment on BrowserGym's environment is in `ShoalEnvArgs`, as docs/gym.md has it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
from browsergym.core.action.highlevel import HighLevelActionSet
from browsergym.experiments import AbstractAgentArgs, Agent, EnvArgs, ExpArgs, get_exp_result
from browsergym.miniwob.all import ClickTestTask
from browsergym.utils.obs import flatten_axtree_to_str, flatten_dom_to_str, overlay_som

from shoal.agent.gym.miniwob import pages
from shoal.agent.gym.registration import register_task


class ShoalEnvArgs(EnvArgs):
    def make_env(
        self, action_mapping: Any, exp_dir: Any, exp_task_kwargs: Any = None, use_raw_page_output: bool = False
    ) -> Any:
        return gym.make(
            f"shoal/{self.task_name}",
            max_episode_steps=self.max_steps,
            wait_for_user_message=self.wait_for_user_message,
            action_mapping=action_mapping,
            use_raw_page_output=use_raw_page_output,
            task_kwargs={**(self.task_kwargs or {}), **(exp_task_kwargs or {})},
        )


class Clicker(Agent):  # type: ignore[misc]
    """Clicks the button that its axtree shows; sees what AgentLab's agents are shown."""

    action_set = HighLevelActionSet(subsets=["chat", "bid", "infeas"], multiaction=False)

    def obs_preprocessor(self, obs: dict[str, Any]) -> dict[str, Any]:
        properties = obs["extra_element_properties"]
        # The loop counts the tokens of an observation's own texts by a vocabulary from the network: these stand deeper.
        texts = {
            "last_action_error": obs["last_action_error"],
            "axtree": flatten_axtree_to_str(obs["axtree_object"], extra_properties=properties, with_visible=True),
            "dom": flatten_dom_to_str(obs["dom_object"], extra_properties=properties),
        }
        return {
            **{name: obs[name] for name in ("chat_messages", "goal_object")},
            "texts": texts,
            "screenshot": obs["screenshot"],
            "screenshot_som": overlay_som(obs["screenshot"], extra_properties=properties),
        }

    def get_action(self, obs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        (line,) = [line for line in obs["texts"]["axtree"].splitlines() if " button " in line]
        assert "<button" in obs["texts"]["dom"]
        bid = line.split("]")[0].strip().strip("[")
        # The second step is the last: the first names an element that is not there.
        action = f"click({bid!r})" if obs["texts"]["last_action_error"] else "click('99')"
        return action, {"think": f"I see {line.strip()}"}


@dataclass
class ClickerArgs(AbstractAgentArgs):  # type: ignore[misc]
    def make_agent(self) -> Clicker:
        return Clicker()


if __name__ == "__main__":
    register_task("peer", ClickTestTask, {"base_url": f"{pages().as_uri()}/"})
    experiment = ExpArgs(ClickerArgs("clicker"), ShoalEnvArgs("peer", task_seed=1, max_steps=5))
    experiment.prepare(sys.argv[1])
    experiment.run()
    result = get_exp_result(experiment.exp_dir)
    steps = [step.action for step in result.steps_info]
    told = result.summary_info
    kept = {name: told[name] for name in ("n_steps", "cum_reward", "terminated", "truncated", "err_msg")}
    pictures = len(list(Path(experiment.exp_dir).glob("screenshot_*")))
    print(json.dumps({**kept, "actions": steps, "pictures": pictures, "goal": result.steps_info[0].obs["goal_object"]}))
