"""Names as people read them, one id for one control, and states that a style or an icon tells."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from shoal.agent.browser import Context, ObserveOptions
from shoal.agent.chromium.devtools.page_walk import PageWalk
from shoal.agent.observe.renderings import compact
from shoal.agent.observe.tree import clickable_elements, walk_elements
from shoal.agent.types import Action
from tests.integration.browser.test_mended import show

pytestmark = pytest.mark.asyncio(loop_scope="session")

_PATH = "<path d='M0 0L9 9'/></svg>"
NAMED = {
    "Remove page": "<button title='Remove page'><span class=material-icons>delete</span></button>",
    "Close it": "<button title='Close it'><span aria-hidden=true>×</span></button>",
    "Save": "<button>Save <span aria-hidden=true>\U0001f4be</span></button>",
    "Settings": f"<button><svg class='icon icon-cog' aria-hidden=true width=20 height=20>{_PATH} Settings</button>",
    "trash": "<button><i class='icon text-danger mr-2 icon-trash'></i></button>",
    "edit calendar": "<button><span class=q-focus-helper></span>"
    "<i class=material-icons aria-hidden=true>edit_calendar</i></button>",
    "chat": "<button><span class='buttonicon buttonicon-chat'></span></button>",
    "icon of path": f"<button><svg class='w-6 h-6 text-gray-500' width=20 height=20>{_PATH}</button>",
    "Ada": f"<button><div><b>Ada</b> <svg class='icon icon-arrow-up' aria-hidden=true>{_PATH}</div></button>",
    "Opens": f"<a href=#o><svg class='icon icon-minus' aria-hidden=true width=20 height=20>{_PATH}"
    "<span style='opacity:0'><span>Opens</span><i aria-hidden=true>*</i></span></a>",
    "check Wrap lines": f"<button><svg class='icon icon-check' aria-hidden=true>{_PATH} Wrap lines</button>",
}


@pytest.mark.parametrize("name", NAMED)
async def test_a_name_is_what_is_said_before_what_an_icon_is_called(context: Context, name: str) -> None:
    assert list(await show(context, NAMED[name])) == [name]


async def test_an_icon_of_a_library_of_components_is_not_called_by_its_classes(context: Context) -> None:
    icon = f"<svg class='MuiSvgIcon-root MuiSvgIcon-fontSizeMedium' width=20 height=20>{_PATH}"
    assert list(await show(context, f"<button>{icon}</button>")) == ["icon of path"]


ROWS = """<div class="row a"><span>Name: Ada</span></div><div class="row b"><input id=owner></div>
<div class=one><span style="display:inline-block;width:90px">City</span><b>Ulm</b></div>
<div class=two><input id=town></div>
<div><h3>Add</h3><button type=button>Note</button></div><div class=four><input id=day></div>
<div><ul role=menubar><li role=menuitem>File</li></ul></div><div class=five><input id=heading></div>
<div class=three>Street:</div><div><input id=last></div>"""


async def test_a_field_is_not_called_by_what_the_row_above_says_of_another(context: Context) -> None:
    assert list(await show(context, ROWS)) == ["owner", "town", "Note", "day", "File", "heading", "Street"]


LABELED = """<label><span style="display:none">Narration:</span><input id=words placeholder=Narration>
<button type=button>m</button></label><label>Amount <input id=sum><button type=button>±</button></label>
<label><input id=bare><button type=button>Find</button></label>
<label><span style="display:none">Payee:</span><input role=combobox placeholder=Payee>
<ul role=listbox><li role=option>Ada<li role=option>Ben</ul></label>"""


async def test_a_field_is_called_by_its_label_without_the_buttons_and_lists_in_it(context: Context) -> None:
    assert list(await show(context, LABELED)) == ["Narration", "m", "Amount", "±", "Find", "Payee", "", "Ada", "Ben"]


ONE = {
    "a link around a button": "<a href=/x><button>Inner</button></a>",
    "a button around a link": "<div role=button tabindex=0><a href=/y>Inner</a></div>",
    "the row of a box": "<ul><li onclick=1><label><input type=checkbox> Inner</label></li></ul>",
    "a component": """<x-button></x-button><script>customElements.define('x-button', class extends HTMLElement {
constructor() { super(); this.attachShadow({mode: 'open'}).innerHTML = '<button>Inner</button>'; }
connectedCallback() { this.tabIndex = 0; this.addEventListener('click', () => {}); } })</script>""",
    "a component that is named twice and listens with its parts": """<div id=root><y-button tabindex=0 aria-label=Inner
