"""Actions that somebody or something outside the browser has to answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from shoal.agent.actions.action_context import ActionContext
from shoal.agent.actions.arguments import Bid
from shoal.agent.actions.primitives.element import fill
from shoal.agent.errors import ActionError, HelpMissing

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


async def solve_captcha(on: ActionContext) -> None:
    """Has a captcha on this page solved by the configured helper.

    Examples:
        solve_captcha()
    """
    solve = _hook(on.hooks.solve_captcha, "solve_captcha")
    if not await solve(on.url):
        raise ActionError("the captcha was not solved")


async def ask_user(on: ActionContext, question: str) -> str:
    """Asks the user something that only they can know, and waits for the answer.

    Examples:
        ask_user('Which of the two delivery addresses shall be used?')
    """
    ask = _hook(on.hooks.ask_user, "ask_user")
    on.messages.append(("assistant", question))
    answer = await ask(question, on.url)
    on.messages.append(("user", answer))
    return answer


async def enter_verification_code(on: ActionContext, bid: Bid) -> None:
    """Fetches the verification code that was sent or is computed for this login, and fills it into a field.

    Examples:
        enter_verification_code('31')
    """
    fetch = _hook(on.hooks.verification_code, "verification_code")
    await fill(on, bid, await fetch(on.url))


def _hook(hook: Callable[Asked, Awaitable[Answer]] | None, name: str) -> Callable[Asked, Awaitable[Answer]]:
    if hook is None:
        raise HelpMissing(f"nothing answers this here: the hook {name!r} is not configured", hook=name)
    return hook
