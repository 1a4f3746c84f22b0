"""Calendars of libraries from npm: days under their weekdays, entries with their places, ways to the next month."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping

import pytest

from shoal.agent.browser import Context
from shoal.agent.observe.renderings import compact
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.types import Action
from tests.sites.registry.cache import Unreachable
from tests.sites.registry.calendars import pages

pytestmark = pytest.mark.asyncio(loop_scope="session")

DRAWN_S = 20


@pytest.fixture(scope="module")
def sites() -> Iterator[Mapping[str, str]]:
    try:
        with pages() as at:
            yield at
    except Unreachable as error:
        pytest.skip(str(error))


async def lines(context: Context, url: str = "") -> list[str]:
    if url:
        await context.goto(url)
        await context.settle()
    return compact((await context.observe()).elements).splitlines()


def days(line: str) -> list[str]:
    """The cells of a row, each as the number that it shows."""
    return [(re.findall(r'\((\d+)|"(\d+)"|^(\d+)$', cell.strip()) or [("", "", "")])[0] for cell in line.split(" | ")]


@pytest.mark.parametrize("library", ["fullcalendar", "pikaday", "jquery-ui"])
async def test_each_week_is_a_line_and_its_days_stand_under_their_weekdays(
    context: Context, sites: Mapping[str, str], library: str
) -> None:
    shown = await lines(context, sites[library])
    (head,) = [at for at, line in enumerate(shown) if re.match(r"Sun? \| Mon? \| Tue? ", line)]
    weeks = [["".join(day) for day in days(line)] for line in shown[head + 1 :] if line.count(" | ") == 6]
    assert ["10", "11", "12", "13", "14", "15", "16"] in weeks
    first = next(week for week in weeks if "1" in week[3:])
    assert first[5:] == ["1", "2"]  # that May begins on a Friday; Pikaday's first two cannot be chosen
    assert first[:5] in (["26", "27", "28", "29", "30"], [""] * 5)


async def test_days_of_two_months_are_told_apart(context: Context, sites: Mapping[str, str]) -> None:
    await lines(context, sites["fullcalendar"])
    names = [one.name for one in clickable_elements((await context.observe()).elements) if one.role == "gridcell"]
    assert (names[0], names[-1]) == ("April 26, 2026", "June 6, 2026")
    assert len(set(names)) == 42


@pytest.mark.parametrize(("library", "field"), [("flatpickr", "span"), ("air-datepicker", "div")])
async def test_the_arrow_to_the_next_month_can_be_clicked(
    context: Context, sites: Mapping[str, str], library: str, field: str
) -> None:
    """An element within one that listens is a target of its own where it shows the pointing hand."""
    before = await lines(context, sites[library])
    arrows = [one for one in clickable_elements((await context.observe()).elements) if "icon of path" in one.name]
    assert [one.tag for one in arrows] == [field, field]
    result = await context.act(Action("click", {"bid": arrows[1].bid}))
    assert result.error is None
    after = await lines(context)
    assert after != before


async def test_entries_of_a_timeline_are_not_one_name(context: Context, sites: Mapping[str, str]) -> None:
    shown = await lines(context, sites["vis-timeline"])
    async with asyncio.timeout(DRAWN_S):
        while not any("Lunch" in line for line in shown):  # it draws its entries when the page has long been loaded
            shown = await lines(context)
    entries = {line.rpartition(") ")[2]: line for line in shown if line.endswith((" Call Ann", " Lunch"))}
    places = {name: re.findall(r"px at (\d+), (\d+)\)", line) for name, line in entries.items()}
    assert set(places) == {"Call Ann", "Lunch"}
    ((ann_x, ann_y),), ((lunch_x, lunch_y),) = places["Call Ann"], places["Lunch"]
    assert int(ann_x) < int(lunch_x) and int(ann_y) < int(lunch_y)
