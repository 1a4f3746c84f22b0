"""The cluster at a glance, for /v1/status, the metrics and the dashboard: what it has, what waits, and for what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.services.store.restarts import SNAPSHOTS
from shoal.services.store.store import Store
from shoal.services.store.waiting_causes import WaitingCause
from shoal.services.web.cluster_state.waiting_words import cause_of, queue_label
from shoal.services.web.http.api_keys import Caller

FRESH_S = 10.0
"""A dispatcher writes its snapshot about every two seconds; with an older one it counts as dead or cut off."""
FORGOTTEN_S = 3600.0
"""Snapshots older than this are no longer shown."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The last report of one dispatcher about itself."""

    data: Mapping[str, Json]
    age_s: float

    @property
    def fresh(self) -> bool:
        """Return whether the dispatcher is running, as far as its last snapshot tells."""
        return self.age_s <= FRESH_S

    @property
    def queues(self) -> Counter[WaitingCause]:
        """Queues (one job on one site) by what they wait for."""
        total = Counter[WaitingCause]()
        for text, n in self.data.get("lanes_waiting", {}).items():
            total[cause_of(text, WaitingCause.SLOT)] += int(n)
        return total

    @property
    def named_queues(self) -> Mapping[WaitingCause, list[tuple[int, int]]]:
        """Some of those that a free slot would not help, as (job, domain)."""
        named: dict[WaitingCause, list[tuple[int, int]]] = {}
        for text, queues in self.data.get("lanes_held", {}).items():
            named.setdefault(cause_of(text, WaitingCause.SLOT), []).extend((job, domain) for job, domain in queues)
        return named

    def delay_of(self, job: int, host: str) -> tuple[WaitingCause, float] | None:
        """Return what holds a job back on a site, and for how many seconds (0: unknown); None: nothing does."""
        entry = self.data.get("held", {}).get(str(job), {}).get(host)
        return None if entry is None else (cause_of(str(entry[0]), WaitingCause.DOMAIN_LIMIT), float(entry[1]))

    @property
    def uploads_waiting(self) -> int:
        """Artifacts that its workers hold until the artifact store takes them."""
        return sum(int(worker.get("uploads_waiting", 0)) for worker in self.data.get("workers", ()))

    def number(self, key: str) -> float:
        """A figure of the snapshot; 0 where it has none."""
        value = self.data.get(key, 0)
        return float(value) if isinstance(value, int | float) else 0.0


def uploads_message(count: int) -> str:
    """The sentence that workers hold so many artifacts."""
    return f"{count:,} artifact{' is' if count == 1 else 's are'} waiting for the artifact store."


@dataclass(frozen=True, slots=True)
class Overview:
    """The state of the cluster, as far as one caller may know."""

    sessions: Mapping[Status, int]  # of the caller's tenant; of all for admins
    dispatchers: Mapping[str, Snapshot]  # by name

    @property
    def live(self) -> list[Snapshot]:
        """Snapshots of dispatchers that are running."""
        return [snapshot for snapshot in self.dispatchers.values() if snapshot.fresh]

    @property
    def fresh(self) -> bool:
        """Return whether any dispatcher is running."""
        return bool(self.live)

    @property
    def workers(self) -> list[Mapping[str, Json]]:
        """All workers, as their dispatchers describe them."""
        return [worker for snapshot in self.live for worker in snapshot.data.get("workers", ())]

    @property
    def slots(self) -> int:
        """Browser slots in all."""
        return round(sum(snapshot.number("slots") for snapshot in self.live))

    @property
    def busy(self) -> int:
        """Browser slots that run a session."""
        return round(sum(snapshot.number("busy") for snapshot in self.live))

    @property
    def uploads_waiting(self) -> int:
        """Artifacts that workers hold until the artifact store takes them."""
        return sum(snapshot.uploads_waiting for snapshot in self.live)

    @property
    def causes(self) -> list[str]:
        """Return what sessions wait for, in sentences, the gravest first; empty when nothing waits."""
        queued, sentences = self.sessions.get(Status.QUEUED, 0), []
        if queued and not self.fresh:
            sentences.append(
                f"{_sessions(queued)} waiting for a dispatcher: "
                + ("the last one fell silent." if self.dispatchers else "none has ever run against this store.")
            )
        elif queued and not self.slots:
            sentences.append(f"{_sessions(queued)} waiting for a browser worker: none is running.")
        elif queued and self.busy >= self.slots:
            sentences.append(f"{_sessions(queued)} queued while all {self.slots} browser slots are busy.")
        for cause, n in sorted(self.queues.items(), key=lambda pair: -pair[1]):
            queues = "queue (one job on one site) is" if n == 1 else "queues (one per job and site) are"
            sentences.append(f"{n:,} {queues} waiting for {queue_label(cause)}.")
        if uploads := self.uploads_waiting:
            sentences.append(uploads_message(uploads))
        if children := self.sessions.get(Status.WAITING, 0):
            sentences.append(
                f"{_sessions(children)} waiting for the items of {'its' if children == 1 else 'their'} loop."
            )
        if paused := self.sessions.get(Status.PAUSED, 0):
            sentences.append(f"{_sessions(paused)} paused by {'its' if paused == 1 else 'their'} owner.")
        return sentences

    @property
    def rate(self) -> float:
        """Sessions of all tenants that end per second, lately."""
        return sum(snapshot.number("rate") for snapshot in self.live)

    @property
    def drained_in_s(self) -> float | None:
        """Seconds until what is queued now has run, at that rate and were nothing added; None: unknown."""
        queued = self.sessions.get(Status.QUEUED, 0)
        return 0.0 if not queued else queued / self.rate if self.rate > 0 else None

    @property
    def queues(self) -> Counter[WaitingCause]:
        """Queues (one job on one site) by what they wait for, over all dispatchers."""
        return sum((snapshot.queues for snapshot in self.live), Counter[WaitingCause]())


