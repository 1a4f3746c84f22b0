"""Product pictures, drawn: a shape for each category on a soft ground, seen from five sides. Real JPEG bytes.

The drawing depends on category, colour and view only and is kept; each product's own file carries its name in a
comment, so that no two addresses serve the same bytes.
"""

from __future__ import annotations

import colorsys
import io
import itertools
from collections.abc import Callable
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFilter

from shop.catalogue import CATEGORIES, Category, Product

FULL_PX = 480
THUMB_PX = 240
MOST_VIEWS = 5
SHADES = 6  # different colourings within one category

Colour = tuple[int, int, int]
Painter = Callable[[ImageDraw.ImageDraw, Colour, Colour, Colour], None]

# Shapes are drawn on a field of 200 × 200 units, twice as large as they are shown: halving smooths the edges.
DRAWN_PX = 2 * FULL_PX
UNIT = DRAWN_PX / 200


def product_jpeg(product: Product, view: int, *, thumb: bool) -> bytes:
    """The picture of a product from one side (1 to 5), as a JPEG file."""
    picture = _jpeg(product.category.template, product.category.hue, product.number % SHADES, view, thumb)
    comment = f"{product.name}, view {view}".encode()
    # A comment segment may stand right behind the two bytes that begin every JPEG file.
    return picture[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + picture[2:]


def banner_jpeg(category: Category) -> bytes:
    """The wide picture on top of a category's list."""
    return _banner(category.template, category.hue)


def draw_all() -> None:
    """Draw every picture now, some seconds of work, so that no visitor waits for it and no benchmark measures it."""
    for category in CATEGORIES:
        banner_jpeg(category)
        for shade, view, thumb in itertools.product(range(SHADES), range(1, MOST_VIEWS + 1), (False, True)):
            _jpeg(category.template, category.hue, shade, view, thumb)


@lru_cache(maxsize=1024)
def _jpeg(shape: str, hue: int, shade: int, view: int, thumb: bool) -> bytes:
    side = THUMB_PX if thumb else FULL_PX
    drawing = _draw(shape, hue, shade, view)
    return _encoded(drawing.reduce(FULL_PX // side))


@lru_cache(maxsize=64)
def _banner(shape: str, hue: int) -> bytes:
    width, height = 1000, 200
    ground = Image.linear_gradient("L").rotate(90).resize((width, height))
    banner = Image.composite(
        Image.new("RGB", (width, height), _rgb(hue, 0.28, 0.93)),
        Image.new("RGB", (width, height), _rgb(hue + 24, 0.55, 0.62)),
        ground,
    )
    for place, shade in enumerate((0, 2, 4)):
        side = 190
        item = _draw(shape, hue, shade, place + 1).resize((side, side), Image.Resampling.LANCZOS)
        mask = Image.new("L", (side * 2, side * 2), 0)
        ImageDraw.Draw(mask).rounded_rectangle((12, 12, side * 2 - 12, side * 2 - 12), 40, fill=255)
        banner.paste(item, (380 + place * 200, 5), mask.resize((side, side), Image.Resampling.LANCZOS))
    return _encoded(banner)


def _encoded(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=84, optimize=True)
    return file.getvalue()


def _rgb(hue: float, saturation: float, value: float) -> Colour:
    red, green, blue = colorsys.hsv_to_rgb((hue % 360) / 360, saturation, value)
    return round(red * 255), round(green * 255), round(blue * 255)


@lru_cache(maxsize=8)  # full picture and thumbnail are asked for soon after each other
def _draw(shape: str, hue: int, shade: int, view: int) -> Image.Image:
    tone = hue + (shade - SHADES // 2) * 17
    main, dark, light = _rgb(tone, 0.62, 0.78), _rgb(tone + 12, 0.45, 0.24), _rgb(tone - 14, 0.22, 0.95)
    large = Image.new("RGBA", (DRAWN_PX, DRAWN_PX), (0, 0, 0, 0))
    PAINTERS[shape](ImageDraw.Draw(large), main, dark, light)
    item = _view_of(large.reduce(2), view)
    picture = _ground(FULL_PX, tone, view)
    small = item.getchannel("A").reduce(4).filter(ImageFilter.GaussianBlur(4)).point(lambda alpha: alpha * 0.35)
    shadow = small.resize((FULL_PX, FULL_PX), Image.Resampling.BILINEAR)
    picture.paste((30, 30, 40), (12, 18, 12 + FULL_PX, 18 + FULL_PX), shadow)
    picture.paste(item, (0, 0), item)
    return picture


def _view_of(item: Image.Image, view: int) -> Image.Image:
    side = item.width
    if view == 2:
        return item.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    if view == 3:  # a detail
        return item.crop((side // 4, side // 4, side * 3 // 4, side * 3 // 4)).resize((side, side))
    if view == 4:
        return item.rotate(18, Image.Resampling.BICUBIC)
    if view == 5:  # two side by side
        half = item.resize((side * 6 // 10, side * 6 // 10))
        pair = Image.new("RGBA", (side, side), (0, 0, 0, 0))
        pair.paste(half, (0, side // 8), half)
        pair.paste(half, (side * 4 // 10, side * 3 // 10), half)
        return pair
    return item


def _ground(side: int, tone: int, view: int) -> Image.Image:
    fade = Image.linear_gradient("L").resize((1, side)).resize((side, side), Image.Resampling.NEAREST)
    value = 0.99 if view < 4 else 0.93
    top = Image.new("RGB", (side, side), _rgb(tone, 0.03, value))
    bottom = Image.new("RGB", (side, side), _rgb(tone, 0.13, 0.9))
    return Image.composite(bottom, top, fade)


def _box(*numbers: float) -> tuple[float, ...]:
    return tuple(number * UNIT for number in numbers)


def _thick(units: int) -> int:
    return round(units * UNIT)


def _drill(pen: ImageDraw.ImageDraw, main: Colour, dark: Colour, light: Colour) -> None:
    pen.rounded_rectangle(_box(55, 55, 150, 95), 14 * UNIT, fill=main)
    pen.polygon(_box(118, 88, 148, 88, 160, 150, 128, 150), fill=dark)
    pen.rounded_rectangle(_box(112, 146, 176, 172), 6 * UNIT, fill=main)
    pen.rectangle(_box(38, 62, 58, 88), fill=dark)
    pen.polygon(_box(22, 70, 38, 66, 38, 84, 22, 80), fill=(150, 152, 158))
    pen.rectangle(_box(4, 73, 24, 77), fill=(170, 172, 178))
    pen.rounded_rectangle(_box(105, 96, 116, 112), 4 * UNIT, fill=light)
    for slot in range(4):
        pen.rounded_rectangle(_box(120 + slot * 7, 64, 123 + slot * 7, 84), UNIT, fill=dark)


def _pot(pen: ImageDraw.ImageDraw, main: Colour, dark: Colour, light: Colour) -> None:
    pen.rounded_rectangle(_box(18, 92, 182, 106), 7 * UNIT, fill=dark)
    pen.rounded_rectangle(_box(38, 80, 162, 160), 20 * UNIT, fill=main)
    pen.rectangle(_box(38, 80, 162, 96), fill=main)
    pen.pieslice(_box(36, 46, 164, 118), 180, 360, fill=main)
    pen.rounded_rectangle(_box(34, 78, 166, 86), 4 * UNIT, fill=light)
    pen.ellipse(_box(88, 34, 112, 54), fill=dark)
    pen.rounded_rectangle(_box(50, 100, 58, 146), 4 * UNIT, fill=light)


def _lamp(pen: ImageDraw.ImageDraw, main: Colour, dark: Colour, light: Colour) -> None:
    pen.line(_box(100, 0, 100, 60), fill=dark, width=_thick(2))
    pen.rounded_rectangle(_box(90, 52, 110, 72), 4 * UNIT, fill=dark)
    pen.polygon(_box(84, 70, 116, 70, 164, 132, 36, 132), fill=main)
    pen.ellipse(_box(36, 122, 164, 142), fill=light)
    pen.ellipse(_box(82, 124, 118, 152), fill=(255, 238, 180))


def _tent(pen: ImageDraw.ImageDraw, main: Colour, dark: Colour, light: Colour) -> None:
    pen.pieslice(_box(16, 50, 184, 270), 180, 360, fill=main)
    pen.polygon(_box(100, 50, 66, 160, 134, 160), fill=dark)
    pen.polygon(_box(100, 50, 66, 160, 88, 160), fill=light)
    pen.arc(_box(16, 50, 184, 270), 180, 360, fill=dark, width=_thick(3))
    pen.line(_box(6, 160, 194, 160), fill=dark, width=_thick(3))
    pen.line(_box(30, 100, 8, 160), fill=dark, width=_thick(1))
    pen.line(_box(170, 100, 192, 160), fill=dark, width=_thick(1))


def _barrow(pen: ImageDraw.ImageDraw, main: Colour, dark: Colour, light: Colour) -> None:
    pen.polygon(_box(40, 74, 158, 66, 130, 124, 66, 128), fill=main)
    pen.line(_box(148, 78, 196, 62), fill=dark, width=_thick(5))
    pen.line(_box(60, 128, 140, 112, 186, 92), fill=dark, width=_thick(4))
    pen.line(_box(128, 122, 138, 164), fill=dark, width=_thick(4))
    pen.ellipse(_box(24, 118, 72, 166), fill=dark)
    pen.ellipse(_box(38, 132, 58, 152), fill=light)
    pen.pieslice(_box(52, 42, 146, 108), 182, 356, fill=(92, 136, 62))


def _headphones(pen: ImageDraw.ImageDraw, main: Colour, dark: Colour, light: Colour) -> None:
    pen.arc(_box(42, 26, 158, 158), 180, 360, fill=dark, width=_thick(9))
    pen.rectangle(_box(42, 90, 51, 120), fill=dark)
    pen.rectangle(_box(149, 90, 158, 120), fill=dark)
    for left in (26, 136):
        pen.rounded_rectangle(_box(left, 98, left + 38, 164), 16 * UNIT, fill=main)
        pen.ellipse(_box(left + 8, 112, left + 30, 150), fill=light)


def _chair(pen: ImageDraw.ImageDraw, main: Colour, dark: Colour, light: Colour) -> None:
    pen.rounded_rectangle(_box(64, 20, 136, 98), 12 * UNIT, fill=main)
    pen.rounded_rectangle(_box(74, 30, 126, 62), 8 * UNIT, fill=light)
    pen.rectangle(_box(95, 96, 105, 150), fill=dark)
    pen.rounded_rectangle(_box(52, 100, 148, 120), 9 * UNIT, fill=main)
    pen.rounded_rectangle(_box(40, 78, 52, 106), 4 * UNIT, fill=dark)
    pen.rounded_rectangle(_box(148, 78, 160, 106), 4 * UNIT, fill=dark)
    pen.polygon(_box(100, 142, 152, 164, 146, 170, 100, 154, 54, 170, 48, 164), fill=dark)
    for left in (44, 94, 144):
        pen.ellipse(_box(left, 164, left + 12, 176), fill=dark)


def _bicycle(pen: ImageDraw.ImageDraw, main: Colour, dark: Colour, light: Colour) -> None:
    for left in (12, 116):
        pen.ellipse(_box(left, 88, left + 72, 160), outline=dark, width=_thick(5))
        pen.ellipse(_box(left + 32, 120, left + 40, 128), fill=dark)
    pen.line(_box(48, 124, 78, 74, 136, 70, 98, 126, 48, 124), fill=main, width=_thick(5), joint="curve")
    pen.line(_box(78, 74, 98, 126), fill=main, width=_thick(5))
    pen.line(_box(152, 124, 132, 54), fill=main, width=_thick(5))
    pen.line(_box(120, 52, 148, 48), fill=dark, width=_thick(5))
    pen.line(_box(78, 74, 74, 62), fill=dark, width=_thick(4))
    pen.rounded_rectangle(_box(60, 56, 88, 63), 3 * UNIT, fill=dark)
    pen.ellipse(_box(90, 118, 106, 134), fill=light)


# By the category's page template, because that is what a category is known by here.
PAINTERS: dict[str, Painter] = {
    "jsonld": _drill,
    "microdata": _pot,
    "table": _lamp,
    "definitions": _tent,
    "german": _barrow,
    "split": _headphones,
    "labels": _chair,
    "mixed": _bicycle,
}
