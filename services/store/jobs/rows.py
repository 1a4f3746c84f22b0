"""Job rows while their lock is held: read, added up in memory, written once at the end of the transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import Row

from shoal.agent.error_info import ErrorInfo
from shoal.agent.spec import JobSpec
from shoal.agent.status import FINAL, Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import Usage
from shoal.services.errors import NotFound, WrongState
from shoal.services.events import JobEvent
from shoal.services.store.database import codec
from shoal.services.store.database.states import FINAL_STATES, State
from shoal.services.store.database.transaction import Tx
from shoal.services.store.ids import job_id, session_id
from shoal.services.store.jobs.sink_records import SinkState
from shoal.services.store.jobs.webhook_messages import (
    OF_PEOPLE,
    SESSIONS_UNSURE,
    WebhookMessage,
    announce,
    tenant_notify,
)
from shoal.services.store.records import Counts, IncompleteLists

_DAY_S = 86_400.0
UNSAID = JobSpec(url="https://unsaid.example/", goal="-")
"""A spec that says nothing it need not say: all fields with a default have it."""


@dataclass(slots=True)
class LockedJob:
    """A job as it stands in this transaction."""

    id: int
    tenant: str
    root: int
    priority: int  # as its owner changed it last
    politeness: str | None  # its spec's, as its column holds it
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
    in_totals: Mapping[State, int]  # what its tenant's totals hold of it: all of `ended` once it is over
    retry_below: int | None  # sessions below this id may still be reopened (`shoal.services.store.jobs.reopening`)
    incomplete: IncompleteLists | None  # once it is over: what its lists are known to lack
    written: list[tuple[int, Status]] = field(default_factory=list)  # sessions, for the progress event
    items_ended: list[tuple[int, Status]] = field(default_factory=list)  # items that are over now, for webhooks
    fanned_out: list[tuple[int, int]] = field(default_factory=list)  # sessions that became loops, with their size

    @property
    def is_final(self) -> bool:
        """Return whether it is over."""
        return self.status in FINAL

    def is_late(self, now: float) -> bool:
        """Return whether its deadline passed before it was over."""
        return not self.is_final and self.deadline_at is not None and self.deadline_at <= now

    def is_ending(self, now: float) -> bool:
        """Return whether what is left of it is being ended: nothing of it is to begin."""
        return self.cancel_requested or self.is_late(now)

    def is_reopening(self, parent: int) -> bool:
        """Return whether children of a session may still be reopened:
        it waits for them, though none may be open just now.
        """
        return self.retry_below is not None and parent < self.retry_below

    def counts(self, running: int) -> Counts:
        """Its items, of which `running` are leased."""
        return counts_of(self.expected, running, self.ended)

    def start(self, tx: Tx) -> None:
        """Its first session was claimed."""
        if self.status is Status.QUEUED:
            self.status = Status.RUNNING
            self.started_at = self.started_at or tx.now

    def require_sessions(self) -> None:
        """Refuses what changes its sessions once its results are archived, and its rows are dropped in slices.

        Raises:
            WrongState: it is archived.
        """
        if self.archive is not None:
            raise WrongState(f"job {job_id(self.id)} is archived: its sessions are gone", job=self.id)

    def reopen(self, tx: Tx) -> None:
        """It is over, and goes on by its owner's command, with its whole deadline before it."""
        self.require_sessions()
        self.status = Status.QUEUED
        self.started_at = self.finished_at = self.expires_at = self.error = self.incomplete = None
        self.cancel_requested = False
        deadline_s = specs_of(tx, [self.id])[self.id].deadline_s
        self.deadline_at = None if deadline_s is None else tx.now + deadline_s
        tx.run("reopen_run", job=self.id)
        tx.run("skip_open_sinks", job=self.id, now=tx.now)

    def save(self, tx: Tx) -> None:
        """Writes the row, and what its end or its going on changes of its tenant's totals."""
        save_all(tx, [self])

    def leave_totals(self, tx: Tx) -> None:
        """It is being deleted: what its tenant's totals hold of it goes with it."""
        self.keep_in_totals(tx, {})

    def keep_in_totals(self, tx: Tx, items: Mapping[State, int]) -> None:
        """From this transaction on its tenant's totals hold these items of it."""
        for sign, some in ((-1, self.in_totals), (1, items)):
            for state, n in some.items():
                if n:  # mostly one of them, of hundreds of jobs in a commit
                    tx.add_to_total(self.tenant, state, sign * n)
        self.in_totals = dict(items)

    def columns(self) -> dict[str, Json]:
        """Return what `write_job` writes."""
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
            "in_totals": self.finished_at is not None,
            "retry_below": self.retry_below,
            "incomplete": codec.dump_incomplete(self.incomplete),
            **{state.column: self.ended[state] for state in FINAL_STATES},
            **asdict(self.usage),
        }


