"""A session's loop: its items while they are found, what is told of them, and how it went once all are final."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from dataclasses import replace

from shoal.agent.documents.sitemaps.reader import SitemapReader
from shoal.agent.errors import EmptyLoop, LoopFailed
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.policies.policy import Policy, SessionState
from shoal.agent.sessions.dependencies import Journal
from shoal.agent.sessions.lazy_context import LazyContext
from shoal.agent.sessions.loops.sample import SampledItems
from shoal.agent.spec import LoopSpec
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.support.web_addresses import is_web
from shoal.agent.types import ChildrenSummary, LoopItem, Task

FIRST_ITEMS = 250
"""Items that become sessions at once: more than a dispatcher claims at first, few enough to run within a blink."""
ITEMS_AT_ONCE = 10_000
"""Items that are handed on together: some 4 MB here, 0.3 MB on their way."""


async def gather(items: AsyncIterable[LoopItem], journal: Journal) -> tuple[tuple[LoopItem, ...], int]:
    """The first items of a loop, and how many followed, which the journal has.

    Raises:
        Canceled: the store says that this session is somebody else's by now.
    """
    first: list[LoopItem] = []
    more: list[LoopItem] = []
    later = 0
    async for item in items:
        if len(first) < FIRST_ITEMS:
            first.append(item)
            continue
        more.append(item)
        if len(more) == ITEMS_AT_ONCE:
            await journal.items(FIRST_ITEMS + later, more)
            later += len(more)
            more = []
    if more:
        await journal.items(FIRST_ITEMS + later, more)
    return tuple(first), later + len(more)


async def loop_values(
    state: SessionState, page: LazyContext, policy: Policy, plan: Plan, sitemaps: SitemapReader | None = None
) -> AsyncGenerator[LoopItem]:
    """The loop's items, numbered from 0.

    A page or a model makes none of a link that leaves the web, or that carries what was typed to another site.
    """
    loop = state.loop
    limit = loop.max_items if loop else None
    given = loop is not None and loop.values is not None  # what the caller names fails under its own name
    n = 0
    async for item in _find_items(state, page, policy, plan, sitemaps):
        if item.is_link and not given and not is_web(item.value):
            state.left_out += 1
            continue
        if item.is_link and not given and (refused := page.carried(item.value)) is not None:
            state.cut = state.cut or f"an item was left out: {refused.message}"
            continue
        if not given and not item.is_link and page.opened and page.url != state.spec.url:
            item = replace(item, page=page.url)
        yield item if item.index == n else replace(item, index=n)
        n += 1
        if n == limit:
            break


async def _find_items(
    state: SessionState, page: LazyContext, policy: Policy, plan: Plan, sitemaps: SitemapReader | None
) -> AsyncGenerator[LoopItem]:
    if state.loop is not None and state.loop.sitemap is not None:
        if sitemaps is None:
            raise EmptyLoop("a sitemap is not read through a proxy of the job's own")
        async for entry in sitemaps.pages(state.loop.sitemap, page.carried):
            yield LoopItem(0, entry.url, is_link=True, modified=entry.modified)
        state.cut = state.cut or sitemaps.cut
        return
    if plan.loop_values is None:
        async for item in policy.collect(state, plan):
            yield item
        return
    for index, value in enumerate(plan.loop_values):
        yield LoopItem(index, value, plan.is_loop_value_link)


def loop_result(state: SessionState, count: int, sample: SampledItems | None) -> dict[str, Json]:
    """Return what is known of a list when `count` items of it were collected, or a sample of them."""
    result: dict[str, Json] = {"expected": count}
    if state.listed is not None and state.listed > count:
        result["shown"] = state.listed  # the list says that it has more
    if state.cut:
        result["cut"] = state.cut
    limit = state.loop.max_items if state.loop else None
    if state.limited or (limit is not None and count >= limit):
        result["limited"] = True  # by the caller: what is left out was not asked for
    if sample is not None:
        result |= {"limited": True, "sample": {**sample.to_json(), "shown": state.listed}}
    if state.doubt:
        result["doubt"] = state.doubt
    if state.left_out:
        result["left_out"] = state.left_out
    return result


def came_back(state: SessionState, children: ChildrenSummary) -> None:
    """Writes into the session's history how its loop went.

    Raises:
        LoopFailed: it went wrong altogether, or the job wants to stop at the first item that does. The history tells
            how it went all the same.
    """
    counts = {"expected": children.expected, "completed": children.completed, "failed": children.failed}
    result: dict[str, Json] = {**counts, "first_records": list(children.samples)}
    waiting = next((t for t in reversed(state.history) if t.status is Status.WAITING), None)
    if waiting is not None and isinstance(waiting.result, dict):
        result = {**waiting.result, **result}
    if children.failures:
        result["failures"] = list(children.failures)
    whole = children.failed == 0 and not result.keys() & {"cut", "doubt", "shown"}
    ends = waiting is not None and waiting.ends_goal and whole
    done = Task("loop", waiting.plan if waiting else "", Status.COMPLETED, result=result, ends_goal=ends)
    state.history = (*(t for t in state.history if t is not waiting), done)
    stop = state.loop is not None and state.loop.on_error == "stop"
    if children.expected and (children.completed == 0 or (stop and children.failed)):
        raise LoopFailed(f"{children.failed} of {children.expected} items failed", **counts)


def left_out(n: int) -> str:
    """Return how many links became no items, in words; "" for none."""
    if not n:
        return ""
    return f"{n:,} link{'s' if n > 1 else ''} left out: only http and https addresses are opened"


def empty_loop_message(loop: LoopSpec | None, url: str, why: str) -> str:
    """Why a loop has no items, and what to change."""
    if loop is not None and loop.sitemap is not None:
        kept = f" whose address contains {loop.sitemap.contains!r}" if loop.sitemap.contains else ""
        return f"the sitemap {loop.sitemap.url} names no page{kept}" + (f": {why}" if why else "")
    source = loop.source if loop else None
    message = f"the loop found no items on {url}" + (f": {why}" if why else "")
    if source is None:
        return message
    return (
        f"{message}; `loop.from.select` is {source.select!r}: name the items by a CSS selector that matches them, or "
        "by the words of their heading, and see the page as Shoal sees it by `shoal observe`"
    )
