"""Fields whose values are chosen: what counts as a choice, and which clicks and keys would send without one."""

from __future__ import annotations

import asyncio
import re

import pytest

from shoal.agent.browser import Context
from shoal.agent.chromium.devtools.worlds import World
from shoal.agent.errors import BrowserError
from shoal.agent.observe.renderings import compact
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action
from tests.integration.browser.test_mended import ids, show
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.asyncio(loop_scope="session")

_COMBO = "<input name=town role=combobox aria-autocomplete=list aria-controls=towns aria-label=Town>"
OTHER = "<input name=other aria-label=Other>"
_LIST = "<ul id=towns role=listbox><li role=option aria-label='Berlin — Germany'>Berlin — Germany</ul>"
FORM = f"<form method=post action=/s><p>{_COMBO}{{beside}}</p>{_LIST}<button>Save</button></form>"
TAKES = """<script>document.querySelector('[role=option]').addEventListener('mousedown', event => {
event.preventDefault(); document.querySelector('[name=town]').value = 'Berlin'; towns.hidden = true; });</script>"""


async def left_open(context: Context, bid: str, name: str = "click", **args: object) -> list[str]:
    """The texts that the action would send though they were not chosen."""
    prospect = await context.prospect(Action(name, {"bid": bid, **args}))
    return [field.text for field in prospect.unchosen]


async def do(context: Context, name: str, **args: object) -> str:
    result = await context.act(Action(name, args))
    return result.error.code if result.error is not None else ""


async def test_what_a_failed_choice_typed_is_guarded(context: Context) -> None:
    shown = await show(context, FORM.format(beside=""))
    assert await do(context, "select_option", bid=shown["Town"], options="Zug") == "element_not_usable"
    assert await left_open(context, shown["Save"]) == ["Zug"]


async def test_letters_that_are_pressed_are_guarded(context: Context) -> None:
    shown = await show(context, FORM.format(beside=""))
    await do(context, "press", bid=shown["Town"], key_comb="Z")
    assert await left_open(context, shown["Save"]) == ["Z"]


async def test_what_is_typed_into_a_frame_with_the_focus_is_guarded(context: Context) -> None:
    html = FORM.format(beside="").replace('"', "&quot;")
    shown = await show(context, f'<iframe width=600 height=400 srcdoc="{html}"></iframe>')
    await do(context, "click", bid=shown["Town"])
    await do(context, "keyboard_type", text="Zug")
    assert await left_open(context, shown["Save"]) == ["Zug"]


async def test_a_click_on_an_option_is_a_choice_though_the_text_stays(context: Context) -> None:
    shown = await show(context, FORM.format(beside="") + TAKES)
    await do(context, "press", bid=shown["Town"], key_comb="B")
    await do(context, "keyboard_type", text="erlin")
    assert await left_open(context, shown["Save"]) == ["Berlin"]
    await do(context, "click", bid=shown["Berlin — Germany"])
    assert await left_open(context, shown["Save"]) == []


async def test_enter_on_the_marked_option_is_a_choice_where_the_field_takes_it(context: Context) -> None:
    shown = await show(context, FORM.format(beside="").replace("role=option ", "role=option id=b ") + TAKES)
    await do(context, "press", bid=shown["Town"], key_comb="B")
    await context.read("() => document.querySelector('[name=town]').setAttribute('aria-activedescendant', 'b')")
    assert await left_open(context, shown["Town"], "press", key_comb="Enter") == [], "it chooses there"
    await context.read("() => document.forms[0].addEventListener('submit', event => event.preventDefault())")
    await do(context, "press", bid=shown["Town"], key_comb="Enter")
    assert await left_open(context, shown["Save"]) == ["B"], "no script took it"
    await context.read("""() => document.querySelector('[name=town]').addEventListener('keydown', event => {
        event.preventDefault(); event.target.value = 'Berlin'; })""")
    await do(context, "press", bid=shown["Town"], key_comb="Enter")
    assert await left_open(context, shown["Save"]) == []


