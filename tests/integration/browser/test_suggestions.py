"""Lists of suggestions, as libraries from npm open them: typed for, seen, chosen from, and closed for good."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

import pytest

from shoal.agent.actions.effect_words import effect_words
from shoal.agent.browser import Context
from shoal.agent.observe.renderings import compact
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.types import Action, ActionResult, Element
from tests.integration.browser.test_mended import show
from tests.patience import PATIENCE_S
from tests.sites.registry.cache import Unreachable
from tests.sites.registry.suggestions import pages

pytestmark = pytest.mark.asyncio(loop_scope="session")

TYPED = ("jquery-ui", "aria", "github", "downshift")
OPENED = ("select2", "choices")
LATEST_S = 0.6
"""A list that opened again by itself would be there by then: the libraries wait 300 ms at most."""


@pytest.fixture(scope="module")
def sites() -> Iterator[Mapping[str, str]]:
    try:
        with pages() as found:
            yield found
    except Unreachable as error:
        pytest.skip(str(error))


async def controls(context: Context) -> list[Element]:
    return clickable_elements((await context.observe()).elements)


async def act(context: Context, name: str, **args: object) -> ActionResult:
    result = await context.act(Action(name, args))
    assert result.error is None, result.error
    return result


async def wait_for_text(context: Context, words: str) -> None:
    """Return once the page states these words of its value, which it writes down every 50 ms."""
    said = None
    async with asyncio.timeout(PATIENCE_S):
        while said != words:
            said = await context.read("() => document.getElementById('out').textContent")


async def field(context: Context) -> str:
    return next(one.bid for one in await controls(context) if one.tag == "input" and "Town" in one.name)


async def choices(context: Context) -> dict[str, str]:
    """The towns that can be chosen now, each with an id of its own."""
    found = [one for one in await controls(context) if one.name[:3] in ("Ber", "Osl", "Tur") and one.tag != "input"]
    return {one.name: one.bid for one in found if one.tag != "select" and one.role != "combobox"}


@pytest.mark.parametrize("library", TYPED)
async def test_what_fits_is_seen_after_filling_and_a_click_chooses_it_for_good(
    context: Context, sites: Mapping[str, str], library: str
) -> None:
    await context.goto(sites[library])
    await context.settle()
    result = await act(context, "fill", bid=await field(context), value="Berge" if library != "github" else "Ber")
    assert any("appeared" in words and "Bergen" in words for words in effect_words(result.effect)), result.effect
    found = await choices(context)
    assert set(found) == ({"Bergen", "Bern"} if library == "github" else {"Bergen"})
    await act(context, "click", bid=found["Bergen"])
    await wait_for_text(context, "town is Bergen")
    await asyncio.sleep(LATEST_S)
    assert await choices(context) == {}


@pytest.mark.parametrize("library", TYPED)
async def test_an_option_is_selected_by_its_name(context: Context, sites: Mapping[str, str], library: str) -> None:
    await context.goto(sites[library])
    await context.settle()
    await act(context, "select_option", bid=await field(context), options="Bern")
    await wait_for_text(context, "town is Bern")
    await asyncio.sleep(LATEST_S)
    assert await choices(context) == {}


@pytest.mark.parametrize("library", OPENED)
async def test_a_list_that_a_click_opens_is_chosen_from(
    context: Context, sites: Mapping[str, str], library: str
) -> None:
    await context.goto(sites[library])
    await context.settle()
    opener = next(one for one in await controls(context) if one.role in ("combobox", "listbox") and one.tag != "select")
    await act(context, "click", bid=opener.bid)
    found = await choices(context)
    assert len(found) >= 4
    await act(context, "click", bid=found["Turku"])
    await wait_for_text(context, "town is Turku")
    opener = next(one for one in await controls(context) if one.role in ("combobox", "listbox") and one.tag != "select")
    await act(context, "select_option", bid=opener.bid, options="Oslo")
    await wait_for_text(context, "town is Oslo")
    await asyncio.sleep(LATEST_S)
    assert set(await choices(context)) <= {"Oslo"}


async def test_each_choice_of_a_short_list_that_listens_as_a_whole_is_an_element(context: Context) -> None:
    await show(
        context,
        "<p id=out></p><ul tabindex=0 onclick='out.textContent = event.target.textContent'>"
        "<li><div tabindex=-1>Yes</div><li><div tabindex=-1>No</div></ul>"
        "<ul onclick='out.textContent = 1 + event.target.textContent'><li>Only</ul>",
    )
    found = {one.name: one.bid for one in await controls(context)}
    assert set(found) == {"Yes", "No", "Only"}
    await act(context, "click", bid=found["No"])
    assert await context.read("() => out.textContent") == "No"
    await act(context, "click", bid=found["Only"])
    assert await context.read("() => out.textContent") == "1Only"


async def test_a_field_that_listens_for_keys_hears_each_of_them(context: Context) -> None:
    found = await show(
        context,
        "<input aria-label=Code><p id=out></p><script>let keys = '';"
        "const hear = event => { keys += event.key; out.textContent = keys };"
        "document.querySelector('input').addEventListener('keydown', hear)</script>",
    )
    result = await act(context, "fill", bid=found["Code"], value="a1b")
    assert result.effect.value == "a1b"
    assert await context.read("() => out.textContent") == "a1b"
    await act(context, "fill", bid=found["Code"], value="xyz")
    seen = await context.observe()
    assert '="xyz"' in compact(seen.elements)


async def test_a_field_that_takes_no_keys_is_filled_at_once(context: Context) -> None:
    found = await show(
        context,
        "<input aria-label=Number value=0><script>"
        "document.querySelector('input').addEventListener('keydown', event => event.preventDefault())</script>",
    )
    assert (await act(context, "fill", bid=found["Number"], value="7")).effect.value == "7"


@pytest.mark.parametrize("hears", ["", "onkeydown='1'"], ids=["at once", "key by key"])
async def test_what_the_focus_puts_into_a_field_does_not_stay_beside_what_is_filled_in(
    context: Context, hears: str
) -> None:
    for kind in ("number", "text"):
        shown = await show(context, f"<input aria-label=Degrees type={kind} onfocus='this.value = 0' {hears}>")
        assert (await act(context, "fill", bid=shown["Degrees"], value="60")).effect.value == "60"


async def test_what_a_page_sets_before_what_is_typed_stays(context: Context) -> None:
    mask = "<input aria-label=Amount onkeydown='1' oninput=\"this.value = '$' + this.value.replace('$', '')\">"
    shown = await show(
        context,
        mask + "<p id=out>0</p><script>const mask = document.querySelector('input');"
        "mask.addEventListener('input', () => { out.textContent = +out.textContent + 1 })</script>",
    )
    assert (await act(context, "fill", bid=shown["Amount"], value="60")).effect.value == "$60"
    assert await context.read("() => out.textContent") == "2", "it is typed once"


FREE = """<nav><ul><li onclick="out.textContent = 'went away'">Journal</li></ul></nav><form onsubmit="return false">
<input id=field role=combobox aria-autocomplete=list aria-controls=gone aria-expanded=false aria-label=Narration>
<button>Save</button></form><p id=out></p><script>field.addEventListener('keydown', () => {});</script>"""


@pytest.mark.parametrize("page", [FREE, FREE.replace("aria-controls=gone", "")], ids=["names its own", "names none"])
async def test_a_list_of_the_page_is_no_list_of_suggestions_of_a_field(context: Context, page: str) -> None:
    shown = await show(context, page)
    await act(context, "fill", bid=shown["Narration"], value="Journal")
    assert "went away" not in compact((await context.observe()).elements)
    (unchosen,) = (await context.prospect(Action("click", {"bid": shown["Save"]}))).unchosen
    assert (unchosen.text, unchosen.options) == ("Journal", [])


NO_FORM = """<div><input id=field role=combobox aria-autocomplete=list aria-controls=gone aria-label=Town>
<button id=arrow>▾</button>
<i id=clear onclick="1" style="display:inline-block;width:20px;height:20px"></i></div>
<div id=list></div><input aria-label=Name><ul><li id=row onclick="1">A row of the page</ul><h2 id=late></h2>
<button id=more aria-haspopup=menu><svg width=20 height=20></svg></button>
<script>const out = () => {}; field.addEventListener('keydown', out); field.oninput = () => {
  list.innerHTML = "<div id=one onclick='field.value = this.textContent'>Metropolis</div>"; };</script>{sends}"""
SEND = {
    "a button with a name": "<button id=send>Send</button>",
    "a button without a name": "<button id=send><svg width=20 height=20></svg></button>",
    "a part that hears clicks": "<div id=send onclick='1'>Send it</div>",
    "a part whose listener is added": "<div id=send>Send it</div><script>send.addEventListener('click', out)</script>",
    "an icon that hears clicks": "<i id=send onclick='1' style='display:inline-block;width:20px;height:20px'></i>",
    "a word within what hears clicks": "<div onclick='1'><b id=send>Send it</b></div>",
}


@pytest.mark.parametrize("way", SEND)
async def test_whatever_a_script_may_send_by_is_told_with_what_is_not_chosen_and_no_more(
    context: Context, way: str
) -> None:
    shown = await show(context, NO_FORM.replace("{sends}", SEND[way]))
    await act(context, "fill", bid=shown["Town"], value="Zug")
    await context.observe()
    places = ("send", "arrow", "clear", "row", "more", "one")
    bids = await context.locate([f"#{place}" for place in places])
    told = [await context.prospect(Action("click", {"bid": bid})) for bid in bids]
    found = {place: (each.presses, bool(each.unchosen)) for place, each in zip(places, told, strict=True)}
    assert found == {place: (place == "send", place == "send") for place in places}
