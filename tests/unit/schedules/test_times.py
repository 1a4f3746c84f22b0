"""When schedules come: by the wall clock of their zone, through changes of clocks, and after a standstill."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shoal.services.schedules.firing import IN_TIME_S, plan
from shoal.services.schedules.spec import ScheduleSpec
from shoal.services.schedules.times import MOST_PASSED, Cron, Interval, Times, next_times

BERLIN = "Europe/Berlin"
NEW_YORK = "America/New_York"


def moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def next_runs(cron: Cron, start: str, n: int) -> list[str]:
    zone = ZoneInfo(cron.zone)
    return [datetime.fromtimestamp(time, zone).isoformat() for time in next_times(cron, moment(start), n)]


def test_seven_in_the_morning_is_seven_before_and_after_a_change_of_clocks() -> None:
    assert next_runs(Cron("0 7 * * *", BERLIN), "2026-10-24T12:00:00+02:00", 2) == [
        "2026-10-25T07:00:00+01:00",
        "2026-10-26T07:00:00+01:00",
    ]
    assert next_runs(Cron("0 7 * * 1-5", NEW_YORK), "2026-03-06T12:00:00-05:00", 2) == [
        "2026-03-09T07:00:00-04:00",
        "2026-03-10T07:00:00-04:00",
    ]


def test_a_time_that_is_skipped_comes_right_after_the_change() -> None:
    assert next_runs(Cron("30 2 * * *", BERLIN), "2026-03-28T12:00:00+01:00", 2) == [
        "2026-03-29T03:00:00+02:00",
        "2026-03-30T02:30:00+02:00",
    ]


def test_a_time_that_is_there_twice_comes_once() -> None:
    assert next_runs(Cron("30 2 * * *", BERLIN), "2026-10-24T12:00:00+02:00", 2) == [
        "2026-10-25T02:30:00+02:00",
        "2026-10-26T02:30:00+01:00",
    ]


def test_each_half_hour_comes_in_both_of_two_like_hours() -> None:
    assert next_runs(Cron("*/30 * * * *", BERLIN), "2026-10-25T01:45:00+02:00", 5) == [
        "2026-10-25T02:00:00+02:00",
        "2026-10-25T02:30:00+02:00",
        "2026-10-25T02:00:00+01:00",
        "2026-10-25T02:30:00+01:00",
        "2026-10-25T03:00:00+01:00",
    ]


@given(
    expression=st.sampled_from(["30 2 * * *", "*/20 * * * *", "0 */3 * * *", "15 1,2,3 * * 0", "5 0 1 * *"]),
    zone=st.sampled_from([BERLIN, NEW_YORK, "UTC", "Australia/Lord_Howe", "Asia/Kathmandu"]),
    start=st.integers(
        min_value=int(moment("2026-01-01T00:00:00+00:00")), max_value=int(moment("2027-01-01T00:00+00:00"))
    ),
)
def test_times_go_on_from_any_of_them(expression: str, zone: str, start: int) -> None:
    """Gateways know the last time alone: from there the same times come as from the first."""
    cron = Cron(expression, zone)
    in_a_row = list(islice(cron.after(start), 12))
    one_by_one = [float(start)]
    for _ in in_a_row:
        one_by_one.append(next(cron.after(one_by_one[-1])))
    assert one_by_one[1:] == in_a_row
    assert in_a_row == sorted(set(in_a_row)) and in_a_row[0] > start


def test_an_interval_counts_from_its_start() -> None:
    interval = Interval(90.0, 1_000.0)
    assert next_times(interval, 1_000.0, 2) == [1_090.0, 1_180.0]
    assert next_times(interval, 1_089.9, 1) == [1_090.0]
    assert next_times(interval, 1_090.0, 1) == [1_180.0]
    assert next_times(interval, 10.0, 1) == [1_090.0]


NIGHTLY = Cron("0 3 * * *", "UTC")
THREE = moment("2026-11-28T03:00:00+00:00")
HOUR_S = 3600.0
DAY_S = 86_400.0


def test_a_time_runs_and_the_next_follows() -> None:
    done = plan(NIGHTLY, THREE, THREE + 1.5, "none")
    assert (done.run_at, done.missed, done.next_due) == (THREE, None, THREE + DAY_S)


@pytest.mark.parametrize("times", [NIGHTLY, Interval(DAY_S, THREE - DAY_S)])
def test_a_time_that_passed_long_ago_is_missed_or_caught_up(times: Times) -> None:
    late = plan(times, THREE, THREE + HOUR_S, "none")
    assert late.run_at is None and late.next_due == THREE + DAY_S
    assert late.missed is not None and (late.missed.first, late.missed.last, late.missed.times) == (THREE, THREE, 1)
    caught_up = plan(times, THREE, THREE + HOUR_S, "one")
    assert (caught_up.run_at, caught_up.missed) == (THREE, None)


def test_of_many_times_that_passed_one_is_made_up_for() -> None:
    now = THREE + 3 * DAY_S + HOUR_S
    done = plan(NIGHTLY, THREE, now, "one")
    assert (done.run_at, done.next_due) == (THREE + 3 * DAY_S, THREE + 4 * DAY_S)
    assert done.missed is not None
    assert (done.missed.first, done.missed.last, done.missed.times) == (THREE, THREE + 2 * DAY_S, 3)
    none = plan(NIGHTLY, THREE, now, "none")
    assert none.missed is not None and (none.run_at, none.missed.times) == (None, 4)


def test_the_last_time_runs_where_it_is_in_time_whatever_came_before() -> None:
    minutely = Interval(60.0, THREE)
    done = plan(minutely, THREE + 60, THREE + 60 + IN_TIME_S + 30, "none")
    assert done.missed is not None
    assert (done.run_at, done.missed.times, done.next_due) == (THREE + 360, 5, THREE + 420)


@pytest.mark.parametrize("times", [Interval(60.0, THREE), Cron("* * * * *", BERLIN)])
def test_a_standstill_of_a_year_is_told_as_many_times(times: Times) -> None:
    now = THREE + 365 * DAY_S
    done = plan(times, THREE, now, "none")
    assert done.missed is not None
    assert (done.run_at, done.missed.counted, done.missed.times) == (now, False, MOST_PASSED)
    assert done.next_due == now + 60


def spec(**fields: object) -> ScheduleSpec:
    return ScheduleSpec.model_validate(
        {"name": "prices", "job": {"url": "https://shop.example/", "goal": "read it"}} | fields
    )


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "needs either `cron` or `every`"),
        ({"cron": "0 7 * * *", "every": "1h"}, "needs either"),
        ({"cron": "0 7 * *"}, "has 4 parts; it needs 5"),
        ({"cron": "0 7 * * * *"}, "has 6 parts"),
        ({"cron": "61 7 * * *"}, "cannot be read: bad minute"),
        ({"cron": "0 0 30 2 *"}, "cannot be read: bad day-of-month"),
        ({"cron": "0 7 * * *", "time_zone": "Europe/Berlinn"}, "is no IANA time zone"),
        ({"cron": "0 7 * * *", "time_zone": "/etc/passwd"}, "is no IANA time zone"),
        ({"cron": "0 7 * * *", "time_zone": ""}, "is no IANA time zone"),
        ({"every": "30s"}, "must be at least 60s"),
        ({"every": "1w"}, "match pattern"),
        ({"every": "1h", "time_zone": BERLIN}, "`time_zone` goes with `cron`"),
        ({"every": "1h", "keep": 1}, "greater than or equal to 2"),
        (
            {"every": "1h", "job": {"url": "https://a.example/", "goal": "g", "idempotency_key": "k"}},
            "`job.idempotency_key` is given by the schedule",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        spec(**fields)


def test_the_bound_of_what_is_in_time_is_told_in_utc() -> None:
    assert datetime.fromtimestamp(THREE, UTC).isoformat() == "2026-11-28T03:00:00+00:00"
    assert spec(cron="0 7 * * 1-5", time_zone=BERLIN).overlap == "skip"
