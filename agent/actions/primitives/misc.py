"""Scrolling, waiting, and talking to the user."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from pydantic import Field

from shoal.agent.actions.action_context import ActionContext
from shoal.agent.actions.arguments import Bid
from shoal.agent.errors import ActionInvalid

_MAX_WAIT_S = 60.0


async def scroll(on: ActionContext, dx: float, dy: float) -> str | None:
    """Scrolls the page by so many pixels to the right and down; negative numbers go left and up.

    Examples:
        scroll(0, 600)
        scroll(-50.2, -100.5)
    """
    return None if await on.scroll_page(dx, dy) else "the page is at its end that way"


async def noop(on: ActionContext, wait_ms: Annotated[float, Field(ge=0, le=_MAX_WAIT_S * 1000)] = 1000) -> None:
    """Does nothing for so many milliseconds, while the page goes on with what it does.

    Examples:
        noop()
        noop(500)
    """
    await asyncio.sleep(wait_ms / 1000)


async def wait_for(
    on: ActionContext,
    text: str | None = None,
    bid: Bid | None = None,
    timeout: Annotated[float, Field(gt=0, le=_MAX_WAIT_S, description="seconds")] = 10.0,
) -> None:
    """Waits until a text can be seen on the page, or until an element can be seen.

    Examples:
        wait_for('Your order is complete')
        wait_for(bid='a12', timeout=5)
    """
    if (text is None) == (bid is None):
        raise ActionInvalid("wait_for needs either text or bid")
    if text is not None:
        await on.wait_for_text(text, timeout)
        return
    assert bid is not None
    element = await on.element(bid)
    with on.faults():
        await element.wait_for(state="visible", timeout=timeout * 1000)


async def save_as_pdf(on: ActionContext) -> dict[str, Any]:
    """Keeps the page as a PDF, as printing it would. Its text comes with the next observation.

    Examples:
        save_as_pdf()
    """
    file = await on.print_page()
    return {"filename": file.filename, "bytes": file.bytes}


async def send_msg_to_user(on: ActionContext, text: str) -> None:
    """Tells the user something; the work goes on.

    Examples:
        send_msg_to_user('The last delivery arrived on March 14.')
    """
    on.messages.append(("assistant", text))
    if on.hooks.say is not None:
        await on.hooks.say(text)


async def report_infeasible(on: ActionContext, reason: str) -> str:
    """Ends the task because what is asked for cannot be done here, and says why.

    Examples:
        report_infeasible('The site has no account settings.')
    """
    on.messages.append(("infeasible", reason))
    return reason


async def answer(on: ActionContext, text: str) -> str:
    """Ends the task with an answer.

    Examples:
        answer('The cheapest flight costs 214 EUR.')
    """
    on.messages.append(("assistant", text))
    return text
