"""Targets of a page by its own account: beside them, lists of elements get recall and precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Frame, Page

from shoal.agent.observe.tree import clickable_elements
from shoal.agent.types import Observation

SCRIPT = Path(__file__).with_name("_truth.js").read_text(encoding="utf-8")
_SLACK_PX = 3.0
"""Boxes of one element on two pages of one layout differ by rounding only."""

Box = tuple[float, float, float, float]  # left, top, width, height in the tab's CSS pixels


@dataclass(frozen=True)
class Wanted:
    """The places of a page's targets."""

    must: list[Box]  # native controls, widgets by role, focusable and editable elements that can be seen
    holders: list[Box]  # what listens for pointers, for itself or for what is inside
    may: list[Box]  # what only looks as if it took clicks


def listed_boxes(seen: Observation, *, in_view: bool = False) -> list[Box]:
    """The boxes of what an observation says can be acted on."""
    return [
        (e.box.x, e.box.y, e.box.width, e.box.height)
        for e in clickable_elements(seen.elements)
        if e.box is not None and (e.in_viewport or not in_view)
    ]


async def offset(frame: Frame) -> tuple[float, float] | None:
    """Return where the frame's content begins in the tab's viewport; None when it has no box."""
    if frame.parent_frame is None:
        return 0.0, 0.0
    around = await offset(frame.parent_frame)
    inner = await (await frame.frame_element()).evaluate(
        """f => { const b = f.getBoundingClientRect(), s = getComputedStyle(f);
        return [b.left + f.clientLeft + parseFloat(s.paddingLeft), b.top + f.clientTop + parseFloat(s.paddingTop)] }"""
    )
    return (around[0] + inner[0], around[1] + inner[1]) if around is not None else None


async def read_targets(page: Page) -> Wanted:
    """The page's targets over all its frames."""
    found = Wanted([], [], [])
    for frame in page.frames:
        at = await offset(frame)
        if at is None:
            continue
        said = await frame.evaluate("benchTruth.wanted()")
        for name in ("must", "holders", "may"):
            getattr(found, name).extend((x + at[0], y + at[1], w, h) for x, y, w, h in said[name])
    return found


class Near:
    """Finds boxes that are the same but for rounding, without comparing each with each."""

    def __init__(self, boxes: Sequence[Box]) -> None:
        self.boxes = boxes
        self._cells: dict[tuple[int, int], list[Box]] = {}
        for box in boxes:
            self._cells.setdefault(self._cell(box), []).append(box)

    def _cell(self, box: Box) -> tuple[int, int]:
        return int(box[0] // 16), int(box[1] // 16)

    def has(self, box: Box) -> bool:
        """Return whether one of the boxes is `box`."""
        x, y = self._cell(box)
        near = (other for dx in (-1, 0, 1) for dy in (-1, 0, 1) for other in self._cells.get((x + dx, y + dy), ()))
        return any(all(abs(a - b) <= _SLACK_PX for a, b in zip(box, other, strict=True)) for other in near)


def within(inner: Box, outer: Box) -> bool:
    """Return whether `inner` lies in `outer`."""
    return (
        inner[0] >= outer[0] - _SLACK_PX
        and inner[1] >= outer[1] - _SLACK_PX
        and inner[0] + inner[2] <= outer[0] + outer[2] + _SLACK_PX
        and inner[1] + inner[3] <= outer[1] + outer[3] + _SLACK_PX
    )


def missed(listed: Sequence[Box], truth: Wanted) -> list[Box]:
    """Targets that are not listed. What listens is there when it, or something inside it, is listed."""
    near = Near(listed)
    lost = [box for box in truth.must if not near.has(box)]
    lost += [box for box in truth.holders if not near.has(box) and not any(within(one, box) for one in listed)]
    return lost


def false(listed: Sequence[Box], truth: Wanted) -> list[Box]:
    """Return what is listed though nothing says that it takes clicks."""
    near = Near([*truth.must, *truth.holders, *truth.may])
    return [box for box in listed if not near.has(box) and not any(within(box, one) for one in truth.holders)]
