"""Names under which Gymnasium makes environments: `shoal/openended`, `shoal/miniwob.TASK-v0`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import gymnasium

from shoal.agent.gym.env import BrowserEnv
from shoal.agent.gym.miniwob import MiniWob
from shoal.agent.gym.task import OpenEnded, Task


def register_task(
    id: str, task_class: Callable[..., Task], task_kwargs: Mapping[str, Any] | None = None, **kwargs: Any
) -> None:
    """Makes `gym.make("shoal/ID")` give environments of this task.

    Args:
        task_kwargs: given to each task, and not to be overridden.
        kwargs: given to `gymnasium.register`, such as `max_episode_steps`.
    """
    gymnasium.register(
        f"shoal/{id}",
        entry_point=partial(BrowserEnv, partial(task_class, **dict(task_kwargs or {}))),
        nondeterministic=True,
        # Words, pictures and dictionaries of any size are not what its check of spaces is made for.
        disable_env_checker=True,
        **kwargs,
    )


def register_all() -> None:
    """Registers what comes with this package, and MiniWoB++ where it is installed."""
    if "shoal/openended" in gymnasium.registry:
        return
    register_task("openended", OpenEnded)
    try:
        names = MiniWob.names()
    except ModuleNotFoundError:
        return
    for name in names:
        register_task(f"miniwob.{name}-v0", MiniWob, {"name": name})
