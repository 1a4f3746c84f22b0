"""JupyterLab: a folder of files, with a notebook and a table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _solver import Move, Task, all_of, click, fill, keys, quoted, twice, typed

from apps.asking import job
from tests.sites.registry import cache
from tests.sites.registry import serving as sites

_NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# Harvest"},
        {
            **{"cell_type": "code", "id": "b", "metadata": {}, "execution_count": None, "outputs": []},
            "source": "plums = 17 * 24\nprint('plums:', plums)",
        },
    ],
    "metadata": {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
_TABLE = "city,people\nUlm,128000\nGraz,302000\nGent,267000\n"


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, Path]]:
    """The lab without a password, and the folder that it shows."""
    python = cache.pypi("jupyterlab", ["jupyterlab==4.6.6"])
    work = folder / "work"
    work.mkdir()
    (work / "harvest.ipynb").write_text(json.dumps(_NOTEBOOK), encoding="utf-8")
    (work / "cities.csv").write_text(_TABLE, encoding="utf-8")
    (work / "notes.txt").write_text("Prune the plum trees.\n", encoding="utf-8")
    (work / "draft.txt").write_text("To be thrown away.\n", encoding="utf-8")
    port = sites.free_port()
    options = {"ip": "127.0.0.1", "port": port, "root_dir": work, "open_browser": False, "allow_root": True}
    command = [str(python.with_name("jupyter-lab")), "--IdentityProvider.token="]
    command += [f"--ServerApp.{name}={value}" for name, value in options.items()]
    env = {f"JUPYTER_{kind}_DIR": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
    with sites.program(
        command, port, cwd=folder, env={**env, "IPYTHONDIR": str(folder / "ipython")}, path="/lab"
    ) as url:
        yield url, work


def tasks(url: str, work: Path) -> list[Task]:
    """Files are read, called otherwise, thrown away, written and run."""

    def text_of(name: str) -> str:
        return (work / name).read_text(encoding="utf-8") if (work / name).exists() else ""

    lab = f"{url}/lab"
    row = ".*"
    return [
        Task(
            "jupyterlab read",
            job(f"{lab}?reset", "What does notes.txt say about the trees?", "jupyterlab read"),
            over="Prune the plum trees",
            moves=(Move("", all_of(twice(row, r"^notes\.txt")), {"text": "Prune the plum trees"}),),
            answer=quoted("Prune the plum trees"),
            right=lambda told: "Prune the plum trees" in told["answer"],
            perfect=2,
        ),
        Task(
            "jupyterlab rename",
            job(f"{lab}?reset", "Call draft.txt otherwise", "jupyterlab rename", data={"name": "sketch.txt"}),
            over=r'"sketch\.txt',
            moves=(
                Move(
                    r'textbox [^\[\]]*="draft\.txt"',
                    all_of(fill("textbox", "", "sketch.txt"), keys("Enter")),
                    {"element": "sketch.txt"},
                ),
                Move('menuitem "Rename', all_of(click("menuitem", "^Rename")), last=False),
                Move("", all_of(click(row, r"^draft\.txt", button="right")), last=False),
            ),
            right=lambda told: (work / "sketch.txt").exists() and not (work / "draft.txt").exists(),
            perfect=3,
        ),
        Task(
            "jupyterlab delete",
            job(f"{lab}?reset", "Delete cities.csv", "jupyterlab delete"),
            over="navigate, completed",
            moves=(
                Move("dialog", all_of(click("button", "^(Delete|Move to Trash)$")), {"acted": True}),
                Move("", all_of(click(row, r"^cities\.csv"), keys("Delete")), last=False),
            ),
            right=lambda told: not (work / "cities.csv").exists(),
            perfect=2,
        ),
        Task(
            "jupyterlab write",
            job(f"{lab}?reset", "Write a new text file with this line", "jupyterlab write", data={"line": "Water it."}),
            over="Saving completed",
            moves=(
                Move("dialog", all_of(click("button", "^Rename and Save$")), {"text": "Saving completed"}),
                Move(
                    'tab "untitled.txt"',
                    all_of(click("textbox", ""), typed("Water it."), keys("Control+s")),
                    last=False,
                ),
                Move("", all_of(click("button", "^Text File")), last=False),
            ),
            right=lambda told: "Water it." in text_of("untitled.txt"),
            perfect=3,
        ),
    ]
