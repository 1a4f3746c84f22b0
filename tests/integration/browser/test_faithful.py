"""Texts of pages that are true to their look: columns, prices, rows, options and places are told apart."""

from __future__ import annotations

import pytest

from shoal.agent.browser import Context
from shoal.agent.observe.renderings import compact
from shoal.agent.observe.tree import clickable_elements, walk_elements
from shoal.agent.types import Element
from tests.integration.browser.test_mended import show

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def look(context: Context, html: str) -> tuple[list[str], Element]:
    """The lines of a page of this HTML, and its tree."""
    await show(context, html)
    seen = await context.observe()
    return compact(seen.elements).splitlines(), seen.elements


async def test_a_calendar_keeps_its_days_under_their_weekdays(context: Context) -> None:
    days = "".join(f"<td data-day={n}><a href=#{n}>{n}</a></td>" for n in range(1, 6))
    lines, tree = await look(
        context,
        f"<table><tr><th colspan=7>May</th></tr><tr>{'<th>Mo<th>Tu<th>We<th>Th<th>Fr<th>Sa<th>Su'}</tr>"
        f"<tr><td></td><td>&nbsp;</td>{days}</tr></table>"
        "<script>for (const cell of document.querySelectorAll('[data-day]')) cell.onclick = () => {}</script>",
    )
    assert lines[:2] == ["May", "Mo | Tu | We | Th | Fr | Sa | Su"]
    cells = lines[2].split(" | ")
    assert [one.strip() for one in cells[:2]] == ["", ""]
    assert [one.strip('[]"').split('"')[-1] for one in cells[2:]] == ["1", "2", "3", "4", "5"]
    # A cell that listens and the link in it are one element, whose name is said once.
    assert [one.role for one in clickable_elements(tree)] == ["link"] * 5


async def test_cells_that_reach_over_columns_and_rows_hold_their_places(context: Context) -> None:
    lines, _ = await look(
        context,
        "<table><tr><th rowspan=2>City<th colspan=2>Rain<th>Sun</tr><tr><th>May<th>June<th>May</tr>"
        "<tr><td>Oslo<td>53<td></td><td>7</tr><tr><td></td><td></td></tr></table>",
    )
    assert lines == ["City | Rain |  | Sun", " | May | June | May", "Oslo | 53 |  | 7"]


async def test_words_that_the_page_keeps_apart_are_not_glued(context: Context) -> None:
    lines, _ = await look(
        context,
        "<style>.price { margin-right: 8px } .row { display: flex; gap: 9px } .tag { padding: 2px 6px }</style>"
        "<p><span class=price>$217.99</span><span>In stock</span></p>"
        "<div class=row><span>4.5</span><span>12 reviews</span></div>"
        "<p>new<b class=tag>sale</b>now</p><p>H<b>2</b>O and f<i>oo</i>, bar</p><pre>a<span class=tag>.</span>b</pre>",
    )
    assert lines == ["$217.99 In stock", "4.5 12 reviews", "new sale now", "H2O and foo, bar", "a.b"]


async def test_words_lie_apart_by_whatever_the_page_keeps_them_apart(context: Context) -> None:
    lines, _ = await look(
        context,
        "<style>.by::before { content: ' · ' } .unit::after { content: 'EUR'; padding: 0 4px } x-price { margin: 5px }"
        ".column { display: inline-block; width: 90px } .moved { position: relative; left: 20px }</style>"
        "<p><span>Anna</span><span class=by>3 days ago</span></p><p><span class=unit>20</span><span>left</span></p>"
        "<p><span class=column>Name</span><span>Ada</span></p><p><span>Total</span><x-price>30</x-price></p>"
        "<p>off<span class=moved>set</span></p><p><b>un</b><i>broken</i><wbr>word</p>"
        "<p style='width:40px'><span class=column style='width:40px'>one</span><span>two</span></p>"
        "<a href=/lamp><span class=column>Lamp</span><span>12.00</span></a>",
    )
    texts = ["Anna 3 days ago", "20 left", "Name Ada", "Total 30", "off set", "unbrokenword", "one two"]
    assert lines[:-1] == texts
    assert lines[-1].endswith('link "Lamp 12.00"]')


async def test_digits_that_are_raised_are_not_those_before_them(context: Context) -> None:
    lines, _ = await look(
        context,
        "<style>.cents { font-size: 10px; vertical-align: top }</style>"
        "<p>10<sup>6</sup> m<sup>2</sup>, 10<sup>-6</sup> in Oslo<sup>1</sup></p><p>1<sup>st</sup>, CO<sub>2</sub></p>"
        "<p style='font-size:24px'>$217<span class=cents>99</span></p><p>12<small>34</small></p>",
    )
    assert lines == ["10^6 m^2, 10^-6 in Oslo^1", "1st, CO2", "$217^99", "1234"]