def save_all(tx: Tx, jobs: Sequence[LockedJob]) -> None:
    """Writes the rows of jobs, and what their ends change of the totals: one statement each, however many they are."""
    for job in jobs:
        job.keep_in_totals(tx, {} if job.finished_at is None else job.ended)
    tx.each("write_job", [job.columns() for job in jobs])


def lock_jobs(tx: Tx, ids: Sequence[int]) -> dict[int, LockedJob]:
    """Jobs by id, locked to the end of the transaction; unknown ids are left out."""
    return {row.id: locked(row) for row in tx.rows("lock_jobs", ids=tx.many(ids))} if ids else {}


def lock_job(tx: Tx, job: int, tenant: str | None) -> LockedJob:
    """One job, locked.

    Raises:
        NotFound: it does not exist, or belongs to another tenant.
    """
    locked_job = lock_jobs(tx, [job]).get(job)
    if locked_job is None or (tenant is not None and locked_job.tenant != tenant):
        raise NotFound(f"there is no job {job_id(job)}", job=job)
    return locked_job


def spec_of(tx: Tx, job: int, text: str) -> JobSpec:
    """A job's spec, parsed once in this process as long as it remembers it."""
    spec = tx.caches.specs.get(job)
    if spec is None:
        spec = codec.load_spec(text)
        tx.caches.specs.put(job, spec, weight=len(text))
    return spec


def specs_of(tx: Tx, jobs: Collection[int]) -> dict[int, JobSpec]:
    """The specs of jobs that exist; one look at the store for all that are not in the cache."""
    known, unread = _remembered(tx, jobs)
    rows = tx.rows("specs", ids=tx.many(unread)) if unread else ()
    return known | {row.id: spec_of(tx, row.id, row.spec) for row in rows}


def specs_naming(tx: Tx, jobs: Collection[int], field: str, other: str = "") -> dict[int, JobSpec]:
    """The specs of jobs, of which the caller asks for those one or two fields only, wherever they stand in them.

    Specs that do not name them, and that are not in the cache, stay where they are: `UNSAID` stands for them.
    """
    known, unread = _remembered(tx, jobs)
    names = {"name": f'"{field}"', "other": f'"{other or field}"'}
    rows = tx.rows("specs_naming", ids=tx.many(unread), **names) if unread else ()
    return dict.fromkeys(unread, UNSAID) | known | {row.id: spec_of(tx, row.id, row.spec) for row in rows}


def _remembered(tx: Tx, jobs: Collection[int]) -> tuple[dict[int, JobSpec], list[int]]:
    """Those specs of jobs that are remembered, and the other jobs."""
    known = {job: spec for job in jobs if (spec := tx.caches.specs.get(job)) is not None}
    return known, sorted(set(jobs) - known.keys())


@dataclass(frozen=True, slots=True)
class Leased:
    """The sessions of a job that workers hold."""

    sessions: int = 0
    items: int = 0


def leased(tx: Tx, jobs: Iterable[int]) -> dict[int, Leased]:
    """Running sessions of each job; jobs without any are left out."""
    rows = tx.rows("running", jobs=tx.many(list(jobs)))
    return {row.job: Leased(row.n, row.items) for row in rows}


def counts_of(expected: int, running: int, ended: Mapping[State, int]) -> Counts:
    """A job's items: how many there are, how many are leased, and how many have ended how."""
    return Counts(expected=expected, running=running, **{state.column: ended[state] for state in FINAL_STATES})


def ended_of(row: Row[Any]) -> Counter[State]:
    """A job's items that are over, from its row."""
    return Counter({state: getattr(row, state.column) for state in FINAL_STATES})


def counts_json(counts: Counts) -> dict[str, int]:
    """Counts as events carry them."""
    return asdict(counts)


def close_those_over(tx: Tx, jobs: Iterable[LockedJob], running: Mapping[int, Leased]) -> list[LockedJob]:
    """Ends those jobs whose root session is final and of whose sessions no worker holds any; gives them.

    A canceled job's root becomes final after all sessions without a worker; the job is over when the last worker has
    let go.
    """
    open_jobs = [job for job in jobs if not job.is_final and job.id not in running]
    rows = tx.rows("roots", ids=tx.many([job.root for job in open_jobs])) if open_jobs else ()
    roots = {row.id: row for row in rows}
    over = [job for job in open_jobs if State(roots[job.root].state) in FINAL_STATES]
    specs = specs_naming(tx, [job.id for job in over], "retention_days")
    short = _incomplete_lists(tx, [job.id for job in over])
    for job in over:
        job.incomplete = short.get(job.id)
        days = specs[job.id].artifacts.retention_days
        _close(tx, job, State(roots[job.root].state), roots[job.root].outcome, days)
    if over:
        canceled = [job.id for job in over if job.cancel_requested]
        tx.run("end_learning_in", jobs=tx.many([job.id for job in over]), canceled=tx.many(canceled))
    return over


