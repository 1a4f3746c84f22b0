"""The next step of a loop that learns: more items by its baseline, a version in its shadow, or replay. Pure.

The baseline is the job's own policy: a model, or the rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from shoal.agent.errors import WorkflowInvalid
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.node import ActionNode
from shoal.agent.workflows.format.version import Decision, Version
from shoal.agent.workflows.judging.phase import FIRST_ITEMS, MOST_SAMPLES, LearningStep, Phase
from shoal.agent.workflows.judging.promotion import SHADOW_ITEMS, VersionFigures, next_state
from shoal.agent.workflows.judging.repair import LEAST_MISSES, weakened, with_branch
from shoal.agent.workflows.learning.compile_version import compile_version
from shoal.agent.workflows.learning.evidence import SessionEvidence
from shoal.agent.workflows.learning.optional_step import optional_nodes, without_optional

_MORE_ITEMS = 2
"""Items that the baseline works out beyond the first where these taught too little."""
_MOST_ITEMS = 9
"""Items without a version after which the loop goes on without learning."""
_MOST_ROUNDS = 4
"""So often may one loop begin to learn anew."""
_RISE = 0.3
"""Share of items that a version misses from which on it is repaired."""
_GIVEN_UP = "the version was given up by another loop or by a person"


@dataclass(frozen=True, slots=True)
class LoopLearning:
    """The facts that a loop decides its next step by."""

    phase: Phase
    runs: Sequence[SessionEvidence]  # of the last items that the baseline worked out, oldest first
    ended: int  # items that ended since the phase began, without those that a workflow did alone
    figures: VersionFigures  # of the version, since the phase began
    rounds: int = 0  # how often the loop has begun to learn anew
    version: Version | None = None  # that is compared, replayed or repaired
    record_schema: Mapping[str, Json] | None = None
    drift: str = ""  # how the version's records differ as a whole from the baseline's, in words
    at: str = ""  # ISO 8601


def next_step(known: LoopLearning) -> LearningStep:
    """The next step of a loop whose items, as far as they may begin, have ended."""
    match known.phase:
        case Phase.ITEMS:
            return _compiled(known)
        case Phase.SHADOW:
            return _compared(known)
        case Phase.REPLAY:
            return _replayed(known)
        case Phase.OFF:
            return LearningStep(Phase.OFF, "")


def refused(known: LoopLearning, why: str) -> LearningStep:
    """The next step where a version that was compiled is none that may be compared."""
    return _more(known, _MORE_ITEMS, f"the repair is refused: {why}")


def _compiled(known: LoopLearning) -> LearningStep:
    n = len(known.runs)
    if n < FIRST_ITEMS:
        reason = f"{n} items are completed and left evidence, and {FIRST_ITEMS} are needed"
        return _more(known, FIRST_ITEMS - n, reason)
    try:
        compiled = compile_version(known.runs[-MOST_SAMPLES:], known.record_schema, at=known.at)
    except WorkflowInvalid as error:
        return _more(known, _MORE_ITEMS, error.message)
    made = compiled.version
    if made is None:
        return _more(known, _MORE_ITEMS, _words(compiled.open))
    lacking = _lacked_once(known.runs[-MOST_SAMPLES:])
    if lacking and known.ended < _MOST_ITEMS:
        reason = f"one page lacks {', '.join(lacking)}, and two teach what a page without it looks like"
        return _more(known, _MORE_ITEMS, reason)
    old = _to_repair(known)
    if old is not None and not old.acts and not made.acts:
        # A branch is added, and none is overwritten: pages that are as they were are read as they were.
        repaired = old
        for branch in made.branches:
            repaired = with_branch(repaired, branch, at=known.at)
        made = repaired.model_copy(update={"open": made.open})
    elif old is not None:
        if lost := weakened(old, made):
            return refused(known, "; ".join(lost))
        made = made.model_copy(update={"by": "repair"})
    why = f"{'repaired with' if old is not None else 'compiled from'} {n} items"
    return LearningStep(Phase.SHADOW, why, let_go=SHADOW_ITEMS, version=made, state="shadow")


def _lacked_once(runs: Sequence[SessionEvidence]) -> list[str]:
    """The fields that one page of `runs` lacks: another such page would teach what their absence looks like."""
    records = [page.record for run in runs for page in run.pages]
    names = dict.fromkeys(name for record in records for name in record)
    return [name for name in names if sum(record.get(name) is None for record in records) == 1]


def _to_repair(known: LoopLearning) -> Version | None:
    """The version that goes on where nothing better is learned; None where there is none, or it broke."""
    version = known.version
    return version if version is not None and version.state in ("canary", "active") else None


def _more(known: LoopLearning, n: int, why: str) -> LearningStep:
    if known.ended < _MOST_ITEMS:
        return LearningStep(Phase.ITEMS, why, let_go=n)
    reason = f"nothing was learned from {known.ended} items: {why}"
    return LearningStep(Phase.REPLAY if _to_repair(known) is not None else Phase.OFF, reason)


def _compared(known: LoopLearning) -> LearningStep:
    """A version that ran in the baseline's shadow."""
    assert known.version is not None
    figures = known.figures
    if known.version.state == "broken":
        return _broken(known, _GIVEN_UP)
    if figures.items < SHADOW_ITEMS and not figures.wrong:
        if known.ended >= 2 * SHADOW_ITEMS:
            reason = f"{figures.items} of {known.ended} items could be compared with the baseline"
            return LearningStep(Phase.OFF, reason, state="broken")
        reason = f"{figures.items} of {SHADOW_ITEMS} items are compared with the baseline"
        return LearningStep(Phase.SHADOW, reason, let_go=SHADOW_ITEMS - figures.items)
    promotion = next_state("shadow", figures)
    differs = action_difference(known.version, known.runs[-SHADOW_ITEMS:])
    if promotion.to == "canary" and not differs:
        reason = f"{figures.items - figures.misses} of {figures.items} items were the same by the baseline"
        # The version of an earlier job stays active: the comparison shows that it still holds.
        return LearningStep(Phase.REPLAY, reason, state="canary" if _to_repair(known) is None else None)
    return _broken(known, differs or promotion.why)


