"""Images as a model's vision part takes them: whole tokens of its grid, and no more of them than the budget says.

Servers scale what does not fit, each in its own way and at their own cost. An image that is padded here instead keeps
its pixels where they are, so that a model that answers in coordinates means the page's own.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass

from PIL import Image as Pictures
from PIL import UnidentifiedImageError

from shoal.agent.models.model import Image
from shoal.agent.models.settings import ImageGrid

_JPEG_QUALITY = 80
_BLANK = (255, 255, 255)

MAX_PIXELS = 200_000_000
"""Larger images are not decoded: some kilobytes can claim to be gigabytes of pixels."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """An image of whole tokens. What it shows begins at its top left corner."""

    image: Image
    width: int  # pixels of the whole image
    height: int
    scale: float  # pixels of the fitted image per pixel of the given one; 1.0: nothing was scaled

    def tokens(self, grid: ImageGrid) -> int:
        """Return what the image costs."""
        return (self.width // grid.side) * (self.height // grid.side)


def scale_for(width: int, height: int, grid: ImageGrid) -> float:
    """By how much an image must be scaled so that whole tokens that cover it are within the budget; at most 1."""
    scale = 1.0
    while _tokens(width * scale, height * scale, grid) > grid.tokens:
        # Rounding up to whole tokens may cost a row and a column, so the first guess can be a little too large.
        scale *= min(0.99, math.sqrt(grid.tokens / _tokens(width * scale, height * scale, grid)))
    return scale


def fitted(image: Image, grid: ImageGrid) -> Fitted | None:
    """`image` scaled down where it is over the budget, and padded to whole tokens; None when it cannot be decoded.

    An image that fits already keeps its bytes. Decoding and encoding take some 15 ms of CPU for a screenshot.
    """
    try:
        with Pictures.open(io.BytesIO(image.data)) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                return None
            scale = scale_for(picture.width, picture.height, grid)
            if scale == 1.0 and picture.width % grid.side == 0 and picture.height % grid.side == 0:
                return Fitted(image, picture.width, picture.height, scale)
            size = (max(1, int(picture.width * scale)), max(1, int(picture.height * scale)))
            shown = picture.convert("RGB").resize(size, Pictures.Resampling.BILINEAR, reducing_gap=2.0)
    except (UnidentifiedImageError, OSError, Pictures.DecompressionBombError, ValueError):
        return None
    padded = Pictures.new("RGB", (_up(shown.width, grid.side), _up(shown.height, grid.side)), _BLANK)
    padded.paste(shown, (0, 0))
    written = io.BytesIO()
    padded.save(written, "JPEG", quality=_JPEG_QUALITY)
    return Fitted(Image(written.getvalue(), "image/jpeg"), padded.width, padded.height, scale)


def _tokens(width: float, height: float, grid: ImageGrid) -> int:
    return math.ceil(max(1.0, width) / grid.side) * math.ceil(max(1.0, height) / grid.side)


def _up(pixels: int, side: int) -> int:
    return -(-pixels // side) * side
