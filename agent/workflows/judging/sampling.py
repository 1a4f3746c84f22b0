"""The sample of records that a model reads again, and what it proves of all records."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass

CONFIDENCE = 0.95
AT_FIRST = 0.02
"""Share of the items a version replays that its baseline reads again, at first."""
AT_FIRST_WEAK = 0.1
"""Likewise of a version with weak fields, or with fields that may be null."""
_HALVED_BY = 5
"""So many audits that agree halve the share. So the share is soon about 7.2 / (n + c).

n is the number of items that the version has replayed, and c a constant. Where a change makes all records wrong, the
next 0.52 (n + c) items have an audit with a probability of 95 %, whatever the share was at first."""
_ON_CREDIT = 10
"""So many audits that are under way count as if they had agreed, as long as all have. Items are claimed long before the
audits of earlier ones are over: a quick loop would audit hundreds by its first share."""
_LEAST = 0.01
"""However many agree: one audit is among any 300 items with a probability of 95 %. In a longer loop the share falls
with its length, as so many audits prove that at most 3 % are wrong:"""
_ENOUGH_AUDITS = 100
_LEAST_IN_LONG = 0.0025
"""Likewise: among any 1,200 items."""
_LEAST_AUDITS = 6
"""Of a short loop, while that is no more than this share:"""
_MOST_IN_SHORT = 0.2
_STEPS = 60  # of a bisection: more than a float can tell


@dataclass(frozen=True, slots=True)
class AuditBound:
    """The bound on wrong records that the audits of the uniform share prove."""

    audited: int
    wrong: int
    at_most: float  # share of wrong records, at 95 %
    unclear: int = 0  # the auditor's readings differ among themselves: taken as wrong, so that `at_most` holds

    def __str__(self) -> str:
        """The bound as a job's result says it."""
        if not self.audited:
            return "no record was audited: nothing is known of how many are wrong"
        records = "record" if self.audited == 1 else "records"
        most = _percent_up(self.at_most)
        unclear = f", {self.unclear} unclear" if self.unclear else ""
        counts = f"{self.wrong} of {self.audited} audited {records} wrong{unclear}"
        return f"{counts}: at most {most} % wrong at {CONFIDENCE:.0%}"


def _percent_up(share: float) -> str:
    """`share` in percent, rounded up, so that the sentence stays true."""
    percent = math.ceil(round(share * 1000, 9)) / 10
    return f"{percent:g}"


def audit_bound(audited: int, wrong: int, unclear: int = 0) -> AuditBound:
    """The largest share of wrong records with which so few wrong ones are still seen in 5 % of all cases.

    Exact (Clopper and Pearson), for audits that were drawn uniformly.

    Args:
        unclear: audits, beside the wrong ones, that prove nothing.
    """
    doubted = wrong + unclear
    if not 0 <= doubted <= audited:
        raise ValueError(f"{wrong} wrong and {unclear} unclear of {audited} audited")
    if not audited or doubted == audited:
        return AuditBound(audited, wrong, 1.0, unclear)
    low, high = doubted / audited, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _at_most(doubted, audited, middle) > 1 - CONFIDENCE:
            low = middle
        else:
            high = middle
    return AuditBound(audited, wrong, high, unclear)


def bound_of(figures: Mapping[str, int]) -> AuditBound:
    """The bound of a loop, by its counts of audits."""
    return audit_bound(*(figures.get(name, 0) for name in ("audits", "audits_wrong", "audits_unclear")))


def _at_most(wrong: int, audited: int, share: float) -> float:
    """Return how likely at most `wrong` of `audited` are wrong where `share` of all are.
    In logarithms: nothing overflows.
    """
    terms = (
        math.lgamma(audited + 1)
        - math.lgamma(k + 1)
        - math.lgamma(audited - k + 1)
        + k * math.log(share)
        + (audited - k) * math.log1p(-share)
        for k in range(wrong + 1)
    )
    return math.fsum(math.exp(term) for term in terms) if 0 < share < 1 else float(share == 0)


def is_audited(job: int, index: int, share: float) -> bool:
    """Return whether item `index` is of the uniform share that is audited. It does not depend on what its page says."""
    drawn = int.from_bytes(hashlib.sha256(f"audit/{job}/{index}".encode()).digest()[:8], "big")
    return drawn < share * 2**64


def uniform_share(items: int) -> float:
    """The least share of a loop's items that is audited, by the number of its items.

    It is the same for all items of a loop: what its audits prove of all records rests on that.
    """
    usual = max(_LEAST_IN_LONG, min(_LEAST, _ENOUGH_AUDITS / max(items, 1)))
    return max(usual, min(_MOST_IN_SHORT, _LEAST_AUDITS / max(items, 1)))


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """The audits of a loop's items from now on, by what the earlier ones have said of its version."""

    items: int  # of the loop
    agreed: int = 0  # audits of the version since it began, or since its last doubt
    weak: bool = False  # it has fields that are less sure than others
    doubted: bool = False  # the loop has learned anew, or its version was in doubt

    def share(self, index: int) -> float:
        """The share that is audited of the items around number `index`."""
        first = AT_FIRST_WEAK if self.weak else AT_FIRST
        counted = float(self.agreed)
        if not self.doubted:
            drawn = _HALVED_BY * math.log2(1 + index * first * math.log(2) / _HALVED_BY)  # expected before `index`
            counted = max(counted, min(drawn, counted + _ON_CREDIT))
        return max(uniform_share(self.items), first / 2 ** (counted / _HALVED_BY))

    def audits(self, job: int, index: int) -> bool:
        """Return whether item `index` is audited; all of the uniform share are."""
        return is_audited(job, index, self.share(index))