@pytest.mark.parametrize("way", ["click", "Enter"])
@pytest.mark.parametrize("closes", [True, False], ids=["list closes", "list stays"])
@pytest.mark.parametrize("words", ["No results for Zug", "Zug not found", "<b>Zug</b> not found"])
async def test_an_option_that_the_field_does_not_take_is_no_choice(
    context: Context, words: str, closes: bool, way: str
) -> None:
    none = FORM.replace("aria-label='Berlin — Germany'", "id=none").replace("Berlin — Germany", words)
    form = none.format(beside="")
    hides = """<script>for (const kind of ['click', 'keydown']) addEventListener(kind, event => {
        if (kind === 'click' || event.key === 'Enter') { event.preventDefault(); towns.hidden = true; } });</script>"""
    shown = await show(context, form + (hides if closes else ""))
    await context.read("() => document.forms[0].addEventListener('submit', event => event.preventDefault())")
    for letter in "Zug":
        await do(context, "press", bid=shown["Town"], key_comb=letter)
    if way == "click":
        await do(context, "click", bid=shown[re.sub("<.*?>", "", words)])
    else:
        await context.read("() => document.querySelector('[name=town]').setAttribute('aria-activedescendant', 'none')")
        await do(context, "press", bid=shown["Town"], key_comb="Enter")
    assert await left_open(context, shown["Save"]) == ["Zug"]


@pytest.mark.parametrize(
    "option", ["Berlin", "Berlin, Germany", "Berlin (BE)", "<span><b>Ber</b>lin</span> <small>Germany</small>"]
)
async def test_an_option_of_more_than_what_was_typed_is_a_choice_where_that_stands_apart(
    context: Context, option: str
) -> None:
    form = FORM.format(beside="").replace("aria-label='Berlin — Germany'", "id=one").replace("Berlin — Germany", option)
    shown = await show(context, form + TAKES)
    await do(context, "press", bid=shown["Town"], key_comb="B")
    await do(context, "keyboard_type", text="erlin")
    (bid,) = await context.locate(["#one"])
    await do(context, "click", bid=bid)
    assert await left_open(context, shown["Save"]) == []


async def test_a_hidden_value_beside_the_field_is_a_choice(context: Context) -> None:
    shown = await show(context, FORM.format(beside="<input type=hidden name=town_id>"))
    await do(context, "press", bid=shown["Town"], key_comb="B")
    assert await left_open(context, shown["Save"]) == ["B"]
    await context.read("() => { document.querySelector('[name=town_id]').value = '7'; }")
    assert await left_open(context, shown["Save"]) == []


@pytest.mark.parametrize("changes", ["token.value = '0.x'", "token.before(Object.assign(extra, {value: 'csrf-1'}))"])
async def test_a_hidden_field_that_changes_by_itself_is_no_choice(context: Context, changes: str) -> None:
    shown = await show(context, FORM.format(beside="<input type=hidden id=token name=cf-turnstile-response>"))
    await do(context, "press", bid=shown["Town"], key_comb="Z")
    extra = "const extra = Object.assign(document.createElement('input'), {type: 'hidden', name: '_csrf'});"
    await context.read(f"() => {{ {extra} {changes}; }}")
    assert await left_open(context, shown["Save"]) == ["Z"]


async def test_a_hidden_field_that_changes_right_after_a_click_on_what_a_script_lists_is_a_choice(
    context: Context,
) -> None:
    listed = (
        "<input type=hidden name=place><div id=one onclick=\"document.querySelector('[name=place]').value = 7\"></div>"
    )
    shown = await show(context, FORM.format(beside=listed))
    await do(context, "press", bid=shown["Town"], key_comb="Z")
    await context.read("() => { one.innerHTML = '<b id=pick>Zug, Switzerland</b>'; }")
    await context.observe()
    (pick,) = await context.locate(["#pick"])
    assert await left_open(context, shown["Save"]) == ["Z"]
    await do(context, "click", bid=pick)
    async with asyncio.timeout(PATIENCE_S):
        while await left_open(context, shown["Save"]):
            await asyncio.sleep(0.05)


