"""Pages of applications: rows without native controls, bars over the content, menus that are closed, states that only a
style tells.
"""

from __future__ import annotations

import time

import pytest

from shoal.agent.browser import Context, ObserveOptions
from shoal.agent.chromium.acting.settling import readiness
from shoal.agent.observe.renderings import compact
from shoal.agent.observe.tree import clickable_elements, walk_elements
from shoal.agent.types import Action
from tests.integration.browser.test_mended import show
from tests.integration.browser.test_readiness import LONG_S

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROWS = """<div id=files><ul id=list>
<li class="item selected" tabindex=0>notes.md</li><li class=item>data.csv <input type=checkbox aria-label=pick></li>
<li class=item>plot.png</li></ul></div>
<div role=tree aria-label=Folders><div class=node tabindex=-1>alpha</div><div class=node tabindex=0>beta</div>
<div class=node tabindex=-1>gamma</div></div>
<div role=grid aria-label=Orders><div role=row aria-selected=false><span role=cell>4711</span></div>
<div role=row aria-selected=true><span role=cell>4712</span></div></div>
<ul onclick="1"><li>first</li><li>second <a href="/x">of two</a></li><li>third</li></ul>
<ul onclick="1"><li><a href="/1">one</a> 1</li><li><a href="/2">two</a> 2</li><li><a href="/3">three</a> 3</li></ul>
<p tabindex=0>Alone</p><p>Not pressed</p>
<script>files.addEventListener('click', event => { document.title = event.target.textContent; });</script>"""


async def test_every_row_of_a_list_that_can_be_pressed_has_an_id(context: Context) -> None:
    await show(context, ROWS)
    seen = await context.observe()
    shown = {one.name or one.text for one in walk_elements(seen.elements) if one.bid and one.clickable}
    text = compact(seen.elements)
    for row in ("notes.md", "plot.png", "alpha", "beta", "gamma", "4711", "4712", "first", "third"):
        assert row in shown, text
    assert len([one for one in walk_elements(seen.elements) if one.tag == "li" and one.clickable]) == 6, text
    assert "Not pressed" not in shown
    assert "selected" in next(one for one in walk_elements(seen.elements) if one.name == "4712").states


PARTS = """<ul><li><span><i>📄</i><b class=name tabindex=0 role=button>cities.csv</b></span> now</li>
<li><span><i>📄</i><b class=name tabindex=-1>draft.txt</b></span> now</li>
<li><span><i>📄</i><b class=name tabindex=-1>notes.txt</b></span> now</li></ul>
<ul><li><b tabindex=0>own stop</b></li><li><b tabindex=0>another</b></li>
<li><b tabindex=-1>by scripts alone</b></li></ul>"""


async def test_each_row_has_an_id_where_the_focus_roves_over_parts_of_rows(context: Context) -> None:
    assert list(await show(context, PARTS)) == ["cities.csv", "draft.txt", "notes.txt", "own stop", "another"]


OPEN_ROW = """<ul onclick="1"><li>alpha.txt</li><li>beta.txt <button>Open</button><button>Rename</button>
<button>Share</button><button>Delete</button></li><li>gamma.txt</li></ul>
<ul onclick="1"><li>Words</li><li>%s</li></ul>"""


async def test_rows_beside_one_with_a_bar_of_buttons_have_ids(context: Context) -> None:
    """A person can press them, too; beside parts of a page with many controls each, words are no row."""
    shown = await show(context, OPEN_ROW % "".join(f"<button>Act {n}</button>" for n in range(5)))
    assert {"alpha.txt", "gamma.txt", "Rename"} <= set(shown)
    assert "Words" not in shown


BARS = """<title>Bars</title><style>body{margin:0;height:3000px}
header{position:fixed;top:0;left:0;right:0;height:80px;background:#eee}
footer{position:fixed;bottom:0;left:0;right:0;height:120px;background:#ddd}
.box{position:absolute;left:20px}</style><header><button>Home</button></header>
<label class=box style="top:calc(100vh - 90px)"><input type=checkbox id=box> Agree to the terms</label>
<button class=box style="top:calc(100vh - 50px)" onclick="document.title='deleted'">Delete this page</button>
<footer><button style="width:100%;height:120px">Save</button></footer>"""


async def test_what_lies_under_a_fixed_bar_is_listed_out_of_sight_and_can_be_used(context: Context) -> None:
    await show(context, BARS)
    seen = await context.observe()
    found = {one.name: one for one in clickable_elements(seen.elements)}
    assert {"Agree to the terms", "Delete this page", "Save"} <= set(found)
    assert "Agree to the terms" in compact(seen.elements), "it is read, too"
    assert not found["Agree to the terms"].in_viewport
    assert (await context.act(Action("check", {"bid": found["Agree to the terms"].bid}))).error is None
    assert await context.read("() => box.checked")
    await context.read("() => scrollTo(0, 0)")
    assert (await context.act(Action("click", {"bid": found["Delete this page"].bid}))).error is None
    assert await context.read("() => document.title") == "deleted"


