"""Claims: leases on ready sessions, with everything a worker needs to run them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from sqlalchemy import Row

from shoal.agent.spec import JobSpec
from shoal.agent.types import Checkpoint, ChildrenSummary
from shoal.agent.worker_messages import JobLimits, Work
from shoal.services.events import JobEvent
from shoal.services.store.database import codec
from shoal.services.store.database.states import State
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs.rows import Leased, counts_json, counts_of, ended_of, leased, specs_naming, specs_of
from shoal.services.store.learning.loops import Learned, learned_by
from shoal.services.store.loops.fanout import item_of
from shoal.services.store.loops.summaries import summaries_of
from shoal.services.store.records import Claimed, ClaimRefusal, ClaimRequest, Claims, JobControl, Renewal
from shoal.services.store.sessions.earlier_readings import earlier_readings
from shoal.services.store.sessions.partitions import host_names, partitions_at, wake_due
from shoal.services.store.throttle.domain_throttle import DomainThrottles


def claim_partitions(
    tx: Tx, owners: Sequence[str], takes: Sequence[ClaimRequest], *, lease_s: float, per_domain: int | None
) -> Claims:
    """Leases up to `n` ready sessions of each partition, in order of their ids, as far as their domains have room."""
    if sum(take.n for take in takes if not take.owner) > len(owners):
        raise ValueError(f"sessions are wanted for more than {len(owners)} places")
    due = wake_due(tx)
    takes = [take for take in takes if take.n > 0]
    throttles = DomainThrottles(tx, takes, per_domain) if per_domain is not None and takes else None
    allowed = takes if throttles is None else throttles.cut(takes)
    rows_of = [_lease(tx, owners, [take for take in allowed if not take.owner], tx.now + lease_s)]
    for run in (take for take in allowed if take.owner):
        rows_of.append(_lease(tx, [run.owner] * run.n, [run], tx.now + lease_s, run.width))
    claimed = sorted(chain.from_iterable(rows_of), key=lambda row: row.id)
    held = {} if throttles is None else _still_held(throttles.held, allowed, claimed)
    rows = _without_excess(tx, claimed)
    woken = partitions_at(tx, due)
    if not rows:
        return Claims((), held, woken)
    if throttles is not None:
        throttles.started(rows, allowed)
    jobs = _jobs(tx, {row.job for row in rows})
    _start_jobs(tx, [job.id for job in jobs.values() if job.status == State.QUEUED])
    return Claims(_claimed(tx, rows, jobs), held, woken)


def _without_excess(tx: Tx, rows: Sequence[Row[Any]]) -> Sequence[Row[Any]]:
    """The leased sessions that may run; the others are given back in the same transaction.

    Given back are the items of a loop that was stopped, and those beyond a loop's concurrency while a new, lower
    concurrency is still being applied. In every other loop the items beyond its concurrency are HELD and cannot be
    leased at all, so nothing is counted there.

    Why this is decided after leasing and not before: a stop or a lower concurrency holds when its command answers,
    while the loop's ready items (up to a million) are changed later, slice by slice. Until then the query that leases
    would have to look at the loop of each ready item, in every claim of every job, and would step over the same items
    again and again. Looking at the loops of what was leased, some hundreds of rows, costs one look-up by key. No worker
    hears of what is given back, because it happens in the transaction that leased it. Items of a stopped loop become
    HELD, so that no later claim meets them.
    """
    parents = {row.parent for row in rows if row.parent is not None and not row.children}
    loops = tx.rows("bounded_of", ids=tx.many(sorted(parents))) if parents else ()
    if not loops:
        return rows
    stopped = {row.id for row in loops if row.stopped}
    canceled = {row.id for row in rows if row.parent in stopped and not row.children}
    lowered = sorted((row for row in loops if not row.stopped), key=lambda row: row.id)
    excess = _beyond_concurrency(tx, rows, lowered)
    for ids, state in ((canceled, State.HELD), (excess, State.QUEUED)):
        if ids:
            tx.run("put_back", ids=tx.many(sorted(ids)), state=state)
    return [row for row in rows if row.id not in canceled | excess]


def _beyond_concurrency(tx: Tx, rows: Sequence[Row[Any]], loops: Sequence[Row[Any]]) -> set[int]:
    """Leased items beyond the lowered concurrency of `loops`; they stay ready, with their permits.

    Only a claim makes an item of such a loop begin. Claims of one loop count one after the other, so that together
    they let no more begin than the concurrency allows.
    """
    if loops and tx.dialect != "sqlite":
        tx.run("count_alone", ids=tx.many([loop.id for loop in loops]))
    excess: set[int] = set()
    for loop in loops:
        mine = sorted(row.id for row in rows if row.parent == loop.id and not row.children)
        most = loop.seat_limit + len(mine)
        out = tx.run("begun_in", job=loop.job, loop=loop.id, most=most).scalar_one()
        excess.update(mine[max(0, len(mine) - max(0, out - loop.seat_limit)) :])
    return excess


def running_sessions(tx: Tx, sessions: Collection[int]) -> list[Claimed]:
    """Those of some sessions that run, as their claims gave them."""
    rows = tx.rows("running_sessions", ids=tx.many(sorted(sessions))) if sessions else ()
    return _claimed(tx, rows, _jobs(tx, {row.job for row in rows})) if rows else []


def _claimed(tx: Tx, rows: Sequence[Row[Any]], jobs: Mapping[int, Row[Any]]) -> list[Claimed]:
    hosts = host_names(tx, {row.domain for row in rows})
    states = _loop_states(tx, {row.parent for row in rows if row.parent is not None and row.checkpoint is None})
    specs = specs_of(tx, jobs.keys())
    summaries = summaries_of(tx, [row for row in rows if row.first_child], jobs, specs)
    common = {
        (number, depth): _common(tx, jobs[number], specs[number].below(depth))
        for number, depth in {(row.job, row.depth) for row in rows}
    }
    # What goes on from a checkpoint of its own is the model's: a workflow would begin it anew.
    fresh = {row.parent: common[row.job, row.depth].spec for row in rows if row.parent and row.checkpoint is None}
    learned = learned_by(tx, fresh.keys(), fresh)
    skipping = any(spec.changes.skip_unchanged for spec in specs.values())
    earlier = earlier_readings(tx, rows, specs) if skipping else {}
    return [
        Claimed(
            replace(
                _work(row, common[row.job, row.depth], states, summaries.get(row.id), learned.get(row.parent)),
                earlier=earlier.get(row.id),
            ),
            row.domain,
            hosts[row.domain],
            row.owner,
        )
        for row in rows
    ]


def _still_held(
    held: Mapping[tuple[int, int], ClaimRefusal], allowed: Sequence[ClaimRequest], rows: Sequence[Row[Any]]
) -> dict[tuple[int, int], ClaimRefusal]:
    """Partitions that would have given more; those that gave less than they were allowed have nothing left."""
    got = Counter((row.job, row.domain) for row in rows)
    empty = {key for take in allowed if got[key := (take.job, take.domain)] < take.n}
    return {key: why for key, why in held.items() if key not in empty}


def _lease(
    tx: Tx, owners: Sequence[str], takes: Sequence[ClaimRequest], until: float, width: int | None = None
) -> Sequence[Row[Any]]:
    if not takes:
        return []
    if tx.dialect != "sqlite":
        return tx.rows(
            "claim",
            jobs=tx.many([take.job for take in takes]),
            domains=tx.many([take.domain for take in takes]),
            afters=tx.many([take.after for take in takes]),
            ns=tx.many([take.n for take in takes]),
            owners=tx.many(owners),
            until=until,
            now=tx.now,
            width=width,
        )
    ids = _heads(tx, takes)
    given = codec.dump_json(list(zip(sorted(ids), owners, strict=False)))
    return tx.rows("claim", given=given, until=until, width=width) if ids else []


def _heads(tx: Tx, takes: Sequence[ClaimRequest]) -> list[int]:
    """SQLite has no lateral join: the partitions that give one session are one query, each other is a query of its
    own."""
    ones = [(take.job, take.domain, take.after) for take in takes if take.n == 1]
    rows = list(tx.rows("partition_heads", partitions=codec.dump_json(ones), now=tx.now)) if ones else []
    for take in takes:
        if take.n > 1:
            rows += tx.rows("partition_head", job=take.job, domain=take.domain, after=take.after, n=take.n, now=tx.now)
    return [row.id for row in rows]


def _start_jobs(tx: Tx, jobs: Sequence[int]) -> None:
    started = tx.rows("start_jobs", ids=tx.many(jobs), now=tx.now) if jobs else ()
    if not started:
        return
    running = leased(tx, [row.id for row in started])
    for row in started:
        counts = counts_of(row.expected, running.get(row.id, Leased()).items, ended_of(row))
        tx.event(row.id, row.tenant, JobEvent.STARTED, {"counts": counts_json(counts)})


def _jobs(tx: Tx, jobs: set[int]) -> dict[int, Row[Any]]:
    return {row.id: row for row in tx.rows("claimed_jobs", ids=tx.many(sorted(jobs)))}


def _loop_states(tx: Tx, parents: set[int]) -> dict[int, Checkpoint]:
    """Return what the children of each parent start with: `fanout.handed_down`, and nothing of its history."""
    rows = tx.rows("loop_states", ids=tx.many(sorted(parents))) if parents else ()
    return {row.id: codec.load_checkpoint(row.loop_state) for row in rows}


@dataclass(frozen=True, slots=True)
class _Common:
    """The common part of the works of one job at one depth."""

    tenant: str
    spec: JobSpec
    seconds_left: float | None
    tokens: int


def _common(tx: Tx, job: Row[Any], spec: JobSpec) -> _Common:
    tokens = job.prompt_tokens + job.completion_tokens
    return _Common(job.tenant, _within(spec, job), _left_s(tx, job), tokens)


def _work(
    row: Row[Any],
    job: _Common,
    states: Mapping[int, Checkpoint],
    summary: ChildrenSummary | None,
    learned: Learned | None,
) -> Work:
    item = item_of(row.item)
    learned = learned if row.checkpoint is None else None
    checkpoint = codec.load_checkpoint(row.checkpoint) if row.checkpoint else states.get(row.parent or 0)
    return Work(
        session=row.id,
        fence=row.fence,
        job=row.job,
        tenant=job.tenant,
        attempt=row.attempt,
        depth=row.depth,
        spec=job.spec if learned is None else learned.spec,
        item=item,
        checkpoint=checkpoint,
        children=summary,
        seconds_left=job.seconds_left,
        job_tokens=job.tokens,
        learned=None if learned is None else learned.use(row.job, row.id, item),
        width=row.width or 0,
    )


def _left_s(tx: Tx, job: Row[Any]) -> float | None:
    return None if job.deadline_at is None else max(0.0, job.deadline_at - tx.now)


def _within(spec: JobSpec, job: Row[Any]) -> JobSpec:
    """A job's spec with the budget that its owner gave it since."""
    if job.token_limit is None:
        return spec
    limit = job.token_limit or None  # 0: taken away
    return spec.model_copy(update={"budget": spec.budget.model_copy(update={"job_tokens": limit})})


