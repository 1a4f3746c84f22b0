"""A page that blocks: tasks that are written as plain scripts call it as they would Playwright's synchronous page."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from shoal.agent.support.loop_thread import LoopThread

_HANDLED = frozenset(
    {
        *("on", "once", "remove_listener", "route", "unroute", "route_web_socket"),
        *("expose_function", "expose_binding", "add_locator_handler"),
    }
)
"""Methods of Playwright's that take a function which they call later."""
Handlers = dict[Callable[..., Any], Callable[..., Any]]
"""Functions that were given to Playwright, with what Playwright calls in their place. One table for each context."""


class Blocking:
    """An object of Playwright's whose calls return what they give, once it is there.

    What it gives of Playwright's own (frames, locators, handles) blocks as well. Where Playwright has an asynchronous
    context manager, such as `expect_popup()`, this is a plain one. Functions that handle events and routes are given
    objects that block, too; each call runs in a thread of its own. A predicate, as of `expect_response`, is called by
    Playwright in the middle of its work: it gets Playwright's own object and may read its properties only.
    """

    def __init__(self, inner: Any, loop: LoopThread, handlers: Handlers) -> None:
        self._inner = inner
        self._loop = loop
        self._handlers = handlers

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
                turned = self._handled if value.__name__ in _HANDLED else _plain
                plain = {name: turned(arg) for name, arg in named.items()}
                return self._blocking(self._loop.run(_called(value, [turned(arg) for arg in args], plain)))

            return call
        if isinstance(value, list | tuple):
            return type(value)(self._blocking(part) for part in value)
        if isinstance(value, dict):
            return {key: self._blocking(part) for key, part in value.items()}
        return (
            Blocking(value, self._loop, self._handlers) if type(value).__module__.startswith("playwright.") else value
        )

    def _handled(self, value: Any) -> Any:
        return self._handler(value) if callable(value) else _plain(value)

    def _handler(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function` as Playwright can call it from its loop; the same one each time, so that it can be removed."""
        known = self._handlers.get(function)
        if known is None:

            async def call(*args: Any) -> Any:
                return _plain(await asyncio.to_thread(function, *(self._blocking(arg) for arg in args)))

            known = self._handlers[function] = functools.update_wrapper(call, function)
        return known


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_plain(part) for part in value)
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return value._inner if isinstance(value, Blocking) else value


async def _attribute(inner: Any, name: str) -> Any:
    value = getattr(inner, name)
    return await value if inspect.isawaitable(value) else value


async def _called(method: Any, args: list[Any], named: dict[str, Any]) -> Any:
    value = method(*args, **named)
    return await value if inspect.isawaitable(value) else value
