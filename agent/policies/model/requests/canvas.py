"""Conversion of a model's points: from the units that it counts in on its picture to CSS pixels of the window, and
back.

A picture is scaled to a model's budget of image tokens and padded to whole ones, and some models answer in thousandths
of it. What reaches the page are CSS pixels.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from PIL import Image as Pictures
from PIL import UnidentifiedImageError

from shoal.agent.actions.registry import ACTION_SETS
from shoal.agent.models.images import Fitted, fitted
from shoal.agent.models.model import Image
from shoal.agent.models.reply import ReplyProblem
from shoal.agent.models.settings import ImageGrid, Points
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action

THOUSAND = 1000
_ACROSS = frozenset({"x", "from_x", "to_x", "dx"})
_DOWN = frozenset({"y", "from_y", "to_y", "dy"})
_DISTANCES = frozenset({"dx", "dy"})
POINTING = frozenset(ACTION_SETS["coord"])
"""The primitives that take places on the window."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """A picture of the window, as a model points at it."""

    across: float  # CSS pixels of one unit to the right
    down: float
    width: float  # CSS pixels of the window; the padding beyond shows nothing
    height: float

    def to_pixels(self, action: Action) -> Mapping[str, Json]:
        """The arguments of a pointing action in CSS pixels.

        Raises:
            ReplyProblem: a place outside of the window.
        """
        args = self._turned(action, lambda value, unit: value * unit)
        for name, value in args.items():
            limit = self.width if name in _ACROSS else self.height if name in _DOWN else None
            if limit is not None and name not in _DISTANCES and _is_number(value) and not 0 <= value <= limit:
                raise ReplyProblem("a place is outside of the picture of the window", f"{name}={action.args[name]!r}")
        return args

    def to_model_units(self, action: Action) -> Mapping[str, Json]:
        """The arguments of a pointing action as the model gave them."""
        return self._turned(action, lambda value, unit: value / unit)

    def _turned(self, action: Action, turn: Callable[[float, float], float]) -> Mapping[str, Json]:
        if action.name not in POINTING:
            return action.args
        units = {**dict.fromkeys(_ACROSS, self.across), **dict.fromkeys(_DOWN, self.down)}
        return {
            name: round(turn(value, units[name]), 1) if name in units and _is_number(value) else value
            for name, value in action.args.items()
        }


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def canvas_of(
    images: Sequence[Image], window: tuple[int, int], grid: ImageGrid | None, points: Points
) -> tuple[tuple[Image, ...], Canvas | None]:
    """The pictures as they are to be sent, and the first of them as a canvas; None where it cannot be read.

    Decodes pictures: for a thread.

    Args:
        window: its size in CSS pixels; (0, 0): unknown, then a pixel of the picture is one of CSS.
        grid: how the model counts images; None: pictures are sent as they are.
    """
    own = _size(images[0]) if images else None
    shown = [fitted(image, grid) for image in images] if grid else [_as_it_is(image) for image in images]
    kept = tuple(picture.image for picture in shown if picture is not None)
    first = shown[0] if shown else None
    if own is None or first is None:
        return kept, None
    width, height = window if all(window) else own
    units = (1, 1) if points == "pixels" else (first.width / THOUSAND, first.height / THOUSAND)
    across, down = (
        unit / first.scale * css / pixels for unit, css, pixels in zip(units, (width, height), own, strict=True)
    )
    return kept, Canvas(across, down, width, height)


def _as_it_is(image: Image) -> Fitted | None:
    size = _size(image)
    return Fitted(image, *size, 1.0) if size else None


def _size(image: Image) -> tuple[int, int] | None:
    try:
        with Pictures.open(io.BytesIO(image.data)) as picture:
            return picture.size
    except (UnidentifiedImageError, OSError, Pictures.DecompressionBombError, ValueError):
        return None
