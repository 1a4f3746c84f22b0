"""Ends of a part of the cluster by itself, and the pause before it is started again. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from shoal.agent.support.json_value import Json

STARTS = "starts/"
"""States in the store: when each dispatcher was last started, and how often it had ended by itself before."""
SNAPSHOTS = "dispatcher/"
"""States in which dispatchers tell of their work, with the ends of their workers."""

_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 30.0
_LASTS_S = 60.0
"""A part that ran for so long did not end by how it started: the next pause is the first one again."""


@dataclass(frozen=True, slots=True)
class Restarts:
    """The ends of one part since it was first started."""

    n: int = 0
    why: str = ""  # it ended the last time
    at: datetime | None = None  # of that
    soon: int = 0  # ends in a row, each soon after its start

    @property
    def pause_s(self) -> float:
        """Before the next start."""
        return min(_FIRST_PAUSE_S * 2.0 ** min(self.soon, 20), _LONGEST_PAUSE_S)

    def ended(self, why: str, ran_s: float, *, worked: bool = False) -> Restarts:
        """These, and one more.

        Args:
            why: it ended, in words.
            ran_s: since it was started.
            worked: it has done some of its work, so that its start was well however short it ran.
        """
        soon = 0 if worked or ran_s >= _LASTS_S else self.soon + 1
        return Restarts(self.n + 1, why, datetime.now(UTC).replace(microsecond=0), soon)

    def data(self) -> dict[str, Json]:
        """As JSON."""
        at = None if self.at is None else self.at.isoformat().replace("+00:00", "Z")
        return {"restarts": self.n, "why": self.why, "at": at, "soon": self.soon}

    @classmethod
    def from_data(cls, data: Mapping[str, Json]) -> Restarts:
        """Return what `data` gave."""
        at = datetime.fromisoformat(data["at"]) if data["at"] else None
        return cls(data["restarts"], data["why"], at, data["soon"])
