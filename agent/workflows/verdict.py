"""The result of a replay: a record with its evidence, or misses, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shoal.agent.read.by_place.place import StatedByPlaces
from shoal.agent.support.json_value import Json
from shoal.agent.types import FieldSource, Record
from shoal.agent.workflows.divergences import Divergence
from shoal.agent.workflows.format.branch import Channel, ChannelFamily
from shoal.agent.workflows.format.target import Family


@dataclass(frozen=True, slots=True)
class ChannelRead:
    """The reading of one channel on one page."""

    channel: Channel
    statement: StatedByPlaces
    misshapen: str = ""  # the shape that was not learned
    mild: bool = False  # it differs by the notation of its numbers, or the words of a yes or no, only


@dataclass(frozen=True, slots=True)
class FieldRead:
    """One field of one page."""

    value: Json = None
    source: FieldSource | None = None  # None: a miss, or a field that may be null and is
    raw: str = ""
    hits: tuple[ChannelFamily, ...] = ()  # families that agree
    miss: Divergence | None = None
    channels: tuple[ChannelRead, ...] = ()  # what each said


@dataclass(frozen=True, slots=True)
class PageRead:
    """One page, read by a version without a model."""

    record: Record | None  # None: a miss
    branch: str = ""  # that was used; "" for none
    misses: tuple[Divergence, ...] = ()
    hits: Mapping[str, tuple[ChannelFamily, ...]] = field(default_factory=dict)  # channels that agreed, by field
    raw: Mapping[str, str] = field(default_factory=dict)  # the text that each value was read from
    fields: Mapping[str, FieldRead] = field(default_factory=dict)  # of the branch, by name

    @property
    def has_null(self) -> bool:
        """Return whether it gives a record without some field, as the page says that it lacks the value."""
        return self.record is not None and any(field_read.value is None for field_read in self.fields.values())


@dataclass(frozen=True, slots=True)
class Found:
    """One element, found by the locators of a target."""

    bid: str  # its id on the page as it is; "" for a miss
    by: tuple[Family, ...] = ()  # families that agree
    miss: Divergence | None = None
