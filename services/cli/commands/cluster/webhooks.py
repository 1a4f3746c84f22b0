"""Commands about webhooks: what waits, what was given up, sending again, the secret."""

from __future__ import annotations

import json
from functools import partial
from typing import Annotated

import typer

from shoal.api import rows
from shoal.services.cli.command_table import command_group
from shoal.services.cli.connection import client_of
from shoal.services.cli.ending import BadUsage, Exit, tell
from shoal.services.cli.options import AsJson, Gateway
from shoal.services.cli.running import finish
from shoal.services.cli.tables import print_table


def add_to(app: typer.Typer) -> None:
    """Adds these commands to `app`."""
    webhooks = command_group(
        no_args_is_help=True, help="Webhook deliveries: list, resend, and the secret that signs them."
    )
    webhooks.command("list")(listing)
    webhooks.command("resend")(resend)
    webhooks.command("secret")(secret)
    app.add_typer(webhooks, name="webhooks")


def listing(
    state: Annotated[list[str] | None, typer.Option(help="waiting, delivered or dead; may be given often.")] = None,
    job: Annotated[str, typer.Option(metavar="JOB", help="Only those of this job.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 20,
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """List deliveries, newest first."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            read = partial(client.webhooks, state=state or [], job=job or None)
            deliveries, more = await rows(read, "deliveries", limit)
        if as_json:
            for delivery in deliveries:
                print(json.dumps(delivery, ensure_ascii=False))
            return Exit.DONE
        names = ("id", "job", "event", "state", "attempts", "url", "error")
        cells = [[str(row[name])[:80] for name in names] for row in deliveries]
        print_table(("delivery", "job", "event", "state", "tries", "to", "why it failed"), cells)
        if more:
            tell(f"there are more; --limit shows them ({limit} now)")
        return Exit.DONE

    finish(work())


def resend(
    delivery: Annotated[list[str] | None, typer.Argument(metavar="[DELIVERY]...", help="Ids, such as w12.")] = None,
    dead: Annotated[bool, typer.Option("--dead", help="All that were given up.")] = False,
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Send deliveries again."""

    async def work() -> Exit:
        if bool(delivery) == dead:
            raise BadUsage("name deliveries, or --dead for all that were given up")
        async with client_of(gateway) as client:
            if dead:
                n = int((await client.resend_dead())["resent"])
            else:
                n = len([await client.resend(number) for number in delivery or ()])
        if as_json:
            print(json.dumps({"resent": n}))
        else:
            tell(f"{n:,} sent again")
        return Exit.DONE

    finish(work())


def secret(gateway: Gateway = "", as_json: AsJson = False) -> None:
    """Print the secret that signs this tenant's webhooks; the newest first, where one is being replaced."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            answer = await client.webhook_secret()
        if as_json:
            print(json.dumps(answer))
        else:
            print("\n".join(answer["secrets"]))
        return Exit.DONE

    finish(work())
