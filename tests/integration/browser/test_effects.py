"""The effect that an action tells of the page that it changed, or did not change."""

from __future__ import annotations

import pytest

from shoal.agent.actions.effect_words import effect_words
from shoal.agent.browser import Context
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.redaction.redactor import Redactor
from shoal.agent.types import Action, ActionResult
from tests.integration.browser.conftest import Site
from tests.integration.browser.test_mended import click, show

pytestmark = pytest.mark.asyncio(loop_scope="session")


def words(result: ActionResult) -> tuple[str, ...]:
    assert result.error is None, result.error
    return effect_words(result.effect)


async def test_a_button_that_does_nothing_says_so(context: Context) -> None:
    found = await show(context, "<button>Dead</button><button onclick='document.title = 1'>Alive</button>")
    assert words(await click(context, found["Dead"])) == ("nothing changed",)
    assert not (await click(context, found["Alive"])).effect.unchanged


async def test_beside_a_canvas_and_before_an_answer_nothing_is_said_to_have_stayed(
    context: Context, site: Site
) -> None:
    found = await show(context, "<canvas></canvas><button>Draw</button>")
    assert words(await click(context, found["Draw"])) == ()
    await context.goto(f"{site.url}/second")
    await context.read("() => { document.body.innerHTML = `<button onclick=\"fetch('/slow.json')\">Ask</button>` }")
    (ask,) = clickable_elements((await context.observe()).elements)
    assert words(await click(context, ask.bid)) == ()


async def test_what_came_and_what_went_is_named(context: Context) -> None:
    found = await show(
        context,
        "<button onclick='box.showModal(); note.remove()'>Open</button><a id=note href=/n>News</a>"
        "<dialog id=box aria-label=Settings>"
        "<button onclick='box.close(); out.hidden = false'>Close</button></dialog>"
        "<p id=out hidden>Settings saved</p>",
    )
    result = await click(context, found["Open"])
    assert words(result) == (
        '2 elements appeared: dialog "Settings", button "Close"',
        '1 element went: link "News"',
    )
    close = next(one.bid for one in clickable_elements((await context.observe()).elements) if one.name == "Close")
    assert words(await click(context, close)) == (
        '1 element appeared: "Settings saved"',
        '2 elements went: dialog "Settings", button "Close"',
    )


async def test_an_effect_that_comes_a_moment_later_is_waited_for(context: Context) -> None:
    found = await show(
        context, "<p id=out></p><button onclick=\"setTimeout(() => { out.textContent = 'Saved' }, 150)\">Save</button>"
    )
    assert words(await click(context, found["Save"])) == ('1 element appeared: "Saved"',)


async def test_a_list_that_is_drawn_anew_brings_nothing(context: Context) -> None:
    found = await show(
        context,
        "<div id=list></div><button onclick='draw()'>Again</button>"
        "<script>const draw = () => { list.innerHTML = '<button>One</button><p>text</p>' }; draw()</script>",
    )
    result = await click(context, found["Again"])
    assert (result.effect.appeared_count, result.effect.went_count, result.effect.dom_changed) == (0, 0, True)


async def test_marks_of_what_is_wrong_are_told(context: Context) -> None:
    check = "mail.setAttribute('aria-invalid', 'true')"
    found = await show(
        context,
        f'<form onsubmit="return false"><input id=mail aria-label=Email><button onclick="{check}">Send</button></form>',
    )
    assert words(await click(context, found["Send"])) == ('marked as wrong: textbox "Email"',)


async def test_fields_that_a_script_fills_in_are_told_and_those_of_a_password_are_not(context: Context) -> None:
    found = await show(
        context,
        "<button onclick='fill()'>Copy</button><script>const fill = () => {"
        " city.value = 'Ulm'; code.value = 'hush'; every.checked = true; size.value = 'L' }</script>"
        "<label>City <input id=city></label><label>Code <input id=code type=password></label>"
        "<label><input id=every type=checkbox>All</label>"
        "<label>Size <select id=size><option>S<option>L</select></label>"
        "<label><input type=radio name=r checked>One</label><label><input type=radio name=r>Two</label>",
    )
    assert words(await click(context, found["Copy"])) == (
        "textbox \"City\" now holds 'Ulm'",
        "textbox \"Code\" now holds '••••'",
        'checkbox "All" is now checked',
        "combobox \"Size\" now holds 'L'",
    )
    assert words(await click(context, found["Two"])) == ("the field now holds 'checked'",)
    result = await context.act(Action("fill", {"bid": found["City"], "value": "Graz"}))
    assert words(result) == ("the field now holds 'Graz'",)


