"""Loops that learn, as fan-outs open them, items end in them and claims give their items out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Row

from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import LearningLoop, LoopItem, Outcome
from shoal.agent.worker_messages import LearnedUse
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.format.workflow import Scope, Workflow, write_workflow
from shoal.agent.workflows.judging.batch import Batch
from shoal.agent.workflows.judging.phase import FIRST_ITEMS, MOST_SAMPLES, Phase
from shoal.agent.workflows.judging.promotion import CANARY_ITEMS, SHADOW_ITEMS
from shoal.agent.workflows.judging.sampling import AuditPlan, is_audited, uniform_share
from shoal.services.errors import NotFound
from shoal.services.store.database import codec
from shoal.services.store.database.transaction import Tx
from shoal.services.store.learning.provisional import is_provisional, note_ends, note_reopened, provisional_by
from shoal.services.store.learning.repairs import note_calls
from shoal.services.store.learning.same_records import note_doubted, note_records, read_again
from shoal.services.store.workflows import keeping
from shoal.services.store.workflows.records import VersionRow, WorkflowRow, usable

BEGINS = "begins with "
"""Before the version that a loop began with, in why it is where it is."""
_RIGHT = "_right "
"""With a version behind it, among a loop's figures: right audits of what it has read, since its last doubt."""
_DOUBTED = "_doubted"
"""Likewise: how often a version of the loop was in doubt."""
_MOST_REOPENED = 10_000
_OUTCOMES = 500
"""So many outcomes are looked at together where records are in doubt."""
_MISSES = 3
"""So many misses since the last decision are no accident: it is looked at."""


def begin_learning(tx: Tx, parent: Row[Any], tenant: str, scope: LearningLoop, n: int) -> int:
    """Notes that a loop of `n` items learns; gives how many of them may begin.

    It begins with the version that is active for its site, goal and schema, where there is one, in its baseline's
    shadow.
    """
    start, why = _begins_with(tx, tenant, scope)
    tx.run("forget_learned_records", job=parent.job, loop=parent.id)
    tx.run(
        "begin_learning",
        loop=parent.id,
        job=parent.job,
        site=scope.site,
        goal=scope.goal,
        record_schema=scope.record_schema,
        phase=(Phase.ITEMS if start is None else Phase.SHADOW).value,
        items=n,
        why=why,
        workflow=start[0].name if start is not None else "",
        version=start[1].version.number if start is not None else 0,
        body=frozen(*start) if start is not None else None,
    )
    return FIRST_ITEMS if start is None else SHADOW_ITEMS


def _begins_with(tx: Tx, tenant: str, learning: LearningLoop) -> tuple[tuple[WorkflowRow, VersionRow] | None, str]:
    """The workflow and version that a loop begins with, and why, in words."""
    if not learning.workflow:
        scope = Scope(site=learning.site, goal=learning.goal, record_schema=learning.record_schema)
        row = keeping.of_scope(tx, tenant, scope)
        version = usable(row, None) if row is not None else None
        if row is None or version is None:
            return None, "no workflow is active for this site, goal and schema"
        return (row, version), f"{BEGINS}{row.name}@{version.version.number}, learned by an earlier job"
    name, _, number = learning.workflow.partition("@")
    try:
        row = keeping.get(tx, tenant, name)
    except NotFound as error:
        return None, error.message
    version = usable(row, int(number) if number else None)
    if version is None:
        return None, f"the workflow {learning.workflow!r} has no such version that may be replayed"
    return (row, version), f"{BEGINS}{row.name}@{version.version.number}, as the job says"


def frozen(row: WorkflowRow, version: VersionRow) -> str:
    """The workflow with one version as JSON text: what becomes of it later does not change a running loop."""
    return codec.dump_json(write_workflow(Workflow(name=row.name, scope=row.scope, versions=(version.version,))))


@dataclass(frozen=True, slots=True)
class Learned:
    """The learned part of a loop, as its items are given it."""

    spec: JobSpec  # of the job, with the workflow where there is one
    phase: Phase
    audits: AuditPlan | None = None  # None: nothing is replayed yet
    again: Set[int] = frozenset()  # sessions that are audited, too, since other items have their records

    def use(self, job: int, session: int, item: LoopItem | None) -> LearnedUse:
        """Return what one item does with it."""
        if self.phase is Phase.ITEMS:
            return LearnedUse.TEACH
        if self.phase is Phase.SHADOW:
            return LearnedUse.SHADOW
        assert self.audits is not None
        audited = session in self.again or (item is not None and self.audits.audits(job, item.index))
        return LearnedUse.AUDIT if audited else LearnedUse.REPLAY


def _audit_plan(row: Row[Any], version: Mapping[str, Any]) -> AuditPlan:
    fields = [field for branch in version.get("branches", ()) for field in branch["fields"]]
    weak = any(field.get("weak") or field.get("may_be_null") for field in fields)
    figures = json.loads(row.figures)
    doubted = bool(row.rounds or figures.get(_DOUBTED))
    return AuditPlan(row.items, figures.get(f"{_RIGHT}{row.version}", 0), weak=weak, doubted=doubted)