def _broken(known: LoopLearning, why: str) -> LearningStep:
    if known.rounds + 1 >= _MOST_ROUNDS:
        reason = f"the loop has begun to learn {known.rounds + 1} times, and the last version broke: {why}"
        return LearningStep(Phase.OFF, reason, state="broken")
    return LearningStep(Phase.ITEMS, why, state="broken")


def _replayed(known: LoopLearning) -> LearningStep:
    assert known.version is not None
    figures, version = known.figures, known.version
    risen = not known.drift and figures.misses >= LEAST_MISSES and figures.misses > _RISE * figures.items
    if risen and not figures.wrong and _to_repair(known) is not None and known.rounds + 1 < _MOST_ROUNDS:
        return LearningStep(Phase.ITEMS, f"version {version.number} missed {figures.misses} of {figures.items} items")
    promotion = next_state(version.state, figures)
    if promotion.to == "broken":
        return _broken(known, promotion.why)
    # Another loop, or a person, may have moved the version on: this loop replays it no more either.
    if version.state == "broken":
        return _broken(known, _GIVEN_UP)
    if figures.wrong:
        return _broken(known, f"{figures.wrong} of its records were confirmed to be wrong")
    if known.drift:
        return _stopped(known)
    return LearningStep(Phase.REPLAY, promotion.why, state=promotion.to)


def _stopped(known: LoopLearning) -> LearningStep:
    """A version whose records are suspect as a whole: it replays no more until the baseline has read the same."""
    reason = f"stopped for drift: {known.drift}"
    if known.rounds + 1 >= _MOST_ROUNDS:
        return LearningStep(Phase.OFF, f"{reason}, and the loop has begun to learn {known.rounds + 1} times")
    return LearningStep(Phase.SHADOW, reason)


def action_difference(version: Version, runs: Sequence[SessionEvidence]) -> str:
    """Return how what the baseline did in `runs` differs from the actions of a version, in words;
    "" where it does not.

    Nothing is run: the actions that the runs teach are compared with those that the version holds.
    """
    if not version.acts:
        acting = sum(bool(run.actions) for run in runs)
        return f"the baseline acted on the pages of {acting} items" if acting else ""
    if len(runs) < 2:
        return f"{len(runs)} items can be compared, and 2 are needed"
    try:
        seen = compile_version([without_optional(run, version) for run in runs], version.record_schema)
    except WorkflowInvalid as error:
        return error.message
    if seen.version is None:
        return _words(seen.open)
    optional = {node.id for node in optional_nodes(version)}
    did, does = _steps(seen.version), _steps(version, without=optional)
    if did == does:
        return ""
    place = next((n for n, (a, b) in enumerate(zip(did, does, strict=False)) if a != b), min(len(did), len(does)))
    return f"step {place + 1} of the baseline is another one than that of the version"


def _steps(version: Version, without: Set[str] = frozenset()) -> list[tuple[Json, ...]]:
    """Return what the action nodes of a version do, without how their elements are found, and without some nodes."""
    sources = {param.name: (param.source, param.path, param.transform) for param in version.params}
    return [
        (
            node.action,
            node.submits,
            node.target.role if node.target is not None else "",
            *((name, arg.const, sources.get(arg.param or "", ()), arg.template) for name, arg in node.args.items()),
        )
        for node in version.nodes
        if isinstance(node, ActionNode) and node.id not in without
    ]


def _words(open_: Sequence[Decision]) -> str:
    return "; ".join(f"{decision.what}: {decision.why}" for decision in open_)
