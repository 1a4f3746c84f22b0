"""Fair order: which partitions the next sessions are taken from. Pure bookkeeping, no clock, no store.

Tenants are served by virtual time: the one with the least slot time, in proportion to its weight, comes next. What
a session will take is not known when it begins, so it is charged what those of its job took of late. Within a tenant
its jobs are served the same way, where 10 more of priority is twice the weight; within a job its domains take turns.
A tenant that was away comes back with no debt and no credit: none starves and none saves up. A choice costs the
logarithm of the number of tenants and jobs, and nothing for partitions that wait for their domain: those are parked
until it has room.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

from shoal.services.store.records import ClaimRequest, Partition

_DOUBLING = 10
"""So much more priority is twice the share."""
_DEBTS = 1_000
"""Jobs without ready sessions that a tenant remembers before it looks which of them matter."""
_AWAY = 1_000
"""Tenants without ready sessions that are remembered before it is looked which of them matter."""
_SCARCE = -1
"""The key under which partitions are parked that wait for something other than their domain (whose ids are
positive).
"""

_SMOOTHING = 0.1
"""Weight of the newest session in what those of its job take."""
_LEAST_S = 0.1
"""Seconds that a session is charged at least: one that ends at once has its price, too."""
_UNKNOWN_S = 1.0
"""Seconds that it is charged while no session has ended."""

Room = Callable[[Partition], int]


@dataclass(slots=True)
class Scarce:
    """Something that some partitions' sessions need one of each, such as a place at the model server."""

    needs: Callable[[Partition], bool]
    left: int

    def allows(self, partition: Partition) -> bool:
        return self.left > 0 or not self.needs(partition)

    def take(self, partition: Partition) -> None:
        self.left -= self.needs(partition)


@dataclass(slots=True)
class Shares:
    """Sessions held by each tenant, of which one tenant may hold so many at once."""

    most: int
    held: Counter[str]  # by tenant; counts up while sessions are chosen

    def allows(self, tenant: str) -> bool:
        return self.held[tenant] < self.most


@dataclass(slots=True)
class _Typical:
    """Seconds of a slot that some sessions take, smoothed; None: none has ended yet."""

    seconds: float | None = None

    def note(self, seconds: float) -> None:
        self.seconds = seconds if self.seconds is None else self.seconds + (seconds - self.seconds) * _SMOOTHING


@dataclass(slots=True)
class _Job:
    weight: float
    served: float = 0.0  # virtual time
    partitions: dict[int, Partition] = field(
        default_factory=dict
    )  # by domain, those that are parked too; as they were added
    cursors: dict[int, int] = field(default_factory=dict)  # by domain: up to here each partition was claimed
    open: deque[int] = field(default_factory=deque)  # domains that are not parked, in turn
    ticket: int = 0  # its turn in its tenant's line; 0: it does not stand there
    requests: _Typical = field(default_factory=_Typical)


@dataclass(slots=True)
class _TenantQueue:
    weight: float
    served: float = 0.0
    now: float = 0.0  # virtual time of the job that was served last
    jobs: dict[int, _Job] = field(default_factory=dict)
    line: list[tuple[float, int, int]] = field(default_factory=list)  # jobs with open partitions: time, turn, job
    ticket: int = 0  # its turn in the line of tenants; 0: it does not stand there
    debts: dict[int, float] = field(default_factory=dict)  # virtual time of jobs that have nothing ready just now
    requests: _Typical = field(default_factory=_Typical)  # sessions of all its jobs


@dataclass(slots=True)
class _Picked:
    """The sessions that one choice has given out so far."""

    room: Room
    wanted: dict[tuple[int, int], int] = field(default_factory=dict)
    rooms: dict[tuple[int, int], int] = field(default_factory=dict)  # of each partition, as it was asked for
    domains: dict[int, int] = field(default_factory=dict)  # the most that any partition of the domain has room for
    used: dict[int, int] = field(default_factory=dict)  # by domain

    def fits(self, partition: Partition) -> bool:
        """Return whether the partition, and its domain, have room for one more."""
        key = (partition.job, partition.domain)
        if key not in self.rooms:
            self.rooms[key] = self.room(partition)
            self.domains[partition.domain] = max(self.domains.get(partition.domain, 0), self.rooms[key])
        free = self.domains[partition.domain] - self.used.get(partition.domain, 0)
        return free > 0 and self.rooms[key] > self.wanted.get(key, 0)

    def take(self, partition: Partition) -> None:
        key = (partition.job, partition.domain)
        self.wanted[key] = self.wanted.get(key, 0) + 1
        self.used[partition.domain] = self.used.get(partition.domain, 0) + 1


