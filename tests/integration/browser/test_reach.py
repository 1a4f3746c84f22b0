"""Dragging, pointing and keys, pictures of parts, effects in frames, and the wait after an action."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from shoal.agent.browser import Browser, Context, ContextOptions
from shoal.agent.errors import ActionInvalid, ElementMissing
from shoal.agent.observe.renderings import compact
from shoal.agent.observe.tree import clickable_elements, walk_elements
from shoal.agent.spec import BrowserSpec, Viewport
from shoal.agent.types import Action, Box
from tests.integration.browser.conftest import WRITTEN, Site
from tests.integration.browser.test_mended import show

pytestmark = pytest.mark.asyncio(loop_scope="session")

DRAG = """<div id=parcel draggable=true style="width:80px">Parcel</div><div id=shelf style="width:80px">Shelf</div>
<div id=tip>Tip</div><div id=menu>Menu</div><p id=out></p><script>
  parcel.ondragstart = event => event.dataTransfer.setData('text', 'it');
  shelf.addEventListener('dragover', event => event.preventDefault());
  shelf.addEventListener('drop', event => { out.textContent = 'dropped ' + event.dataTransfer.getData('text'); });
  tip.addEventListener('mouseenter', () => { out.textContent = 'hovered'; });
  menu.addEventListener('contextmenu', () => { out.textContent = 'menu'; });
</script>"""


async def test_what_takes_no_clicks_has_ids_for_the_actions_that_it_takes(context: Context) -> None:
    await show(context, DRAG)
    seen = await context.observe()
    found = {one.name: one for one in walk_elements(seen.elements) if one.bid}
    assert {name: set(found[name].states) for name in ("Parcel", "Shelf", "Tip", "Menu")} == {
        "Parcel": {"draggable"},
        "Shelf": {"drop target"},
        "Tip": {"hovers"},
        "Menu": {"context menu"},
    }
    assert clickable_elements(seen.elements) == []
    assert f'[{found["Parcel"].bid} div "Parcel" draggable]' in compact(seen.elements)
    for action, said in (
        (Action("drag_and_drop", {"from_bid": found["Parcel"].bid, "to_bid": found["Shelf"].bid}), "dropped it"),
        (Action("hover", {"bid": found["Tip"].bid}), "hovered"),
        (Action("click", {"bid": found["Menu"].bid, "button": "right"}), "menu"),
    ):
        assert (await context.act(action)).error is None
        assert await context.read("() => out.textContent") == said


async def test_pictures_of_an_element_and_of_a_region(browser: Browser) -> None:
    window = BrowserSpec(viewport=Viewport(width=300, height=200))
    context = await browser.new_context(ContextOptions(browser=window, schemes=WRITTEN))
    square = "<button style='width:50px; height:40px; margin:900px 0 0 400px; background:#f00; border:0'>x</button>"
    found = await show(context, f"<body style='margin:0; background:#00f'>{square}")
    shot = await context.screenshot(bid=found["x"])
    picture = Image.open(io.BytesIO(shot.data)).convert("RGB")
    assert picture.size == (shot.width, shot.height) == (50, 40)
    red, _, blue = picture.getpixel((5, 5))  # type: ignore[misc]
    assert red > 200 > 50 > blue
    await context.read("() => scrollTo(0, 0)")
    region = await context.screenshot(region=Box(390, 890, 20, 20))  # reaches beyond the window
    corner = Image.open(io.BytesIO(region.data)).convert("RGB")
    assert corner.size == (20, 20)
    assert corner.getpixel((2, 2))[2] > 200 > corner.getpixel((17, 17))[2]  # type: ignore[index]
    with pytest.raises(ElementMissing):
        await context.screenshot(bid="987")
    for wrong in ({"region": Box(-100, 0, 50, 50)}, {"full_page": True, "bid": found["x"]}):
        with pytest.raises(ActionInvalid):
            await context.screenshot(**wrong)  # type: ignore[arg-type]
    await context.close()


@pytest.mark.parametrize("how", ["iframe", "nested", "cross"])
async def test_keys_and_points_in_frames_say_what_they_changed(context: Context, site: Site, how: str) -> None:
    await context.goto(f"{site.url}/wrap?how={how}")
    await context.settle(quiet_s=0.1)
    found = {one.name: one for one in clickable_elements((await context.observe()).elements)}
    box = found["Text"].box
    assert box is not None
    clicked = await context.act(Action("mouse_click", {"x": box.x + 10, "y": box.y + 8}))
    assert clicked.effect.focus == found["Text"].bid
    assert clicked.effect.dom_changed  # the page says that it has the focus
    assert (await context.act(Action("keyboard_type", {"text": "Hi"}))).effect.value == "Hi"


async def test_an_observation_after_an_action_waits_for_what_the_action_began(context: Context, site: Site) -> None:
    for how in ("main", "cross"):
        await context.goto(f"{site.url}/acts" if how == "main" else f"{site.url}/wrap?how={how}")
        await context.settle(quiet_s=0.1)
        (button,) = [one for one in clickable_elements((await context.observe()).elements) if one.name == "Ask"]
        await context.act(Action("click", {"bid": button.bid}))  # the answer takes 600 ms
        assert "answered" in compact((await context.observe()).elements), how


async def test_a_canvas_is_drawn_on_by_coordinates(context: Context) -> None:
    await show(context, "<canvas id=c width=200 height=100 style='position:absolute; left:0; top:0'></canvas><script>"
               "c.onpointerdown = e => { c.dataset.from = [e.offsetX, e.offsetY] };"
               "c.onpointerup = e => { c.dataset.to = [e.offsetX, e.offsetY] }</script>")  # fmt: skip
    drag = {"from_x": 20, "from_y": 30, "to_x": 120, "to_y": 60}
    assert (await context.act(Action("mouse_drag_and_drop", drag))).error is None
    assert await context.read("() => [c.dataset.from, c.dataset.to]") == ["20,30", "120,60"]
