"""The tables of schedules, beside those of `tables`."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, Integer, Table, Text

from shoal.services.store.database.tables import Bytewise, Id, metadata

schedule = Table(
    "schedule",
    metadata,
    Column("id", Id, primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("name", Bytewise, nullable=False),
    Column("spec", Text, nullable=False),  # JSON of a `ScheduleSpec`
    Column("start", Double, nullable=False),  # from which its interval counts
    Column("due_at", Double),  # of the next firing; null: it is paused
    Column("created_by", Text),  # name of the key or person
    Column("created_at", Double, nullable=False),
    Column("changed_at", Double, nullable=False),
    Column("history_from", Double, nullable=False),  # earlier runs are not what later ones are held against
    # Runs are submitted under a schedule's number: it must never come again.
    sqlite_autoincrement=True,
)

schedule_run = Table(
    "schedule_run",
    metadata,
    # What became of a schedule's times: each stands in one row.
    Column("schedule", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Double, primary_key=True, autoincrement=False),  # the time, or the first of those that passed
    Column("until", Double, nullable=False),  # the last of them
    Column("times", Integer, nullable=False),  # how many they are
    Column("state", Text, nullable=False),  # a RunState
    Column("why", Text, nullable=False),
    Column("fired_at", Double, nullable=False),
    Column("job", BigInteger),
    Column("pending", Text),  # a Pending; null: nothing is to be done about it any more
    Column("figures", Text),  # JSON of what the run gave
    Column("verdict", Text),  # JSON of why it is degraded, and the pictures of that
)
