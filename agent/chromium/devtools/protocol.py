"""The interface of a page for those who read it by DevTools."""

from __future__ import annotations

from typing import Any, Protocol

from shoal.agent.chromium.wire.connection import Session


class Readable(Protocol):
    """A page that can be read and photographed."""

    async def session(self) -> Session:
        """Its DevTools session."""
        ...

    async def read(self, script: str, arg: Any = None) -> Any:
        """Return what the function `script` returns for `arg`, run beside the page's own scripts."""
        ...
