"""Places of record fields, and of acted-on elements, on the picture of their page.

A field's place that is in doubt is left out. An element's place is where it was just after the picture was taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from shoal.agent.browser import Context
from shoal.agent.errors import BrowserError
from shoal.agent.read.grounding.page_text import PageText
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, Box, Element, Observation, Record, RecordPicture

_SCRIPT = (Path(__file__).parent / "field_places.js").read_text(encoding="utf-8")
_MOST_RECORDS, _MOST_FIELDS = 60, 600
"""Of one page. A picture shows no more of a list that people could tell apart."""
_CHARS = 4_000
"""Of what an element says: in a longer one a place says little."""


@dataclass(frozen=True, slots=True)
class FieldPlaces:
    """The boxes and texts of some elements on the picture."""

    shows: Box  # the part of the page that the window shows
    seen: Mapping[str, Mapping[str, Json]]  # by selector: its box, its text and its attributes


async def field_places(page: Context, records: Sequence[Record]) -> FieldPlaces | None:
    """The elements in the window that the records' sources name; None where no source can name one."""
    named = {source.where for record in records[:_MOST_RECORDS] for source in record.sources.values() if source.where}
    return await _read_places(page, sorted(named)[:_MOST_FIELDS]) if named else None


@dataclass(frozen=True, slots=True)
class ActedPlaces:
    """The boxes of the elements that a step acts on."""

    shows: Box | None = None  # the part of the page that the window shows; None: unknown
    boxes: Mapping[str, Box] = field(default_factory=dict)  # on the page, by the elements' ids


def acted_bid(action: Action) -> str:
    """The id of the element that an action begins at; "" for none."""
    return str(action.args.get("bid") or action.args.get("from_bid") or "")


async def acted_places(page: Context, actions: Sequence[Action]) -> ActedPlaces:
    """The elements of the main frame, in the window, that `actions` name; of others the window alone is told.

    Of a drag it is the element that is dragged.

    Raises:
        BrowserError: the page could not be asked.
    """
    named = dict.fromkeys(bid for action in actions if (bid := acted_bid(action)))
    selector_of = {bid: selectors[0] for bid in named if (selectors := await page.selectors(bid)) is not None}
    asks = selector_of or any("x" in action.args for action in actions)
    places = await _read_places(page, list(selector_of.values())) if asks else None
    if places is None:
        return ActedPlaces()
    seen = {bid: places.seen[selector] for bid, selector in selector_of.items() if selector in places.seen}
    return ActedPlaces(places.shows, {bid: Box(*place["box"]) for bid, place in seen.items()})


async def _read_places(page: Context, selectors: Sequence[str]) -> FieldPlaces | None:
    answer = await page.read(_SCRIPT, {"selectors": selectors, "most": _CHARS})
    if answer is None:
        return None  # a page that takes no scripts
    if not isinstance(answer, Mapping):
        raise BrowserError("the page told nothing of where its fields stand")
    places = zip(selectors, answer["places"], strict=True)
    return FieldPlaces(
        Box(*map(float, answer["shows"])), {where: place for where, place in places if place is not None}
    )


def with_places(
    records: Sequence[Record], before: FieldPlaces, after: FieldPlaces | None, picture: str
) -> Sequence[Record]:
    """The records with their picture, and the places that were the same `before` and `after` it was taken."""
    if after is None or before.shows != after.shows:
        return records
    held = {where: place for where, place in before.seen.items() if after.seen.get(where) == place}
    shown = RecordPicture(picture, before.shows)
    return [_placed(record, held, shown) for record in records[:_MOST_RECORDS]] + list(records[_MOST_RECORDS:])


def _placed(record: Record, held: Mapping[str, Mapping[str, Json]], picture: RecordPicture) -> Record:
    """One record with the boxes of its fields, each only where its element states the field's value."""
    values = record.value if isinstance(record.value, Mapping) else {}
    sources = {
        name: replace(source, box=Box(*held[source.where]["box"]))
        if source.where in held and _states(held[source.where], values.get(name))
        else source
        for name, source in record.sources.items()
    }
    return replace(record, sources=sources, picture=picture)


def _states(place: Mapping[str, Json], value: Json) -> bool:
    """Return whether an element says `value`; of a yes or no that cannot be told, and then its selector is trusted."""
    if isinstance(value, bool):
        return True
    attributes = {str(name): str(text) for name, text in place["attributes"]}
    element = Element("", "p", text=str(place["text"]), attributes=attributes)
    return PageText([Observation("", "", element)]).find(value) is not None
