"""The store's side of loops that learn. Each method is one transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from shoal.agent.workflows.judging.phase import LearningStep
from shoal.services.store.database.database import Database
from shoal.services.store.learning import deciding
from shoal.services.store.learning.records import KeptPageKeys, LearningDecided, LearningDue, LearningRow


class LearningStore:
    """Loops that learn, by the session that opened each. A lost database raises `StoreAway`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    async def due(self) -> list[int]:
        """Loops of which something is to be decided, and that no dispatcher decides on."""
        return await self._db.read(deciding.due)

    async def lend(self, loop: int, owner: str, *, lasts_s: float) -> LearningDue | None:
        """Return what decides, for one dispatcher; None where another one decides."""
        return await self._db.write(lambda tx: deciding.lend(tx, loop, owner, lasts_s))

    async def kept_page_keys(self, loop: int, ids: Collection[str]) -> Sequence[KeptPageKeys]:
        """The last of some pages that sessions of a loop's tenant have kept; those that are gone are left out."""
        return await self._db.read(lambda tx: deciding.kept_page_keys(tx, loop, ids))

    async def decide(self, loop: int, owner: str, step: LearningStep) -> LearningDecided:
        """Writes what was decided, and lets items go that were held back."""
        return await self._db.write(lambda tx: deciding.decide(tx, loop, owner, step))

    async def replays(self, jobs: Collection[int]) -> Mapping[int, bool]:
        """Those of some jobs with a loop that learns; whether its items are replayed now, and need no model."""
        return await self._db.read(lambda tx: deciding.replays(tx, jobs))

    async def running(self) -> Sequence[Mapping[str, int]]:
        """The counts of the items of each loop that runs and learns."""
        return await self._db.read(deciding.running)

    async def of_job(self, job: int) -> Sequence[LearningRow]:
        """Return how far the loops of a job have learned."""
        return await self._db.read(lambda tx: deciding.of_job(tx, job))
