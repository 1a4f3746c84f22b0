"""The store's side of sinks. Each method is one transaction."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.services.store.jobs import sink_outbox as outbox
from shoal.services.store.jobs.sink_records import SinkEnd, SinkRow, SinkState
from shoal.services.store.roles.on_database import OnDatabase


class SinkStore(OnDatabase):
    """Sinks of jobs that have ended: given out to writers, and shown to their owners."""

    async def claim(
        self, n: int, *, lease_s: float, each: int, under_way: Mapping[str, int] | None = None
    ) -> list[SinkRow]:
        """Gives out up to `n` sinks that are due, at most `each` of one tenant with those `under_way`.

        A lease that is not renewed within `lease_s` counts as lost: its sink is given out again.
        """
        return await self._db.write(
            lambda tx: outbox.claim(tx, n, lease_s=lease_s, each=each, under_way=under_way or {})
        )

    async def advance(self, row: SinkRow, cursor: str, written: int, *, lease_s: float) -> bool:
        """Keeps how far an attempt came, and renews its lease; False: the lease is lost, and it must stop."""
        return await self._db.write(lambda tx: outbox.advance(tx, row, cursor, written, lease_s=lease_s))

    async def end(self, row: SinkRow, how: SinkEnd) -> bool:
        """Writes how an attempt ended; False: its lease was lost before."""
        return await self._db.write(lambda tx: outbox.end(tx, row, how))

    async def failures(self, row: SinkRow) -> int:
        """Return how many attempts have failed since the sink last came on."""
        return await self._db.read(lambda tx: outbox.failures(tx, row))

    async def next_in_s(self) -> float | None:
        """Seconds until the next sink is due; None when none waits."""
        return await self._db.read(outbox.next_in_s)

    async def of_job(self, job: int) -> list[SinkRow]:
        """The sinks of a job that has ended, in the order of its spec."""
        return await self._db.read(lambda tx: outbox.sinks_of(tx, job))

    async def again(self, job: int, nth: int, *, tenant: str | None = None) -> SinkRow:
        """Makes a sink due now: one that was given up goes on where it stopped, any other begins anew."""
        return await self._db.write(lambda tx: outbox.again(tx, job, nth, tenant))

    async def count(self, *, tenant: str | None = None) -> dict[SinkState, int]:
        """Sinks that wait and that were given up."""
        return await self._db.read(lambda tx: outbox.count(tx, tenant))
