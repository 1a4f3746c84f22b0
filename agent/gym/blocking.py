"""A page that blocks: tasks that are written as plain scripts call it as they would Playwright's synchronous page."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from shoal.agent.gym.loop_thread import LoopThread


class Blocking:
    """An object of Playwright's whose calls return what they give, once it is there.

    What it gives of Playwright's own (frames, locators, handles) blocks as well. Where Playwright has an asynchronous
    context manager, such as `expect_popup()`, this is a plain one.
    """

    def __init__(self, inner: Any, loop: LoopThread) -> None:
        self._inner = inner
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        return self._blocking(self._loop.run(_attribute(self._inner, name)))

    def __enter__(self) -> Any:
        return self._blocking(self._loop.run(self._inner.__aenter__()))

    def __exit__(self, *error: Any) -> None:
        self._loop.run(self._inner.__aexit__(*error))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Blocking) and bool(self._inner == other._inner)

    def __hash__(self) -> int:
        return hash(self._inner)

    def __repr__(self) -> str:
        return f"Blocking({self._inner!r})"

    def _blocking(self, value: Any) -> Any:
        if inspect.ismethod(value):

            @functools.wraps(value)
            def call(*args: Any, **named: Any) -> Any:
                plain = [_plain(arg) for arg in args]
                done = _called(value, plain, {name: _plain(arg) for name, arg in named.items()})
                return self._blocking(self._loop.run(done))

            return call
        if isinstance(value, list | tuple):
            return type(value)(self._blocking(part) for part in value)
        return Blocking(value, self._loop) if type(value).__module__.startswith("playwright.") else value


def _plain(value: Any) -> Any:
    return value._inner if isinstance(value, Blocking) else value


async def _attribute(inner: Any, name: str) -> Any:
    value = getattr(inner, name)
    return await value if inspect.isawaitable(value) else value


async def _called(method: Any, args: list[Any], named: dict[str, Any]) -> Any:
    value = method(*args, **named)
    return await value if inspect.isawaitable(value) else value
