"""Lists in a region that scrolls by itself, of which a grid may draw only the rows in sight."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shoal.agent.policies.policy import SessionState
from shoal.agent.policies.rules.lists.growing import EndOfPage, extent
from shoal.agent.policies.rules.page_changes import wait_for_change
from shoal.agent.support.json_value import Json
from shoal.agent.support.printable import readable_json
from shoal.agent.types import Action

INNER_SCROLL_JS = (Path(__file__).parent / "inner_scroll.js").read_text(encoding="utf-8")

_MOST_SCROLLS = 1_000
_DRAWN_S = 0.5  # until a grid that was scrolled begins to draw other rows
_QUIET_S = 0.1
_SETTLE_S = 5.0


@dataclass(slots=True)
class InnerList:
    """A list in a region of its own, while it is scrolled from its first row to its last."""

    region: str  # selector of the region
    _asked: Mapping[str, Json]  # how the page is asked for the region again
    _before: Sequence[str]  # the page's requests that were under way before it was scrolled
    below: bool = False  # whether the region holds more below what is in sight
    above: bool = False
    drawn: bool = False  # whether the document holds all rows, those out of sight too
    scrolls: int = 0
    why: str = ""  # why the wait for more rows at its end was in vain, where it was no end
    _texts: dict[str, str] = field(default_factory=dict)  # of each row that was in the document

    def note(self, view: Mapping[str, Json]) -> None:
        """Keeps where the region stands, and which rows it holds now."""
        self.below, self.above, self.drawn = bool(view["below"]), bool(view["above"]), bool(view["drawn"])
        self._texts.update({str(key): str(text) for key, text in view["rows"]})

    @property
    def twins(self) -> int:
        """Return how many rows read exactly like another one: their records cannot be told from the other's."""
        return len(self._texts) - len(set(self._texts.values()))

    async def to_top(self, state: SessionState) -> None:
        """Scrolls the region to its first row."""
        await self._look(state)
        while self.above and await self._scroll(state, "up"):
            await self._look(state)

    async def scroll_on(self, state: SessionState) -> bool:
        """Brings the next rows into sight; False at the region's end, once nothing more is loaded there."""
        if self.scrolls >= _MOST_SCROLLS:
            return False
        if not self.below:
            held = await extent(state.page)
            end = await EndOfPage.of(state.page, held, can_scroll=True, before=self._before)
            while not self.below and await end.changes():
                await self._look(state)
            self.why = end.why
        if not self.below or not await self._scroll(state, "down"):
            return False
        await wait_for_change(state.page, limit_s=_DRAWN_S)
        await self._look(state)
        return True

    async def _scroll(self, state: SessionState, direction: str) -> bool:
        (bid,) = await state.page.locate([self.region])
        if bid is None:
            return False
        self.scrolls += 1
        action = Action("scroll_element", {"bid": bid, "direction": direction}, "to further rows of the list")
        return (await state.turn_page(action)).error is None

    async def _look(self, state: SessionState) -> None:
        await state.page.settle(quiet_s=_QUIET_S, budget_s=_SETTLE_S)
        if (view := await _view(state, self._asked)) is not None:
            self.note(view)


async def inner_list(state: SessionState, places: Iterable[str]) -> InnerList | None:
    """The region around the elements at `places` that scrolls by itself; None where nothing there can be scrolled."""
    view = await _view(state, {"places": list(places)})
    if view is None:
        return None
    asked = {name: view[name] for name in ("region", "list", "tags")}
    inner = InnerList(str(view["region"]), asked, await state.page.open_requests())
    inner.note(view)
    return inner


async def _view(state: SessionState, asked: Mapping[str, Json]) -> Mapping[str, Json] | None:
    answer = await state.page.read(INNER_SCROLL_JS, dict(asked))
    view = readable_json(answer) if isinstance(answer, str) else answer
    return view if isinstance(view, Mapping) else None
