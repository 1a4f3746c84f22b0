"""Figures with their doubt: intervals of success rates, comparisons of two runs, agreement of two judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import binomtest
from sklearn.metrics import accuracy_score, cohen_kappa_score

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Rate:
    """A success rate with its Wilson interval, which holds for few episodes and for rates near 0 and 1 too."""

    successes: int
    episodes: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """The share of successes."""
        return self.successes / self.episodes if self.episodes else 0.0

    def __str__(self) -> str:
        return f"{self.value:.1%} [{self.low:.1%}–{self.high:.1%}]"


def rate(successes: int, episodes: int) -> Rate:
    """The rate of `successes` among `episodes`; of none at all nothing is known."""
    if episodes == 0:
        return Rate(0, 0, 0.0, 1.0)
    interval = binomtest(successes, episodes).proportion_ci(CONFIDENCE, method="wilson")
    return Rate(successes, episodes, float(interval.low), float(interval.high))


@dataclass(frozen=True, slots=True)
class Change:
    """The same episodes in two runs."""

    both: int  # episodes that both runs have
    better: tuple[str, ...]  # failed before, succeed now
    worse: tuple[str, ...]
    p: float  # of so uneven a split if nothing had changed (exact McNemar test)


def change(before: dict[str, bool], now: dict[str, bool]) -> Change:
    """Return what changed from one run to the other, over the episodes that both have."""
    both = [name for name in now if name in before]
    better = tuple(name for name in both if now[name] and not before[name])
    worse = tuple(name for name in both if before[name] and not now[name])
    moved = len(better) + len(worse)
    p = float(binomtest(len(better), moved, 0.5).pvalue) if moved else 1.0
    return Change(len(both), better, worse, p)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of a judge with labels."""

    cases: int
    accuracy: float | None  # None without cases
    kappa: float | None  # Cohen's; None where it is not defined: no cases, or one answer only
    unsure: int  # cases that the judge called unsure; counted as "no", as WebVoyager does


def agreement(verdicts: Sequence[str], labels: Sequence[str]) -> Agreement:
    """Agreement of `verdicts` (yes, no, unsure) with `labels` (yes, no), case by case."""
    if not labels:
        return Agreement(0, None, None, 0)
    predictions = ["yes" if verdict == "yes" else "no" for verdict in verdicts]
    # With a single answer on both sides, chance alone agrees as well: kappa is 0/0.
    defined = len({*predictions, *labels}) > 1
    return Agreement(
        cases=len(labels),
        accuracy=float(accuracy_score(labels, predictions)),
        kappa=float(cohen_kappa_score(labels, predictions)) if defined else None,
        unsure=sum(verdict == "unsure" for verdict in verdicts),
    )
