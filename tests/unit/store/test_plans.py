"""Queries that are asked every second do not grow with what is over."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Connection, Row, create_engine, insert, text
from sqlalchemy.dialects import sqlite

from shoal.agent.status import FINAL, Status
from shoal.services.store.database import queries
from shoal.services.store.database.indexes import metadata
from shoal.services.store.database.tables import domain, job, session, total
from shoal.services.store.read.reading import matching
from shoal.services.store.records import JobFilter

OPEN = tuple(status for status in Status if status not in FINAL)


def test_open_jobs_are_read_from_an_index_that_holds_no_others() -> None:
    query = matching(JobFilter(statuses=OPEN, limit=500))
    asked = str(query.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True}))
    engine = create_engine("sqlite://")
    metadata.create_all(engine)
    with engine.connect() as conn:
        plan = "\n".join(row.detail for row in conn.execute(text(f"explain query plan {asked}")))
    engine.dispose()
    assert "USING INDEX job_open" in plan, plan
    assert "TEMP B-TREE" not in plan, plan


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("canceling", "job_canceling"),
        ("stopping", "session_stopping"),
        ("reseating", "session_reseating"),
        ("retrying", "job_retrying"),
        ("retriable", "session_retriable (job=? AND id<?)"),
        ("retriable_in", "session_retriable (job=? AND id>? AND id<?)"),
        ("resume_emptied", "session_emptied (job=? AND id>?)"),
        ("begun_in", "session_leased (job=?)"),
        ("begun_in", "session_waiting (job=?)"),
        ("begun_in", "session_delayed"),
        ("next_pending", "session_stopping"),
        ("ready_of", "session_ready (job=?)"),
        ("ready_in", "session_ready (job=? AND domain=? AND id>? AND id<?)"),
        ("held_of", "session_held (parent=?)"),
        ("held_in", "session_held (parent=?)"),
        ("running_of", "session_leased (job=?)"),
        ("waiting_of", "session_waiting (job=?)"),
        ("listed_page", "session_listed (job=? AND state=? AND path>?)"),
        ("running_page", "session_leased (job=?)"),
        ("partitions_of_jobs", "session_ready (job=?)"),
        ("partitions_of_jobs", "session_ready (job=? AND domain>?)"),
        ("delayed_of", "session_delayed"),
        ("delayed_in", "session_delayed"),
        ("claim_deliveries", "delivery_waits (tenant=? AND due_at<?)"),
        ("claim_deliveries", "delivery_waits (tenant>?)"),
        ("site_limits", "pace_limited"),
    ],
)
def test_sessions_in_few_states_are_found_by_an_index_that_holds_little_else(query: str, index: str) -> None:
    asked = queries.load("sqlite")[query]
    engine = create_engine("sqlite://")
    metadata.create_all(engine)
    with engine.connect() as conn:
        given = {name: 1 for name in re.findall(r":(\w+)", asked)}
        plan = [row.detail for row in conn.exec_driver_sql(f"explain query plan {asked}", given)]
    engine.dispose()
    assert any(f"INDEX {index}" in step for step in plan), plan
    assert not any("session_path" in step or step.startswith("SCAN session USING INDEX session_w") for step in plan)


def test_events_and_sessions_that_are_asked_for_by_number_are_found_by_it() -> None:
    engine = create_engine("sqlite://")
    metadata.create_all(engine)
    with engine.connect() as conn:
        for query, step in (
            ("events_after", "SEARCH event USING INTEGER PRIMARY KEY (rowid>?)"),
            ("last_event", "SEARCH event"),
            ("partitions_at", "SEARCH s USING INTEGER PRIMARY KEY (rowid=?)"),
        ):
            asked = queries.load("sqlite")[query]
            given = {name: 1 for name in re.findall(r":(\w+)", asked)}
            plan = [row.detail for row in conn.exec_driver_sql(f"explain query plan {asked}", given)]
            assert step in plan, plan
    engine.dispose()


def test_what_has_ended_is_told_without_a_look_at_the_jobs_that_have() -> None:
    assert steps_of_totals(ended=2_000) == steps_of_totals(ended=20)


def steps_of_totals(ended: int) -> int:
    """Tens of steps of SQLite's machine that telling what has ended takes, beside 20 jobs that go on."""
    engine = create_engine("sqlite://")
    metadata.create_all(engine)
    with engine.connect() as conn:
        jobs = [{"id": n, "tenant": f"t{n % 5}", "spec": "", "root": 0, "priority": 0} for n in range(1, ended + 21)]
        conn.execute(insert(job).values(created_at=0.0, status=1, completed=1), jobs[:20])
        over = {"status": 4, "finished_at": 1.0, "in_totals": True}
        conn.execute(insert(job).values(created_at=0.0, completed=1, **over), jobs[20:])
        conn.execute(insert(total).values(completed=ended // 5), [{"tenant": f"t{n}"} for n in range(5)])
        found, steps = stepped(conn, "final_by_tenant", every=10)
    engine.dispose()
    assert {row.tenant: row.completed for row in found} == {f"t{n}": 4 + ended // 5 for n in range(5)}
    return steps


def stepped(conn: Connection, query: str, *, every: int, **given: float) -> tuple[Sequence[Row[Any]], int]:
    """The rows of a query, and how many times so many steps of SQLite's machine they take."""
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    driver = conn.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    driver.set_progress_handler(step, every)
    found = conn.exec_driver_sql(queries.load("sqlite")[query], given).all()
    driver.set_progress_handler(None, 0)
    return found, steps


def test_reading_all_partitions_costs_the_same_however_long_they_are() -> None:
    assert steps_of_partitions(items=200) < 2 * steps_of_partitions(items=2)


def steps_of_partitions(items: int) -> int:
    """Hundreds of steps of SQLite's machine to read the partitions of 5 jobs on 20 sites, so many items each."""
    engine = create_engine("sqlite://")
    metadata.create_all(engine)
    with engine.connect() as conn:
        conn.execute(insert(domain), [{"id": n, "host": f"h{n}"} for n in range(1, 21)])
        jobs = [{"id": n, "tenant": "t", "spec": "", "root": 0, "priority": 0, "status": 1} for n in range(1, 6)]
        conn.execute(insert(job).values(created_at=0.0), jobs)
        partitions = [(one["id"], n) for one in jobs for n in range(1, 21)]
        rows = [{"id": i, "job": j, "domain": n, "path": f"{i}"} for i, (j, n) in enumerate(partitions * items, 1)]
        conn.execute(insert(session).values(depth=1, idx=0, state=0), rows)
        found, steps = stepped(conn, "partitions", every=100, now=0.0)
    engine.dispose()
    assert {(row.job, row.domain): row.id for row in found} == {
        partition: i for i, partition in enumerate(partitions, 1)
    }
    return steps


def test_a_claim_steps_over_nothing_of_a_job_that_is_being_ended() -> None:
    asked = queries.load("sqlite")["partition_head"]
    engine = create_engine("sqlite://")
    metadata.create_all(engine)
    with engine.connect() as conn:
        given = {"job": 1, "domain": 1, "after": 0, "n": 1, "now": 0.0}
        plan = [row.detail for row in conn.exec_driver_sql(f"explain query plan {asked}", given)]
    engine.dispose()
    assert plan[0].startswith("SEARCH j ") and len(plan) == 2, plan  # and nothing is sorted


@pytest.mark.parametrize("query", ["loops_completed", "loop_samples", "loop_failures", "keep_checkpoints"])
def test_sessions_of_many_loops_or_leases_are_looked_up_by_their_ids(query: str) -> None:
    engine = create_engine("sqlite://")
    metadata.create_all(engine)
    asked = queries.load("sqlite")[query]
    with engine.connect() as conn:
        given = {name: "[]" for name in re.findall(r"(?<!\w):(\w+)", asked)} | {"n": 5}
        plan = [row.detail for row in conn.exec_driver_sql(f"explain query plan {asked}", given)]
    engine.dispose()
    assert any("USING INTEGER PRIMARY KEY (rowid" in step for step in plan), plan
    assert not any(step.startswith(("SCAN s", "SCAN c")) for step in plan), plan
