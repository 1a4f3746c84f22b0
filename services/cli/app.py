"""The command line's table of contents."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Annotated

import typer

from shoal.services.cli.command_table import CommandTable, command_group
from shoal.services.interpreter import collect_rarely, leave_out

app = command_group(
    name="shoal",
    cls=CommandTable,
    no_args_is_help=True,
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
        print(import_module("importlib.metadata").version("shoal"))
        raise typer.Exit


def main() -> None:
    """Entry point of the command `shoal`."""
    # Pydantic looks for plugins in all packages that are installed, in each process: 30 ms, and none is meant for ours.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    collect_rarely()
    leave_out()
    try:
        app()
    except Exception as error:
        # Imported by every command that can end with such an error, and by nothing that the help needs.
        if not isinstance(error, import_module("shoal.services.cli.ending").EXPECTED):
            raise
        sys.exit(import_module("shoal.services.cli.running").ended(error).exit_code)