HIDDEN_MENUS = (
    "<a href='#main' style='position:absolute;left:-9999px'>Skip</a><nav>"
    + "".join(
        f"<div style='display:none'><a href='/{n}'>Entry {n}</a><button>Act {n}</button></div>" for n in range(40)
    )
    + "</nav><main id=main><button>Only</button>"
    + "<p style='height:900px'>Text</p>" * 8
    + "<p>far below</p></main>"
)


async def test_elements_that_nobody_could_reach_do_not_count_as_not_shown(context: Context) -> None:
    await show(context, HIDDEN_MENUS)
    seen = await context.observe(ObserveOptions(max_elements=2, max_chars=500))
    assert [one.name for one in clickable_elements(seen.elements)] == ["Only"]
    assert seen.omitted == 0
    await show(context, HIDDEN_MENUS + "<button>Third</button>" * 3)
    seen = await context.observe(ObserveOptions(max_elements=2, max_chars=500))
    assert seen.omitted + len(clickable_elements(seen.elements)) == 4


ROVING = (
    "<ul role=menu>"
    + "".join(f"<li role=menuitem tabindex={-1 if n else 0}>Entry {n}</li>" for n in range(6))
    + "</ul>"
    + "<p style='height:900px'>Text</p>" * 8
)


async def test_rows_that_are_shown_do_not_count_as_not_shown(context: Context) -> None:
    await show(context, ROVING)
    seen = await context.observe(ObserveOptions(max_elements=6, max_chars=500))
    assert seen.cut
    assert (len(clickable_elements(seen.elements)), seen.omitted) == (6, 0)


NAMES = """<button title="Save the notebook"><i class="fa fa-floppy-disk"></i></button>
<button title="Run"><svg viewBox="0 0 9 9"><circle r=3 /></svg></button>
<button>Publish<i aria-hidden=true>expand_more</i></button>
<button title="Insert a cell"><span aria-hidden=true class=material-icons>add</span></button>
<table><tr><td>Owner<td><b>Ada</b></tr><tr><td><input id=f1></tr></table>
<div class=cm-theme-light tabindex=0></div>"""


async def test_names_are_those_that_people_read(context: Context) -> None:
    await show(context, NAMES)
    found = [one.name for one in clickable_elements((await context.observe()).elements)]
    assert found[:4] == ["Save the notebook", "Run", "Publish", "Insert a cell"]
    assert found[4] == "f1", found  # not "Ada", which the row above says
    assert "theme" not in " ".join(found)


WRAPPED = """<div class=tb><div tabindex=0 class=w>
<div onclick="document.title='x'" style="cursor:pointer;display:inline-block"><button>Bold</button></div></div>
<span onclick="1"><span onclick="2" style="cursor:pointer"><a href="/s">Settings</a></span></span>
<div onclick="1">Words beside <button>Open</button></div>"""


async def test_one_control_is_one_id(context: Context) -> None:
    await show(context, WRAPPED)
    found = [(one.role or one.tag, one.name) for one in clickable_elements((await context.observe()).elements)]
    assert [name for name in found if name[1] == "Bold"] == [("button", "Bold")], found
    assert [name for name in found if name[1] == "Settings"] == [("link", "Settings")], found
    assert len(found) == 4, found


ZEBRA = "".join(f"<li tabindex=0 style='background:{'#eee' if n % 2 else '#fff'}'>Row {n}</li>" for n in range(5))
TABS = "".join(f"<a href='#{n}' style='background:{'#cdf' if n == 1 else '#fff'}'>Tab {n}</a>" for n in range(5))
STYLED = (
    f"<ul>{ZEBRA}</ul><nav>{TABS}</nav>"
    + """<style>.off{opacity:.4;pointer-events:none} .greyed{opacity:.35;cursor:not-allowed}</style>
<button class=off>Undo</button><button class=greyed>Redo</button><button>Cut</button>
<div contenteditable=true aria-label=Body>
<h2>Title</h2><p>One <b>bold</b> word</p><ul><li>first</li><li>second</li></ul></div>"""
)


async def test_states_that_only_a_style_tells_are_told(context: Context) -> None:
    await show(context, STYLED)
    seen = await context.observe()
    named = {one.name: one for one in walk_elements(seen.elements) if one.bid}
    text = compact(seen.elements)
    assert "Undo" in text and "Undo" not in named  # seen, and nothing to press
    assert "greyed" in named["Redo"].states, text
    assert "greyed" not in named["Cut"].states
    looks = {name for name, element in named.items() if "highlighted" in element.states}
    assert looks == {"Tab 1"}  # rows of two colours in turn are no choice
    value = named["Body"].attributes["value"]
    assert value == "## Title\nOne **bold** word\n- first\n- second", value


