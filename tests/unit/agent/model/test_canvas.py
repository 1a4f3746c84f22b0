"""Places on a picture and places on the page: what a model points at is what is clicked."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pictures

from shoal.agent.errors import ActionInvalid, ReplyInvalid
from shoal.agent.models.images import scale_for
from shoal.agent.models.model import Image
from shoal.agent.models.settings import ImageGrid
from shoal.agent.policies.model import ModelPolicyOptions
from shoal.agent.policies.model.checks.calls import call_offers
from shoal.agent.policies.model.requests.canvas import canvas_of
from shoal.agent.types import Action, ActionResult, Effect, Step
from tests.unit.agent.model.test_step import SHOP, URL, act, calls, decide, step_reply

GRID = ImageGrid(32, 1280)
COORDINATES = {"grounding": "coordinates"}


def shot(width: int, height: int) -> bytes:
    written = io.BytesIO()
    Pictures.new("RGB", (width, height), (9, 9, 9)).save(written, "JPEG")
    return written.getvalue()


def call(name: str, **args: Any) -> dict[str, Any]:
    return step_reply(act("CALL", call={"name": name, "args": args}))


async def pointed(said: Any, *, size: tuple[int, int], pixels: int = 1, **options: Any) -> Any:
    screenshot = shot(size[0] * pixels, size[1] * pixels)
    shown = replace(SHOP, screenshot=screenshot, viewport=size)
    more = ModelPolicyOptions(**{"grid": GRID, **options})
    script = [said] if isinstance(said, dict) else said
    return await decide(*script, spec=COORDINATES, shown=shown, calls=call_offers, options=more)


async def test_what_a_model_points_at_on_a_scaled_picture_is_clicked() -> None:
    decision, model = await pointed(call("mouse_click", x=776, y=388), size=(1920, 1080))
    ((_, args),) = calls(decision)
    (image,) = model.asked[0].messages[-2].images
    with Pictures.open(io.BytesIO(image.data)) as picture:
        scale = scale_for(1920, 1080, GRID)
        assert picture.width - 32 < 1920 * scale <= picture.width
    assert args["x"] == pytest.approx(776 / scale, abs=3)
    assert args["y"] == pytest.approx(388 / scale, abs=3)
    assert args["x"] == pytest.approx(1000, abs=4), "the picture's own pixel would be some 220 pixels off"


async def test_a_picture_that_fits_is_pointed_at_in_its_own_pixels() -> None:
    decision, _ = await pointed(call("mouse_click", x=887.2, y=68), size=(1280, 720))
    assert calls(decision) == [("mouse_click", {"x": 887.2, "y": 68})]


async def test_thousandths_are_of_the_picture_with_its_padding() -> None:
    decision, model = await pointed(call("mouse_click", x=500, y=500), size=(1280, 720), points="relative")
    assert calls(decision) == [("mouse_click", {"x": 640, "y": 368})], "720 lines are padded to 736"
    assert "in thousandths of its width" in model.asked[0].messages[1].text
    decision, _ = await pointed(call("mouse_click", x=500, y=500), size=(1000, 500), points="relative", grid=None)
    assert calls(decision) == [("mouse_click", {"x": 500, "y": 250})]


async def test_a_screen_of_two_pixels_to_one_of_css() -> None:
    decision, _ = await pointed(call("mouse_click", x=1000, y=600), size=(800, 600), pixels=2, grid=None)
    assert calls(decision) == [("mouse_click", {"x": 500, "y": 300})]


async def test_every_place_and_distance_of_a_call_is_turned() -> None:
    said = call("mouse_drag_and_drop", from_x=100, from_y=200, to_x=300, to_y=400)
    decision, _ = await pointed(said, size=(2000, 1000), points="relative", grid=None)
    assert calls(decision)[0][1] == {"from_x": 200, "from_y": 200, "to_x": 600, "to_y": 400}
    decision, _ = await pointed(call("scroll_at", x=100, y=100, dx=0, dy=-500), size=(2000, 1000), pixels=2, grid=None)
    assert calls(decision)[0][1] == {"x": 50, "y": 50, "dx": 0, "dy": -250}
    decision, _ = await pointed(call("keyboard_type", text="50"), size=(2000, 1000), points="relative")
    assert calls(decision)[0][1] == {"text": "50"}


@pytest.mark.parametrize(("x", "y"), [(1300, 10), (10, 725), (-1, 10)])
async def test_a_place_outside_of_the_window_is_fed_back(x: float, y: float) -> None:
    bad, good = call("mouse_click", x=x, y=y), call("mouse_click", x=10, y=10)
    decision, model = await pointed([bad, good], size=(1280, 720))
    assert calls(decision) == [("mouse_click", {"x": 10, "y": 10})]
    assert "outside of the picture" in model.asked[1].messages[-1].text
    with pytest.raises(ReplyInvalid):
        await pointed([bad, bad], size=(1280, 720))


async def test_the_history_tells_places_as_the_model_gave_them() -> None:
    done = Step(0, URL, "first", (ActionResult(Action("mouse_click", {"x": 640, "y": 368}), effect=Effect()),))
    shown = replace(SHOP, screenshot=shot(1280, 720), viewport=(1280, 720))
    more = ModelPolicyOptions(grid=GRID, points="relative")
    said = call("mouse_click", x=1, y=1)
    _, model = await decide(said, spec=COORDINATES, shown=shown, calls=call_offers, options=more, steps=(done,))
    assert "mouse_click(x=500.0, y=500.0)" in model.asked[0].messages[-1].text


async def test_who_sees_no_pictures_cannot_point() -> None:
    with pytest.raises(ActionInvalid, match="pictures"):
        await decide(call("mouse_click", x=1, y=1), spec=COORDINATES, options=ModelPolicyOptions(images=False))


@given(st.integers(50, 4000), st.integers(50, 4000), st.floats(0, 1), st.floats(0, 1), st.sampled_from([1, 2]))
def test_there_and_back_is_the_same_place(width: int, height: int, x: float, y: float, pixels: int) -> None:
    blank = Pictures.new("1", (width * pixels, height * pixels))
    written = io.BytesIO()
    blank.save(written, "PNG")
    for points in ("pixels", "relative"):
        _, canvas = canvas_of([Image(written.getvalue())], (width, height), None, points)  # type: ignore[arg-type]
        assert canvas is not None
        there = Action("mouse_click", {"x": round(x * width, 1), "y": round(y * height, 1)})
        back = canvas.to_pixels(Action("mouse_click", canvas.to_model_units(there)))
        unit = max(1.0, width / 1000, height / 1000)
        assert abs(back["x"] - there.args["x"]) <= 0.2 * unit
        assert abs(back["y"] - there.args["y"]) <= 0.2 * unit
