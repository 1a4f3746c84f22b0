"""Commands about the sinks of a job that has ended: how far each is, and writing to one once more."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from shoal.records import Job, Sink
from shoal.services.cli.command_table import command_group
from shoal.services.cli.connection import client_of
from shoal.services.cli.ending import Exit, printable, tell
from shoal.services.cli.options import AsJson, Gateway, JobArgument
from shoal.services.cli.running import finish
from shoal.services.cli.tables import print_table


def add_to(app: typer.Typer) -> None:
    """Adds these commands to `app`."""
    sinks = command_group(no_args_is_help=True, help="Sinks of an ended job: list, write again.")
    sinks.command("list")(listing)
    sinks.command("again")(again)
    app.add_typer(sinks, name="sinks")


def listing(job: JobArgument, gateway: Gateway = "", as_json: AsJson = False) -> None:
    """List a job's sinks, with their states and last errors."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            row = await client.job(job)
        if as_json:
            for sink in row["sinks"]:
                print(json.dumps(sink, ensure_ascii=False))
            return Exit.DONE
        cells = [
            (
                *(str(sink.sink), sink.kind, sink.place[:80], sink.state),
                *(f"{sink.written:,}", str(sink.attempts), sink.error[:80]),
            )
            for sink in Job.model_validate(row).sinks
        ]
        print_table(("sink", "kind", "place", "state", "records", "tries", "last error"), cells)
        return Exit.DONE

    finish(work())


def again(
    job: JobArgument,
    sink: Annotated[int, typer.Argument(metavar="SINK", min=0, help="Its place among the job's sinks, from 0.")] = 0,
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Write a job's records once more; a sink that was given up goes on where it stopped."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            row = await client.write_again(job, sink)
        if as_json:
            print(json.dumps(row, ensure_ascii=False))
        else:
            shown = Sink.model_validate(row)
            tell(printable(f"sink {shown.sink} ({shown.kind}, {shown.place}) of {job} is {shown.state}"))
        return Exit.DONE

    finish(work())
