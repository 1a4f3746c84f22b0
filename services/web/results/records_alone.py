"""The records of result lines, without what is told of them, and lists in them as tables can hold them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from enum import StrEnum

from shoal.agent.support.json_value import Json
from shoal.services.web.results.result_lines import Line


class Columns(StrEnum):
    """Which columns a table of results has."""

    ALL = "all"
    RECORD = "record"


class Lists(StrEnum):
    """Shapes of a record's lists, in a table of the records alone."""

    JSON = "json"
    JOINED = "joined"
    ROWS = "rows"


async def records_alone(lines: AsyncIterator[Line], lists: Lists) -> AsyncIterator[Line]:
    """The lines that have a record, each with nothing else; one line for each value of its lists, where asked so."""
    async for line in lines:
        record = line.get("record")
        if record is not None:
            for shaped in _shaped(record, lists):
                yield {"record": shaped}


def _shaped(record: Json, lists: Lists) -> Iterator[Json]:
    if isinstance(record, Mapping) and lists is Lists.ROWS:
        yield from _rows(record)
    elif isinstance(record, Mapping) and lists is Lists.JOINED:
        yield {name: _joined(value) for name, value in record.items()}
    else:
        yield record


def _joined(value: Json) -> Json:
    """A list of plain values as one text; one that holds lists or objects stays as it is."""
    if isinstance(value, Mapping):
        return {name: _joined(inner) for name, inner in value.items()}
    if not isinstance(value, list | tuple) or any(isinstance(part, Mapping | list | tuple) for part in value):
        return value
    return "; ".join("" if part is None else str(part) for part in value)


def _rows(record: Mapping[str, Json]) -> Iterator[Json]:
    """A row for each value of the record's lists: the first ones together, then the second ones; the rest repeats."""
    spread = {name: value for name, value in record.items() if isinstance(value, list | tuple)}
    for place in range(max([1, *map(len, spread.values())])):
        own = {name: value[place] if place < len(value) else None for name, value in spread.items()}
        yield {name: own.get(name, value) if name in spread else value for name, value in record.items()}