def renew_leases(tx: Tx, leases: Sequence[Renewal], *, lease_s: float) -> frozenset[int]:
    """Extends leases that are still the owner's; gives those sessions whose job still wants them."""
    if not leases:
        return frozenset()
    ids, fences = [lease.session for lease in leases], [lease.fence for lease in leases]
    until = tx.now + lease_s
    if tx.dialect == "sqlite":
        pairs = codec.dump_json(list(zip(ids, fences, strict=True)))
        rows = tx.rows("renew", leases=pairs, until=until)
    else:
        rows = tx.rows("renew", ids=tx.many(ids), fences=tx.many(fences), until=until)
    stopped = unwanted_jobs(tx, {row.job for row in rows})
    return frozenset(row.id for row in rows if row.job not in stopped)


def job_controls_of(tx: Tx, jobs: Collection[int]) -> dict[int, JobControl]:
    """Return what holds now for the running sessions of some jobs; jobs that are gone are left out."""
    rows = _jobs(tx, set(jobs)) if jobs else {}
    limits = _token_limits(tx, rows.values())
    return {
        row.id: JobControl(
            wanted=row.status in (State.QUEUED, State.RUNNING) and not row.cancel_requested,
            limits=JobLimits(_left_s(tx, row), limits[row.id], row.prompt_tokens + row.completion_tokens),
        )
        for row in rows.values()
    }


