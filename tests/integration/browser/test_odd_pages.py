"""Elements where few look for them: on image maps, in drawings, in scaled frames, far down, far left, behind keys."""

from __future__ import annotations

import html
import io
import time
import urllib.parse
from dataclasses import replace

import pytest
import pytest_asyncio
from PIL import Image

from shoal.agent.browser import Browser, Context, ObserveOptions
from shoal.agent.chromium.acting.settling import readiness
from shoal.agent.chromium.devtools import page_walk
from shoal.agent.chromium.process.launch import LaunchOptions, launch
from shoal.agent.observe.marks import Ink, marked_elements, place_marks
from shoal.agent.observe.renderings import FORMATS, compact, render
from shoal.agent.observe.tree import clickable_elements, walk_elements
from shoal.agent.types import Action, Box
from tests.integration.browser.conftest import WRITTEN, Site
from tests.integration.browser.test_mended import click, ids, show
from tests.patience import PATIENT

pytestmark = pytest.mark.asyncio(loop_scope="session")

DARK = "background:#111; color:#eee; color-scheme:dark"
PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="


def framed(page: str, extra: str = "") -> str:
    return f'<iframe srcdoc="{html.escape(page)}" width=400 height=200 {extra}></iframe>'


# --- places ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["main", "frame"])
async def test_areas_of_an_image_map_are_listed_where_they_lie_and_clicked(context: Context, place: str) -> None:
    said = "onclick='document.body.append(this.alt + 1); return false'"
    areas = (
        f"<area href='#a' alt=Square coords='10,10,60,60' {said}>"
        f"<area href='#b' alt=Round shape=circle coords='130,50,20' {said}>"
        f"<area href='#c' alt=Corner shape=poly coords='180,10,220,10,180,80' {said}>"
        "<area alt=Nothing coords='0,0,5,5'><area href='#d' alt=Elsewhere coords='a,b'>"
    )
    image = f"<img src='{PIXEL}' width=240 height=100 usemap='#m' style='padding:5px'>"
    page = f"<body>{image}<map name=m>{areas}</map>"
    found = await show(context, page if place == "main" else framed(page))
    if place == "frame":
        await context.settle(quiet_s=0.1)
        found = await ids(context)
    assert list(found) == ["Square", "Round", "Corner"]
    seen = await context.observe()
    boxes = {one.name: one.box for one in clickable_elements(seen.elements)}
    square, round_ = boxes["Square"], boxes["Round"]
    assert square and round_ and (square.width, square.height, round_.width) == (50, 50, 40)
    assert (round_.x - square.x, round_.y - square.y) == (100, 20)
    for name in found:
        assert (await click(context, found[name])).error is None
        assert f"{name}1" in compact((await context.observe()).elements)
    assert (await context.act(Action("hover", {"bid": found["Round"]}))).error is None


async def test_links_of_drawings_of_both_spellings(context: Context) -> None:
    drawing = (
        "<svg width=200 height=100><a href='#new'><text y=20>New link</text></a>"
        "<a xlink:href='#old'><text y=60>Old link</text></a></svg>"
    )
    assert list(await show(context, drawing)) == ["New link", "Old link"]


async def test_a_frame_that_is_drawn_smaller_is_pointed_at_where_it_lies(context: Context) -> None:
    button = "<button style='position:absolute; left:200px; top:100px; width:100px; height:40px'>Deep</button>"
    said = "<script>onclick = event => { document.body.append(event.target.textContent + '!') }</script>"
    style = "style='transform:scale(.5); transform-origin:0 0; border:0; position:absolute; left:10px; top:20px'"
    await show(context, framed(button + said, style))
    await context.settle(quiet_s=0.1)
    (deep,) = clickable_elements((await context.observe()).elements)
    assert deep.box == Box(110, 70, 50, 20)
    assert (await context.act(Action("mouse_click", {"x": 135, "y": 80}))).error is None
    assert "Deep!" in compact((await context.observe()).elements)


async def test_a_page_from_right_to_left_goes_on_to_the_left(context: Context) -> None:
    far = "<button style='position:absolute; left:{}px; top:20px'>{}</button>"
    page = f"<html dir=rtl><div style='width:3000px'>{far.format(-900, 'Far')}{far.format(-9000, 'Gone')}<button>Near"
    await show(context, f"{page}</button></div>")
    await context.read("() => document.querySelectorAll('button')[1].remove()")  # else the page would reach there
    found = await show(context, f"{page.replace(far.format(-9000, 'Gone'), '')}</button></div>")
    assert set(found) == {"Far", "Near"}
    assert (await click(context, found["Far"])).error is None


