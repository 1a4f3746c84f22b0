"""The table of commands says what its modules add, and the help imports none of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

from shoal.services.cli.command_table import ENTRIES, imported

ROOT = Path(__file__).parents[3]
COMMANDS = ROOT / "services" / "cli" / "commands"


def test_every_command_speaks_json() -> None:
    silent = {
        command.name
        for name in ENTRIES
        for command in _leaves(imported(name))
        if "--json" not in {opt for param in command.params for opt in param.opts}
    }
    assert silent == set()


def _leaves(command: Any) -> Iterator[Any]:
    inner = getattr(command, "commands", {}).values()
    yield from (leaf for each in inner for leaf in _leaves(each)) if inner else (command,)


@pytest.mark.parametrize("name", ENTRIES)
def test_the_table_of_commands_says_what_each_command_says(name: str) -> None:
    told = (imported(name).help or "").partition("\n\n")[0]
    assert ENTRIES[name].help == " ".join(told.split())


def test_every_command_that_a_module_adds_is_in_the_table() -> None:
    holder = typer.Typer()
    for module in {entry.module for entry in ENTRIES.values()}:
        import_module(f"shoal.services.cli.commands.{module}").add_to(holder)
    assert set(typer.main.get_group(holder).commands) == set(ENTRIES)
    texts = {
        ".".join(file.relative_to(COMMANDS).with_suffix("").parts)
        for file in COMMANDS.rglob("*.py")
        if "def add_to(" in file.read_text("utf-8")
    }
    assert texts == {entry.module for entry in ENTRIES.values()}


def loaded_by(code: str) -> set[str]:
    """The modules of a new process that ran `code`."""
    look = f"import sys; {code}; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(ran.stdout.splitlines()[-1].split())


def test_the_help_imports_no_command() -> None:
    loaded = loaded_by("from shoal.services.cli.app import app; app(['--help'], standalone_mode=False)")
    ours = {name for name in loaded if name.startswith("shoal.") and not name.startswith("shoal.services.cli")}
    assert ours == {"shoal.services", "shoal.services.interpreter"}
    assert not {"httpx", "pydantic", "ray", "playwright", "lxml", "boto3", "rich"} & loaded


HEAVY = {"ray", "playwright", "sqlalchemy", "lxml", "numpy", "pyarrow", "structlog", "rich", "jinja2", "fastapi"}
"""Packages that no command needs that only asks a gateway. Each takes a twentieth of a second and more."""
LIGHT = (
    "submit",
    "jobs",
    "retry",
    "questions",
    "schedules",
    "sinks",
    "workers",
    "secrets",
    "sites",
    "notify",
    "webhooks",
)


EACH = """
import sys
from shoal.services.cli import main
for name in {names}:
    sys.argv = ["shoal", name, "--help"]
    try:
        main()
    except SystemExit as end:
        assert not end.code, name
    print("loaded by", name, *({unwanted} & set(sys.modules)))
assert "httpx" in sys.modules
"""


def test_a_command_that_asks_a_gateway_imports_no_heavy_package() -> None:
    """One process runs them all: what one of them loads is told of it, and of those after it."""
    unwanted = {*HEAVY, "shoal.agent.types", "shoal.agent.spec", "shoal.services.store"}
    code = EACH.format(names=LIGHT, unwanted=unwanted)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    told = [line for line in ran.stdout.splitlines() if line.startswith("loaded by")]
    assert told == [f"loaded by {name}" for name in LIGHT]
