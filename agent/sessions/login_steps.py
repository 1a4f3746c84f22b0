"""A login by steps: what a job says is done on the login's page, one thing after the other."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from shoal.agent.browser import Context, ObserveOptions
from shoal.agent.errors import LoginFailed
from shoal.agent.read.by_place.reading import wait_for
from shoal.agent.spec import LoginStep
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, ActionResult

_FIND_S = 10.0
"""Seconds that a step waits for its element: pages of logins come one after the other."""
_LOOK_S = 0.2
_SETTLE_S = 5.0

Act = Callable[[Action], Awaitable[ActionResult]]
"""Takes an action as the session does: values of secrets are filled in, and hidden in what is told."""


async def take_steps(page: Context, steps: Sequence[LoginStep], act: Act) -> list[ActionResult]:
    """Does the steps in order, and gives the page time to answer the last one.

    Raises:
        LoginFailed: the element of a step is not there, is several, or cannot be used; it says which step.
        PlaceNotYet, BadSelector: what a step waits for did not come, or is no selector.
        NavigationError: an address of a step cannot be opened.
    """
    results: list[ActionResult] = []
    for number, step in enumerate(steps, 1):
        if step.kind == "open":
            await page.goto(step.what)
        elif step.kind == "wait_for":
            await wait_for(page, step.what)
        else:
            result = await act(await _action(page, step, number))
            if result.error is not None:
                raise LoginFailed(f"step {number} of the login, {_named(step)}: {result.error.message}")
            results.append(result)
            await page.settle(budget_s=_SETTLE_S)
    return results


async def _action(page: Context, step: LoginStep, number: int) -> Action:
    if step.kind == "press":
        return Action("keyboard_press", {"key_comb": step.what})
    bid = await _wait_for_element(page, step, number)
    args: dict[str, Json] = {"bid": bid}
    match step.kind:
        case "fill":
            return Action("fill", {**args, "value": step.value})
        case "choose":
            return Action("select_option", {**args, "options": step.value})
    return Action("click", args)


async def _wait_for_element(page: Context, step: LoginStep, number: int) -> str:
    """The id of the step's element, once it is there.

    Raises:
        LoginFailed: there is none in time, or there are several.
    """
    until = time.monotonic() + _FIND_S
    while True:
        await page.observe(ObserveOptions())  # gives the page's elements their ids
        (bid,) = await page.locate([step.what])
        if bid is not None:
            return bid
        if time.monotonic() > until:
            raise LoginFailed(
                f"step {number} of the login, {_named(step)}: the selector finds no element on {page.url}, or several; "
                "see the page as Shoal sees it by `shoal observe`"
            )
        await asyncio.sleep(_LOOK_S)


def _named(step: LoginStep) -> str:
    return f"{step.kind} {step.what}"
