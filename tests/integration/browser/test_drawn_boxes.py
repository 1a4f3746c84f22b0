"""Check boxes that a style sheet hides and draws on their labels instead, in a part that comes into sight."""

from __future__ import annotations

import pytest

from shoal.agent.browser import Context
from shoal.agent.observe.renderings import compact
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.types import Action
from tests.integration.browser.test_mended import show

pytestmark = pytest.mark.asyncio(loop_scope="session")

STYLE = """<style>.popup{position:absolute;top:60px;opacity:0;visibility:hidden;transition:all .3s}
.popup.shown{opacity:1;visibility:visible}
input{position:absolute;HIDDEN;pointer-events:none} input + label{position:relative;padding-left:40px;cursor:pointer}
input + label::before{content:'';position:absolute;left:0;width:24px;height:14px;border:2px solid #567}</style>"""
PAGE = """<button onclick="document.querySelector('.popup').classList.toggle('shown')">Settings</button>
<div class=popup><h1>Settings</h1><p><input type=checkbox id=numbers checked><label for=numbers>Line numbers</label></p>
<p><input type=checkbox id=colours><label for=colours><span>Colours</span></label></p></div>"""
HIDDEN = (
    "opacity:0",
    "clip-path:inset(50%);width:1px;height:1px",
    "display:none",
    "visibility:hidden",
    "appearance:none",
)


@pytest.mark.parametrize("hidden", HIDDEN)
async def test_a_box_drawn_on_its_label_is_one_control_with_its_state(context: Context, hidden: str) -> None:
    shown = await show(context, STYLE.replace("HIDDEN", hidden) + PAGE)
    assert set(shown) == {"Settings"}
    await context.act(Action("click", {"bid": shown["Settings"]}))
    seen = await context.observe()
    boxes = {one.name: one for one in clickable_elements(seen.elements) if one.name != "Settings"}
    assert {name: (box.role, "checked" in box.states) for name, box in boxes.items()} == {
        "Line numbers": ("checkbox", True),
        "Colours": ("checkbox", False),
    }
    assert compact(seen.elements).count("Line numbers") == 1
    for name, args in (("click", "Line numbers"), ("check", "Colours")):
        result = await context.act(Action(name, {"bid": boxes[args].bid}))
        assert result.error is None
    assert await context.read("() => [numbers.checked, colours.checked]") == [False, True]
    states = {one.name: "checked" in one.states for one in clickable_elements((await context.observe()).elements)}
    assert states == {"Settings": False, "Line numbers": False, "Colours": True}


WRAPPED = """<style>.away{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%)}
label{display:flex} .box{width:16px;height:16px;border:1px solid} .track{position:relative;width:200px;height:20px}
.thumb{position:absolute;left:40px;width:16px;height:16px;background:#36c}</style>
<label><span class=away><input type=checkbox id=agree></span><span class=box></span>I agree</label>
<label><span class=away><input type=radio name=view id=book checked></span><span class=box></span>Book</label>
<label><span class=away><input type=radio name=view id=list></span><span class=box></span>List</label>
<div class=track><div class=thumb><span class=away><input type=range aria-label=Days max=14 value=3 id=days></span>
</div></div><script>for (const part of document.querySelectorAll('label, .thumb'))
for (const kind of ['pointerdown', 'mouseenter', 'click']) part.addEventListener(kind, () => {})</script>"""


async def test_fields_that_a_wrapper_of_a_pixel_clips_are_used_by_what_is_drawn_for_them(context: Context) -> None:
    """As libraries of components hide them, with listeners on what they draw."""
    await show(context, WRAPPED)
    seen = await context.observe()
    controls = {one.name: one for one in clickable_elements(seen.elements)}
    assert {name: (one.role, "checked" in one.states) for name, one in controls.items()} == {
        "I agree": ("checkbox", False),
        "Book": ("radio", True),
        "List": ("radio", False),
        "Days": ("slider", False),
    }, compact(seen.elements)
    for name in ("I agree", "List"):
        assert (await context.act(Action("click", {"bid": controls[name].bid}))).error is None
    assert (await context.act(Action("fill", {"bid": controls["Days"].bid, "value": "7"}))).error is None
    assert await context.read("() => [agree.checked, list.checked, days.value]") == [True, True, "7"]
    assert (await context.act(Action("uncheck", {"bid": controls["I agree"].bid}))).error is None
    assert await context.read("() => agree.checked") is False
