"""Commands about stored secrets: their names and sites, setting, replacing and removing them."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from shoal.services.cli.command_table import command_group
from shoal.services.cli.connection import client_of
from shoal.services.cli.ending import BadUsage, Exit, tell
from shoal.services.cli.options import AsJson, Gateway
from shoal.services.cli.running import finish
from shoal.services.cli.tables import print_rows

Name = Annotated[str, typer.Argument(metavar="NAME", help="Jobs write `secret:NAME`.")]
Tenant = Annotated[str, typer.Option(help="Whose secret it is; default: the key's own tenant.")]


def add_to(app: typer.Typer) -> None:
    """Adds these commands to `app`."""
    secrets = command_group(
        no_args_is_help=True, help="Stored secrets of jobs: list, set, remove. Values are not shown."
    )
    secrets.command("list")(listing)
    secrets.command("set")(put)
    secrets.command("remove")(remove)
    app.add_typer(secrets, name="secrets")


def listing(gateway: Gateway = "", as_json: AsJson = False) -> None:
    """List stored secrets with the sites where each may be filled in."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            page = await client.secrets()
        print_rows(
            page["secrets"],
            ("secret", "tenant", "sites", "changed", "what is wrong"),
            lambda row: [
                *(row["name"], row["tenant"], " ".join(row["domains"]), row["changed_at"]),
                "; ".join(filter(None, (row["fault"], row["weak"]))),
            ],
            as_json=as_json,
        )
        return Exit.DONE

    finish(work())


def put(
    name: Name,
    domain: Annotated[list[str], typer.Option(metavar="HOST", help="Where it may be filled in; may be given often.")],
    tenant: Tenant = "",
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Set or replace a secret. The value is read from standard input; a terminal asks for it and does not show it."""

    async def work() -> Exit:
        value = _value()
        async with client_of(gateway) as client:
            weak = await client.set_secret(name, value, domain, tenant=tenant or None)
        if as_json:
            print(json.dumps({"secret": name, "set": True, "weak": weak}))
        else:
            tell(f"{name} is set, for {', '.join(domain)}" + (f". It is weak: {weak}" if weak else ""))
        return Exit.DONE

    finish(work())


def remove(name: Name, tenant: Tenant = "", gateway: Gateway = "", as_json: AsJson = False) -> None:
    """Remove a secret."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            await client.remove_secret(name, tenant=tenant or None)
        if as_json:
            print(json.dumps({"secret": name, "removed": True}))
        else:
            tell(f"{name} is removed")
        return Exit.DONE

    finish(work())


def _value() -> str:
    """The value, from the terminal or from what is piped in."""
    if sys.stdin.isatty():
        return str(typer.prompt("value", hide_input=True, err=True))
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise BadUsage("the value on standard input is not UTF-8 text") from error
