"""A browser to look at the dashboard with, one for all tests of a process."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser

from tests.integration.dashboard.served import pages_closed
from tests.patience import chromium


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session", autouse=True)
async def _pages_closed(browser: Browser) -> AsyncIterator[None]:
    """Pages that a test leaves open cost those after it."""
    async with pages_closed(browser):
        yield
