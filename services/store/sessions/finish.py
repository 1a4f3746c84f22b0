"""The group commit: outcomes, fan-outs, loops and job counters in one transaction.

The caller's reports are decided one by one in memory, under the locks of their jobs, and written in bulk.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Row

from shoal.agent.errors import LeaseLost, UnsureAction
from shoal.agent.sessions.once import in_doubt
from shoal.agent.spec import JobSpec
from shoal.agent.status import FINAL, Status, may_become
from shoal.agent.support.json_value import Json
from shoal.agent.types import Checkpoint, Outcome
from shoal.services.errors import WrongState
from shoal.services.events import JobEvent
from shoal.services.store.database import codec, tables
from shoal.services.store.database.states import FINAL_STATES, State
from shoal.services.store.database.transaction import Tx
from shoal.services.store.ids import session_id
from shoal.services.store.jobs import ending
from shoal.services.store.jobs.rows import (
    Leased,
    LockedJob,
    close_those_over,
    counts_json,
    finished_events,
    leased,
    locked,
    save_all,
    specs_naming,
    tell_unsure,
    tell_webhooks,
)
from shoal.services.store.jobs.webhook_messages import SESSIONS_FINISHED
from shoal.services.store.learning.deciding import end_loops
from shoal.services.store.learning.loops import EndedItem, Noted, begin_learning, note_items
from shoal.services.store.learning.provisional import figures_of, stamped
from shoal.services.store.loops.concurrency import release
from shoal.services.store.loops.fanout import OpenedLoop, open_loop
from shoal.services.store.records import CommitResult, Finish
from shoal.services.store.sessions.partitions import Ready, partitions_of
from shoal.services.store.throttle.domain_throttle import note_answers
from shoal.services.store.workflows.moves import note_replays

_SHOWN_SESSIONS = 50
"""Sessions that one progress event names."""
_STOPPING = (Status.FAILED, Status.TERMINATED, Status.UNSURE)
"""Final states of a child that stop a loop with `on_error: stop`."""


@dataclass(frozen=True, slots=True)
class End:
    """An attempt that is over, and what becomes of its session."""

    row: Row[Any]  # the session as it was
    state: State  # as it will be
    outcome: Outcome
    ready_at: float | None = None
    given_back: int = 0  # 1: the attempt does not count
    lost: bool = False  # it ended with its worker or lease
    keeps_outcome: bool = False  # what the attempt before it said stays readable

    @property
    def is_final(self) -> bool:
        """Return whether the session is over."""
        return self.state in FINAL_STATES


@dataclass(slots=True)
class Loop:
    """A parent while its children end."""

    id: int
    job: int
    domain: int
    state: State
    pending: int
    seat_limit: int | None
    seats: int
    stop_on_error: bool
    stopped: bool
    gated: bool  # its held children wait for what it learns
    stops_now: bool = False  # by one of these outcomes


def write_group(tx: Tx, group: Sequence[Finish], per_domain: int | None = None) -> CommitResult:
    """Writes a group of reports; those whose fence is not the session's any more change nothing."""
    sessions = tx.many([report.session for report in group])
    jobs = {row.id: locked(row) for row in tx.rows("lock_jobs_of", ids=sessions)}
    rows = {row.id: row for row in tx.rows("sessions", ids=sessions)}
    current, late = _sort_out(rows, group)
    current = _with_doubts(tx, current)
    loops = _loops(tx, {row.parent for row, _ in current if row.parent is not None})
    ends = [_decide(tx.now, row, report, jobs[row.job], loops.get(row.parent)) for row, report in current]
    ends = _with_confirmations(tx, ends)
    _write_ends(tx, ends)
    _write_evidence(tx, ends, jobs)
    _keep_pages(tx, ends)
    _metrics_delta(tx, ends, jobs)
    if per_domain is not None:
        note_answers(tx, ((end.row.domain, end.outcome) for end in ends), per_domain)
    ready = [Ready(e.row.job, e.row.domain, e.row.id) for e in ends if e.state is State.QUEUED]
    ready += _fan_out_all(tx, [end for end in ends if end.outcome.fan_out is not None], jobs)
    noted = _note_items(tx, ends, loops, jobs)
    ready += _settle(tx, ends, loops, jobs)
    finished = _close(tx, jobs)
    note_replays(tx, [(jobs[end.row.job].tenant, end.outcome.replay) for end in ends if end.is_final])
    return CommitResult(
        accepted=frozenset(end.row.id for end in ends),
        late=late,
        ready=partitions_of(tx, ready, jobs),
        finished_jobs=finished,
        pending_children=any(end.outcome.fan_out.later for end in ends if end.outcome.fan_out is not None),
        stopped=any(loop.stops_now for loop in loops.values()),
        learned=noted.open,
    )


