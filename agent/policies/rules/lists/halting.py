"""Why a way on that brought nothing may not be the end of its list, or that it plainly is."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from shoal.agent.browser import Context
from shoal.agent.policies.rules.lists.list_end import ListEnd, read_list_end
from shoal.agent.policies.rules.lists.list_page import read_ways_on
from shoal.agent.policies.rules.lists.onward import Onward, next_step
from shoal.agent.read.grounding.part_claims import is_last_page
from shoal.agent.read.links.list_page import ListPage
from shoal.agent.support.web_addresses import same_site

_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Halt:
    """The outcome of a press that brought nothing further."""

    why: str = ""  # why the list may go on all the same; "" where the page makes plain that this is its end
    not_its: bool = False  # the button turned something else on the page


async def halted(
    page: Context,
    step: Onward,
    before: ListEnd,
    number: int,
    *,
    known: Collection[str],
    lost: str,
    anew: bool,
    at_rest: bool,
    turned: bool,
) -> Halt:
    """Return what became of a press of `step` that brought nothing further.

    It is the list's end where the list begins anew, the button is gone or disabled, or the last of all pages is open.

    Args:
        before: the page before the press.
        number: of the list's page that was pressed on, from 1.
        known: texts of the records.
        lost: what is missing now of what the list's page showed, in words; "" where it shows the same.
        anew: the list shows one of its earlier pages.
        at_rest: the press's requests ended.
        turned: the button has brought further items before: it is the list's own.
    """
    end = await read_list_end(page)
    tried = f"{step.label or step.aria_label or step.select!r} brought nothing further after page {number:,}"
    failed = [request for request in end.failed - before.failed if same_site(end.url, request.url)]
    if failed:
        return Halt(f"{tried}: {failed[0]}")
    if not at_rest:
        return Halt(f"{tried}: its requests did not end")
    if (cut := end.cut_by(known)) and cut != before.cut_by(known):
        return Halt(f"{tried}: {cut}")
    if anew:
        return Halt()
    if lost:
        return Halt(f"{tried}: {lost}")
    after = await read_ways_on(page, None)
    if next_step(after, None) is None or is_last_page(end.text) or _is_last_number(after):
        return Halt()
    if not turned and _other_words(before.text, end.text):
        return Halt(not_its=True)
    return Halt(tried)


def _other_words(before: str, after: str) -> bool:
    """Return whether words of a page gave way to others:
    not so a number that counts, nor a message that comes or goes.
    """
    old, new = ({_NUMBERS.sub("", line).strip() for line in text.splitlines()} for text in (before, after))
    return bool(old - new) and bool(new - old)


def _is_last_number(page: ListPage) -> bool:
    """Return whether the page that is open has the highest number of all that a pager shows."""
    numbers = [int(control.text) for control in page.controls if control.visible and control.text.isdecimal()]
    here = _NUMBERS.search(page.current)
    return here is not None and len(numbers) > 1 and int(here.group()) >= max(numbers)
