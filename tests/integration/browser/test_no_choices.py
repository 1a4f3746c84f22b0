"""Rows of a list that are none of its choices: messages, what is switched off, and what is made of the typed text."""

from __future__ import annotations

import asyncio

import pytest

from shoal.agent.browser import Context
from shoal.agent.types import Action
from tests.integration.browser.test_choosing_guard import do, left_open
from tests.integration.browser.test_mended import show

pytestmark = pytest.mark.asyncio(loop_scope="session")

FIELD = "<input id=town name=town role=combobox aria-autocomplete=list aria-controls=towns aria-label=Town>"
PAGE = """<form method=post action=/s><p>{field}</p><ul id=towns role=listbox hidden></ul><button>Save</button></form>
<script>document.forms[0].addEventListener('submit', event => event.preventDefault());
const close = () => {{ towns.hidden = true; town.setAttribute('aria-expanded', 'false'); }};
const list = text => {{ towns.innerHTML = {rows}; towns.hidden = !towns.firstElementChild;
  town.setAttribute('aria-expanded', String(!towns.hidden)); }};
town.oninput = () => {{ {asks} }};
towns.onmousedown = event => {{ event.preventDefault(); close(); }};
town.onkeydown = event => {{ if (event.key === 'Enter') {{ event.preventDefault(); close(); }} }};</script>"""
AT_ONCE, LATE = "list(town.value)", "close(); clearTimeout(window.due); window.due = setTimeout(list, 200, town.value)"
ROWS = {
    "a message": ("`<li role=alert>${text} – no results</li>`", AT_ONCE),
    "a message in a row": ("`<li role=none><span aria-live=polite>${text} – no results</span></li>`", LATE),
    "a row that is off": ("`<li role=option aria-disabled=true>${text}</li>`", LATE),
    "a row that takes no clicks": ("`<li role=option style='pointer-events:none'>${text}</li>`", LATE),
    "a row made of the text": ("`<li role=option>${text} – no results</li>`", AT_ONCE),
    "a row that is the text": ("`<li role=option>${text}</li><li role=option>Genf</li>`", AT_ONCE),
    "a row of more, alone": ("`<li role=option>${text} – no results</li>`", LATE),
}


@pytest.mark.parametrize(("rows", "asks"), ROWS.values(), ids=ROWS)
async def test_a_row_that_is_no_choice_is_neither_offered_nor_taken(context: Context, rows: str, asks: str) -> None:
    shown = await show(context, PAGE.format(field=FIELD, rows=rows, asks=asks))
    assert await do(context, "fill", bid=shown["Town"], value="Zug") == ""
    (told,) = (await context.prospect(Action("click", {"bid": shown["Save"]}))).unchosen
    assert told.text == "Zug"
    if "of more" not in rows and asks == AT_ONCE:
        assert not [option for option in told.options if "Zug" in option]
    assert await left_open(context, shown["Town"], "press", key_comb="Enter") == (
        [] if "Genf" in rows or (asks == LATE and "=option>" in rows) else ["Zug"]
    ), "Enter chooses where there is something to choose"
    await context.observe()
    (row,) = await context.locate(["#towns > :first-child"])
    await context.act(Action("click", {"bid": row}))
    await asyncio.sleep(0.35)
    assert await left_open(context, shown["Save"]) == ["Zug"]


@pytest.mark.parametrize(
    "rows", [ROWS["a message"][0], ROWS["a row that is off"][0], ROWS["a row made of the text"][0]]
)
async def test_no_such_row_is_chosen_by_name(context: Context, rows: str) -> None:
    shown = await show(context, PAGE.format(field=FIELD, rows=rows, asks=AT_ONCE))
    result = await context.act(Action("select_option", {"bid": shown["Town"], "options": "Zug"}))
    assert result.error is not None and "there are: none" in result.error.message
    assert await left_open(context, shown["Save"]) == ["Zug"]


@pytest.mark.parametrize("row", ["<li role=alert>Zug – no results</li>", "<li role=option aria-disabled=true>Zug</li>"])
async def test_a_widget_takes_no_message_and_nothing_that_is_off(context: Context, row: str) -> None:
    shown = await show(
        context,
        "<div role=combobox aria-label=Town tabindex=0 aria-controls=towns aria-expanded=false"
        " onclick='towns.hidden = false; this.setAttribute(\"aria-expanded\", true)'>Bern</div>"
        f"<ul id=towns role=listbox hidden onclick='this.hidden = true'><li role=option>Bern</li>{row}</ul>",
    )
    result = await context.act(Action("select_option", {"bid": shown["Town"], "options": "Zug"}))
    assert result.error is not None and (
        "there are: Bern" in result.error.message or "disabled" in result.error.message
    )


async def test_a_town_that_begins_as_others_do_is_a_choice(context: Context) -> None:
    fits = "['Ber', 'Bern', 'Berne'].filter(one => one.startsWith(text))"
    rows = f"{fits}.map(one => `<li role=option>${{one}}</li>`).join('')"
    takes = "towns.addEventListener('mousedown', event => { town.value = event.target.textContent; });"
    for town in ("Bern", "Berne"):
        shown = await show(context, PAGE.format(field=FIELD, rows=rows, asks=AT_ONCE) + f"<script>{takes}</script>")
        assert await do(context, "fill", bid=shown["Town"], value=town) == ""
        assert await left_open(context, shown["Save"]) == []
