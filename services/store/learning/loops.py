"""Loops that learn, as fan-outs open them, items end in them and claims give their items out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import LearningLoop, LoopItem, Outcome
from shoal.agent.worker_messages import LearnedUse
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.format.workflow import Scope, Workflow, write_workflow
from shoal.agent.workflows.judging.phase import FIRST_ITEMS, MOST_LESSONS, Phase
from shoal.agent.workflows.judging.promotion import CANARY_ITEMS, SHADOW_ITEMS
from shoal.agent.workflows.judging.sampling import is_audited
from shoal.services.errors import NotFound
from shoal.services.store.database import codec
from shoal.services.store.database.transaction import Tx
from shoal.services.store.learning.provisional import CONFIRMED
from shoal.services.store.workflows import keeping
from shoal.services.store.workflows.records import VersionRow, WorkflowRow, usable

AUDITED = 0.02
"""Share of the replayed items that the teacher reads again."""
_LEAST_AUDITS = 6
_MOST_AUDITED = 0.2
_WEAK = 5
"""So many times as often are the records of a version audited that has weak fields."""
_MOST_REOPENED = 10_000
_MISSES = 3
"""So many misses since the last decision are no accident: it is looked at."""


def begin_learning(tx: Tx, parent: Row[Any], tenant: str, scope: LearningLoop, n: int) -> int:
    """Notes that a loop of `n` items learns; gives how many of them may begin.

    It begins with the version that is active for its site, goal and schema, where there is one, in its teacher's
    shadow.
    """
    start, why = _begins_with(tx, tenant, scope)
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
        return (row, version), f"begins with {row.name}@{version.version.number}, learned by an earlier job"
    name, _, number = learning.workflow.partition("@")
    try:
        row = keeping.get(tx, tenant, name)
    except NotFound as error:
        return None, error.message
    version = usable(row, int(number) if number else None)
    if version is None:
        return None, f"the workflow {learning.workflow!r} has no such version that may be replayed"
    return (row, version), f"begins with {row.name}@{version.version.number}, as the job says"


def frozen(row: WorkflowRow, version: VersionRow) -> str:
    """The workflow with one version as JSON text: what becomes of it later does not change a running loop."""
    return codec.dump_json(write_workflow(Workflow(name=row.name, scope=row.scope, versions=(version.version,))))


@dataclass(frozen=True, slots=True)
class Learned:
    """What a loop has learned, as its items are given it."""

    spec: JobSpec  # of the job, with the workflow where there is one
    phase: Phase
    share: float = 0.0  # of the items that are audited

    def use(self, job: int, item: LoopItem | None) -> LearnedUse:
        """What one item does with it."""
        if self.phase is Phase.ITEMS:
            return LearnedUse.TEACH
        if self.phase is Phase.SHADOW:
            return LearnedUse.SHADOW
        audited = item is not None and is_audited(job, item.index, self.share)
        return LearnedUse.AUDIT if audited else LearnedUse.REPLAY


def audited_share(items: int, *, weak: bool = False) -> float:
    """The share of a loop's items that is audited: of a short loop more, so that there are some.

    Args:
        weak: the version has fields that are less sure than others.
    """
    share = AUDITED * _WEAK if weak else AUDITED
    return max(share, min(_MOST_AUDITED, _LEAST_AUDITS / max(items, 1)))


def learned_by(tx: Tx, loops: Iterable[int], specs: Mapping[int, JobSpec]) -> dict[int, Learned]:
    """What some loops have learned, by loop. Those that learn no more, and replay nothing, are left out.

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
    weak = any(field.get("weak") for branch in version.get("branches", ()) for field in branch["fields"])
    return Learned(spec.model_copy(update={"workflow": workflow}), phase, audited_share(row.items, weak=weak))


@dataclass(frozen=True, slots=True)
class EndedItem:
    """An item of a loop that has ended."""

    loop: int  # session id of its parent
    session: int
    outcome: Outcome
    fanned_out: bool  # it had a loop of its own