title=Inner><svg width=20 height=20><path d='M0 0L9 9'/></svg></y-button></div>
<script>customElements.define('y-button', class extends HTMLElement { connectedCallback() {
const shadow = this.attachShadow({mode: 'open'});
shadow.innerHTML = '<button aria-label=Inner><span><slot></slot></span></button>';
for (const one of [this, shadow.querySelector('span')]) one.addEventListener('click', () => {});
this.addEventListener('keydown', () => {}); } })</script>""",
    "a field in a frame that is drawn": """<div onclick=1 style="display:inline-block;position:relative">
<input aria-label=Inner><fieldset aria-hidden=true style="position:absolute;inset:0;pointer-events:none">
<legend style="visibility:hidden"><span style="opacity:0;visibility:visible">Inner</span>
</legend></fieldset></div>""",
    "a tab around its link": """<ul role=tablist><li role=tab tabindex=0 aria-selected=true>
<a role=presentation tabindex=-1 href=#a>Inner</a></li></ul>""",
    "a link and a button of one title, with a count": """<ul role=toolbar><li onclick=1 style="float:left">
<a title=Inner style="cursor:pointer;display:flex"><button title=Inner>
<i class="icon icon-people"></i></button><span>3</span></a></ul>""",
    "the hand over words in a label": "<label><input type=checkbox> <span style='cursor:pointer'>Inner</span></label>",
    "a label without a box": "<label style='display:contents'><input type=checkbox> <span>Inner</span></label>",
    "the hand over an icon": """<div onclick=1 title="Inner (Alt I)"><span>Inner</span> <span class="icon icon-chat"
style="cursor:pointer;display:inline-block;width:20px;height:20px"></span></div>""",
    "an icon that listens and is called like what is around it": """<div onclick=1 title="Inner (Alt I)">
<span>Inner</span> <i onmousedown=1 class=icon-inner style="display:inline-block;padding:10px"></i></div>""",
    "a label that names nothing": "<label for='' style='cursor:pointer'>Inner</label> <input>",
}


@pytest.mark.parametrize("name", ONE)
async def test_a_control_in_a_wrapper_has_one_id(context: Context, name: str) -> None:
    await show(context, ONE[name])
    seen = (await context.observe()).elements
    assert [one.name for one in clickable_elements(seen)] == ["Inner"]
    assert "icon" not in compact(seen) and ('[1 tab "Inner"' in compact(seen)) is name.startswith("a tab")
    assert compact(seen).count("Inner") == 1 + ("names nothing" in name)


SEVERAL = {
    "a row and its button": ("<div onclick=1 title=Row>Row <button title=Remove>x</button></div>", {"Row", "x"}),
    "a list and its parts": (
        "<div onclick=1 title=Tools><b class=icon-save style='cursor:pointer'>Save</b> "
        "<b class=icon-undo style='cursor:pointer'>Undo</b></div>",
        {"Tools", "Save", "Undo"},
    ),
    "cells, of which one begins as a tag is called": (
        "<table role=grid><tr><td role=gridcell tabindex=0>alpha no 5<td role=gridcell tabindex=0>Beta</table>",
        {"alpha no 5", "Beta"},
    ),
    "an entry and its cross": (
        "<div onclick=1 title=Ada>Ada <i class=icon-remove onclick=1 "
        "style='display:inline-block;padding:10px'></i></div>",
        {"Ada", "remove"},
    ),
    "a card and its link": ("<div onclick=1>Shoe, $20 <a href=/brand>Brand</a></div>", {"", "Brand"}),
}


@pytest.mark.parametrize("name", SEVERAL)
async def test_controls_that_do_different_things_stay_several(context: Context, name: str) -> None:
    html, names = SEVERAL[name]
    assert set(await show(context, html)) == names


ROOT = """<div id=root><h1>Books</h1><p>Two of them</p><button>Add</button></div><script>
for (const kind of ['click', 'dragstart', 'drop', 'mouseover', 'contextmenu', 'keydown'])
root.addEventListener(kind, () => {})
</script>"""


async def test_what_hears_every_event_for_its_page_is_no_control(context: Context) -> None:
    await show(context, ROOT)
    seen = await context.observe()
    assert [one.name for one in walk_elements(seen.elements) if one.bid and one.tag != "h1"] == ["Add"]
    assert not any(one.states for one in walk_elements(seen.elements)), compact(seen.elements)
    few = await context.observe(ObserveOptions(max_elements=20))  # which asks about few listeners
    assert compact(few.elements) == compact(seen.elements)