def _sessions(n: int) -> str:
    return "1 session is" if n == 1 else f"{n:,} sessions are"


async def every_snapshot(store: Store) -> dict[str, Snapshot]:
    """Return what the dispatchers last said, by name, however long ago."""
    states = await store.states(SNAPSHOTS)
    return {name.removeprefix(SNAPSHOTS): Snapshot(data, age_s) for name, (data, age_s) in sorted(states.items())}


async def overview(store: Store, caller: Caller) -> Overview:
    """The cluster as `caller` may see it."""
    return overview_of(await store.counts_by_status(), await every_snapshot(store), caller)


async def has_model(store: Store) -> bool | None:
    """Return whether workers ask a model, as the dispatchers say it; None where none says so."""
    reports = [snapshot.data.get("has_model") for snapshot in (await every_snapshot(store)).values() if snapshot.fresh]
    return True if True in reports else False if reports and None not in reports else None


def overview_of(counts: Mapping[tuple[str, Status], int], every: Mapping[str, Snapshot], caller: Caller) -> Overview:
    """The same of what was read already: sessions by tenant and status, and every snapshot."""
    sessions: dict[Status, int] = {}
    for (tenant, status), n in counts.items():
        if caller.sees in (None, tenant):
            sessions[status] = sessions.get(status, 0) + n
    snapshots = {name: snapshot for name, snapshot in every.items() if snapshot.age_s <= FORGOTTEN_S}
    if caller.sees is not None:
        snapshots = {name: _for_tenant(snapshot, caller.sees) for name, snapshot in snapshots.items()}
    return Overview(sessions=sessions, dispatchers=snapshots)


_OF_THE_CLUSTER = frozenset(
    ("workers", "slots", "busy", "leases", "uncommitted", "lanes_waiting", "rate", "size", "queue_age_s")
)
"""Fields of a snapshot that tell of the cluster and of no tenant. What is shown is named: a new field is hidden by
default.
"""


def _for_tenant(snapshot: Snapshot, tenant: str) -> Snapshot:
    """Return what one tenant may know of a snapshot: capacity without names of machines, and of tenants only itself.
    The sites that sessions wait for are other tenants' too; a session's own `wait` names its site.
    """
    shown = {key: value for key, value in snapshot.data.items() if key in _OF_THE_CLUSTER}
    if "workers" in shown:
        shown["workers"] = [{**worker, "node": ""} for worker in shown["workers"]]
    for key in ("tenants", "weights"):
        own = snapshot.data.get(key, {})
        if tenant in own:
            shown[key] = {tenant: own[tenant]}
    return Snapshot(shown, snapshot.age_s)
