"""A replay in full, as a version that is tried reports it. Plain values: it travels with the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shoal.agent.support.json_value import Json


@dataclass(frozen=True, slots=True)
class ChannelReading:
    """The reading of one channel of a field."""

    family: str  # as the workflow names it
    place: str  # kind and query, such as `select p.price`
    value: Json = None  # None: nothing
    raw: str = ""  # the text that stands there, clipped
    where: str = ""  # selector, or path in the page's JSON
    fault: str = ""  # why what stands there is no value


@dataclass(frozen=True, slots=True)
class FieldReading:
    """One field of one page."""

    value: Json = None  # None: a miss, or a field that may be null and is
    agreed: tuple[str, ...] = ()  # families that gave the value
    channels: tuple[ChannelReading, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplayDivergence:
    """One reason for which the version gave no record."""

    reason: str
    where: str  # field, node or part of the signature
    told: str  # in words


@dataclass(frozen=True, slots=True)
class IntendedAction:
    """The action that was next, and was not done."""

    node: str
    action: str
    args: Mapping[str, Json] = field(default_factory=dict)
    element: str = ""  # what the page calls the element
    found_by: tuple[str, ...] = ()  # families of locators that agree on it


@dataclass(frozen=True, slots=True)
class LocatorCount:
    """The number of elements on one page that one way to find an element, or a field, finds."""

    of: str  # the node, or the branch and its field, such as `product.price`
    family: str
    value: str  # of a field: kind and query
    count: int
    url: str  # the page


@dataclass(frozen=True, slots=True)
class ReplayDetail:
    """One page, tried."""

    tier: str = ""
    branch: str = ""  # whose signature the page has; "" for none
    done: tuple[str, ...] = ()  # nodes, in order
    fields: Mapping[str, FieldReading] = field(default_factory=dict)
    misses: tuple[ReplayDivergence, ...] = ()
    intended: IntendedAction | None = None
    counts: tuple[LocatorCount, ...] = ()  # of nodes that were done, where they were; of all others, where it ended
