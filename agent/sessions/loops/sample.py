"""A sample of a job (`sample` of its spec): of a loop few items are opened, and no form is sent but the login's."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, BeforeSending, LoopItem

COLLECT_S = 20.0
"""Seconds that a sample collects the items of a loop: enough for some twenty pages."""
FIRST_TOLD = 10
"""Items that are named in its result."""


@dataclass(frozen=True, slots=True)
class SampledItems:
    """The items that a sample collected of a loop."""

    items: tuple[LoopItem, ...]  # the ones that are opened
    first: tuple[LoopItem, ...]  # the first of all, to be named
    found: int  # all that were found
    is_whole: bool  # False: collecting was ended by its time

    def to_json(self) -> dict[str, Json]:
        """The same as the loop's task states it."""
        first = [{"value": item.value, "label": item.label, "is_link": item.is_link} for item in self.first]
        return {"found": self.found, "whole": self.is_whole, "first": first}


async def sampled(source: AsyncGenerator[LoopItem], most: int) -> SampledItems:
    """The first `most` items of a loop, and how many there are, as far as that is seen in `COLLECT_S` seconds."""
    began = time.monotonic()
    first: list[LoopItem] = []
    n, is_whole = 0, True
    async with aclosing(source) as items:
        async for item in items:
            n += 1
            if len(first) < max(most, FIRST_TOLD):
                first.append(item)
            if time.monotonic() - began > COLLECT_S:
                is_whole = False
                break
    return SampledItems(tuple(first[:most]), tuple(first[:FIRST_TOLD]), n, is_whole)


def sends_form(action: Action, before: BeforeSending | None, *, once: bool) -> bool:
    """Return whether a sample must not take the action.

    A form that only asks (GET) changes nothing at a site: a search may be part of what is tried.

    Args:
        before: the page before it, where the policy knows that the action sends a form.
        once: the action must not be repeated in this job, since it may send something.
    """
    if before is not None and before.method.lower() == "get":
        return False
    return action.submits or once
