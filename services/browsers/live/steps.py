"""The part of a running session's steps that a gateway is told: the newest ones, as many as one message holds. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shoal.agent.types import Task
from shoal.services.live_messages import MOST_MESSAGE_BYTES, StepsUpdate

MOST_STEPS = 50
"""Steps of one message."""


def steps_update(tasks: Sequence[Task], most_bytes: int = MOST_MESSAGE_BYTES) -> StepsUpdate:
    """The message. Where it would be too long it has half as many steps, again and again. What tasks gave is left out:
    that comes with the outcome."""
    most = MOST_STEPS
    while True:
        update = _newest(tasks, most)
        if most == 0 or len(update.model_dump_json().encode()) <= most_bytes:
            return update
        most //= 2


def _newest(tasks: Sequence[Task], most: int) -> StepsUpdate:
    left, kept = most, []
    for task in reversed(tasks):
        steps = task.steps[max(0, len(task.steps) - left) :] if left else ()
        left -= len(steps)
        kept.append(replace(task, steps=steps, result=None))
    total = sum(len(task.steps) for task in tasks)
    return StepsUpdate(tasks=tuple(reversed(kept)), left_out=total - (most - left))
