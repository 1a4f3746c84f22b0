"""The command line's table of contents."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from shoal.services.cli.commands import eval as evaluation
from shoal.services.cli.commands.cluster import (
    inference,
    keys,
    part_commands,
    secrets,
    sites,
    up,
    webhooks,
    workers,
)
from shoal.services.cli.commands.job import changing, export, jobs, questions, run, trying, workflows
from shoal.services.cli.commands.pages import page
from shoal.services.cli.ending import EXPECTED
from shoal.services.cli.running import ended

app = typer.Typer(
    name="shoal",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Shoal: browser automation on a cluster. Records go to stdout, everything else to stderr.\n\n"
    "Exit codes: 0 done, 1 the job failed, 2 wrong usage, 3 something is missing around it, 4 done in part, "
    "130 interrupted.",
)


@app.callback(invoke_without_command=True)
def options(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
) -> None:
    """Options before the command."""
    if show_version:
        print(version("shoal"))
        raise typer.Exit


for _part in (
    up,
    run,
    trying,
    jobs,
    changing,
    questions,
    webhooks,
    secrets,
    sites,
    workflows,
    page,
    evaluation,
    export,
    part_commands,
    inference,
    keys,
    workers,
):
    _part.add_to(app)


def main() -> None:
    """Entry point of the command `shoal`."""
    try:
        app()
    except EXPECTED as error:
        sys.exit(ended(error).exit_code)