async def test_a_button_that_scrolls_a_part_of_the_page_does_something(context: Context) -> None:
    found = await show(
        context,
        "<button onclick='row.scrollBy(300, 0)'>Next</button><button>Dead</button>"
        "<div id=row style='width:200px; overflow:auto'><div style='width:2000px; height:20px'></div></div>",
    )
    assert words(await click(context, found["Next"])) == ()
    assert words(await click(context, found["Dead"])) == ("nothing changed",)


async def test_the_value_of_a_field_and_the_address_are_told(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/acts")
    found = await show(context, f"<input aria-label=Name><a href='{site.url}/second'>Next</a>")
    result = await context.act(Action("fill", {"bid": found["Name"], "value": "Ann"}))
    assert words(result) == ("the field now holds 'Ann'",)
    assert words(await click(context, found["Next"])) == (f"the page is now {site.url}/second",)


async def test_an_overlay_takes_the_click_and_that_fails(context: Context) -> None:
    cover = "<div {more} style='position:fixed; inset:0; background:#0008; z-index:9'>{inside}</div>"
    found = await show(
        context,
        "<button onclick='document.title = \"hit\"'>Pay</button>" + cover.format(more="id=c hidden", inside="Wait"),
    )
    await context.read("() => { c.hidden = false }")
    said = (await click(context, found["Pay"])).error
    assert said is not None and 'the click hit div "Wait"' in said.message
    await context.read(
        "() => { c.outerHTML = `<div role=dialog aria-label=Cookies style='position:fixed; inset:0'>Cookies?</div>` }"
    )
    said = (await click(context, found["Pay"])).error
    assert said is not None and 'dialog "Cookies"; nothing was clicked' in said.message
    assert await context.read("() => document.title") != "hit"


async def test_scrolling_at_an_end_is_no_error_and_says_so(context: Context) -> None:
    await show(context, "<p>short</p>")
    result = await context.act(Action("scroll", {"dx": 0, "dy": 500}))
    assert (result.error, result.value) == (None, "the page is at its end that way")


async def test_a_secret_that_a_long_name_or_value_ends_with_is_hidden_whole(context: Context) -> None:
    secret = "".join(chr(97 + number * 7 % 26) for number in range(30))
    redactor = Redactor()
    redactor.learn("secret:key", secret)
    name = f"{'Key of the shop that was made just now: '}{secret} to keep"
    html = f"""<button onclick="out.hidden = false; note.remove(); mail.value = '{"v" * 40}{secret}';
        mail.setAttribute('aria-invalid', true); document.body.append('{name}')">Make</button>
        <input id=mail aria-label="{name}"><a id=note href=/n>{name}</a><button id=out hidden>{name}</button>"""
    found = await show(context, html)
    result = redactor.result(await click(context, found["Make"]))
    told = " ".join(words(result))
    assert secret[:8] not in told and "secret:key" in told, told
    assert result.effect.invalid and result.effect.fields and result.effect.went and len(result.effect.appeared) == 2


async def test_an_error_tells_no_part_of_the_name_of_what_lies_above(context: Context) -> None:
    secret = "".join(chr(97 + number * 7 % 26) for number in range(30))
    redactor = Redactor()
    redactor.learn("secret:key", secret)
    for name, said in ((f"{'A key that is new: ' * 2}{secret}", "secret:key"), (secret * 10, "with a name of")):
        found = await show(context, "<button>Below</button><button id=above aria-label=Above></button>")
        await context.read(f"() => {{ above.style = 'position: fixed; inset: 0'; above.ariaLabel = '{name}'; }}")
        error = redactor.result(await click(context, found["Below"])).error
        assert error is not None and said in error.message and secret[:8] not in error.message, error
