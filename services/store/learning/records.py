"""The store's records of loops that learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

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
    # Of the last items that a model worked out, in the artifact store, oldest first; none in replay: figures decide.
    evidence_keys: tuple[str, ...]
    ended: int  # items that ended since the phase began, without those that a workflow did alone
    figures: VersionFigures  # of the version, since the phase began
    rounds: int  # how often the loop has begun to learn anew
    version: Version | None  # that is compared, replayed or repaired, in its state
    record_schema: Mapping[str, Json] | None  # of the job
    drift: str = ""  # how the version's records differ as a whole from the baseline's, in words


@dataclass(frozen=True, slots=True)
class KeptPageKeys:
    """The keys of a page that a session has kept to learn from."""

    id: str  # of its artifact
    page: str  # artifact key
    evidence: str  # likewise: of what the session did and read


RepairOutcome = Literal["begun", "compiled", "proved", "given_up"]
"""`compiled`: another version is compared; `proved`: it replays; `given_up`: nothing better was learned."""
REPAIR_IS_OVER: tuple[RepairOutcome, ...] = ("proved", "given_up")


@dataclass(frozen=True, slots=True)
class Repair:
    """The consequence of a decision for the repair of a loop's version."""

    outcome: RepairOutcome
    calls: int = 0  # of a repair that is over: model calls of the items that ended in it
    seconds: float = 0.0  # likewise: how long it took


@dataclass(frozen=True, slots=True)
class LearningDecided:
    """The outcome of a decision."""

    written: bool  # False: the lease was another's by then, and nothing was changed
    ready: tuple[Partition, ...] = ()  # whose items may begin by it
    repair: Repair | None = None  # None: it is about no repair


@dataclass(frozen=True, slots=True)
class LearningRow:
    """The learning of one loop of a job."""

    loop: int  # session id
    phase: Phase
    holds_back: bool  # items wait for it
    items: int  # of the loop
    why: str  # in words
    workflow: str  # name; "" where there is none
    version: int  # 0 where there is none
    figures: Mapping[str, int] = field(default_factory=dict)  # counts of its items by name
