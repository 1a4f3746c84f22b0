"""Playwright's trace of a context: what was called, what pages looked like, and their requests."""

from __future__ import annotations

import asyncio

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import ContextOptions
from shoal.agent.chromium.faults import first_line
from shoal.agent.errors import BrowserError

_STOP_S = 20.0
"""How long Playwright may take to write a trace."""


async def begin_trace(context: BrowserContext, options: ContextOptions) -> None:
    """Records from now on; sources of programs are not recorded."""
    await context.tracing.start(screenshots=options.trace_pictures, snapshots=True, sources=False)


async def end_trace(context: BrowserContext, options: ContextOptions, path: str) -> bool:
    """As `Context.end_trace`."""
    if not options.trace:
        return False
    try:
        async with asyncio.timeout(_STOP_S):
            await context.tracing.stop(path=path)
    except TimeoutError as error:
        raise BrowserError(f"the trace was not written within {_STOP_S:g} s") from error
    except PlaywrightError as error:
        raise BrowserError(f"the trace could not be written: {first_line(error)}") from error
    return True
