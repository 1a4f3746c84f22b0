"""Writes docs/cli.md and docs/metrics.md from the code; with --check, the exit code says whether both are current."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import typer

from scripts.generated import deliver
from shoal.services.cli.command_table import ENTRIES, imported
from shoal.services.metrics import CATALOGUE

CLI_HEAD = """# The command line

Records go to stdout, everything else to stderr. Exit codes: 0 done, 1 the job failed, 2 wrong usage, 3 something around
it is missing, 4 done in part. `shoal COMMAND --help` says the same as this page.

This page is written by `scripts/reference-docs` from the commands themselves.
"""

METRICS_HEAD = """# Metrics

Every gateway tells all of them at `/metrics`. Counters have `_total` behind their name there, histograms `_bucket`,
`_sum` and `_count`. How to scrape them: [operations](operations/operations.md#metrics-traces-logs).

This page is written by `scripts/reference-docs` from `services/metrics.py`.

| metric | type | labels | meaning | known by |
| --- | --- | --- | --- | --- |
"""

KNOWN_BY = {
    "gateway": "each gateway, for itself",
    "store": "the store",
    "snapshot": "the dispatchers' snapshots",
    "delta": "dispatchers and workers, added up",
}


def cli_page() -> str:
    """The page of commands."""
    return CLI_HEAD + "".join(part for name in ENTRIES for part in _commands(imported(name), f"shoal {name}"))


def _commands(command: Any, name: str) -> Iterator[str]:
    if not hasattr(command, "commands"):
        yield from _command(name, command)
        return
    for verb, inner in command.commands.items():
        yield from _commands(inner, f"{name} {verb}")


def _command(name: str, command: Any) -> Iterator[str]:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    usage = " ".join((name, *(parameter.metavar or parameter.name.upper() for parameter in arguments)))
    yield f"\n## {name}\n\n`{usage}`\n\n{_cell(command.help)}\n"
    if options or arguments:
        yield "\n| option | value | meaning |\n| --- | --- | --- |\n"
    for parameter in (*arguments, *options):
        names = parameter.opts if parameter.param_type_name == "option" else [parameter.metavar or parameter.name]
        shown = ", ".join(f"`{option}`" for option in (*names, *parameter.secondary_opts))
        value = "" if getattr(parameter, "is_flag", False) else _value(command, parameter)
        yield f"| {shown} | {_cell(value)} | {_cell(parameter.help)} |\n"


def _value(command: Any, parameter: Any) -> str:
    """Return what kind of value it takes, as `--help` says it."""
    return str(parameter.metavar or parameter.display_type(typer.Context(command))).strip("<>")


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def metrics_page() -> str:
    """The page of metrics."""
    rows = []
    for line in CATALOGUE:
        labels = ", ".join(f"`{label}`" for label in line.labels)
        rows.append(f"| `{line.name}` | {line.type} | {labels} | {_cell(line.meaning)} | {KNOWN_BY[line.by]} |\n")
    return METRICS_HEAD + "".join(rows)


if __name__ == "__main__":
    sys.exit(max(deliver("docs/cli.md", cli_page()), deliver("docs/metrics.md", metrics_page())))
