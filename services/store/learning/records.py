"""What the store tells of loops that learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.judging.phase import Phase
from shoal.agent.workflows.judging.promotion import VersionFigures
from shoal.services.store.records import Partition


@dataclass(frozen=True, slots=True)
class LearningDue:
    """A loop of which something is to be decided, lent to one dispatcher, with what decides."""

    loop: int  # session id
    phase: Phase
    lessons: tuple[str, ...]  # artifact keys of the evidence of the last items that a model worked out, oldest first
    ended: int  # items that ended since the phase began
    figures: VersionFigures  # of the version, since the phase began
    rounds: int  # how often the loop has begun to learn anew
    version: Version | None  # that is compared, replayed or repaired, in its state
    record_schema: Mapping[str, Json] | None  # of the job


@dataclass(frozen=True, slots=True)
class LearningDecided:
    """What became of a decision."""

    written: bool  # False: the lease was another's by then, and nothing was changed
    ready: tuple[Partition, ...] = ()  # whose items may begin by it


@dataclass(frozen=True, slots=True)
class LearningRow:
    """How far one loop of a job has learned."""

    loop: int  # session id
    phase: Phase
    holds_back: bool  # items wait for it
    items: int  # of the loop
    why: str  # in words
    workflow: str  # name; "" where there is none
    version: int  # 0 where there is none
    figures: Mapping[str, int] = field(default_factory=dict)  # counts of its items by name
