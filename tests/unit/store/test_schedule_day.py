"""A day of schedules on SQLite."""

from __future__ import annotations

import os
from pathlib import Path

from tests.schedule_day import play

DAILY, HOURLY = (464, 12) if os.environ.get("TEST_LARGE") else (24, 6)
"""`make test-fuzz` plays 500 schedules; 42 have each zone, hour and overlap, too."""


async def test_every_time_of_a_day_is_fired_once_whatever_dies(tmp_path: Path) -> None:
    await play(f"sqlite:///{tmp_path}/shoal.db", seed=1, daily=DAILY, hourly=HOURLY)
