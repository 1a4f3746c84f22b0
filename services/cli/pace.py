"""The pace of a job, and the time that it may still take. Figures in, figures out."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from shoal.records import Counts

WINDOW_S = 30.0
"""The rate is that of the last half minute: earlier figures tell of a loop that was still being collected."""
FEWEST_S = 1.0


@dataclass(frozen=True, slots=True)
class JobProgress:
    """A job at one moment."""

    expected: int
    done: int  # completed
    failed: int  # ended in any other way, unsure ones aside
    unsure: int  # may have done what must not be done twice; a person says what became of them
    running: int
    rate: float  # items per second that became final; 0 while unknown
    left_s: float | None  # until the last item is final; None while unknown

    @property
    def final(self) -> int:
        """Items that are over."""
        return self.done + self.failed + self.unsure


class Throughput:
    """Follows the counts of one job."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def note(self, counts: Counts, at_s: float) -> JobProgress:
        """Takes in the counts of one moment (seconds of any steady clock)."""
        final, done, expected = counts.final, counts.completed, counts.expected
        if self._seen and final < self._seen[-1][1]:
            self._seen.clear()  # items were queued again
        self._seen.append((at_s, final))
        while len(self._seen) > 2 and at_s - self._seen[0][0] > WINDOW_S:
            self._seen.popleft()
        began_s, had = self._seen[0]
        span_s = at_s - began_s
        rate = (final - had) / span_s if span_s >= FEWEST_S else 0.0
        left_s = (expected - final) / rate if rate > 0 and expected > 1 else None
        failed = final - done - counts.unsure
        return JobProgress(expected, done, failed, counts.unsure, counts.running, rate, left_s)


def sentence(standing: JobProgress) -> str:
    """One line about a job, for people and log files."""
    text = f"{standing.final:,} of {standing.expected:,} items: {standing.done:,} done, {standing.failed:,} failed"
    if standing.unsure:
        text += f", {standing.unsure:,} unsure"
    if standing.running:
        text += f", {standing.running:,} running"
    if standing.rate > 0:
        text += f", {standing.rate:,.1f}/s"
    if standing.left_s is not None and standing.final < standing.expected:
        text += f", {duration(standing.left_s)} left"
    return text


def duration(seconds: float) -> str:
    """A time span in the one or two units that matter."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
