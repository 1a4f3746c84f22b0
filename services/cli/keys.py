"""Commands of the operator, straight at the database: keys and migrations."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli import heavy
from services.cli.ending import Exit, Usage, tell
from services.cli.options import AsJson
from services.cli.running import finish, settings_of_process
from services.cli.tables import print_table
from services.cluster.address import make_data_folder
from services.gateway.keys import DEFAULT_TENANT, SCOPES, hash_key, make_key

if TYPE_CHECKING:
    from services.store.records import ApiKey
    from services.store.sql import SqlStore


def add_to(app: typer.Typer) -> None:
    """Adds these commands to `app`."""
    keys = typer.Typer(no_args_is_help=True, help="API keys: create, list, revoke. Works on the database itself.")
    keys.command("create")(create)
    keys.command("list")(listing)
    keys.command("revoke")(revoke)
    app.add_typer(keys, name="keys")
    app.command()(migrate)


@asynccontextmanager
async def _store() -> AsyncIterator[SqlStore]:
    settings = settings_of_process()
    if settings.store_url.startswith("sqlite"):
        make_data_folder(settings.data_dir)
    store = await heavy.open_store(settings.store_url, migrate=settings.store_url.startswith("sqlite"))
    try:
        yield store
    finally:
        await store.close()


def create(
    name: Annotated[str, typer.Argument(help="What the key is for, so that it can be told from others.")],
    tenant: Annotated[str, typer.Option(help="Whose jobs it may see and make.")] = DEFAULT_TENANT,
    scope: Annotated[
        list[str] | None, typer.Option(help=f"{', '.join(SCOPES)}; may be given often. Default: all but admin.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and print it: this is the only time that it is shown."""

    async def work() -> Exit:
        scopes = list(dict.fromkeys(scope or ["read", "submit", "control"]))
        if unknown := [one for one in scopes if one not in SCOPES]:
            raise Usage(f"there is no scope {unknown[0]!r}; there are {', '.join(SCOPES)}")
        key = make_key()
        async with _store() as store:
            row = await store.create_key(name, tenant, scopes, hash_key(key))
        if as_json:
            print(json.dumps({**_shown(row), "key": key}, ensure_ascii=False))
        else:
            print(key)
            tell(f"key {row.id} ({name}) of tenant {tenant} may {', '.join(scopes)}; it is not shown again")
        return Exit.DONE

    finish(work())


def listing(as_json: AsJson = False) -> None:
    """List keys, without the keys themselves."""

    async def work() -> Exit:
        async with _store() as store:
            rows = await store.keys()
        if as_json:
            for row in rows:
                print(json.dumps(_shown(row), ensure_ascii=False))
            return Exit.DONE
        print_table(("id", "name", "tenant", "scopes", "created", "revoked"), map(_cells, rows))
        return Exit.DONE

    finish(work())


def revoke(
    key: Annotated[int, typer.Argument(metavar="ID", help="Id of the key, from `shoal keys list`.")],
    as_json: AsJson = False,
) -> None:
    """Make a key useless."""

    async def work() -> Exit:
        async with _store() as store:
            row = await store.revoke_key(key)
        if as_json:
            print(json.dumps(_shown(row), ensure_ascii=False))
        else:
            tell(f"key {row.id} ({row.name}) is revoked; gateways that have just used it forget it within 5 s")
        return Exit.DONE

    finish(work())


def migrate(as_json: AsJson = False) -> None:
    """Bring the database's schema up to date."""

    async def work() -> Exit:
        settings = settings_of_process()
        await heavy.migrate(settings.store_url)
        if as_json:
            print(json.dumps({"migrated": True}))
        else:
            tell("the database is up to date")
        return Exit.DONE

    finish(work())


def _shown(row: ApiKey) -> dict[str, object]:
    return {
        "id": row.id,
        "name": row.name,
        "tenant": row.tenant,
        "scopes": list(row.scopes),
        "created_at": row.created_at.isoformat(),
        "revoked_at": row.revoked_at.isoformat() if row.revoked_at else None,
    }


def _at(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def _cells(row: ApiKey) -> tuple[str, ...]:
    revoked = _at(row.revoked_at) if row.revoked_at else ""
    return (str(row.id), row.name, row.tenant, ", ".join(row.scopes), _at(row.created_at), revoked)