async def test_a_button_in_a_menu_that_sends_the_form_is_told_with_what_is_not_chosen(context: Context) -> None:
    menu = "<div role=menu><button role=menuitem>Save and close</button></div>"
    shown = await show(context, FORM.format(beside=menu))
    await do(context, "press", bid=shown["Town"], key_comb="Z")
    assert await left_open(context, shown["Save and close"]) == ["Z"]


async def test_a_field_with_an_empty_hidden_one_beside_it_is_no_search(context: Context) -> None:
    form = FORM.format(beside="<input type=hidden name=town_id>").replace("method=post", "method=get")
    shown = await show(context, form)
    await do(context, "press", bid=shown["Town"], key_comb="Z")
    assert await left_open(context, shown["Save"]) == ["Z"]


async def test_a_button_far_from_a_field_without_a_form_and_one_in_an_option_send_nothing_of_it(
    context: Context,
) -> None:
    option = "<ul role=listbox><li role=option><button type=button>Bern</button></li></ul>"
    shown = await show(
        context, f"<header><button>Menu bar</button></header><div>{_COMBO}<button>Save it</button></div>{option}"
    )
    await do(context, "press", bid=shown["Town"], key_comb="Z")
    assert await left_open(context, shown["Save it"]) == ["Z"]
    assert await left_open(context, shown["Menu bar"]) == []
    in_option = [one.bid for one in clickable_elements((await context.observe()).elements) if one.name == "Bern"]
    assert [await left_open(context, bid) for bid in in_option] == [[]] * len(in_option)


async def test_other_buttons_of_a_form_than_the_one_that_sends_it_are_free(context: Context) -> None:
    others = "<button type=button>Next month</button><button type=reset>Empty all</button>"
    shown = await show(context, FORM.format(beside=others))
    await do(context, "press", bid=shown["Town"], key_comb="Z")
    assert await left_open(context, shown["Save"]) == ["Z"]
    assert await left_open(context, shown["Next month"]) == []
    assert await left_open(context, shown["Empty all"]) == []
    shown = await show(context, FORM.format(beside="").replace("<button>", "<button type=button>"))
    await do(context, "press", bid=shown["Town"], key_comb="Z")
    assert await left_open(context, shown["Save"]) == ["Z"], "a script sends by it"


async def test_a_button_that_sends_another_part_of_the_form_does_not_free_the_one_of_a_script(context: Context) -> None:
    whole = FORM.format(beside="<button type=button>Next month</button>").replace("<button>", "<button type=button>")
    search = "<div><input name=q aria-label=Search><button>Find</button></div>"
    shown = await show(context, whole.replace("<p>", search + "<p>"))
    await do(context, "press", bid=shown["Town"], key_comb="Z")
    assert await left_open(context, shown["Save"]) == ["Z"], "the search has a button of its own"
    boxes = "<div><input type=checkbox aria-label=Remember><button>Send</button></div>"
    shown = await show(context, whole.replace("</form>", boxes + "</form>"))
    await do(context, "press", bid=shown["Town"], key_comb="Z")
    assert await left_open(context, shown["Next month"]) == [], "what is sent is the whole form"
    assert await left_open(context, shown["Send"]) == ["Z"]


# What stands in a form whose town was typed and not chosen, the element that is clicked, and whether that presses.
_ICON = "<svg width=20 height=20></svg>"
PRESSED = {
    "a plain one": ("<div class=x onclick=1>Free</div>", True),
    "opens a list": ("<div class=x onclick=1 aria-haspopup=listbox>Free</div>", False),
    "is in a list": ("<div role=listbox><div class=x onclick=1 role=option>Free</div></div>", False),
    "holds a field": ("<div class=x onclick=1><input aria-label=Inner><i>Free</i></div>", False),
    "is chosen": ("<ul><li class=x onclick=1>Free</ul>", False),
    "is no button": ("<div class=x onclick=1 role=row>Free</div>", False),
    "a field's icon": (f"<div><input aria-label=Date><button type=button class=x>{_ICON}</button></div>", False),
    "an icon for all": (f"<button type=button class=x>{_ICON}</button>", True),
    "out of the order": (f"<button type=button class=x tabindex=-1>{_ICON}</button>", False),
}


