"""The members of a browser that its acting contexts use."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from shoal.agent.chromium.acting.raw_traces import RawTraces
from shoal.agent.chromium.acting.reach.form_guard import FormGuard
from shoal.agent.chromium.call_deadlines import BrowserProcess
from shoal.agent.chromium.devtools.fetching_sites import FetchingOwner


class ActingOwner(BrowserProcess, FetchingOwner, Protocol):
    """The browser of acting contexts."""

    folder: Path  # that the browser can read
    traces: RawTraces  # what its contexts record
    form_guard: FormGuard  # holds back forms of its contexts

    async def take_back(self, context: Any, not_reusable: str) -> None:
        """A session is done with `context`: it is emptied for the next one, or closed where it is `not_reusable`.

        The context is an `ActingContext`.
        """
        ...
