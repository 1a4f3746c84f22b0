"""Guards over many records: two items with one record, and a batch that is not as what was learned from."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from shoal.agent.support.json_value import Json
from shoal.agent.workflows.reading.channels import value_key
from shoal.agent.workflows.verdict import Miss, MissReason

LEAST = 8
"""Records of a batch below which nothing is said about it."""
_RUN = 4
"""So many equal values one after the other, in a field that differed on every page before, are no accident."""
_MAGNITUDE = 8.0
_RARE = 1e-4
"""A batch that is this unlikely under what was learned has drifted."""


@dataclass(frozen=True, slots=True)
class FieldHistory:
    """What is known of one field from the records that were learned from or audited."""

    seen: int  # records
    nulls: int  # of them without the field
    distinct: int  # different values
    middle: float | None = None  # median of a number's magnitude


def history_of(records: Sequence[Mapping[str, Json]], name: str) -> FieldHistory:
    """What `records` say of the field `name`."""
    values = [record.get(name) for record in records]
    there = [value for value in values if value is not None]
    return FieldHistory(
        len(values), len(values) - len(there), len({value_key(value) for value in there}), _middle(there)
    )


def _middle(values: Sequence[Json]) -> float | None:
    numbers = [abs(float(v)) for v in values if isinstance(v, (int, float)) and not isinstance(v, bool) and v]
    return median(numbers) if numbers else None


def duplicates(records: Sequence[tuple[int, Mapping[str, Json]]]) -> Mapping[int, Miss]:
    """A miss for each item (by index) that has the very record of another item. One field says too little."""
    owners: dict[str, list[int]] = {}
    for index, record in records:
        if len(record) >= 2:
            owners.setdefault(json.dumps(record, sort_keys=True, default=str), []).append(index)
    return {
        index: Miss(MissReason.DUPLICATE, "record", f"items {', '.join(map(str, same))} have the same record")
        for same in owners.values()
        if len(same) > 1
        for index in same
    }


def batch_drift(learned: Mapping[str, FieldHistory], batch: Sequence[Mapping[str, Json]]) -> tuple[Miss, ...]:
    """What is different about `batch`, in the order of its items, from what was learned. Empty: nothing.

    A batch that drifted is not final: its records go back, or are audited.
    """
    found: list[Miss] = []
    for name, known in learned.items():
        values = [record.get(name) for record in batch]
        run = _longest_run(values)
        if known.seen >= 2 and known.distinct == known.seen - known.nulls > 1 and run >= _RUN:
            told = f"{run} items one after the other say the same, and no two did before"
            found.append(Miss(MissReason.DRIFT, name, told))
        if len(batch) < LEAST:
            continue
        found += _nulls(name, known, values)
        middle = _middle([value for value in values if value is not None])
        if middle and known.middle and not 1 / _MAGNITUDE <= middle / known.middle <= _MAGNITUDE:
            told = f"the middle value is {middle:g}, and {known.middle:g} was learned"
            found.append(Miss(MissReason.DRIFT, name, told))
    return tuple(found)


def _nulls(name: str, known: FieldHistory, values: Sequence[Json]) -> list[Miss]:
    nulls = sum(value is None for value in values)
    usual = (known.nulls + 1) / (known.seen + 2)  # nobody has seen enough to say never
    if nulls <= usual * len(values) or _tail(nulls, len(values), usual) > _RARE:
        return []
    told = f"{nulls} of {len(values)} items lack it, and {known.nulls} of {known.seen} did before"
    return [Miss(MissReason.DRIFT, name, told)]


def _tail(least: int, of: int, share: float) -> float:
    """How likely at least `least` of `of` are, where each is with `share`."""
    return sum(math.comb(of, k) * share**k * (1 - share) ** (of - k) for k in range(least, of + 1))


def _longest_run(values: Sequence[Json]) -> int:
    longest, run, before = 0, 0, None
    for value in values:
        key = None if value is None else value_key(value)
        run = run + 1 if key is not None and key == before else int(key is not None)
        before, longest = key, max(longest, run)
    return longest