async def test_an_old_price_is_told_from_the_new_one(context: Context) -> None:
    lines, tree = await look(
        context,
        "<style>.was { text-decoration: line-through }</style>"
        "<p><del>$249.99</del> $217.99</p><p>now 5 <span class=was>was 9</span></p>"
        "<a href=/lamp><span class=was>30 EUR</span><span>20 EUR</span></a>"
        "<ul><li class=was>milk</li><li>bread</li></ul>",
    )
    assert lines[:2] == ["(struck out $249.99) $217.99", "now 5 (struck out was 9)"]
    assert lines[2].endswith('link "30 EUR 20 EUR" struck out: "30 EUR"]')
    assert lines[3:] == ["- (struck out milk)", "- bread"]
    assert [one.text for one in walk_elements(tree) if one.role == "deletion"] == ["$249.99", "was 9", "milk"]


async def test_options_that_cannot_be_chosen_say_so(context: Context) -> None:
    lines, tree = await look(
        context,
        "<select aria-label=Size><option>S<option disabled>M<optgroup label=Large disabled><option>L</optgroup>"
        "<option hidden>Choose</select>",
    )
    assert "options: S | M (disabled) | L (disabled)]" in lines[0]
    assert clickable_elements(tree)[0].disabled_options == {1, 2}


async def test_rows_and_groups_say_their_names(context: Context) -> None:
    lines, _ = await look(
        context,
        "<table><tr aria-label='Order 7'><td>Anna<td><button>Edit</button></tr></table>"
        "<section aria-label='Billing address'><input aria-label=Street></section>"
        "<fieldset><legend>Delivery</legend><input aria-label=Street></fieldset>"
        "<div role=grid><div role=row aria-label=Monday><div role=gridcell></div>"
        "<div role=gridcell>busy</div></div></div>",
    )
    assert lines[0].startswith("row Order 7: Anna | [")
    assert lines[1].startswith("region Billing address: [")
    assert [one for one in lines if "Delivery" in one] == ["Delivery"]
    assert lines[-1].startswith("row Monday:  | [") and lines[-1].endswith('gridcell "busy"]')


async def test_entries_of_a_calendar_say_where_they_lie_and_rows_of_a_stack_do_not(context: Context) -> None:
    entry = "<div style='position:absolute; left:{x}px; top:{y}px; width:90px; height:40px'>{name}</div>"
    entries = "".join(entry.format(x=x, y=y, name=name) for x, y, name in ((0, 80, "Call"), (300, 20, "Lunch")))
    button = "<button style='position:absolute; left:200px; top:10px; width:50px; height:20px'>Add</button>"
    stack = "".join(f"<div style='position:absolute; top:{n * 20}px; height:20px'>Row {n}</div>" for n in range(3))
    lines, _ = await look(
        context,
        f"<body style='margin:0'><div style='position:relative; height:200px'>{entries}{button}</div>"
        f"<div style='position:relative; height:60px'>{stack}</div>",
    )
    assert lines[:2] == ["(90 x 40 px at 0, 80) Call", "(90 x 40 px at 300, 20) Lunch"]
    assert lines[2].endswith('button "Add" 50 x 20 px at 200, 10]')
    assert lines[3:] == ["Row 0 Row 1 Row 2"]


async def test_what_lies_below_the_window_does_not_say_that_it_is_in_it(context: Context) -> None:
    await show(
        context,
        "<p>above</p><div style='height:3000px'></div><p>below</p><ul><li>far <b>off</b></li></ul>"
        "<table><tr><td>cell</table>",
    )
    tree = (await context.observe()).elements
    said = {one.text: one.in_viewport for one in walk_elements(tree) if one.text}
    assert said == {"above": True, "below": False, "far off": False, "cell": False}


async def test_text_of_the_body_and_of_a_block_that_reaches_beyond_the_window_says_where_it_is(
    context: Context,
) -> None:
    tall = "<div style='height:900px'></div>"
    far = "".join(f"<div>line {n}</div>" for n in range(40))
    await show(
        context,
        f"<div>first</div>bare<p>near</p><section>here {tall}<div>there</div> and <b>further</b> on<br>end</section>"
        f"{tall}loose<div>own</div>{far}",
    )
    tree = (await context.observe()).elements
    said = {one.text: one.in_viewport for one in walk_elements(tree) if one.text}
    assert [text for text, inside in said.items() if inside] == ["first", "bare", "near", "here"]
    assert {"there", "and further on", "end", "loose", "own", "line 39"} < said.keys()


async def test_a_control_that_a_style_draws_is_called_as_its_picture(context: Context) -> None:
    lines, _ = await look(
        context,
        "<style>span { display: inline-block; width: 20px; height: 20px; cursor: pointer }"
        "#a { content: url(https://a.example/mail/send-reply.png) }"
        "#b { background-image: url(https://a.example/icons/left-arrow.svg) }</style>"
        "<span id=a></span><span id=b></span>",
    )
    assert [line.split('"')[1] for line in " ".join(lines).split("[")[1:]] == ["send reply", "left arrow"]


async def test_a_button_whose_author_gave_it_another_name_keeps_its_words(context: Context) -> None:
    _, tree = await look(
        context,
        '<input type=submit value="Go"><input type=submit value="Go" aria-label="Search the shop">'
        '<input type=reset value="Clear" aria-label="Clear"><input type=button aria-label="Close">',
    )
    told = [(element.name, element.attributes.get("value")) for element in clickable_elements(tree)]
    assert told == [("Go", None), ("Search the shop", "Go"), ("Clear", None), ("Close", None)]
