"""Lists of suggestions, as libraries from npm open them: typed for, seen, chosen from, and closed for good."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

import pytest

from shoal.agent.actions.effect_words import effect_words
from shoal.agent.browser import Context
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.types import Action, ActionResult, Element
from tests.sites.registry.cache import Unreachable
from tests.sites.registry.suggestions import pages

pytestmark = pytest.mark.asyncio(loop_scope="session")

TYPED = ("jquery-ui", "aria", "github", "downshift")
OPENED = ("select2",)
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


async def says(context: Context) -> str:
    await asyncio.sleep(0.1)  # the page writes down its value every 50 ms
    return str(await context.read("() => document.getElementById('out').textContent"))


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
    assert await says(context) == "town is Bergen"
    await asyncio.sleep(LATEST_S)
    assert await choices(context) == {}


@pytest.mark.parametrize("library", TYPED)
async def test_an_option_is_selected_by_its_name(context: Context, sites: Mapping[str, str], library: str) -> None:
    await context.goto(sites[library])
    await context.settle()
    await act(context, "select_option", bid=await field(context), options="Bern")
    assert await says(context) == "town is Bern"
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
    assert await says(context) == "town is Turku"
    opener = next(one for one in await controls(context) if one.role in ("combobox", "listbox") and one.tag != "select")
    await act(context, "select_option", bid=opener.bid, options="Oslo")
    assert await says(context) == "town is Oslo"
    await asyncio.sleep(LATEST_S)
    assert set(await choices(context)) <= {"Oslo"}
