"""Deciding what becomes of a loop that learns: one dispatcher at a time, and what it decides is written at once."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import Row

from shoal.agent.workflows.divergences import DivergenceReason
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.format.workflow import Scope, Workflow, schema_hash
from shoal.agent.workflows.judging.batch import Batch
from shoal.agent.workflows.judging.phase import LearningStep, Phase
from shoal.agent.workflows.judging.promotion import CANARY_ITEMS, VersionFigures
from shoal.agent.workflows.judging.repair import MOST_PER_DAY
from shoal.services.errors import NotFound, WrongState
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs.rows import LockedJob, lock_jobs, specs_of
from shoal.services.store.learning.loops import BEGINS, frozen, note_doubt, version_in, wrong_in
from shoal.services.store.learning.records import KeptPageKeys, LearningDecided, LearningDue, LearningRow
from shoal.services.store.learning.repairs import repair_of
from shoal.services.store.loops.concurrency import release
from shoal.services.store.sessions.partitions import partitions_of
from shoal.services.store.workflows import keeping, moves
from shoal.services.store.workflows.records import WorkflowRow

_REPAIR_S = 600.0
"""Seconds that a repair keeps others from beginning one; it has ended long before, unless its job was paused."""
_KEPT_PAGES = 24
"""So many kept pages is a repair tested on: the last ones."""
_USUAL_ITEMS = "_usual_items"
"""Among a loop's figures: items of its version when it was last trusted more, as a canary or in the shadow."""
_USUAL_MISSES = "_usual_misses"
"""Likewise: those of them that it missed."""
_ALL_PAGES = ""
"""A loop repairs a workflow for all pages that it missed."""


def due(tx: Tx) -> list[int]:
    """Loops of which something is to be decided."""
    return [row.loop for row in tx.rows("learning_due", now=tx.now)]


def lend(tx: Tx, loop: int, owner: str, lasts_s: float) -> LearningDue | None:
    """Makes `owner` the one that decides on a loop, until it has decided or `lasts_s` are over.

    Returns:
        What decides; None where another one decides, or nothing is to be decided any more.
    """
    locked = _locked(tx, loop)
    if locked is None or not any(row.loop == loop for row in tx.rows("learning_due", now=tx.now)):
        return None
    row, job = locked
    tx.run("lease_learning", loop=loop, owner=owner, until=tx.now + lasts_s)
    figures, before = json.loads(row.figures), json.loads(row.before)
    extract = specs_of(tx, [job.id])[job.id].extract
    phase = Phase(row.phase)
    ids = tx.many(json.loads(row.lessons))
    samples = () if phase is Phase.REPLAY else tx.rows("evidence_keys", job=row.job, ids=ids)
    return LearningDue(
        loop=loop,
        phase=phase,
        evidence_keys=tuple(sample.key for sample in samples),
        ended=_taught(figures) - _taught(before),
        figures=_version_figures(phase, figures, before),
        rounds=row.rounds,
        version=_version(tx, job.tenant, row),
        record_schema=extract.record_schema if extract is not None else None,
        drift=Batch.of(row.batch).drift(),
    )


def _taught(figures: Mapping[str, int]) -> int:
    """Items that ended and could teach something: those that a workflow did alone, and ended later, do not."""
    return figures.get("ended", 0) - figures.get("replays", 0)


def _version(tx: Tx, tenant: str, row: Row[Any]) -> Version | None:
    """The loop's version in the state that the store has it in: another loop, or a person, may have moved it."""
    version = version_in(row)
    if version is None:
        return None
    try:
        stored = keeping.get(tx, tenant, row.workflow).versions
    except NotFound:
        return version
    return next((kept.version for kept in stored if kept.version.number == version.number), version)


def _version_figures(phase: Phase, figures: Mapping[str, int], before: Mapping[str, int]) -> VersionFigures:
    def since(name: str) -> int:
        return figures.get(name, 0) - before.get(name, 0)

    if phase is Phase.SHADOW:
        return VersionFigures(since("shadow"), since("shadow_misses"), since("shadow_wrong"))
    usual = figures.get(_USUAL_MISSES, 0) / max(1, figures.get(_USUAL_ITEMS, 0))
    wrong = wrong_in(figures) - wrong_in(before)
    return VersionFigures(since("replays") + since("misses"), since("misses"), wrong, usual)


def kept_page_keys(tx: Tx, loop: int, ids: Collection[str]) -> list[KeptPageKeys]:
    """The last of the pages that a loop's versions were learned from. Those of other tenants are left out."""
    job = next((row.job for row in tx.rows("learning_of", ids=tx.many([loop]))), None)
    if job is None or not ids:
        return []
    (tenant,) = (row.tenant for row in tx.rows("claimed_jobs", ids=tx.many([job])))
    rows = tx.rows("kept_pages", ids=tx.many(sorted(ids)), tenant=tenant, n=_KEPT_PAGES)
    return [KeptPageKeys(row.id, row.key, row.evidence) for row in rows]


