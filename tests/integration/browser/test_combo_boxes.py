"""Lists to choose from that a page makes of other elements: named by their label, their text is their value.

What a model is shown, what a workflow finds an element by, and what is read of a page agree in it.
"""

from __future__ import annotations

import pytest

from shoal.agent.browser import Context
from shoal.agent.observe.renderings import compact
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.page.from_html import page_from_html
from shoal.agent.read.facts.facts import facts_of
from shoal.agent.types import Action
from shoal.agent.workflows.elements.describing import Described, describe
from tests.integration.browser.test_mended import show

pytestmark = pytest.mark.asyncio(loop_scope="session")

BOX = "<div role=combobox tabindex=0 id=box {more}><span id=now>Bern</span></div>"
LABELED = {
    "by ARIA": BOX.format(more="aria-label=Town"),
    "by what stands elsewhere": f"<b id=word>Town</b>{BOX.format(more='aria-labelledby=word')}",
    "by that and by its value": "<b id=word>Town</b>" + BOX.format(more="aria-labelledby='word now'"),
    "by a label": f"<label for=box>Town</label><p>{BOX.format(more='')}</p>",
    "in a label": f"<label>Town {BOX.format(more='').replace('div', 'span')}</label>",
    "behind a label": f"<label>Town</label>{BOX.format(more='')}",
}


@pytest.mark.parametrize("page", LABELED.values(), ids=LABELED)
async def test_a_combo_box_has_its_label_for_name_and_its_text_for_value(context: Context, page: str) -> None:
    await show(context, page)
    (box,) = [one for one in clickable_elements((await context.observe()).elements) if one.role == "combobox"]
    assert (box.name, box.text, box.attributes.get("value")) == ("Town", "", "Bern")
    described = await describe(context, box.bid)
    assert isinstance(described, Described)
    assert described.target.name == "Town"
    assert not [way for way in described.target.locators if "Bern" in way.value]
    pairs = facts_of(page_from_html(page.encode(), "https://x.example/", charset="utf-8")).pairs
    assert ("Town", "Bern") in [(pair.label, pair.text) for pair in pairs]
    assert not [pair for pair in pairs if "Bern" in pair.label]


async def test_a_combo_box_without_a_label_is_not_called_by_its_value(context: Context) -> None:
    await show(context, f"<div>Departure: {BOX.format(more='')}</div><hr>{BOX.format(more='aria-placeholder=x')}")
    one, other = [one for one in clickable_elements((await context.observe()).elements) if one.role == "combobox"]
    assert (one.name, other.name) == ("Departure", "")
    assert '="Bern"' in compact((await context.observe()).elements)


async def test_what_a_combo_box_holds_now_is_told_of_an_action(context: Context) -> None:
    options = "<ul role=listbox id=list hidden><li role=option>Bern</li><li role=option>Zug</li></ul>"
    more = "aria-label=Town aria-controls=list aria-expanded=false onclick='list.hidden = !list.hidden'"
    takes = "now.textContent = event.target.textContent; list.hidden = true;"
    script = f"<script>list.onclick = event => {{ {takes} }}</script>"
    shown = await show(context, BOX.format(more=more) + options + script)
    result = await context.act(Action("select_option", {"bid": shown["Town"], "options": "Zug"}))
    assert (result.error, result.effect.value) == (None, "Zug")