def _incomplete_lists(tx: Tx, jobs: Sequence[int]) -> dict[int, IncompleteLists]:
    """Return what the lists of jobs lack; jobs whose lists lack nothing are left out."""
    rows = tx.rows("incomplete_lists", ids=tx.many(jobs)) if jobs else ()
    return {
        row.job: IncompleteLists(row.lists, int(row.found), int(row.shown) if row.counted == row.lists else None)
        for row in rows
    }


def incomplete_json(lists: IncompleteLists | None) -> dict[str, Json] | None:
    """Return what lists lack, as events carry it."""
    return None if lists is None else asdict(lists)


def _close(tx: Tx, job: LockedJob, state: State, outcome: str | None, days: int | None) -> None:
    job.status = state.status
    job.finished_at = tx.now
    job.retry_below = None
    job.expires_at = None if days is None else tx.now + days * _DAY_S
    job.error = codec.load_outcome(outcome).error if outcome and state is not State.CANCELED else None


def finished_events(tx: Tx, jobs: Sequence[LockedJob]) -> None:
    """Says that jobs are over."""
    messages = []
    for job in jobs:
        data: Mapping[str, Json] = {
            "status": job.status.value,
            "counts": counts_json(job.counts(running=0)),
            "usage": asdict(job.usage),
            "error": codec.load_json(codec.dump_error(job.error) or "null"),
            "incomplete": incomplete_json(job.incomplete),
        }
        tx.event(job.id, job.tenant, JobEvent.FINISHED, data)
        messages.append((job, data))
    tell_webhooks(tx, JobEvent.FINISHED.value, messages)
    _fill_sinks(tx, jobs)


def _fill_sinks(tx: Tx, jobs: Sequence[LockedJob]) -> None:
    """Puts the sinks of jobs into their outbox; what a job that is not completed gave is written nowhere.

    What a schedule's run gave waits until the run is judged, except in sinks that take it whatever it is.
    """
    specs = specs_naming(tx, [job.id for job in jobs], "sinks")
    given = [job.id for job in jobs if specs[job.id].sinks and job.status is Status.COMPLETED]
    unjudged = {row.job for row in tx.rows("unjudged_runs", ids=tx.many(sorted(given)))} if given else set[int]()
    rows = []
    for job in jobs:
        for nth, sink in enumerate(specs[job.id].sinks):
            state, error = SinkState.WAITING, ""
            if job.status is not Status.COMPLETED:
                state = SinkState.SKIPPED
                error = f"the job is {job.status}, and only those that are completed are written"
            elif job.id in unjudged and not sink.degraded:
                state = SinkState.UNJUDGED
            ended_at = tx.now if state is SinkState.SKIPPED else None
            row = {"job": job.id, "nth": nth, "tenant": job.tenant, "place": f"{sink.kind}: {sink.place}"}
            rows.append({**row, "state": state.value, "at": tx.now, "ended_at": ended_at, "error": error})
    tx.each("add_sinks", rows)


def tell_webhooks(tx: Tx, event: str, messages: Sequence[tuple[LockedJob, Mapping[str, Json]]]) -> None:
    """Puts messages about jobs into the outbox, where their owners asked for them."""
    jobs = {job.id for job, _ in messages}
    # People whom the tenant tells learn what the job is about, which its spec says.
    people = tenant_notify(tx, {job.tenant for job, _ in messages}) if event in OF_PEOPLE else {}
    specs = specs_of(tx, jobs) if people else specs_naming(tx, jobs, "webhook", "notify")
    announce(tx, (WebhookMessage(job.id, job.tenant, specs[job.id], event, data) for job, data in messages), people)


def tell_unsure(tx: Tx, sessions: Sequence[tuple[LockedJob, Sequence[int]]]) -> None:
    """Puts messages about sessions that ended unsure into the outbox, one for each job that has any."""
    messages = [(job, {"sessions": [{"id": session_id(session)} for session in ids]}) for job, ids in sessions if ids]
    tell_webhooks(tx, SESSIONS_UNSURE, messages)


def locked(row: Row[Any]) -> LockedJob:
    ended = ended_of(row)
    return LockedJob(
        id=row.id,
        tenant=row.tenant,
        root=row.root,
        priority=row.priority,
        politeness=row.politeness,
        status=State(row.status).status,
        cancel_requested=bool(row.cancel_requested),
        deadline_at=row.deadline_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        error=codec.load_error(row.error),
        expected=row.expected,
        ended=ended,
        usage=usage_of(row),
        concurrency=row.concurrency,
        expires_at=row.expires_at,
        archive=row.archive,
        in_totals=dict(ended) if row.in_totals else {},
        retry_below=row.retry_below,
        incomplete=codec.load_incomplete(row.incomplete),
    )


def usage_of(row: Row[Any]) -> Usage:
    """Return what a job's sessions cost, from its row."""
    return Usage(
        row.model_calls, row.prompt_tokens, row.completion_tokens, row.cached_tokens, row.pages, row.carried_over
    )
