"""The site that is asked, and a clock for those who ask."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.robots_site import Site, serving
from tests.store_world import Clock


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with serving() as found:
        yield found


@pytest.fixture
def clock() -> Clock:
    return Clock()
