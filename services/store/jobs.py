"""Job rows while their lock is held: read, added up in memory, written once at the end of the transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import Row

from agent.spec import JobSpec
from agent.status import FINAL, Status
from agent.types import ErrorInfo, Usage
from services.errors import NotFound, WrongState
from services.events import JobEvent
from services.store import codec
from services.store.announce import announce
from services.store.ids import job_id
from services.store.records import Counts
from services.store.states import FINAL_STATES, State
from services.store.tx import Tx

Json = Any

_DAY_S = 86_400.0


@dataclass(slots=True)
class LockedJob:
    """A job as it stands in this transaction."""

    id: int
    tenant: str
    root: int
    spec_text: str
    priority: int  # as its owner changed it last
    status: Status
    cancel_requested: bool
    deadline_at: float | None
    started_at: float | None
    finished_at: float | None
    error: ErrorInfo | None
    expected: int
    ended: Counter[State]  # items by final state
    usage: Usage
    concurrency: int | None  # of its outermost loops, where its owner changed it; 0: no limit
    expires_at: float | None
    archive: str | None
    written: list[tuple[int, Status]] = field(default_factory=list)  # sessions, for the progress event
    items_ended: list[tuple[int, Status]] = field(default_factory=list)  # items that are over now, for webhooks
    fanned_out: list[tuple[int, int]] = field(default_factory=list)  # sessions that became loops, with their size

    @property
    def is_final(self) -> bool:
        """Whether it is over."""
        return self.status in FINAL

    def is_late(self, now: float) -> bool:
        """Whether its deadline passed before it was over."""
        return not self.is_final and self.deadline_at is not None and self.deadline_at <= now

    def is_ending(self, now: float) -> bool:
        """Whether what is left of it is being ended: nothing of it is to begin."""
        return self.cancel_requested or self.is_late(now)

    def counts(self, running: int) -> Counts:
        """Its items, of which `running` are leased."""
        return Counts(
            expected=self.expected, running=running, **{state.name.lower(): self.ended[state] for state in FINAL_STATES}
        )

    def start(self, tx: Tx) -> None:
        """Its first session was claimed."""
        if self.status is Status.QUEUED:
            self.status = Status.RUNNING
            self.started_at = self.started_at or tx.now

    def reopen(self, tx: Tx) -> None:
        """It is over, and goes on by its owner's command, with its whole deadline before it."""
        if self.archive is not None:
            raise WrongState(f"job {job_id(self.id)} is archived: its sessions are gone", job=self.id)
        self.status = Status.QUEUED
        self.started_at = self.finished_at = self.expires_at = self.error = None
        self.cancel_requested = False
        deadline_s = spec_of(tx, self.id, self.spec_text).deadline_s
        self.deadline_at = None if deadline_s is None else tx.now + deadline_s

    def recount(self, tx: Tx) -> None:
        """Counts its items anew, after many changed at once."""
        self.ended = Counter({State(r.state): r.n for r in tx.rows("recount", job=self.id) if r.state in FINAL_STATES})

    def save(self, tx: Tx) -> None:
        """Writes the row."""
        tx.run("write_job", **self.columns())

    def columns(self) -> dict[str, Json]:
        """What `write_job` writes."""
        return {
            "id": self.id,
            "status": State[self.status.name],
            "cancel_requested": self.cancel_requested,
            "deadline_at": self.deadline_at,
            "started_at": self.started_at,
            "finished_at": self.finished_at,
            "error": codec.dump_error(self.error),
            "expected": self.expected,
            "concurrency": self.concurrency,
            "expires_at": self.expires_at,
            **{state.name.lower(): self.ended[state] for state in FINAL_STATES},
            **asdict(self.usage),
        }


def lock_jobs(tx: Tx, ids: Sequence[int]) -> dict[int, LockedJob]:
    """Jobs by id, locked to the end of the transaction; unknown ids are left out."""
    return {row.id: locked(row) for row in tx.rows("lock_jobs", ids=tx.many(ids))} if ids else {}


