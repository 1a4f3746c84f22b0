"""Actions that end the task; the session carries them out."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.agent.actions.action_context import ActionContext


async def complete(on: ActionContext, errors: Sequence[str] = ()) -> None:
    """Ends the task: the goal is reached, as the page shows now. errors: the caller's codes for what went wrong.

    Examples:
        complete()
    """


async def terminate(on: ActionContext, reason: str, errors: Sequence[str] = ()) -> str:
    """Ends the task: the goal can never be reached, for a reason that the page shows. errors: the caller's codes.

    Examples:
        terminate('The product is no longer sold.', ['not_available'])
    """
    return reason