def _sort_out(
    rows: Mapping[int, Row[Any]], group: Sequence[Finish]
) -> tuple[list[tuple[Row[Any], Finish]], frozenset[int]]:
    """The reports that hold their session's lease, each session once, and the sessions of the others."""
    current: dict[int, tuple[Row[Any], Finish]] = {}
    late = set()
    for report in group:
        row = rows.get(report.session)
        if row is None or row.fence != report.fence or row.state != State.RUNNING or row.id in current:
            late.add(report.session)
        else:
            current[row.id] = (row, report)
    return list(current.values()), frozenset(late - current.keys())


def _with_doubts(tx: Tx, current: list[tuple[Row[Any], Finish]]) -> list[tuple[Row[Any], Finish]]:
    """The reports, with "unsure" for "failed" where the session did what must not be done twice.

    Its owner would take "failed" for "not sent", and send it again.
    """
    failed = [report for _, report in current if report.outcome.status is Status.FAILED]
    unknown = [report.session for report in failed if report.outcome.checkpoint is None]
    kept = {
        row.id: codec.load_checkpoint(row.checkpoint)
        for row in (tx.rows("kept_checkpoints", ids=tx.many(sorted(unknown))) if unknown else ())
    }
    return [
        (row, replace(report, outcome=_unsure_if_sent(report.outcome, kept.get(row.id)))) for row, report in current
    ]


def _unsure_if_sent(outcome: Outcome, kept: Checkpoint | None) -> Outcome:
    """Pure. `kept`: what the store has where the outcome has no checkpoint of its own."""
    known = outcome.checkpoint or kept
    if outcome.status is not Status.FAILED or known is None or not known.confirmed:
        return outcome
    why = outcome.reason or (outcome.error.message if outcome.error else "")
    unsure = UnsureAction(f"{known.confirmed[-1]} was done, and then: {why}")
    doubt = in_doubt(known)
    return replace(outcome, status=Status.UNSURE, error=unsure.info(), reason=unsure.message, checkpoint=doubt)


def _decide(now: float, row: Row[Any], report: Finish, job: LockedJob, loop: Loop | None) -> End:
    """Return what becomes of a session.
    Pure.

    Raises:
        WrongState: the report asks for a status that a running session cannot take.
    """
    outcome = report.outcome
    status = outcome.status
    if not may_become(Status.RUNNING, status) or (status is Status.WAITING) != (outcome.fan_out is not None):
        raise WrongState(
            f"session {session_id(row.id)} is running and cannot become {status} by this report", session=row.id
        )
    unwanted = job.cancel_requested or (loop is not None and loop.stopped)
    if status not in FINAL and unwanted:
        return End(row, State.CANCELED, replace(outcome, status=Status.CANCELED, fan_out=None))
    if outcome.fan_out is not None:
        # The attempt goes on after the loop, so it is not counted twice; a loop without items is over at once.
        return End(row, State.WAITING if outcome.fan_out.n else State.QUEUED, outcome, given_back=1)
    if status is Status.PAUSED or (status is Status.CANCELED and not unwanted):
        # Stopped for the job's pause or the worker's end, not by a fault of its own: the attempt does not count.
        return End(row, State.QUEUED, outcome, given_back=1, keeps_outcome=True)
    given_back = int(not report.counts)
    lost = outcome.error is not None and outcome.error.code == LeaseLost.code
    if status is Status.QUEUED and report.ready_in_s > 0:
        return End(row, State.DELAYED, outcome, now + report.ready_in_s, given_back, lost)
    return End(row, State[status.name], outcome, given_back=given_back, lost=lost)


def _with_confirmations(tx: Tx, ends: Sequence[End]) -> list[End]:
    """The ends; those of items that a workflow has read know how often its branches were confirmed before."""
    replayed = {end.row.parent for end in ends if end.outcome.replay is not None}
    figures = figures_of(tx, replayed)
    return [replace(end, outcome=stamped(end.outcome, figures.get(end.row.parent, {}))) for end in ends]


def _write_ends(tx: Tx, ends: Sequence[End]) -> None:
    changed = tx.each("end_attempts", [_end_columns(end) for end in sorted(ends, key=lambda end: end.row.id)])
    if changed != len(ends):  # their jobs are locked and their fences were compared
        raise RuntimeError(f"{changed} of {len(ends)} outcomes were written")


