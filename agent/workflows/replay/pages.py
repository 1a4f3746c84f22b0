"""Reading the open page by a workflow, once it has come to rest."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.agent.browser import Context
from shoal.agent.spec import FieldPlace
from shoal.agent.support.json_value import Json
from shoal.agent.support.moments import utc_now
from shoal.agent.support.once_each import once_each
from shoal.agent.types import LoopItem
from shoal.agent.workflows.divergences import Divergence, DivergenceReason
from shoal.agent.workflows.format.branch import Branch
from shoal.agent.workflows.reading.branch_reader import read_page
from shoal.agent.workflows.reading.page_view import (
    PageView,
    needs_texts,
    places_of,
    selectors_of,
    view_of,
    view_parameters,
)
from shoal.agent.workflows.script_answer import NoScriptAnswer
from shoal.agent.workflows.verdict import PageRead

_QUIET_S = 0.25
"""So long nothing may happen on a page with scripts before it is read: what stands there first may be a placeholder."""
_BUDGET_S = 5.0
_MOST_ASKED = 64
_NEVER_LATER = frozenset({DivergenceReason.STATUS, DivergenceReason.ADDRESS})
"""Misses that another look does not mend."""


async def replay_page(
    page: Context,
    branches: Sequence[Branch],
    item: LoopItem | None,
    schema: Mapping[str, Json] | None,
    *,
    locale: str = "",
) -> PageRead:
    """The record of the open page, or why there is none. On a page with scripts a miss is looked at again for seconds.

    A null is final on such a page only when the seconds are over: a script may put the value there.

    Where only the page's document was read, and gives no record, a browser opens the page.

    Raises:
        BrowserError: the page could not be asked.
    """
    places, selectors = places_of(branches), selectors_of(branches)
    deadline = time.monotonic() + _BUDGET_S

    async def look(*, rendered: bool = False) -> PageView:
        asked = view_parameters(places, selectors, rendered=rendered, texts=needs_texts(branches))
        return await view_of(page, places, asked)

    try:
        view = await look()
        if view.document:
            read = _read(view, branches, item, schema, locale)
            if read.record is not None:
                return read
            view = await look(rendered=True)
    except NoScriptAnswer as error:
        return _unread_page(error)
    if view.scripts:
        await page.settle(quiet_s=_QUIET_S, budget_s=_BUDGET_S)
        view = await look()
    read = _read(view, branches, item, schema, locale)
    unsure = read.record is None or read.has_null
    while unsure and view.scripts and time.monotonic() < deadline and not _is_final(read):
        settled = await page.settle(quiet_s=2 * _QUIET_S, budget_s=max(_QUIET_S, deadline - time.monotonic()))
        again = await look()
        if settled and again == view and read.record is None:
            break
        view = again
        read = _read(view, branches, item, schema, locale)
        unsure = read.record is None or read.has_null
    return read


async def read_document(
    page: Context,
    branches: Sequence[Branch],
    item: LoopItem | None,
    schema: Mapping[str, Json] | None,
    *,
    locale: str = "",
) -> PageRead | None:
    """The record of the open page's document, or why it gives none; None where a browser has the page.

    Raises:
        BrowserError: the page could not be asked.
    """
    try:
        view = await view_of(page, *_asked_of_documents(branches))
    except NoScriptAnswer:
        return None
    return _read(view, branches, item, schema, locale) if view.document else None


async def read_rendered(
    page: Context,
    branches: Sequence[Branch],
    item: LoopItem | None,
    schema: Mapping[str, Json] | None,
    *,
    locale: str = "",
) -> PageRead:
    """The record of the page as a browser shows it now, or why there is none. Nothing is waited for.

    Raises:
        BrowserError: the page could not be asked.
    """
    try:
        places = places_of(branches)
        asked = view_parameters(places, selectors_of(branches), rendered=True, texts=needs_texts(branches))
        view = await view_of(page, places, asked)
    except NoScriptAnswer as error:
        return _unread_page(error)
    return _read(view, branches, item, schema, locale)


@once_each(_MOST_ASKED)
def _asked_of_documents(branches: Sequence[Branch]) -> tuple[tuple[FieldPlace, ...], dict[str, Any]]:
    """The places that branches read, and the one question that all documents are asked for them."""
    places = places_of(branches)
    return places, view_parameters(places, selectors_of(branches))


def _unread_page(error: NoScriptAnswer) -> PageRead:
    return PageRead(None, misses=(Divergence(DivergenceReason.SIGNATURE, "page", str(error)),))


def _read(
    view: PageView, branches: Sequence[Branch], item: LoopItem | None, schema: Mapping[str, Json] | None, locale: str
) -> PageRead:
    at = utc_now()
    return read_page(view, branches, item, schema, locale=locale, at=at)


def _is_final(read: PageRead) -> bool:
    return any(miss.reason in _NEVER_LATER for miss in read.misses)