async def test_a_page_as_deep_as_pages_get_is_read_in_every_format(context: Context) -> None:
    deep, lists = "<button>Bottom</button>", 140  # each of two levels; Chromium ends at 512
    for _ in range(3):
        deep = f"{'<ul><li>x' * lists}{deep}{'</li></ul>' * lists}"
        deep = framed(deep)
    await show(context, deep)
    await context.settle(quiet_s=0.2)
    seen = await context.observe()
    assert [one.name for one in clickable_elements(seen.elements)] == ["Bottom"]
    assert not seen.cut
    for form in FORMATS:
        assert "Bottom" in render(seen, form), form


async def test_what_lies_deeper_than_is_looked_is_said_to_be_missing(context: Context) -> None:
    await show(context, f"{'<div>' * 400}<button>Bottom</button>")
    seen = await context.observe()
    assert (seen.cut, seen.omitted) == (True, 1)
    assert "Bottom" in compact(seen.elements)


# --- documents that run no scripts, or are only just there ------------------------------------------------------


@pytest.mark.parametrize("reading", [False, True], ids=["acting", "reading"])
async def test_a_document_that_may_run_no_scripts_is_not_waited_for_in_vain(
    browser: Browser, site: Site, reading: bool
) -> None:
    context = await browser.new_context(replace(PATIENT, reading=reading))
    await context.goto(f"{site.url}/sandboxed")
    assert await context.settle(quiet_s=0.1, budget_s=60)
    await context.close()


async def test_a_frame_that_may_run_no_scripts_is_not_waited_for_in_vain(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "_SETTLE_S", 9.0)
    found = await show(context, f"<button>Own</button>{framed('<button>Inner</button>', 'sandbox')}")
    await context.observe()
    await click(context, found["Own"])
    started = time.monotonic()
    await context.observe()
    assert time.monotonic() - started < 7


