"""Gives a Python process a wrong time of day: `WRONG_CLOCK_AHEAD_S` seconds ahead, or behind where negative.

Python loads this by itself where this folder is in PYTHONPATH. The monotonic clocks are left alone, as they are on a
machine whose time of day is wrong; and so are Ray's own C++ and Chromium, which libfaketime would shift too (0.9.10
makes Python 3.11's `time.sleep` fail with a clock that is behind). gRPC's Python tells its C++ the moment when a call
has to end, and the two must agree: gRPC and Ray are told the right time.
"""

from __future__ import annotations

import datetime
import os
import sys
import time
from typing import Any

_AHEAD_S = float(os.environ.get("WRONG_CLOCK_AHEAD_S", "0"))
_true_time, _true_time_ns = time.time, time.time_ns
_true_datetime = datetime.datetime
_true_localtime, _true_gmtime = time.localtime, time.gmtime


def _ahead_s() -> float:
    """Return how wrong the clock is for who called our caller."""
    package = str(sys._getframe(2).f_globals.get("__name__", "")).partition(".")[0]
    return 0.0 if package in ("grpc", "ray") else _AHEAD_S


def _time() -> float:
    return _true_time() + _ahead_s()


def _time_ns() -> int:
    return _true_time_ns() + round(_ahead_s() * 1e9)


class _Like(type):
    """A metaclass: an instance of the true class counts as one of this class, and the other way round."""

    def __instancecheck__(cls, one: object) -> bool:
        return isinstance(one, cls.__mro__[1])

    def __subclasscheck__(cls, one: type) -> bool:
        return issubclass(one, cls.__mro__[1])


class _Datetime(_true_datetime, metaclass=_Like):
    """Makes true datetimes, so that code that looks at their type sees what it knows."""

    __slots__ = ()  # of the size that modules in C expect

    def __new__(cls, *words: Any, **named: Any) -> Any:
        return _true_datetime(*words, **named)

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return _true_datetime.fromtimestamp(_true_time() + _AHEAD_S, tz)

    @classmethod
    def utcnow(cls) -> Any:
        return _true_datetime.fromtimestamp(_true_time() + _AHEAD_S, datetime.UTC).replace(tzinfo=None)

    @classmethod
    def today(cls) -> Any:
        return _true_datetime.fromtimestamp(_true_time() + _AHEAD_S)


for _maker in ("fromtimestamp", "fromisoformat", "fromordinal", "strptime", "combine", "utcfromtimestamp"):
    setattr(_Datetime, _maker, getattr(_true_datetime, _maker))

if _AHEAD_S:
    time.time, time.time_ns = _time, _time_ns
    time.localtime = lambda seconds=None: _true_localtime(_true_time() + _AHEAD_S if seconds is None else seconds)  # type: ignore[misc]
    time.gmtime = lambda seconds=None: _true_gmtime(_true_time() + _AHEAD_S if seconds is None else seconds)  # type: ignore[misc]
    datetime.datetime = _Datetime  # type: ignore[misc]
