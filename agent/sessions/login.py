"""The login of a job: done once in its root, handed down to its items, renewed once in a worker when it runs out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from cachetools import LRUCache

from shoal.agent.policies.policy import LOG_IN
from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import Task

_MOST_JOBS = 100
"""Jobs of which a worker remembers a renewed login; the one used longest ago is forgotten."""


def login_spec(spec: JobSpec) -> JobSpec:
    """The job while its session logs in: nothing is read, and the login's details are the ones to fill in."""
    assert spec.login is not None
    given = {"data": spec.login.data, "goal": spec.login.goal, "extract": None, "loop": None}
    return spec.model_copy(update={**given, "complete_criterion": None, "error_codes": {}, "allow_terminate": False})


def is_done(history: tuple[Task, ...]) -> bool:
    """Return whether the session has logged in."""
    return any(task.plan == LOG_IN for task in history)


@dataclass(slots=True)
class _KnownLogin:
    """The login of one job, as its last renewal left it."""

    state: Json = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Logins:
    """Renewed logins of the jobs of one worker, for all their sessions there."""

    def __init__(self) -> None:
        self._jobs: LRUCache[int, _KnownLogin] = LRUCache(_MOST_JOBS)

    def state(self, job: int) -> Json:
        """The storage state of the last renewal; None where there was none."""
        known = self._jobs.get(job)
        return known and known.state

    async def renew(self, job: int, used: Json, log_in: Callable[[], Awaitable[Json]]) -> None:
        """Logs in by `log_in`, which gives the storage state; not where another session did so since `used` was had."""
        known = self._jobs.setdefault(job, _KnownLogin())
        async with known.lock:
            if known.state is None or known.state == used:
                known.state = await log_in()
