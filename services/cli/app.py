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
from shoal.services.cli.commands.job import changing, export, jobs, questions, run, schedules, trying, workflows
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


_PANELS = (
    ("Begin", (up, run, trying, page)),
    ("Jobs", (jobs, changing, schedules, questions, workflows, export)),
    ("What jobs use", (secrets, sites, webhooks)),
    ("Cluster", (workers, keys, part_commands, inference, evaluation)),
)
"""Groups of commands, as the help shows them."""
for _panel, _parts in _PANELS:
    _commands, _groups = len(app.registered_commands), len(app.registered_groups)
    for _part in _parts:
        _part.add_to(app)
    for _command in app.registered_commands[_commands:]:
        _command.rich_help_panel = _panel
    for _group in app.registered_groups[_groups:]:
        _group.rich_help_panel = _panel


def main() -> None:
    """Entry point of the command `shoal`."""
    try:
        app()
    except EXPECTED as error:
        sys.exit(ended(error).exit_code)
