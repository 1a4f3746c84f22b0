"""Controls that a page enables only once something else is filled in, a moment later."""

from __future__ import annotations

import time

import pytest

from shoal.agent.browser import Context
from shoal.agent.types import Action
from tests.integration.browser.test_mended import show

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGE = """<input aria-label=Name oninput="setTimeout(() => {{ {enables} }}, 800)">
<button id=send {off} onclick="out.textContent = 'sent'">Send</button><p id=out>not yet</p>"""
WAYS = {
    "disabled": ("disabled", "send.disabled = false"),
    "by ARIA": ("aria-disabled=true", "send.removeAttribute('aria-disabled')"),
}


@pytest.mark.parametrize(("off", "enables"), WAYS.values(), ids=WAYS)
async def test_a_button_that_is_enabled_by_filling_is_waited_for(context: Context, off: str, enables: str) -> None:
    shown = await show(context, PAGE.format(off=off, enables=enables))
    for action in (
        Action("fill", {"bid": shown["Name"], "value": "Ada"}),
        Action("click", {"bid": shown["Send"]}),
    ):
        assert (await context.act(action)).error is None
    assert await context.read("() => out.textContent") == "sent"


@pytest.mark.parametrize(("off", "enables"), WAYS.values(), ids=WAYS)
async def test_a_button_that_stays_disabled_is_told_to(context: Context, off: str, enables: str) -> None:
    shown = await show(context, PAGE.format(off=off, enables=""))
    await context.act(Action("fill", {"bid": shown["Name"], "value": "Ada"}))
    began = time.monotonic()
    result = await context.act(Action("click", {"bid": shown["Send"]}))
    assert result.error is not None
    assert "disabled, and stays so" in result.error.message
    assert 2 < time.monotonic() - began < 20
    assert await context.read("() => out.textContent") == "not yet"


async def test_a_field_that_another_one_enables_is_filled(context: Context) -> None:
    page = PAGE.format(off="", enables="town.disabled = street.disabled = false")
    towns = "<select id=town aria-label=Town disabled><option>Bern<option>Zug</select>"
    fields = f"{towns}<input id=street aria-label=Street disabled>"
    shown = await show(context, page + fields)
    for action in (
        Action("fill", {"bid": shown["Name"], "value": "Ada"}),
        Action("select_option", {"bid": shown["Town"], "options": "Zug"}),
        Action("fill", {"bid": shown["Street"], "value": "Bahnhofstrasse"}),
    ):
        assert (await context.act(action)).error is None
    assert await context.read("() => town.value + street.value") == "ZugBahnhofstrasse"