def decide(tx: Tx, loop: int, owner: str, step: LearningStep) -> LearningDecided:
    """Writes what was decided of a loop, and lets its items go, where `owner` is still the one that decides."""
    locked = _locked(tx, loop)
    if locked is None:
        return LearningDecided(False)
    row, job = locked
    if row.owner != owner or row.until <= tx.now:
        return LearningDecided(False)
    over = _is_over(row)
    if over:
        step = _last(step)
    proposed, step = step, _if_it_may_repair(tx, job.tenant, row, step)
    refused = step != proposed
    name, number, body = row.workflow, row.version, row.body
    if step.version is not None:
        kept = _keep(tx, job.tenant, row, step.version)
        name, number, body = kept.name, kept.versions[-1].version.number, frozen(kept, kept.versions[-1])
    kept_why = _move(tx, job.tenant, name, number, step) if step.state is not None else ""
    figures = Counter(json.loads(row.figures))
    repair = repair_of(figures, Phase(row.phase), step, tx.now)
    if step.state == "active" or (row.phase == Phase.SHADOW and step.phase is Phase.REPLAY):
        tried = _version_figures(Phase(row.phase), figures, json.loads(row.before))
        figures[_USUAL_ITEMS], figures[_USUAL_MISSES] = tried.items, tried.misses
    new_phase = step.phase != row.phase or step.version is not None
    closes = step.phase.holds_back and row.phase == Phase.REPLAY
    anew = closes or (step.phase is Phase.ITEMS and row.phase != Phase.ITEMS)
    batch = Batch.of(row.batch)
    stopped = row.phase == Phase.REPLAY and step.phase in (Phase.SHADOW, Phase.OFF) and step.state is None
    if stopped:
        _note_drift(tx, job.tenant, row, figures)
        note_doubt(figures)
    if new_phase:
        batch.begin_anew(stopped=stopped and step.phase is Phase.SHADOW)
    tx.run(
        "write_learning",
        loop=loop,
        phase=step.phase.value,
        gated=step.phase.holds_back,
        open=step.phase is not Phase.OFF and not over,
        why=_reason_text(row.why, step.why, kept_why),
        workflow=name,
        version=number,
        body=body,
        rounds=row.rounds + anew,
        figures=json.dumps(figures),
        before=row.figures if new_phase or refused or _window_is_over(row) else row.before,
        lessons=json.dumps(_next_samples(row, step)),
        batch=batch.text(),
    )
    if over:
        return LearningDecided(True, repair=repair)
    return LearningDecided(True, _let_go(tx, loop, job, step, closes=closes), repair)


def _note_drift(tx: Tx, tenant: str, row: Row[Any], figures: Counter[str]) -> None:
    """Counts that a loop's version is stopped, for what its records say together."""
    name = f"miss_{DivergenceReason.DRIFT}"
    figures[name] += 1
    with suppress(NotFound):  # the workflow was deleted
        moves.add_figures(tx, tenant, row.workflow, row.version, {name: 1})


def _is_over(row: Row[Any]) -> bool:
    """Return whether the loop has no item left that its decisions could let go."""
    return Phase(row.phase).holds_back and not row.gated


def _last(step: LearningStep) -> LearningStep:
    """Return what is decided of a loop that is over: what becomes of its version.
    No other item will teach it anything.
    """
    if not step.phase.holds_back:
        return step
    return LearningStep(Phase.OFF, f"the loop was over: {step.why}", state=step.state)


def end_loops(tx: Tx, loops: Collection[int], jobs: Mapping[int, LockedJob]) -> None:
    """Notes that loops are over. A repair that such a loop has begun, and compiled nothing for, is left to others."""
    ids = tx.many(sorted(loops))
    for row in tx.rows("learning_of", ids=ids):
        if row.open and row.phase == Phase.ITEMS and row.workflow:
            with suppress(NotFound):  # the workflow was deleted
                moves.end_repair(tx, jobs[row.job].tenant, row.workflow, _ALL_PAGES, _owner(row.loop))
    tx.run("end_learning", ids=ids)


def _if_it_may_repair(tx: Tx, tenant: str, row: Row[Any], step: LearningStep) -> LearningStep:
    """The step, or replay as before where another loop repairs the workflow, or it was repaired too often today."""
    owner = _owner(row.loop)
    try:
        if row.phase == Phase.REPLAY and step.phase is Phase.ITEMS and step.state is None:
            lease = moves.lease_repair(tx, tenant, row.workflow, _ALL_PAGES, owner, _REPAIR_S, MOST_PER_DAY)
            return step if lease.given else LearningStep(Phase.REPLAY, lease.why)
        if row.phase != Phase.REPLAY and row.workflow and not step.phase.holds_back:
            moves.end_repair(tx, tenant, row.workflow, _ALL_PAGES, owner)
    except NotFound:  # the workflow was deleted: the loop goes on with what it has
        return step
    return step


def _owner(loop: int) -> str:
    """Whose a loop's leases on repairs are."""
    return f"loop-{loop}"


