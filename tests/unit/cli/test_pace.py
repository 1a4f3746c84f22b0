"""Rate and time left, from counts alone."""

from __future__ import annotations

import pytest

from shoal.records import Counts
from shoal.services.cli.pace import Throughput, duration, sentence


def counts(expected: int, completed: int, failed: int = 0, running: int = 0, unsure: int = 0) -> Counts:
    ends = {"completed": completed, "terminated": 0, "failed": failed, "unsure": unsure, "canceled": 0}
    return Counts.model_validate({"expected": expected, "running": running, **ends})


def test_the_rate_is_that_of_the_last_half_minute() -> None:
    pace = Throughput()
    assert pace.note(counts(1000, 0), 0.0).rate == 0
    assert pace.note(counts(1000, 5), 0.5).rate == 0, "too early to tell"
    assert pace.note(counts(1000, 10), 10.0).rate == 1.0
    for second in range(11, 61):
        standing = pace.note(counts(1000, 10 + (second - 10) * 4), float(second))
    assert standing.rate == pytest.approx(4.0)
    assert standing.left_s == pytest.approx((1000 - 210) / 4)


def test_items_that_are_queued_again_start_the_count_anew() -> None:
    pace = Throughput()
    pace.note(counts(10, 2, failed=8), 0.0)
    standing = pace.note(counts(10, 2), 5.0)
    assert (standing.rate, standing.final) == (0.0, 2)


def test_a_job_is_told_in_one_sentence() -> None:
    pace = Throughput()
    assert sentence(pace.note(counts(2000, 0, running=4), 0.0)) == "0 of 2,000 items: 0 done, 0 failed, 4 running"
    assert (
        sentence(pace.note(counts(2000, 90, failed=10, running=4), 10.0))
        == "100 of 2,000 items: 90 done, 10 failed, 4 running, 10.0/s, 3 min 10 s left"
    )
    assert sentence(pace.note(counts(2000, 1990, failed=10), 20.0)).endswith("100.0/s")


def test_unsure_items_are_told_apart_from_failed_ones() -> None:
    standing = Throughput().note(counts(10, 2, failed=1, unsure=3), 0.0)
    assert (standing.failed, standing.unsure, standing.final) == (1, 3, 6)
    assert sentence(standing) == "6 of 10 items: 2 done, 1 failed, 3 unsure"


@pytest.mark.parametrize(
    ("seconds", "text"), [(-1, "0 s"), (59.4, "59 s"), (60, "1 min 00 s"), (3599, "59 min 59 s"), (7300, "2 h 01 min")]
)
def test_spans_are_told_in_units_that_matter(seconds: float, text: str) -> None:
    assert duration(seconds) == text
