"""The times of a schedule, in seconds since the epoch. Pure.

Cron expressions follow the wall clock of their zone, as Debian's cron does: a daily time that a change of clocks skips
comes right after it, and one that is there twice comes once; what repeats by the hour or minute goes on by real time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_FIELDS = 5
MOST_PASSED = 1_000
"""Times that are counted one by one where a schedule stood still; beyond that only the last of them is looked for."""
_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron expression and the zone whose wall clock it means."""

    expression: str
    zone: str

    def after(self, moment: float) -> Iterator[float]:
        """The times behind `moment`, the first of them first."""
        for time in CronSim(self.expression, datetime.fromtimestamp(moment, UTC).astimezone(ZoneInfo(self.zone))):
            yield time.timestamp()


@dataclass(frozen=True, slots=True)
class Interval:
    """A time each `every_s`, from `start` on, which is none of them."""

    every_s: float
    start: float

    def after(self, moment: float) -> Iterator[float]:
        """The times behind `moment`, the first of them first."""
        n = max(0, int((moment - self.start) // self.every_s)) + 1
        while True:
            yield self.start + n * self.every_s
            n += 1


Times = Cron | Interval


@dataclass(frozen=True, slots=True)
class Passed:
    """The times of a schedule from one on that have passed by a moment."""

    last: float
    before: float  # the last one that was counted before that; `last` where there is none
    missed: int  # times before the last one; at least so many where `counted` is false
    counted: bool
    next: float


def check_cron(cron: Cron) -> None:
    """Lets an expression pass that comes.

    Raises:
        ValueError: naming the part that cannot be read, or saying that it never comes.
    """
    if len(cron.expression.split()) != _FIELDS:
        raise ValueError(f"`cron` has {len(cron.expression.split())} parts; it needs {_FIELDS}, such as `0 7 * * *`")
    try:
        next(cron.after(0.0), None)
    except CronSimError as error:
        raise ValueError(f"`cron` cannot be read: {str(error)[:1].lower()}{str(error)[1:]}") from error
    if next(cron.after(datetime(2024, 1, 1, tzinfo=UTC).timestamp()), None) is None:
        raise ValueError("`cron` never comes")


def interval_s(text: str) -> float:
    """Seconds of an interval such as `90m`."""
    return float(int(text[:-1]) * _UNITS_S[text[-1]])


def next_times(times: Times, moment: float, n: int) -> list[float]:
    """The next `n` times behind `moment`."""
    return list(islice(times.after(moment), n))


def passed(times: Times, due_at: float, now: float) -> Passed:
    """Return what has come by `now` of the times from `due_at` on, which is one of them and is not behind `now`."""
    before, last, missed = due_at, due_at, 0
    for time in times.after(due_at):
        if time > now:
            return Passed(last, before, missed, counted=True, next=time)
        if missed == MOST_PASSED:
            break
        before, last, missed = last, time, missed + 1
    return Passed(_last_before(times, now) or last, last, missed, counted=False, next=next(iter(times.after(now))))


def _last_before(times: Times, now: float) -> float | None:
    """The last time up to `now`, looked for ever further back; None where that is years ago."""
    back_s = 2 * _DAY_S
    while back_s < 4_000 * _DAY_S:
        last = None
        for time in times.after(now - back_s):
            if time > now:
                break
            last = time
        if last is not None:
            return last
        back_s *= 4
    return None
