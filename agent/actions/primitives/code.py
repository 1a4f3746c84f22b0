"""Free code. Off unless the operator turns it on."""

from __future__ import annotations

import ast
import inspect
import types
from typing import Any

from shoal.agent.actions.action_context import ActionContext
from shoal.agent.actions.primitives.misc import send_msg_to_user
from shoal.agent.errors import ActionError, ActionInvalid, AgentError


async def python(on: ActionContext, code: str) -> None:
    """UNSAFE. Runs Python in which `page` is the Playwright page (async) and `send_msg_to_user` talks to the user.

    Examples:
        python('await page.set_content("<h1>Hi</h1>")')
    """

    async def say(text: str) -> None:
        await send_msg_to_user(on, text)

    try:
        compiled = compile(code, "<python action>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError as error:
        raise ActionInvalid(f"code: line {error.lineno}: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:  # a null byte, brackets without end
        raise ActionInvalid(f"code: {error}") from error
    scope: dict[str, Any] = {"page": on.page, "send_msg_to_user": say}
    with on.faults():
        try:
            result = types.FunctionType(compiled, scope)()
            if inspect.isawaitable(result):
                await result
        except AgentError:
            raise
        except (Exception, SystemExit) as error:  # somebody else's code: it may raise anything, and end nothing
            if type(error).__module__.startswith("playwright"):
                raise  # the action context knows what it means
            raise ActionError(f"the code failed: {type(error).__name__}: {error}") from error
