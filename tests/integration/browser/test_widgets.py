"""Widgets that are made of other elements, and text that comes late or is hidden at first."""

from __future__ import annotations

import pytest

from shoal.agent.browser import Context
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.types import Action, ActionResult
from tests.integration.browser.conftest import Site
from tests.integration.browser.test_mended import show

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def select(context: Context, bid: str, options: object) -> ActionResult:
    return await context.act(Action("select_option", {"bid": bid, "options": options}))


async def output_text(context: Context) -> str:
    return str(await context.read("() => out.textContent"))


OUT = "<p id=out></p><script>const say = text => { out.textContent += text + ' ' }</script>"
TOGGLES = """onclick="pop.hidden = !pop.hidden; {tell}" """
ITEMS = "".join(f"<li role=option onclick=\"say('{name}')\">{name}</li>" for name in ("Red", "Green", "Blue"))


@pytest.mark.parametrize("tells", [True, False])
async def test_an_open_combobox_is_not_clicked_shut(context: Context, tells: bool) -> None:
    tell = "this.setAttribute('aria-expanded', !pop.hidden)" if tells else ""
    widget = f"<div role=combobox tabindex=0 aria-label=Colour {TOGGLES.format(tell=tell)}>choose</div>"
    found = await show(context, f"{OUT}{widget}<ul id=pop role=listbox hidden>{ITEMS}</ul>")
    await context.act(Action("click", {"bid": found["Colour"]}))
    assert (await select(context, found["Colour"], "Green")).error is None
    assert await output_text(context) == "Green "


@pytest.mark.parametrize("stays", [True, False])
async def test_several_values_of_a_combobox_that_stays_open_or_closes(context: Context, stays: bool) -> None:
    widget = f"<div role=combobox tabindex=0 aria-label=Colour {TOGGLES.format(tell='')}>choose</div>"
    closes = "" if stays else "onclick='this.hidden = true'"
    found = await show(context, f"{OUT}{widget}<ul id=pop role=listbox hidden {closes}>{ITEMS}</ul>")
    assert (await select(context, found["Colour"], ["Red", "Blue"])).error is None
    assert await output_text(context) == "Red Blue "


async def test_the_list_that_a_widget_names_is_taken_and_not_another_with_the_same_items(context: Context) -> None:
    other = f"<ul role=listbox aria-label=Other>{ITEMS.replace('say(', 'say(1 + ')}</ul>"
    widget = f"<div role=combobox tabindex=0 aria-label=Colour aria-controls=pop {TOGGLES.format(tell='')}>choose</div>"
    found = await show(context, f"{OUT}{other}{widget}<ul id=pop role=listbox hidden>{ITEMS}</ul>")
    assert (await select(context, found["Colour"], "Green")).error is None
    assert await output_text(context) == "Green "


async def test_the_list_that_opens_is_taken_and_not_one_that_was_open_before(context: Context) -> None:
    other = f"<ul role=listbox aria-label=Other>{ITEMS.replace('say(', 'say(1 + ')}</ul>"
    widget = f"<div role=combobox tabindex=0 aria-label=Colour {TOGGLES.format(tell='')}>choose</div>"
    found = await show(context, f"{OUT}{other}{widget}<ul id=pop role=listbox hidden>{ITEMS}</ul>")
    assert (await select(context, found["Colour"], 1)).error is None
    assert await output_text(context) == "Green "


async def test_a_combobox_whose_field_cannot_be_typed_into(context: Context) -> None:
    widget = f"<input readonly role=combobox aria-label=Colour aria-controls=pop {TOGGLES.format(tell='')}>"
    found = await show(context, f"{OUT}{widget}<ul id=pop role=listbox hidden>{ITEMS}</ul>")
    assert (await select(context, found["Colour"], "Blue")).error is None
    assert await output_text(context) == "Blue "


