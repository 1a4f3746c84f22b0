"""Loops with real browsers while single parts get nothing from one another, which the rest reaches as before."""

from __future__ import annotations

import pytest

from tests.chaos.test_chaos import storm

pytestmark = pytest.mark.timeout(600)

APART = {"gateway-database", "dispatcher-database", "gateway-s3", "workers-s3", "supervisor-ray", "frozen head"}


def test_parts_that_are_cut_off_from_each_other_lose_nothing_and_double_nothing() -> None:
    storm(APART, every_s=14)
