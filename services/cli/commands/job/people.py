"""Commands about the people whom a tenant tells of jobs that do not say so themselves."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from shoal.agent.support.json_value import Json
from shoal.services.cli.command_table import command_group
from shoal.services.cli.commands.job.schedules import read_json
from shoal.services.cli.connection import client_of
from shoal.services.cli.ending import BadUsage, Exit, tell
from shoal.services.cli.options import AsJson, Gateway
from shoal.services.cli.running import finish
from shoal.services.cli.tables import print_table


def add_to(app: typer.Typer) -> None:
    """Adds these commands to `app`."""
    notify = command_group(no_args_is_help=True, help="People who are told of jobs that name none: show, set.")
    notify.command("show")(show)
    notify.command("set")(put)
    app.add_typer(notify, name="notify")


def show(gateway: Gateway = "", as_json: AsJson = False) -> None:
    """Show whom this tenant tells of jobs without `notify`."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            _print(await client.notify(), as_json=as_json)
        return Exit.DONE

    finish(work())


def put(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="JSON list, as `notify` of a job, which may be empty; -: standard input."),
    ],
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Set whom this tenant tells of jobs without `notify`, those that run included."""

    async def work() -> Exit:
        people = read_json(file)
        if not isinstance(people, list) or not all(isinstance(each, dict) for each in people):
            raise BadUsage(f'{file}: must be a JSON list such as [{{"by": "email", "to": "ops@example.com"}}]')
        async with client_of(gateway) as client:
            _print(await client.set_notify(people), as_json=as_json)
        return Exit.DONE

    finish(work())


def _print(notify_view: Json, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(notify_view, ensure_ascii=False))
        return
    cells = [
        [each["by"], each["to"][:80], ", ".join(each["events"]), f"{each['every_s']:g} s"]
        for each in notify_view["notify"]
    ]
    print_table(("by", "to", "events", "at most each"), cells)
    if not cells:
        tell(f"tenant {notify_view['tenant']} tells no people")