async def test_what_is_typed_for_is_taken_from_the_list_that_opens_and_not_from_the_page(context: Context) -> None:
    items = ITEMS.replace(" role=option", "")
    menu = f"<ul>{items.replace('say(', 'say(1 + ')}</ul>"
    widget = "<input role=combobox aria-label=Colour oninput='pop.hidden = false'>"
    found = await show(context, f"{OUT}{menu}{widget}<ul id=pop hidden>{items}</ul>")
    assert (await select(context, found["Colour"], ["Green", "Blue"])).error is None
    assert await output_text(context) == "Green Blue "


async def test_a_date_is_picked_in_a_calendar_of_buttons(context: Context) -> None:
    days = "".join(
        f"<td><button onclick=\"day.value = '2026-03-{n:02}'; pick.hidden = true\">{n}</button>" for n in (13, 14)
    )
    picker = (
        f"<input id=day readonly aria-label=Day onclick='pick.hidden = false'><table id=pick hidden><tr>{days}</table>"
    )
    found = await show(context, picker)
    await context.act(Action("click", {"bid": found["Day"]}))
    seen = await context.observe()
    (day,) = [element.bid for element in clickable_elements(seen.elements) if element.name == "14"]
    await context.act(Action("click", {"bid": day}))
    assert await context.read("() => [day.value, pick.hidden]") == ["2026-03-14", True]


async def test_text_is_waited_for_where_its_first_place_is_hidden(context: Context) -> None:
    await show(
        context,
        "<p hidden>All done</p><p id=late></p><script>setTimeout(() => late.textContent = 'All done', 200)</script>",
    )
    result = await context.act(Action("wait_for", {"text": "All done", "timeout": 5}))
    assert result.error is None


async def test_text_is_waited_for_in_a_frame_that_comes_later(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/second")
    await context.observe()
    await context.read(
        """url => { setTimeout(() => {
             document.body.append(Object.assign(document.createElement('iframe'), { src: url }));
           }, 300) }""",
        f"{site.other}/acts",
    )
    result = await context.act(Action("wait_for", {"text": "nothing yet", "timeout": 5}))
    assert result.error is None


async def test_a_text_is_waited_for_until_its_time_is_up_though_the_last_tab_closed(
    context: Context, site: Site
) -> None:
    found = await show(context, f"<button onclick='window.open(\"{site.url}/second\")'>Open</button>")
    await context.act(Action("click", {"bid": found["Open"]}))
    for name, args in (("tab_focus", {"index": 0}), ("tab_close", {})):
        await context.act(Action(name, args))
    await context.observe()
    await context.read("() => { setTimeout(() => window.close(), 300) }")
    result = await context.act(Action("wait_for", {"text": "no such text", "timeout": 1}))
    assert result.error is not None and result.error.code == "action_timeout"


@pytest.mark.parametrize("hidden", ["display: none", "position: absolute; width: 1px; height: 1px; overflow: hidden"])
async def test_a_select_that_a_script_hides_is_chosen_by_its_own_options(context: Context, hidden: str) -> None:
    options = "".join(f"<option value=v{n}>{name}</option>" for n, name in enumerate(("Red", "Green", "Blue")))
    field = (
        f"<label for=c>Colour</label> <select id=c aria-hidden=true style='{hidden}' onchange='say(this.value)'>"
        f"{options}</select><span role=combobox tabindex=0 aria-haspopup=true>Red</span>"
    )
    found = await show(context, f"{OUT}<form>{field}</form>")
    assert (await select(context, found["Colour"], "Green")).error is None
    assert await output_text(context) == "v1 "


@pytest.mark.parametrize("label", ["<label for=c>Colour</label>", "<label for=c style='display: none'>Colour</label>"])
async def test_a_hidden_select_without_a_choice_or_without_a_label_is_no_field(context: Context, label: str) -> None:
    options = "<option>Red</option>" + ("<option>Blue</option>" if "none" in label else "")
    field = f"{label} <select id=c style='display: none'>{options}</select><p>Other text</p>"
    assert "Colour" not in await show(context, f"<form>{field}</form>")