@pytest.mark.parametrize(("part", "presses"), PRESSED.values(), ids=PRESSED)
async def test_what_opens_holds_a_field_or_is_chosen_presses_nothing(
    context: Context, part: str, presses: bool
) -> None:
    shown = await show(context, f"<div>{_COMBO}{OTHER}{part}</div>")
    await do(context, "press", bid=shown["Town"], key_comb="Z")
    (bid,) = await context.locate([".x"])
    prospect = await context.prospect(Action("click", {"bid": bid}))
    assert (prospect.presses, [field.text for field in prospect.unchosen]) == (presses, ["Z"] if presses else [])


async def test_a_click_on_a_field_in_what_listens_sends_nothing_of_its_form(context: Context) -> None:
    free = "<div class=x tabindex=0 onclick=1 aria-label=Free><input aria-label=Inner></div>"
    shown = await show(context, FORM.format(beside=free))
    await do(context, "press", bid=shown["Town"], key_comb="Z")
    (bid,) = await context.locate([".x"])
    prospect = await context.prospect(Action("click", {"bid": bid}))
    assert (prospect.field, prospect.sends, prospect.presses) == (True, False, False)


async def test_what_came_once_a_field_was_typed_into_presses_nothing(context: Context) -> None:
    shown = await show(context, f"<div>{_COMBO}{OTHER}<div id=room></div></div>")
    await do(context, "press", bid=shown["Town"], key_comb="Z")
    await context.read("() => { room.innerHTML = '<div class=x onclick=1>Free</div><button class=y>Save</button>'; }")
    await context.observe()
    pressed = []
    for bid in await context.locate([".x", ".y"]):
        pressed.append((await context.prospect(Action("click", {"bid": bid}))).presses)
    assert pressed == [False, True]


async def test_enter_in_a_field_whose_list_is_open_chooses(context: Context) -> None:
    shown = await show(context, FORM.format(beside=""))
    await do(context, "press", bid=shown["Town"], key_comb="Z")
    assert await left_open(context, shown["Town"], "press", key_comb="Enter") == ["Z"]
    await context.read("() => document.querySelector('[name=town]').setAttribute('aria-expanded', 'true')")
    assert await left_open(context, shown["Town"], "press", key_comb="Enter") == []


async def test_a_prospect_names_the_form_that_it_guards(context: Context) -> None:
    shown = await show(
        context, FORM.format(beside="") + f"<form method=post action=/s>{OTHER}<button>Go</button></form>"
    )
    await do(context, "press", bid=shown["Town"], key_comb="Z")
    first = await context.prospect(Action("click", {"bid": shown["Save"]}))
    other = await context.prospect(Action("click", {"bid": shown["Go"]}))
    await do(context, "clear", bid=shown["Town"])
    again = await context.prospect(Action("click", {"bid": shown["Save"]}))
    assert first.unchosen and not again.unchosen and first.guarded == again.guarded
    assert len(first.guarded) == 1 and not {*first.guarded} & {*other.guarded}


async def test_long_options_are_told_in_short(context: Context) -> None:
    form = FORM.format(beside="").replace("aria-label='Berlin — Germany'", "")
    shown = await show(context, form.replace("Berlin — Germany", "x" * 5000))
    await do(context, "select_option", bid=shown["Town"], options="y" * 5000)
    (told,) = (await context.prospect(Action("click", {"bid": shown["Save"]}))).unchosen
    assert max(len(text) for text in (told.text, told.name, *told.options)) <= 2100
    result = await context.act(Action("select_option", {"bid": shown["Town"], "options": "z"}))
    assert result.error is not None and len(result.error.message) < 500
    secret = "".join(chr(97 + number * 7 % 26) for number in range(80))
    await do(context, "select_option", bid=shown["Town"], options=secret)
    (told,) = (await context.prospect(Action("click", {"bid": shown["Save"]}))).unchosen
    assert told.text == secret, "it is hidden whole, and then cut"