def _end_columns(end: End) -> dict[str, Json]:
    checkpoint = end.outcome.fan_out.checkpoint if end.outcome.fan_out else end.outcome.checkpoint
    # A completed item needs its checkpoint no more; a parent's is needed when items of its loop are retried.
    forget = end.state is State.COMPLETED and not end.row.children
    incomplete = end.outcome.incomplete if end.state is State.COMPLETED else None
    return {
        "found": incomplete and incomplete.found,
        "shown": incomplete and incomplete.shown,
        "id": end.row.id,
        "fence": end.row.fence,
        "state": int(end.state),
        "given_back": end.given_back,
        "lost": int(end.lost),
        "ready_at": end.ready_at,
        "outcome": None if end.keeps_outcome else codec.dump_outcome(end.outcome),
        "keep": checkpoint is None and not forget,
        "checkpoint": None if forget or checkpoint is None else codec.dump_checkpoint(checkpoint),
    }


def _write_evidence(tx: Tx, ends: Sequence[End], jobs: Mapping[int, LockedJob]) -> None:
    """Stores what each attempt did, and the artifacts that it left."""
    details = [
        {"session": end.row.id, "fence": end.row.fence, "tasks": codec.dump_tasks(end.outcome.tasks)}
        for end in ends
        if end.outcome.tasks
    ]
    if details:
        tx.conn.execute(tables.session_detail.insert(), details)
    artifacts = {
        ref.id: {
            "id": ref.id,
            "tenant": jobs[end.row.job].tenant,
            "job": end.row.job,
            "session": end.row.id,
            "kind": ref.kind,
            "key": ref.key,
            "content_type": ref.content_type,
            "bytes": ref.bytes,
            "name": ref.name,
            "created_at": tx.now,
        }
        for end in ends
        for ref in end.outcome.artifacts
    }
    tx.each("add_artifacts", list(artifacts.values()))


def _keep_pages(tx: Tx, ends: Sequence[End]) -> None:
    """Notes of which pages the next run may carry the records over; the last item of a page counts."""
    pages = {
        (end.row.job, record.version.page): end.row.id
        for end in ends
        if end.state is State.COMPLETED
        for record in end.outcome.records
        if record.version is not None
    }
    rows = [{"job": job, "page": page, "session": session} for (job, page), session in sorted(pages.items())]
    tx.each("keep_pages", rows)


def _metrics_delta(tx: Tx, ends: Sequence[End], jobs: Mapping[int, LockedJob]) -> None:
    """Adds the ends to their jobs' counters."""
    for end in ends:
        job = jobs[end.row.job]
        job.usage = job.usage + end.outcome.usage
        job.written.append((end.row.id, end.state.status))
        if end.is_final and not end.row.children:
            job.ended[end.state] += 1
            job.items_ended.append((end.row.id, end.state.status))


def _fan_out_all(tx: Tx, ends: Sequence[End], jobs: Mapping[int, LockedJob]) -> list[Ready]:
    specs = specs_naming(tx, {end.row.job for end in ends}, "concurrency")
    ready = []
    for end in ends:
        ready += _fan_out(tx, end, jobs[end.row.job], specs[end.row.job])
    return ready


def _fan_out(tx: Tx, end: End, job: LockedJob, spec: JobSpec) -> list[Ready]:
    fan_out, most = end.outcome.fan_out, None
    assert fan_out is not None  # the caller has chosen those that have one
    if fan_out.learning is not None:
        most = begin_learning(tx, end.row, job.tenant, fan_out.learning, fan_out.n)
    opened: OpenedLoop = open_loop(tx, end.row, end.outcome, job, spec, most=most)
    if opened.n and not end.row.children:
        job.expected -= 1  # its children count instead
    job.expected += opened.n
    job.fanned_out.append((end.row.id, opened.n))
    return opened.ready


def _loops(tx: Tx, parents: set[int]) -> dict[int, Loop]:
    if not parents:
        return {}
    return {
        row.id: Loop(
            id=row.id,
            job=row.job,
            domain=row.domain,
            state=State(row.state),
            pending=row.pending_children,
            seat_limit=row.seat_limit,
            seats=row.seats,
            stop_on_error=bool(row.stop_on_error),
            stopped=bool(row.stopped),
            gated=bool(row.gated),
        )
        for row in tx.rows("loops", ids=tx.many(sorted(parents)))
    }


def _note_items(tx: Tx, ends: Sequence[End], loops: Mapping[int, Loop], jobs: Mapping[int, LockedJob]) -> Noted:
    """Adds ended items to what their loops have learned; opens those again whose records are in doubt by that.

    They are held back until it is decided how the loop goes on, and the loop waits for them. The items of a loop that
    learns no more are let go by `shoal.services.store.jobs.bulk_operations`, and the model does them.
    """
    noted = note_items(
        tx,
        [
            EndedItem(end.row.parent, end.row.id, end.outcome, end.row.children > 0)
            for end in ends
            if end.is_final and end.row.parent is not None
        ],
        {loop.id for loop in loops.values() if jobs[loop.job].is_ending(tx.now) or loop.stopped},
    )
    for loop, items in noted.doubtful.items():
        tx.run("reopen_items", ids=tx.many(items), state=State.HELD)
        loops[loop].pending += len(items)
        jobs[loops[loop].job].ended[State.COMPLETED] -= len(items)
        if loop in noted.over:
            tx.run("reseat", id=loop, seat_limit=loops[loop].seat_limit, seats=loops[loop].seats, reseating=True)
    return noted


