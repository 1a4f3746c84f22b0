"""The store's interface for dispatchers."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from shoal.agent.compressed_items import LoopPiece
from shoal.agent.types import Checkpoint
from shoal.agent.worker_messages import (
    GlossaryAnswer,
    GlossaryWish,
    RateSlot,
    RateSlotRequest,
    RobotsAnswer,
    RobotsWish,
)
from shoal.services.store import field_glossaries
from shoal.services.store.database.batching import Batcher
from shoal.services.store.database.database import Database
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs import bulk_operations
from shoal.services.store.loops import fanout
from shoal.services.store.loops.fanout import children_in, hosts_needed, stage
from shoal.services.store.read import snapshots
from shoal.services.store.records import (
    BulkProgress,
    ChangedPartitions,
    Claimed,
    ClaimRequest,
    Claims,
    CommitResult,
    ExpiredLeases,
    Finish,
    JobControl,
    MaterializedChildren,
    Partition,
    Renewal,
    Unclaimable,
)
from shoal.services.store.roles.on_database import OnDatabase
from shoal.services.store.sessions import claim, finish, lease_expiry, partitions
from shoal.services.store.sessions.checkpoints import keep_checkpoints
from shoal.services.store.throttle import domain_throttle, shared_robots


class Dispatching(OnDatabase):
    """Sessions are claimed, leased, checkpointed and finished."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._checkpoints = Batcher(self._keep_all)
        self._dice = random.Random()

    async def partitions(self) -> list[Partition]:
        """Every (job, domain) with ready sessions whose job may run, by a loose index scan; cursors just below them."""
        if await self._db.read(partitions.any_due):
            await self._db.write(partitions.wake_due)
        return await self._db.read(partitions.all_partitions)

    async def changed_partitions(self, after: int | None) -> ChangedPartitions:
        """Partitions that others have made ready since an event: gateways that stored, resumed, retried, changed or
        settled a job, and dispatchers that opened a loop; and those of sessions whose delay is over.

        Costs by what happened, where `partitions` costs by all there is. It is no more than a hint: of very much it
        tells the first part, and what another dispatcher let go of is not in it.

        Args:
            after: the event up to which the caller knows; None: it asks only how far the events go.
        """
        if after is None:
            return await self._db.read(partitions.no_changes)
        due, changed = await self._db.read(
            lambda tx: (partitions.any_due(tx), partitions.changed_partitions(tx, after))
        )
        return replace(changed, ready=changed.ready + await self._db.write(partitions.wake)) if due else changed

    async def claim(
        self,
        owners: str | Sequence[str],
        takes: Sequence[ClaimRequest],
        *,
        lease_s: float,
        per_domain: int | None = None,
    ) -> Claims:
        """Leases up to `n` ready sessions of each partition, lowest ids first; raises each fence.

        Never gives out a session of a job that is paused, canceled or over, one whose `ready_at` lies ahead, or
        more of a loop than its `concurrency` allows; two claimers never get the same one.

        Args:
            owners: the worker that runs them; or one for each session that is wanted, in the order in which the
                sessions are given out.
            per_domain: sessions on one domain at once, over all dispatchers. With it the pauses and delays are kept
                that sites and jobs have asked for; None: domains are not looked at.
        """
        names = [owners] * sum(take.n for take in takes) if isinstance(owners, str) else owners
        return await self._db.write(
            lambda tx: claim.claim_partitions(tx, names, takes, lease_s=lease_s, per_domain=per_domain)
        )

    async def running(self, sessions: Collection[int]) -> list[Claimed]:
        """Those of some sessions that run, as their claims gave them: for a dispatcher that takes them over."""
        return await self._db.read(lambda tx: claim.running_sessions(tx, sessions))

    async def renew(self, leases: Sequence[Renewal], *, lease_s: float) -> frozenset[int]:
        """Extends leases; gives the sessions that are still ours *and* still wanted (not canceled, not paused)."""
        return await self._db.write(lambda tx: claim.renew_leases(tx, leases, lease_s=lease_s))

    async def job_controls(self, jobs: Collection[int]) -> Mapping[int, JobControl]:
        """Return what holds now for the running sessions of some jobs; those that are gone are left out."""
        return await self._db.read(lambda tx: claim.job_controls_of(tx, jobs))

    async def policies(self, jobs: Collection[int]) -> Mapping[int, str]:
        """The policies of some jobs, by one look: the default of those that name none, and of jobs that are gone."""
        return await self._db.read(lambda tx: claim.policies_of(tx, jobs))

    async def checkpoint(self, session: int, fence: int, checkpoint: Checkpoint) -> bool:
        """Keeps a running session's checkpoint; False when the lease is another's by now."""
        return await self._checkpoints.add((session, fence, checkpoint))

    async def _keep_all(self, checkpoints: Sequence[tuple[int, int, Checkpoint]]) -> Sequence[bool]:
        return await self._db.write(lambda tx: keep_checkpoints(tx, checkpoints))

    async def stage(self, session: int, fence: int, items: LoopPiece) -> bool:
        """Keeps items of the loop that a running session will open; False when the lease is another's by now.

        They become its children when it ends with a fan-out that counts them (`FanOut.later`), and are nothing when
        that attempt ends otherwise. The same piece again changes nothing.
        """
        return await self._db.write(lambda tx: stage(tx, session, fence, items))

    async def rate_slots(self, wishes: Sequence[RateSlotRequest]) -> list[RateSlot]:
        """When pages may be opened that keep their distance from the one before, in whatever worker that is.

        A rate slot is a place behind all that were given. It need not be used, and is not given back. Where the line is
        too long none is given, and the caller is told when to ask again.
        """
        return await self._db.write(
            lambda tx: domain_throttle.rate_slots(tx, wishes), hosts={wish.host for wish in wishes}
        )

    async def robots(self, wishes: Sequence[tuple[str, RobotsWish]]) -> list[RobotsAnswer | None]:
        """Return what the cluster knows of origins' robots.txt;
        each wish is given with the name of its worker.

        A worker that asks gets the file until it runs out, is sent to fetch it for all, or waits for the one that was
        sent before; one that has told nothing after 20 s is replaced, and the same worker is told again that it was
        sent. A worker that tells what it has found gets no answer.
        """
        return await self._db.write(lambda tx: shared_robots.robots(tx, wishes))

    async def glossaries(self, wishes: Sequence[tuple[int, GlossaryWish]]) -> list[GlossaryAnswer | None]:
        """The field glossaries of schemas; each wish is given with its session.

        A session that asks gets what a model answered, is told to ask one, or waits for the one that was told before;
        one that has told nothing after some minutes is replaced. A session that tells gets no answer.
        """
        return await self._db.write(lambda tx: field_glossaries.glossaries(tx, wishes))

    async def finish(self, group: Sequence[Finish], *, per_domain: int | None = None) -> CommitResult:
        """Writes a group of outcomes in one transaction, each guarded by its fence alone.

        Fan-outs store their children and the parent's checkpoint; a last child makes its parent ready; job counters,
        artifacts, one event per job and, when its root session is final, the job's status are in the same commit.

        Status PAUSED, or CANCELED of a job that was not canceled, means that the worker stopped for a pause or for its
        own end: the session is queued again from its checkpoint and the attempt does not count. Of a canceled job or a
        stopped loop, what would go on (QUEUED, WAITING, PAUSED) becomes canceled. A fan-out without items is over at
        once. A later fan-out of the same session adds children behind the earlier ones. With `per_domain` (see `claim`)
        domains are slowed down that answered 429 or 503, and others recover.

        Raises:
            WrongState: a report asks for what a running session cannot become; nothing of the group is written.
        """
        children = children_in(group)
        return await self._db.write(
            lambda tx: finish.write_group(tx, group, per_domain),
            ids={"session": children},
            hosts=hosts_needed(group) if children else (),
        )

    async def materialize(self) -> MaterializedChildren:
        """Stores some more children of a loop that is too long for one transaction; any dispatcher may do it.

        The loop is durable from its fan-out on, and its first children can be claimed from then on: this is for the
        rest. Jobs that have such loops take turns by chance.
        """
        part = await self._db.read(lambda tx: fanout.next_part(tx, self._dice))
        return await self._db.write(lambda tx: fanout.materialize(tx, part))

    async def run_bulk_operations(self) -> BulkProgress:
        """Does one more slice of a command to a long job, some 2,000 sessions; any dispatcher may.

        It ends sessions of a job that is canceled or late, or of a loop that is stopped, holds those of a loop back
        that got another concurrency, or lets them go, and reopens those of a job that is retried. The process that
        commands it does a first slice in its own transaction: this is for the rest. Takes up what others left when
        they died; jobs and loops take turns by chance.
        """
        for part in await self._db.read(lambda tx: bulk_operations.unfinished(tx, self._dice)):
            progress = await self._db.write(partial(bulk_operations.advance, unfinished_part=part))
            if progress.more:
                return progress
        return bulk_operations.NOTHING

    async def expire_leases(self, *, owner: str | None = None, lease_s: float | None = None) -> ExpiredLeases:
        """Ends leases that ran out (or, with `owner`, all of that owner's), raising their fences.

        A dispatcher gives the `lease_s` by which it renews leases, and calls this every few seconds. A time in which no
        dispatcher could do so, since the store was away, is not counted against any lease.

        A session goes back to queued; it fails when its attempts are used up, and becomes unsure when its checkpoint
        says that an unrepeatable action had begun.
        """
        if owner is None and lease_s is not None:
            await self._db.write(lambda tx: lease_expiry.note_look(tx, lease_s))
        return await self._db.write(lambda tx: lease_expiry.expire_leases(tx, owner, lease_s))

    async def expire_deadlines(self) -> list[int]:
        """Fails a first slice of what is left of jobs whose deadline passed; gives the jobs.

        `run_bulk_operations` does the rest.
        """
        return await self._db.write(lease_expiry.expire_jobs)

    async def ready_count(self, most: int) -> int:
        """Return how many sessions could be claimed now, domains aside; counts no further than `most`."""
        return await self._db.read(lambda tx: int(tx.run("ready_count", most=most).scalar_one()))

    async def next_ready_in_s(self) -> float | None:
        """Seconds until the next session whose `ready_at` lies ahead; None when there is none."""

        def work(tx: Tx) -> float | None:
            at = tx.run("next_ready").scalar_one()
            return None if at is None else max(0.0, at - tx.now)

        return await self._db.read(work)

    async def unclaimable(self, partitions: Sequence[tuple[int, int]]) -> Unclaimable:
        """Queued sessions that no free slot could take, and the ready ones of some partitions, given as (job,
        domain)."""
        return await self._db.read(lambda tx: snapshots.unclaimable(tx, partitions))
