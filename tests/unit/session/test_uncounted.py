"""Time that an action spends on waiting for its page's turn is none of its own."""

from __future__ import annotations

import asyncio

import pytest

from shoal.agent.chromium.call_deadlines import uncounted


async def test_a_wait_that_does_not_count_may_be_longer_than_the_call() -> None:
    later = asyncio.Event()
    async with asyncio.timeout(0.05) as deadline:
        with uncounted(deadline):
            asyncio.get_running_loop().call_later(0.1, later.set)
            await later.wait()
        left = deadline.when()
        assert left is not None and 0 < left - asyncio.get_running_loop().time() <= 0.05


async def test_what_is_left_of_the_call_counts_on_after_it() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05) as deadline:
            with uncounted(deadline):
                await asyncio.sleep(0)
            await asyncio.Event().wait()
