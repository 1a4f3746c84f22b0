"""The migrations make the database that the table definitions describe, on both databases."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, Engine, create_engine, inspect, text

from shoal.agent.spec import JobSpec
from shoal.agent.status import FINAL, Status
from shoal.services.errors import StoreOutdated
from shoal.services.store.database import codec
from shoal.services.store.database.indexes import metadata
from shoal.services.store.database.migrate import migrate
from shoal.services.store.database.upgrade import config_for
from tests.store_world import world


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/shoal.db"
    found: str = request.getfixturevalue("empty_postgres_url")
    return found


def engine(url: str) -> Engine:
    return create_engine(url.replace("postgresql://", "postgresql+psycopg://"))


def indexes(conn: Connection) -> set[str]:
    """Every index as the database itself writes it, predicates included: the comparison does not look at those."""
    if conn.dialect.name == "sqlite":
        rows = conn.execute(text("select sql from sqlite_master where type = 'index' and sql is not null"))
    else:
        rows = conn.execute(text("select indexdef from pg_indexes where schemaname = 'public'"))
    return {row[0].lower() for row in rows}


async def test_migrations_and_tables_agree(url: str) -> None:
    await migrate(url)
    made = engine(url)
    with made.connect() as conn:
        context = MigrationContext.configure(conn, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []
        by_migrations = indexes(conn)
        names = set(inspect(conn).get_table_names())
    with made.begin() as conn:
        for table in ("alembic_version", *reversed(metadata.tables)):
            conn.execute(text(f"drop table if exists {table} {'cascade' if conn.dialect.name != 'sqlite' else ''}"))
        metadata.create_all(conn)
        by_metadata = indexes(conn)
    made.dispose()
    assert names == {*metadata.tables, "alembic_version"}
    assert {index for index in by_migrations if "alembic_version" not in index} == by_metadata


async def test_the_first_revision_can_be_undone(url: str) -> None:
    await migrate(url)
    made = engine(url)
    with made.begin() as conn:
        command.downgrade(config_for(conn), "base")
        assert set(inspect(conn).get_table_names()) <= {"alembic_version"}
    made.dispose()
    await migrate(url)


JOBS = """
insert into job (id, tenant, spec, priority, root, status, created_at, finished_at, completed, failed, unsure) values
    (1, 'acme', '{}', 0, 1, 4, 0, 9, 5, 0, 0), (2, 'acme', '{}', 0, 2, 6, 0, 9, 2, 3, 1),
    (3, 'acme', '{}', 0, 3, 1, 0, null, 40, 2, 0), (4, 'other', '{}', 0, 4, 6, 0, 9, 0, 1, 0)"""
"""As a program writes them that does not know the totals: the third one goes on."""


async def test_a_job_that_is_in_no_totals_is_counted_all_the_same(url: str) -> None:
    await migrate(url)
    made = engine(url)
    with made.begin() as conn:
        conn.execute(text(JOBS))
    async with world(url) as w:
        assert {key: n for key, n in (await w.store.counts_by_status()).items() if key[1] in FINAL} == {
            ("acme", Status.COMPLETED): 47,
            ("acme", Status.FAILED): 5,
            ("acme", Status.UNSURE): 1,
            ("other", Status.FAILED): 1,
        }
    with made.connect() as conn:
        assert conn.execute(text("select count(*) from total")).scalar_one() == 0
        assert not conn.execute(text("select id from job where in_totals")).scalars().all()
    made.dispose()


@pytest.mark.parametrize("version", ["0001", "0016"])
async def test_a_schema_of_before_the_first_release_is_refused_with_what_to_do(url: str, version: str) -> None:
    await migrate(url)
    made = engine(url)
    with made.begin() as conn:
        conn.execute(text("update alembic_version set version_num = :version"), {"version": version})
    with pytest.raises(StoreOutdated, match=rf"{version}.*empty database.*upgrade\.md"):
        await migrate(url)
    with made.connect() as conn:
        assert conn.execute(text("select version_num from alembic_version")).scalar_one() == version
    made.dispose()


async def test_a_job_that_an_older_program_stored_was_handed_in_by_nobody_known(url: str) -> None:
    await migrate(url)
    made = engine(url)
    with made.begin() as conn:
        conn.execute(text(JOBS))
        spec = JobSpec(url="https://a.example/", goal="look")
        conn.execute(text("update job set spec = :spec where id = 3"), {"spec": codec.dump_spec(spec)})
    made.dispose()
    async with world(url) as w:
        assert (await w.store.job(3)).submitted_by is None
