"""Optuna Dashboard: a list of studies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _solver import Move, Prompt, Task, all_of, choose, click, fill, of

from apps.asking import call_api, job
from shoal.agent.support.json_value import Json
from tests.sites.registry import cache
from tests.sites.registry import serving as sites

STUDIES = ("annealing", "baking", "casting")
_STUDY = re.compile(r'link "(\d+)\. (\w+) Direction: (\w+)"')


@contextmanager
def served(folder: Path) -> Iterator[tuple[str]]:
    """A dashboard over three studies without trials."""
    python = cache.pypi("optuna", ["optuna-dashboard==0.21.0"])
    storage, port = f"sqlite:///{folder / 'studies.db'}", sites.free_port()
    sites.run(python, "-c", f"import optuna; optuna.storages.RDBStorage({storage!r})")
    command = [str(python.with_name("optuna-dashboard")), storage]
    with sites.program([*command, "--host", "127.0.0.1", "--port", str(port)], port, cwd=folder) as url:
        for name in STUDIES:
            call_api(f"{url}/api/studies", {"study_name": name, "directions": ["minimize"]}, "POST")
        yield (url,)


def _studies(prompt: Prompt) -> Json:
    return [{"id": int(n), "name": name, "direction": way.lower()} for n, name, way in _STUDY.findall(prompt.page)]


def tasks(url: str) -> list[Task]:
    """Studies are listed, made and called otherwise."""

    def names() -> list[str]:
        return sorted(one["study_name"] for one in call_api(f"{url}/api/studies")["study_summaries"])

    def direction(name: str) -> list[str]:
        studies = call_api(f"{url}/api/studies")["study_summaries"]
        return [way for one in studies if one["study_name"] == name for way in one["directions"]]

    board = f"{url}/dashboard"
    fields = {"id": {"type": "integer"}, "name": {"type": "string"}, "direction": {"type": "string"}}
    schema = {"type": "array", "items": {"type": "object", "required": list(fields), "properties": fields}}
    listed = {(n, name) for n, name in enumerate(STUDIES, 1)}
    return [
        Task(
            "optuna list",
            job(board, "List all studies", "optuna list", extract={"schema": schema}),
            record=_studies,
            right=lambda told: {(one["id"], one["name"]) for one in told["records"]} == listed,
            perfect=2,
        ),
        Task(
            "optuna create",
            job(board, "Create a study", "optuna create", data={"study_name": "dyeing"}),
            over=r'link "\d+\. dyeing ',
            moves=(
                Move('="dyeing"', all_of(click("button", "^Create$", at=-1)), {"element": "dyeing"}),
                Move("dialog New Study:", all_of(fill("textbox", "Study name", "dyeing")), last=False),
                Move("", all_of(click("button", "^Create$")), last=False),
            ),
            right=lambda told: "dyeing" in names(),
            perfect=3,
        ),
        Task(
            "optuna rename",
            job(board, "Rename the study baking", "optuna rename", data={"new_name": "brewing"}),
            over=r'link "\d+\. brewing ',
            moves=(
                Move(
                    'dialog Rename "baking":',
                    all_of(fill("textbox", "Study name", "brewing"), click("button", "^Rename$")),
                    {"element": "brewing"},
                ),
                Move("", all_of(of(r"^\d+\. baking ", click("button", "rename study"))), last=False),
            ),
            right=lambda told: "brewing" in names() and "baking" not in names(),
            perfect=2,
        ),
        Task(
            "optuna most",
            job(board, "Create a study that looks for the most", "optuna most", data={"study_name": "drying"}),
            over=r'link "\d+\. drying ',
            moves=(
                Move('="drying"', all_of(click("button", "^Create$", at=-1)), {"element": "drying"}),
                Move(
                    "dialog New Study:",
                    all_of(choose("combobox", "Objective 0", "Maximize"), fill("textbox", "Study name", "drying")),
                    last=False,
                ),
                Move("", all_of(click("button", "^Create$")), last=False),
            ),
            right=lambda told: direction("drying") == ["maximize"],
            perfect=3,
        ),
    ]
