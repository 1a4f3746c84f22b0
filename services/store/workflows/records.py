"""The store's records of workflows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.format.workflow import Scope


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version, with what became of it."""

    version: Version  # its number, parent and state as the store has them
    state_at: datetime  # since when it is in its state
    why: str  # why it is in its state, in words; "" where a person put it there
    figures: Mapping[str, float] = field(default_factory=dict)  # counts by name, such as `replays`


@dataclass(frozen=True, slots=True)
class WorkflowRow:
    """One workflow of a tenant."""

    id: int
    tenant: str
    name: str
    scope: Scope
    created_at: datetime
    changed_at: datetime
    versions: tuple[VersionRow, ...]  # oldest first

    @property
    def active(self) -> VersionRow | None:
        """The version that jobs get."""
        return next((row for row in self.versions if row.version.state == "active"), None)


def usable(row: WorkflowRow, number: int | None) -> VersionRow | None:
    """The version of this number that a loop may begin with; None: the active one, else the last that is tried."""
    if number is not None:
        return next((r for r in row.versions if r.version.number == number and r.version.state != "broken"), None)
    tried = [r for r in row.versions if r.version.state == "canary"]
    return row.active or (tried[-1] if tried else None)


@dataclass(frozen=True, slots=True)
class RepairLease:
    """The permission for one repair to run now."""

    given: bool
    why: str = ""  # why not, in words
