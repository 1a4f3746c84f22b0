"""Episodes of MiniWoB++, played in the same way on BrowserGym's environment and on ours.

As a program it plays on BrowserGym's, by the Python of a virtual environment that has browsergym-miniwob: its argument
is a Chromium, each line of standard input an episode, each line of standard output what came of it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

# Without what BrowserGym writes into the page.
_PAGE = """() => {
  const copy = document.body.cloneNode(true);
  for (const element of copy.querySelectorAll('*')) {
    const theirs = [...element.attributes].filter(({ name }) => /^(bid|browsergym_.*|value|checked)$/.test(name));
    theirs.forEach(({ name }) => element.removeAttribute(name));
  }
  return copy.innerHTML.replace(/\\s+/g, ' ');
}"""
_MIDDLE = """selector => {
  const box = document.querySelector(selector).getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}"""
_SCALE = 1.5


def play(env: Any, seed: int, steps: Sequence[Any], written: str = "") -> list[dict[str, Any]]:
    """Return what the environment shows at first and after each step,
    to the end of the episode. `written` is a script that changes the page before the first step.

    A step is a reply, or the CSS selector of what the mouse clicks on: `["#area button"]`.
    """
    seen, info = env.reset(seed=seed)
    told = [_step_figures(env, seen, info, 0.0, False)]
    if written:
        env.unwrapped.page.evaluate(written)
    for step in steps:
        reply = step
        if isinstance(step, list):
            x, y = env.unwrapped.page.evaluate(_MIDDLE, step[0])
            reply = f"mouse_click({x * _SCALE}, {y * _SCALE})"
        seen, reward, terminated, _, info = env.step(reply)
        told.append(_step_figures(env, seen, info, reward, terminated))
        if terminated:
            break
    return told


def _step_figures(
    env: Any, seen: dict[str, Any], info: dict[str, Any], reward: float, terminated: bool
) -> dict[str, Any]:
    return {
        "goal": [seen["goal"], [dict(part) for part in seen["goal_object"]]],
        "picture": list(seen["screenshot"].shape),
        "window": env.unwrapped.page.evaluate("() => [innerWidth, innerHeight]"),
        "page": env.unwrapped.page.evaluate(_PAGE) if "error" not in info["task_info"] else "",
        "told": sorted(info["task_info"]),
        "standing": [info["task_info"].get(name) for name in ("RAW_REWARD_GLOBAL", "DONE_GLOBAL", "REWARD_REASON")],
        "reward": reward,
        "terminated": terminated,
        "failed": seen["last_action_error"] != "",
    }


def main() -> None:
    import gymnasium
    from browsergym.core.action.highlevel import HighLevelActionSet
    from playwright.sync_api import BrowserType

    launch = BrowserType.launch

    def with_program(self: Any, **options: Any) -> Any:
        return launch(self, **{"executable_path": sys.argv[1], **options})

    BrowserType.launch = with_program  # its chat opens a browser of its own
    import browsergym.miniwob  # noqa: F401  # registers its environments

    actions = HighLevelActionSet(["bid", "coord", "nav", "tab", "chat", "infeas"])
    for line in sys.stdin:
        asked = json.loads(line)
        name = f"browsergym/miniwob.{asked['task']}"
        env = gymnasium.make(name, slow_mo=0, action_mapping=actions.to_python_code, disable_env_checker=True)
        print(json.dumps(play(env, asked["seed"], asked["steps"])), flush=True)
        env.close()


if __name__ == "__main__":
    main()
