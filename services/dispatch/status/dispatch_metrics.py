"""A dispatcher's counts for the metrics: ends of attempts by kind, and their cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain, islice
from typing import get_args

from shoal.agent import errors
from shoal.agent.actions import PRIMITIVES
from shoal.agent.documents.outcome import DocumentOutcome
from shoal.agent.error_info import ErrorInfo
from shoal.agent.status import FINAL, Status
from shoal.agent.types import Outcome, Replay
from shoal.agent.workflows.divergences import DivergenceReason
from shoal.agent.workflows.format.branch import ChannelFamily
from shoal.agent.workflows.format.target import Family
from shoal.agent.workflows.judging.phase import Phase
from shoal.services.browsers.pools.pool import WorkerStats
from shoal.services.metrics_delta import Figures, MetricsDelta
from shoal.services.store.learning.records import REPAIR_IS_OVER, Repair, RepairOutcome

_FAMILIES: tuple[tuple[type[errors.AgentError], str], ...] = (
    (errors.BrowserError, "browser"),
    (errors.NavigationError, "site"),
    (errors.ActionError, "action"),
    (errors.NothingWorks, "action"),
    (errors.ModelError, "model"),
    (errors.ReplyUnparsable, "model"),
    (errors.GoalNeedsModel, "model"),
    (errors.PolicyUnavailable, "model"),
    (errors.FieldsMissing, "data"),
    (errors.RecordInvalid, "data"),
    (errors.PlaceAmbiguous, "data"),
    (errors.BadSelector, "data"),
    (errors.EmptyLoop, "data"),
    (errors.LoopFailed, "loop"),
    (errors.StepLimit, "limit"),
    (errors.BudgetSpent, "limit"),
    (errors.DeadlinePassed, "limit"),
    (errors.UnsureAction, "unsure"),
    (errors.SecretRefused, "secret"),
    (errors.LoginFailed, "site"),
    (errors.LoginLost, "site"),
    (errors.ArtifactsAway, "artifacts"),
    (errors.NoRoom, "machine"),
    (errors.Unexpected, "bug"),
)
"""Failure classes, few and for operators: who has to look. Errors that are none of these are `other`."""


def _families() -> dict[str, str]:
    families: dict[str, str] = {}
    for base, family in _FAMILIES:
        todo = [base]
        while todo:
            cls = todo.pop()
            families.setdefault(cls.__name__, family)
            todo += cls.__subclasses__()
    return families


_FAMILY_OF = _families()


def failure_of(error: ErrorInfo | None) -> str:
    """The failure class of an error; `none` without one."""
    return "none" if error is None else _FAMILY_OF.get(error.cls, "other")


class DispatchMetrics:
    """One dispatcher's figures, its workers' included."""

    def __init__(self) -> None:
        self.delta = MetricsDelta()
        # A series that begins at its first event hides that event from `increase`.
        for family in {*_FAMILY_OF.values(), "other"}:
            self.delta.add("shoal_attempts", str(Status.FAILED), family, n=0)
        for kind in ("prompt", "cached", "completion"):
            self.delta.add("shoal_tokens", kind, n=0)
        for outcome in DocumentOutcome:
            self.delta.add("shoal_documents", outcome.value, n=0)
        for action in PRIMITIVES:
            for end in ("ok", "failed"):
                self.delta.add("shoal_actions", action.name, end, n=0)
        for outcome_of_replay in ("whole", "missed", "shadow"):
            self.delta.add("shoal_replays", outcome_of_replay, n=0)
        for reason in DivergenceReason:
            self.delta.add("shoal_replay_misses", reason.value, n=0)
        for result in ("right", "wrong", "unclear", "not_done"):
            self.delta.add("shoal_audits", result, n=0)
        for family in get_args(ChannelFamily):
            self.delta.add("shoal_replay_hits", "field", family, n=0)
        for locator in get_args(Family):
            self.delta.add("shoal_replay_hits", "element", locator, n=0)
        for outcome_of_repair in get_args(RepairOutcome):
            self.delta.add("shoal_repairs", outcome_of_repair, n=0)
        for end_of_repair in REPAIR_IS_OVER:
            self.delta.begin("shoal_repair_seconds", end_of_repair)
        for phase in Phase:
            self.delta.add("shoal_learning_decisions", phase.value, n=0)
        for tier in ("http", "page", "session"):
            self.delta.add("shoal_records_read", tier, n=0)
        self._before: dict[str, Figures] = {}  # what each worker had counted at the last look

    def ended(self, outcome: Outcome) -> None:
        """An attempt's outcome was written."""
        delta, usage = self.delta, outcome.usage
        delta.add("shoal_attempts", str(outcome.status), failure_of(outcome.error))
        delta.observe("shoal_session_seconds", seconds=outcome.seconds)
        delta.add("shoal_slot_seconds", n=outcome.seconds)
        delta.add("shoal_pages", n=usage.pages)
        if outcome.status is Status.COMPLETED:
            delta.add("shoal_records", n=len(outcome.records))
            for tier, n in Counter(record.tier for record in outcome.records if record.tier).items():
                delta.add("shoal_records_read", tier, n=n)
        if outcome.replay is not None and outcome.status in FINAL:
            self._replayed(outcome.replay)
        if usage.model_calls:
            delta.add("shoal_model_calls", n=usage.model_calls)
            delta.add("shoal_tokens", "prompt", n=usage.prompt_tokens)
            delta.add("shoal_tokens", "cached", n=usage.cached_tokens)
            delta.add("shoal_tokens", "completion", n=usage.completion_tokens)
        for step in islice(chain.from_iterable(task.steps for task in outcome.tasks), outcome.steps_before, None):
            delta.observe("shoal_step_seconds", seconds=step.seconds)
            for result in step.results:
                delta.observe("shoal_action_seconds", seconds=result.seconds)
                delta.add("shoal_actions", result.action.name, "ok" if result.error is None else "failed")

    def learned(self, phase: Phase, repair: Repair | None) -> None:
        """It was decided how a loop that learns goes on."""
        self.delta.add("shoal_learning_decisions", phase.value)
        if repair is None:
            return
        self.delta.add("shoal_repairs", repair.outcome)
        if repair.outcome in REPAIR_IS_OVER:
            self.delta.add("shoal_repair_calls", n=repair.calls)
            self.delta.observe("shoal_repair_seconds", repair.outcome, seconds=repair.seconds)

    def _replayed(self, replay: Replay) -> None:
        """An item with a workflow has ended."""
        if replay.shadow:
            self.delta.add("shoal_replays", "shadow")
            return
        self.delta.add("shoal_replays", "whole" if replay.whole else "missed")
        for reason in dict.fromkeys(replay.misses):
            self.delta.add("shoal_replay_misses", reason)
        if replay.audit:
            self.delta.add("shoal_audits", replay.audit)

    def workers(self, stats: Iterable[WorkerStats]) -> None:
        """Takes in what the workers have counted since the last look."""
        seen = {stat.name: stat.figures for stat in stats}
        for name, figures in seen.items():
            self.delta.absorb(figures, self._before.get(name))
        self._before.update(seen)

    def forget(self, worker: str) -> None:
        """A worker is gone; what it had counted stays counted."""
        self._before.pop(worker, None)
