"""The commands of `shoal`: the module of each, and its line in the help.

The help is printed from this table, and a command imports its own module alone. The modules of all commands together
take a second of CPU to import.
"""

from __future__ import annotations

from collections import defaultdict
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter

_PACKAGE = "shoal.services.cli.commands"


class CommandEntry(NamedTuple):
    """A command, or a group of them, in the table."""

    panel: str
    module: str
    """Its module below `shoal.services.cli.commands`, which adds it by `add_to`."""
    help: str
    """The first paragraph of the command's own help."""


ENTRIES: dict[str, CommandEntry] = {
    "up": CommandEntry(
        "Begin",
        "cluster.up",
        "Start Ray, dispatcher, browsers, gateway and dashboard here, until Ctrl-C or SIGTERM; show how the jobs go.",
    ),
    "run": CommandEntry("Begin", "job.run", "Run one job and print its records as JSON lines."),
    "try": CommandEntry(
        "Begin",
        "job.trying",
        "Try a job: count its items, read a few records, and say where each value is from. Nothing is kept.",
    ),
    "actions": CommandEntry("Begin", "pages.page", "List every action that can be taken in a page, by group."),
    "observe": CommandEntry("Begin", "pages.page", "Show a page the way a model sees it."),
    "act": CommandEntry(
        "Begin",
        "pages.page",
        "Take actions in a page; prints each result and the page as it then is. Ends with 1 when an action failed.",
    ),
    "doctor": CommandEntry(
        "Begin",
        "pages.page",
        "Say what this machine and these settings lack, and how to get it. Ends with 3 when something is missing.",
    ),
    "submit": CommandEntry("Jobs", "job.jobs", "Hand in jobs; prints their ids, one a line."),
    "jobs": CommandEntry("Jobs", "job.jobs", "List jobs, newest first."),
    "show": CommandEntry(
        "Jobs", "job.jobs", "Show a job: how it stands, what it was asked, and what its sessions wait for."
    ),
    "results": CommandEntry("Jobs", "job.jobs", "Write a job's results, as far as there are any."),
    "changes": CommandEntry("Jobs", "job.jobs", "Write which records appeared, went or changed since an earlier run."),
    "watch": CommandEntry("Jobs", "job.jobs", "Follow a job until it is final; the exit code says how it ended."),
    "cancel": CommandEntry("Jobs", "job.jobs", "Cancel a job; what runs is stopped."),
    "pause": CommandEntry("Jobs", "job.jobs", "Hold a job back; running sessions stop at their next checkpoint."),
    "resume": CommandEntry("Jobs", "job.jobs", "Let a paused job go on."),
    "retry": CommandEntry(
        "Jobs",
        "job.changing",
        "Queue a job's failed, terminated and canceled items again, or one session, such as s12, alone.",
    ),
    "change": CommandEntry("Jobs", "job.changing", "Change the limits of a job while it runs."),
    "settle": CommandEntry(
        "Jobs",
        "job.changing",
        "Say what became of an unsure session; without `done` or `retry`, show what is known of it.",
    ),
    "questions": CommandEntry(
        "Jobs", "job.questions", "List what running sessions wait to be told: codes, answers, captchas."
    ),
    "answer": CommandEntry("Jobs", "job.questions", "Answer a question; its session goes on within seconds."),
    "learn": CommandEntry(
        "Jobs",
        "job.workflows",
        "Make a workflow of what a model did, or a person showed, in a finished job; a draft until it is activated.",
    ),
    "export": CommandEntry(
        "Jobs",
        "job.export",
        "Write a finished job as a record of the data-flow layout, with its documents; prints the record's path.",
    ),
    "schedules": CommandEntry(
        "Jobs",
        "job.schedules",
        "Schedules: put, list, show, runs, pause, resume, fire, accept, delete; keys to their results.",
    ),
    "sinks": CommandEntry("Jobs", "job.sinks", "Sinks of an ended job: list, write again."),
    "workflows": CommandEntry(
        "Jobs",
        "job.workflows",
        "Workflows: list, show, compare, try, print fields, activate, retire, import, export, delete.",
    ),
    "workers": CommandEntry("Cluster", "cluster.workers", "List the browser workers."),
    "drain": CommandEntry(
        "Cluster",
        "cluster.workers",
        "Replace a browser worker: it gets no more sessions, and what it runs may end first.",
    ),
    "migrate": CommandEntry("Cluster", "cluster.keys", "Bring the database's schema up to date."),
    "gateway": CommandEntry(
        "Cluster",
        "cluster.part_commands",
        "Serve API and dashboard alone, over SHOAL_STORE_URL and SHOAL_ARTIFACTS_URL, until SIGTERM.",
    ),
    "supervise": CommandEntry(
        "Cluster",
        "cluster.part_commands",
        "Keep the dispatcher of the Ray cluster at SHOAL_RAY_ADDRESS running, until SIGTERM.",
    ),
    "inference": CommandEntry(
        "Cluster", "cluster.inference", "Start vLLM with the flags that Shoal wants, until Ctrl-C."
    ),
    "eval": CommandEntry(
        "Cluster", "eval", "Run a suite of tasks, many at once, and report success, cost and failures."
    ),
    "keys": CommandEntry("Cluster", "cluster.keys", "API keys: create, list, revoke. Works on the database itself."),
    "secrets": CommandEntry(
        "What jobs use", "cluster.secrets", "Stored secrets of jobs: list, set, remove. Values are not shown."
    ),
    "sites": CommandEntry(
        "What jobs use", "cluster.sites", "Sites: list, limit, pause, resume. For keys with the scope admin."
    ),
    "notify": CommandEntry("What jobs use", "job.people", "People who are told of jobs that name none: show, set."),
    "webhooks": CommandEntry(
        "What jobs use", "cluster.webhooks", "Webhook deliveries: list, resend, and the secret that signs them."
    ),
}
"""Every command and group of commands by its name, in the order of the help."""


class CommandTable(TyperGroup):
    """The group `shoal`: it shows what the table says, and imports the one command that is called."""

    def list_commands(self, ctx: Context) -> list[str]:
        """The names of all commands, in the order of the help."""
        return list(ENTRIES)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """The command as the help shows it: its name and help. It takes no arguments and does nothing."""
        entry = ENTRIES.get(cmd_name)
        return entry and TyperCommand(cmd_name, help=entry.help)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write a section of the help for each panel of the table."""
        panels = defaultdict(list)
        for name, entry in ENTRIES.items():
            panels[entry.panel].append((name, entry.help))
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        """The command that `args` name, imported, and the arguments left for it."""
        name, shown, rest = super().resolve_command(ctx, args)
        return name, (imported(name) if shown is not None and name is not None else None), rest


def command_group(**options: Any) -> typer.Typer:
    """A group of commands with plain help, of the options of `typer.Typer`. Rich takes 0.3 s of CPU to import."""
    return typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, **options)


def imported(name: str) -> Command:
    """The command or group of the table that has this name.

    Raises:
        KeyError: the table, or the module that it names, has no such command.
    """
    holder = command_group()
    holder.callback()(lambda: None)  # a group, even where the module has one command
    import_module(f"{_PACKAGE}.{ENTRIES[name].module}").add_to(holder)
    return typer.main.get_group(holder).commands[name]
