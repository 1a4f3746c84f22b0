"""A day of schedules on SQLite."""

from __future__ import annotations

from pathlib import Path

from tests.schedule_day import play


async def test_every_time_of_a_day_is_fired_once_whatever_dies(tmp_path: Path) -> None:
    await play(f"sqlite:///{tmp_path}/shoal.db", seed=1, daily=464, hourly=12)
