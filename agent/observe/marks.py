"""Set-of-marks: numbered boxes painted on a screenshot, never on the page."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFilter, ImageFont

from shoal.agent.observe.tree import clickable_elements, with_marks
from shoal.agent.types import Box, Element

# Dark enough for white letters, and far enough apart to tell neighbours by colour, on light and dark pages.
_COLOURS = (
    "#c2185b",
    "#1565c0",
    "#2e7d32",
    "#6a1b9a",
    "#bf360c",
    "#00695c",
    "#4527a0",
    "#ad1457",
    "#33691e",
    "#0277bd",
)
_SMALLEST = 4
"""CSS pixels; what is smaller cannot be pointed at."""
_JPEG_QUALITY = 80
_INK_CELL = 4
"""Image pixels per side of the squares in which the picture's edges are counted."""
_INK_EDGE = 40
"""Of 255: how strong an edge must be to be writing rather than shade or JPEG noise."""

_WRITING = 1.5
"""Edges fill about a third of the space that letters take, so each counts for more than one pixel."""
_SMALL = 2.0
"""Factor for the area of a label that hides all of an element, such as the state of a check box."""
_APART = 0.4
"""A label that does not touch its element is harder to read than one that covers as much of something else."""

_Rect = tuple[float, float, float, float]  # left, top, right, bottom in image pixels


@dataclass(frozen=True, slots=True)
class PaintedMark:
    """One painted label."""

    bid: str
    box: _Rect  # of the element
    label: _Rect  # of its number


def mark_page(root: Element, image: bytes, viewport: tuple[int, int]) -> tuple[Element, bytes]:
    """The tree with each marked element's flag set, and the picture with the marks painted on it."""
    chosen = marked_elements(clickable_elements(root), viewport)
    return with_marks(root, frozenset(element.bid for element in chosen)), paint_marks(image, chosen, viewport)


def marked_elements(elements: Sequence[Element], viewport: tuple[int, int]) -> list[Element]:
    """Those that get a mark: what takes clicks and can be seen."""
    width, height = viewport
    return [
        element
        for element in elements
        if element.clickable
        and element.in_viewport
        and (box := element.box) is not None
        and box.width >= _SMALLEST
        and box.height >= _SMALLEST
        and box.x < width
        and box.y < height
        and box.x + box.width > 0
        and box.y + box.height > 0
    ]


def place_marks(
    elements: Sequence[Element], size: tuple[int, int], scale: float, ink: Ink | None = None
) -> list[PaintedMark]:
    """Return where boxes and labels go on an image of `size` with `scale` image pixels per CSS pixel.

    A label stands where it covers least of other labels, of other elements and of its own, and of what `ink` says is
    written on the picture, such as a field's caption.
    """
    font = _font(scale)
    boxes = [_clip(_scaled(element.box, scale), size) for element in elements if element.box is not None]
    placed: list[PaintedMark] = []
    grid = _Grid(boxes, cell=64 * scale, ink=ink)
    for element, box in zip(elements, boxes, strict=True):
        left, top, right, bottom = font.getbbox(element.bid)
        width, height = right - left + 4 * scale, bottom - top + 4 * scale
        best = min(_spots(box, width, height, size), key=lambda spot: grid.cost(spot, box))
        grid.add_label(best)
        placed.append(PaintedMark(element.bid, box, best))
    return placed


def paint_marks(image: bytes, elements: Sequence[Element], viewport: tuple[int, int]) -> bytes:
    """The screenshot of a viewport with a box and the id of each of `elements`, as JPEG."""
    picture = Image.open(io.BytesIO(image)).convert("RGB")
    scale = picture.width / viewport[0] if viewport[0] else 1.0
    draw = ImageDraw.Draw(picture)
    font = _font(scale)
    line = max(1, round(1.5 * scale))
    marks = place_marks(elements, picture.size, scale, Ink(picture))
    for index, mark in enumerate(marks):
        draw.rectangle(mark.box, outline=_COLOURS[index % len(_COLOURS)], width=line)
    for index, mark in enumerate(marks):  # labels last: no box may cross out a number
        draw.rectangle(mark.label, fill=_COLOURS[index % len(_COLOURS)], outline="white")
        middle = ((mark.label[0] + mark.label[2]) / 2, (mark.label[1] + mark.label[3]) / 2)
        draw.text(middle, mark.bid, fill="white", font=font, anchor="mm")
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=_JPEG_QUALITY)
    return out.getvalue()


@lru_cache(maxsize=8)
def _font(scale: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size=max(10, round(12 * scale)))


def _scaled(box: Box, scale: float) -> _Rect:
    return (box.x * scale, box.y * scale, (box.x + box.width) * scale, (box.y + box.height) * scale)