def _window_is_over(row: Row[Any]) -> bool:
    """Return whether enough items were replayed since figures were last taken, to take them anew."""
    figures = _version_figures(Phase(row.phase), json.loads(row.figures), json.loads(row.before))
    return row.phase == Phase.REPLAY and figures.items >= CANARY_ITEMS


def _next_samples(row: Row[Any], step: LearningStep) -> list[int]:
    """The sessions that teach from now on: a version is repaired with the items that it missed."""
    samples: list[int] = json.loads(row.lessons)
    if step.phase is not Phase.ITEMS or row.phase != Phase.REPLAY:
        return samples
    figures = _version_figures(Phase.REPLAY, json.loads(row.figures), json.loads(row.before))
    return samples[-figures.misses :] if figures.misses else []


def _keep(tx: Tx, tenant: str, row: Row[Any], version: Version) -> WorkflowRow:
    """Stores a new version: behind the loop's own, or that of the same scope, else as a new workflow."""
    scope = Scope(site=row.site, goal=row.goal, record_schema=row.record_schema)
    same = keeping.of_scope(tx, tenant, scope)
    name = row.workflow or (same.name if same is not None else _name_of(scope))
    try:
        keeping.get(tx, tenant, name)
    except NotFound:
        return keeping.keep(tx, tenant, Workflow(name=name, scope=scope, versions=(version,)))
    parent = row.version or None
    keeping.add_version(tx, tenant, name, version.model_copy(update={"parent": parent}))
    return keeping.get(tx, tenant, name)


def _name_of(scope: Scope) -> str:
    plain = re.sub(r"[^a-z0-9.-]+", "-", scope.site).strip(".-") or "site"
    return f"{plain[:60]}-{schema_hash({'goal': scope.goal, 'schema': scope.record_schema})[:8]}"


def _reason_text(before: str, *why: str) -> str:
    """Text of why the loop is where it is, behind what it began with: that stays readable."""
    began = before.partition("; ")[0] if before.startswith(BEGINS) else ""
    reasons = [reason for reason in why if reason]
    return "; ".join([began, *reasons] if began else reasons) if reasons else before


def _move(tx: Tx, tenant: str, name: str, number: int, step: LearningStep) -> str:
    """Moves the loop's version; says why it stays where a person has put it elsewhere, or deleted it."""
    assert step.state is not None
    try:
        if step.state == "broken":
            moves.roll_back(tx, tenant, name, number, step.why)
        else:
            moves.move(tx, tenant, name, number, step.state, step.why)
    except (NotFound, WrongState) as stays:
        return stays.message
    return ""


def _let_go(tx: Tx, loop: int, job: LockedJob, step: LearningStep, *, closes: bool) -> tuple[Any, ...]:
    """Lets items go, or has them held back again (`closes`): the rest of a long loop is `bulk_operations`'."""
    (held,) = tx.rows("loops", ids=tx.many([loop]))
    if closes or not step.phase.holds_back:
        tx.run("reseat", id=loop, seat_limit=held.seat_limit, seats=held.seats, reseating=True)
        return ()
    room = step.let_go if held.seat_limit is None else min(step.let_go, held.seat_limit - held.seats)
    ready = release(tx, held.job, loop, room) if room > 0 else []
    tx.run("set_seats", id=loop, seat_limit=held.seat_limit, seats=held.seats + len(ready))
    return tuple(partitions_of(tx, ready, {job.id: job}))


def _locked(tx: Tx, loop: int) -> tuple[Row[Any], LockedJob] | None:
    """A loop that learns and its job, which no other transaction changes until this one ends."""
    rows = tx.rows("learning_of", ids=tx.many([loop]))
    if not rows:
        return None
    job = lock_jobs(tx, [rows[0].job]).get(rows[0].job)
    if job is None or job.is_ending(tx.now):
        return None
    return tx.rows("learning_of", ids=tx.many([loop]))[0], job


def replays(tx: Tx, jobs: Collection[int]) -> dict[int, bool]:
    """Those of some jobs with a loop that learns; whether a workflow does its items."""
    return {row.job: bool(row.replays) for row in tx.rows("learning_jobs", ids=tx.many(sorted(jobs)))} if jobs else {}


def running(tx: Tx) -> Sequence[Mapping[str, int]]:
    """The counts of the items of each loop that runs and learns."""
    return [_public_figures(row.figures) for row in tx.rows("learning_running")]


def _public_figures(figures: str) -> Mapping[str, int]:
    return {name: n for name, n in json.loads(figures).items() if not name.startswith("_")}


def of_job(tx: Tx, job: int) -> Sequence[LearningRow]:
    """Return how far the loops of a job have learned."""
    return [
        LearningRow(
            loop=row.loop,
            phase=Phase(row.phase),
            holds_back=bool(row.gated),
            items=row.items,
            why=row.why,
            workflow=row.workflow,
            version=row.version,
            figures=_public_figures(row.figures),
        )
        for row in tx.rows("learning_of_job", job=job)
    ]