def _token_limits(tx: Tx, jobs: Collection[Row[Any]]) -> dict[int, int | None]:
    """Return what the sessions of each job may spend:
    as its owner said last, or else its spec, of which that is remembered.

    Asked each second, of more jobs perhaps than a process remembers specs of.
    """
    limits = {row.id: row.token_limit for row in jobs}
    asked = [job for job, limit in limits.items() if limit is None]
    token_limits = {job: limit for job in asked if (limit := tx.caches.token_limits.get(job)) is not None}
    for job, spec in specs_naming(tx, [job for job in asked if job not in token_limits], "job_tokens").items():
        token_limits[job] = spec.budget.job_tokens or 0
        tx.caches.token_limits.put(job, token_limits[job])
    return {job: (token_limits[job] if limit is None else limit) or None for job, limit in limits.items()}  # 0: none


def policies_of(tx: Tx, jobs: Collection[int]) -> dict[int, str]:
    """The policies of some jobs; the default of those that say none, and of jobs that are gone."""
    return {job: spec.policy for job, spec in specs_naming(tx, jobs, "policy").items()}


def unwanted_jobs(tx: Tx, jobs: Collection[int]) -> frozenset[int]:
    """Those of some jobs whose running sessions are to be stopped: paused, canceled, over or gone."""
    going_on = {row.id for row in tx.rows("wanted_jobs", ids=tx.many(sorted(jobs)))} if jobs else set()
    return frozenset(jobs) - going_on