def _clip(rect: _Rect, size: tuple[int, int]) -> _Rect:
    left, top = max(0.0, rect[0]), max(0.0, rect[1])
    return (left, top, max(left + 1, min(size[0] - 1.0, rect[2])), max(top + 1, min(size[1] - 1.0, rect[3])))


def _spots(box: _Rect, width: float, height: float, size: tuple[int, int]) -> Iterator[_Rect]:
    """Places for a label, the preferred first: around the element's corners, then beside it, then inside."""
    left, top, right, bottom = box
    middle = (top + bottom - height) / 2
    corners = (
        (left, top - height),
        (right - width, top - height),
        (left, bottom),
        (right - width, bottom),
        (left - width, middle),
        (right, middle),
        (left, top - height * 2),
        (left, bottom + height),
        (right - width, top),
        (left, top),
        (right - width, bottom - height),
    )
    for x, y in corners:
        if x >= 0 and y >= 0 and x + width <= size[0] and y + height <= size[1]:
            yield (x, y, x + width, y + height)
    x, y = min(max(0.0, left), size[0] - width), min(max(0.0, top), size[1] - height)
    yield (x, y, x + width, y + height)


class Ink:
    """The parts of a picture that show writing and lines."""

    def __init__(self, picture: Image.Image) -> None:
        edges = picture.convert("L").filter(ImageFilter.FIND_EDGES).point([255 * (v > _INK_EDGE) for v in range(256)])
        self._counts = edges.reduce(_INK_CELL)
        self._pixels = self._counts.tobytes()

    def under(self, rect: _Rect) -> float:
        """Return how much of it a rectangle would cover, in image pixels."""
        width, height = self._counts.size
        rim = _INK_CELL / 2  # what a label only touches, such as its element's border, it does not cover
        left, right = int((rect[0] + rim) // _INK_CELL), min(width, int((rect[2] - rim) // _INK_CELL) + 1)
        top, bottom = int((rect[1] + rim) // _INK_CELL), min(height, int((rect[3] - rim) // _INK_CELL) + 1)
        total = sum(sum(self._pixels[row * width + left : row * width + right]) for row in range(top, bottom))
        return total / 255 * _INK_CELL * _INK_CELL


class _Grid:
    """Finds what a label would cover without comparing it with everything on the page."""

    def __init__(self, boxes: Sequence[_Rect], cell: float, ink: Ink | None) -> None:
        self._cell = cell
        self._ink = ink
        self._boxes: dict[tuple[int, int], list[_Rect]] = {}
        self._labels: dict[tuple[int, int], list[_Rect]] = {}
        for box in boxes:
            self._put(self._boxes, box)

    def add_label(self, label: _Rect) -> None:
        self._put(self._labels, label)

    def cost(self, spot: _Rect, own: _Rect) -> float:
        """Return how much of labels (worst), of writing, of the own element, and of others `spot` covers."""
        labels = sum(_overlap(spot, other) for other in self._near(self._labels, spot))
        boxes = sum(
            _hidden(spot, other) for other in self._near(self._boxes, spot) if other != own and not _holds(other, own)
        )
        written = self._ink.under(spot) if self._ink is not None else 0.0
        apart = _APART * _area(spot) if not _overlap(_grown(spot), own) else 0.0
        return labels * 10 + written * _WRITING + boxes + _hidden(spot, own) * 0.8 + apart

    def _cells(self, rect: _Rect) -> Iterator[tuple[int, int]]:
        for column in range(int(rect[0] // self._cell), int(rect[2] // self._cell) + 1):
            for row in range(int(rect[1] // self._cell), int(rect[3] // self._cell) + 1):
                yield column, row

    def _put(self, into: dict[tuple[int, int], list[_Rect]], rect: _Rect) -> None:
        for cell in self._cells(rect):
            into.setdefault(cell, []).append(rect)

    def _near(self, among: dict[tuple[int, int], list[_Rect]], rect: _Rect) -> set[_Rect]:
        return {other for cell in self._cells(rect) for other in among.get(cell, ())}


def _area(rect: _Rect) -> float:
    return (rect[2] - rect[0]) * (rect[3] - rect[1])


def _grown(rect: _Rect) -> _Rect:
    return (rect[0] - 2, rect[1] - 2, rect[2] + 2, rect[3] + 2)


def _overlap(a: _Rect, b: _Rect) -> float:
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    return width * height if width > 0 and height > 0 else 0.0


def _hidden(spot: _Rect, box: _Rect) -> float:
    """Return how bad it is that `spot` covers part of an element:
    worse where little of the element is left to be seen.
    """
    covered = _overlap(spot, box)
    return covered + _SMALL * _area(spot) * covered / max(1.0, _area(box))


def _holds(outer: _Rect, inner: _Rect) -> bool:
    return outer[0] <= inner[0] and outer[1] <= inner[1] and outer[2] >= inner[2] and outer[3] >= inner[3]