HIDDEN = f"""<div style="visibility:hidden"><h2><svg class="icon icon-site" width=20 height=20>{_PATH} Settings</h2>
<img alt=Plan src="data:," width=20 height=20><h3 aria-label=Chat>Chat</h3><canvas width=90 height=90></canvas>
<img alt=Shown src="data:," width=20 height=20 style="visibility:visible">
</div><div style="opacity:0"><img alt=Faded src="data:," width=20 height=20></div>"""


async def test_what_is_in_hidden_parts_is_not_told(context: Context) -> None:
    await show(context, HIDDEN)
    assert compact((await context.observe()).elements).split("\n") == ["(img Shown)"]


_BIG = "width=400 height=300"
DRAWN = {
    f"<svg {_BIG}><path d='M0 0L9 9'/><text y=20>May</text></svg>": True,
    f"<svg {_BIG} aria-label=Sales><path d='M0 0L9 9'/><text y=20>May</text></svg>": True,
    f"<svg {_BIG}><path d='M0 0L9 9'/></svg>": True,
    f"<svg {_BIG}><title>Wagtail</title><path d='M0 0L9 9'/></svg>": False,
    f"<svg {_BIG} aria-hidden=true><path d='M0 0L9 9'/></svg>": False,
    f"<canvas {_BIG}></canvas>": True,
    f"<img {_BIG} alt=Beach src='data:,'>": False,
}


async def test_a_drawing_says_more_than_the_text_unless_its_title_tells_it(context: Context) -> None:
    for part, more in DRAWN.items():
        await show(context, part)
        assert (await context.observe()).drawn == more, part


BOXES = """<div>Before <input type=checkbox id=node-once> <span>At the start</span> after <input value=1></div>
<svg width=300 height=60><g><rect width=90 height=30 fill=blue onclick=1></rect><text>\uf017</text><text y=20>every hour
</text></g>
<g transform="translate(120)"><g><rect width=9 height=9 fill=blue onclick=1></rect></g><text y=20>each day</text></g>
</svg>"""


async def test_a_box_is_called_by_what_stands_behind_it_and_a_shape_by_the_words_drawn_on_it(context: Context) -> None:
    assert list(await show(context, BOXES)) == ["At the start", "after", "every hour", "blue rect"]


STATES = """<style>.tb button{background:#fff} .tb .active{background:#ccd} .off{color:#bbb} .sel::before{content:'✓ '}
tr.selected{background:#def} .same.active{}</style>
<div class=tb><button class=active>Bold</button><button>Italic</button></div>
<div><button class="same active">Plain</button><button class=same>Other</button></div>
<ul><li class=disabled><a href="#" class=off>Undo</a></li><li><a href="#">Redo</a></li></ul>
<div style="opacity:.4"><button>Pale</button></div>
<div role=menu><div role=menuitem tabindex=-1 class=sel>Hidden files</div>
<div role=menuitem tabindex=-1><i class="fa fa-check"></i> Numbers</div>
<div role=menuitem tabindex=-1><i class="fa fa-check" style="visibility:hidden"></i> Folds</div></div>
<table><tr class=selected onclick=1><td>one<td>1<tr onclick=1><td>two<td>2</table>
<progress value=3 max=9></progress>"""


async def test_states_are_told_that_a_style_shows_and_not_those_that_it_does_not(context: Context) -> None:
    await show(context, STATES)
    seen = await context.observe()
    told = {one.name: one.states & {"highlighted", "greyed", "checked"} for one in walk_elements(seen.elements)}
    on, off = {"Bold", "one 1"}, {"Undo", "Pale"}
    assert {name for name, states in told.items() if "highlighted" in states} == on, compact(seen.elements)
    assert {name for name, states in told.items() if "greyed" in states} == off, compact(seen.elements)
    assert {name for name, states in told.items() if "checked" in states} == {"Hidden files", "Numbers"}
    assert "(progressbar at 3)" in compact(seen.elements)


EDITOR = """<div role=textbox contenteditable=true aria-label=Note><div>A <span style="font-weight:700">bold</span> and
<span style="font-style:italic">slanted</span> word</div><ol><li>one</li><li>two</li></ol>
<table><tr><td>a</td><td>b</td></tr></table><p><input type=checkbox checked> done</p></div>"""