@dataclass(frozen=True, slots=True)
class Noted:
    """What ended items mean for their loops."""

    open: bool  # something may have to be decided of one of them
    doubtful: Mapping[int, Sequence[int]]  # completed items by loop that a version has read which is known to err
    over: Set[int]  # loops of which nothing is decided any more


def note_items(tx: Tx, ended: Sequence[EndedItem]) -> Noted:
    """Adds items that have ended to what their loops know."""
    by_loop: dict[int, list[EndedItem]] = {}
    for item in ended:
        by_loop.setdefault(item.loop, []).append(item)
    rows = tx.rows("learning_of", ids=tx.many(sorted(by_loop))) if by_loop else ()
    doubtful: dict[int, Sequence[int]] = {}
    for row in rows:
        figures, before = Counter(json.loads(row.figures)), json.loads(row.before)
        lessons: list[int] = json.loads(row.lessons)
        was_wrong = figures["audits_wrong"]
        for item in by_loop[row.loop]:
            figures.update(_counted(item.outcome))
            lessons += [item.session] if _teaches(item) else []
            _note_audit(figures, item)
        if figures["audits_wrong"] > was_wrong:
            if not row.open:  # the version must not read again what it has read wrong
                tx.run("learning_is_off", loop=row.loop, why="a record was confirmed to be wrong")
            doubtful[row.loop] = _doubtful(tx, row, figures[CONFIRMED])
            figures.update(reopened=len(doubtful[row.loop]))
        due = row.phase == Phase.REPLAY and row.open and _is_due(figures, before)
        tx.run(
            "note_learning",
            loop=row.loop,
            figures=json.dumps(figures),
            lessons=json.dumps(lessons[-MOST_LESSONS:]),
            due=bool(due or row.due),
        )
    return Noted(
        open=any(row.open for row in rows),
        doubtful={loop: items for loop, items in doubtful.items() if items},
        over={row.loop for row in rows if not row.open},
    )


def _note_audit(figures: Counter[str], item: EndedItem) -> None:
    """Counts the records that no audit has confirmed since the last one that did: they are provisional."""
    replay = item.outcome.replay
    if replay is None or replay.shadow or item.outcome.status is not Status.COMPLETED:
        return
    if replay.audit == "right":
        figures[CONFIRMED], figures["provisional"] = max(figures[CONFIRMED], item.session), 0
    elif replay.whole:
        figures["provisional"] += 1


def _doubtful(tx: Tx, row: Row[Any], good: int) -> list[int]:
    """Items that the loop's version has read since the last audit that confirmed it, in the order of the loop.

    What a version has sent is never sent again: of one that acts there are none.
    """
    version = version_in(row)
    if version is None or version.acts:
        return []
    (span,) = tx.rows("span", id=row.loop)
    read_by = f'%"replay":{{"workflow":"{row.workflow}","version":{row.version},"whole":true%'
    rows = tx.rows(
        "doubtful", loop=row.loop, good=good, first=span.first, last=span.last, read_by=read_by, n=_MOST_REOPENED
    )
    return sorted(item.id for item in rows)


def _counted(outcome: Outcome) -> list[str]:
    """The figures that one ended item adds 1 to."""
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
    if replay.audit in ("right", "wrong", "unclear"):
        names += ["audits", f"audits_{replay.audit}"]
    return names


def _teaches(item: EndedItem) -> bool:
    """Whether the teacher worked the item out, and a workflow can do the same: no answers in words, no loops."""
    outcome, replay = item.outcome, item.outcome.replay
    by_teacher = replay is None or replay.shadow or not replay.whole
    return by_teacher and outcome.status is Status.COMPLETED and not outcome.answer and not item.fanned_out


def _is_due(figures: Mapping[str, int], before: Mapping[str, int]) -> bool:
    def since(name: str) -> int:
        return figures.get(name, 0) - before.get(name, 0)

    return since("audits_wrong") > 0 or since("misses") >= _MISSES or since("replays") >= CANARY_ITEMS


def version_in(row: Row[Any]) -> Version | None:
    """The version that a loop compares or replays; None where it has none."""
    if row.body is None:
        return None
    return Workflow.model_validate(codec.load_json(row.body)).versions[0]
