"""A day of schedules on PostgreSQL."""

from __future__ import annotations

from tests.schedule_day import play


async def test_every_time_of_a_day_is_fired_once_whatever_dies(empty_postgres_url: str) -> None:
    await play(empty_postgres_url, seed=1, daily=24, hourly=6)
