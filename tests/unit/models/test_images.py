"""Images in whole tokens, within their budget."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pictures

from shoal.agent.models.images import Fitted, fitted, scale_for
from shoal.agent.models.model import Image
from shoal.agent.models.settings import ImageGrid

GRID = ImageGrid(side=32, tokens=1280)
RED, BLUE = (220, 20, 20), (20, 20, 220)


def picture(width: int, height: int, kind: str = "PNG") -> Image:
    """Red, with a blue lower right corner."""
    drawn = Pictures.new("RGB", (width, height), RED)
    drawn.paste(BLUE, (width // 2, height // 2, width, height))
    written = io.BytesIO()
    drawn.save(written, kind)
    return Image(written.getvalue(), f"image/{kind.lower()}")


def fit(image: Image, grid: ImageGrid = GRID) -> Fitted:
    found = fitted(image, grid)
    assert found is not None
    return found


def opened(found: Fitted) -> Pictures.Image:
    return Pictures.open(io.BytesIO(found.image.data)).convert("RGB")


def near(colour: object, wanted: tuple[int, int, int]) -> bool:
    assert isinstance(colour, tuple)
    return all(abs(a - b) < 40 for a, b in zip(colour, wanted, strict=True))


def test_a_screenshot_within_the_budget_is_padded_and_keeps_its_pixels_in_place() -> None:
    found = fit(picture(1280, 720))
    assert (found.width, found.height, found.scale) == (1280, 736, 1.0)
    assert found.tokens(GRID) == 40 * 23
    shown = opened(found)
    assert near(shown.getpixel((1270, 710)), BLUE)
    assert near(shown.getpixel((1279, 735)), (255, 255, 255))


def test_an_image_that_fits_already_keeps_its_bytes() -> None:
    image = picture(640, 480)
    assert fit(image).image is image


def test_a_large_screenshot_is_scaled_to_the_budget_in_its_own_shape() -> None:
    found = fit(picture(3840, 2160))
    assert found.tokens(GRID) <= GRID.tokens
    assert found.tokens(GRID) > 0.9 * GRID.tokens
    assert 0 < found.scale < 1
    shown = opened(found)
    x, y = int(3000 * found.scale), int(2000 * found.scale)
    assert near(shown.getpixel((x, y)), BLUE)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_every_kind_of_screenshot_can_be_fitted(kind: str) -> None:
    assert fit(picture(700, 300, kind)).image.content_type == "image/jpeg"


@pytest.mark.parametrize("data", [b"", b"not an image", picture(100, 100).data[:60], b"\x89PNG\r\n\x1a\n"])
def test_what_is_no_image_is_said_to_be_none(data: bytes) -> None:
    assert fitted(Image(data), GRID) is None


def test_transparency_does_not_stop_it() -> None:
    written = io.BytesIO()
    Pictures.new("RGBA", (50, 50), (0, 0, 0, 0)).save(written, "PNG")
    assert fit(Image(written.getvalue())).width == 64


@given(
    st.integers(1, 20_000),
    st.integers(1, 20_000),
    st.sampled_from([14, 28, 32]),
    st.integers(16, 4096),
)
def test_no_size_is_over_its_budget(width: int, height: int, side: int, tokens: int) -> None:
    grid = ImageGrid(side, tokens)
    scale = scale_for(width, height, grid)
    assert 0 < scale <= 1
    across = -(-max(1, int(width * scale)) // side)
    down = -(-max(1, int(height * scale)) // side)
    assert across * down <= tokens
