"""Pages of many like things: a page of eight times as many takes about eight times as long to look at."""

from __future__ import annotations

import pytest

from shoal.agent.browser import Context
from shoal.agent.chromium.acting.acting_context import ActingContext
from tests.integration.browser.test_mended import show

pytestmark = pytest.mark.asyncio(loop_scope="session")

TIMES = 8
MOST = 2 * TIMES  # of a walk that takes the square it would be 64 times as long
_BOX = "<input type=checkbox name=b{number}>"
PAGES = {
    "boxes with words behind": ("<form>{parts}</form>", f"{_BOX} Word {{number}} "),
    "boxes with words before": ("<form>{parts}</form>", f" Word {{number}} {_BOX}"),
    "active buttons": ("<div>{parts}</div>", "<button class=active>Word {number}</button>"),
}


async def _cost(context: Context, page: str, part: str, count: int) -> float:
    """Seconds of computing time that one walk of the page takes."""
    assert isinstance(context, ActingContext)
    await show(context, page.format(parts="".join(part.format(number=number) for number in range(count))))
    session, world = await context.tab.session(), await context.tab.main_world()
    await session.send("Performance.enable", {"timeDomain": "threadTicks"})

    async def spent() -> float:
        told = (await session.send("Performance.getMetrics"))["metrics"]
        return next(float(metric["value"]) for metric in told if metric["name"] == "TaskDuration")

    costs = []
    for _ in range(3):
        before = await spent()
        await world.call("shoalWalker.walk({}).length")
        costs.append(await spent() - before)
    await session.send("Performance.disable")
    return min(costs)


@pytest.mark.parametrize(("page", "part"), PAGES.values(), ids=PAGES)
async def test_a_walk_takes_no_square_of_what_there_is(context: Context, page: str, part: str) -> None:
    few, many = [await _cost(context, page, part, count) for count in (250, 250 * TIMES)]
    assert many < few * MOST, (few, many)
