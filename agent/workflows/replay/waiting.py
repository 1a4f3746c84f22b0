"""Conditions that may come true a moment later."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from shoal.agent.browser import Context
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.divergences import Divergence
from shoal.agent.workflows.format.condition import Condition
from shoal.agent.workflows.replay.conditions import condition_miss

_LOOK_S = 0.1


async def wait_for_conditions(
    page: Context, conditions: Sequence[Condition], values: Mapping[str, Json], *, where: str, budget_s: float
) -> Divergence | None:
    """None once all of `conditions` hold; after `budget_s` the first that does not, as a miss."""
    deadline = time.monotonic() + budget_s
    while True:
        miss = await condition_miss(page, conditions, values, where=where)
        if miss is None or time.monotonic() > deadline:
            return miss
        await asyncio.sleep(_LOOK_S)
