"""Selectors that find the elements of a page's values again, and the elements of a list's records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from shoal.agent.page.page import Page
from shoal.agent.read.by_place.selector_candidates import SelectorCandidates

_MOST_SELECTORS = 12
_MOST_RECORDS = 3
_MOST_WITH_ATTRIBUTE = 4
_MOST_UP = 4
_MOST_OUTER = 2
_ATTRIBUTES = {
    "a": ("href",),
    "img": ("src", "alt"),
    "time": ("datetime",),
    "meta": ("content",),
    "link": ("href",),
    "data": ("value",),
}
_WITHOUT_TEXT = frozenset({"meta", "link"})


@dataclass(frozen=True, slots=True)
class FoundSelectors:
    """Selectors, best first."""

    records: Sequence[str] = ()  # of a list: what finds its records and nothing else
    # By field: each with the attribute that states the value; None: the text does.
    fields: Mapping[str, Sequence[tuple[str, str | None]]] = field(default_factory=dict)


def selectors_of(page: Page, records: Sequence[Mapping[str, int]], *, many: bool) -> FoundSelectors:
    """The selectors of values.

    Args:
        records: the number of each value's element, by record and field.
        many: the page is a list. Then selectors of fields lead to them from the elements of records.
    """
    candidates = SelectorCandidates(page)
    if not many:
        first = records[0] if records else {}
        return FoundSelectors(
            fields={name: _with_attributes(page, at, _alone(candidates, at)) for name, at in first.items()}
        )
    scopes = _scopes(candidates, page, [held for held in records if held])
    if not scopes:
        return FoundSelectors()
    fields: dict[str, Sequence[tuple[str, str | None]]] = {}
    for held, scope in zip((held for held in records if held), scopes, strict=True):
        for name, at in held.items():
            if name not in fields:
                fields[name] = _with_attributes(page, at, candidates.alone_in(at, scope))
    return FoundSelectors(list(islice(_finding(candidates, scopes), _MOST_RECORDS)), fields)


def _alone(candidates: SelectorCandidates, number: int) -> Iterator[str]:
    """Names first; a place among the last counts where every name is of this page only."""
    positions = [*candidates.positions_in_named(number), *candidates.positions(number)]
    yield from islice(candidates.alone(number), _MOST_SELECTORS - len(positions))
    yield from positions


def _with_attributes(page: Page, number: int, selectors: Iterator[str]) -> list[tuple[str, str | None]]:
    el = page.elements[number]
    several = list(islice(selectors, _MOST_SELECTORS))
    by_text: list[tuple[str, str | None]] = [] if el.tag in _WITHOUT_TEXT else [(css, None) for css in several]
    stated = [name for name in _ATTRIBUTES.get(str(el.tag), ()) if el.get(name) is not None]
    return by_text + [(css, name) for css in several[:_MOST_WITH_ATTRIBUTE] for name in stated]


def _scopes(candidates: SelectorCandidates, page: Page, held: Sequence[Mapping[str, int]]) -> list[int]:
    """The element of each record: the largest that holds all of its values and none of another record's.

    None at all where one has no such element.
    """
    scopes: list[int] = []
    for index, record in enumerate(held):
        own = set(record.values())
        others = [at for number, other in enumerate(held) if number != index for at in other.values()]

        def holds(scope: int, several: Sequence[int]) -> bool:
            return any(candidates.contains(scope, at) for at in several)

        first = min(own)
        around = [first, *candidates.up(first)]
        scope = next((at for at in around if all(candidates.contains(at, value) for value in own)), None)
        if scope is None or holds(scope, others):
            return []
        larger = around[around.index(scope) + 1 :] if others else []
        for at in larger:
            if holds(at, others):
                break
            scope = at
        scopes.append(scope)
    return scopes


def _finding(candidates: SelectorCandidates, scopes: Sequence[int]) -> Iterator[str]:
    """Selectors that find these elements and no others."""
    every, first = sorted(set(scopes)), scopes[0]
    names = candidates.names(first)
    yield from (name.css for name in names[:-1] if list(name.numbers) == every)
    for index, at in enumerate(islice(candidates.up(first), _MOST_UP)):
        for outer in candidates.names(at)[:-1][:_MOST_OUTER]:
            for inner in names:
                numbers = candidates.children_of(outer, inner) if index == 0 else candidates.within(outer, inner)
                if numbers == every:
                    yield f"{outer.css} {'> ' if index == 0 else ''}{inner.css}"
    if list(names[-1].numbers) == every:
        yield names[-1].css
