"""Counts of a process that is not scraped: they travel as plain figures, and a scraped process adds them up.

A worker's delta comes to the dispatcher with its stats, the dispatcher's to the store with its snapshot; the gateway
shows the sum. Figures only grow, so what is lost with a process is a reset, which Prometheus knows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from shoal.agent.support.json_value import Json
from shoal.services.metrics import metric

Key = tuple[str, ...]  # the metric's name, then its labels' values

Figures = Mapping[str, Json]
"""`{"counts": [[name, *labels, value]], "spans": [[name, *labels, [buckets…, sum]]]}`, JSON-able."""


class MetricsDelta:
    """Counters and histograms of the catalogue. Not for several threads."""

    def __init__(self) -> None:
        self._counts: dict[Key, float] = {}
        self._spans: dict[Key, list[float]] = {}

    def add(self, name: str, *labels: str, n: float = 1) -> None:
        """Counts `n` more of a counter."""
        key = (name, *labels)
        if key not in self._counts:
            self._counts[key] = 0.0
            _check(key, "counter")
        self._counts[key] += n

    def observe(self, name: str, *labels: str, seconds: float) -> None:
        """Puts one duration into a histogram."""
        span = self._span((name, *labels))
        span[bisect_left(metric(name).buckets, seconds)] += 1
        span[-1] += seconds

    def begin(self, name: str, *labels: str) -> None:
        """Has a histogram's series be there before its first duration."""
        self._span((name, *labels))

    def _span(self, key: Key) -> list[float]:
        span = self._spans.get(key)
        if span is None:
            _check(key, "histogram")
            span = self._spans[key] = [0.0] * (len(metric(key[0]).buckets) + 2)
        return span

    def figures(self) -> Figures:
        """All there is, to be sent away."""
        return {
            "counts": [[*key, value] for key, value in self._counts.items()],
            "spans": [[*key, list(span)] for key, span in self._spans.items()],
        }

    def absorb(self, now: Figures, before: Figures | None = None) -> None:
        """Adds what another delta has counted between two of its figures (`before` None: since its beginning)."""
        old = _by_key(before.get("counts", ())) if before else {}
        for key, value in _by_key(now.get("counts", ())).items():
            self._counts[key] = self._counts.get(key, 0.0) + value - old.get(key, 0.0)
        old_spans = _by_key(before.get("spans", ())) if before else {}
        for key, span in _by_key(now.get("spans", ())).items():
            mine = self._spans.setdefault(key, [0.0] * len(span))
            base = old_spans.get(key, [0.0] * len(span))
            self._spans[key] = [a + b - c for a, b, c in zip(mine, span, base, strict=True)]

    @property
    def counts(self) -> Mapping[Key, float]:
        """Counters by name and labels."""
        return self._counts

    @property
    def spans(self) -> Mapping[Key, list[float]]:
        """Histograms by name and labels: what fell into each bucket (the last: above all of them), then the sum."""
        return self._spans


def _check(key: Key, kind: str) -> None:
    line = metric(key[0])
    if line.type != kind or len(line.labels) != len(key) - 1:
        raise ValueError(f"{key} does not fit the catalogue's {line.type} {line.name} with labels {line.labels}")


def _by_key(rows: Any) -> dict[Key, Any]:
    return {tuple(row[:-1]): row[-1] for row in rows}
