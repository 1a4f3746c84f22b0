"""Commands of the operator, straight at the database: keys and migrations."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.services.cli import heavy
from shoal.services.cli.command_table import command_group
from shoal.services.cli.ending import BadUsage, Exit, tell
from shoal.services.cli.options import AsJson
from shoal.services.cli.running import finish, settings_of_process
from shoal.services.cli.tables import print_table
from shoal.services.cluster.address import make_data_folder
from shoal.services.web.http.api_keys import DEFAULT_TENANT, SCOPES, hash_key, make_key, tenant_fault
from shoal.services.web.http.roles import ROLES

if TYPE_CHECKING:
    from shoal.services.store.records import ApiKey
    from shoal.services.store.store import Store


_DAY_S = 86_400.0


def add_to(app: typer.Typer) -> None:
    """Adds these commands to `app`."""
    keys = command_group(no_args_is_help=True, help="API keys: create, list, revoke. Works on the database itself.")
    keys.command("create")(create)
    keys.command("list")(listing)
    keys.command("revoke")(revoke)
    app.add_typer(keys, name="keys")
    app.command()(migrate)


@asynccontextmanager
async def _store() -> AsyncIterator[Store]:
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
    role: Annotated[
        str | None, typer.Option(help=f"{', '.join(ROLES)}: a bundle of scopes, in place of --scope.")
    ] = None,
    days: Annotated[
        float | None, typer.Option(metavar="DAYS", help="It expires after so many days. Default: never.", min=0.001)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and print it: this is the only time that it is shown."""

    async def work() -> Exit:
        if role is not None and (scope or role not in ROLES):
            raise BadUsage(f"--role is one of {', '.join(ROLES)}, and does not go with --scope")
        scopes = list(dict.fromkeys(ROLES[role] if role is not None else scope or ROLES["operator"]))
        if unknown := [scope_name for scope_name in scopes if scope_name not in SCOPES]:
            raise BadUsage(f"there is no scope {unknown[0]!r}; there are {', '.join(SCOPES)}")
        key = make_key()
        lasts_s = None if days is None else days * _DAY_S
        async with _store() as store:
            # One that was called so before such names were refused may have further keys.
            if (reason := tenant_fault(tenant)) and tenant not in {row.tenant for row in await store.keys()}:
                raise BadUsage(reason)
            row = await store.create_key(name, tenant, scopes, hash_key(key), lasts_s)
        if as_json:
            print(json.dumps({**_key_json(row), "key": key}, ensure_ascii=False))
        else:
            print(key)
            until = f" until {_at(row.expires_at)} UTC" if row.expires_at else ""
            tell(f"key {row.id} ({name}) of tenant {tenant} may {', '.join(scopes)}{until}; it is not shown again")
        return Exit.DONE

    finish(work())


def listing(as_json: AsJson = False) -> None:
    """List keys, without the keys themselves."""

    async def work() -> Exit:
        async with _store() as store:
            rows = await store.keys()
        if as_json:
            for row in rows:
                print(json.dumps(_key_json(row), ensure_ascii=False))
            return Exit.DONE
        columns = ("id", "name", "tenant", "scopes", "created", "last used", "expires", "revoked")
        print_table(columns, map(_cells, rows))
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
            print(json.dumps(_key_json(row), ensure_ascii=False))
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


def _key_json(row: ApiKey) -> dict[str, object]:
    return {
        "id": row.id,
        "name": row.name,
        "tenant": row.tenant,
        "scopes": list(row.scopes),
        "created_at": row.created_at.isoformat(),
        "revoked_at": row.revoked_at.isoformat() if row.revoked_at else None,
        "expires_at": row.expires_at.isoformat() if row.expires_at else None,
        "used_at": row.used_at.isoformat() if row.used_at else None,
    }


def _at(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def _cells(row: ApiKey) -> tuple[str, ...]:
    times = (_at(moment) if moment else "" for moment in (row.used_at, row.expires_at, row.revoked_at))
    return (str(row.id), row.name, row.tenant, ", ".join(row.scopes), _at(row.created_at), *times)