async def test_what_an_editor_holds_is_told_with_its_lines_and_looks(context: Context) -> None:
    await show(context, EDITOR)
    text = compact((await context.observe()).elements)
    assert r'="A **bold** and _slanted_ word\n1. one\n2. two\na | b\n[x] done"' in text, text


FLOW = """<style>body{margin:0} svg text{font:12px sans-serif}
.node{position:absolute;width:90px;height:40px;border:1px solid} .edges{position:absolute;overflow:visible}</style>
<svg id=flow width=600 height=200><rect width=600 height=200 fill="#eee"/>
<g class=node transform="translate(40,40)"><rect width=100 height=30 fill="#fff"/><text x=20 y=20>inject</text>
<g><rect class=port x=95 y=10 width=10 height=10 /></g></g>
<g class=node transform="translate(300,120)"><rect width=100 height=30 fill="#fff"/><text x=20 y=20>debug 1</text></g>
<g class=node transform="translate(450,20)"><rect width=100 height=30 fill="#fff"/><text x=20 y=20>alone</text></g>
<g class=link><path class=back fill=none stroke="transparent" stroke-width=13 d="M145 55 C 220 55 220 135 300 135"/>
<path fill=none stroke="#999" d="M145 55 C 220 55 220 135 300 135"/></g></svg>
<div style="position:relative;width:600px;height:120px">
<svg class=edges width=1 height=1><path fill=none stroke=black d="M102 30 L 248 30"/></svg>
<div class=node tabindex=0 style="left:10px;top:10px">Load</div>
<div class=node tabindex=0 style="left:250px;top:10px">Clean</div></div>
<svg width=300 height=100><g><rect width=300 height=100 fill="#fafafa"/>
<path fill=none stroke=red d="M5 90 L 100 20 L 295 60"/><path fill=none stroke=black d="M20 90 L 280 90"/>
<text x=8 y=95>0</text><text x=285 y=95>10</text></g></svg>
<table><tr><td>Sales <svg width=90 height=20><path fill=none stroke=red d="M0 9 L 90 2"/></svg> up<td>Costs</table>
<script>for (const part of document.querySelectorAll('#flow .node, #flow .back'))
part.addEventListener('mousedown', () => {});</script>"""


async def test_what_lines_of_a_drawing_join_is_told(context: Context) -> None:
    await show(context, FLOW)
    seen = await context.observe()
    told = [(one.name, bool(one.bid)) for one in walk_elements(seen.elements) if one.name.startswith("line")]
    assert told == [("line from inject to debug 1", True), ("line from Load to Clean", False)], compact(seen.elements)