def _settle(tx: Tx, ends: Sequence[End], loops: Mapping[int, Loop], jobs: Mapping[int, LockedJob]) -> list[Ready]:
    """Takes ended children off their loops; gives what is ready now: held children, parents of finished loops."""
    most = ending.SLICE
    over: dict[int, list[Status]] = defaultdict(list)
    for end in ends:
        if end.is_final and end.row.parent is not None:
            over[end.row.parent].append(end.state.status)
    ready: list[Ready] = []
    written: list[dict[str, Json]] = []
    for parent, statuses in over.items():
        loop = loops[parent]
        loop.pending -= len(statuses)
        loop.seats = max(0, loop.seats - len(statuses))
        if loop.stop_on_error and not loop.stopped and any(status in _STOPPING for status in statuses):
            most -= _stop(tx, loop, jobs[loop.job], most)
        ready += _release(tx, loop)
        resumes = loop.pending == 0 and loop.state is State.WAITING and not jobs[loop.job].is_reopening(loop.id)
        if resumes:
            loop.state = State.QUEUED
            ready.append(Ready(loop.job, loop.domain, loop.id))
        written.append(
            {
                "id": loop.id,
                "pending": loop.pending,
                "seats": loop.seats,
                "stopped": loop.stopped,
                "state": loop.state,
                "raised": int(resumes),
            }
        )
    tx.each("store_loop_counts", written)
    resumed = [loop["id"] for loop in written if loop["raised"]]
    if resumed:
        end_loops(tx, resumed, jobs)
    return ready


def _stop(tx: Tx, loop: Loop, job: LockedJob, most: int) -> int:
    """Begins to cancel the children that have not begun, after one has failed; gives how many it has canceled.

    `shoal.services.store.jobs.bulk_operations` cancels the rest. No claim gives out what is left
    (`claim.claim_partitions`).
    """
    canceled = ending.end_children(tx, job, loop.id, most)
    loop.stopped = loop.stops_now = True
    loop.pending -= canceled
    return canceled


def _release(tx: Tx, loop: Loop) -> list[Ready]:
    """Lets as many held children go as have a permit now."""
    if loop.gated or loop.seat_limit is None or loop.stopped or loop.pending <= loop.seats:
        return []
    if loop.state is not State.WAITING:
        return []
    free = min(
        ending.SLICE, loop.seat_limit - loop.seats
    )  # `run_bulk_operations` frees the rest of a limit that was just raised
    released = release(tx, loop.job, loop.id, free) if free > 0 else []
    loop.seats += len(released)
    return released


def _close(tx: Tx, jobs: Mapping[int, LockedJob]) -> tuple[int, ...]:
    """Writes the jobs with their events; gives those that are over now."""
    touched = [job for job in jobs.values() if job.written]
    running = leased(tx, [job.id for job in touched]) if touched else {}
    messages: list[tuple[LockedJob, Mapping[str, Json]]] = []
    for job in touched:
        now = running.get(job.id, Leased())
        counts = counts_json(job.counts(now.items))
        if job.status is Status.QUEUED:
            job.start(tx)
            tx.event(job.id, job.tenant, JobEvent.STARTED, {"counts": counts})
        for session, items in job.fanned_out:
            tx.event(job.id, job.tenant, JobEvent.FANNED_OUT, {"session": session, "items": items, "counts": counts})
        sessions = [[session, status.value] for session, status in job.written[:_SHOWN_SESSIONS]]
        tx.event(job.id, job.tenant, JobEvent.PROGRESS, {"counts": counts, "sessions": sessions})
        if job.items_ended:
            ended = [{"id": session_id(session), "status": status.value} for session, status in job.items_ended]
            messages.append((job, {"sessions": ended}))
    tell_webhooks(tx, SESSIONS_FINISHED, messages)
    unsure = [(job, [session for session, status in job.written if status is Status.UNSURE]) for job in touched]
    tell_unsure(tx, unsure)
    finished = close_those_over(tx, (job for job in touched if _may_be_over(job, running)), running)
    finished_events(tx, finished)
    save_all(tx, touched)
    return tuple(job.id for job in finished)


def _may_be_over(job: LockedJob, running: Mapping[int, Leased]) -> bool:
    root_ended = any(session == job.root and status in FINAL for session, status in job.written)
    return root_ended or (job.cancel_requested and job.id not in running)
