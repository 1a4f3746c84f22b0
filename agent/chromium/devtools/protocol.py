"""The interface of a DevTools session that our own code uses (Playwright's `CDPSession` and our `Session` have it), and
that of a page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class DevTools(Protocol):
    """A DevTools session of one page."""

    async def send(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The answer to one command.

        Raises:
            playwright.async_api.Error: Chromium refused it, or the page is gone.
        """
        ...

    def on(self, event: Any, f: Callable[..., Any]) -> None:
        """Calls `f` with the parameters of each such event."""
        ...


class Readable(Protocol):
    """A page that can be read and photographed."""

    async def session(self) -> DevTools:
        """Its DevTools session."""
        ...

    async def read(self, script: str, arg: Any = None) -> Any:
        """Return what the function `script` returns for `arg`, run beside the page's own scripts."""
        ...