class FairQueue:
    """The ready partitions that the dispatcher knows of.

    Args:
        weights: shares of tenants; 1 for those that are not named.
    """

    def __init__(self, weights: Mapping[str, float] | None = None) -> None:
        self._weights = weights or {}
        self._tenants: dict[str, _TenantQueue] = {}
        self._of: dict[int, _TenantQueue] = {}  # by job
        self._line: list[tuple[float, int, str]] = []  # tenants with open partitions: time, turn, name
        self._parked: dict[int, dict[str, deque[tuple[int, int]]]] = {}  # domain: tenant: partitions as (job, domain)
        self._barred: dict[str, set[int]] = {}  # by tenant: domains with room that were not opened for it
        self._now = 0.0  # virtual time of the tenant that was served last
        self._look_at = _AWAY  # tenants, before those that are away are looked at
        self._turn = 0  # breaks ties in the order of asking
        self._takes = _Typical()  # sessions of all tenants

    @property
    def weights(self) -> Mapping[str, float]:
        """Shares of tenants, as they are now."""
        return self._weights

    def set_weights(self, weights: Mapping[str, float]) -> None:
        """From now on these are the shares; what a tenant was charged before stays."""
        self._weights = weights
        for name, tenant in self._tenants.items():
            tenant.weight = weights.get(name, 1.0)

    def add(self, partitions: Iterable[Partition]) -> None:
        """These partitions have ready sessions behind their cursors."""
        for partition in partitions:
            tenant = self._tenants.get(partition.tenant)
            if tenant is None:
                tenant = self._tenants[partition.tenant] = _TenantQueue(self._weights.get(partition.tenant, 1.0))
            weight = 2 ** (partition.priority / _DOUBLING)
            job = tenant.jobs.get(partition.job)
            if job is None:
                job = tenant.jobs[partition.job] = _Job(weight, tenant.debts.pop(partition.job, 0.0))
                self._of[partition.job] = tenant
            job.weight = weight  # its owner may have changed it
            known = partition.domain in job.partitions
            job.partitions[partition.domain] = partition
            job.cursors[partition.domain] = (
                min(partition.cursor, job.cursors[partition.domain]) if known else partition.cursor
            )
            if not known:
                self._open(partition)

    def drop(self, job: int, domain: int) -> None:
        """This partition has nothing ready for now."""
        tenant = self._of.get(job)
        if tenant is None:
            return
        queue = tenant.jobs[job]
        if queue.partitions.pop(domain, None) is None:
            return
        del queue.cursors[domain]
        if domain in queue.open:
            queue.open.remove(domain)
        if not queue.partitions:
            del tenant.jobs[job], self._of[job]
            tenant.debts[job] = queue.served
            if len(tenant.debts) > _DEBTS:
                tenant.debts = {number: at for number, at in tenant.debts.items() if at > tenant.now}
            if not tenant.jobs:
                self._forget_tenants()

    def _forget_tenants(self) -> None:
        """Forgets those that are away and have had no more than one turn beyond the others.

        They come back as newcomers do, and so do their jobs: a tenant gains no more by it than that turn, and not
        before a thousand others have come and gone. Looked at anew when they are twice as many, so that it costs each
        next to nothing.
        """
        if len(self._tenants) <= self._look_at:
            return
        self._tenants = {
            name: tenant
            for name, tenant in self._tenants.items()
            if tenant.jobs or tenant.served - self._turn_s(tenant) / tenant.weight > self._now
        }
        self._look_at = max(_AWAY, 2 * len(self._tenants))

    def advance(self, job: int, domain: int, cursor: int) -> None:
        """Everything up to `cursor` in this partition was claimed."""
        if self._partition(job, domain) is not None:
            cursors = self._of[job].jobs[job].cursors
            cursors[domain] = max(cursors[domain], cursor)

    def ended(self, tenant: str, job: int, seconds: float) -> None:
        """A session had a slot for so long: the next ones are charged by it, those of its job first of all."""
        seconds = max(seconds, _LEAST_S)
        self._takes.note(seconds)
        if (owner := self._tenants.get(tenant)) is not None:
            owner.requests.note(seconds)
            if (queue := owner.jobs.get(job)) is not None:
                queue.requests.note(seconds)

    def _price(self, tenant: _TenantQueue, job: _Job) -> float:
        """Seconds of a slot that one more session of a job will take, as far as can be told."""
        return job.requests.seconds or self._turn_s(tenant)

    def _turn_s(self, tenant: _TenantQueue) -> float:
        """The same, of any job of a tenant."""
        return tenant.requests.seconds or self._takes.seconds or _UNKNOWN_S

    def park(self, job: int, domain: int) -> None:
        """This partition cannot be served before its domain is among those `freed`."""
        partition = self._partition(job, domain)
        if partition is not None and domain in (open_partitions := self._of[job].jobs[job].open):
            open_partitions.remove(domain)
            self._keep_parked(domain, partition)

    def choose(
        self,
        budget: int,
        room: Room,
        scarce: Scarce | None = None,
        freed: Iterable[int] | None = None,
        shares: Shares | None = None,
    ) -> list[ClaimRequest]:
        """Up to `budget` sessions in fair order.

        Args:
            room: how many sessions a partition may start now; partitions without room are parked.
            scarce: what some partitions need beyond that.
            freed: domains that may have room again for their parked partitions; None: any of them.
            shares: what one tenant may hold at once; None: as much as comes.
        """
        scarce = scarce or Scarce(lambda partition: False, 0)
        shares = shares or Shares(budget, Counter())
        picked = _Picked(room)
        for place in {*(self._parked if freed is None else freed), *self._unbarred(shares), _SCARCE}:
            self._unpark(place, budget, picked, scarce, shares)
        full: list[tuple[float, int, str]] = []
        while budget > 0 and self._line:
            entry = _, turn, name = heappop(self._line)
            tenant = self._tenants.get(name)
            if tenant is None or tenant.ticket != turn:
                continue
            if not shares.allows(name):
                full.append(entry)
                continue
            tenant.ticket = 0
            partition = self._next(tenant, picked, scarce)
            if partition is not None:
                picked.take(partition)
                scarce.take(partition)
                shares.held[name] += 1
                budget -= 1
            if tenant.line:
                self._queue(name, tenant)
        for entry in full:  # their turn comes when they hold less
            heappush(self._line, entry)
        return [self._take(*key, n) for key, n in picked.wanted.items()]

    def _take(self, job: int, domain: int, n: int) -> ClaimRequest:
        queue = self._of[job].jobs[job]
        return ClaimRequest(job, domain, queue.cursors[domain], n, queue.partitions[domain].politeness)

    def run_of(self, job: int, domain: int, n: int, owner: str, width: int) -> ClaimRequest | None:
        """A run of documents, which takes no slot and is charged to no tenant; None where nothing is ready."""
        if self._partition(job, domain) is None:
            return None
        return replace(self._take(job, domain, n), owner=owner, width=width)

    def waiting_on(self, domain: int) -> int:
        """Return how many partitions wait for room on a domain."""
        return sum(map(len, self._parked.get(domain, {}).values()))

    def _next(self, tenant: _TenantQueue, picked: _Picked, scarce: Scarce) -> Partition | None:
        """The tenant's next partition with room, paid for by it and by the job; what has none is parked on the way."""
        while tenant.line:
            _, turn, number = heappop(tenant.line)
            job = tenant.jobs.get(number)
            if job is None or job.ticket != turn:
                continue
            job.ticket = 0
            partition = self._turn_of(job, picked, scarce)
            if partition is not None:
                price = self._price(tenant, job)
                tenant.now, self._now = job.served, tenant.served
                job.served += price / job.weight
                tenant.served += price / tenant.weight
                self._queue_job(tenant, number, job)
                return partition
        return None

    def _turn_of(self, job: _Job, picked: _Picked, scarce: Scarce) -> Partition | None:
        while job.open:
            domain = job.open[0]
            partition = job.partitions[domain]
            if scarce.allows(partition) and picked.fits(partition):
                job.open.rotate(-1)
                return partition
            job.open.popleft()
            self._keep_parked(domain if scarce.allows(partition) else _SCARCE, partition)
        return None

    # --- lines and parking ---------------------------------------------------------------------------

    def _open(self, partition: Partition) -> None:
        """A partition can be served: it joins its job's turns, its job and its tenant join their lines."""
        tenant = self._tenants[partition.tenant]
        job = tenant.jobs[partition.job]
        job.open.append(partition.domain)
        if not job.ticket:
            job.served = max(job.served, tenant.now)
            self._queue_job(tenant, partition.job, job)
        if not tenant.ticket:
            tenant.served = max(tenant.served, self._now)
            self._queue(partition.tenant, tenant)

    def _queue(self, name: str, tenant: _TenantQueue) -> None:
        self._turn += 1
        tenant.ticket = self._turn
        heappush(self._line, (tenant.served, self._turn, name))

    def _queue_job(self, tenant: _TenantQueue, number: int, job: _Job) -> None:
        if job.open:
            self._turn += 1
            job.ticket = self._turn
            heappush(tenant.line, (job.served, self._turn, number))

    def _keep_parked(self, place: int, partition: Partition) -> None:
        self._parked.setdefault(place, {}).setdefault(partition.tenant, deque()).append(
            (partition.job, partition.domain)
        )

    def _unbarred(self, shares: Shares) -> set[int]:
        """Domains with room that were not opened for a tenant which held its share then, and holds less now."""
        unbarred: set[int] = set()
        for name in [name for name in self._barred if shares.allows(name)]:
            unbarred |= self._barred.pop(name)
        return unbarred

    def _unpark(self, place: int, most: int, picked: _Picked, scarce: Scarce, shares: Shares) -> None:
        """Opens partitions of one place again, fairly over tenants, until as many as can be used are open.

        A tenant that holds its share keeps its partitions there: opened, they would take the others' place.
        """
        waiting = self._parked.pop(place, {})
        barred = {name: waiting.pop(name) for name in list(waiting) if not shares.allows(name)}
        for name in barred:
            self._barred.setdefault(name, set()).add(place)
        still: list[Partition] = []
        while waiting and most > 0:
            name = min(waiting, key=self._served)
            key = waiting[name].popleft()
            if not waiting[name]:
                del waiting[name]
            partition = self._partition(*key)
            if partition is None or partition.domain in self._of[partition.job].jobs[partition.job].open:
                continue  # it was dropped, or dropped and added again
            if place == _SCARCE:
                fits, most = scarce.allows(partition), min(most, scarce.left)
            else:
                fits = picked.fits(partition)
                most = min(most, picked.domains[place]) if fits else most
            if fits:
                self._open(partition)
                most -= 1
            else:
                still.append(partition)
        if waiting or barred:
            self._parked[place] = waiting | barred
        for partition in still:
            self._keep_parked(place, partition)

    # --- looking -------------------------------------------------------------------------------------

    def _partition(self, job: int, domain: int) -> Partition | None:
        tenant = self._of.get(job)
        return None if tenant is None else tenant.jobs[job].partitions.get(domain)

    @property
    def jobs(self) -> KeysView[int]:
        """Jobs with ready sessions."""
        return self._of.keys()

    def _served(self, tenant: str) -> float:
        known = self._tenants.get(tenant)
        return self._now if known is None else known.served

    @property
    def remembered(self) -> int:
        """Tenants of which something is known, those without ready sessions included."""
        return len(self._tenants)

    def tenants(self) -> dict[str, int]:
        """Tenants with ready sessions, and how many of their jobs have some."""
        return {name: len(tenant.jobs) for name, tenant in self._tenants.items() if tenant.jobs}

    def __iter__(self) -> Iterator[Partition]:
        for tenant in self._tenants.values():
            for job in tenant.jobs.values():
                yield from job.partitions.values()

    def __len__(self) -> int:
        return sum(len(job.partitions) for tenant in self._tenants.values() for job in tenant.jobs.values())


class UnservedPartitions:
    """Queues with ready sessions, the one that waits longest first. Nothing here costs more for there being many.

    Moments are seconds of one monotonic clock that the caller reads, and that it must not give out of order.
    """

    def __init__(self) -> None:
        self._since: dict[tuple[int, int], float] = {}  # by job and domain; in the order of the moments

    def ready(self, partitions: Iterable[Partition], now: float) -> None:
        """These queues have ready sessions; who waits already goes on."""
        for partition in partitions:
            self._since.setdefault((partition.job, partition.domain), now)

    def served(self, job: int, domain: int, now: float) -> None:
        """Sessions of this queue were claimed; what is left of it waits from now on."""
        key = (job, domain)
        if self._since.pop(key, None) is not None:
            self._since[key] = now

    def empty(self, job: int, domain: int) -> None:
        """This queue has nothing ready."""
        self._since.pop((job, domain), None)

    def longest_s(self, now: float) -> float:
        """For how long the queue that waits longest was not served; 0 without any."""
        return now - next(iter(self._since.values()), now)