def _wired(pairs: int) -> str:
    """Boxes in pairs, ten in a row, with a line from one to the other."""
    at = [(n, n % 10 * 125, n // 10 * 30) for n in range(pairs)]
    style = "position:absolute;width:40px;height:20px;font-size:9px"
    boxes = "".join(
        f'<div style="{style};left:{x}px;top:{y}px">a{n}</div><div style="{style};left:{x + 75}px;top:{y}px">b{n}</div>'
        for n, x, y in at
    )
    lines = "".join(f"<line x1={x + 41} y1={y + 8} x2={x + 74} y2={y + 8} stroke=red />" for _, x, y in at)
    return (
        f"<body style='margin:0'>{boxes}<svg style='position:absolute;left:0;top:0' width=1280 height=800>{lines}</svg>"
    )


async def test_so_many_lines_of_a_page_are_looked_at(context: Context) -> None:
    for pairs, named in ((100, 100), (240, 200)):
        await show(context, _wired(pairs))
        seen = await context.observe()
        assert sum(one.name.startswith("line from") for one in walk_elements(seen.elements)) == named


PARTS = """<style>.thumb{position:relative;display:inline-block;width:20px;height:20px;background:#36c}
.thumb input{position:absolute;width:100%;height:100%;margin:0;clip:rect(0 0 0 0)}
.box{position:relative;display:inline-block}
.box input{position:absolute;inset:0;width:24px;height:24px;opacity:0}</style>
<div id=app><div role=button tabindex=0><span>Tag</span><svg class=del width=20 height=20 data-testid=CancelIcon>
<path d="M0 0L9 9"/></svg></div>
<span class=slider><span class=thumb><input type=range min=0 max=100 value=30 aria-label=Volume></span></span>
<a class=modebar-btn data-title="Zoom in"><svg width=20 height=20><path d="M0 0L9 9"/></svg></a>
<fieldset aria-hidden=true><legend style="visibility:hidden">Age</legend></fieldset>
<svg id=chart width=300 height=100><text x=5 y=20>Sales</text><text x=5 y=90>Jan</text><text x=90 y=90>Feb</text>
<g><text x=220 y=20>first</text><rect class=toggle x=200 y=5 width=80 height=20 fill-opacity=0 /></g></svg>
<div style="height:1200px">Below</div>
<span class=box tabindex=-1><input type=checkbox checked><svg width=24 height=24><path d="M0 0L9 9"/></svg></span></div>
<script>for (const css of ['.del', '.slider', '.modebar-btn', '.toggle'])
document.querySelector(css).addEventListener('click', () => {});
for (const type of ['click', 'dragstart', 'drop', 'mouseover', 'contextmenu', 'keydown'])
app.addEventListener(type, () => {});</script>"""


async def test_controls_of_libraries_say_what_they_are(context: Context) -> None:
    await show(context, PARTS)
    seen = await context.observe()
    text = compact(seen.elements)
    told = {(one.role or one.tag, one.name) for one in clickable_elements(seen.elements)}
    assert {("button", "Tag"), ("slider", "Volume"), ("a", "Zoom in"), ("rect", "first")} <= told, text
    (box,) = [one for one in clickable_elements(seen.elements) if one.role == "checkbox"]
    assert "checked" in box.states and not box.in_viewport, text
    assert "Sales Jan Feb first" in text
    assert "Age" not in text and "drop target" not in text
    assert [one.tag for one in clickable_elements(seen.elements)] == ["div", "svg", "input", "a", "rect", "input"], text
    volume = next(one for one in walk_elements(seen.elements) if one.name == "Volume")
    assert volume.attributes["value"] == "30"
    assert (await context.act(Action("fill", {"bid": volume.bid, "value": "70"}))).error is None
    assert await context.read("() => document.querySelector('.thumb input').value") == "70"


COMING = """<div role=application contenteditable=true aria-label=Pad>Soup</div>
<div id=menu style="opacity:.1"><button>Bold</button></div>
<script>menu.animate([{opacity: .1}, {opacity: 1}], {duration: 600000})</script>"""


async def test_an_editor_is_a_field_by_any_role_and_what_comes_into_sight_is_not_greyed(context: Context) -> None:
    await show(context, COMING)
    told = {one.name: one for one in clickable_elements((await context.observe()).elements)}
    assert told["Pad"].role == "textbox"
    assert "greyed" not in told["Bold"].states


GROWING = """<h1>Flow</h1><p>Words about it.</p><script>const add = name => {
  const part = Object.assign(document.createElement('div'), {textContent: name});
  part.addEventListener('mousedown', () => {});
  document.body.append(part);
};
add('First'); add('Third')</script><p>More words.</p>"""


async def test_a_label_is_told_without_the_buttons_in_it(context: Context) -> None:
    shown = await show(
        context,
        """<div id=l>Town <button>Help</button><span role=button tabindex=0>More</span></div><input aria-labelledby=l>
        <label>Street <span role=button tabindex=0>What is it?</span><input></label>
        <button id=b>Only</button><input aria-labelledby=b><div id=h hidden>Hidden <b>one</b></div><input
        aria-labelledby=h><p id=c><span style="display: contents">Shown</span></p><input aria-labelledby=c>""",
    )
    fields = [one.name for one in clickable_elements((await context.observe()).elements) if one.tag == "input"]
    assert fields == ["Town", "Street", "Only", "Hidden one", "Shown"], shown


async def test_texts_side_by_side_are_one_word_of_a_label(context: Context) -> None:
    """React makes several texts of one sentence with values in it."""
    shown = await show(
        context, "<p id=l></p><input aria-labelledby=l><script>l.append('Rename \"', 'plum', '\"')</script>"
    )
    (field,) = clickable_elements((await context.observe()).elements)
    assert field.name == 'Rename "plum"', shown


async def test_what_comes_while_listeners_are_looked_up_has_an_id(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That takes seconds on a busy machine, and the page goes on being built."""
    mark = PageWalk._mark
    marked: list[bool] = []

    async def slowly(walk: PageWalk, session: Any, *given: Any) -> None:
        await mark(walk, session, *given)
        if not marked:
            marked.append(True)
            await session.send("Runtime.evaluate", {"expression": "add('Second')"})
            await asyncio.sleep(0.5)

    monkeypatch.setattr(PageWalk, "_mark", slowly)
    shown = await show(context, GROWING)
    assert {"First", "Second", "Third"} <= set(shown)