def note_doubt(figures: Counter[str]) -> None:
    """A loop's version is in doubt: its audits begin anew."""
    figures[_DOUBTED] += 1
    for name in [name for name in figures if name.startswith(_RIGHT)]:
        del figures[name]


def learned_by(tx: Tx, loops: Iterable[int], specs: Mapping[int, JobSpec]) -> dict[int, Learned]:
    """Return what some loops have learned, by loop.
    Those that learn no more, and replay nothing, are left out.

    Args:
        specs: of the items' jobs, by loop.
    """
    ids = sorted(loops)
    rows = tx.rows("learning_of", ids=tx.many(ids)) if ids else ()
    return {row.loop: _learned(row, specs[row.loop]) for row in rows if row.phase != Phase.OFF}


def _learned(row: Row[Any], spec: JobSpec) -> Learned:
    phase = Phase(row.phase)
    if phase is Phase.ITEMS:
        return Learned(spec, phase)
    workflow = codec.load_json(row.body)
    (version,) = workflow["versions"]
    return Learned(
        spec.model_copy(update={"workflow": workflow}),
        phase,
        audits=_audit_plan(row, version),
        again=frozenset(Batch.of(row.batch).again),
    )


@dataclass(frozen=True, slots=True)
class EndedItem:
    """An item of a loop that has ended."""

    loop: int  # session id of its parent
    session: int
    outcome: Outcome
    fanned_out: bool  # it had a loop of its own


@dataclass(frozen=True, slots=True)
class Noted:
    """The consequences of ended items for their loops."""

    open: bool  # something may have to be decided of one of them
    doubtful: Mapping[int, Sequence[int]]  # completed items by loop that a version has read which is known to err
    over: Set[int]  # loops of which nothing is decided any more


def note_items(tx: Tx, ended: Sequence[EndedItem], closing: Set[int]) -> Noted:
    """Adds items that have ended to what their loops know.

    Args:
        ended: in one commit, and stored already.
        closing: loops of which no item begins any more. Their records in doubt stay: they are more than none.
    """
    by_loop: dict[int, list[EndedItem]] = {}
    for item in ended:
        by_loop.setdefault(item.loop, []).append(item)
    rows = tx.rows("learning_of", ids=tx.many(sorted(by_loop))) if by_loop else ()
    doubtful: dict[int, Sequence[int]] = {}
    for row in rows:
        figures, before = Counter(json.loads(row.figures)), json.loads(row.before)
        samples: list[int] = json.loads(row.lessons)
        batch = Batch.of(row.batch)
        was_wrong = _wrong(figures, batch)
        items = by_loop[row.loop]
        for item in items:
            uniform = _is_uniform(tx, row, item)
            figures.update(_counted(item.outcome, again=item.session in batch.again, uniform=uniform))
            if item.outcome.replay is not None and item.outcome.replay.audit in ("wrong", "unclear"):
                note_doubt(figures)
            note_calls(figures, item.outcome)
            samples += [item.session] if _teaches(item) else []
        note_ends(figures, (item.outcome for item in items))
        opened: list[int] | None = None if row.loop in closing else []
        if _wrong(figures, batch) > was_wrong:
            if not row.open:  # the version must not read again what it has read wrong
                tx.run("learning_is_off", loop=row.loop, why="a record was confirmed to be wrong")
            if opened is not None:
                opened = _doubtful(tx, row, figures, items)
        again = _again(tx, row, batch, figures, items, opened)
        doubtful[row.loop] = sorted([*(opened or ()), *again])
        due = row.phase == Phase.REPLAY and row.open and (again or batch.drift() or _is_due(figures, before))
        tx.run(
            "note_learning",
            loop=row.loop,
            figures=json.dumps(figures),
            lessons=json.dumps(samples[-MOST_SAMPLES:]),
            batch=batch.text(),
            due=bool(due or row.due),
        )
    return Noted(
        open=any(row.open for row in rows),
        doubtful={loop: items for loop, items in doubtful.items() if items},
        over={row.loop for row in rows if not row.open},
    )


def _wrong(figures: Mapping[str, int], batch: Batch) -> int:
    """Return how many records were confirmed to be wrong;
    those that a stopped version reads in its baseline's shadow, too.
    """
    shadow = figures.get("shadow_wrong", 0) if batch.stopped else 0
    return wrong_in(figures) + shadow


def wrong_in(figures: Mapping[str, int]) -> int:
    """Return how many replayed records audits have confirmed to be wrong, whatever they were audited for."""
    return sum(figures.get(f"{why}_wrong", 0) for why in ("audits", "same", "more"))


