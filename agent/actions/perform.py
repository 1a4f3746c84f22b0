"""Performing one action."""

from __future__ import annotations

from shoal.agent.actions.action_context import ActionContext
from shoal.agent.actions.registry import Primitive, primitive
from shoal.agent.actions.schema import arguments
from shoal.agent.errors import ActionRefused
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action


def check(action: Action, *, allow_unsafe: bool = False) -> tuple[Primitive, dict[str, Json]]:
    """The primitive that the action calls, and its arguments with defaults.

    Raises:
        ActionInvalid: no such action, or an argument does not fit.
        ActionRefused: the operator does not allow it.
    """
    called = primitive(action.name)
    if called.unsafe and not allow_unsafe:
        raise ActionRefused(f"the action {called.name!r} is off here; the operator would have to turn it on")
    return called, arguments(action)


async def perform(action: Action, context: ActionContext, *, allow_unsafe: bool = False) -> Json:
    """Does what the action says; what it gives back, if anything.

    Raises:
        ActionError: it could not be done; what remains to be done after it is the caller's business.
    """
    called, args = check(action, allow_unsafe=allow_unsafe)
    return await called.function(context, **args)