async def test_an_action_right_after_a_navigation_finds_its_document(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/acts")
    await context.observe()
    for _ in range(5):
        for name, args in (("goto", {"url": f"{site.url}/second"}), ("go_back", {}), ("scroll", {"dx": 0, "dy": 9})):
            result = await context.act(Action(name, args))
            assert result.error is None, result.error


# --- what takes no clicks -------------------------------------------------------------------------------------

KEYS = """<p id=out></p><div id=a tabindex=-1>Field</div><div id=b>Deaf</div><div id=d tabindex=0>Board</div>
<form id=c>Words <button type=button>Inside</button></form><script>
  const say = id => event => { out.textContent += `${id} ${event.key} ` };
  for (const id of ['a', 'b', 'c', 'd']) document.getElementById(id).addEventListener('keydown', say(id));
  document.addEventListener('keydown', say('page'));
</script>"""


async def test_keys_are_said_of_what_can_have_the_focus_and_of_nothing_else(context: Context) -> None:
    await show(context, KEYS)
    seen = await context.observe()
    found = {one.name: one for one in walk_elements(seen.elements) if one.bid}
    assert {name for name, one in found.items() if "keys" in one.states} == {"Field", "Board"}
    assert [one.name for one in clickable_elements(seen.elements)] == ["Board", "Inside"]
    assert "Deaf" in compact(seen.elements) and "Deaf" not in found
    for name, said in (("Field", "a x page x"), ("Board", "d x page x"), ("Inside", "c x page x")):
        await context.read("() => { out.textContent = '' }")
        assert (await context.act(Action("press", {"bid": found[name].bid, "key_comb": "x"}))).error is None
        assert await context.read("() => out.textContent.trim()") == said
    await context.read("() => { document.activeElement.blur(); out.textContent = '' }")
    assert (await context.act(Action("keyboard_press", {"key_comb": "y"}))).error is None
    assert await context.read("() => out.textContent.trim()") == "page y"


async def test_a_canvas_says_where_it_is(context: Context) -> None:
    place = "style='position:absolute; left:{}px; top:20px' width=200 height=100"
    await show(context, f"<canvas {place.format(10)}></canvas><canvas {place.format(300)} onclick=1></canvas>")
    text = compact((await context.observe()).elements)
    assert "(canvas 200 x 100 px at 10, 20)" in text
    assert "canvas 200 x 100 px at 300, 20]" in text


async def test_what_an_input_suggests_is_selected(context: Context) -> None:
    towns = "<datalist id=l><option value=Bern><option value=bs label=Basel></datalist>"
    found = await show(context, f"<input list=l aria-label=Town>{towns}")
    for wanted, value in (("Bern", "Bern"), ("basel", "bs"), (0, "Bern")):
        result = await context.act(Action("select_option", {"bid": found["Town"], "options": wanted}))
        assert (result.error, result.effect.value) == (None, value)
    result = await context.act(Action("select_option", {"bid": found["Town"], "options": "Paris"}))
    assert result.error is not None and "Bern, Basel" in result.error.message


async def test_more_listeners_than_one_look_asks_about_are_said_to_be_missing(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_walk, "_MAX_NEW_LISTENERS", 40)
    monkeypatch.setattr(page_walk, "_TELLINGS", 1)  # a look that took long asks again
    script = "document.querySelectorAll('div').forEach(one => one.addEventListener('click', () => {}))"
    page = urllib.parse.quote(f"{'<div>x</div>' * 60}<script>{script}</script>")
    await context.goto(f"data:text/html,{page}")
    seen = [await context.observe() for _ in range(2)]
    assert [(len(clickable_elements(one.elements)), one.cut) for one in seen] == [(40, True), (60, False)]
    assert "some not shown" in render(seen[0])


# --- marks at another device scale --------------------------------------------------------------------------------


@pytest_asyncio.fixture(params=[1, 2], loop_scope="session")
async def fine(request: pytest.FixtureRequest) -> tuple[Browser, int]:
    """A browser whose screen has so many pixels per CSS pixel, each way."""
    return await launch(LaunchOptions(args=(f"--force-device-scale-factor={request.param}",))), request.param


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_marks_of_a_form_at_device_scale_one_and_two(fine: tuple[Browser, int], site: Site, dark: bool) -> None:
    browser, scale = fine
    try:
        context = await browser.new_context(PATIENT)
        await context.goto(f"{site.url}/acts")
        if dark:
            await context.read("style => { document.documentElement.style = style }", DARK)
        seen = await context.observe(ObserveOptions(screenshot=True, marks=True))
        assert seen.screenshot and seen.marked_screenshot
        plain, marked = (
            Image.open(io.BytesIO(one)).convert("RGB") for one in (seen.screenshot, seen.marked_screenshot)
        )
        assert plain.size == marked.size == (1280 * scale, 800 * scale)
        chosen = marked_elements(clickable_elements(seen.elements), seen.viewport)
        marks = place_marks(chosen, plain.size, scale, Ink(plain))
        labels = [mark.label for mark in marks]
        assert len(marks) > 20
        for i, a in enumerate(labels):
            assert a[3] - a[1] >= 10 * scale  # as tall as small print
            for b in labels[i + 1 :]:
                assert min(a[2], b[2]) <= max(a[0], b[0]) or min(a[3], b[3]) <= max(a[1], b[1])
        for mark in marks:
            left, top, right, bottom = map(round, mark.label)
            number = marked.crop((left, top, right, bottom)).convert("L")
            assert (number.getextrema()[1] - number.getextrema()[0]) > 90, mark.bid  # type: ignore[operator]
        part = await context.screenshot(region=Box(10, 10, 60, 40))
        assert (part.width, part.height) == (60 * scale, 40 * scale)
        await context.close()
    finally:
        await browser.close()


async def test_a_page_longer_than_chromium_draws_ends_where_it_does(fine: tuple[Browser, int]) -> None:
    browser, scale = fine
    try:
        context = await browser.new_context(replace(PATIENT, schemes=WRITTEN))
        await show(context, "<body style='margin:0'><div style='height:20000px; background:#00f'></div>")
        shot = await context.screenshot(full_page=True)
        picture = Image.open(io.BytesIO(shot.data)).convert("RGB")
        assert picture.size == (1280 * scale, 16_000)
        assert picture.getpixel((5, 15_900))[2] > 200  # type: ignore[index]
        await context.close()
    finally:
        await browser.close()