@pytest.mark.parametrize(
    "search",
    [
        "<form action=/s><input name=q aria-label=Find aria-autocomplete=list>"
        "<input type=hidden name=utf8 value=1><button>Go on</button></form>",
        "<form action=/s method=post><input name=q aria-label=Find role=searchbox aria-autocomplete=list>"
        "<input name=more><button>Go on</button></form>",
    ],
    ids=["hidden field", "searchbox"],
)
async def test_a_search_is_not_chosen_from(context: Context, search: str) -> None:
    shown = await show(context, search)
    await do(context, "fill", bid=shown["Find"], value="red shoes")
    assert await left_open(context, shown["Go on"]) == []


@pytest.mark.parametrize("shape", ["line x2=90", "polyline points='0,0 90,90'"])
async def test_a_hidden_line_leaves_a_page_readable(context: Context, shape: str) -> None:
    drawn = f"<rect width=50 height=50 /><{shape} fill=none stroke=red style='display:none'/>"
    svg = f"<p>Sales</p><svg width=200 height=200><g tabindex=0 onclick='1'>{drawn}</g></svg>"
    await show(context, svg)
    assert "Sales" in compact((await context.observe()).elements)
    await show(context, f'<p>Around</p><iframe srcdoc="{svg}"></iframe>')
    told = compact((await context.observe()).elements)
    assert "Around" in told and "Sales" in told


async def test_a_frame_that_cannot_be_walked_is_left_out(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    call = World.call

    async def failing(world: World, expression: str) -> Json:
        if "shoalWalker.walk" in expression and '"top": false' in expression:
            raise BrowserError("the walker failed: an advertisement")
        return await call(world, expression)

    monkeypatch.setattr(World, "call", failing)
    await context.goto("data:text/html,<p>Around</p><iframe srcdoc='<button>Advert</button>'></iframe>")
    async with asyncio.timeout(PATIENCE_S):
        seen = await context.observe()
    assert "Around" in compact(seen.elements) and "Advert" not in compact(seen.elements)
    assert seen.omitted, "and it is told"


@pytest.mark.parametrize("kind", ["radio", "checkbox"])
@pytest.mark.parametrize("before", [True, False], ids=["label before", "label after"])
async def test_boxes_are_named_by_the_words_on_the_side_of_their_labels(
    context: Context, kind: str, before: bool
) -> None:
    box = f"<input type={kind} name=x>"
    words = ("Yes", "No", "Maybe")
    await show(context, f"<p>{' '.join(f'{word} {box}' if before else f'{box} {word}' for word in words)}</p>")
    assert tuple(await ids(context)) == words


LONG_WORDS = "I will pick the goods up myself at your shop in the Bergstrasse, Zug"


@pytest.mark.parametrize(
    ("page", "names"),
    [
        (f"<div><h3>Delivery</h3>{{box}} Post<br>{{box}} Courier<br>{{box}} {LONG_WORDS}</div>", ("Post", "Courier")),
        ("<h3>Delivery</h3><div>{box} Post<br>{box} Courier<br>{box}</div>", ("Post", "Courier")),
        ("<p>Colour: {box} Red {box} Blue {box}<input aria-label=Other></p>", ("Red", "Blue")),
        ("<p>Red {box} Blue {box} <button>Save</button></p>", ("Red", "Blue")),
    ],
    ids=["a long last label", "words elsewhere", "a field as the last label", "a button behind"],
)
async def test_no_box_is_named_by_the_words_of_another_one(context: Context, page: str, names: tuple[str, ...]) -> None:
    await show(context, page.format(box="<input type=radio name=boxes>"))
    boxes = [one.name for one in clickable_elements((await context.observe()).elements) if one.role == "radio"]
    assert tuple(boxes[:2]) == names
    assert not {*boxes[2:]} & {"Post", "Courier", "Red", "Blue", "Delivery"}


async def test_a_control_that_listens_for_every_kind_of_event_is_one(context: Context) -> None:
    listens = """for (const kind of ['click', 'dragstart', 'dragover', 'contextmenu', 'mouseenter', 'keydown'])
        for (const one of document.querySelectorAll('.hears')) one.addEventListener(kind, () => {});"""
    shown = await show(
        context,
        f"<div class=hears id=root><p>Words of the page</p><button>Add a card</button></div>"
        f"<div class=hears>Card one</div><script>{listens}</script>",
    )
    assert set(shown) == {"Add a card", "Card one"}
