"""Elements that appeared on a page and those that went, by two looks at its main frame and the frame acted on."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from playwright.async_api import Error as PlaywrightError

from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.chromium.devtools.worlds import World
from shoal.agent.errors import BrowserError
from shoal.agent.support.json_value import Json

_NAMED = 5


@dataclass(frozen=True, slots=True)
class Appearances:
    """Between two looks."""

    appeared: tuple[str, ...] = ()  # the first, in words
    appeared_count: int = 0
    went: tuple[str, ...] = ()
    went_count: int = 0
    fields: tuple[tuple[str, str], ...] = ()  # the first other fields that hold something else now, and what
    fields_count: int = 0
    scrolled: bool = False  # the page or a part of it
    invalid: tuple[str, ...] = ()  # fields that are marked as wrong since


async def begin(tab: Tab, prefix: str) -> None:
    """The first look; `prefix` is of the ids of the frame that is acted on."""
    await _ask(tab, prefix, "shoalChanges.begin()")


async def read_appearances(tab: Tab, prefix: str, number: int) -> Appearances:
    """The second look. A frame that is gone, or has another document, tells nothing.

    Args:
        number: of the element in that frame whose value is told by itself; 0 for what has the focus.
    """
    answers = [answer for answer in await _ask(tab, prefix, f"shoalChanges.told({number})") if answer]
    appeared = [name for answer in answers for name in answer["appeared"][1]]
    went = [name for answer in answers for name in answer["went"][1]]
    return Appearances(
        tuple(appeared[:_NAMED]),
        sum(answer["appeared"][0] for answer in answers),
        tuple(went[:_NAMED]),
        sum(answer["went"][0] for answer in answers),
        tuple((name, value) for answer in answers for name, value in answer["fields"][1])[:_NAMED],
        sum(answer["fields"][0] for answer in answers),
        any(answer["scrolled"] for answer in answers),
        tuple(name for answer in answers for name in answer["invalid"]),
    )


async def _ask(tab: Tab, prefix: str, expression: str) -> list[Json]:
    worlds = [await tab.main_world()]
    if prefix and (inner := (await tab.look()).world_of(prefix)) is not None:
        worlds.append(inner)
    return await asyncio.gather(*(_answer(world, expression) for world in worlds))


async def _answer(world: World, expression: str) -> Json:
    try:
        return await world.call(expression)
    except (PlaywrightError, BrowserError):
        return None  # the document is another one by now
