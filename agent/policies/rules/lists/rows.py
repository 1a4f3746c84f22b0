"""Items that are rows of a list and no links: found again on the page where they stood, opened, or read in place."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from shoal.agent.errors import FieldsMissing, ItemNotFound
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.page.selectors import Selectors
from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.policies.rules.lists.list_page import read_ways_on
from shoal.agent.policies.rules.lists.onward import button_id, next_step, walk
from shoal.agent.policies.rules.page_changes import wait_for_change
from shoal.agent.read.drawn.page_tree import page_on
from shoal.agent.read.facts.facts import facts_of
from shoal.agent.read.lists.places import element_with_text
from shoal.agent.read.record.record import read_blocks
from shoal.agent.read.schema import properties_of
from shoal.agent.read.shown.places import name_stems
from shoal.agent.read.values.phrases import squash
from shoal.agent.support.moments import utc_now
from shoal.agent.types import Action, ActionResult, Element, LoopItem, Observation, Record, Step

_TURN = "turn to the item's page of the list"
_OPEN_ROW = "open the item's row"
_CHANGE_S = 0.5  # until a list that was turned begins to show its next page


def collected_row(state: SessionState) -> LoopItem | None:
    """The item of this session, where it is a row that was collected from a page; None for any other."""
    above = state.spec.loop_at(state.depth - 1) if state.depth else None
    item = state.item
    is_row = item is not None and not item.is_link and above is not None and above.source is not None
    return item if is_row else None


async def decide_row(state: SessionState, seen: Observation, steps: Sequence[Step]) -> StepDecision | None:
    """The next actions on the way to a collected row; None where the item is none, or the page has no such row.

    Raises:
        ItemNotFound: the list cannot be turned to the page where the row stood.
    """
    item = collected_row(state)
    if item is None:
        return None
    done = [result.action.reasoning for step in steps for result in step.results if result.error is None]
    if _OPEN_ROW in done:
        return StepDecision("the row was opened", (Action("complete"),))
    if done.count(_TURN) < item.turns:
        return await _turn(state, seen, item)
    row = row_to_open(seen.elements, item.value)
    if row is not None:
        return StepDecision("the page shows the item as a row", (Action("click", {"bid": row.bid}, _OPEN_ROW),))
    if await _read(state, item) is not None:
        return StepDecision("the item is a row of this page", (Action("complete"),))
    return None


async def _turn(state: SessionState, seen: Observation, item: LoopItem) -> StepDecision:
    """Brings the next page of a list that scripts turn."""
    above = state.spec.loop_at(state.depth - 1)
    asked = above.source.next if above and above.source else None
    page = await read_ways_on(state.page, asked)
    step = next_step(page, asked)
    if step is None:
        by = {"dx": 0, "dy": page.height}
        return StepDecision("the list grows when it is scrolled", (Action("scroll", by, _TURN),))
    bid = None if step.url else await button_id(state.page, seen, step)
    if bid is None:
        raise ItemNotFound(f"{seen.url} has no way on to the row {item.value[:80]!r} that was there", item=item.value)
    return StepDecision("the row is on a later page of the list", (Action("click", {"bid": bid}, _TURN),))


async def wait_for_turn(state: SessionState, steps: Sequence[Step]) -> None:
    """Gives a list that was just turned the time to show its next page."""
    if steps and any(result.action.reasoning in (_TURN, _OPEN_ROW) for result in steps[-1].results):
        await wait_for_change(state.page, limit_s=_CHANGE_S)


def row_to_open(root: Element, text: str) -> Element | None:
    """The element that says exactly `text` and takes clicks; None where none or several do."""
    bare_text = _bare(text)
    matches = [
        element
        for element in walk(root)
        if element.bid and element.visible and element.clickable and bare_text in _name_and_text(element)
    ]
    inner = [
        element for element in matches if not any(other is not element and _holds(element, other) for other in matches)
    ]
    return inner[0] if len(inner) == 1 else None


def _holds(outer: Element, inner: Element) -> bool:
    return any(element is inner for element in walk(outer))


def _name_and_text(element: Element) -> tuple[str, str]:
    """Return what an element says, by its name and by the texts in it: a row that takes clicks has a name alone."""
    return _bare(element.name), _bare(" ".join(_texts(element)))


def _texts(element: Element) -> Iterator[str]:
    yield element.text
    for child in element.children:
        yield from _texts(child)


def _bare(text: str) -> str:
    return squash(text).replace(" ", "")


async def extract_row(state: SessionState) -> Extraction | None:
    """Return what the item's row states, where it was not opened;
    None where the page as a whole is to be read.

    Raises:
        FieldsMissing: the row states none of the fields.
    """
    item = collected_row(state)
    if item is None or state.spec.extract is None or state.spec.extract.many or _opened_other_page(state):
        return None
    extraction = await _read(state, item)
    states_some = extraction is not None and bool(extraction.records)
    if _was_opened(state):  # what it opened may have taken the row's place, and states what the row does not
        return extraction if extraction is not None and states_some and not extraction.missing else None
    if not states_some:
        raise FieldsMissing(f"the row {item.value[:80]!r} on {state.page.url} states none of the fields")
    return extraction


def _results(state: SessionState) -> Iterator[ActionResult]:
    """Yield what was done to get to the item, save the turning of its list."""
    for task in state.history:
        for result in (result for step in task.steps for result in step.results):
            if result.error is None and result.action.reasoning != _TURN and result.action.name != "complete":
                yield result


def _was_opened(state: SessionState) -> bool:
    return any(True for _ in _results(state))


def _opened_other_page(state: SessionState) -> bool:
    """Return whether opening the item led to another page."""
    return any(result.effect.url is not None or result.effect.new_tab for result in _results(state))


async def _read(state: SessionState, item: LoopItem) -> Extraction | None:
    """Return what the row states of the job's schema; None where the page has no such row."""
    extract = state.spec.extract
    if extract is None or extract.many or extract.record_schema is None:
        return None
    properties = properties_of(extract.record_schema)
    page = await page_on(state.page)
    row = element_with_text(page, item.value) if page is not None else None
    if page is None or row is None:
        return None
    where = Selectors(page).of(row)
    facts = await asyncio.to_thread(facts_of, page, name_stems(properties), [where])
    read = read_blocks(facts, properties, state.spec.browser.locale or "", extract.accept).get(0)
    if read is None:
        return None
    if not read.sources and not read.candidates:
        return Extraction((), missing=read.missing)
    return Extraction((Record(read.value, read.sources, facts.url, utc_now(), read.candidates),), missing=read.missing)
