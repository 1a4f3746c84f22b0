"""Lists that are empty by the page's own words about what the job asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.read.lists.empty_page import read_empty_page
from shoal.agent.read.values.phrases import phrase
from shoal.agent.spec import JobSpec


async def states_empty_list(state: SessionState) -> bool:
    """Return whether the open page says that the list of this session's job is empty."""
    return bool((await read_empty_page(state.page)).empty_message(requested_words(state)))


async def judged_empty(state: SessionState, read: Extraction) -> Extraction:
    """A reading of a list; one without records is empty and complete only by the page's own words about that list."""
    if read.records:
        return read
    empty_page = await read_empty_page(state.page)
    if empty_page.empty_message(requested_words(state)):
        return replace(read, empty=True, complete=True, why="")
    why = "; ".join(filter(None, (read.why, empty_page.why_not_empty())))
    return replace(read, empty=False, complete=False, why=why)


def requested_words(state: SessionState) -> frozenset[str]:
    """The folded words by which the job calls what it wants of the open page."""
    texts = [*_texts_of(state.spec), state.item.label if state.item is not None else ""]
    return frozenset(word for text in texts for word in phrase(text))


def _texts_of(spec: JobSpec) -> Iterator[str]:
    yield spec.goal or ""
    loop = spec.loop
    while loop is not None:
        yield loop.source.select if loop.source is not None else ""
        loop = loop.loop
    if spec.extract is None:
        return
    yield spec.extract.goal or ""
    for part in (spec.extract.json_schema or {}, spec.extract.record_schema or {}):
        yield from (str(part.get(word, "")) for word in ("title", "description"))
        yield from part.get("properties", {})
