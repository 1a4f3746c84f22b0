"""The migrations make the database that the table definitions describe, on both databases."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, Engine, create_engine, inspect, text

from services.store.migrate import config_for, migrate
from services.store.tables import metadata


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/shoal.db"
    found: str = request.getfixturevalue("postgres_url")
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
