"""Opening a store: bad URLs, missing and foreign files, versions."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from shoal.services.errors import BadSetting, StoreAway, StoreOutdated
from shoal.services.store.database.migrate import HEAD, migrate
from shoal.services.store.database.upgrade import config_for, revisions
from shoal.services.store.store import open_store


@pytest.mark.parametrize("url", ["mysql://h/db", "nonsense", ""])
async def test_a_url_of_no_known_database_is_refused(url: str) -> None:
    with pytest.raises(BadSetting):
        await open_store(url)


async def test_a_missing_file_and_its_folder_are_made(tmp_path: Path) -> None:
    store = await open_store(f"sqlite:///{tmp_path}/new/shoal.db")
    assert await store.partitions() == []
    await store.close()
    again = await open_store(f"sqlite:///{tmp_path}/new/shoal.db", migrate=False)
    await again.close()


async def test_a_store_without_tables_is_outdated_until_it_is_migrated(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/shoal.db"
    with pytest.raises(StoreOutdated, match="shoal migrate"):
        await open_store(url, migrate=False)
    await migrate(url)
    await migrate(url)
    await (await open_store(url, migrate=False)).close()


async def test_a_schema_of_a_later_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "shoal.db"
    await migrate(f"sqlite:///{path}")
    with sqlite3.connect(path) as conn:
        conn.execute("update alembic_version set version_num = '9999'")
    conn.close()
    for with_migration in (True, False):
        with pytest.raises(StoreOutdated, match="9999"):
            await open_store(f"sqlite:///{path}", migrate=with_migration)


async def test_a_schema_of_before_the_first_release_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "shoal.db"
    await migrate(f"sqlite:///{path}")
    with sqlite3.connect(path) as conn:
        conn.execute("update alembic_version set version_num = '0012'")
    conn.close()
    for with_migration in (True, False):
        with pytest.raises(StoreOutdated, match=r"0012.*empty database.*operations/upgrade\.md"):
            await open_store(f"sqlite:///{path}", migrate=with_migration)


async def test_a_file_that_is_no_database_is_away(tmp_path: Path) -> None:
    path = tmp_path / "shoal.db"
    path.write_bytes(b"this is no database, however long one looks at it" * 100)
    with pytest.raises(StoreAway):
        await open_store(f"sqlite:///{path}")


async def test_a_failed_statement_does_not_tell_what_was_in_it(tmp_path: Path) -> None:
    path = tmp_path / "shoal.db"
    store = await open_store(f"sqlite:///{path}")
    with sqlite3.connect(path) as conn:
        conn.execute("drop table api_key")
    conn.close()
    with pytest.raises(Exception, match="api_key") as caught:
        await store.create_key("ci", "acme", [], "the-secret-hash")
    assert "the-secret-hash" not in str(caught.value)
    await store.close()


def test_the_program_needs_its_newest_revision() -> None:
    assert revisions(config_for())[0] == HEAD
