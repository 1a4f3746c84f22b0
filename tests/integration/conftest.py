"""One Chromium for the tests of a process that leave it alive; each has a context of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest_asyncio

from shoal.agent.browser import Browser, Context
from shoal.agent.chromium.process.launch import launch
from tests.patience import PATIENT


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """The browser; to start one costs two seconds of CPU."""
    started = await launch()
    yield started
    await started.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Context]:
    """A context of the test's own, emptied of what the test before left: a new renderer costs half a second of CPU."""
    context = await browser.new_context(replace(PATIENT, reuse="tests"))
    yield context
    await context.close()
