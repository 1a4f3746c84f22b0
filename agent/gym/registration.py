"""Names under which Gymnasium makes environments: `shoal/openended`, `shoal/miniwob.TASK-v0`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import gymnasium

from shoal.agent.gym.env import BrowserEnv
from shoal.agent.gym.miniwob import MiniWob
from shoal.agent.gym.task import GymTask, OpenEnded


def register_task(
    id: str,
    task_class: Callable[..., GymTask],
    task_kwargs: Mapping[str, Any] | None = None,
    default_task_kwargs: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    """Makes `gym.make("shoal/ID")` give environments of this task.

    Args:
        task_kwargs: given to each task; `gym.make` cannot replace them.
        default_task_kwargs: given to each task where `gym.make` does not replace them.
        kwargs: given to `gymnasium.register`, such as `max_episode_steps`.

    Raises:
        ValueError: a parameter is in both.
    """
    fixed, default = dict(task_kwargs or {}), dict(default_task_kwargs or {})
    if both := sorted(fixed.keys() & default.keys()):
        raise ValueError(f"in task_kwargs and in default_task_kwargs: {', '.join(both)}")
    gymnasium.register(
        f"shoal/{id}",
        entry_point=partial(BrowserEnv, partial(_task, task_class, fixed, default)),
        nondeterministic=True,
        # Words, pictures and dictionaries of any size are not what its check of spaces is made for.
        disable_env_checker=True,
        **kwargs,
    )


def _task(
    task_class: Callable[..., GymTask],
    fixed: Mapping[str, Any],
    default: Mapping[str, Any],
    *,
    seed: int | None,
    **asked: Any,
) -> GymTask:
    if refused := sorted(fixed.keys() & asked.keys()):
        raise ValueError(f"the task's registration fixes {', '.join(refused)}: task_kwargs cannot replace that")
    return task_class(seed=seed, **{**default, **asked, **fixed})


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
