"""Drift over a batch: what the records of many items say together, and no single one does.

Each record may pass every guard of its own while the batch is wrong: a field is empty everywhere, every item has the
same value, or all numbers are a hundred times as large. The records that a loop's baseline has read say what is usual.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from shoal.agent.support.json_value import Json

LEAST = 20
"""Replayed records below which a share, a run or a mean says nothing."""
_LEAST_TAUGHT = 3
"""Records of the baseline below which nothing is known to be usual."""
_WINDOW = 100
"""Replayed records after which the shares are counted anew: an old half must not hide a new one."""
_RISE = 0.3
"""So much more of the records may lack a field than among the baseline's."""
_DECADES = 1.0
"""So many powers of ten may the mean of a field lie beyond the baseline's smallest or largest number."""
_MOST_FIELDS = 40
_MOST_VALUES = 12
MOST_AGAIN = 50
"""Items of one loop that are read again since others have the same record."""
MOST_EQUAL = 3
"""Pairs of items that the baseline read to one record: from then on equal records are no doubt."""
_MOST_ACTED = 3
"""Records of a version that acts, and so cannot read again, that other items have, too."""


@dataclass(slots=True)
class FieldBaseline:
    """The baseline's values of one field."""

    given: int = 0  # records that have a value
    low: float | None = None  # power of ten of the smallest number
    high: float | None = None  # likewise of the largest
    values: list[str] = field(default_factory=list)  # keys of the first values
    repeated: bool = False  # two records had the same value


@dataclass(slots=True)
class Replayed:
    """The workflow's values of one field."""

    given: int = 0  # records of the window that have a value
    numbers: int = 0  # likewise: a number other than 0
    powers: float = 0.0  # sum of the powers of ten of these
    last: str = ""  # key of the last value
    run: int = 0  # records in a row that had it, whatever the window


@dataclass(slots=True)
class Batch:
    """The values that the items of one loop came to, field by field."""

    taught: int = 0  # records of the baseline
    usual: dict[str, FieldBaseline] = field(default_factory=dict)
    read: int = 0  # replayed records of the window
    fields: dict[str, Replayed] = field(default_factory=dict)
    equal: int = 0  # pairs of items that the baseline read to one record
    acted: int = 0  # records of a version that acts which other items have, too
    again: list[int] = field(default_factory=list)  # sessions that are read again since others have their record
    stopped: bool = False  # the version was stopped for drift, and is compared with the baseline

    @classmethod
    def of(cls, text: str) -> Batch:
        """The batch that `text` says."""
        stored = json.loads(text)
        usual = {name: FieldBaseline(**counts) for name, counts in stored.pop("usual", {}).items()}
        fields = {name: Replayed(**counts) for name, counts in stored.pop("fields", {}).items()}
        return cls(usual=usual, fields=fields, **stored)

    def text(self) -> str:
        """As the store holds it."""
        return json.dumps(self, default=_parts)

    def note(self, value: Json, *, by_baseline: bool) -> None:
        """Adds one record. What is no object is none of a loop that learns.

        Args:
            by_baseline: the baseline read it, or confirmed it in an audit.
        """
        if not isinstance(value, Mapping):
            return
        if by_baseline:
            self._note_usual(value)
        else:
            self._note_replayed(value)

    def begin_anew(self, *, stopped: bool) -> None:
        """Forgets what was replayed: another version goes on, or the same one once it is confirmed."""
        self.read, self.fields, self.acted, self.stopped = 0, {}, 0, stopped

    def _note_usual(self, value: Mapping[str, Json]) -> None:
        self.taught += 1
        for name, part in value.items():
            if part is None or (name not in self.usual and len(self.usual) >= _MOST_FIELDS):
                continue
            usual, key = self.usual.setdefault(name, FieldBaseline()), _key(part)
            usual.given += 1
            usual.repeated = usual.repeated or key in usual.values
            if len(usual.values) < _MOST_VALUES:
                usual.values.append(key)
            if (power := _power(part)) is not None:
                usual.low = power if usual.low is None else min(usual.low, power)
                usual.high = power if usual.high is None else max(usual.high, power)

    def _note_replayed(self, value: Mapping[str, Json]) -> None:
        if self.read >= _WINDOW:
            self.read = 0
            self.fields = {name: Replayed(last=f.last, run=f.run) for name, f in self.fields.items()}
        self.read += 1
        for name, part in value.items():
            if part is None or name not in self.usual:
                continue
            read, key = self.fields.setdefault(name, Replayed()), _key(part)
            read.given += 1
            read.run = read.run + 1 if key == read.last else 1
            read.last = key
            if (power := _power(part)) is not None:
                read.numbers += 1
                read.powers += power

    def drift(self) -> str:
        """Return how the replayed records differ as a whole from the baseline's, in words; "" where they do not."""
        if self.acted >= _MOST_ACTED:
            return f"{self.acted} items have records that other items have, too"
        if len(self.again) >= MOST_AGAIN and self.equal < MOST_EQUAL:
            return f"{len(self.again)} items had records that other items had, too"
        if self.taught < _LEAST_TAUGHT or self.read < LEAST:
            return ""
        return next(filter(None, (self._field_drift(name, usual) for name, usual in self.usual.items())), "")

    def _field_drift(self, name: str, usual: FieldBaseline) -> str:
        read = self.fields.get(name, Replayed())
        lacking, before = 1 - read.given / self.read, 1 - usual.given / self.taught
        if lacking > before + _RISE:
            return f"{lacking:.0%} of the last {self.read} records have no {name}, and {before:.0%} before"
        if read.run >= LEAST and usual.given >= _LEAST_TAUGHT and not usual.repeated:
            return f"the last {read.run} records have the same {name}, which differed before"
        if read.numbers < LEAST or usual.low is None or usual.high is None:
            return ""
        mean = read.powers / read.numbers
        if usual.low - _DECADES <= mean <= usual.high + _DECADES:
            return ""
        return f"{name} is about {10**mean:.3g} now, and was {10**usual.low:.3g} to {10**usual.high:.3g}"


def is_identifying(value: Json) -> bool:
    """Return whether a record has what tells its item from others: a text, or two values.
    One number is soon that of two.
    """
    if not isinstance(value, Mapping):
        return False
    given = [part for part in value.values() if part not in (None, "")]
    return len(given) >= 2 or any(isinstance(part, str) for part in given)


def _parts(counts: Batch | FieldBaseline | Replayed) -> dict[str, Any]:
    """As `asdict` has it, without a copy of each part."""
    return {part.name: getattr(counts, part.name) for part in fields(counts)}


def _key(value: Json) -> str:
    value_json = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(value_json.encode()).hexdigest()[:16]


def _power(value: Json) -> float | None:
    """The power of ten of a number's size; None for what is no number, and for 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value:
        return None
    power = math.log10(abs(value)) if math.isfinite(value) else None
    return None if power is None else round(power, 3)