def lock_job(tx: Tx, job: int, tenant: str | None) -> LockedJob:
    """One job, locked.

    Raises:
        NotFound: it does not exist, or belongs to another tenant.
    """
    found = lock_jobs(tx, [job]).get(job)
    if found is None or (tenant is not None and found.tenant != tenant):
        raise NotFound(f"there is no job {job_id(job)}", job=job)
    return found


def spec_of(tx: Tx, job: int, text: str) -> JobSpec:
    """A job's spec, parsed once in this process."""
    return tx.caches.specs.get_or(job, lambda: codec.load_spec(text))


@dataclass(frozen=True, slots=True)
class Leased:
    """How many sessions of a job workers hold."""

    sessions: int = 0
    items: int = 0


def leased(tx: Tx, jobs: Iterable[int]) -> dict[int, Leased]:
    """Running sessions of each job; jobs without any are left out."""
    rows = tx.rows("running", jobs=tx.many(list(jobs)))
    return {row.job: Leased(row.n, row.items) for row in rows}


def counts_json(counts: Counts) -> dict[str, int]:
    """Counts as events carry them."""
    return asdict(counts)


def close_those_over(tx: Tx, jobs: Iterable[LockedJob], running: Mapping[int, Leased]) -> list[LockedJob]:
    """Ends those jobs whose root session is final and of whose sessions no worker holds any; gives them.

    A canceled job's root is final last of all that nobody holds; the job is over when the last worker has let go.
    """
    open_jobs = [job for job in jobs if not job.is_final and job.id not in running]
    rows = tx.rows("roots", ids=tx.many([job.root for job in open_jobs])) if open_jobs else ()
    roots = {row.id: row for row in rows}
    over = [job for job in open_jobs if State(roots[job.root].state) in FINAL_STATES]
    for job in over:
        _close(tx, job, State(roots[job.root].state), roots[job.root].outcome)
    return over


def _close(tx: Tx, job: LockedJob, state: State, outcome: str | None) -> None:
    job.status = state.status
    job.finished_at = tx.now
    days = spec_of(tx, job.id, job.spec_text).artifacts.retention_days
    job.expires_at = None if days is None else tx.now + days * _DAY_S
    job.error = codec.load_outcome(outcome).error if outcome and state is not State.CANCELED else None


def finished_event(tx: Tx, job: LockedJob) -> None:
    """Says that the job is over."""
    data: Mapping[str, Json] = {
        "status": job.status.value,
        "counts": counts_json(job.counts(running=0)),
        "usage": asdict(job.usage),
        "error": codec.load_json(codec.dump_error(job.error) or "null"),
    }
    tx.event(job.id, job.tenant, JobEvent.FINISHED, data)
    tell_webhook(tx, job, JobEvent.FINISHED.value, data)


def tell_webhook(tx: Tx, job: LockedJob, event: str, data: Mapping[str, Json]) -> None:
    """Puts a message about the job into the outbox, where its owner asked for it."""
    if '"webhook"' in job.spec_text:  # most have none: not worth reading their spec
        announce(tx, job.id, job.tenant, spec_of(tx, job.id, job.spec_text), event, data)


def locked(row: Row[Any]) -> LockedJob:
    return LockedJob(
        id=row.id,
        tenant=row.tenant,
        root=row.root,
        spec_text=row.spec,
        priority=row.priority,
        status=State(row.status).status,
        cancel_requested=bool(row.cancel_requested),
        deadline_at=row.deadline_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        error=codec.load_error(row.error),
        expected=row.expected,
        ended=Counter({state: getattr(row, state.name.lower()) for state in FINAL_STATES}),
        usage=usage_of(row),
        concurrency=row.concurrency,
        expires_at=row.expires_at,
        archive=row.archive,
    )


def usage_of(row: Row[Any]) -> Usage:
    """What a job's sessions cost, from its row."""
    return Usage(row.model_calls, row.prompt_tokens, row.completion_tokens, row.cached_tokens, row.pages)