BUSY = """<style>@keyframes turn{to{transform:rotate(1turn)}}
.sp{width:30px;height:30px;animation:turn 1s linear infinite}</style>
<button onclick="load()">Search</button><div id=list>old entry</div><script>function load() {
  const mark = document.createElement('div'); mark.className = 'sp'; list.before(mark);
  setTimeout(() => { list.textContent = 'new entry'; mark.remove(); }, %d); }</script>"""
LATE = """<div id=root></div><script>setTimeout(() => { root.innerHTML = '<button>Ready</button>'; }, 900)</script>"""
DECORATED = BUSY.replace("<button", "<div class=sp></div><button").replace("onclick", "data-x")


async def test_a_page_that_is_busy_is_looked_at_when_it_is_done(context: Context) -> None:
    found = await show(context, BUSY % 1500)
    assert (await context.act(Action("click", {"bid": found["Search"]}))).error is None
    seen = await context.observe()
    assert "new entry" in compact(seen.elements)
    assert seen.in_progress == ""
    assert "Ready" in await show(context, LATE)


async def test_a_wait_is_bounded_and_what_was_waited_for_is_named(context: Context) -> None:
    found = await show(context, BUSY % 60_000 + "<p role=progressbar aria-label='Loading rows'>.</p>")
    await context.read("() => { setInterval(() => document.body.append(document.createElement('hr')), 100) }")
    assert (await context.act(Action("click", {"bid": found["Search"]}))).error is None
    seen = await context.observe()
    assert "marks of work in progress" in seen.in_progress
    assert "old entry" in compact(seen.elements)


async def test_what_moves_without_end_is_waited_for_once(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    await show(context, DECORATED % 1)
    found = [one.bid for one in clickable_elements((await context.observe()).elements)]
    await context.act(Action("hover", {"bid": found[0]}))
    await context.observe()
    monkeypatch.setattr(readiness, "READY_S", LONG_S)  # a wait anew would take as long
    for _ in range(3):
        started = time.monotonic()
        await context.act(Action("hover", {"bid": found[0]}))
        seen = await context.observe()
        assert seen.in_progress == ""
    assert time.monotonic() - started < LONG_S


LISTS = """<div role=listbox aria-label=Size tabindex=0>
<div role=option aria-selected=false onclick="this.setAttribute('aria-selected', true)">Small</div>
<div role=option aria-selected=false>Sold out</div>
<div role=option aria-disabled=true aria-selected=false>Huge</div></div>
<button aria-haspopup=menu onclick="menu.hidden = !menu.hidden">More</button>
<div role=menu id=menu hidden>
<div role=menuitem onclick="document.title='archived'; menu.hidden=true">Archive</div></div>"""


async def test_options_of_any_list_are_chosen_with_the_checks_of_a_select(context: Context) -> None:
    found = await show(context, LISTS)
    choose = lambda name, option: context.act(Action("select_option", {"bid": found[name], "options": option}))  # noqa: E731
    assert (await choose("Size", "Small")).error is None
    for option, why in (("Huge", "disabled"), ("Sold out", "did not take"), ("Medium", "there is no option")):
        error = (await choose("Size", option)).error
        assert error is not None, option
        assert why in error.message
    assert (await choose("More", "Archive")).error is None
    assert await context.read("() => document.title") == "archived"


TOGGLED = "onclick=\"this.setAttribute('aria-selected', this.getAttribute('aria-selected') !== 'true')\""
SEVERAL = f"""<div role=listbox aria-label=Extras aria-multiselectable=true tabindex=0>
<div role=option aria-selected=true {TOGGLED}>Milk</div>
<div role=option aria-selected=false {TOGGLED}>Sugar</div></div>"""


async def test_what_is_chosen_already_stays_so(context: Context) -> None:
    """A click on it would undo that."""
    found = await show(context, SEVERAL)
    for options in ("Milk", ["Milk", "Sugar"]):
        assert (await context.act(Action("select_option", {"bid": found["Extras"], "options": options}))).error is None
        chosen = "() => [...document.querySelectorAll('[aria-selected=true]')].map(one => one.textContent)"
        assert await context.read(chosen) == ([options] if options == "Milk" else options)


SORTED = """<ul id=list><li draggable=true>a</li><li draggable=true>b</li><li draggable=true>c</li></ul><script>
let moved; list.ondragstart = event => { moved = event.target; }; list.ondragover = event => event.preventDefault();
list.ondrop = event => { const over = event.target.closest('li'), box = over.getBoundingClientRect();
  event.clientY < box.top + box.height / 2 ? over.before(moved) : over.after(moved); };</script>"""


async def test_a_row_is_dragged_between_two_others(context: Context) -> None:
    await show(context, SORTED)
    found = {one.name: one.bid for one in walk_elements((await context.observe()).elements) if one.bid}
    for place, order in (("before", "cab"), ("after", "acb")):
        action = Action("drag_and_drop", {"from_bid": found["c"], "to_bid": found["a"], "place": place})
        assert (await context.act(action)).error is None
        assert await context.read("() => list.textContent") == order