def _again(
    tx: Tx,
    row: Row[Any],
    batch: Batch,
    figures: Counter[str],
    items: Sequence[EndedItem],
    opened: Collection[int] | None,
) -> list[int]:
    """Items that are read again, since others have their records; all records are added to the batch.

    Args:
        opened: items that are done anew already; None: no item of the loop begins any more.
    """
    if row.phase == Phase.OFF:
        return []
    ended = [(item.session, item.outcome) for item in items if not item.fanned_out]
    doubted = note_records(tx, row, batch, ended)
    if not doubted:
        return []
    version = version_in(row)
    if version is not None and version.acts:
        note_doubted(batch, figures, len(doubted))
        return []
    return [] if opened is None else read_again(tx, batch, figures, doubted.difference(opened))


def _doubtful(tx: Tx, row: Row[Any], figures: Counter[str], ended: Sequence[EndedItem]) -> list[int]:
    """Provisional items of the branches of a loop's version that errs, in the order of the loop. They are counted.

    What a version has sent is never sent again: of one that acts there are none.

    Args:
        ended: among them the one whose record is wrong: a version that the loop has given up may have read it.
    """
    version = version_in(row)
    if version is None or version.acts:
        return []
    keys = {branch.key for branch in version.branches}
    for item in ended:
        if item.outcome.replay is not None and item.outcome.replay.audit == "wrong":
            keys |= set(item.outcome.replay.branches.split("+"))
    doubtful: list[int] = []
    for branches in provisional_by(figures, keys):
        provisional = list(islice(_provisional_of(tx, row.loop, branches, figures), _MOST_REOPENED - len(doubtful)))
        note_reopened(figures, branches, len(provisional))
        doubtful += provisional
    return sorted(doubtful)


def _provisional_of(tx: Tx, loop: int, branches: str, figures: Mapping[str, int]) -> Iterator[int]:
    """Completed items whose provisional records some branches have read, the last ones first.

    The store finds outcomes by a text that each of them holds. Records, too, may hold it, so each outcome is looked at.
    """
    (span,) = tx.rows("span", id=loop)
    holds, below = f'%"branches":"{branches}"%', span.last + 1
    while rows := tx.rows("doubtful", loop=loop, first=span.first, below=below, holds=holds, n=_OUTCOMES):
        for row in rows:
            replay = codec.load_outcome(row.outcome).replay
            if replay is None or replay.branches != branches or not replay.whole or replay.shadow:
                continue
            if is_provisional(replay, figures):
                yield row.id
        below = rows[-1].id


def _is_uniform(tx: Tx, row: Row[Any], item: EndedItem) -> bool:
    """Return whether an audited item is of the uniform share of its loop."""
    if item.outcome.replay is None or not item.outcome.replay.audit:
        return False
    (span,) = tx.rows("span", id=row.loop)
    index = item.session - (span.last + 1 - row.items)
    return is_audited(row.job, index, uniform_share(row.items))


def _counted(outcome: Outcome, *, again: bool, uniform: bool) -> list[str]:
    """The figures that one ended item adds 1 to.

    Args:
        again: it was audited since another item has its record.
        uniform: it is of the uniform share. The bound counts the audits of that share alone.
    """
    replay, names = outcome.replay, ["ended"]
    if replay is None or replay.shadow:
        names.append("model")
    if replay is None:
        return names
    if replay.shadow:
        names.append("shadow")
        names += ["shadow_misses"] if not replay.whole or replay.audit == "unclear" else []
        return [*names, *(["shadow_wrong"] if replay.audit == "wrong" else [])]
    names.append("replays" if replay.whole else "misses")
    names += [f"miss_{reason}" for reason in dict.fromkeys(replay.misses)]
    if again and replay.audit:
        names.append(f"same_{replay.audit}")
    elif replay.audit in ("right", "wrong", "unclear"):
        names += ["audits", f"audits_{replay.audit}"] if uniform else [f"more_{replay.audit}"]
    return [*names, f"{_RIGHT}{replay.version}"] if replay.audit == "right" else names


def _teaches(item: EndedItem) -> bool:
    """Return whether the baseline worked the item out, and a workflow can do it: no answers in words, no loops."""
    outcome, replay = item.outcome, item.outcome.replay
    by_baseline = replay is None or replay.shadow or not replay.whole
    by_baseline = by_baseline and not outcome.usage.carried_over
    return by_baseline and outcome.status is Status.COMPLETED and not outcome.answer and not item.fanned_out


def _is_due(figures: Mapping[str, int], before: Mapping[str, int]) -> bool:
    def since(name: str) -> int:
        return figures.get(name, 0) - before.get(name, 0)

    wrong = wrong_in(figures) > wrong_in(before)
    return wrong or since("misses") >= _MISSES or since("replays") >= CANARY_ITEMS


def version_in(row: Row[Any]) -> Version | None:
    """The version that a loop compares or replays; None where it has none."""
    if row.body is None:
        return None
    return Workflow.model_validate(codec.load_json(row.body)).versions[0]
