"""Queries that are asked every second do not grow with what is over."""

from __future__ import annotations

from sqlalchemy import create_engine, text
from sqlalchemy.dialects import sqlite

from agent.status import FINAL, Status
from services.store.reading import matching
from services.store.records import JobFilter
from services.store.tables import metadata

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
