"""The document of a frame, beside that of the page around it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from shoal.agent.chromium.call_deadlines import CallDeadlines
from shoal.agent.chromium.devtools.worlds import World
from shoal.agent.errors import ActionError, BrowserError
from shoal.agent.support.json_value import Json


@dataclass(frozen=True, slots=True)
class FrameDocument:
    """A `PageDocument` of one frame, as long as the frame shows that document. Its scripts may not wait."""

    _world: World
    _prefix: str  # what the ids in it begin with
    _limits: CallDeadlines
    _timeout_s: float

    async def read(self, script: str, arg: Json = None) -> Json:
        async with self._limits.looking(self._timeout_s, "reading a frame"):
            try:
                return await self._world.run(script, arg)
            except BrowserError as error:
                raise ActionError(f"the script failed in the frame: {error}") from None

    async def locate(self, selectors: Sequence[str], hosts: Sequence[str] = ()) -> Sequence[str | None]:
        async with self._limits.looking(self._timeout_s, "looking for elements of a frame"):
            bids = await located(self._world, selectors, hosts)
        return [f"{self._prefix}{bid}" if bid is not None else None for bid in bids]


async def located(world: World, selectors: Sequence[str], hosts: Sequence[str]) -> Sequence[str | None]:
    """The numbers of the elements that are found, each the only one, as `PageDocument.locate` finds them."""
    numbers = await world.call(f"shoalWalker.locate({json.dumps(list(selectors))}, {json.dumps(list(hosts))})")
    return [str(number) if number else None for number in numbers]


async def selectors_of(main: World, prefix: str, number: int) -> tuple[str, str] | None:
    """A CSS selector and an XPath of the element with an id, in its two parts; None for one in a frame."""
    selectors = await main.call(f"shoalWalker.selectors({number})") if not prefix else None
    return (selectors[0], selectors[1]) if selectors else None
